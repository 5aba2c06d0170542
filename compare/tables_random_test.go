package compare

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

// randomTable is a database of an engine with random options.
type randomTable struct {
	text    string               // the options
	ignored func(why error) bool // which reasons there may be to ignore a filter
	write   func(string, [][]byte) ([]bool, error)
}

// TestRandomTables writes random databases, 200,000 keys of each engine, and wants all keys that the engine finds. Sound filters are
// never ignored.
func TestRandomTables(t *testing.T) {
	t.Parallel()
	keys := 200_000
	if testing.Short() {
		keys = 10_000
	}
	rocks, err := oracle.CompileRocksDatabase(programs)
	if err != nil {
		t.Fatal(err)
	}
	cpp, err := oracle.CompileDatabase(programs)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]func(r *rand.Rand) randomTable{
		"rocksdb":   func(r *rand.Rand) randomTable { return randomRocksDB(r, rocks) },
		"leveldb":   func(r *rand.Rand) randomTable { return randomLevelDB(r, cpp) },
		"goleveldb": randomGo,
		"pebble":    randomPebble,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(67, uint64(len(name))))
			tables, ignored := 0, 0
			for left := keys; left > 0; {
				some := randomShapes(r)
				left -= len(some)
				got, skipped := testRandomTable(t, of(r), some)
				tables, ignored = tables+got, ignored+skipped
			}
			t.Logf("%d tables; the filters of %d are ignored", tables, ignored)
		})
	}
}

func testRandomTable(t *testing.T, of randomTable, keys [][]byte) (tables, ignored int) {
	t.Helper()
	folder := t.TempDir()
	found, err := of.write(folder, keys)
	if err != nil {
		t.Fatalf("%s: %v", of.text, err)
	}
	var all []*bloomsst.Table
	for _, pattern := range []string{"*.ldb", "*.sst"} {
		names, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			all = append(all, openTable(t, name, bloomsst.InDatabase(folder)))
		}
	}
	hits := make([]uint64, (len(keys)+63)/64)
	any := make([]bool, len(keys))
	for _, table := range all {
		if _, err := table.MayContainBatch(bloom.Bytes(keys), hits); err != nil {
			t.Fatalf("%s: %v", of.text, err)
		}
		for i := range keys {
			any[i] = any[i] || hits[i/64]>>(i%64)&1 != 0
		}
		_, err := table.Proved()
		if why := table.Ignored(); why != nil {
			ignored++
			err = nil
			if !of.ignored(why) {
				t.Fatalf("%s: ignored: %v", of.text, why)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", of.text, err)
		}
	}
	for i, key := range keys {
		if found[i] && !any[i] {
			t.Fatalf("%s, %d keys: %q is lost", of.text, len(keys), key)
		}
	}
	return len(all), ignored
}

// randomShapes returns up to some thousands of different keys of a random kind.
func randomShapes(r *rand.Rand) (keys [][]byte) {
	n := 1 + r.IntN(1<<(r.IntN(11)+4))
	kind, prefix := r.IntN(5), bytes.Repeat([]byte{'p'}, r.IntN(40))
	seen := map[string]bool{}
	for i := range n {
		var key []byte
		switch kind {
		case 0: // short ones, the empty key among them
			key = make([]byte, r.IntN(5))
		case 1:
			key = make([]byte, r.IntN(30))
		case 2:
			key = fmt.Append(nil, r.IntN(10*n))
		case 3:
			key = fmt.Appendf(prefix[:len(prefix):len(prefix)], "%06d/item%d", i/10, i%10)
		case 4:
			key = fmt.Appendf(nil, "user%08d", i)
		}
		if kind < 2 {
			for j := range key {
				key[j] = byte(r.Uint32() | 0x80*r.Uint32N(2))
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

func never(error) bool { return false }

func isErr(of error) func(error) bool { return func(why error) bool { return errors.Is(why, of) } }

func randomRocksDB(r *rand.Rand, rocks *oracle.RocksDatabase) randomTable {
	version := r.IntN(6)
	checksums := []int{1, 1, 2, 3}
	if version >= 5 {
		checksums = append(checksums, 4, 0)
	}
	if version == 0 {
		checksums = checksums[:1]
	}
	options := []string{fmt.Sprint("format_version=", version), fmt.Sprint("checksum=", checksums[r.IntN(len(checksums))]), fmt.Sprint("block=", 64<<r.IntN(8)),
		fmt.Sprint("bits=", 1+r.IntN(20)), fmt.Sprint("restarts=", 1+15*r.IntN(2)), fmt.Sprint("hash=", r.IntN(2))}
	compression := []string{"none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"}[r.IntN(7)]
	options = append(options, "compression="+compression)
	if version >= 2 && r.IntN(3) == 0 {
		options = append(options, fmt.Sprint("dictionary=", 256<<r.IntN(7)))
	}
	of := randomTable{ignored: never}
	if version >= 2 && r.IntN(3) == 0 {
		options = append(options, fmt.Sprint("partitions=", 16<<r.IntN(8)))
		of.ignored = isErr(bloomsst.ErrComparator)
	} else {
		options = append(options, fmt.Sprint("index=", []int{0, 0, 2, 3}[r.IntN(4)]))
	}
	if version < 3 { // RocksDB has its first keys in indexes since then
		for i := range options {
			if options[i] == "index=3" {
				options[i] = "index=0"
			}
		}
	}
	switch r.IntN(6) {
	case 0:
		options = append(options, fmt.Sprint("prefix=", 1+r.IntN(7)), fmt.Sprint("whole=", r.IntN(2)))
		of.ignored = func(why error) bool { // of no filter, if no key has a prefix
			return errors.Is(why, bloomsst.ErrNoFilter) || errors.Is(why, bloomsst.ErrComparator)
		}
	case 1:
		options = append(options, fmt.Sprint("capped=", 1+r.IntN(7)), fmt.Sprint("whole=", r.IntN(2)))
	}
	switch r.IntN(8) {
	case 0:
		options = append(options, "reverse=1")
	case 1:
		options = append(options, "shortlex=1")
	case 2, 3:
		options = append(options, fmt.Sprint("times=", 1+r.IntN(4)))
	case 4, 5:
		options = append(options, fmt.Sprint("versions=", 1+r.IntN(60)))
	}
	of.text = fmt.Sprint(options)
	of.write = func(folder string, keys [][]byte) ([]bool, error) {
		if err := rocks.Write(folder, keys, options...); err != nil {
			return nil, err
		}
		answers, err := rocks.Answers(folder, keys, options...)
		return isFound(answers), err
	}
	return of
}

func randomLevelDB(r *rand.Rand, cpp *oracle.Database) randomTable {
	o := oracle.Options{Policy: oracle.Bloom, Name: bloom.LevelDB.Name()}
	o.Comparator = []oracle.Comparator{oracle.Bytewise, oracle.Bytewise, oracle.Reverse, oracle.Shortlex}[r.IntN(4)]
	of := randomTable{ignored: never}
	if o.Comparator != oracle.Bytewise {
		of.ignored = isErr(bloomsst.ErrComparator)
	}
	switch r.IntN(4) {
	case 0:
		o.Policy = oracle.Prime
		of.ignored = func(why error) bool {
			return errors.Is(why, bloomsst.ErrPolicy) || errors.Is(why, bloomsst.ErrComparator)
		}
	case 1:
		o.Policy, o.Name = oracle.Signed, "leveldb.BuiltinBloomFilter"
	}
	of.text = fmt.Sprintf("%+v", o)
	of.write = func(folder string, keys [][]byte) ([]bool, error) {
		if err := cpp.Write(folder, keys, o); err != nil {
			return nil, err
		}
		answers, err := cpp.Answers(folder, keys, o)
		return isFound(answers), err
	}
	return of
}

func randomGo(r *rand.Rand) randomTable {
	o := opt.Options{Filter: filter.NewBloomFilter(1 + r.IntN(20)), BlockSize: 64 << r.IntN(8)}
	of := randomTable{text: "bytewise", ignored: never}
	if r.IntN(3) == 0 {
		o.Comparer, of.text, of.ignored = goShortlex{}, "shortlex", isErr(bloomsst.ErrComparator)
	}
	of.write = func(folder string, keys [][]byte) ([]bool, error) { return writeOptions(folder, keys, &o) }
	return of
}

func randomPebble(r *rand.Rand) randomTable {
	formats := []pebble.FormatMajorVersion{pebble.FormatMinSupported, pebble.FormatColumnarBlocks, pebble.FormatNewest}
	format, c := formats[r.IntN(len(formats))], pebble.DefaultComparer
	of := randomTable{ignored: never}
	if r.IntN(2) == 0 { // the marks of some keys, digits among them
		c = splitAfter([]byte{'/', 'p', '1', '0', 0}[r.IntN(5)])
		of.ignored = isErr(bloomsst.ErrPrefix)
	}
	of.text = fmt.Sprintf("format %d, splits keys: %v", format, c != pebble.DefaultComparer)
	of.write = func(folder string, keys [][]byte) ([]bool, error) {
		split := 0
		for _, key := range keys {
			if c.Split(key) < len(key) {
				split++
			}
		}
		if split < len(keys)/20 {
			c = pebble.DefaultComparer // the keys that are read may have none of so few
		}
		empty := slices.IndexFunc(keys, func(key []byte) bool { return len(key) == 0 })
		if empty < 0 {
			return writePebble(folder, keys, format, c)
		}
		// A block of the empty key alone is too much for Pebble.
		found, err := writePebble(folder, slices.Delete(slices.Clone(keys), empty, empty+1), format, c)
		return slices.Insert(found, empty, false), err
	}
	return of
}
