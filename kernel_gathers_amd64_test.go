//go:build !purego

package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// afterInit is what the init functions of the package make of gathers. No test but TestKernelFirstWindow depends on
// what a timing finds: gathers are fast if they were left untimed.
var afterInit uint32

func init() {
	afterInit = gathers.Load()
	gathers.CompareAndSwap(untimedGathers, fastGathers)
}

// TestCPUNotTimedAtInit wants the init functions to leave the timing to the first window.
func TestCPUNotTimedAtInit(t *testing.T) {
	want := untimedGathers
	switch {
	case isAMD:
		want = slowGathers
	case len(kernels) == 1:
		want = fastGathers
	}
	if afterInit != want {
		t.Errorf("after the init functions, gathers are %d, want %d", afterInit, want)
	}
}

// TestCPUGathers decides on planted times: rounds of gathers and loads in turn, in ticks.
func TestCPUGathers(t *testing.T) {
	for name, c := range map[string]struct {
		rounds []int64
		want   bool
	}{
		"slow gathers":                   {[]int64{30, 10, 31, 11, 32, 10}, true},
		"a little slower":                {[]int64{112, 100, 112, 100}, true},
		"slower by less than the margin": {[]int64{109, 100, 109, 100}, false},
		"equal":                          {[]int64{100, 100, 100, 100}, false},
		"fast gathers":                   {[]int64{10, 20, 11, 21}, false},
		"other work beside gathers":      {[]int64{9000, 20, 10, 20, 4000, 20}, false},
		"other work beside loads":        {[]int64{30, 9000, 30, 10, 31, 4000}, true},
		"other work in each round":       {[]int64{10, 800, 300, 20}, false},
		"a cold round":                   {[]int64{5000, 700, 90, 100, 90, 100}, false},
		"a clock that goes back":         {[]int64{-40, 20, 10, 20}, false},
		"no clock":                       {[]int64{0, 0, 0, 0}, false},
		"a coarse clock":                 {[]int64{500, 0, 500, 0}, false},
	} {
		now, i := uint64(1000), 0
		byGathers, byLoads := timeForms(kernels[0], len(c.rounds)/2, 1, func() uint64 {
			if i%2 == 1 {
				now += uint64(c.rounds[i/2])
			}
			i++
			return now
		})
		if got := areSlow(byGathers, byLoads); got != c.want {
			t.Errorf("%s: %d and %d ticks, areSlow = %v", name, byGathers, byLoads, got)
		}
	}
	if byGathers, byLoads := timeOnce(); (byGathers > 0 && byLoads > 0) != cpuid.CPU.Supports(cpuid.RDTSCP) {
		t.Errorf("a timing took %d and %d ticks", byGathers, byLoads)
	}
}

// withTimes forgets the choice between gathers and loads until the test ends, and makes the next one measure the
// given times. It counts how often they are measured.
func withTimes(t *testing.T, byGathers, byLoads uint64) (timed *atomic.Int32) {
	timed, before := new(atomic.Int32), gathers.Load()
	gathers.Store(untimedGathers)
	timeGathers = func() (uint64, uint64) {
		timed.Add(1)
		time.Sleep(time.Millisecond) // others ask meanwhile
		return byGathers, byLoads
	}
	t.Cleanup(func() {
		gathers.Store(before)
		timeGathers = timeOnce
	})
	return timed
}

// TestKernelFirstWindow asks many goroutines at once for the first window of each format and kernel, whichever of
// gathers and loads wins, and compares their answers with the reference.
func TestKernelFirstWindow(t *testing.T) {
	if len(kernels) == 1 {
		return // nothing gathers
	}
	random := rand.New(rand.NewPCG(85, 86))
	numbers, keys := make([]uint64, windowKeys), make([][]byte, windowKeys)
	for i := range keys {
		numbers[i] = random.Uint64()
		keys[i] = binary.LittleEndian.AppendUint64(make([]byte, 40), numbers[i])[random.IntN(41):]
	}
	eachFormat(t, func(t *testing.T, format Format) {
		for _, column := range []Keys{Integers(numbers), Bytes(keys)} {
			encoded := Policy{format, 10}.AppendFilter(nil, column.slice(0, windowKeys/2))
			want := make([]uint64, windowKeys/64)
			for i, key := range keys {
				if column.layout == uint64s {
					key = binary.LittleEndian.AppendUint64(nil, numbers[i])
				}
				if Reference(format, encoded, key) {
					want[i/64] |= 1 << (i % 64)
				}
			}
			for _, kernel := range kernels[:len(kernels)-1] {
				for outcome, times := range [...][2]uint64{fastGathers: {100, 100}, slowGathers: {300, 100}} {
					t.Run(fmt.Sprintf("integers=%v/kernel=%v/outcome=%d", column.layout == uint64s, kernel, outcome), func(t *testing.T) {
						timed := withTimes(t, times[0], times[1])
						f, generic := onKernel(t, mustOpen(t, format, encoded), kernel), onKernel(t, mustOpen(t, format, encoded), Generic)
						hits := make([]uint64, windowKeys/64)
						f.MayContainUint64(numbers[0])
						for _, n := range []int{1, singleKeys + 1, smallBatch, windowKeys128 - 1} {
							f.MayContainBatch(column.slice(0, n), hits)
						}
						generic.MayContainBatch(column, hits)
						if n := timed.Load(); n != 0 || gathers.Load() != untimedGathers {
							t.Fatalf("timed %d times for few keys, single keys and portable Go", n)
						}
						var all waitGroup
						for range 16 {
							all.Go(func() {
								hits := make([]uint64, windowKeys/64)
								for range 3 {
									if f.MayContainBatch(column, hits); !slices.Equal(hits, want) {
										t.Errorf("hits\n%x, want\n%x", hits, want)
									}
								}
							})
						}
						all.Wait()
						if n := timed.Load(); n != 1 || gathers.Load() != uint32(outcome) {
							t.Errorf("timed %d times, want 1; gathers are %d, want %d", n, gathers.Load(), outcome)
						}
					})
				}
			}
		}
	})
}

// BenchmarkCalibration times what the first window takes, and reports how many of 1,000 runs answer other than
// a long measurement: as this CPU is, and if its gathers took twice as long as loads; alone, and beside a goroutine
// that copies memory. Time it on one CPU (-cpu 1) to have them take turns.
func BenchmarkCalibration(b *testing.B) {
	if len(kernels) == 1 {
		b.Skip("no gathers")
	}
	byGathers, byLoads := timeForms(kernels[0], 50, 1000, func() uint64 { return cpuid.CPU.RTCounter() })
	truth, scale := areSlow(byGathers, byLoads), 2*float64(byLoads)/float64(byGathers)
	for _, busy := range []bool{false, true} {
		b.Run(fmt.Sprintf("busy=%v", busy), func(b *testing.B) {
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for from, to := make([]byte, 64<<20), make([]byte, 64<<20); busy; copy(to, from) {
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
			wrong, wrongSlow, most := 0, 0, 0.0
			for b.Loop() {
				byGathers, byLoads := timeOnce()
				wrong += int(oneIf(areSlow(byGathers, byLoads) != truth))
				wrongSlow += int(oneIf(!areSlow(uint64(scale*float64(byGathers)), byLoads)))
				most = math.Max(most, float64(byGathers)/float64(byLoads))
			}
			close(stop)
			<-stopped
			b.ReportMetric(1000*float64(wrong)/float64(b.N), "wrong/1000")
			b.ReportMetric(1000*float64(wrongSlow)/float64(b.N), "slow-wrong/1000")
			b.ReportMetric(most, "most-ratio")
		})
	}
}
