//go:build (amd64 || arm64) && !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *double64) testAssembly(kernel Kernel, h *hashes, hits []uint64, wasDense bool) bool {
	if h.len() < minKernelHashes || d.n > maxKernelBits || kernel == Generic {
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
func (d *double64) wrap() uint32 { return uint32(-d.n % d.n) } // (2^64 - bits) mod bits
