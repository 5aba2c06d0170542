package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// xxph3Secret is the first 8 bytes of the secret.
var xxph3Secret = bloom.constant("xxph3Secret0")

// xxph3Factor is the factor of 32 bits.
var xxph3Factor = bloom.constant("prime32x1")

// xxph3Words is the 192 bytes that keys are combined with, as words.
var xxph3Words = func() (words [24]uint64) {
	for i, b := range load("../internal/reference").elements("XXPH3Secret") {
		words[i/8] |= b << (i % 8 * 8)
	}
	return words
}()

var secret = longWords("xxph3Words", len(xxph3Words), func(i int) uint64 { return xxph3Words[i] })

// xxph3Stripes emits the sums of the stripes of 64 bytes of a long key.
func xxph3Stripes() {
	TEXT("xxph3StripesAVX2", NOSPLIT, signature("xxph3Stripes"))
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

// xxph3 has the registers of a kernel of XXPH3 for keys of any length up to 128 bytes, while its
// code is emitted. It hashes two vectors of 8 keys at a time.
type xxph3 struct {
	*avx512
	zero       reg.GPVirtual // the base of gathers by address
	low        reg.VecVirtual
	at, end, n [2]reg.VecVirtual // where keys begin and end, and their lengths
	h          [2]reg.VecVirtual
}

// xxph3Any emits the hash of a column of keys, but of integers.
func xxph3Any() {
	TEXT("xxph3AnyAVX512", 0, signature("xxph3"))
	Comment("XXPH3. Each lane hashes one key, and gathers the parts that its key has. The kernel reads",
		"nothing but the keys. It ends at a key of less than 4 bytes, or of more than 128.")
	x := &xxph3{avx512: &avx512{}, zero: GP64()}
	x.low = x.broadcastLong(number64(0xffffffff))
	XORL(x.zero.As32(), x.zero.As32())
	next, rest := locate(x, false)
	to, left := argument("hashes"), vectorsOf(16)

	align()
	Label("vector")
	keys := next()
	x.at, x.n = keys.address, keys.longs(x.avx512)
	x.branch(atLeast, 129, JNZ, "end")
	x.branch(less, 4, JNZ, "end")
	for i := range x.h {
		x.end[i], x.h[i] = ZMM(), ZMM()
		VPADDQ(x.at[i], x.n[i], x.end[i])
		VMOVDQA64(x.n[i], x.h[i])
	}
	x.pairs()
	x.words()
	endXXPH3(x, x.h[:]...)
	for i, h := range x.h {
		VMOVDQU64(h, Mem{Base: to, Disp: 64 * i})
	}
	ADDQ(U32(128), to)
	countDown(left, "vector")
	Label("end")
	returnLeft(left, 16)
	rest()
}

// branch emits a jump that depends on whether the comparison of a length with n holds: JNZ, or JZ.
func (x *xxph3) branch(comparison uint8, n int, jump func(Op), label string) {
	branch(KORTESTW, compare(x.n[0], comparison, n), compare(x.n[1], comparison, n), jump, label)
}

// secretly emits a gather of the words at from, in the lanes of the mask, combined with a word
// of the secret.
func (x *xxph3) secretly(from reg.VecVirtual, offset, word int, mask reg.Register) reg.VecVirtual {
	y := x.gatherQuad(Mem{Base: x.zero, Index: from, Scale: 1, Disp: offset}, mask)
	VPXORQ_BCST(secret.Offset(8*word), y, y)
	return y
}

// pairs emits the hash of keys of 9 to 128 bytes, but for its last steps. The first two words
// are alike in both ways to hash: up to 16 bytes, the second is the last.
func (x *xxph3) pairs() {
	x.branch(atLeast, 9, JZ, "pairs_end")
	for i, h := range x.h {
		some, more, up, second := compare(x.n[i], atLeast, 9), compare(x.n[i], atLeast, 17), K(), ZMM()
		VPMULLQ_BCST(prime(1), x.n[i], more, h)
		VPSUBQ_BCST(number(8), x.end[i], second)
		VPADDQ_BCST(number(8), x.at[i], more, second)
		a, b := x.secretly(x.at[i], 0, 0, some), x.secretly(second, 0, 1, some)
		VPADDQ(x.fold(a, b), h, h)
		KNOTW(more, up)
		VPADDQ(a, h, up, h)
		VPADDQ(b, h, up, h)
	}
	for pair := range 4 {
		x.branch(atLeast, 32*pair+1+16*(1-min(pair, 1)), JZ, "pairs_end")
		for i, h := range x.h {
			active := compare(x.n[i], atLeast, max(17, 32*pair+1))
			if pair > 0 {
				front := x.fold(x.secretly(x.at[i], 16*pair, 4*pair, active), x.secretly(x.at[i], 16*pair+8, 4*pair+1, active))
				VPADDQ(front, h, active, h)
			}
			back := x.fold(x.secretly(x.end[i], -16*pair-16, 4*pair+2, active), x.secretly(x.end[i], -16*pair-8, 4*pair+3, active))
			VPADDQ(back, h, active, h)
		}
	}
	Label("pairs_end")
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

// fold returns the two halves of the products of a and b combined. 32 bits of each make a
// product of an instruction.
func (x *xxph3) fold(a, b reg.VecVirtual) reg.VecVirtual {
	upperA, upperB := ZMM(), ZMM()
	VPSRLQ(U8(32), a, upperA)
	VPSRLQ(U8(32), b, upperB)
	low, other, high := products(a, b, upperA, upperB, x.low)
	VPSLLQ(U8(32), other, other)
	VPANDQ(x.low, low, low)
	VPTERNLOGQ(U8(0x96), low, other, high) // all three combined
	return high
}

// words emits the hash of keys of 4 to 8 bytes, but for its last steps.
func (x *xxph3) words() {
	active := [2]reg.OpmaskVirtual{compare(x.n[0], less, 9), compare(x.n[1], less, 9)}
	branch(KORTESTW, active[0], active[1], JZ, "words_end")
	for i, h := range x.h {
		word := x.gatherWord(Mem{Base: x.zero, Index: x.at[i], Scale: 1}, active[i])
		last := x.gatherWord(Mem{Base: x.zero, Index: x.end[i], Scale: 1, Disp: -4}, active[i])
		VPSLLQ(U8(32), last, last)
		VPORQ(last, word, word)
		VPXORQ_BCST(secret, word, word)
		mixXXPH3(x, word, x.n[i])
		VPMULLQ_BCST(prime(2), word, active[i], h)
	}
	Label("words_end")
}
