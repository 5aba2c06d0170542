package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The primes of XXH64.
var primes = [5]uint64{
	0x9e3779b185ebca87,
	0xc2b2ae3d27d4eb4f,
	0x165667b19e3779f9,
	0x85ebca77c2b2ae63,
	0x27d4eb2f165667c5,
}

// hash64 has the registers of a kernel of XXH64 with the seeds 0 and 1 while its code is
// emitted. The kernel hashes some vectors of 8 keys at a time. It needs AVX-512: without
// a product of 64 bits, Go is faster.
//
// A product takes 15 cycles. The instructions that wait for it fill the CPU's scheduler,
// which is small. So each step is emitted for all vectors and seeds in turn.
type hash64 struct {
	*avx512
	prime [5]reg.VecVirtual
	h     [][2]reg.VecVirtual // the hash of vector i with seed j

	// For keys of any length: the addresses and the lengths of the bytes that are not
	// hashed yet.
	zero     reg.GPVirtual // 0, the base of gathers by address
	at, rest [2]reg.VecVirtual
}

func newHash64(n int) *hash64 {
	h := &hash64{avx512: &avx512{}, h: make([][2]reg.VecVirtual, n)}
	for i, p := range primes {
		r := GP64()
		MOVQ(U64(p), r)
		h.prime[i] = h.broadcastLong(r)
	}
	for i := range h.h {
		h.h[i] = [2]reg.VecVirtual{ZMM(), ZMM()}
	}
	return h
}

// start returns the initial hashes of keys of one length below 32.
func (h *hash64) start(length int) (seeds [2]reg.VecVirtual) {
	for seed := range seeds {
		r := GP64()
		MOVQ(U64(primes[4]+uint64(seed+length)), r)
		seeds[seed] = h.broadcastLong(r)
	}
	return seeds
}

// mixLongs, mixWords and mixBytes emit code that mixes x, the next 8, 4 or 1 bytes of
// each key, into the hashes from. If masks is not nil, it changes only their lanes.
func (h *hash64) mixLongs(from func(i, seed int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
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

func (h *hash64) mixWords(from func(i, seed int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
	for _, x := range x {
		VPMULLQ(h.prime[0], x, x)
	}
	h.mix(from, x, masks, 23, h.prime[1], h.prime[2])
}

func (h *hash64) mixBytes(from func(i, seed int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register) {
	for _, x := range x {
		VPMULLQ(h.prime[4], x, x)
	}
	h.mix(from, x, masks, 11, h.prime[0], nil)
}

func (h *hash64) mix(from func(i, seed int) reg.VecVirtual, x []reg.VecVirtual, masks []reg.Register, turn uint8, mul, add reg.Register) {
	next := make([][2]reg.VecVirtual, len(x))
	each := func(emit func(i, seed int)) {
		for i := range x {
			for seed := range 2 {
				emit(i, seed)
			}
		}
	}
	each(func(i, seed int) {
		next[i][seed] = ZMM()
		VPXORQ(x[i], from(i, seed), next[i][seed])
	})
	each(func(i, seed int) { VPROLQ(U8(turn), next[i][seed], next[i][seed]) })
	last := func(opcode func(...Op), b reg.Register, i, seed int) {
		if masks == nil {
			opcode(b, next[i][seed], h.h[i][seed])
		} else {
			opcode(b, next[i][seed], masks[i], h.h[i][seed])
		}
	}
	if add == nil {
		each(func(i, seed int) { last(VPMULLQ, mul, i, seed) })
		return
	}
	each(func(i, seed int) { VPMULLQ(mul, next[i][seed], next[i][seed]) })
	each(func(i, seed int) { last(VPADDQ, add, i, seed) })
}

// hashes returns the current hashes, for the argument from of mixLongs and the others.
func (h *hash64) hashes(i, seed int) reg.VecVirtual { return h.h[i][seed] }

// finish emits the last steps and the stores.
func (h *hash64) finish(h1, h2 reg.GPVirtual) {
	for step, shift := range []uint8{33, 29, 32} {
		for _, seeds := range h.h {
			for _, x := range seeds {
				shifted := ZMM()
				VPSRLQ(U8(shift), x, shifted)
				VPXORQ(shifted, x, x)
			}
		}
		for _, seeds := range h.h {
			for _, x := range seeds {
				if step < 2 {
					VPMULLQ(h.prime[step+1], x, x)
				}
			}
		}
	}
	for i, seeds := range h.h {
		VMOVDQU64(seeds[0], Mem{Base: h1, Disp: 64 * i})
		VMOVDQU64(seeds[1], Mem{Base: h2, Disp: 64 * i})
	}
	ADDQ(U32(64*len(h.h)), h1)
	ADDQ(U32(64*len(h.h)), h2)
}

// hash64Width emits the hash of keys of 4 or 8 bytes that lie side by side. It takes four
// vectors of 8 keys at a time, and two at the end.
func hash64Width(width int) {
	TEXT(fmt.Sprintf("hash64Width%dAVX512", width), NOSPLIT, "func(keys *byte, h1, h2 *uint64, vectors int)")
	Comment("XXH64 with the seeds 0 and 1. Each lane hashes one key. The steps that do not",
		"depend on the seed are computed once for both.")
	keys, h1, h2, n := argument("keys"), argument("h1"), argument("h2"), argument("vectors")
	h := newHash64(4)
	seeds := h.start(width)
	from := func(_, seed int) reg.VecVirtual { return seeds[seed] }
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
		h.finish(h1, h2)
	}
	Label("two")
	CMPQ(n, U8(2))
	JL(LabelRef("last"))
	round()
	SUBQ(U8(2), n)
	JMP(LabelRef("two"))
	Label("last")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	h.h = h.h[:2]
	round()
	Label("end")
	VZEROUPPER()
	RET()
}
