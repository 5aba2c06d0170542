package bloomgoleveldb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
)

// Programs that call goleveldb's package filter compile with this one.
var _ = []func(int) filter.Filter{filter.NewBloomFilter, NewBloomFilter}
var _ = func(f Filter, g FilterGenerator, b Buffer) (filter.Filter, filter.FilterGenerator, filter.Buffer) {
	return f, g, b
}

func TestNames(t *testing.T) {
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	for _, test := range []struct{ got, want string }{
		{NewBloomFilter(10).Name(), filter.NewBloomFilter(10).Name()},
		{NewNamed(bloom.LevelDB.Name(), policy).Name(), "leveldb.BuiltinBloomFilter2"},
		{NewNamed("other", bloom.Policy{}).Name(), "other"},
	} {
		if test.got != test.want {
			t.Errorf("name %q, want %q", test.got, test.want)
		}
	}
}

// TestNewNamedRefuses gives filters of other formats the names of goleveldb and LevelDB, whose readers
// would lose keys.
func TestNewNamedRefuses(t *testing.T) {
	for _, name := range []string{"leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2"} {
		for _, format := range bloom.Formats() {
			message := func() (message string) {
				defer func() { message, _ = recover().(string) }()
				NewNamed(name, bloom.Policy{Format: format, BitsPerKey: 10})
				return ""
			}()
			if want := format != bloom.LevelDB; strings.Contains(message, name) != want {
				t.Errorf("NewNamed(%q) of the format %v panics with %q", name, format, message)
			}
		}
	}
}

// dirtyBuffer is a filter.Buffer that returns memory with old bytes in it. The
// interface allows that; goleveldb's own generator relies on zero bytes.
type dirtyBuffer struct{ bytes.Buffer }

func (b *dirtyBuffer) Alloc(n int) []byte {
	b.Write(bytes.Repeat([]byte{0xa5}, n))
	return b.Bytes()[b.Len()-n:]
}

// TestGenerator makes several filters with one generator of goleveldb and one of this
// package, and compares them.
func TestGenerator(t *testing.T) {
	for bits := range 61 {
		random := rand.New(rand.NewPCG(1, uint64(bits)))
		own := filter.NewBloomFilter(bits).NewGenerator()
		ours := NewBloomFilter(bits).NewGenerator()
		var want util.Buffer
		var got dirtyBuffer
		for _, keys := range []int{0, 1, 2, 300, 7, 0, 2500, 40} {
			for range keys {
				// Few enough values for some keys to come twice.
				key := binary.LittleEndian.AppendUint32(nil, random.Uint32N(2000))[:random.IntN(5)]
				own.Add(key)
				ours.Add(key)
				clear(key) // goleveldb uses its memory again
			}
			own.Generate(&want)
			ours.Generate(&got)
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Fatalf("%d bits: the filter of %d keys, or one before it, differs from goleveldb's", bits, keys)
			}
		}
	}
}

// TestContains compares the answers of goleveldb's filter and this one, for filters
// that either wrote, and for bytes that neither wrote.
func TestContains(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	own, ours := filter.NewBloomFilter(10), NewBloomFilter(10)
	filters := [][]byte{nil, {0}, {6}, {255}}
	for last := range 256 {
		encoded := make([]byte, 2+random.IntN(60))
		for i := range encoded {
			encoded[i] = byte(random.Uint32() | random.Uint32())
		}
		encoded[len(encoded)-1] = byte(last)
		filters = append(filters, encoded)
	}
	for _, writer := range []filter.Filter{own, ours} {
		for _, keys := range []int{1, 50, 3000} {
			g := writer.NewGenerator()
			for i := range keys {
				g.Add(fmt.Append(nil, i))
			}
			var b util.Buffer
			g.Generate(&b)
			filters = append(filters, b.Bytes())
			for i := range keys {
				if !ours.Contains(b.Bytes(), fmt.Append(nil, i)) {
					t.Fatalf("key %d of %d is missing", i, keys)
				}
			}
		}
	}
	yes := 0
	for _, encoded := range filters {
		for i := range 500 {
			key := fmt.Append(nil, i)
			got, want := ours.Contains(encoded, key), own.Contains(encoded, key)
			if got != want {
				t.Fatalf("Contains(%x, %q) = %v, goleveldb says %v", encoded, key, got, want)
			}
			if want {
				yes++
			}
		}
	}
	if all := 500 * len(filters); yes == 0 || yes == all {
		t.Errorf("%d of %d answers are yes, which tests little", yes, all)
	}
}

func TestAllocations(t *testing.T) {
	const keys = 1000
	f := NewBloomFilter(10)
	g, key := f.NewGenerator(), []byte("a key of 17 bytes")
	var b util.Buffer
	table := func() {
		for range keys {
			g.Add(key)
		}
		g.Generate(&b)
	}
	table() // grows the buffers
	encoded := slices.Clone(b.Bytes())
	for _, test := range []struct {
		name string
		run  func()
	}{
		{"Add and Generate", func() { b.Reset(); table() }},
		{"Contains", func() { f.Contains(encoded, key) }},
	} {
		if n := testing.AllocsPerRun(100, test.run); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}

// counted is a filter that counts its calls and its answers yes.
type counted struct {
	filter.Filter
	calls, yes atomic.Int64
}

func (c *counted) Contains(encoded, key []byte) bool {
	c.calls.Add(1)
	if !c.Filter.Contains(encoded, key) {
		return false
	}
	c.yes.Add(1)
	return true
}

// database is a closed database in memory.
type database struct {
	storage storage.Storage
	n       int // it has the keys key(0), key(2), ..., key(2*(n-1))
}

func key(i int) []byte { return fmt.Appendf(nil, "key%08d", i) }

// write writes all keys, and compacts them into tables.
func (d *database) write(t *testing.T, o *opt.Options) {
	t.Helper()
	d.open(t, o, func(db *leveldb.DB) {
		for i := range d.n {
			if err := db.Put(key(2*i), []byte("value"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.CompactRange(util.Range{}); err != nil {
			t.Fatal(err)
		}
	})
}

func (d *database) open(t *testing.T, o *opt.Options, use func(db *leveldb.DB)) {
	t.Helper()
	db, err := leveldb.Open(d.storage, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	use(db)
}

// get looks up the keys of the database and the keys between them. It returns how
// often goleveldb called the filters, and how often they answered yes.
func (d *database) get(t *testing.T, o opt.Options, f filter.Filter, alternatives ...filter.Filter) (calls, yes int) {
	t.Helper()
	var counts []*counted
	count := func(f filter.Filter) filter.Filter {
		counts = append(counts, &counted{Filter: f})
		return counts[len(counts)-1]
	}
	o.Filter = count(f)
	for _, f := range alternatives {
		o.AltFilters = append(o.AltFilters, count(f))
	}
	d.open(t, &o, func(db *leveldb.DB) {
		for i := range 2 * d.n {
			switch _, err := db.Get(key(i), nil); {
			case i%2 == 0 && err != nil:
				t.Fatalf("%s: %v", key(i), err)
			case i%2 == 1 && err != leveldb.ErrNotFound: //nolint:errorlint // goleveldb returns it as it is
				t.Fatalf("%s: found, or %v", key(i), err)
			}
		}
	})
	for _, c := range counts {
		calls += int(c.calls.Load())
		yes += int(c.yes.Load())
	}
	return calls, yes
}

// plausible reports whether these are the counts for n present and n absent keys: few
// calls are missing, for keys past the last key of a table, and few answers are wrong.
func plausible(calls, yes, n int) bool {
	return calls > 2*n-20 && calls <= 2*n && yes >= n && yes < n+n/50
}

// TestMigration changes the filter of a database from goleveldb's own to this one.
func TestMigration(t *testing.T) {
	const n = 20_000
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	own, ours, oursAsOwn := filter.NewBloomFilter(10), NewNamed(policy.Name(), policy), NewBloomFilter(10)
	d := &database{storage.NewMemStorage(), n}
	o := opt.Options{DisableSeeksCompaction: true}

	o.Filter = own
	d.write(t, &o)
	calls, yes := d.get(t, o, own)
	if !plausible(calls, yes, n) {
		t.Fatalf("goleveldb's filter: %d calls and %d times yes for %d keys, half of them absent", calls, yes, 2*n)
	}
	for _, test := range []struct {
		name         string
		filter       filter.Filter
		alternatives []filter.Filter
		calls, yes   int
	}{
		{"the other name", ours, nil, 0, 0},
		{"its name", oursAsOwn, nil, calls, yes},
		{"its name among AltFilters", ours, []filter.Filter{oursAsOwn}, calls, yes},
		{"itself among AltFilters", ours, []filter.Filter{own}, calls, yes},
	} {
		if c, y := d.get(t, o, test.filter, test.alternatives...); c != test.calls || y != test.yes {
			t.Errorf("%s: %d calls, %d times yes, want %d and %d", test.name, c, y, test.calls, test.yes)
		}
	}

	// Writing all keys again makes the compaction rewrite all tables.
	o.Filter, o.AltFilters = ours, []filter.Filter{own}
	d.write(t, &o)
	o.AltFilters = nil
	if c, y := d.get(t, o, ours); !plausible(c, y, n) {
		t.Errorf("after the compaction: %d calls, %d times yes for %d keys, half of them absent", c, y, 2*n)
	}
	if c, _ := d.get(t, o, own); c != 0 {
		t.Errorf("after the compaction goleveldb's filter is asked %d times", c)
	}
}

// readCounter is a storage that counts the reads of tables.
type readCounter struct {
	storage.Storage
	reads atomic.Int64
}

func (s *readCounter) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	if err == nil && fd.Type == storage.TypeTable {
		r = countedReader{r, &s.reads}
	}
	return r, err
}

type countedReader struct {
	storage.Reader
	reads *atomic.Int64
}

func (r countedReader) ReadAt(p []byte, offset int64) (int, error) {
	r.reads.Add(1)
	return r.Reader.ReadAt(p, offset)
}

// TestTablesRead opens a database that goleveldb wrote with its own filter, and counts how many blocks of its
// tables are read for absent keys: without their filters, one for each key.
func TestTablesRead(t *testing.T) {
	const n = 20_000
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	own, ours, oursForBoth := filter.NewBloomFilter(10), NewBloomFilter(10), NewNamed(policy.Name(), policy)
	byDefault := NewNamed("test.BloomFilter", bloom.Policy{BitsPerKey: 10})
	counter := &readCounter{Storage: storage.NewMemStorage()}
	d := &database{counter, n}
	d.write(t, &opt.Options{Filter: own})
	read := func(f filter.Filter, alternatives ...filter.Filter) (blocks int) {
		o := &opt.Options{Filter: f, AltFilters: alternatives, DisableBlockCache: true, DisableSeeksCompaction: true}
		d.open(t, o, func(db *leveldb.DB) {
			get := func(i int) {
				_, err := db.Get(key(i), nil)
				if present := i%2 == 0; present && err != nil || !present && err != leveldb.ErrNotFound { //nolint:errorlint // goleveldb returns it as it is
					t.Fatalf("%s: %v", key(i), err)
				}
			}
			for i := range n { // opens the tables
				get(2 * i)
			}
			counter.reads.Store(0)
			for i := range n - 1 { // the last one is past all tables
				get(2*i + 1)
			}
		})
		return int(counter.reads.Load())
	}
	withOwn := read(own)
	if withOwn == 0 || withOwn > n/50 {
		t.Fatalf("with goleveldb's own filter, %d blocks are read for %d absent keys", withOwn, n)
	}
	for _, test := range []struct {
		name         string
		filter       filter.Filter
		alternatives []filter.Filter
		want         int
	}{
		{"NewBloomFilter", ours, nil, withOwn},
		{"LevelDB's name alone", oursForBoth, nil, n - 1},
		{"LevelDB's name, and NewBloomFilter for old tables", oursForBoth, []filter.Filter{ours}, withOwn},
		{"Default, and NewBloomFilter for old tables", byDefault, []filter.Filter{ours}, withOwn},
	} {
		got := read(test.filter, test.alternatives...)
		t.Logf("%s: %d blocks are read for %d absent keys", test.name, got, n-1)
		if got != test.want {
			t.Errorf("%s: %d blocks are read for %d absent keys, want %d", test.name, got, n-1, test.want)
		}
	}
}
