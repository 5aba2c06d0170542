package bloomsst

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
)

// testTable is a table of a database that a test makes.
type testTable struct {
	number      uint64
	golden      string
	level       uint64
	first, last int // keys
	size        int // that the MANIFEST tells besides the size of the file
}

// writeDatabase writes tables and a MANIFEST with the comparator.
func writeDatabase(t testing.TB, folder, comparator string, tables []testTable) {
	t.Helper()
	all := goldens(t)
	var e record
	e = e.numbers(tagComparator).bytes(comparator)
	for _, table := range tables {
		i := slices.IndexFunc(all, func(g golden) bool { return g.File == table.golden })
		writeFile(t, filepath.Join(folder, fmt.Sprintf("%06d.sst", table.number)), all[i].data)
		e = e.numbers(tagNewTable, table.level, table.number, uint64(len(all[i].data)+table.size)).key(string(key(table.first))).key(string(key(table.last)))
	}
	writeFile(t, filepath.Join(folder, "MANIFEST-000001"), logOf(e))
	writeFile(t, filepath.Join(folder, "CURRENT"), []byte("MANIFEST-000001\n"))
}

// names returns the files of tables, with their levels.
func names(tables []*Table) (list []string) {
	for _, t := range tables {
		name := t.Name()
		if level, known := t.Level(); known {
			name += fmt.Sprintf(" %d", level)
		}
		if t.IsLeftover() {
			name += " leftover"
		}
		if errors.Is(t.Ignored(), ErrMissing) {
			name += " missing"
		}
		list = append(list, name)
	}
	return list
}

func wantNames(t *testing.T, what string, tables []*Table, want ...string) {
	t.Helper()
	if got := names(tables); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestOpenDatabase opens a database, and follows its changes.
func TestOpenDatabase(t *testing.T) {
	folder := t.TempDir()
	tables := []testTable{
		{number: 4, golden: "rocksdb-5-snappy.sst", level: 1, first: 0, last: 299},
		{number: 7, golden: "rocksdb-4-bzip2.sst", level: 2, first: 0, last: 299},
	}
	writeDatabase(t, folder, bytewise, tables)
	writeFile(t, filepath.Join(folder, "000009.sst"), []byte("a table that is being written"))
	d, err := OpenDatabase(folder)
	if err != nil {
		t.Fatal(err)
	}
	before := d.View()
	if before.Manifest() != nil {
		t.Error(before.Manifest())
	}
	wantNames(t, "at first", before.Tables(), "000004.sst 1", "000007.sst 2")
	writeDatabase(t, folder, bytewise, []testTable{
		{number: 4, golden: "rocksdb-5-snappy.sst", level: 3, first: 0, last: 299},
		{number: 8, golden: "rocksdb-7.sst", level: 0, first: 0, last: 299},
	})
	if err := os.Remove(filepath.Join(folder, "000008.sst")); err != nil {
		t.Fatal(err)
	}
	came, went, err := d.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	// 4 was written anew, and is another table
	wantNames(t, "came", came, "000004.sst 3", "000008.sst 0 missing")
	wantNames(t, "went", went, "000004.sst 1")
	wantNames(t, "after", d.View().Tables(), "000004.sst 3", "000007.sst leftover", "000008.sst 0 missing")
	if came, went, err = d.Refresh(); len(came)+len(went) > 0 || err != nil {
		t.Errorf("nothing changed: %q came, %q went, %v", names(came), names(went), err)
	}
	hits := make([]uint64, 1)
	if n, err := before.MayContain(key(0), hits); n != 2 || hits[0] != 3 || err != nil {
		t.Errorf("the View from before: %b, %v", hits, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := d.Refresh(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestLaterComparator reads a MANIFEST when the order of the keys was proved without one. It names another comparator.
func TestLaterComparator(t *testing.T) {
	folder := t.TempDir()
	writeDatabase(t, folder, "example", []testTable{{number: 4, golden: "goleveldb.sst", level: 1, first: 0, last: 299}})
	current := filepath.Join(folder, "CURRENT")
	if err := os.Rename(current, current+".later"); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDatabase(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, want := range []bool{true, false} {
		if _, _, known := d.View().Tables()[0].Range(); known != want {
			t.Errorf("%v: the range is known: %v, want %v", d.View().Manifest(), known, want)
		}
		if want {
			if err := os.Rename(current+".later", current); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := d.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFolders opens folders whose MANIFEST cannot be read.
func TestFolders(t *testing.T) {
	for _, test := range []struct {
		text   string
		change func(folder string) error
		want   error
	}{
		{"no CURRENT", func(folder string) error { return os.Remove(filepath.Join(folder, "CURRENT")) }, fs.ErrNotExist},
		{"no MANIFEST", func(folder string) error { return os.Remove(filepath.Join(folder, "MANIFEST-000001")) }, fs.ErrNotExist},
		{"an unknown tag", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "MANIFEST-000001"), logOf(record{}.numbers(77)), 0o644)
		}, ErrVersion},
		{"a marker of another file", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "marker.manifest.000002.OPTIONS-000003"), nil, 0o644)
		}, ErrDamaged},
		{"a marker of a file that is not there", func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "marker.manifest.000002.MANIFEST-000003"), nil, 0o644)
		}, fs.ErrNotExist},
		{"Badger's", func(folder string) error {
			return errors.Join(os.Remove(filepath.Join(folder, "CURRENT")), os.WriteFile(filepath.Join(folder, "MANIFEST"), []byte("Bdgx12345678"), 0o644))
		}, ErrDamaged},
	} {
		folder := t.TempDir()
		writeDatabase(t, folder, bytewise, []testTable{{number: 4, golden: "rocksdb-5-snappy.sst", first: 0, last: 10}})
		if err := test.change(folder); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDatabase(folder)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		if why := d.View().Manifest(); !errors.Is(why, ErrManifest) || !errors.Is(why, test.want) {
			t.Errorf("%s: %v", test.text, why)
		}
		wantNames(t, test.text, d.View().Tables(), "000004.sst")
		if n, err := d.View().MayContain(key(20), make([]uint64, 1)); n != 1 || err != nil { // it is past the range
			t.Errorf("%s: %d tables, %v", test.text, n, err)
		}
		d.Close()
	}
	if _, err := OpenDatabase(t.TempDir()); !errors.Is(err, ErrManifest) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := OpenDatabase(filepath.Join(t.TempDir(), "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestView compares the answers of a View with those of its tables, for single keys and for columns. Ranges are used if they
// and the order are known.
func TestView(t *testing.T) {
	for _, test := range []struct {
		text, comparator string
		ranged           bool
		size             int
		options          []Option
	}{
		{"ranges", bytewise, true, 0, nil},
		{"an unknown order", "example.Order", false, 0, nil},
		{"a given order", "example.Order", true, 0, []Option{Comparator(bytes.Compare)}},
		{"files of another size", bytewise, false, 1, nil},
	} {
		folder := t.TempDir()
		var tables []testTable
		for i, g := range goldens(t) {
			if g.Engine == LevelDB {
				for j := range 5 { // some share a part of the range, and one has all of it
					last := 10*j + 18
					if j == 0 {
						last = 98
					}
					tables = append(tables, testTable{uint64(10*i + j), g.File, uint64(j % 2), 10 * j, last, test.size})
				}
			}
		}
		writeDatabase(t, folder, test.comparator, tables)
		d, err := OpenDatabase(folder, test.options...)
		if err != nil {
			t.Fatal(err)
		}
		v := d.View()
		checkView(t, test.text, v, func(table, i int) bool {
			of := tables[table]
			return !test.ranged || i >= of.first && i <= of.last
		})
		if ranged := len(v.anywhere) == 0; ranged != test.ranged {
			t.Errorf("%s: ranges are used: %v", test.text, ranged)
		}
		d.Close()
	}
}

// checkView wants a hit if a key is in the range of a table, which has it or not.
func checkView(t *testing.T, what string, v *View, inRange func(table, key int) bool) {
	t.Helper()
	const n = 100
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = key(n - 1 - i)
	}
	column, err := bloom.Bytes(keys).WithValidity(bytes.Repeat([]byte{0xb7}, (n+7)/8), 0)
	if err != nil {
		t.Fatal(err)
	}
	batch := make([][]uint64, len(v.Tables()))
	if err := v.MayContainBatch(column, func(table int, hits []uint64) { batch[table] = slices.Clone(hits) }); err != nil {
		t.Fatal(err)
	}
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for i, k := range keys {
		count, err := v.MayContain(k, hits)
		if err != nil {
			t.Fatal(err)
		}
		for j, table := range v.Tables() {
			want, err := table.MayContain(k)
			if err != nil {
				t.Fatal(err)
			}
			want = want && inRange(j, n-1-i)
			if got := hits[j/64]>>(j%64)&1 != 0; got != want {
				t.Fatalf("%s: table %d, %s: %v, want %v", what, j, k, got, want)
			}
			if want {
				count--
			}
			valid := 0xb7>>(i%8)&1 != 0
			if got := batch[j] != nil && batch[j][i/64]>>(i%64)&1 != 0; got != (want && valid) {
				t.Fatalf("%s: table %d, %s in a column: %v, want %v", what, j, k, got, want && valid)
			}
		}
		if count != 0 {
			t.Fatalf("%s: the count of hits is off by %d", what, count)
		}
	}
	if err := v.MayContainBatch(bloom.Bytes(keys).Hashed(bloom.RocksDB), nil); !errors.Is(err, bloom.ErrKeys) {
		t.Errorf("%s: hashes: %v", what, err)
	}
	if err := v.MayContainBatch(bloom.Keys{}, nil); err != nil {
		t.Errorf("%s: no keys: %v", what, err)
	}
}

// TestInDatabase opens tables one by one, and lists those of the database.
func TestInDatabase(t *testing.T) {
	folder := t.TempDir()
	writeDatabase(t, folder, bytewise, []testTable{
		{number: 4, golden: "rocksdb-5-snappy.sst", level: 1, first: 0, last: 299},
		{number: 7, golden: "rocksdb-4-bzip2.sst", level: 2, first: 0, last: 299},
		{number: 8, golden: "rocksdb-7.sst", level: 2, first: 0, last: 299},
	})
	writeFile(t, filepath.Join(folder, "OPTIONS-000005"), []byte("[DBOptions]\n\n[CFOptions \"default\"]\n  optimize_filters_for_hits=false\n"))
	writeFile(t, filepath.Join(folder, "OPTIONS-000011"), []byte("[CFOptions \"other\"]\n  x=y\n\n[CFOptions \"default\"]\n  optimize_filters_for_hits = true\n"))
	data, err := os.ReadFile(filepath.Join(folder, "000007.sst"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "000009.sst"), data)
	if err := os.Remove(filepath.Join(folder, "000008.sst")); err != nil {
		t.Fatal(err)
	}
	option := InDatabase(folder)
	var got []string
	for _, name := range []string{"000004.sst", "000007.sst", "000009.sst"} {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		table, err := Open(file, info.Size(), option)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(names([]*Table{table})[0], " ", table.IsUnasked()))
	}
	if want := []string{"000004.sst 1 false", "000007.sst 2 true", "000009.sst leftover false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if list, err := ListedTables(folder); !slices.Equal(list, []string{"000004.sst", "000007.sst", "000008.sst"}) || err != nil {
		t.Errorf("%q, %v", list, err)
	}
	if list, err := ListedTables(t.TempDir()); list != nil || !errors.Is(err, ErrManifest) {
		t.Errorf("no database: %q, %v", list, err)
	}
	table, err := openBytes(data, option) // which has no name
	if err != nil {
		t.Fatal(err)
	}
	if _, known := table.Level(); known || table.IsLeftover() || table.Name() != "" {
		t.Errorf("%q, leftover: %v", table.Name(), table.IsLeftover())
	}
}

// TestVirtual has tables of Pebble that are parts of a file. The keys of one of them have another prefix in the database.
func TestVirtual(t *testing.T) {
	folder := t.TempDir()
	writeDatabase(t, folder, bytewise, []testTable{{number: 4, golden: "rocksdb-5-snappy.sst"}, {number: 5, golden: "rocksdb-7.sst"}})
	part := func(level, number, backing uint64, fields ...byte) record {
		r := record{}.numbers(103, level, number, 1000).key(string(key(10))).key(string(key(20))).numbers(5, 6, 66, backing)
		return append(append(r, fields...), 1)
	}
	e := slices.Concat(record{}.numbers(tagComparator).bytes(bytewise), record{}.numbers(105, 4, 5000, 105, 5, 5000),
		part(2, 100, 4), part(2, 101, 4), part(3, 102, 5), part(4, 103, 5, 67, 1, 'x'))
	writeFile(t, filepath.Join(folder, "MANIFEST-000001"), logOf(e))
	d, err := OpenDatabase(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tables := d.View().Tables()
	wantNames(t, "parts", tables, "000004.sst 2", "000005.sst") // which is on two levels
	hits := make([]uint64, 1)
	for k, want := range map[string]uint64{string(key(0)): 3, string(key(1)): 2, "other": 2} {
		if n, err := d.View().MayContain([]byte(k), hits); hits[0] != want || err != nil {
			t.Errorf("%s: %d tables, %b, want %b, %v", k, n, hits, want, err)
		}
	}
	if !errors.Is(tables[1].Ignored(), ErrPrefix) || tables[0].Ignored() != nil {
		t.Error(tables[0].Ignored(), tables[1].Ignored())
	}
	writeFile(t, filepath.Join(folder, "MANIFEST-000001"), logOf(e, record{}.numbers(tagDeletedTable, 4, 103)))
	came, went, err := d.Refresh()
	if err != nil || len(came) != 1 || len(went) != 1 || came[0].Ignored() != nil {
		t.Errorf("without the prefix: %q came, %q went, %v", names(came), names(went), err)
	}
	wantNames(t, "without the prefix", d.View().Tables(), "000004.sst 2", "000005.sst 3")
}

// TestConcurrentViews is for the race detector: Views are asked while the database is refreshed, and tables move between levels.
func TestConcurrentViews(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "databases", "families"))); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDatabase(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	done := make(chan error)
	for worker := range 4 {
		go func() {
			var failed error
			for i := range 50 {
				v := d.View()
				k := fmt.Appendf(nil, "user%08d", 10*(50*worker+i))
				n, err := v.MayContain(k, make([]uint64, (len(v.Tables())+63)/64))
				if err != nil || n == 0 {
					failed = fmt.Errorf("%s: %d tables, %w", k, n, err)
				}
				column := 0
				if err := v.MayContainBatch(bloom.Bytes([][]byte{k}), func(int, []uint64) { column++ }); err != nil || column != n {
					failed = fmt.Errorf("%s: %d tables in a column, and %d alone: %w", k, column, n, err)
				}
				names(v.Tables())
			}
			done <- failed
		}()
	}
	for range 20 {
		if _, _, err := d.Refresh(); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
