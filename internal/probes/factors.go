package probes

import "slices"

// Factors has, for each probe in a line, the number by which kernels multiply the hash, for RocksDB, or its step, for Pebble. If
// there are fewer than 8 probes, that of the first fills the rest.
type Factors struct {
	all [128]uint32
	few [8][8]uint32
}

// NewFactors returns factors. next makes each of them from the one before.
func NewFactors(first uint32, next func(uint32) uint32) (f Factors) {
	for i := range f.all {
		f.all[i], first = first, next(first)
	}
	for k := range f.few {
		copy(f.few[k][:], slices.Repeat(f.all[:1], 8))
		copy(f.few[k][:], f.all[:k])
	}
	return f
}

// Of returns the factors of 8 of k probes, from the given one on. If fewer than 8 are left, it returns those of the last 8.
func (f *Factors) Of(k, probe int) *[8]uint32 {
	if k < 8 {
		return &f.few[k]
	}
	return (*[8]uint32)(f.all[min(probe, k-8):])
}
