//go:build (amd64 || arm64) && !purego

package bloom

// vectorBits is the most bits of filters with 64-bit hashes that the kernels test:
// 256 MiB. Go tests larger ones.
const vectorBits = 1 << 31

// testAssembly is testGeneric by the kernel's assembly. It does nothing and
// returns false where Go is to do it.
func (d *double64) testAssembly(kernel Kernel, h1, h2 []uint64, hits []uint64, wasDense bool) bool {
	if len(h1) < least || d.bits > vectorBits || kernel == Generic {
		return false
	}
	first := min(2, d.k)
	if wasDense {
		first = d.k
	}
	if len(h1) <= short {
		var starts, steps [short]uint32
		d.testFirst(kernel, h1, h2, starts[:], steps[:], hits, first)
	} else {
		var starts, steps [window + cacheLine/4]uint32
		d.testFirst(kernel, h1, h2, align(starts[:], window), align(steps[:], window), hits, first)
	}
	return true
}

// testFirst makes the first of the probes for all hashes and the others for those
// that pass. Starts and steps are buffers for the remainders of h1 and h2.
func (d *double64) testFirst(kernel Kernel, h1, h2 []uint64, starts, steps []uint32, hits []uint64, first int) {
	d.reduce(kernel, h1, starts)
	d.reduce(kernel, h2, steps)
	hits = hits[:(len(h1)+63)/64]
	wrap := uint32(-d.bits % d.bits) // (2^64 - bits) mod bits
	d.testVectors(kernel, uint32(d.bits), wrap, first, starts, steps, h1, h2, hits)
}
