//go:build !purego

package bloom

// testFirst makes the first probes of all hashes, and the other probes of the hashes that
// pass. first is the number of first probes. NEON has no 64-bit multiplication, so Go computes
// the remainders.
func (d *double64) testFirst(_ Kernel, h *hashes, hits []uint64, first int) {
	d.reduceGeneric(h.h1, h.starts)
	d.reduceGeneric(h.h2, h.steps)
	testDouble64NEON(d.base, uint32(d.n), d.wrap(), d.k, first, &h.starts[0], &h.steps[0], &h.h1[0], &h.h2[0], h.len(), &hits[0])
}
