package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/document"
)

// TestTablesOfDocs wants the tables of the documents to be those that the command below them prints.
func TestTablesOfDocs(t *testing.T) {
	tables := tablesOfDocs(t)
	if len(tables) < 10 {
		t.Fatalf("the documents quote %d commands", len(tables))
	}
	for what, quoted := range tables {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := run(&out, what); err != nil {
				t.Fatal(err)
			}
			for _, table := range quoted {
				if !strings.Contains("\n"+out.String(), "\n"+table.rows) {
					t.Errorf("%s has\n%s\nThis is printed:\n%s", table.page, table.rows, out.String())
				}
			}
		})
	}
}

// table is a table of a page.
type table struct{ page, rows string }

// tablesOfDocs returns the tables of the documents by the command that prints them: those between the heading,
// the command or the measured figures before, and a line that runs this program.
func tablesOfDocs(t *testing.T) map[string][]table {
	t.Helper()
	pages, err := document.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]table{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(page.Path)))
		if err != nil {
			t.Fatal(err)
		}
		var above []table
		inTable := false
		for line := range strings.Lines(string(text)) {
			isRow := strings.HasPrefix(line, "|")
			switch what, runs := strings.CutPrefix(line, "    cd compare && go run ./falsepositives "); {
			case runs:
				if len(above) == 0 {
					t.Errorf("%s has no table above %q", page.Path, line)
				}
				what = strings.TrimSpace(what)
				tables[what] = append(tables[what], above...)
				above = nil
			case strings.HasPrefix(line, "#"), line == "<!-- end of figures -->\n":
				above = nil
			case isRow && inTable:
				above[len(above)-1].rows += line
			case isRow:
				above = append(above, table{page.Path, line})
			}
			inTable = isRow
		}
	}
	return tables
}
