package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// xxph3Secret is the first 8 bytes of the secret.
var xxph3Secret = keyhash.constant("xxph3Secret0")

// xxph3Factor is the factor of 32 bits.
var xxph3Factor = keyhash.constant("Prime32x1")

// xxph3Words is the 192 bytes that keys are combined with, as words.
var xxph3Words = func() (words [24]uint64) {
	for i, b := range load("../internal/reference").elements("XXPH3Secret") {
		words[i/8] |= b << (i % 8 * 8)
	}
	return words
}()

var secret = longWords("xxph3Words", len(xxph3Words), func(i int) uint64 { return xxph3Words[i] })

// xxph3Stripes emits the sums of the stripes of 64 bytes of a long key.
func xxph3Stripes(vectors) {
	Comment("The product of the halves of a word is one instruction.")
	sums, key, n := argument("sums"), argument("key"), argument("n")
	at, last, tail := GP64(), GP64(), GP64()
	acc := [2]reg.VecVirtual{YMM(), YMM()}
	eachHalf := func(emit func(acc reg.VecVirtual, offset int)) {
		for i, acc := range acc {
			emit(acc, 32*i)
		}
	}
	stripe := func(from Mem) { // secret at
		eachHalf(func(acc reg.VecVirtual, offset int) {
			words, mixed, upper := YMM(), YMM(), YMM()
			VMOVDQU(from.Offset(offset), words)
			VPXOR(Mem{Base: at, Disp: offset}, words, mixed)
			VPSRLQ(U8(32), mixed, upper)
			VPMULUDQ(upper, mixed, mixed)
			VPADDQ(words, acc, acc)
			VPADDQ(mixed, acc, acc)
		})
	}
	prime := YMM()
	VPBROADCASTQ(singleWords.Offset(8*7), prime)
	eachHalf(func(acc reg.VecVirtual, offset int) { VMOVDQU(Mem{Base: sums, Disp: offset}, acc) })
	LEAQ(Mem{Base: key, Index: n, Scale: 1, Disp: -64}, tail)
	first := addressOf(secret)
	MOVQ(first, at)
	LEAQ(secret.Offset(128), last)
	branch(SUBQ, U8(64), n, JL, "tail")
	Label("stripe")
	stripe(Mem{Base: key})
	ADDQ(U8(64), key)
	ADDQ(U8(8), at)
	branch(CMPQ, at, last, JNE, "next")
	eachHalf(func(acc reg.VecVirtual, offset int) {
		upper := YMM()
		VPSRLQ(U8(47), acc, upper)
		VPXOR(upper, acc, acc)
		VPXOR(Mem{Base: last, Disp: offset}, acc, acc)
		VPSRLQ(U8(32), acc, upper)
		VPMULUDQ(prime, acc, acc)
		VPMULUDQ(prime, upper, upper)
		VPSLLQ(U8(32), upper, upper)
		VPADDQ(upper, acc, acc)
	})
	MOVQ(first, at)
	Label("next")
	branch(SUBQ, U8(64), n, JGE, "stripe")
	Label("tail")
	branch(CMPQ, n, I8(-64), JEQ, "end")
	LEAQ(secret.Offset(121), at)
	stripe(Mem{Base: tail})
	Label("end")
	eachHalf(func(acc reg.VecVirtual, offset int) { VMOVDQU(acc, Mem{Base: sums, Disp: offset}) })
	returnVectors()
}

// products returns the sums of the four products of the halves of a and b: the low one, and the two that
// make up the upper half with what is carried. mask has the low 32 bits.
func products(a, b, upperA, upperB, mask reg.VecVirtual) (low, other, high reg.VecVirtual) {
	vector, and := ZMM, func(a, b, to Op) { VPANDQ(a, b, to) }
	if a.Size() == 32 {
		vector, and = YMM, func(a, b, to Op) { VPAND(a, b, to) }
	}
	carry := vector()
	product := func(a, b reg.VecVirtual) reg.VecVirtual {
		p := vector()
		VPMULUDQ(a, b, p)
		return p
	}
	low, middle := product(a, b), product(a, upperB)
	other, high = product(upperA, b), product(upperA, upperB)
	VPSRLQ(U8(32), low, carry)
	VPADDQ(carry, middle, middle)
	and(mask, middle, carry)
	VPADDQ(carry, other, other)
	VPSRLQ(U8(32), middle, middle)
	VPADDQ(middle, high, high)
	VPSRLQ(U8(32), other, carry)
	VPADDQ(carry, high, high)
	return low, other, high
}
