package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions below emit operations on long lanes. Each takes several vectors in turn: a product takes some 15
// cycles, and what waits for it would fill the CPU's scheduler, which is small.

// multiply emits products with a constant. AVX2 has no product of 64 bits, and makes it of three of 32.
func multiply(v vectors, c uint64, xs ...reg.VecVirtual) {
	for _, x := range xs {
		if v.lanes() == 16 {
			VPMULLQ_BCST(longConstant(c), x, x)
			continue
		}
		upper, cross := v.vector(), v.vector()
		VPSHUFD(U8(0xf5), x, upper)
		VPMULUDQ(longConstant(c), upper, upper)
		if c>>32 != 0 {
			VPMULUDQ(longConstant(c>>32), x, cross)
			VPADDQ(cross, upper, upper)
		}
		VPMULUDQ(longConstant(c), x, x)
		VPSLLQ(U8(32), upper, upper)
		VPADDQ(upper, x, x)
	}
}

func rotate(v vectors, by uint64, xs ...reg.VecVirtual) {
	for _, x := range xs {
		if v.lanes() == 16 {
			VPROLQ(U8(by), x, x)
			continue
		}
		right := v.vector()
		VPSRLQ(U8(64-by), x, right)
		VPSLLQ(U8(by), x, x)
		VPOR(right, x, x)
	}
}

// xorShifted emits x ^= x >> by.
func xorShifted(v vectors, by uint64, xs ...reg.VecVirtual) {
	for _, x := range xs {
		right := v.vector()
		VPSRLQ(U8(by), x, right)
		v.xor(right, x, x)
	}
}

func xorConstant(v vectors, c uint64, xs ...reg.VecVirtual) {
	for _, x := range xs {
		if v.lanes() == 16 {
			VPXORQ_BCST(longConstant(c), x, x)
		} else {
			VPXOR(longConstant(c), x, x)
		}
	}
}

func addConstant(v vectors, c uint64, xs ...reg.VecVirtual) {
	for _, x := range xs {
		if v.lanes() == 16 {
			VPADDQ_BCST(longConstant(c), x, x)
		} else {
			VPADDQ(longConstant(c), x, x)
		}
	}
}

// endXXH64 emits the last steps of XXH64.
func endXXH64(v vectors, hashes ...reg.VecVirtual) {
	xorShifted(v, 33, hashes...)
	multiply(v, primes[1], hashes...)
	xorShifted(v, 29, hashes...)
	multiply(v, primes[2], hashes...)
	xorShifted(v, 32, hashes...)
}

// mixXXPH3 emits the hash of keys of 4 to 8 bytes, whose words are combined with the secret, up to the product with the
// second prime. endXXPH3 emits the last steps for keys of up to 128 bytes, after that product.

func mixXXPH3(v vectors, word, length reg.VecVirtual) {
	xorShifted(v, 51, word)
	multiply(v, xxph3Factor, word)
	VPADDQ(length, word, word)
	xorShifted(v, 47, word)
}

func endXXPH3(v vectors, hashes ...reg.VecVirtual) {
	xorShifted(v, 37, hashes...)
	multiply(v, primes[2], hashes...)
	xorShifted(v, 32, hashes...)
}

// longConstants has the constants so far, each in four long lanes.
var longConstants = map[uint64]Mem{}

// longConstant returns a constant in each of four long lanes.
func longConstant(c uint64) Mem {
	if _, ok := longConstants[c]; !ok {
		longConstants[c] = longWords(fmt.Sprintf("longs%016x", c), 4, func(int) uint64 { return c })
	}
	return longConstants[c]
}
