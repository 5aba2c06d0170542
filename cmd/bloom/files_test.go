package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/filestest"
)

// TestFiles wants every flag and argument that names a file to say whether it is read or written, and every command
// to refuse an output that is an input.
func TestFiles(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Exit(func(int) {}), kong.Vars{"formats": "", "default_format": ""})
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"format", "field", "delimiter", "test key", "tables key", "explore address", "bench keys", "bench sizes", "completion shell", "help command"}
	filestest.Grammar(t, parser.Model, others, run)
}
