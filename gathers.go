package bloom

import "sync/atomic"

// gathers says whether the CPU's gathers take longer than the loads that they stand for. AVX2's kernels then
// load, and AVX-512's in near caches. An init function knows it of AMD's CPUs. Of all others, the first
// whole window whose way depends on it finds out; nothing else changes after the init functions.
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

// slowGather returns what gathers says, for n keys at a time: a whole window has windowKeys128 or more. Fewer
// keys time nothing, because that takes longer than they do.
func slowGather(n int) bool {
	return gathers.Load() == slowGathers || n >= windowKeys128 && calibrate()
}

// calibrate times gathers and loads if nobody has. While one goroutine does, the others gather.
//
//go:noinline
func calibrate() (slow bool) {
	if gathers.Load() == untimedGathers && gathers.CompareAndSwap(untimedGathers, fastGathers) && areSlow(timeGathers()) {
		gathers.Store(slowGathers)
	}
	return gathers.Load() == slowGathers
}

// areSlow reports whether loads are worth taking in place of gathers. Where both take about as long, a
// wrong answer would cost little, and the margin keeps noise from changing what most CPUs do.
func areSlow(byGathers, byLoads uint64) bool {
	return byLoads > 0 && 10*byGathers > 11*byLoads
}
