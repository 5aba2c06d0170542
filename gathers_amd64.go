//go:build !purego

package bloom

import (
	"time"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom/internal/kernelforms"
)

// timeForms returns how long a kernel's tests of 256 hashes in a filter in the nearest cache take by gathers
// and by loads: the least of as many rounds, because other work can only make a round longer.
func timeForms(kernel Kernel, rounds, repeats int, clock func() uint64) (byGathers, byLoads uint64) {
	var bits [512]uint64
	var hashes [timedHashes]uint32
	var hits [timedHashes / 64]uint64
	random := uint64(1)
	for i := range bits {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		bits[i], hashes[i%timedHashes] = random, uint32(random>>32)
	}
	d := newDouble32(unsafe.Slice((*byte)(unsafe.Pointer(&bits)), unsafe.Sizeof(bits)), 6)
	recip, shift := d.vectorWalk()
	byForm := [2]uint64{1 << 63, 1 << 63}
	for range rounds {
		for form := range byForm {
			start := clock()
			for range repeats {
				if form == 0 {
					probeDouble32(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], timedHashes, &hits[0], 0, staged.denseBelow, staged.densePer256)
				} else {
					probeDouble32Loads(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], timedHashes, &hits[0], 0, staged.denseBelow, staged.densePer256)
				}
			}
			byForm[form] = min(byForm[form], clock()-start)
		}
	}
	return byForm[0], byForm[1]
}

const timedHashes = 256

// timeOnce is timeGathers for the kernel that is chosen, in a few microseconds. It counts the ticks of the CPU:
// the clock of package time has steps of half a millisecond or more on Windows.
func timeOnce() (byGathers, byLoads uint64) {
	return timeForms(kernels[0], 4, 1, func() uint64 { return cpuid.CPU.RTCounter() })
}

// costs is kernelforms.Costs.
func costs() (all []kernelforms.Cost) {
	inUse := "gathers"
	if calibrate(); slowGather() {
		inUse = "loads"
	}
	start := time.Now()
	for _, kernel := range kernels[:len(kernels)-1] {
		const repeats = 1000
		byGathers, byLoads := timeForms(kernel, 5, repeats, func() uint64 { return uint64(time.Since(start)) })
		all = append(all, kernelforms.Cost{
			Kernel: kernel.String(), InUse: inUse,
			Gathers: float64(byGathers) / (repeats * timedHashes), Loads: float64(byLoads) / (repeats * timedHashes),
		})
	}
	return all
}
