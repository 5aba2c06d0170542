//go:build !purego

package bloom

import (
	"math"
	"math/bits"
)

// newBlocks returns blocks of arrays that are alike, or nil if no function in assembly takes
// blocks of them.
func (w walkKind) newBlocks(arrays []array) []block {
	first := &arrays[0]
	switch w {
	case walkDouble32:
		// The reciprocal is that of Granlund and Montgomery for a dividend of 29 bits: with
		// 2^log ≥ units, recip = floor(2^(29+log)/units) + 1 has at most 30 bits, and the floor
		// of h/8·recip / 2^(29+log) is that of h/8 / units.
		return blocksOf(arrays, func(a *array) (units, recip, shift uint64) {
			shift = uint64(29 + bits.Len64(a.n-1))
			return a.n, 1<<shift/a.n + 1, shift
		})
	case walkDouble64:
		if (*double64)(first).form() != reducedForm {
			return nil
		}
		return blocksOf(arrays, func(a *array) (units, inverse, _ uint64) {
			return a.n, (*double64)(a).inverse(), 0
		})
	case walkSplit256, walkLine512:
		if first.n > math.MaxUint32 {
			return nil
		}
		return blocksOf(arrays, func(a *array) (units, _, _ uint64) { return a.n, 0, 0 })
	case walkLine32:
		if (*line32)(first).log() > 0 {
			return nil
		}
		return blocksOf(arrays, func(a *array) (units, recip, shift uint64) {
			recip, shift = (*line32)(a).divisor()
			return a.n, recip, shift
		})
	}
	return nil
}

// form says which functions test the array in a group.
func (d *double64) form() int {
	switch {
	case d.recip == 0:
		return dividedForm
	case d.n < minReduceBits || d.n > maxKernelBits:
		return reciprocalForm
	}
	return reducedForm
}

// The forms of arrays of the walk double64: Go divides, AVX2 takes a reciprocal, and AVX-512
// computes in floating point.
const (
	dividedForm = iota
	reciprocalForm
	reducedForm
)

// The functions below make all k probes of a hash in assembly, or the first three if there are
// more, or none. They return how many they made. After 0, Go makes all. The AVX-512 functions
// gather: where gathers are slow, those of AVX2 serve.

func testPartDouble32Assembly(kernel Kernel, p *part, h uint32) (word uint64, probes int) {
	k := p.arrays[0].k
	switch {
	case kernel == Generic:
		return 0, 0
	case kernel == AVX512 && !staged.loads:
		return testArraysDouble32AVX512(&p.blocks[0].bases[0], len(p.arrays), k, h), k
	}
	first := firstDouble32(h, k)
	clear := [3]uint32{uint32(clearMask[first[0]%8]), uint32(clearMask[first[1]%8]), uint32(clearMask[first[2]%8])}
	return testArraysDouble32AVX2(&p.blocks[0].bases[0], len(p.arrays), &first[0], &clear[0]), min(len(first), k)
}

func testPartDouble64Assembly(kernel Kernel, p *part, h1, h2 uint64) (word uint64, probes int) {
	k := p.arrays[0].k
	switch {
	case kernel == Generic || p.arrays[0].recip == 0:
		return 0, 0
	case kernel == AVX512 && !staged.loads && p.blocks != nil:
		return testArraysDouble64AVX512(&p.blocks[0].bases[0], len(p.arrays), k, h1, h2), k
	}
	first := firstDouble64(h1, h2, k)
	return testArraysDouble64AVX2(&p.arrays[0].base, len(p.arrays), &first[0]), min(len(first), k)
}

// The functions below are testPart in assembly. They return false, and do nothing, if Go must test
// the key.

func testPartSplit256Assembly(kernel Kernel, p *part, h uint64) (word uint64, ok bool) {
	if kernel == Generic || p.blocks == nil {
		return 0, false
	}
	return testArraysSplit256AVX2(&p.blocks[0].bases[0], len(p.arrays), h), true
}

func testPartLine512Assembly(kernel Kernel, p *part, h uint64) (word uint64, ok bool) {
	k := p.arrays[0].k
	switch {
	case kernel == Generic || p.blocks == nil:
		return 0, false
	case kernel == AVX512 && k <= maxHasProbes:
		return testArraysLine512AVX512(&p.blocks[0].bases[0], len(p.arrays), h, k), true
	}
	bits := line512Bits(h, k)
	return testArraysLine512AVX2(&p.blocks[0].bases[0], len(p.arrays), h, &bits[0]), true
}

func testPartLine32Assembly(kernel Kernel, p *part, h uint32) (word uint64, ok bool) {
	k := p.arrays[0].k
	switch {
	case kernel == Generic || p.blocks == nil:
		return 0, false
	case kernel == AVX512 && k <= maxHasProbes:
		return testArraysLine32AVX512(&p.blocks[0].bases[0], len(p.arrays), uint64(h), k), true
	}
	bits := line32Bits(h, k)
	return testArraysLine32AVX2(&p.blocks[0].bases[0], len(p.arrays), uint64(h), &bits[0]), true
}
