package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Man is a flag that prints the manual page. mango-kong, which makes pages of kong's models, too,
// garbles a % (in muesli/roff v0.1.0), sorts commands by their names, and writes today's date.
type Man bool

// BeforeReset is called when the flag is there, before commands and arguments are asked for.
func (Man) BeforeReset(app *kong.Kong) error {
	_, err := io.WriteString(app.Stdout, manual(app.Model))
	if err == nil {
		app.Exit(0)
	}
	return err
}

// manual returns a page in the macros of man(7).
func manual(app *kong.Application) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(app.Name), app.Name, roff(app.Help))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.B %s\n.I command\n[\n.I flags\n]\n.SH OPTIONS\n", app.Name)
	manualOfFlags(&page, app.Node)
	page.WriteString(".SH COMMANDS\n")
	for _, command := range app.Children {
		fmt.Fprintf(&page, ".SS %s %s\n%s\n", app.Name, roff(command.Summary()), roff(command.Help))
		indented := false
		for line := range strings.Lines(command.Detail) {
			if now := strings.HasPrefix(line, "  "); now != indented {
				indented = now
				page.WriteString(map[bool]string{true: ".PP\n.nf\n", false: ".fi\n"}[now])
			}
			if strings.TrimSpace(line) == "" {
				line = ".PP"
			} else {
				line = roff(strings.TrimRight(line, "\n"))
			}
			page.WriteString(line + "\n")
		}
		if indented {
			page.WriteString(".fi\n")
		}
		manualOfFlags(&page, command)
	}
	return page.String()
}

func manualOfFlags(page *strings.Builder, node *kong.Node) {
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		name := "--" + strings.TrimPrefix(flag.Summary(), "--")
		if flag.Short != 0 {
			name = fmt.Sprintf("-%c, %s", flag.Short, name)
		}
		fmt.Fprintf(page, ".TP\n.B %s\n%s\n", roff(name), roff(flag.Help))
	}
}

// roff returns a line of text in which nothing is a macro or an escape.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
