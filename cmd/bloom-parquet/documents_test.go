package main

import (
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/commandtest"
	"github.com/lanebloom/bloom/internal/document"
)

// TestDocuments parses the command lines of every document.
func TestDocuments(t *testing.T) {
	commandtest.Documents(t, "bloom-parquet", 3, func() (*kong.Kong, error) {
		return kong.New(&commands{}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard), kong.Vars{"version": ""})
	})
}

// TestExamples parses the examples of every help, and finds some for every command.
func TestExamples(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		if _, has := examples[command.Name]; !has {
			t.Errorf("%s has no examples", command.Name)
		}
	}
	for name, lines := range examples {
		for _, line := range lines {
			for _, words := range document.Calls(line) {
				if words[0] != "bloom-parquet" {
					continue
				}
				if _, err := parser.Parse(words[1:]); err != nil || name != "" && words[1] != name {
					t.Errorf("%q: %q, %v", name, line, err)
				}
			}
		}
	}
}
