package bloomsst

import (
	"testing"
)

// BenchmarkOpen opens a table whose blocks are in memory: the checksums take the time.
func BenchmarkOpen(b *testing.B) {
	for _, g := range goldens(b) {
		if g.File != "leveldb.sst" && g.File != "rocksdb-7.sst" && g.File != "pebble-7.sst" {
			continue
		}
		b.Run("table="+g.File, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := openBytes(g.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMayContain asks an open table for absent keys.
func BenchmarkMayContain(b *testing.B) {
	for _, g := range goldens(b) {
		if g.File != "leveldb.sst" && g.File != "rocksdb-7.sst" && g.File != "rocksdb-5-partitions.sst" {
			continue
		}
		table, err := openBytes(g.data)
		if err != nil {
			b.Fatal(err)
		}
		key := key(41)
		b.Run("table="+g.File, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if may, err := table.MayContain(key); may || err != nil {
					b.Fatal(may, err)
				}
			}
		})
	}
}
