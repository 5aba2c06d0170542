package bloomsst

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// goldenDatabase is the MANIFEST of a database, and what the engine that wrote it says of its tables. TestGoldenDatabases of compare writes them.
type goldenDatabase struct {
	Folder, By, Comparator string
	Tables                 []struct {
		File, Family string
		Level        int
		First, Last  string
	}
}

func goldenDatabases(t testing.TB) (all []goldenDatabase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "databases.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (g goldenDatabase) folder() string { return filepath.Join("testdata", "databases", g.Folder) }

// TestGoldenDatabases wants the tables that the engines list.
func TestGoldenDatabases(t *testing.T) {
	for _, g := range goldenDatabases(t) {
		s, err := readSnapshot(g.folder())
		if err != nil || s.why != nil {
			t.Fatal(g.Folder, err, s.why)
		}
		var got, want []string
		for _, table := range g.Tables {
			want = append(want, fmt.Sprintf("%s %q %d %s %s", table.File, table.Family, table.Level, table.First, table.Last))
		}
		for number, l := range s.listed {
			ext := ".sst"
			if g.Tables[0].File[6:] == ".ldb" {
				ext = ".ldb"
			}
			got = append(got, fmt.Sprintf("%06d%s %q %d %s %s", number, ext, l.family, l.level, hex.EncodeToString(l.first), hex.EncodeToString(l.last)))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q, want\n%q", g.Folder, got, want)
		}
		if name, err := databaseComparator(g.folder()); g.Comparator != "" && name != g.Comparator || err != nil {
			t.Errorf("%s: the comparator %q, %v", g.Folder, name, err)
		}
	}
}

// TestDamagedDatabases flips bits of MANIFESTs, and cuts them: what is read then is an error or a list from before.
func TestDamagedDatabases(t *testing.T) {
	for _, g := range goldenDatabases(t) {
		name, err := manifestOf(g.folder())
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(data)/300
		if testing.Short() {
			step *= 10
		}
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(g.folder())); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(data); i += step {
			writeFile(t, filepath.Join(folder, filepath.Base(name)), data[:i])
			if s, err := readSnapshot(folder); err != nil || s.why != nil && (filepath.Base(name) != badgerManifest || i >= 8) {
				t.Fatalf("%s, cut to %d bytes: %v, %v", g.Folder, i, err, s.why)
			}
			damaged := slices.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			writeFile(t, filepath.Join(folder, filepath.Base(name)), damaged)
			if s, err := readSnapshot(folder); err != nil || s.why != nil && !isKnown(s.why) {
				t.Fatalf("%s, byte %d changed: %v, %v", g.Folder, i, err, s.why)
			}
		}
	}
}

// TestDamagedView flips bits of the MANIFEST of a database and cuts it: no table that has a key is missing from the answer.
func TestDamagedView(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "databases", "families"))); err != nil {
		t.Fatal(err)
	}
	name, err := manifestOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for i := range 200 {
		keys = append(keys, fmt.Appendf(nil, "user%08d", i*50))
	}
	want := hitsOf(t, folder, keys)
	if len(want) < 3*len(keys) {
		t.Fatalf("%d hits", len(want))
	}
	step := 1 + len(data)/100
	if testing.Short() {
		step *= 10
	}
	for i := 0; i < len(data); i += step {
		damaged := slices.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		for _, changed := range [][]byte{damaged, data[:i]} {
			writeFile(t, name, changed)
			got := hitsOf(t, folder, keys)
			for hit := range want {
				if !got[hit] {
					t.Fatalf("byte %d of %d, %d bytes: %s is lost", i, len(data), len(changed), hit)
				}
			}
		}
	}
}

// hitsOf returns the names of tables, each with a key that it may have.
func hitsOf(t *testing.T, folder string, keys [][]byte) map[string]bool {
	t.Helper()
	d, err := OpenDatabase(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	all := map[string]bool{}
	v := d.View()
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for _, key := range keys {
		if _, err := v.MayContain(key, hits); err != nil {
			t.Fatal(err)
		}
		for i, table := range v.Tables() {
			if hits[i/64]>>(i%64)&1 != 0 {
				all[table.Name()+" "+string(key)] = true
			}
		}
	}
	return all
}
