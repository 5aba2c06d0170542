package compare

import (
	"flag"
	"math/bits"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

var benchmarkFolder = flag.String("database", "", "the folder of a database for BenchmarkDatabase, in place of one of RocksDB that it writes")

// BenchmarkDatabase opens a database of a few hundred tables, and tests absent keys: one, and columns. "each" is the loop that a program
// would write over the tables: it hashes a key for each of them. "filters" are the same tables without their ranges.
func BenchmarkDatabase(b *testing.B) {
	const n = 5000
	folder := *benchmarkFolder
	if folder == "" {
		folder = b.TempDir()
		rocks, err := oracle.CompileRocksFamilies(programs)
		if err != nil {
			b.Fatal(err)
		}
		if err := rocks.Write(folder, shuffledKeys(2*databaseKeys), 2*databaseStep, 0, func(int) {}); err != nil {
			b.Fatal(err)
		}
	}
	d, err := bloomsst.OpenDatabase(folder)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	v := d.View()
	tables := v.Tables()
	keys := absentKeys(tables, n)
	pairs := float64(n * len(tables))
	for _, t := range tables { // once, the first answer reads some of the table's keys
		if _, err := t.Proved(); err != nil && t.Ignored() == nil {
			b.Fatal(err)
		}
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			d, err := bloomsst.OpenDatabase(folder)
			if err != nil {
				b.Fatal(err)
			}
			d.Close()
		}
		b.ReportMetric(float64(len(tables)), "tables")
	})
	b.Run("view/key", func(b *testing.B) {
		hits := make([]uint64, (len(tables)+63)/64)
		i, found := 0, 0
		for b.Loop() {
			n, err := v.MayContain(keys[i%n], hits)
			if err != nil {
				b.Fatal(err)
			}
			found += n
			i++
		}
		b.ReportMetric(float64(found)/float64(i), "hits/key")
	})
	b.Run("view/column", func(b *testing.B) {
		found := 0
		for b.Loop() {
			found = 0
			if err := v.MayContainBatch(bloom.Bytes(keys), func(_ int, hits []uint64) { found += count(hits) }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/filter")
		b.ReportMetric(float64(found)/n, "hits/key")
	})
	b.Run("each/column", func(b *testing.B) {
		hits := make([]uint64, (n+63)/64)
		found := 0
		for b.Loop() {
			found = 0
			for _, t := range tables {
				n, err := t.MayContainBatch(bloom.Bytes(keys), hits)
				if err != nil {
					b.Fatal(err)
				}
				found += n
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/filter")
		b.ReportMetric(float64(found)/n, "hits/key")
	})
	b.Run("filters/key", func(b *testing.B) {
		i, found := 0, 0
		for b.Loop() {
			for _, t := range tables {
				may, err := t.FilterMayContain(keys[i%n])
				if err != nil {
					b.Fatal(err)
				}
				if may {
					found++
				}
			}
			i++
		}
		b.ReportMetric(float64(found)/float64(i), "hits/key")
	})
}

// absentKeys returns keys that no table has, between the first and the last key of the first table whose range is known.
func absentKeys(tables []*bloomsst.Table, n int) (keys [][]byte) {
	var like []byte
	for _, t := range tables {
		if first, _, known := t.Range(); known {
			like = first
			break
		}
	}
	for i, key := range storeKeys(n, 1) {
		absent := append([]byte{}, like...)
		for j := range absent {
			if c := absent[j]; c >= '0' && c <= '9' {
				absent[j] = '0' + byte((int(key[3])*7+i*(j+3)+i>>3)%10)
			}
		}
		keys = append(keys, append(absent, 'x'))
	}
	return keys
}

// count returns the number of set bits.
func count(hits []uint64) (n int) {
	for _, word := range hits {
		n += bits.OnesCount64(word)
	}
	return n
}
