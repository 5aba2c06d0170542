package cli

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// Version is a flag that prints the variable "version". Kong's own ignores errors of writing.
type Version bool

// BeforeReset is called when the flag is there, before commands and arguments are asked for.
func (Version) BeforeReset(app *kong.Kong, vars kong.Vars) error {
	_, err := fmt.Fprintln(app.Stdout, vars["version"])
	if err == nil {
		app.Exit(0)
	}
	return err
}
