package bloom

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/memory"
)

// NewFoldable returns an empty set for a stream of unknown length. The set is sized for maxKeys keys at the
// policy's number of bits per key. If fewer keys are added, [Set.Fold] can halve the set. Unless the set is
// very small, it needs at most an eighth more memory than a set that [Policy.NewSet] returns. The set consists
// of bytes, words, blocks or lines, depending on the format. Their number is even and at least 8, so the set
// can be halved at least once.
//
// The error is [ErrFormat] if the policy's format is unknown, and [ErrShape] if the format is [Pebble],
// because Pebble's filters have an odd number of lines. It is [ErrCapacity] if maxKeys is negative, or if the
// filter would be larger than the format allows.
func (p Policy) NewFoldable(maxKeys int) (*Set, error) {
	size, probes, err := p.Size(maxKeys)
	if err != nil {
		return nil, err
	}
	f := &formats[p.Format]
	scheme := &schemes[f.scheme]
	if scheme.unit == 0 {
		return nil, errOddLines(p.Format)
	}
	// The size is 8 to 16 units times a power of two, and even. NoriCrate's sizes are powers of two already.
	units := max((size+scheme.unit-1)/scheme.unit, 8)
	log := max(bits.Len64(units)-4, 1)
	units = (units + 1<<log - 1) >> log << log
	if units > scheme.most {
		return nil, fmt.Errorf("%w: %d keys at %d bits per key", ErrCapacity, maxKeys, p.BitsPerKey)
	}
	s := shape{Bits: units * scheme.unit, Probes: probes}
	v, _ := openView(p.Format, p.Format.newFilter(s, p.BitsPerKey)) // no error: the bytes are ours
	v.count = new(keyCount)
	return &Set{v}, nil
}

// errOddLines is the error for a format whose sets cannot be halved.
func errOddLines(f Format) error {
	return fmt.Errorf("%w: %v has odd numbers of lines, which cannot be halved", ErrShape, f)
}

// Fold halves the set repeatedly, as long as the expected false-positive rate of the result is at most
// falsePositiveRate. It returns the number of times that it halved the set. The folded set has the same bits
// as a smaller set to which the same keys were added, so no key is lost. Fold allocates new memory for the
// folded set. Views that [Set.Filter] and [Set.WithKernel] returned earlier keep the old memory.
//
// Fold computes the expected rate with [Format.FalsePositiveRate], using the number of keys that [Stats]
// estimates.
//
// Fold stops when the set has an odd number of bytes, 64-bit words ([BitsAndBlooms] and [Guava]), blocks or
// lines. If this number is odd before the call, Fold returns 0. The error is [ErrShape] if the format is
// [Pebble], whose sets cannot be halved at any size, and [ErrRate] if falsePositiveRate is not between 0 and 1.
// On error, the set does not change.
func (s *Set) Fold(falsePositiveRate float64) (times int, err error) {
	if !(falsePositiveRate > 0 && falsePositiveRate < 1) { // not a number is neither
		return 0, fmt.Errorf("%w: %v is not between 0 and 1", ErrRate, falsePositiveRate)
	}
	if s.scheme == 0 { // the zero Set
		return 0, nil
	}
	unit := schemes[s.scheme].unit
	if unit == 0 {
		return 0, errOddLines(s.format)
	}
	_, shape := s.encoded()
	keys, unknown := s.format.keysOf(s.setBits(), shape)
	keys = math.Round(keys)
	for !unknown && shape.Bits%(2*unit) == 0 && (keys == 0 || s.format.rate(keys, float64(shape.Bits/2), shape.Probes) <= falsePositiveRate) {
		shape.Bits /= 2
		times++
	}
	if times > 0 {
		s.foldTo(shape)
	}
	return times, nil
}

// foldTo gives s new memory, of a shape that has a fraction of the bits. It then shares nothing with other views.
func (s *Set) foldTo(to shape) {
	old, _ := s.encoded()
	from, end := s.bitRange()
	size := s.scheme.bytesOf(to.Bits)
	data := memory.Aligned(from, size+len(s.data)-end)
	copy(data, s.data[:from])
	array := data[from:][:size]
	copy(data[from+len(array):], s.data[end:])
	s.format.encoding().Resize(data, to.Bits)
	s.scheme.fold(array, old)
	s.data = data
	s.Array, _ = s.format.decode(data) // no error: it is a filter of a size that the format has
	s.setKernel(s.kernel)
	count := *s.count
	s.count = &count
}

// fold sets the bits of dst, which is zeros, that src stands for in the size of dst. The sizes are multiples of the scheme's
// unit, and that of src is one of dst's.
func (s scheme) fold(dst, src []byte) {
	if unit := schemes[s].unit; !schemes[s].line {
		foldRemainders(dst, src)
	} else {
		foldNeighbours(dst, src, int(unit/8))
	}
}

// foldRemainders folds bits whose numbers are remainders: x mod m/2 is (x mod m) mod m/2.
func foldRemainders(dst, src []byte) {
	for copy(dst, src); len(src) > len(dst); {
		src = src[len(dst):]
		or(dst, src[:len(dst)])
	}
}

// foldNeighbours folds blocks whose number is h·n / 2^32, rounded down, for a hash h of 32 bits: with
// half as many blocks, 2i and 2i + 1 become i.
func foldNeighbours(dst, src []byte, block int) {
	for each := len(src) / len(dst) * block; len(dst) > 0; dst, src = dst[block:], src[each:] {
		for i := 0; i < each; i += block {
			or(dst[:block], src[i:i+block])
		}
	}
}
