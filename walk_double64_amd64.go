//go:build !purego

package bloom

// testFirst makes the first probes of all hashes, and the other probes of the hashes that
// pass. first is the number of first probes.
func (d *double64) testFirst(kernel Kernel, h *hashes, hits []uint64, first int) {
	inverse := d.inverse()
	if kernel != AVX512 || d.n < minReduceBits {
		inverse = 0
		d.reduceGeneric(h.h1, h.starts)
		d.reduceGeneric(h.h2, h.steps)
	}
	switch bits := uint32(d.n); {
	case kernel == AVX512:
		testDouble64AVX512(d.base, bits, d.wrap(), inverse, d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
	case staged.loads:
		testDouble64LoadsAVX2(d.base, bits, d.wrap(), d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
	default:
		testDouble64AVX2(d.base, bits, d.wrap(), d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
	}
}
