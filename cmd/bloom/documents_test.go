package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/files"
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
	calls := document.CallsOf(pages, "bloom")
	if len(calls) < 20 {
		t.Errorf("the documents have %d command lines", len(calls))
	}
	for _, call := range calls {
		parser, err := kong.New(&cli{}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard),
			kong.Vars{"formats": "", "default_format": ""}, files.Strings())
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(call.Args)
		if err != nil && !leftOut.MatchString(err.Error()) {
			t.Errorf("%s: bloom %s: %v", call.Page, strings.Join(call.Args, " "), err)
		}
	}
}
