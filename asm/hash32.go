package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of LevelDB's hash.
var (
	hash32Seed = uint32(keyhash.constant("LevelDBSeed"))
	hash32Mul  = uint32(keyhash.constant("LevelDBMul"))
)

// hash32 emits the hash of whole vectors of keys of 4 or 8 bytes that lie side by side.
func hash32(v vectors, width int) {
	Comment("Each lane hashes one key: for each of its words h = (h + word)·mul, h ^= h>>16.")
	keys, hashes, n := argument("rows"), argument("hashes"), vectorsOf(v.lanes())
	seed := v.broadcast(constant(hash32Seed ^ uint32(width)*hash32Mul))
	mul := v.broadcast(constant(hash32Mul))
	var split func(a, b reg.VecVirtual)
	if width == 8 {
		split = v.splitter()
	}

	Label("vector")
	words := make([]reg.VecVirtual, width/4)
	for i := range words {
		words[i] = v.vector()
		v.load(Mem{Base: keys, Disp: 4 * v.lanes() * i}, words[i])
	}
	if split != nil {
		split(words[0], words[1])
	}
	h := seed
	for _, word := range words {
		VPADDD(h, word, word)
		VPMULLD(mul, word, word)
		h = v.vector()
		VPSRLD(U8(16), word, h)
		v.xor(word, h, h)
	}
	if split != nil {
		v.sortSplit(h)
	}
	v.store(h, Mem{Base: hashes})
	ADDQ(U32(width*v.lanes()), keys)
	ADDQ(U8(4*v.lanes()), hashes)
	countDown(n, "vector")
	returnLeft(nil, v.lanes())
}

// splitter returns a function that splits two vectors of pairs of words into a vector of
// the first words and a vector of the second words. sortSplit restores the order of the
// pairs in a vector.

func (v *avx512) splitter() func(a, b reg.VecVirtual) {
	even, odd := ZMM(), ZMM()
	VMOVDQU32(alternate[0], even)
	VMOVDQU32(alternate[1], odd)
	return func(a, b reg.VecVirtual) {
		second := ZMM()
		VMOVDQA32(odd, second)
		VPERMI2D(b, a, second)
		VPERMT2D(b, even, a)
		VMOVDQA32(second, b)
	}
}

func (v *avx512) sortSplit(reg.VecVirtual) {}

// alternate has the numbers 0, 2, … and 1, 3, … for 16 lanes.
var alternate = [2]Mem{everySecond(0), everySecond(1)}

func everySecond(first int) Mem {
	return words(fmt.Sprintf("alternate%d", first), 16, func(i int) uint32 { return uint32(first + 2*i) })
}

func (v *avx2) splitter() func(a, b reg.VecVirtual) {
	return func(a, b reg.VecVirtual) {
		first := YMM()
		VSHUFPS(U8(0x88), b, a, first)
		VSHUFPS(U8(0xdd), b, a, b)
		VMOVDQA(first, a)
	}
}

// sortSplit restores the order of the pairs. AVX2 splits each half of 128 bits alone, so
// the lanes are the pairs 0, 1, 4, 5, 2, 3, 6 and 7.
func (v *avx2) sortSplit(h reg.VecVirtual) { VPERMQ(U8(0xd8), h, h) }
