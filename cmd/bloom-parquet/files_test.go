package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filestest"
)

// TestFiles wants every flag and argument that names a file to say whether it is read or written, and every command
// to refuse an output that is an input.
func TestFiles(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Exit(func(int) {}), kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"column", "keys-column", "format", "trust", "completion shell", "help command"}
	filestest.Grammar(t, parser.Model, others, func(args []string) int {
		s := &streams{args: args}
		s.in, s.out, s.err = cli.Streams()
		return s.run()
	})
}
