package bloomsst

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// golden is a table that an engine wrote, and what the engine says. TestGoldenTables of compare writes them.
type golden struct {
	File, By, Engine string
	Version          int
	Format           string
	Parts            bool
	Ignored          string
	Answers          string
	data             []byte
}

// goldens returns the tables of testdata.
func goldens(t testing.TB) (all []golden) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].data, err = os.ReadFile(filepath.Join("testdata", all[i].File)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// key returns the key of an answer.
func key(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }

func openBytes(data []byte, options ...Option) (*Table, error) {
	return Open(bytes.NewReader(data), int64(len(data)), options...)
}

// reasons are the errors by which a golden table is ignored.
var reasons = []error{ErrNoFilter, ErrPolicy, ErrRibbon, ErrPrefix, ErrComparator}

func TestGoldenTables(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.File, func(t *testing.T) {
			table, err := openBytes(g.data)
			if err != nil {
				t.Fatal(err)
			}
			if table.Engine() != g.Engine || table.Version() != g.Version {
				t.Errorf("%s %d, want %s %d", table.Engine(), table.Version(), g.Engine, g.Version)
			}
			if i := slices.IndexFunc(reasons, func(r error) bool { return errors.Is(table.Ignored(), r) }); i < 0 && g.Ignored != "" ||
				i >= 0 && reasons[i].Error() != g.Ignored {
				t.Errorf("ignored: %v, want %s", table.Ignored(), g.Ignored)
			}
			for i, answer := range g.Answers {
				want := answer == '+' || answer == '1' || g.Ignored != ""
				if may, err := table.FilterMayContain(key(i)); may != want || err != nil {
					t.Fatalf("%s: %v, %v; the engine says %q", key(i), may, err, answer)
				}
				checkRange(t, table, key(i), answer == '+', want)
			}
			checkBatch(t, table, len(g.Answers))
			checkFilters(t, table, g)
		})
	}
}

// checkRange wants that a table may have a key if its filter may, and the key is in the range.
func checkRange(t *testing.T, table *Table, key []byte, present, inFilter bool) {
	t.Helper()
	first, last, known := table.Range()
	compare := table.order().compare
	outside := known && (compare(key, first) < 0 || compare(key, last) > 0)
	may, err := table.MayContain(key)
	if present && (outside || !may) || outside && may || known && may != (inFilter && !outside) || err != nil {
		t.Fatalf("%s, present: %v, in the filter: %v: %v, %v; the range is from %q to %q, known: %v", key, present, inFilter, may, err, first, last, known)
	}
}

// checkBatch compares a column with single keys.
func checkBatch(t *testing.T, table *Table, n int) {
	t.Helper()
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = key(i)
	}
	valid := bytes.Repeat([]byte{0xb7}, (n+7)/8)
	column, err := bloom.Bytes(keys).WithValidity(valid, 0)
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]uint64, (n+63)/64+1)
	hits[len(hits)-1] = 42
	count, err := table.MayContainBatch(column, hits)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 * (len(hits) - 1) {
		want := false
		if i < n {
			want, _ = table.MayContain(keys[i])
			if valid[i/8]>>(i%8)&1 == 0 {
				want = table.Ignored() != nil
			}
		}
		got := hits[i/64]>>(i%64)&1 != 0
		if got != want {
			t.Fatalf("row %d: %v, want %v", i, got, want)
		}
		if got {
			count--
		}
	}
	if count != 0 || hits[len(hits)-1] != 42 {
		t.Errorf("the count of hits is off by %d; the word after the hits is %d", count, hits[len(hits)-1])
	}
}

func checkFilters(t *testing.T, table *Table, g golden) {
	t.Helper()
	n, to, bits := 0, uint64(0), uint64(0)
	var last []byte
	for p, err := range table.Filters() {
		if err != nil {
			t.Fatal(err)
		}
		if got := formatOf(p); got != g.Format && g.Format != "" {
			t.Errorf("a filter of %s, want %s", got, g.Format)
		}
		if p.From < to || p.To < p.From {
			t.Errorf("offsets from %d to %d after %d", p.From, p.To, to)
		}
		if c := table.order().compare; p.LastKey != nil && last != nil && c(p.LastKey, last) <= 0 {
			t.Errorf("the last key %q after %q", p.LastKey, last)
		}
		to, last = p.To, p.LastKey
		bits += p.Stats().Bits
		n++
	}
	shown := g.Ignored == "" || g.Ignored == ErrPrefix.Error() // a filter of prefixes has figures
	if n != table.Parts() || g.Parts != (n > 1) || (n > 0) != shown {
		t.Errorf("%d filters, Parts says %d", n, table.Parts())
	}
	if _, ok := table.FilterKey(key(0)); ok && g.Ignored != "" {
		t.Error("a filter that is not used has a key")
	}
	upper, err := table.UpperBound()
	if err != nil {
		t.Fatal(err)
	}
	if g.Engine != Badger {
		all, err := table.index()
		if err != nil || !bytes.Equal(upper, all.key(all.len()-1)) {
			t.Errorf("the last key %q of the index, %v; the bound is %q", all.key(all.len()-1), err, upper)
		}
	}
	for i, answer := range g.Answers {
		if g.Engine != Badger && answer == '+' && table.order().compare(key(i), upper) > 0 {
			t.Errorf("the key %s is above %q", key(i), upper)
		}
	}
	stats, err := table.Stats()
	if err != nil {
		t.Fatal(err)
	}
	present := float64(strings.Count(g.Answers, "+"))
	if g.Ignored == "" && !table.properties.prefixesOnly && (stats.Filters != n || stats.Bits != bits || stats.Keys < 0.8*present || stats.Keys > 1.2*present ||
		stats.FalsePositiveRate <= 0 || stats.FalsePositiveRate > 0.1 || stats.BestRate > 1.1*stats.FalsePositiveRate) {
		t.Errorf("%+v of %v keys", stats, present)
	}
}

// formatOf returns the name of the format of a filter, as golden.json has it.
func formatOf(p Part) string {
	if p.Ribbon != nil {
		return "ribbon"
	}
	return p.Filter.Format().String()
}

// counting counts reads.
type counting struct {
	io.ReaderAt
	reads int
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, off)
}

// TestReads counts the reads of Open. The end of the file that is read first may have the footer alone.
func TestReads(t *testing.T) {
	for _, g := range goldens(t) {
		most := 0
		for _, tail := range []int64{leveldbSize, rocksdbSize, largestSize, 100, 500, 2000, tailSize} {
			c := &counting{ReaderAt: bytes.NewReader(g.data)}
			table, err := open(c, int64(len(g.data)), tail)
			if tail < largestSize && err != nil {
				continue // the footer is longer
			}
			if err != nil {
				t.Fatalf("%s, %d bytes first: %v", g.File, tail, err)
			}
			if most = max(most, c.reads); c.reads > 4 {
				t.Errorf("%s, %d bytes first: %d reads", g.File, tail, c.reads)
			}
			for i, answer := range g.Answers {
				want := answer == '+' || answer == '1' || g.Ignored != ""
				if may, err := table.FilterMayContain(key(i)); may != want || err != nil {
					t.Fatalf("%s, %d bytes first: %s: %v, %v", g.File, tail, key(i), may, err)
				}
			}
		}
		t.Logf("%s: %d reads at most", g.File, most)
	}
}

// TestOptions asks tables that need an option.
func TestOptions(t *testing.T) {
	for _, g := range goldens(t) {
		var options []Option
		switch g.File {
		case "rocksdb-5-prefix.sst", "pebble-split.sst", "pebble-of-rocksdb-2-split.sst":
			options = append(options, Split(func([]byte) int { return 4 })) // all keys have the prefix key0
		case "rocksdb-5-reverse.sst":
			options = append(options, Comparator(func(a, b []byte) int { return bytes.Compare(b, a) }))
		default:
			continue
		}
		table, err := openBytes(g.data, options...)
		if err != nil || table.Ignored() != nil {
			t.Fatal(err, table.Ignored())
		}
		for i, answer := range g.Answers {
			if may, err := table.FilterMayContain(key(i)); may != (answer != '0') || err != nil {
				t.Fatalf("%s: %s: %v, %v; the engine says %q", g.File, key(i), may, err, answer)
			}
		}
		if may, err := table.MayContain([]byte("other")); may || err != nil {
			t.Errorf("%s: another prefix: %v, %v", g.File, may, err)
		}
		checkBatch(t, table, len(g.Answers))
	}
}

// TestOtherOrder opens tables of several filters with a comparator by which their keys are not in order: all filters are tested.
func TestOtherOrder(t *testing.T) {
	for _, g := range goldens(t) {
		if !g.Parts {
			continue
		}
		order := func(a, b []byte) int { return bytes.Compare(b, a) }
		if g.File == "rocksdb-5-reverse.sst" {
			order = bytes.Compare
		}
		table, err := openBytes(g.data, Comparator(order))
		if err != nil {
			t.Fatal(err)
		}
		denied := 0
		for i, answer := range g.Answers {
			may, err := table.MayContain(key(i))
			if !may && answer == '+' || err != nil {
				t.Fatalf("%s: %s: %v, %v, ignored: %v", g.File, key(i), may, err, table.Ignored())
			}
			if !may {
				denied++
			}
		}
		if denied < len(g.Answers)/4 || table.Ignored() != nil {
			t.Errorf("%s: %d keys are denied, ignored: %v", g.File, denied, table.Ignored())
		}
	}
}

// TestNoPrefix has keys without a prefix.
func TestNoPrefix(t *testing.T) {
	for _, g := range goldens(t) {
		if g.File != "pebble-split.sst" {
			continue
		}
		for _, length := range []int{-1, 100} {
			table, err := openBytes(g.data, Split(func([]byte) int { return length }))
			if err != nil {
				t.Fatal(err)
			}
			if may, err := table.MayContain([]byte("other")); !may || err != nil {
				t.Errorf("a prefix of %d bytes: %v, %v", length, may, err)
			}
		}
	}
}

// TestNamed opens tables whose filters have another name. Of Pebble, too, they may be of any format.
func TestNamed(t *testing.T) {
	for _, g := range goldens(t) {
		if g.File != "rocksdb-5-none.sst" { // without checksums
			continue
		}
		if format := namedFormat(t, g.data, magicPebble, 4); format != bloom.RocksDB {
			t.Errorf("with the footer of Pebble: %v", format)
		}
		data := bytes.ReplaceAll(g.data, []byte("fullfilter.rocksdb.Built"), []byte("fullfilter.lanebloom.own"))
		name := "lanebloom.ownin" + "BloomFilter"
		table, err := openBytes(data)
		if err != nil || !errors.Is(table.Ignored(), ErrPolicy) || table.Policy() != name {
			t.Fatal(err, table.Ignored(), table.Policy())
		}
		if table, err = openBytes(data, Named(name, bloom.RocksDB)); err != nil || table.Ignored() != nil {
			t.Fatal(err, table.Ignored())
		}
		for i, answer := range g.Answers {
			if may, err := table.FilterMayContain(key(i)); may != (answer != '0') || err != nil {
				t.Fatalf("%s: %v, %v; the engine says %q", key(i), may, err, answer)
			}
		}
	}
}

// TestFamilies has policies that are not read, and wants their names and families.
func TestFamilies(t *testing.T) {
	for policy, want := range map[string]string{
		"binaryfuse":                "fullfilter.binaryfuse, a binary fuse filter",
		"binaryfuse(8)":             "a binary fuse filter",
		"bloom(12)":                 "fullfilter.bloom(12), a Bloom filter",
		"adaptive_bloom(10,100000)": "fullfilter.adaptive_bloom(10,100000), a Bloom filter",
		"app.BloomFilter":           "unknown filter policy: fullfilter.app.BloomFilter",
	} {
		table := &Table{engine: Pebble, version: 7, policy: policy}
		if err := table.whyIgnored("fullfilter."); !errors.Is(err, ErrPolicy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", policy, err, want)
		}
		table.names = map[string]bloom.Format{policy: bloom.Pebble}
		table.properties.comparator, table.properties.schema = bytewise, defaultSchema
		if err := table.whyIgnored("fullfilter."); err != nil || table.format != bloom.Pebble {
			t.Errorf("%s, named: %v, %v", policy, table.format, err)
		}
	}
}

// namedFormat returns the format of the filter in a table with another footer, if Named says that it is RocksDB's.
func namedFormat(t *testing.T, data []byte, magic uint64, version uint32) bloom.Format {
	t.Helper()
	data = bytes.ReplaceAll(data, []byte("fullfilter.rocksdb.Built"), []byte("fullfilter.lanebloom.own"))
	binary.LittleEndian.PutUint64(data[len(data)-8:], magic)
	binary.LittleEndian.PutUint32(data[len(data)-12:], version)
	table, err := openBytes(data, Named("lanebloom.owninBloomFilter", bloom.RocksDB))
	if err != nil || table.Ignored() != nil {
		t.Fatal(err, table.Ignored())
	}
	for p, err := range table.Filters() {
		if err != nil {
			t.Fatal(err)
		}
		return p.Filter.Format()
	}
	t.Fatal("no filter")
	return 0
}

// TestMarks has keys of an index block that are no entries but mark a place before all entries of a key: these are in the next block.
func TestMarks(t *testing.T) {
	x := new(index)
	for _, key := range []struct {
		user string
		tag  uint64
	}{{"b", 7<<8 | 1}, {"d", newest << 8}, {"f", newest<<8 | 0x16}, {"h", 1}} {
		if err := x.add(binary.LittleEndian.AppendUint64([]byte(key.user), key.tag), handle{}, indexLayout{}, 1000); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]int{"a": 0, "b": 0, "c": 1, "d": 2, "e": 2, "f": 3, "g": 3, "h": 3, "i": 4} {
		if got := x.find([]byte(key), bytes.Compare); got != want {
			t.Errorf("%s is in block %d, want %d", key, got, want)
		}
	}
}

// TestStretches asks filters of LevelDB's tables that have every key: only a stretch without a filter, and what lies past the last block,
// has none.
func TestStretches(t *testing.T) {
	for f, all := range map[bloom.Format][]byte{bloom.LevelDB: {0xff, 0xff, 6}, bloom.Parquet: bytes.Repeat([]byte{0xff}, 32)} {
		n := uint32(len(all))
		block := slices.Concat(all, all)
		for _, at := range []uint32{0, n, n, 2 * n, 2 * n} { // the last is where this list begins
			block = binary.LittleEndian.AppendUint32(block, at)
		}
		b, err := parseBlocks(append(block, 11), f)
		if err != nil {
			t.Fatal(err)
		}
		x := new(index)
		for i, key := range []string{"b", "d", "f"} { // of blocks at 0, 2048 and 4096
			if err := x.add([]byte(key), handle{offset: uint64(i) << 11}, indexLayout{userKeys: true}, 1000); err != nil {
				t.Fatal(err)
			}
		}
		table := &Table{engine: LevelDB, format: f, filters: b}
		table.blocks.Store(x)
		table.proof.Store(&proof{ordered: true, compare: bytes.Compare, tails: ownTails})
		for key, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false, "e": true, "f": true, "g": false} {
			if may, err := table.MayContain([]byte(key)); may != want || err != nil {
				t.Errorf("%v: %s: %v, %v", f, key, may, err)
			}
		}
	}
}

// TestContext wants the sums of RocksDB's ChecksumModifierForContext, of offsets above 4 GiB, too.
func TestContext(t *testing.T) {
	for _, c := range []struct {
		base   uint32
		offset int64
		want   uint32
	}{{0, 5<<32 | 7, 0}, {0x1000, 7, 0x1007}, {0x1000, 5<<32 | 7, 0x100c}, {0xff, 1<<32 | 0xffffffff, 0xff}} {
		if got := (&footer{base: c.base}).context(c.offset); got != c.want {
			t.Errorf("base %#x, offset %#x: %#x, want %#x", c.base, c.offset, got, c.want)
		}
	}
}

// TestHashedColumns asks for columns of hashes: one filter takes them, and several do not.
func TestHashedColumns(t *testing.T) {
	for _, g := range goldens(t) {
		if g.Ignored != "" {
			continue
		}
		table, err := openBytes(g.data)
		if err != nil {
			t.Fatal(err)
		}
		keys := [][]byte{key(0), key(1), key(2)}
		hits := make([]uint64, 1)
		n, err := table.MayContainBatch(bloom.Bytes(keys).Hashed(table.format), hits)
		if several := g.Parts || table.split != nil || g.Format == "ribbon"; several != errors.Is(err, bloom.ErrKeys) || several && (n != 3 || hits[0] != 7) || hits[0]&5 != 5 {
			t.Errorf("%s: %d hits, %b, %v", g.File, n, hits[0], err)
		}
	}
}

// TestConcurrent is for the race detector: what is read on demand is read by many at once.
func TestConcurrent(t *testing.T) {
	for _, g := range goldens(t) {
		table, err := openBytes(g.data)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		for range 4 {
			go func() {
				for i, answer := range g.Answers {
					if may, err := table.MayContain(key(i)); err != nil || !may && answer == '+' {
						done <- fmt.Errorf("%s: %s: %v, %w", g.File, key(i), may, err)
						return
					}
				}
				_, err := table.UpperBound()
				done <- err
			}()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSum32(t *testing.T) {
	for text, want := range map[string]uint32{
		"":    0x02cc5d05,
		"a":   0x550d7456,
		"abc": 0x32d153ff,
		"Nobody inspects the spammish repetition": 0xe2293b2f,
	} {
		if got := sum32([]byte(text)); got != want {
			t.Errorf("%q: %x, want %x", text, got, want)
		}
	}
}
