package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestFormats wants every format in each list of formats that a user reads: the table of README.md, the advice which format to choose,
// and the table of how many keys a format can have.
func TestFormats(t *testing.T) {
	for _, list := range []struct{ page, from, to, what string }{
		{"README.md", "\n| Format | written by |", "\n\n", "table of formats"},
		{"docs/choosing.md", "\n## Which format\n", "\n<!-- figures uuids ", "advice"},
		{"docs/choosing.md", "\n|  | 1 % | 0.1 % | 0.01 % |\n", "\n    cd compare ", "table of the most keys"},
	} {
		_, text, found := strings.Cut(source(t, list.page), list.from)
		text, _, ended := strings.Cut(text, list.to)
		if !found || !ended {
			t.Errorf("%s has no %s between %q and %q", list.page, list.what, list.from, list.to)
			continue
		}
		named := map[string]bool{}
		for _, code := range regexp.MustCompile("`([\\w.-]+)`").FindAllStringSubmatch(text, -1) {
			named[oneName(code[1])] = true
		}
		for _, f := range bloom.Formats() {
			if !named[oneName(f.String())] {
				t.Errorf("%s: the %s does not name %v", list.page, list.what, f)
			}
		}
	}
}

// oneName returns the same text for the name of a format in Go and in commands: BitsAndBlooms and bits-and-blooms.
func oneName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "")) }
