package bloom

import "sync/atomic"

// gathers says whether the CPU's gathers take longer than the loads that they stand for. AVX2's kernels then
// load, and AVX-512's in near caches. An init function knows it of AMD's CPUs. Of all others, the first
// whole window that is hashed finds out; nothing else changes after the init functions.
var gathers atomic.Uint32

// What gathers is. The first two are indices of byRows.
const (
	fastGathers    uint32 = iota // or the kernels have none
	slowGathers                  // gathers take longer than loads
	untimedGathers               // fast until they are timed
)

// timeGathers returns how long gathers and loads take, in the same unit, or 0 if there is no clock. An init
// function sets it where kernels gather.
var timeGathers func() (byGathers, byLoads uint64)

// slowGather returns what gathers says. It times nothing: a call in the tests of 8 keys would cost them 5 %.
func slowGather() bool { return gathers.Load() == slowGathers }

// calibrate times gathers and loads if nobody has. While one goroutine does, the others gather.
func calibrate() {
	if gathers.Load() == untimedGathers && gathers.CompareAndSwap(untimedGathers, fastGathers) && areSlow(timeGathers()) {
		gathers.Store(slowGathers)
	}
}

// areSlow reports whether loads are worth taking in place of gathers. Where both take about as long, a
// wrong answer would cost little, and the margin keeps noise from changing what most CPUs do.
func areSlow(byGathers, byLoads uint64) bool {
	return byLoads > 0 && 10*byGathers > 11*byLoads
}
