package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// andSlices emits a function that ANDs 8 arrays of words. Vectors of 64 bytes would load twice as many lines as they need
// of short arrays: from memory that took 1.7 times as long on a Zen 4.
func andSlices(vectors) {
	Comment("All arrays are read in step: 32 bytes of each at a time, and at the end 8 bytes of each.")
	hits, slices, n := argument("hits"), argument("slices"), argument("n")
	var from [8]reg.GPVirtual
	for i := range from {
		from[i] = GP64()
		MOVQ(Mem{Base: slices, Disp: 8 * i}, from[i])
	}
	at, total, count := slices, GP64(), GP64()
	XORL(at.As32(), at.As32())
	XORL(total.As32(), total.As32())
	word := func(base reg.Register, i int) Mem { return Mem{Base: base, Index: at, Scale: 8, Disp: 8 * i} }
	branch(SUBQ, U8(4), n, JL, "rest")
	Label("vector")
	x, y := YMM(), YMM()
	VMOVDQU(word(from[0], 0), x)
	VMOVDQU(word(from[1], 0), y)
	for i := 2; i < len(from); i += 2 {
		VPAND(word(from[i], 0), x, x)
		VPAND(word(from[i+1], 0), y, y)
	}
	VPAND(x, y, x)
	VMOVDQU(x, word(hits, 0))
	for i := range 4 {
		POPCNTQ(word(hits, i), count)
		ADDQ(count, total)
	}
	ADDQ(U8(4), at)
	branch(CMPQ, at, n, JLE, "vector")
	VZEROUPPER()
	Label("rest")
	ADDQ(U8(4), n)
	JMP(LabelRef("left"))
	Label("word")
	MOVQ(word(from[0], 0), count)
	for _, base := range from[1:] {
		ANDQ(word(base, 0), count)
	}
	MOVQ(count, word(hits, 0))
	POPCNTQ(count, count)
	ADDQ(count, total)
	INCQ(at)
	Label("left")
	branch(CMPQ, at, n, JLT, "word")
	Store(total, ReturnIndex(0))
	RET()
}

// requestSlices emits a function that requests the first lines of 8 arrays. The CPU itself requests the lines that follow those.
func requestSlices(vectors) {
	slices := argument("slices")
	for i := range 8 {
		base := valueOf(Mem{Base: slices, Disp: 8 * i})
		for line := range 4 {
			request(Mem{Base: base, Disp: 64 * line})
		}
	}
	RET()
}

// transposeTile emits a function that swaps bits of words as transpose in Go does. Steps between words that are near each other
// take place between registers, too: the words of four registers are transposed before and after.
func transposeTile(vectors) {
	tile, left := argument("tile"), GP64()
	words := func(at [4]int, move func(m Mem, x reg.VecVirtual), x [4]reg.VecVirtual) {
		for i, x := range x {
			move(Mem{Base: tile, Disp: 8 * at[i]}, x)
		}
	}
	load := func(m Mem, x reg.VecVirtual) { VMOVDQU(m, x) }
	store := func(m Mem, x reg.VecVirtual) { VMOVDQU(x, m) }
	x := [4]reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}

	MOVL(U32(4), left.As32())
	Label("far")
	at := [4]int{0, 16, 32, 48}
	words(at, load, x)
	for _, pair := range [2][2]int{{0, 2}, {1, 3}} {
		exchangeBlended(x[pair[0]], x[pair[1]], 32, VPBLENDD, 0xaa)
	}
	for _, pair := range [2][2]int{{0, 1}, {2, 3}} {
		exchangeBlended(x[pair[0]], x[pair[1]], 16, VPBLENDW, 0xaa)
	}
	words(at, store, x)
	ADDQ(U8(4*8), tile)
	countDown(left, "far")

	ADDQ(I8(-16*8), tile)
	MOVL(U32(4), left.As32())
	Label("near")
	at = [4]int{0, 4, 8, 12}
	words(at, load, x)
	exchangeAll(x, 8, longConstant(0x00ff00ff00ff00ff), longConstant(0x0f0f0f0f0f0f0f0f))
	x = transposeWords(x)
	exchangeAll(x, 2, longConstant(0x3333333333333333), longConstant(0x5555555555555555))
	x = transposeWords(x)
	words(at, store, x)
	SUBQ(I8(-16*8), tile)
	countDown(left, "near")
	returnVectors()
}

// exchangeBlended swaps the upper n bits of each 2n of a with the lower of b. The blend takes the upper ones of its first argument.
func exchangeBlended(a, b reg.VecVirtual, n uint8, blend func(i, mxy, y, dst Op), upper uint8) {
	up, down := YMM(), YMM()
	VPSLLQ(U8(n), b, up)
	VPSRLQ(U8(n), a, down)
	blend(U8(upper), up, a, a)
	blend(U8(upper), b, down, b)
}

// exchangeAll swaps n bits, and then n/2, between four registers: those two apart, then those next to each other.
func exchangeAll(x [4]reg.VecVirtual, n uint8, mask, half Mem) {
	for _, step := range []struct {
		a, b int
		n    uint8
		mask Mem
	}{{0, 2, n, mask}, {1, 3, n, mask}, {0, 1, n / 2, half}, {2, 3, n / 2, half}} {
		a, b, swap := x[step.a], x[step.b], YMM()
		VPSRLQ(U8(step.n), a, swap)
		VPXOR(b, swap, swap)
		VPAND(step.mask, swap, swap)
		VPXOR(swap, b, b)
		VPSLLQ(U8(step.n), swap, swap)
		VPXOR(swap, a, a)
	}
}

// transposeWords swaps word j of register i with word i of register j.
func transposeWords(x [4]reg.VecVirtual) (y [4]reg.VecVirtual) {
	var pairs [4]reg.VecVirtual
	for i := range y {
		y[i], pairs[i] = YMM(), YMM()
	}
	for i := 0; i < 4; i += 2 {
		VPUNPCKLQDQ(x[i+1], x[i], pairs[i])
		VPUNPCKHQDQ(x[i+1], x[i], pairs[i+1])
	}
	for i := range 2 {
		VPERM2I128(U8(0x20), pairs[i+2], pairs[i], y[i])
		VPERM2I128(U8(0x31), pairs[i+2], pairs[i], y[i+2])
	}
	return y
}
