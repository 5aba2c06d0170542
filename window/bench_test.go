package window

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// BenchmarkWindow times calls for URLs that the window has not seen, by one goroutine and by several. It also reports in what time
// half of all calls end, and 99 of 100, including the time to read the clock, and the memory as a multiple of that of the filters.
func BenchmarkWindow(b *testing.B) {
	o := Options{Generations: 24, Keys: 2_000_000, Rate: 0.01}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := mustNew(b, o)
	random := rand.New(rand.NewPCG(1, 2))
	column := make([]uint64, 100_000)
	for g := range o.Generations {
		if g > 0 {
			w.Rotate()
		}
		columns := o.Keys / len(column)
		if g == o.Generations-1 {
			columns = columns * 3 / 4 // one with all of its keys gets another set
		}
		for range columns {
			for i := range column {
				column[i] = random.Uint64()
			}
			w.AddBatch(bloom.Integers(column))
		}
	}
	urls := make([]string, 1<<18)
	runtime.GC()
	runtime.ReadMemStats(&after)
	bits := uint64(0)
	for _, g := range w.Stats().Generations {
		bits += g.Bits
	}
	memory := float64(after.HeapAlloc-before.HeapAlloc-uint64(16*len(urls)+8*len(column))) / float64(bits/8)
	runtime.KeepAlive(column)
	for i := range urls {
		urls[i] = "https://example.com/" + strconv.Itoa(i*7919)
	}
	for name, call := range map[string]func(url string) bool{"MayContainString": w.MayContainString, "TestAndAddString": w.TestAndAddString} {
		b.Run("call="+name, func(b *testing.B) {
			times := make([]time.Duration, 0, b.N)
			for i := 0; b.Loop(); i++ {
				url := urls[i%len(urls)]
				start := time.Now()
				call(url)
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
			b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
			b.ReportMetric(memory, "memory/filters")
		})
		for _, goroutines := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("call=%s/goroutines=%d", name, goroutines), func(b *testing.B) {
				b.SetParallelism(goroutines)
				old := runtime.GOMAXPROCS(min(goroutines, runtime.NumCPU()))
				defer runtime.GOMAXPROCS(old)
				b.RunParallel(func(pb *testing.PB) {
					for i := rand.IntN(len(urls)); pb.Next(); i++ {
						call(urls[i%len(urls)])
					}
				})
			})
		}
	}
	runtime.KeepAlive(w)
}
