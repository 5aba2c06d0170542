package compare

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/compare/oracle"
)

// goldenDatabase is a database. adapter/sst keeps the files that list its tables, and what the engine reports
// about these.
type goldenDatabase struct {
	Folder     string        `json:"folder"`
	By         string        `json:"by"`
	Comparator string        `json:"comparator,omitempty"`
	Tables     []goldenPlace `json:"tables"`
}

// goldenPlace is a table of a database.
type goldenPlace struct {
	File   string `json:"file"`
	Family string `json:"family,omitempty"`
	Level  int    `json:"level"`
	First  string `json:"first,omitempty"` // in hexadecimal digits, as Last is; none if the MANIFEST has no bounds of the file
	Last   string `json:"last,omitempty"`
}

// TestGoldenDatabases lets the engines write small databases. With -update, it keeps their MANIFESTs for adapter/sst.
func TestGoldenDatabases(t *testing.T) {
	t.Parallel()
	var all []goldenDatabase
	for _, w := range databaseWriters(t) {
		if w.By == "" {
			continue
		}
		folder := t.TempDir()
		tables, err := w.Write(folder, shuffledKeys(8*databaseStep), func(int) {})
		if err != nil {
			t.Fatalf("%s: %v", w.Name, err)
		}
		writer := tableWriter{debian: w.By}
		if strings.Contains(w.By, "/") {
			writer.module = w.By
		}
		by, err := writer.by()
		if err != nil {
			t.Fatal(err)
		}
		d := goldenDatabase{Folder: w.Name, By: by, Comparator: w.Comparator}
		for _, table := range tables {
			d.Tables = append(d.Tables, w.place(table))
		}
		if len(d.Tables) < 2 {
			t.Errorf("%s: %d tables", w.Name, len(d.Tables))
		}
		if all = append(all, d); *update {
			keepDatabase(t, folder, w.Name, isOfManifest)
		}
	}
	if !*update {
		return
	}
	keepFamilies(t)
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(goldenTables, "databases.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// place returns what the engine says of a table.
func (w databaseWriter) place(table oracle.Table) goldenPlace {
	p := goldenPlace{File: table.Name, Family: table.Family, Level: table.Level}
	if w.Bounds && !table.Parts {
		first, last := table.Keys[0], table.Keys[len(table.Keys)-1]
		p.First, p.Last = hex.EncodeToString(first), hex.EncodeToString(last)
	}
	return p
}

// keepFamilies keeps a small database of RocksDB, with its tables, for the tests of the command.
func keepFamilies(t *testing.T) {
	t.Helper()
	const keys, step = 1000, 200
	rocks, err := oracle.CompileRocksFamilies(programs)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]byte, keys)
	for i := range all {
		all[i] = fmt.Appendf(nil, "user%08d", i*7919%keys*10)
	}
	folder := t.TempDir()
	if err := rocks.Write(folder, all, step, 0, func(int) {}); err != nil {
		t.Fatal(err)
	}
	keepDatabase(t, folder, "families", func(name string) bool {
		return isOfManifest(name) || filepath.Ext(name) == ".sst" || strings.HasPrefix(name, "OPTIONS-")
	})
}

// isOfManifest reports whether a file tells which tables a database has.
func isOfManifest(name string) bool {
	return strings.HasPrefix(name, "MANIFEST") || strings.HasPrefix(name, "marker.manifest.") || name == "CURRENT"
}

// keepDatabase copies files of a database. Of RocksDB's options, it copies the one that is read.
func keepDatabase(t *testing.T, from, name string, kept func(name string) bool) {
	t.Helper()
	to := filepath.Join(goldenTables, "databases", name)
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !kept(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.Name(), "OPTIONS-") {
			data = shortOptions(data)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shortOptions returns the sections of families of RocksDB's options, with one option.
func shortOptions(data []byte) (short []byte) {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("[CFOptions")) || bytes.Contains(line, []byte("optimize_filters_for_hits")) {
			short = append(short, line...)
		}
	}
	return short
}
