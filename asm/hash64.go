package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The primes of XXH64.
var primes = [5]uint64{
	bloom.constant("prime1"), bloom.constant("prime2"), bloom.constant("prime3"), bloom.constant("prime4"), bloom.constant("prime5"),
}

// xxh64Comment begins the comments of the kernels of XXH64.
const xxh64Comment = "XXH64. Each lane hashes one key."

// hash64 has the registers of a kernel of XXH64 while its code is emitted. The kernel hashes
// some vectors of 8 keys at a time. It needs AVX-512: without a product of 64 bits, Go is
// faster.
//
// A product takes 15 cycles. The instructions that wait for it fill the CPU's scheduler,
// which is small. So each step is emitted for all vectors in turn.
type hash64 struct {
	*avx512
	prime [5]reg.VecVirtual
	h     []reg.VecVirtual // the hashes of some vectors of keys, and perhaps those with the next seed after them

	// For keys of any length: the addresses and the lengths of the bytes that are not
	// hashed yet.
	zero     reg.GPVirtual  // 0, the base of gathers by address
	start    reg.VecVirtual // prime 5 and the seed
	at, rest [2]reg.VecVirtual
}

func newHash64(n int) *hash64 {
	h := &hash64{avx512: &avx512{}, h: newVectors(n)}
	for i, p := range primes {
		r := GP64()
		MOVQ(U64(p), r)
		h.prime[i] = h.broadcastLong(r)
	}
	return h
}

// mixLongs, mixWords and mixBytes emit code that mixes x, the next 8, 4 or 1 bytes of
// each key, into the hashes from. If masks is not nil, it changes only their lanes.
func (h *hash64) mixLongs(from func(i int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
	for _, x := range x {
		VPMULLQ(h.prime[1], x, x)
	}
	for _, x := range x {
		VPROLQ(U8(31), x, x)
	}
	for _, x := range x {
		VPMULLQ(h.prime[0], x, x)
	}
	h.mix(from, x, masks, 27, h.prime[0], h.prime[3])
}

func (h *hash64) mixWords(from func(i int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
	for _, x := range x {
		VPMULLQ(h.prime[0], x, x)
	}
	h.mix(from, x, masks, 23, h.prime[1], h.prime[2])
}

func (h *hash64) mixBytes(from func(i int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
	for _, x := range x {
		VPMULLQ(h.prime[4], x, x)
	}
	h.mix(from, x, masks, 11, h.prime[0], nil)
}

func (h *hash64) mix(from func(i int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register, turn uint8, mul, add reg.Register) {
	next := newVectors(len(h.h))
	for i, next := range next {
		VPXORQ(x[i%len(x)], from(i), next)
	}
	for _, next := range next {
		VPROLQ(U8(turn), next, next)
	}
	last := func(opcode func(...Op), b reg.Register) {
		for i, next := range next {
			if masks == nil {
				opcode(b, next, h.h[i])
			} else {
				opcode(b, next, masks[i], h.h[i])
			}
		}
	}
	if add == nil {
		last(VPMULLQ, mul)
		return
	}
	for _, next := range next {
		VPMULLQ(mul, next, next)
	}
	last(VPADDQ, add)
}

// hashes returns the current hashes, for the argument from of mixLongs and the others.
func (h *hash64) hashes(i int) reg.VecVirtual { return h.h[i] }

// finish emits the last steps and the stores: those of each seed go to a column.
func (h *hash64) finish(to ...reg.GPVirtual) {
	h.avalanche()
	vectors := len(h.h) / len(to)
	for i, x := range h.h {
		VMOVDQU64(x, Mem{Base: to[i/vectors], Disp: 64 * (i % vectors)})
	}
	for _, to := range to {
		ADDQ(U32(64*vectors), to)
	}
}

// avalanche emits the last steps.
func (h *hash64) avalanche() {
	for step, shift := range []uint8{33, 29, 32} {
		for _, x := range h.h {
			shifted := ZMM()
			VPSRLQ(U8(shift), x, shifted)
			VPXORQ(shifted, x, x)
		}
		for _, x := range h.h {
			if step < 2 {
				VPMULLQ(h.prime[step+1], x, x)
			}
		}
	}
}

// hash64Width emits the hash of keys of 4 or 8 bytes that lie side by side. It computes eight
// vectors of hashes at a time, and those of two vectors at the end.
func hash64Width(width int) {
	TEXT(fmt.Sprintf("xxh64Width%dAVX512", width), NOSPLIT, signature("xxh64"))
	Comment(xxh64Comment)
	h := newHash64(8)
	keys, to, n := argument("rows"), argument("hashes"), vectorsOf(16)
	start := ZMM()
	VPADDQ_BCST(parameter("seed"), h.prime[4], start)
	VPADDQ_BCST(number(width), start, start)
	from := func(int) reg.VecVirtual { return start }
	round := func() {
		x := make([]reg.VecVirtual, len(h.h))
		for i := range x {
			x[i] = ZMM()
			if width == 8 {
				VMOVDQU64(Mem{Base: keys, Disp: 64 * i}, x[i])
			} else {
				VPMOVZXDQ(Mem{Base: keys, Disp: 32 * i}, x[i])
			}
		}
		if width == 8 {
			h.mixLongs(from, x, nil)
		} else {
			h.mixWords(from, x, nil)
		}
		ADDQ(U32(8*width*len(x)), keys)
		h.finish(to)
	}
	Label("many")
	CMPQ(n, U8(len(h.h)/2))
	JL(LabelRef("last"))
	round()
	SUBQ(U8(len(h.h)/2), n)
	JMP(LabelRef("many"))
	Label("last")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	h.h = h.h[:2]
	round()
	DECQ(n)
	JMP(LabelRef("last"))
	Label("end")
	storeLeft(nil, 16)
	VZEROUPPER()
	RET()
}
