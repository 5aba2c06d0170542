package compare

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/adapter/sst"
)

// provenTables are the kinds of tables whose proof is timed.
var provenTables = []string{"leveldb", "goleveldb", "rocksdb-5-lz4", "rocksdb-5-none", "rocksdb-5-partitions-xxh3", "rocksdb-5-two-levels", "pebble-4", "pebble-7", "badger"}

// BenchmarkProof proves the filters of tables of 1.5 million keys, some 64 MB, which are in the cache of files.
func BenchmarkProof(b *testing.B) {
	const n = 1_500_000
	writers, err := tableWriters(programs)
	if err != nil {
		b.Fatal(err)
	}
	keys := storeKeys(n, 0)
	for _, w := range writers {
		if !slices.Contains(provenTables, w.Name) {
			continue
		}
		name, err := w.Write(b.TempDir(), keys)
		if err != nil {
			b.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("table=%s/MB=%d", w.Name, info.Size()>>20), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				table, err := bloomsst.Open(file, info.Size(), w.Open...)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if keys, err := table.Proved(); keys == 0 || err != nil {
					b.Fatal(keys, err)
				}
			}
		})
	}
}
