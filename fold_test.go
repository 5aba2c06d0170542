package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// foldable are the formats whose sets can be halved.
var foldable = []Format{LevelDB, Nori, NoriCrate, Parquet, RocksDB, BitsAndBlooms, Guava}

// smaller returns the encoding of an empty filter with 1/2^times of the bits of s, as the reference
// reads it.
func smaller(t *testing.T, s *Set, times int) []byte {
	t.Helper()
	from, to := s.bitRange()
	n := uint64(to-from) * 8 >> times
	data := slices.Concat(s.data[:from], make([]byte, n/8), s.data[to:])
	switch s.format {
	case Nori:
		binary.LittleEndian.PutUint64(data, n)
	case NoriCrate:
		binary.LittleEndian.PutUint64(data[4:], n)
	case BitsAndBlooms:
		binary.BigEndian.PutUint64(data, n)
		binary.BigEndian.PutUint64(data[16:], n)
	case Guava:
		binary.BigEndian.PutUint32(data[2:], uint32(n/64))
	}
	return data
}

// TestFoldableSizes wants an even number of units, at least 8, for every number of keys, so that every such set can be halved.
func TestFoldableSizes(t *testing.T) {
	for _, format := range foldable {
		for keys := range 500 {
			s, err := Policy{format, 10}.NewFoldable(keys)
			if err != nil {
				t.Fatal(err)
			}
			_, shape := s.encoded()
			if unit := schemes[s.scheme].unit; shape.Bits%(2*unit) != 0 || shape.Bits < 8*unit {
				t.Errorf("%v: %d keys have %d bits, in units of %d", format, keys, shape.Bits, unit)
			}
		}
	}
}

// TestFold compares folded sets, bit for bit, with small ones to which the reference adds the same
// keys. A folded set holds the rate, and one that is halved once more does not.
func TestFold(t *testing.T) {
	for _, format := range foldable {
		for _, bitsPerKey := range []int{4, 10, 17} {
			for i, n := range []int{0, 1, 60, 1000, 7000} {
				if (i+bitsPerKey)%oneOf(1, 3) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("format=%v/bits=%d/n=%d", format, bitsPerKey, n), func(t *testing.T) {
					t.Parallel()
					const rate = 0.02
					p := Policy{format, bitsPerKey}
					s, err := p.NewFoldable(10_000)
					if err != nil {
						t.Fatal(err)
					}
					_, before := s.encoded()
					if fixed, _, _ := p.Size(10_000); before.Bits < fixed || before.Bits > fixed+fixed/8+512 {
						t.Errorf("%d bits; a set of fixed size has %d", before.Bits, fixed)
					}
					unfolded := s.Clone()
					random := rand.New(rand.NewPCG(uint64(n), 1))
					keys := make([]uint64, n)
					for i := range keys {
						keys[i] = random.Uint64()
					}
					s.AddBatch(Integers(keys))
					old := s.Filter()
					times, err := s.Fold(rate)
					if err != nil {
						t.Fatal(err)
					}
					want := smaller(t, unfolded, times)
					for _, key := range keys {
						addByReference(t, format, want, binary.LittleEndian.AppendUint64(nil, key))
					}
					if !bytes.Equal(s.data, want) {
						t.Errorf("folded %d times, the set differs from a small one", times)
					}
					if count, known := s.KeyCount(); count != uint64(n) || !known {
						t.Errorf("KeyCount() = %d, %v", count, known)
					}
					_, folded := s.encoded()
					bits, k := folded.Bits, folded.Probes
					if times > 0 && format.FalsePositiveRate(n, bits, k) > 1.1*rate {
						t.Errorf("%d keys in %d bits: %v", n, bits, format.FalsePositiveRate(n, bits, k))
					}
					if unit := schemes[s.scheme].unit; bits%(2*unit) == 0 && format.FalsePositiveRate(n, bits/2, k) < 0.9*rate {
						t.Errorf("%d keys in %d bits: half would do", n, bits)
					}
					s.AddUint64(1) // a folded set is one like any other
					if want := s.MayContainUint64(1); !want || s.Filter().MayContainBatch(Integers(append(keys, 1)), make([]uint64, n/64+1)) != n+1 {
						t.Error("the folded set loses a key")
					}
					if count, _ := old.KeyCount(); times > 0 && count != uint64(n) {
						t.Errorf("the view of the old bits counts %d keys", count)
					}
				})
			}
		}
	}
}

// TestFoldOften halves sets of NewFoldable for few keys until nothing is left to halve, and then once more.
func TestFoldOften(t *testing.T) {
	t.Parallel()
	const rate = 0.999
	for _, format := range foldable {
		for _, bitsPerKey := range []int{1, 10, 16} {
			for n := 0; n < 3000; n += oneOf(2) + oneOf(4)*n/4 {
				p := Policy{format, bitsPerKey}
				s, err := p.NewFoldable(n)
				if err != nil {
					t.Fatal(err)
				}
				fixed, _, _ := p.Size(n)
				unit := schemes[s.scheme].unit
				if bits := s.bytes() * 8; bits < fixed || bits > max(fixed+fixed/8+unit, 8*unit) {
					t.Fatalf("%v for %d keys: %d bits, a set of fixed size has %d", p, n, bits, fixed)
				}
				s.AddUint64(7)
				times, err := s.Fold(rate)
				if times < 1 || err != nil || !s.MayContainUint64(7) {
					t.Fatalf("%v for %d keys: Fold = %d, %v", p, n, times, err)
				}
				for again := 1; again > 0; { // fewer bits may look like fewer keys
					if again, err = s.Fold(rate); err != nil || again > 10 {
						t.Fatalf("%v for %d keys: Fold = %d, %v at %d bits", p, n, again, err, s.bytes()*8)
					}
				}
			}
		}
	}
}

// TestResize compares headers that are rewritten for another number of bits with those of filters of that size.
func TestResize(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		if schemes[format.scheme()].unit == 0 {
			return // its filters are never halved
		}
		large, small := Policy{format, 10}.AppendFilter(nil, Integers(make([]uint64, 3000))), Policy{format, 10}.AppendFilter(nil, Integers(make([]uint64, 1500)))
		to := mustOpen(t, format, small)
		from, end := to.BitRange()
		_, shape := to.encoded()
		before, after := mustOpen(t, format, large).BitRange()
		got := slices.Concat(large[:before], small[from:end], large[after:])
		format.encoding().Resize(got, shape.Bits)
		if !bytes.Equal(got, small) {
			t.Errorf("the frame is %x and %x, want %x and %x", got[:from], got[end:], small[:from], small[end:])
		}
	})
}

// TestFoldRule compares how often Parquet's sets are halved with the rule of arrow-rs (pull request
// 9628) and of Arrow C++ (50008): by the mean fill of the blocks. That rule leaves out that some blocks
// are fuller than others, so it halves a set once more at times, and then misses the rate.
func TestFoldRule(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(61, 62))
	more := 0
	for range 60 {
		n, rate := 1+random.IntN(20_000), 0.001+0.05*random.Float64()
		s, err := Policy{Parquet, 12}.NewFoldable(20_000)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			s.AddUint64(random.Uint64())
		}
		stats, theirs := s.Stats(), 0
		fill := float64(stats.SetBits) / float64(stats.Bits)
		for size := s.N; size%2 == 0; size /= 2 {
			fill = 1 - (1-fill)*(1-fill) // of two blocks as one
			if math.Pow(fill, 8) > rate {
				break
			}
			theirs++
		}
		ours, err := s.Fold(rate)
		if err != nil || ours > theirs || ours < theirs-1 {
			t.Errorf("%d keys at %v: halved %d times, by arrow-rs's rule %d: %v", n, rate, ours, theirs, err)
		}
		if ours < theirs {
			more++
		}
	}
	if more > 15 {
		t.Errorf("arrow-rs's rule halves %d of 60 sets once more", more)
	}
}

// TestFoldErrors checks that what cannot be halved does not change.
func TestFoldErrors(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		odd := mustSet(t, Policy{format, 8}, 32*9) // 9 lines, 9 blocks, 288 bytes
		if format == LevelDB || format == Nori || format == NoriCrate || format == BitsAndBlooms || format == Guava {
			odd = mustSet(t, Policy{format, 8}, 65)
		}
		if format == NoriCrate {
			odd = mustSet(t, Policy{format, 1}, 1) // a power of two: one bit
		}
		odd.AddString("key")
		before := odd.Clone()
		for _, rate := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
			if n, err := odd.Fold(rate); n != 0 || !errors.Is(err, ErrRate) || !odd.Equal(before) {
				t.Errorf("Fold(%v) = %d, %v", rate, n, err)
			}
		}
		want := error(nil)
		if !slices.Contains(foldable, format) {
			want = ErrShape
		}
		if n, err := odd.Fold(0.99); n != 0 || !errors.Is(err, want) || !odd.Equal(before) {
			t.Errorf("Fold of an odd size = %d, %v", n, err)
		}
		for maxKeys, want := range map[int]error{-1: ErrCapacity, math.MaxInt: ErrCapacity} {
			if _, err := (Policy{format, 10}).NewFoldable(maxKeys); !errors.Is(err, want) {
				t.Errorf("NewFoldable(%d): %v", maxKeys, err)
			}
		}
		if !slices.Contains(foldable, format) {
			if _, err := (Policy{format, 10}).NewFoldable(10); !errors.Is(err, ErrShape) {
				t.Errorf("NewFoldable: %v", err)
			}
		}
		full := mustSet(t, Policy{format, 8}, 32*8)
		for i := range 32 * 8 {
			full.AddUint64(uint64(i))
		}
		if n, err := full.Fold(0.001); slices.Contains(foldable, format) && (n != 0 || err != nil) {
			t.Errorf("Fold of a full set = %d, %v", n, err)
		}
	})
	if n, err := new(Set).Fold(0.5); n != 0 || err != nil {
		t.Errorf("Fold of the zero Set = %d, %v", n, err)
	}
	if _, err := (Policy{Format: 99}).NewFoldable(1); !errors.Is(err, ErrFormat) {
		t.Errorf("NewFoldable of no format: %v", err)
	}
}
