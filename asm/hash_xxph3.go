package main

import (
	"fmt"

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
	for i, b := range bloom.elements("xxph3Secret") {
		words[i/8] |= b << (i % 8 * 8)
	}
	return words
}()

var secret Mem

func secretTable() {
	secret = GLOBL("xxph3Words", RODATA|NOPTR)
	for i, word := range xxph3Words {
		DATA(8*i, U64(word))
	}
}

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
	first := GP64()
	LEAQ(secret, first)
	MOVQ(first, at)
	LEAQ(secret.Offset(128), last)
	SUBQ(U8(64), n)
	JL(LabelRef("tail"))
	Label("stripe")
	stripe(Mem{Base: key})
	ADDQ(U8(64), key)
	ADDQ(U8(8), at)
	CMPQ(at, last)
	JNE(LabelRef("next"))
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
	SUBQ(U8(64), n)
	JGE(LabelRef("stripe"))
	Label("tail")
	CMPQ(n, I8(-64))
	JEQ(LabelRef("end"))
	LEAQ(secret.Offset(121), at)
	stripe(Mem{Base: tail})
	Label("end")
	eachHalf(func(acc reg.VecVirtual, offset int) { VMOVDQU(acc, Mem{Base: sums, Disp: offset}) })
	VZEROUPPER()
	RET()
}

// xxph3Width emits XXPH3 of keys of 4 or 8 bytes that lie side by side, 16 keys at a time. It
// needs the 64-bit product of AVX-512.
func xxph3Width(width int) {
	TEXT(fmt.Sprintf("xxph3Width%dAVX512", width), NOSPLIT, signature("xxph3"))
	Comment("XXPH3. Each lane hashes one key.")
	keys, to, n, v := argument("rows"), argument("hashes"), vectorsOf(16), &avx512{}
	long := func(c uint64) reg.VecVirtual { return v.broadcastLong(number64(c)) }
	secret, length := long(xxph3Secret), long(uint64(width))
	factors := []reg.VecVirtual{long(xxph3Factor), long(primes[1]), long(primes[2])}

	Label("vector")
	x := []reg.VecVirtual{ZMM(), ZMM()}
	each := func(emit func(x, other reg.VecVirtual)) {
		for _, x := range x {
			emit(x, ZMM())
		}
	}
	shift := func(by uint64) {
		each(func(x, other reg.VecVirtual) {
			VPSRLQ(U8(by), x, other)
			VPXORQ(other, x, x)
		})
	}
	multiply := func(i int) { each(func(x, _ reg.VecVirtual) { VPMULLQ(factors[i], x, x) }) }
	for i, x := range x {
		if width == 8 {
			VMOVDQU64(Mem{Base: keys, Disp: 64 * i}, x)
			continue
		}
		other := ZMM()
		VPMOVZXDQ(Mem{Base: keys, Disp: 32 * i}, x)
		VPSLLQ(U8(32), x, other)
		VPORQ(other, x, x)
	}
	each(func(x, _ reg.VecVirtual) { VPXORQ(secret, x, x) })
	shift(51)
	multiply(0)
	each(func(x, _ reg.VecVirtual) { VPADDQ(length, x, x) })
	shift(47)
	multiply(1)
	shift(37)
	multiply(2)
	shift(32)
	for i, x := range x {
		VMOVDQU64(x, Mem{Base: to, Disp: 64 * i})
	}
	ADDQ(U32(16*width), keys)
	ADDQ(U32(128), to)
	DECQ(n)
	JNZ(LabelRef("vector"))
	storeLeft(nil, 16)
	VZEROUPPER()
	RET()
}
