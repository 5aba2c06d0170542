package cli

import (
	"go/doc/comment"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Help is the command that prints what --help does.
type Help struct {
	Command string `arg:"" optional:"" help:"The command to describe (default: list all commands)."`
}

// Run prints the help, and exits.
func (h *Help) Run(parser *kong.Kong) error {
	args := []string{"--help"}
	if h.Command != "" {
		args = []string{h.Command, "--help"}
	}
	_, err := parser.Parse(args)
	return err
}

// Examples are three command lines for each command, and the examples of the empty name for all commands.
type Examples map[string][3]string

// describe begins the text of every command with its examples.
func (e Examples) describe(app *kong.Application) {
	for _, node := range append([]*kong.Node{app.Node}, app.Children...) {
		name := node.Name
		if node == app.Node {
			name = ""
		}
		if lines, has := e[name]; has {
			text := strings.TrimSpace(strings.ReplaceAll(node.Detail, programName, app.Name))
			node.Detail = strings.TrimSpace("Examples:\n\n    " + strings.Join(lines[:], "\n    ") + "\n\n" + text)
		}
	}
}

// printHelp prints how a command is called, its examples, arguments and flags, and below these its text.
func printHelp(options kong.HelpOptions, line *kong.Context) error {
	node := line.Selected()
	if node == nil {
		node = line.Model.Node
	}
	whole, text := node.Detail, ""
	if parts := strings.SplitN(whole, "\n\n", 3); len(parts) == 3 { // the title of the examples, and these
		node.Detail, text = parts[0]+"\n\n"+parts[1], parts[2]
	}
	err := kong.DefaultHelpPrinter(options, line)
	node.Detail = whole
	if err != nil || text == "" {
		return err
	}
	var parser comment.Parser
	printer := comment.Printer{TextWidth: widthOf(line.Stdout), TextCodePrefix: "    "}
	_, err = line.Stdout.Write(append([]byte("\n"), printer.Text(parser.Parse(text))...))
	return err
}

// widthOf returns how many characters a line of a stream has, as kong finds it out.
func widthOf(w io.Writer) int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		return columns
	}
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
