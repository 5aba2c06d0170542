package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// xxph3Secret is the first 8 bytes of the secret.
const xxph3Secret = 0xbe4ba423396cfeb8

// xxph3Width emits XXPH3 of keys of 4 or 8 bytes that lie side by side, 16 keys at a time. It
// needs the 64-bit product of AVX-512.
func xxph3Width(width int) {
	TEXT(fmt.Sprintf("xxph3Width%dAVX512", width), NOSPLIT, "func(keys *byte, hashes *uint64, vectors int)")
	Comment("XXPH3. Each lane hashes one key.")
	keys, to, n, v := argument("keys"), argument("hashes"), argument("vectors"), &avx512{}
	long := func(c uint64) reg.VecVirtual { return v.broadcastLong(number64(c)) }
	secret, length := long(xxph3Secret), long(uint64(width))
	factors := []reg.VecVirtual{long(0x9e3779b1), long(primes[1]), long(primes[2])}

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
	VZEROUPPER()
	RET()
}
