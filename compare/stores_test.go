package compare

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/goleveldb"
	"github.com/lanebloom/bloom/compare/oracle"
)

// store is an implementation of LevelDB whose filters count their calls.
type store struct {
	name string
	implementation
}

type implementation interface {
	Write(folder string, keys [][]byte, o oracle.Options) error
	Get(folder string, keys [][]byte, o oracle.Options) (oracle.Counts, error)
}

// stores are goleveldb with the filters of this library, and C++ LevelDB with its own.
// The tests fail on a machine without C++ LevelDB.
func stores(t *testing.T) []store {
	t.Helper()
	cpp, err := oracle.CompileDatabase(programs)
	if err != nil {
		t.Fatal(err)
	}
	return []store{{"go", goStore{}}, {"c++", cpp}}
}

type goStore struct{}

func (goStore) Write(folder string, keys [][]byte, o oracle.Options) error {
	return withDB(folder, newCountingFilter(o), o, func(db *leveldb.DB) error {
		for _, key := range keys {
			if err := db.Put(key, []byte("value"), nil); err != nil {
				return err
			}
		}
		return db.CompactRange(util.Range{}) // a Get must find them in tables
	})
}

func (goStore) Get(folder string, keys [][]byte, o oracle.Options) (c oracle.Counts, err error) {
	f := newCountingFilter(o)
	err = withDB(folder, f, o, func(db *leveldb.DB) error {
		for _, key := range keys {
			switch value, err := db.Get(key, nil); {
			case err == nil && string(value) == "value":
				c.Found++
			case err != leveldb.ErrNotFound: //nolint:errorlint // goleveldb returns it as it is
				return fmt.Errorf("%x: %q, %w", key, value, err)
			}
		}
		return nil
	})
	c.Calls, c.Yes = int(f.calls.Load()), int(f.yes.Load())
	return c, err
}

func withDB(folder string, f filter.Filter, o oracle.Options, use func(*leveldb.DB) error) error {
	options := opt.Options{Filter: f}
	if o.Comparator == oracle.IgnoreTag {
		options.Comparer = ignoreTag{}
	}
	db, err := leveldb.OpenFile(folder, &options)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := use(db); err != nil {
		return err
	}
	return db.Close()
}

func identity(key []byte) []byte {
	before, _, _ := bytes.Cut(key, []byte("#"))
	return before
}

// ignoreTag is the comparator of the C++ program.
type ignoreTag struct{}

func (ignoreTag) Name() string                    { return "lanebloom.IgnoreTag" }
func (ignoreTag) Compare(a, b []byte) int         { return bytes.Compare(identity(a), identity(b)) }
func (ignoreTag) Separator(_, _, _ []byte) []byte { return nil }
func (ignoreTag) Successor(_, _ []byte) []byte    { return nil }

// countingFilter is goleveldb's Filter for the policies of the C++ program.
type countingFilter struct {
	filter.Filter
	policy     oracle.Policy
	calls, yes atomic.Int64
}

func newCountingFilter(o oracle.Options) *countingFilter {
	return &countingFilter{Filter: bloomgoleveldb.NewNamed(o.Name, bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}), policy: o.Policy}
}

func (c *countingFilter) Contains(encoded, key []byte) bool {
	if c.policy == oracle.Identity {
		key = identity(key)
	}
	c.calls.Add(1)
	if !c.Filter.Contains(encoded, key) {
		return false
	}
	c.yes.Add(1)
	return true
}

func (c *countingFilter) NewGenerator() filter.FilterGenerator {
	g := c.Filter.NewGenerator()
	switch c.policy {
	case oracle.Identity:
		return identityGenerator{g}
	case oracle.Poison:
		return poisonGenerator{g}
	}
	return g
}

type identityGenerator struct{ filter.FilterGenerator }

func (g identityGenerator) Add(key []byte) { g.FilterGenerator.Add(identity(key)) }

// poisonGenerator makes filters of the right size with all bits clear.
type poisonGenerator struct{ filter.FilterGenerator }

func (g poisonGenerator) Generate(b filter.Buffer) {
	var own util.Buffer
	g.FilterGenerator.Generate(&own)
	encoded := b.Alloc(own.Len())
	copy(encoded, own.Bytes())
	clear(encoded[:len(encoded)-1])
}

// storeKeys returns the keys with the numbers from, from+2, ... in ascending order. A
// key is its number and 0 to 9 random bytes, so that the hash sees tails of every
// length, and bytes of 0x80 and more.
func storeKeys(n, from int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		number := uint64(from + 2*i)
		random := rand.New(rand.NewPCG(7, number))
		keys[i] = binary.BigEndian.AppendUint32(nil, uint32(number))
		for range random.IntN(10) {
			keys[i] = append(keys[i], byte(random.Uint32()))
		}
	}
	return keys
}

// database is a folder that each of the stores can open.
type database struct {
	folder string
	stores []store
}

// eachWriter runs a subtest for each store: read gets a database that the store wrote.
func eachWriter(t *testing.T, stores []store, keys [][]byte, o oracle.Options, read func(t *testing.T, d database)) {
	for _, s := range stores {
		t.Run("writer="+s.name, func(t *testing.T) {
			d := database{t.TempDir(), stores}
			if err := s.Write(d.folder, keys, o); err != nil {
				t.Fatal(err)
			}
			read(t, d)
		})
	}
}

// get looks up keys with each store. The stores must agree on all counts; get returns
// the counts.
func (d database) get(t *testing.T, keys [][]byte, o oracle.Options) (counts oracle.Counts) {
	t.Helper()
	for i, s := range d.stores {
		// A reader may compact, and write filters of its own.
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(d.folder)); err != nil {
			t.Fatal(err)
		}
		c, err := s.Get(folder, keys, o)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if i > 0 && c != counts {
			t.Errorf("%s: %+v, but %s: %+v", d.stores[0].name, counts, s.name, c)
		}
		counts = c
	}
	return counts
}

// TestDatabases writes databases with either store and reads them with both.
func TestDatabases(t *testing.T) {
	const n = 100_000
	present, absent := storeKeys(n, 0), storeKeys(n, 1)
	names := []string{bloom.LevelDB.Name(), bloomgoleveldb.NewBloomFilter(10).Name()}
	stores := stores(t)
	for i, name := range names {
		t.Run("name="+name, func(t *testing.T) {
			o := oracle.Options{Policy: oracle.Bloom, Name: name}
			eachWriter(t, stores, present, o, func(t *testing.T, d database) {
				if c := d.get(t, present, o); c != (oracle.Counts{Found: n, Calls: n, Yes: n}) {
					t.Errorf("present keys: %+v", c)
				}
				c := d.get(t, absent, o)
				t.Logf("absent keys: %+v", c)
				// No filter is asked about a key past the last key of a table.
				if c.Found != 0 || c.Calls < n-100 || c.Yes < n/200 || c.Yes > n/50 {
					t.Errorf("absent keys: %+v", c)
				}
				// A reader under the other name finds everything, without a filter.
				other := oracle.Options{Policy: oracle.Bloom, Name: names[1-i]}
				if c := d.get(t, present, other); c != (oracle.Counts{Found: n}) {
					t.Errorf("under the name %s: %+v", other.Name, c)
				}
			})
		})
	}
}

// TestPoisonedDatabases reads filters with all bits clear, which deny every key. It
// shows that the answers in the other tests come from the filters' bytes.
func TestPoisonedDatabases(t *testing.T) {
	const n = 10_000
	present, stores := storeKeys(n, 0), stores(t)
	o := oracle.Options{Policy: oracle.Poison, Name: bloom.LevelDB.Name()}
	eachWriter(t, stores, present, o, func(t *testing.T, d database) {
		healthy := oracle.Options{Policy: oracle.Bloom, Name: o.Name}
		if c := d.get(t, present, healthy); c != (oracle.Counts{Calls: n}) {
			t.Errorf("present keys: %+v", c)
		}
	})
}

// TestComparators looks up each key by an equal key with other bytes. A filter of whole
// keys loses nearly all of them. A filter of the compared bytes loses none.
func TestComparators(t *testing.T) {
	const n = 10_000
	tagged := func(from int, tag string) (keys [][]byte) {
		for i := range n {
			keys = append(keys, fmt.Appendf(nil, "user%08d#%s", from+2*i, tag))
		}
		return keys
	}
	written, stores := tagged(0, "written"), stores(t)
	for _, test := range []struct {
		policy oracle.Policy
		name   string
		lost   bool
	}{
		{oracle.Bloom, bloom.LevelDB.Name(), true},
		{oracle.Identity, "lanebloom.Identity", false},
	} {
		t.Run("policy="+string(test.policy), func(t *testing.T) {
			o := oracle.Options{Comparator: oracle.IgnoreTag, Policy: test.policy, Name: test.name}
			eachWriter(t, stores, written, o, func(t *testing.T, d database) {
				if c := d.get(t, written, o); c != (oracle.Counts{Found: n, Calls: n, Yes: n}) {
					t.Errorf("the keys as written: %+v", c)
				}
				c := d.get(t, tagged(0, "read"), o)
				t.Logf("equal keys of other bytes: %+v", c)
				if lost := n - c.Found; test.lost && lost < n*9/10 || !test.lost && lost != 0 {
					t.Errorf("%d of %d equal keys of other bytes are lost", lost, n)
				}
				if c := d.get(t, tagged(1, "read"), o); c.Found != 0 || c.Calls < n-100 || c.Yes > n/50 {
					t.Errorf("absent keys: %+v", c)
				}
			})
		})
	}
}

// TestOtherFormat gives a database that goleveldb wrote with its own filter filters of another format, as
// docs/stores.md says: the filters that are there serve until a compaction has written the tables anew.
func TestOtherFormat(t *testing.T) {
	path, value := filepath.Join(t.TempDir(), "db"), make([]byte, 50)
	key := func(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }
	numbers := rand.New(rand.NewPCG(1, 2)).Perm(40_000)
	known, absent := numbers[:20_000], numbers[20_000:20_300]
	own, err := leveldb.OpenFile(path, &opt.Options{Filter: filter.NewBloomFilter(10)})
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range known {
		if err := own.Put(key(uint64(number)), value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(own.CompactRange(util.Range{}), own.Close()); err != nil {
		t.Fatal(err)
	}

	db, err := leveldb.OpenFile(path, &opt.Options{
		Filter:     bloomgoleveldb.NewNamed("lanebloom.rocksdb", bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}),
		AltFilters: []filter.Filter{filter.NewBloomFilter(10)}, // the filters of existing tables
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := func(numbers []int, want bool) uint64 { // bytes of blocks
		t.Helper()
		if found, err := db.Has(key(uint64(known[0])), nil); err != nil || !found { // opens the table
			t.Fatal(found, err)
		}
		var before, after leveldb.DBStats
		if err := db.Stats(&before); err != nil {
			t.Fatal(err)
		}
		for _, number := range numbers {
			if found, err := db.Has(key(uint64(number)), nil); err != nil || found != want {
				t.Fatalf("%d: found is %v, %v", number, found, err)
			}
		}
		if err := db.Stats(&after); err != nil {
			t.Fatal(err)
		}
		return after.IORead - before.IORead
	}
	withOwn, all := read(absent, false), read(known, true)
	for _, number := range known { // the tables are written anew only if they change
		if err := db.Put(key(uint64(number)), value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		t.Fatal(err)
	}
	withRocksDB := read(absent, false)
	all += withOwn
	t.Logf("of blocks of %d bytes, %d absent keys read %d with goleveldb's filter, %d with RocksDB's", all, len(absent), withOwn, withRocksDB)
	if withOwn > all*6/10 || withRocksDB > withOwn/4 { // without filters, they read 8/10
		t.Errorf("of blocks of %d bytes, %d absent keys read %d with goleveldb's filter, %d with RocksDB's", all, len(absent), withOwn, withRocksDB)
	}
	read(known, true)
}

// TestStoreKeys fails if the two kinds of keys overlap.
func TestStoreKeys(t *testing.T) {
	keys := slices.Concat(storeKeys(1000, 0), storeKeys(1000, 1))
	slices.SortFunc(keys, bytes.Compare)
	if n := len(slices.CompactFunc(keys, bytes.Equal)); n != 2000 {
		t.Errorf("%d different keys of 2000", n)
	}
}
