package compare

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	pebblefilter "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

// disguise is a kind of databases whose tables have names that do not tell the truth, or not all of it.
type disguise struct {
	name    string
	keys    [][]byte
	options []bloomsst.Option
	alone   bool  // the tables are opened without their database's MANIFEST
	ignored error // why the filters are not asked
	// write writes the database, and returns which of keys the engine finds in it.
	write func(folder string, keys [][]byte) (found []bool, err error)
}

// TestDisguisedTables wants every key that the engine finds, of databases whose tables promise what they do not keep. The filters that
// can be read deny absent keys all the same.
func TestDisguisedTables(t *testing.T) {
	t.Parallel()
	var all []disguise
	for _, of := range []func(dir string) ([]disguise, error){disguisedLevelDB, disguisedGo, disguisedRocksDB, disguisedPebble, oldPebble} {
		kinds, err := of(programs)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kinds...)
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			testDisguised(t, d)
		})
	}
}

func testDisguised(t *testing.T, d disguise) {
	folder := t.TempDir()
	found, err := d.write(folder, d.keys)
	if err != nil {
		t.Fatal(err)
	}
	options := d.options
	if !d.alone {
		options = append(slices.Clone(options), bloomsst.InDatabase(folder))
	}
	var tables []*bloomsst.Table
	for _, pattern := range []string{"*.ldb", "*.sst"} {
		names, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			tables = append(tables, openTable(t, name, options...))
		}
	}
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	for i, key := range d.keys {
		if !found[i] {
			t.Fatalf("the engine does not find %q", key)
		}
		if !slices.ContainsFunc(tables, mayContain(t, (*bloomsst.Table).MayContain, key)) {
			t.Fatalf("%q is lost", key)
		}
	}
	if !d.alone {
		testDisguisedView(t, folder, d)
	}
	absent, passed := 0, 0
	for _, key := range d.keys {
		for end := range byte(4) {
			absent++
			absentKey := append([]byte{key[0], '~', end}, key...)
			if slices.ContainsFunc(tables, mayContain(t, (*bloomsst.Table).FilterMayContain, absentKey)) {
				passed++
			}
		}
	}
	for _, table := range tables {
		keys, err := table.Proved()
		if !errors.Is(table.Ignored(), d.ignored) || d.ignored == nil && (err != nil || keys == 0 || table.Ignored() != nil) {
			t.Errorf("ignored: %v, proved by %d keys: %v", table.Ignored(), keys, err)
		}
	}
	if d.ignored == nil && passed > absent/2 || d.ignored != nil && passed != absent {
		t.Errorf("of %d absent keys, %d pass", absent, passed)
	}
	t.Logf("%d tables; of %d absent keys, %d pass", len(tables), absent, passed)
}

// testDisguisedView wants every key of a View of the database.
func testDisguisedView(t *testing.T, folder string, d disguise) {
	database, err := bloomsst.OpenDatabase(folder, d.options...)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	v := database.View()
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for _, key := range d.keys {
		if n, err := v.MayContain(key, hits); n == 0 || err != nil {
			t.Fatalf("a View: %q is lost, or %v", key, err)
		}
	}
	found := make([]uint64, (len(d.keys)+63)/64)
	err = v.MayContainBatch(bloom.Bytes(d.keys), func(_ int, hits []uint64) {
		for i := range found {
			found[i] |= hits[i]
		}
	})
	for i, key := range d.keys {
		if err != nil || found[i/64]>>(i%64)&1 == 0 {
			t.Fatalf("a column in a View: %q is lost, or %v", key, err)
		}
	}
}

// mayContain returns a function that tests a table for a key.
func mayContain(t *testing.T, by func(*bloomsst.Table, []byte) (bool, error), key []byte) func(*bloomsst.Table) bool {
	return func(table *bloomsst.Table) bool {
		may, err := by(table, key)
		if err != nil {
			t.Fatal(err)
		}
		return may
	}
}

// numbers returns the numbers up to n in decimal digits.
func numbers(n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Append(nil, i))
	}
	return keys
}

// binaryKeys returns n keys of 9 random bytes. Of every keys, one ends in a byte of 0x80 or more.
func binaryKeys(n, every int) [][]byte {
	keys := storeKeys(n, 5)
	for i, key := range keys {
		hash := bloom.RocksDB.Hash(key).Words()
		key = fmt.Appendf(nil, "%08d", hash[0]%1e8)
		last := byte(hash[0] >> 40 & 0x7f)
		if i%every == 0 {
			last |= 0x80
		}
		keys[i] = append(key, last)
	}
	return keys
}

// disguisedLevelDB are databases of C++ LevelDB.
func disguisedLevelDB(dir string) (all []disguise, err error) {
	cpp, err := oracle.CompileDatabase(dir)
	if err != nil {
		return nil, err
	}
	add := func(name string, o oracle.Options, keys [][]byte) *disguise {
		o.Name = bloom.LevelDB.Name()
		if o.Policy == oracle.Signed {
			o.Name = "leveldb.BuiltinBloomFilter"
		}
		all = append(all, disguise{name: "leveldb-" + name, keys: keys, write: func(folder string, keys [][]byte) ([]bool, error) {
			if err := cpp.Write(folder, keys, o); err != nil {
				return nil, err
			}
			answers, err := cpp.Answers(folder, keys, o)
			return isFound(answers), err
		}})
		return &all[len(all)-1]
	}
	for _, order := range []oracle.Comparator{oracle.Reverse, oracle.Shortlex} {
		o := oracle.Options{Comparator: order, Policy: oracle.Bloom}
		for _, n := range []int{1, 20, 60, 400, 5000} {
			for _, alone := range []bool{false, true} {
				d := add(fmt.Sprintf("%s-%d-alone=%v", order, n, alone), o, numbers(n))
				if d.alone = alone; n == 5000 {
					d.ignored = bloomsst.ErrComparator // it has more than 16 filters
				}
			}
		}
		compare := map[oracle.Comparator]func(a, b []byte) int{
			oracle.Reverse:  func(a, b []byte) int { return bytes.Compare(b, a) },
			oracle.Shortlex: shortlex,
		}[order]
		add(string(order)+"-given", o, numbers(5000)).options = []bloomsst.Option{bloomsst.Comparator(compare)}
	}
	for _, n := range []int{20, 3000} {
		add(fmt.Sprint("prime-", n), oracle.Options{Policy: oracle.Prime}, numbers(n)).ignored = bloomsst.ErrPolicy
	}
	for _, every := range []int{1, 2, 100, 1000} {
		add(fmt.Sprint("signed-", every), oracle.Options{Policy: oracle.Signed}, binaryKeys(3000, every))
	}
	return all, nil
}

func isFound(answers []byte) (found []bool) {
	for _, answer := range answers {
		found = append(found, answer == '+')
	}
	return found
}

// shortlex is an order in which shorter keys come first.
func shortlex(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

// disguisedGo are databases of goleveldb.
func disguisedGo(string) (all []disguise, err error) {
	for _, n := range []int{20, 60, 3000} {
		d := disguise{name: fmt.Sprint("goleveldb-shortlex-", n), keys: numbers(n), write: func(folder string, keys [][]byte) ([]bool, error) {
			return writeOptions(folder, keys, &opt.Options{Filter: filter.NewBloomFilter(10), Comparer: goShortlex{}})
		}}
		all = append(all, d)
	}
	for _, every := range []int{1, 100} { // unsigned, under the name of LevelDB's until 2014
		all = append(all, disguise{name: fmt.Sprint("goleveldb-binary-", every), keys: binaryKeys(3000, every), write: func(folder string, keys [][]byte) ([]bool, error) {
			return writeOptions(folder, keys, &opt.Options{Filter: filter.NewBloomFilter(10)})
		}})
	}
	return all, nil
}

func writeOptions(folder string, keys [][]byte, o *opt.Options) (found []bool, err error) {
	o.CompactionTableSize, o.WriteBuffer = 1<<30, 1<<28
	db, err := leveldb.OpenFile(folder, o)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		err = errors.Join(err, db.Put(key, []byte("value"), nil))
	}
	err = errors.Join(err, db.CompactRange(util.Range{}))
	for _, key := range keys {
		has, hasErr := db.Has(key, nil)
		found, err = append(found, has), errors.Join(err, hasErr)
	}
	return found, errors.Join(err, db.Close())
}

type goShortlex struct{}

func (goShortlex) Name() string                    { return "lanebloom.Shortlex" }
func (goShortlex) Compare(a, b []byte) int         { return shortlex(a, b) }
func (goShortlex) Separator(_, _, _ []byte) []byte { return nil }
func (goShortlex) Successor(_, _ []byte) []byte    { return nil }

// disguisedRocksDB are databases of RocksDB.
func disguisedRocksDB(dir string) (all []disguise, err error) {
	rocks, err := oracle.CompileRocksDatabase(dir)
	if err != nil {
		return nil, err
	}
	add := func(name string, keys [][]byte, options ...string) *disguise {
		all = append(all, disguise{name: "rocksdb-" + name, keys: keys, write: func(folder string, keys [][]byte) ([]bool, error) {
			if err := rocks.Write(folder, keys, options...); err != nil {
				return nil, err
			}
			answers, err := rocks.Answers(folder, keys, options...)
			return isFound(answers), err
		}})
		return &all[len(all)-1]
	}
	given := func(length int) []bloomsst.Option {
		return []bloomsst.Option{bloomsst.Split(func(key []byte) int { return min(len(key), length) })}
	}
	keys := storeKeys(3000, 0)
	for _, parts := range []string{"partitions=0", "partitions=256"} {
		add("prefix-split-"+parts, binaryKeys(3000, 2), "prefix=6", "whole=0", parts).options = given(8)
		add("capped-split-"+parts, binaryKeys(3000, 2), "capped=6", "whole=0", parts).options = given(8)
		add("times-"+parts, keys, "times=1", parts)
		add("times-by-the-name-of-bytes-"+parts, keys, "times=1", "name=leveldb.BytewiseComparator", parts).ignored = bloomsst.ErrPolicy
		add("times-versions-"+parts, keys, "times=7", parts)
		add("versions-"+parts, keys, "versions=100", parts)
		add("dictionary-"+parts, keys, "compression=zstd", "dictionary=16384", parts)
		add("hash-"+parts, keys, "hash=1", parts)
		add("format-2-"+parts, binaryKeys(3000, 100), "format_version=2", parts)
	}
	add("shortlex", numbers(3000), "shortlex=1")
	for _, block := range []string{"block=4096", "block=256"} {
		var keys [][]byte // those that begin with C are below the first key in the order of bytes
		for _, group := range []struct {
			format string
			n      int
		}{{"a%05d", 1000}, {"C%06d", 500}, {"b%07d", 3000}} {
			for i := range group.n {
				keys = append(keys, fmt.Appendf(nil, group.format, i))
			}
		}
		add("shortlex-by-the-name-of-bytes-"+block, keys, "shortlex=1", "name=leveldb.BytewiseComparator", block)
	}
	add("shortlex-few-partitions", numbers(3000), "shortlex=1", "partitions=1024")
	add("shortlex-partitions", numbers(3000), "shortlex=1", "partitions=64").ignored = bloomsst.ErrComparator
	add("shortlex-partitions-given", numbers(3000), "shortlex=1", "partitions=64").options = []bloomsst.Option{bloomsst.Comparator(shortlex)}
	return all, nil
}

// disguisedPebble are databases of Pebble with a copy of its Comparer that splits keys, and has the old name.
func disguisedPebble(string) (all []disguise, err error) {
	for _, format := range []pebble.FormatMajorVersion{pebble.FormatMinSupported, pebble.FormatColumnarBlocks, pebble.FormatNewest} {
		for _, mark := range []byte{':', '@'} {
			for _, whole := range []int{0, 600, 3000} {
				c := splitAfter(mark)
				var keys [][]byte
				for i := range whole { // without the mark, the filter has them
					keys = append(keys, fmt.Appendf(nil, "meta%06d", i))
				}
				for i := range 3000 {
					if mark == '@' { // versions: each key has one
						keys = append(keys, fmt.Appendf(nil, "trace%d@v1", i))
					} else {
						keys = append(keys, fmt.Appendf(nil, "trace%d:span%d", i%300, i/300))
					}
				}
				d := disguise{name: fmt.Sprintf("pebble-%d-split-%c-whole-%d", format, mark, whole), keys: keys, ignored: bloomsst.ErrPrefix}
				d.write = func(folder string, keys [][]byte) ([]bool, error) { return writePebble(folder, keys, format, c) }
				all = append(all, d)
				d.name, d.ignored, d.options = d.name+"-given", nil, []bloomsst.Option{bloomsst.Split(c.Split), bloomsst.Comparator(c.Compare)}
				all = append(all, d)
			}
		}
		d := disguise{name: fmt.Sprintf("pebble-%d", format), keys: binaryKeys(3000, 2)}
		d.write = func(folder string, keys [][]byte) ([]bool, error) {
			return writePebble(folder, keys, format, pebble.DefaultComparer)
		}
		all = append(all, d)
	}
	return all, nil
}

// splitAfter returns Pebble's Comparer with a Split that ends after the first mark.
func splitAfter(mark byte) *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Split = func(key []byte) int {
		if i := bytes.IndexByte(key, mark); i >= 0 {
			return i + 1
		}
		return len(key)
	}
	c.Compare = func(a, b []byte) int {
		x, y := c.Split(a), c.Split(b)
		if order := bytes.Compare(a[:x], b[:y]); order != 0 {
			return order
		}
		return c.ComparePointSuffixes(a[x:], b[y:])
	}
	return &c
}

func writePebble(folder string, keys [][]byte, format pebble.FormatMajorVersion, c *pebble.Comparer) (found []bool, err error) {
	o := &pebble.Options{FormatMajorVersion: format, Comparer: c, Logger: silent{}}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = pebblefilter.FilterPolicy(10)
	}
	db, err := pebble.Open(folder, o)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		err = errors.Join(err, db.Set(key, []byte("value"), pebble.NoSync))
	}
	err = errors.Join(err, db.Flush())
	for _, key := range keys {
		_, closer, getErr := db.Get(key)
		if getErr == nil {
			getErr = closer.Close()
		}
		found, err = append(found, getErr == nil), errors.Join(err, getErr)
	}
	return found, errors.Join(err, db.Close())
}

// silent is a logger.
type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// oldPebble are tables as Pebble wrote them before April 2020: its hash took the last bytes of a key as unsigned.
func oldPebble(string) (all []disguise, err error) {
	for _, every := range []int{1, 2, 100, 1000} {
		all = append(all, disguise{name: fmt.Sprint("pebble-of-2020-", every), alone: true, keys: binaryKeys(3000, every), write: func(folder string, keys [][]byte) ([]bool, error) {
			o := sstable.WriterOptions{FilterPolicy: unsignedPolicy{}, TableFormat: sstable.TableFormatRocksDBv2, Comparer: sstable.DefaultComparer}
			p := pebbleTable{o}
			if _, err := p.write(folder, keys); err != nil {
				return nil, err
			}
			data, err := os.ReadFile(filepath.Join(folder, pebbleFile))
			if err != nil || !bytes.Contains(data, []byte("fullfilter."+unsignedPolicy{}.Name())) {
				return nil, errors.Join(err, errors.New("the table has no such filter"))
			}
			found := make([]bool, len(keys))
			for i := range found {
				found[i] = true
			}
			return found, nil
		}})
	}
	return all, nil
}

// unsignedPolicy makes filters of Pebble with LevelDB's hash.
type unsignedPolicy struct{}

func (unsignedPolicy) Name() string { return bloom.RocksDB.Name() }

func (unsignedPolicy) MayContain(_ sstable.FilterType, filter, key []byte) bool {
	return bloom.Pebble.MayContainHash(filter, unsignedHash(key))
}

func (unsignedPolicy) NewWriter(sstable.FilterType) sstable.FilterWriter { return new(unsignedWriter) }

func unsignedHash(key []byte) bloom.Hash {
	return bloom.Pebble.HashFrom(bloom.LevelDB.Hash(key).Words()[0])
}

type unsignedWriter struct{ hashes []uint32 }

func (w *unsignedWriter) AddKey(key []byte) {
	w.hashes = append(w.hashes, uint32(bloom.LevelDB.Hash(key).Words()[0]))
}

func (w *unsignedWriter) Finish(dst []byte) []byte {
	return bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10}.AppendFilter(dst, bloom.Pebble.Hashes32(w.hashes))
}
