package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	pebblebloom "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/goleveldb"
	"github.com/lanebloom/bloom/adapter/pebble"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// Databases have a random half of the keys of the numbers below 2n. The other half is looked up.

var rocksDB = bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}

// storedShapes are the keys that the databases have.
var storedShapes = []shape{shapeOf("integers, big-endian"), shapeOf("`%016x`"), shapeOf("`%08d`"), shapeOf("`user%08d`")}

// stores prints what the filters of goleveldb and Pebble save with their own policy, and with RocksDB's
// filters under a name of their own.
func stores(w io.Writer) error {
	const n = 20_000
	t := race.NewTable(fmt.Sprintf("blocks read for %s absent keys", race.Thousands(n)), "goleveldb's filter", "`NewNamed` with `RocksDB`")
	for _, s := range storedShapes {
		row := []string{s.name}
		for _, f := range []filter.Filter{filter.NewBloomFilter(10), bloomgoleveldb.NewNamed("lanebloom.rocksdb", rocksDB)} {
			blocks, err := blocksRead(s, n, f)
			if err != nil {
				return err
			}
			row = append(row, race.Thousands(blocks))
		}
		t.Row(row...)
	}
	fmt.Fprintln(w, t)
	sizes := []int{1000, 20_000}
	policies := []struct {
		name string
		pebble.FilterPolicy
	}{
		{"Pebble's policy", pebblebloom.FilterPolicy(10)},
		{"`NewNamed` with `RocksDB`", bloompebble.NewNamed("lanebloom.rocksdb", rocksDB)},
	}
	head := []string{"false-positive rate in percent"}
	for _, n := range sizes {
		for _, p := range policies {
			head = append(head, race.Thousands(n)+" keys: "+p.name)
		}
	}
	t = race.NewTable(head...)
	for _, s := range storedShapes {
		row := []string{s.name}
		for _, n := range sizes {
			for _, p := range policies {
				yes, err := shareOfYes(s, n, p)
				if err != nil {
					return err
				}
				row = append(row, percent(yes))
			}
		}
		t.Row(row...)
	}
	fmt.Fprint(w, t)
	return nil
}

// numbersOf says which of the numbers below 2n are in a database.
func numbersOf(n int) []bool {
	known := make([]bool, 2*n)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(2 * n)[:n] {
		known[i] = true
	}
	return known
}

// blocksRead returns how many blocks goleveldb reads for n absent keys.
func blocksRead(s shape, n int, f filter.Filter) (int, error) {
	counter := &readCounter{Storage: storage.NewMemStorage()}
	o := &opt.Options{Filter: f, DisableBlockCache: true, DisableSeeksCompaction: true}
	known := numbersOf(n)
	db, err := leveldb.Open(counter, o)
	if err != nil {
		return 0, err
	}
	for i, is := range known {
		if is {
			err = errors.Join(err, db.Put(s.key(nil, i), make([]byte, 50), nil))
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return 0, err
	}
	if db, err = leveldb.Open(counter, o); err != nil { // it writes the keys to a table
		return 0, err
	}
	defer db.Close()
	for _, wanted := range []bool{true, false} { // the first opens the table
		counter.reads.Store(0)
		for i, is := range known {
			if is != wanted {
				continue
			}
			if found, err := db.Has(s.key(nil, i), nil); err != nil || found != wanted {
				return 0, fmt.Errorf("goleveldb: number %d: found is %v, %w", i, found, err)
			}
		}
	}
	return int(counter.reads.Load()), nil
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

// shareOfYes returns for which share of n absent keys the filter of Pebble's table says yes.
func shareOfYes(s shape, n int, p pebble.FilterPolicy) (float64, error) {
	o := &pebble.Options{FS: vfs.NewMem(), MemTableSize: 8 << 20, DisableAutomaticCompactions: true, Logger: silent{}}
	o.Levels[0].FilterPolicy = p // Get does not ask the filters of the lowest level
	db, err := pebble.Open("", o)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	known := numbersOf(n)
	batch := db.NewBatch()
	for i, is := range known {
		if is {
			err = errors.Join(err, batch.Set(s.key(nil, i), []byte("value"), nil))
		}
	}
	if err := errors.Join(err, batch.Commit(pebble.NoSync), db.Flush()); err != nil {
		return 0, err
	}
	for i, is := range known {
		if is {
			continue
		}
		if _, _, err := db.Get(s.key(nil, i)); !errors.Is(err, pebble.ErrNotFound) {
			return 0, fmt.Errorf("pebble: number %d is found, or %w", i, err)
		}
	}
	m := db.Metrics().Filter
	if asked := m.Hits + m.Misses; asked < int64(n)-100 { // none about keys beyond the last one
		return 0, fmt.Errorf("pebble: the filter was asked about %d of %d keys", asked, n)
	}
	return float64(m.Misses) / float64(m.Hits+m.Misses), nil
}

// silent is a logger that prints only what ends the program.
type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
