//go:build (amd64 || arm64) && !purego

package bloom

// vectorBits is the most bits of filters with 64-bit hashes that the kernels test:
// 256 MiB. Go tests larger ones.
const vectorBits = 1 << 31

// testAssembly is testGeneric by the kernel's assembly. It does nothing and
// returns false where Go is to do it.
func (d *double64) testAssembly(kernel Kernel, h *hashes, hits []uint64, wasDense bool) bool {
	if h.len() < least || d.bits > vectorBits || kernel == Generic {
		return false
	}
	first := min(2, d.k)
	if wasDense {
		first = d.k
	}
	d.testFirst(kernel, h, hits[:(h.len()+63)/64], first)
	return true
}

// wrap returns 2^64 mod the number of bits.
func (d *double64) wrap() uint32 { return uint32(-d.bits % d.bits) } // (2^64 - bits) mod bits
