package main

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestEncodings holds the table against the library: every format has an entry,
// whose parts are the whole of a filter, with the bits and the number of probes
// that the library reads in it.
func TestEncodings(t *testing.T) {
	for f := bloom.Format(0); ; f++ {
		if _, err := bloom.Open(f, nil); errors.Is(err, bloom.ErrFormat) {
			if int(f) != len(encodings) {
				t.Errorf("%d encodings of %d formats", len(encodings), f)
			}
			return
		}
		e := encodingOf(f)
		for _, n := range []int{1, 5, 100, 1000} {
			set, err := bloom.Policy{Format: f, BitsPerKey: 10}.NewSet(n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				set.Add([]byte{byte(i), byte(i >> 8)})
			}
			for _, k := range []int{0, 1, 3, 30} { // 0: as it is
				data, err := set.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				want := set.Stats()
				if k > 0 {
					e.setProbes(data, k)
					want.Probes = k
				}
				filter, err := bloom.Open(f, data)
				if err != nil {
					t.Fatalf("%v with %d probes: %v", f, k, err)
				}
				if got := filter.Stats(); got.Bits != want.Bits || got.SetBits != want.SetBits || got.Probes != want.Probes {
					t.Errorf("%v with %d probes: %+v, want the bits and probes of %+v", f, k, got, want)
				}
				end := 0
				for _, p := range e.parts(data) {
					if p.From != end || p.To < p.From {
						t.Errorf("%v: part %+v after byte %d", f, p, end)
					}
					end = p.To
				}
				if end != len(data) {
					t.Errorf("%v: the parts end at byte %d of %d", f, end, len(data))
				}
				if got := e.bits(data); got != want.Bits {
					t.Errorf("%v: %d bits, want %d", f, got, want.Bits)
				}
				ones := 0
				for _, b := range e.part(data, partBits) {
					ones += bits.OnesCount8(b)
				}
				if uint64(ones) != want.SetBits {
					t.Errorf("%v: %d bits set in the part of bits, want %d", f, ones, want.SetBits)
				}
			}
		}
	}
}
