package compare

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
)

// The numbers of present keys of a table, to which come as many absent ones and more.
const (
	tableKeys      = 5_000
	largeTableKeys = 500_000
)

// largeTables are the kinds of tables that are written with many keys, too.
var largeTables = []string{"leveldb", "goleveldb", "rocksdb-5-xxh3", "rocksdb-4-bzip2", "rocksdb-5-partitions", "pebble-4", "pebble-7", "badger"}

// keysOfTable returns keys for a table, and keys that it does not have. All lie between the first and the
// last key of the table. Some absent keys are like the separators of an index: a part of a key, with a last
// byte that is higher by one.
func keysOfTable(n int) (present, absent [][]byte) {
	const likes = 10_000 // at most
	present = append(storeKeys(n, 0), []byte{0}, bytes.Repeat([]byte{0xff}, 20))
	absent = storeKeys(n, 1)
	known := map[string]bool{}
	for _, key := range slices.Concat(present, absent) {
		known[string(key)] = true
	}
	for _, key := range present[:min(n, likes)] {
		for end := 3; end <= len(key); end++ {
			like := bytes.Clone(key[:end])
			if like[end-1]++; like[end-1] != 0 && !known[string(like)] {
				known[string(like)] = true
				absent = append(absent, like)
			}
		}
	}
	return present, absent
}

// TestTables compares the answers of tables with those that the engines that wrote them get from the filters.
func TestTables(t *testing.T) {
	t.Parallel()
	writers, err := tableWriters(programs)
	if err != nil {
		t.Fatal(err)
	}
	present, absent := keysOfTable(tableKeys)
	for _, w := range writers {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			testTable(t, w, present, absent)
		})
	}
}

// TestLargeTables looks up a million keys. Half of them are present.
func TestLargeTables(t *testing.T) {
	if testing.Short() {
		t.Skip("a million keys take half a minute")
	}
	writers, err := tableWriters(programs)
	if err != nil {
		t.Fatal(err)
	}
	present, absent := keysOfTable(largeTableKeys)
	tested := 0
	for _, w := range writers {
		if slices.Contains(largeTables, w.Name) {
			tested++
			t.Run(w.Name, func(t *testing.T) { testTable(t, w, present, absent) })
		}
	}
	if tested != len(largeTables) {
		t.Errorf("%d kinds of tables of %d", tested, len(largeTables))
	}
}

func testTable(t *testing.T, w tableWriter, present, absent [][]byte) {
	folder := t.TempDir()
	name, err := w.Write(folder, present)
	if err != nil {
		t.Fatal(err)
	}
	table := openTable(t, name, w.Open...)
	if table.Engine() != w.Engine || table.Version() != w.Version || !errors.Is(table.Ignored(), w.Ignored) {
		t.Errorf("%s %d, ignored: %v; want %s %d, %v", table.Engine(), table.Version(), table.Ignored(), w.Engine, w.Version, w.Ignored)
	}
	if n, known := table.Entries(); n != uint64(len(present)) && known || known == (w.Engine == bloomsst.LevelDB) {
		t.Errorf("%d entries, known: %v; the table has %d", n, known, len(present))
	}
	keys := slices.Concat(present, absent)
	hits := make([]uint64, (len(keys)+63)/64)
	n, err := table.MayContainBatch(bloom.Bytes(keys), hits)
	if err != nil {
		t.Fatal(err)
	}
	inside := checkRange(t, table, w, present, keys)
	if w.Ignored != nil {
		if n != inside || table.Parts() != 0 && !errors.Is(w.Ignored, bloomsst.ErrPrefix) {
			t.Errorf("%d filters; %d keys may be there, and %d of %d are in the range", table.Parts(), n, inside, len(keys))
		}
		return
	}
	answers, err := w.Answers(folder, keys)
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(keys) {
		t.Fatalf("%d answers to %d keys", len(answers), len(keys))
	}
	passed := 0
	for i, key := range keys {
		may, err := table.MayContain(key)
		if err != nil {
			t.Fatal(err)
		}
		if batch := hits[i/64]>>(i%64)&1 != 0; batch != may {
			t.Fatalf("%x: %v in a column, and %v alone", key, batch, may)
		}
		inFilter, err := table.FilterMayContain(key)
		if err != nil {
			t.Fatal(err)
		}
		if i < len(present) && !may || may && !inFilter {
			t.Fatalf("%x, present: %v: %v, and in the filter: %v", key, i < len(present), may, inFilter)
		}
		if i < len(present) != (answers[i] == '+') {
			t.Fatalf("%x, present: %v: the engine says %q", key, i < len(present), answers[i])
		}
		if want := answers[i] == '1' || answers[i] == '+'; inFilter != want {
			t.Fatalf("%x, present: %v: %v, and the engine says %q", key, i < len(present), inFilter, answers[i])
		}
		if i >= len(present) && may {
			passed++
		}
	}
	if (table.Parts() > 1) != w.Parts {
		t.Errorf("%d filters", table.Parts())
	}
	for p, err := range table.Filters() {
		if got := formatOf(p); err != nil || got != w.formatName() {
			t.Fatalf("a filter of %s, want %s: %v", got, w.formatName(), err)
		}
	}
	t.Logf("%d filters: of %d absent keys, %d pass", table.Parts(), len(absent), passed)
}

// checkRange wants the range of the table's keys to begin with the first of its keys and to end at the last one or after it. It returns
// how many keys are in it.
func checkRange(t *testing.T, table *bloomsst.Table, w tableWriter, present, keys [][]byte) (inside int) {
	t.Helper()
	first, last, known := table.Range()
	if known == w.NoRange {
		t.Errorf("the range is known: %v", known)
	}
	if !known && w.Engine != bloomsst.Badger {
		return len(keys)
	}
	if !known { // its lower end is used, and not told
		first, last = slices.MinFunc(present, bytes.Compare), bytes.Repeat([]byte{0xff}, 100)
	}
	low, high := slices.MinFunc(present, bytes.Compare), slices.MaxFunc(present, bytes.Compare)
	if bytes.Compare(first, last) > 0 { // in reverse order
		low, high = high, low
		if !bytes.Equal(first, low) || bytes.Compare(last, high) > 0 {
			t.Errorf("the range is from %x to %x, and the keys from %x to %x", first, last, low, high)
		}
		first, last = last, first
	} else if !bytes.Equal(first, low) || bytes.Compare(last, high) < 0 {
		t.Errorf("the range is from %x to %x, and the keys from %x to %x", first, last, low, high)
	}
	for _, key := range keys {
		if bytes.Compare(key, first) >= 0 && bytes.Compare(key, last) <= 0 {
			inside++
		}
	}
	return inside
}

// ribbonFormat is what golden.json names Ribbon filters.
const ribbonFormat = "ribbon"

// formatName returns the name of the filters' format.
func (w tableWriter) formatName() string {
	if w.Ribbon {
		return ribbonFormat
	}
	return w.Format.String()
}

// formatOf returns the name of the format of a filter.
func formatOf(p bloomsst.Part) string {
	if p.Ribbon != nil {
		return ribbonFormat
	}
	return p.Filter.Format().String()
}

// openTable opens a table file.
func openTable(t *testing.T, name string, options ...bloomsst.Option) *bloomsst.Table {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	table, err := bloomsst.Open(file, info.Size(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
