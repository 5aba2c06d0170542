package main

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/document"
)

var all = flag.Bool("all", false, "run every command that the documents quote: a minute of CPU time")

// TestTablesOfDocs wants the tables of the documents to be those that the command below them prints. It runs three of
// the commands, chosen by chance, and make figures runs all: their numbers change only with the bytes of a format.
func TestTablesOfDocs(t *testing.T) {
	tables := tablesOfDocs(t)
	if len(tables) < 10 {
		t.Fatalf("the documents quote %d commands", len(tables))
	}
	commands := slices.Sorted(maps.Keys(tables))
	if !*all {
		rand.Shuffle(len(commands), func(i, j int) { commands[i], commands[j] = commands[j], commands[i] })
		commands = commands[:3]
	}
	for _, what := range commands {
		quoted := tables[what]
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
