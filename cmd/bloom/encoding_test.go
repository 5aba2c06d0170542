package main

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestEncodings compares the table with the library. The parts of a filter must cover all of it, and have the bits and the number of probes that the
// library reads.
func TestEncodings(t *testing.T) {
	for _, e := range encodings {
		f := e.format
		if got, err := parseFormat(f.String()); got != f || err != nil {
			t.Errorf("parseFormat(%v) = %v, %v", f, got, err)
		}
		for _, n := range []int{1, 5, 100, 1000} {
			set, err := bloom.Policy{Format: f, BitsPerKey: 10}.NewSet(n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				set.Add([]byte{byte(i), byte(i >> 8)})
			}
			for _, k := range []int{0, 1, 3, 30} { // 0: as it is
				data := set.AppendFilter(nil)
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

// TestSizes compares the table's sizes with filters that the library makes.
func TestSizes(t *testing.T) {
	for _, e := range encodings {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 100, maxKeys} {
			for bitsPerKey := 1; bitsPerKey <= maxBitsPerKey; bitsPerKey++ {
				set, err := bloom.Policy{Format: e.format, BitsPerKey: bitsPerKey}.NewSet(n)
				if err != nil {
					t.Fatal(err)
				}
				data := set.AppendFilter(nil)
				if got, want := e.bytes(n, bitsPerKey), len(e.part(data, partBits)); got != uint64(want) {
					t.Errorf("%v: %d keys at %d bits per key take %d bytes, want %d", e.format, n, bitsPerKey, got, want)
				}
				want := 8 * uint64(len(e.part(data, partBits)))
				if count := e.part(data, partCount); count != nil {
					want = binary.LittleEndian.Uint64(count)
				}
				if got := e.size(n, bitsPerKey); got != want {
					t.Errorf("%v: %d keys at %d bits per key have %d bits, want %d", e.format, n, bitsPerKey, got, want)
				}
			}
		}
	}
}
