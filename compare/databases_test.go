package compare

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	oldpebble "github.com/cockroachdb/pebble"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/compare/pebblebloom"
)

// The keys of a database, and after how many of them it is asked.
const (
	databaseKeys = 60_000
	databaseStep = 3_000
)

var databaseSeed = flag.Int("seed", 0, "chooses the keys, and the options of RocksDB's tables, of TestTablesOfDatabases")

// databaseWriter writes databases with an engine, which flushes and compacts meanwhile.
type databaseWriter struct {
	Name       string
	By         string // a Debian package or a Go module; nothing if adapter/sst keeps no such database
	Comparator string // that is not named as that of bytes
	Bounds     bool   // the MANIFEST has the first and the last key of each table
	Open       []bloomsst.Option
	// Families are the families of the keys, in turn. None is one family without a name.
	Families []string
	// Write writes keys to a new database, closes it and returns its tables. It calls flushed whenever more keys are in tables, with their
	// number. It is nil if the engine is not asked while it writes.
	Write func(folder string, keys [][]byte, flushed func(n int)) ([]oracle.Table, error)
}

// pebbleOne is the module of Pebble's version 1.
const pebbleOne = "github.com/cockroachdb/pebble"

// databaseWriters are all engines.
func databaseWriters(t *testing.T) []databaseWriter {
	t.Helper()
	rocks, err := oracle.CompileRocksFamilies(programs)
	if err != nil {
		t.Fatal(err)
	}
	cpp, err := oracle.CompileDatabase(programs)
	if err != nil {
		t.Fatal(err)
	}
	return []databaseWriter{
		{Name: "rocksdb", By: "librocksdb-dev", Bounds: true, Families: oracle.Families, Write: func(folder string, keys [][]byte, flushed func(int)) ([]oracle.Table, error) {
			if err := rocks.Write(folder, keys, databaseStep, *databaseSeed, flushed); err != nil {
				return nil, err
			}
			return rocks.Tables(folder)
		}},
		{Name: "leveldb", By: "libleveldb-dev", Bounds: true, Write: func(folder string, keys [][]byte, _ func(int)) ([]oracle.Table, error) {
			return levelsOf(cpp, folder, keys, oracle.Bytewise)
		}},
		{Name: "leveldb-comparator", By: "libleveldb-dev", Comparator: "lanebloom.IgnoreTag", Bounds: true, Open: []bloomsst.Option{bloomsst.Comparator(ignoringTag)},
			Write: func(folder string, keys [][]byte, _ func(int)) ([]oracle.Table, error) {
				return levelsOf(cpp, folder, keys, oracle.IgnoreTag)
			}},
		{Name: "leveldb-unknown-comparator", Write: func(folder string, keys [][]byte, _ func(int)) ([]oracle.Table, error) {
			return levelsOf(cpp, folder, keys, oracle.IgnoreTag)
		}},
		{Name: "goleveldb", By: "github.com/syndtr/goleveldb", Bounds: true, Write: writeGoDatabase},
		{Name: "pebble", By: pebblebloom.Module, Bounds: true, Write: writePebbleDatabase},
		{Name: "pebble-1", By: pebbleOne, Bounds: true, Write: writeOldPebble(oldpebble.FormatNewest)},
		{Name: "pebble-1-current", By: pebbleOne, Bounds: true, Write: writeOldPebble(oldpebble.FormatMostCompatible)},
		{Name: "badger", By: "github.com/dgraph-io/badger/v4", Write: writeBadgerDatabase},
	}
}

// ignoringTag is the comparator of oracle/leveldb/database.cc.
func ignoringTag(a, b []byte) int {
	a, _, _ = bytes.Cut(a, []byte("#"))
	b, _, _ = bytes.Cut(b, []byte("#"))
	return bytes.Compare(a, b)
}

// TestTablesOfDatabases asks for keys of databases while these are written and compacted, and in the end for each key of each table. No key may
// be missing, and the list of tables must be the engine's.
func TestTablesOfDatabases(t *testing.T) {
	t.Parallel()
	for _, w := range databaseWriters(t) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			keys := shuffledKeys(databaseKeys)
			c := databaseCheck{t: t, w: w, folder: folder, keys: keys, random: rand.New(rand.NewPCG(3, 4))}
			tables, err := w.Write(folder, keys, c.flushed)
			if err != nil {
				t.Fatal(err)
			}
			if c.database != nil {
				defer c.database.Close()
			}
			checkTables(t, folder, tables, w.Open)
			t.Logf("asked %d times while it was written; %d tables came, %d went", c.asked, c.came, c.went)
		})
	}
}

// shuffledKeys returns random keys. Some begin as others do, and some have bytes above 0x7f.
func shuffledKeys(n int) [][]byte {
	random := rand.New(rand.NewPCG(1, uint64(2+*databaseSeed)))
	keys := storeKeys(n, 0)
	for i := range keys {
		if random.IntN(2) == 0 {
			keys[i] = fmt.Appendf(nil, "user%08d", random.IntN(n)*3)
		}
	}
	random.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// databaseCheck asks a database while it is written.
type databaseCheck struct {
	t                 *testing.T
	w                 databaseWriter
	folder            string
	keys              [][]byte
	random            *rand.Rand
	database          *bloomsst.Database
	asked, came, went int
}

// flushed looks for some of the first n keys, which are in tables.
func (c *databaseCheck) flushed(n int) {
	if c.database == nil {
		var err error
		if c.database, err = bloomsst.OpenDatabase(c.folder, c.w.Open...); err != nil {
			c.t.Error(err)
			return
		}
	}
	came, went, err := c.database.Refresh()
	if err != nil {
		c.t.Error(err)
		return
	}
	c.asked, c.came, c.went = c.asked+1, c.came+len(came), c.went+len(went)
	v := c.database.View()
	if v.Manifest() != nil {
		c.t.Error(v.Manifest())
	}
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for range 300 {
		i := c.random.IntN(n)
		if _, err := v.MayContain(c.keys[i], hits); err != nil {
			c.t.Error(err)
		}
		if !c.found(v, i, hits) {
			c.t.Errorf("key %d of %d, %x, is in no table of %d", i, n, c.keys[i], len(v.Tables()))
			return
		}
	}
}

// found reports whether a live table of a key's family is a hit.
func (c *databaseCheck) found(v *bloomsst.View, key int, hits []uint64) bool {
	family := ""
	if c.w.Families != nil {
		family = c.w.Families[key%len(c.w.Families)]
	}
	for i, t := range v.Tables() {
		if hits[i/64]>>(i%64)&1 != 0 && !t.IsLeftover() && t.Family() == family {
			return true
		}
	}
	return false
}

// checkTables compares the tables of a database with those that the engine lists, and wants each key of each.
func checkTables(t *testing.T, folder string, want []oracle.Table, options []bloomsst.Option) {
	t.Helper()
	d, err := bloomsst.OpenDatabase(folder, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	v := d.View()
	if v.Manifest() != nil {
		t.Error(v.Manifest())
	}
	numbers := map[string]int{}
	live := 0
	for i, table := range v.Tables() {
		numbers[table.Name()] = i
		if !table.IsLeftover() {
			live++
		}
	}
	if live != len(want) || live == 0 {
		t.Errorf("%d tables, and the engine lists %d", live, len(want))
	}
	all, unasked := 0, 0
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for _, w := range want {
		i, there := numbers[w.Name]
		if !there {
			t.Fatalf("%s is not listed", w.Name)
		}
		table := v.Tables()[i]
		if level, known := table.Level(); level != w.Level || !known || table.Family() != w.Family {
			t.Errorf("%s: level %d, known: %v, of the family %q; the engine says %d, %q", w.Name, level, known, table.Family(), w.Level, w.Family)
		}
		if table.Ignored() != nil {
			unasked++
		}
		batch := make([]uint64, (len(w.Keys)+63)/64)
		if err := v.MayContainBatch(bloom.Bytes(w.Keys), func(of int, hits []uint64) {
			if of == i {
				copy(batch, hits)
			}
		}); err != nil {
			t.Fatal(err)
		}
		all += len(w.Keys)
		for j, key := range w.Keys {
			if _, err := v.MayContain(key, hits); err != nil {
				t.Fatal(err)
			}
			if single, inBatch := hits[i/64]>>(i%64)&1, batch[j/64]>>(j%64)&1; single == 0 || inBatch == 0 {
				t.Fatalf("%s has the key %x: %d alone, %d in a column", w.Name, key, single, inBatch)
			}
		}
	}
	t.Logf("%d keys in %d tables, of which %d are not asked", all, len(want), unasked)
	checkAbsent(t, v)
}

// checkAbsent counts the tables that may have keys which no table has.
func checkAbsent(t *testing.T, v *bloomsst.View) {
	t.Helper()
	absent := storeKeys(1000, 1)
	total := 0
	hits := make([]uint64, (len(v.Tables())+63)/64)
	for _, key := range slices.Concat(absent, [][]byte{{}, []byte("zzz")}) {
		n, err := v.MayContain(key, hits)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	t.Logf("%.2f tables of %d may have an absent key", float64(total)/float64(len(absent)+2), len(v.Tables()))
}
