package main

import (
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/commandtest"
)

// TestDocuments parses the command lines of every document.
func TestDocuments(t *testing.T) {
	commandtest.Documents(t, "bloom", 20, func() (*kong.Kong, error) {
		return kong.New(&commands{}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard),
			kong.Vars{"formats": "", "default_format": ""}, cli.Strings())
	})
}
