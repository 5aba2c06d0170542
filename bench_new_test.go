package bloom

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom/internal/probes"
)

// BenchmarkTestAndAddBatch adds columns of which a share is new to a set that is half full. The ways, in turn:
// TestAndAddBatch; what it did before there were kernels for it, to test all keys and add what is
// missing one by one; and AddBatch. It reports the median of each over the rounds.
func BenchmarkTestAndAddBatch(b *testing.B) {
	for _, format := range []Format{Parquet, RocksDB, LevelDB, Pebble, Nori} {
		for _, size := range benchmarkSizes[:4] {
			for _, percent := range []int{0, 1, 5, 25, 50, 100} {
				for _, kernel := range Kernels() {
					b.Run(fmt.Sprintf("format=%v/filter=%s/new=%d%%/kernel=%v", format, size.name, percent, kernel), func(b *testing.B) {
						benchmarkTestAndAddBatch(b, format, size.bytes, percent, kernel)
					})
				}
			}
		}
	}
}

func benchmarkTestAndAddBatch(b *testing.B, format Format, size, percent int, kernel Kernel) {
	s, err := mustSet(b, Policy{format, 10}, size*8/10).WithKernel(kernel)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(81, 82))
	old := make([]uint64, size*8/20/windowKeys*windowKeys)
	for i := range old {
		old[i] = random.Uint64()
	}
	s.AddBatch(Integers(old))
	keys, added := make([]uint64, min(len(old), queries)), make([]uint64, queries/64)
	for i := range keys {
		if keys[i] = old[random.IntN(len(old))]; random.IntN(100) < percent {
			keys[i] = random.Uint64()
		}
	}
	now, _ := s.encoded()
	before := slices.Clone(now)
	ways := []struct {
		name string
		run  func()
	}{
		{"new", func() { s.TestAndAddBatch(Integers(keys), added) }},
		{"one-by-one", func() {
			for _, key := range keys {
				sink += int(probes.OneIf(s.TestAndAddUint64(key)))
			}
		}},
		{"all", func() { s.AddBatch(Integers(keys)) }},
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for w, way := range ways {
			copy(now, before)
			start := time.Now()
			way.run()
			times[w] = append(times[w], float64(time.Since(start).Nanoseconds())/float64(len(keys)))
		}
	}
	b.ReportMetric(0, "ns/op")
	for w, way := range ways {
		slices.Sort(times[w])
		b.ReportMetric(times[w][len(times[w])/2], way.name+"-ns/key")
	}
}

// BenchmarkStream finds the new rows of a stream of two million rows, as docs/recipes.md does: of up to a million
// keys of 22 to 36 bytes, one after the other in memory. A map with as much room does the same. It reports the
// medians over the rounds, and the memory of both, that of the map without its keys.
func BenchmarkStream(b *testing.B) {
	const distinct, rows, step = 1_000_000, 2_000_000, 1000
	random := rand.New(rand.NewPCG(83, 84))
	var data strings.Builder
	ends := make([]int, rows)
	for i := range ends {
		id := random.Uint64N(distinct) * 0x9e3779b97f4a7c15
		fmt.Fprintf(&data, "user-%016x%0*d", id, id%16, 0)
		ends[i] = data.Len()
	}
	stream, start := make([]string, rows), 0
	for i, end := range ends {
		stream[i] = data.String()[start:end]
		start = end
	}
	policy, err := PolicyFor(Default, distinct, 0.005)
	if err != nil {
		b.Fatal(err)
	}
	var added [step/64 + 1]uint64
	times, sizes := map[string][]float64{}, map[string]uint64{}
	measure := func(name string, run func()) {
		size := allocated(func() {
			start := time.Now()
			run()
			times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/rows)
		})
		sizes[name] = size
	}
	for b.Loop() {
		measure("set", func() {
			seen := mustSet(b, policy, distinct)
			for i := 0; i < rows; i += step {
				sink += seen.TestAndAddBatch(Strings(stream[i:i+step]), added[:])
			}
		})
		measure("map", func() {
			seen := make(map[string]struct{}, distinct)
			for _, key := range stream {
				if _, ok := seen[key]; !ok {
					seen[key] = struct{}{}
					sink++
				}
			}
		})
	}
	b.ReportMetric(0, "ns/op")
	for name, list := range times {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name+"-ns/row")
		b.ReportMetric(float64(sizes[name])/(1<<20), name+"-MiB")
	}
}
