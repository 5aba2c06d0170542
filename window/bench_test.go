package window

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
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
			b.ReportMetric(float64(times[len(times)/2]), "p50-ns/key")
			b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns/key")
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

// BenchmarkFolder saves the newest generation of a window in a folder, and opens the folder. It reports how much a call writes, or reads.
func BenchmarkFolder(b *testing.B) {
	o := Options{Generations: 24, Keys: 2_000_000, Rate: 0.01}
	folder := b.TempDir()
	w, _, err := Open(folder, o)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(err)
	for range o.Generations - 1 {
		w.AddString("key")
		w.Rotate()
	}
	w.AddString("key")
	must(w.Save())
	var all, newest float64 // bytes
	must(fs.WalkDir(os.DirFS(folder), ".", func(_ string, entry fs.DirEntry, err error) error {
		if info, e := entry.Info(); e == nil && !entry.IsDir() {
			all, newest = all+float64(info.Size()), max(newest, float64(info.Size()))
		}
		return err
	}))
	b.Run("job=save", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			w.AddUint64(i)
			must(w.Save())
		}
		b.ReportMetric(newest/1e6, "MB")
	})
	must(w.Close())
	b.Run("job=restart", func(b *testing.B) {
		for b.Loop() {
			w, _, err := Open(folder, o)
			must(err)
			b.StopTimer()
			must(w.Close())
			b.StartTimer()
		}
		b.ReportMetric(all/1e6, "MB")
	})
}
