package bloom

import "github.com/lanebloom/bloom/internal/probes"

func arrayPebble(n uint64, k int) probes.Array {
	return probes.Array(probes.NewPebble(nil, uint32(n/512), 0, k))
}
func bytesPebble(a probes.Array) uint64 { return (*probes.Pebble)(&a).Bytes() }

// addPebble is prober.setLines for this scheme.
func (s *prober) addPebble(h *hashes) {
	if len(h.h32) < minSetHashes || !setLine32(s, h, line32Steps.Of(s.K, 0)) {
		(*probes.Pebble)(&s.Array).AddAll(h.h32)
		return
	}
	for done := 8; done < s.K; done += 8 {
		setLine32(s, h, line32Steps.Of(s.K, done))
	}
}

var line32Steps = probes.NewFactors(0, func(x uint32) uint32 { return x + 1 })

// testPebble is prober.test for this scheme.
func (s *prober) testPebble(h *hashes, hits []uint64) {
	if !probeLine32(s, h, &hits[0], line32Steps.Of(s.K, 0)) {
		(*probes.Pebble)(&s.Array).Test(h.h32, hits)
		return
	}
	for done := 8; done < s.K; done += 8 {
		var more [windowKeys / 64]uint64
		probeLine32(s, h, &more[0], line32Steps.Of(s.K, done))
		for i := range (len(h.h32) + 63) / 64 {
			hits[i] &= more[i]
		}
	}
}

// testPartPebble is scheme.testPart for Pebble. The bits of a key in a line of 64 bytes are the same
// in every array.
func testPartPebble(kernel Kernel, p *groupPart, hash Hash) (word uint64) {
	h := uint32(hash.h1)
	d := (*probes.Pebble)(&p.arrays[0])
	if p.blocks != nil {
		if word, ok := groupLine32(kernel, &p.blocks[0].bases[0], len(p.arrays), uint64(h), line32Steps.Of(d.K, 0)); ok {
			for done := 8; done < d.K && word != 0; done += 8 {
				later, _ := groupLine32(kernel, &p.blocks[0].bases[0], len(p.arrays), uint64(h), line32Steps.Of(d.K, done))
				word &= later
			}
			return word
		}
	}
	return probes.TestPebble(p.arrays, h)
}
