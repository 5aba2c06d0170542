package answers

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestFormats wants the parts of a filter of every format to cover all of it, and to have the bits and the
// number of probes that the library reads.
func TestFormats(t *testing.T) {
	for _, f := range bloom.Formats() {
		for _, n := range []int{1, 5, 100, 1000} {
			set, err := bloom.Policy{Format: f, BitsPerKey: 10}.NewSet(n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				set.Add([]byte{byte(i), byte(i >> 8)})
			}
			for _, k := range []int{0, 1, 3, 30} { // 0: as it is
				checkParts(t, f, set, k)
			}
		}
	}
}

// checkParts compares the parts of a set's filter, of k probes, with what the library reads.
func checkParts(t *testing.T, f bloom.Format, set *bloom.Set, k int) {
	t.Helper()
	data := set.AppendFilter(nil)
	want := set.Stats()
	if k > 0 {
		if err := setProbes(f, set.Filter(), data, k); (err == nil) != choosesProbes(f) {
			t.Fatalf("%v with %d probes: %v", f, k, err)
		} else if err != nil {
			return
		}
		want.Probes = k
	}
	filter, err := bloom.Open(f, data)
	if err != nil {
		t.Fatalf("%v with %d probes: %v", f, k, err)
	}
	if got := filter.Stats(); got.Bits != want.Bits || got.SetBits != want.SetBits || got.Probes != want.Probes {
		t.Errorf("%v with %d probes: %+v, want the bits and probes of %+v", f, k, got, want)
	}
	parts, end := partsOf(f, filter, data), 0
	for _, p := range parts {
		if p.From != end || p.To < p.From {
			t.Errorf("%v: part %+v after byte %d", f, p, end)
		}
		end = p.To
		switch value := data[p.From:p.To]; p.Name {
		case "header", "trailer":
			t.Errorf("%v: layouts does not name the numbers of the %s", f, p.Name)
		case partProbes:
			if got := numberOf(f, value); got != uint64(want.Probes) {
				t.Errorf("%v: the part of probes says %d, want %d", f, got, want.Probes)
			}
		case partCount:
			if got := numberOf(f, value); got != want.Bits {
				t.Errorf("%v: the part of the number of bits says %d, want %d", f, got, want.Bits)
			}
		case partBits:
			ones := 0
			for _, b := range value {
				ones += bits.OnesCount8(b)
			}
			if uint64(ones) != want.SetBits {
				t.Errorf("%v: %d bits set in the part of bits, want %d", f, ones, want.SetBits)
			}
		}
	}
	if end != len(data) {
		t.Errorf("%v: the parts end at byte %d of %d", f, end, len(data))
	}
}

// numberOf returns the number of a field of the format.
func numberOf(f bloom.Format, value []byte) (n uint64) {
	value = slices.Clone(value)
	if layouts[f].order == binary.LittleEndian {
		slices.Reverse(value)
	}
	for _, b := range value {
		n = n<<8 | uint64(b)
	}
	return n
}

// TestUnnamedLayout wants a header and a trailer of a format whose fields have no names.
func TestUnnamedLayout(t *testing.T) {
	set, err := bloom.Policy{Format: bloom.Nori, BitsPerKey: 10}.NewSet(10)
	if err != nil {
		t.Fatal(err)
	}
	unknown := bloom.Format(len(bloom.Formats()))
	got := partsOf(unknown, set.Filter(), append(set.AppendFilter(nil), 1, 2))
	if want := []part{{"header", 0, 16}, {partBits, 16, 29}, {"trailer", 29, 31}}; !slices.Equal(got, want) {
		t.Errorf("the parts are %+v, want %+v", got, want)
	}
}
