package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pack32 and pack64 emit functions that move the chosen ones of n words to the front. A step stores
// whole vectors: what it overwrites behind the chosen words has been loaded already.
func pack32(v vectors) {
	packWords(v, 4, v.lanes(), 0, func(words, to, chosen Mem, left reg.GPVirtual) {
		x, mask := v.vector(), GP64()
		v.load(words, x)
		v.loadMask(chosen, mask)
		v.compact(x, mask, to.Idx(left, 4))
		ADDQ(mask, left)
	})
}

func pack64(v vectors) {
	if v.lanes() == 16 {
		packWords(v, 8, 8, 0, func(words, to, chosen Mem, left reg.GPVirtual) {
			x, mask, k := v.vector(), GP64(), K()
			v.load(words, x)
			MOVBLZX(chosen, mask.As32())
			KMOVW(mask.As32(), k)
			POPCNTL(mask.As32(), mask.As32())
			VPCOMPRESSQ_Z(x, k, x)
			v.store(x, to.Idx(left, 8))
			ADDQ(mask, left)
		})
		return
	}
	Comment("A long word is two lanes, and left counts lanes.")
	packWords(v, 8, 8, 1, func(words, to, chosen Mem, left reg.GPVirtual) {
		mask := GP64()
		MOVBLZX(chosen, mask.As32())
		low, high := mask, GP64()
		MOVL(mask.As32(), high.As32())
		SHRL(U8(4), high.As32())
		ANDL(U8(15), low.As32())
		halves := [2]reg.VecVirtual{v.vector(), v.vector()}
		for i, x := range halves {
			v.load(words.Offset(32*i), x)
		}
		for i, mask := range []reg.GPVirtual{low, high} {
			twice(mask)
			v.compact(halves[i], mask, to.Idx(left, 4))
			ADDQ(mask, left)
		}
	})
}

// twice doubles each of the four bits of a mask: dcba becomes ddccbbaa.
func twice(mask reg.GPVirtual) {
	spread := GP64()
	for _, step := range []struct {
		shift uint8
		keep  uint8
	}{{2, 0x33}, {1, 0x55}} {
		MOVL(mask.As32(), spread.As32())
		SHLL(U8(step.shift), spread.As32())
		ORL(spread.As32(), mask.As32())
		ANDL(U8(step.keep), mask.As32())
	}
	LEAL(Mem{Base: mask, Index: mask, Scale: 2}, mask.As32())
}

// packWords emits a loop over n words of size bytes, some of them at a step. The function that it ends returns left >> shift.
func packWords(v vectors, size, some, shift int, step func(words, to, chosen Mem, left reg.GPVirtual)) {
	to, chosen, n := argument("words"), argument("chosen"), argument("n")
	v.prepareCompact()
	words, left := valueOf(to), zeroWord()
	Label("step")
	step(Mem{Base: words}, Mem{Base: to}, Mem{Base: chosen}, left)
	ADDQ(I32(size*some), words)
	ADDQ(U8(some/8), chosen)
	branch(SUBQ, U8(some), n, JNZ, "step")
	if shift > 0 {
		SHRQ(U8(shift), left)
	}
	returnResult(left)
}
