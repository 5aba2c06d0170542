package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/internal/document"
)

var leftOut = regexp.MustCompile(`^expected |^missing |got "EOL"`)

// TestDocuments parses the command lines of every document. A sentence may leave out arguments and
// values, but not misspell a command or a flag.
func TestDocuments(t *testing.T) {
	pages, err := document.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	calls := document.CallsOf(pages, "bloom-parquet")
	if len(calls) < 3 {
		t.Errorf("the documents have %d command lines", len(calls))
	}
	for _, call := range calls {
		parser, err := kong.New(&cli{}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard), kong.Vars{"version": ""})
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(call.Args)
		if err != nil && !leftOut.MatchString(err.Error()) {
			t.Errorf("%s: bloom-parquet %s: %v", call.Page, strings.Join(call.Args, " "), err)
		}
	}
}

// TestExamples parses the examples of every help, and finds some for every command.
func TestExamples(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Vars{"version": ""})
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
