package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Help is the command that prints what --help does.
type Help struct {
	Command string `arg:"" optional:"" help:"The command; without one, all of them are listed."`
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

// Examples are two command lines for each command, and the examples of the empty name for all commands.
type Examples map[string][2]string

// describe begins the help of every command with its examples.
func (e Examples) describe(app *kong.Application) {
	for _, node := range append([]*kong.Node{app.Node}, app.Children...) {
		name := node.Name
		if node == app.Node {
			name = ""
		}
		if lines, has := e[name]; has {
			node.Detail = strings.ReplaceAll(node.Detail, programName, app.Name)
			node.Detail = "Examples:\n\n    " + strings.Join(lines[:], "\n    ") + "\n\n" + node.Detail
		}
	}
}
