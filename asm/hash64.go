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

// xxh64 names the kernels of XXH64 with some seeds.
type xxh64 struct {
	prefix string   // of the names of its kernels
	seeds  []string // the arguments to write hashes to: those of seed 0, and perhaps of seed 1
}

var (
	oneSeed  = xxh64{"xxh64", []string{"hashes"}}
	twoSeeds = xxh64{"hash64", []string{"h1", "h2"}}
)

// comment describes the seeds.
func (x xxh64) comment() []string {
	if len(x.seeds) == 1 {
		return []string{"XXH64 with the seed 0. Each lane hashes one key."}
	}
	return []string{
		"XXH64 with the seeds 0 and 1. Each lane hashes one key. The steps that do not",
		"depend on the seed are computed once for both.",
	}
}

// hash64 has the registers of a kernel of XXH64 while its code is emitted. The kernel hashes
// some vectors of 8 keys at a time. It needs AVX-512: without a product of 64 bits, Go is
// faster.
//
// A product takes 15 cycles. The instructions that wait for it fill the CPU's scheduler,
// which is small. So each step is emitted for all vectors and seeds in turn.
type hash64 struct {
	*avx512
	xxh64
	prime [5]reg.VecVirtual
	h     [][]reg.VecVirtual // the hash of vector i with seed j

	// For keys of any length: the addresses and the lengths of the bytes that are not
	// hashed yet.
	zero     reg.GPVirtual // 0, the base of gathers by address
	at, rest [2]reg.VecVirtual
}

func newHash64(x xxh64, n int) *hash64 {
	h := &hash64{avx512: &avx512{}, xxh64: x, h: make([][]reg.VecVirtual, n)}
	for i, p := range primes {
		r := GP64()
		MOVQ(U64(p), r)
		h.prime[i] = h.broadcastLong(r)
	}
	for i := range h.h {
		h.h[i] = h.eachSeed()
	}
	return h
}

// eachSeed returns a vector for each seed.
func (h *hash64) eachSeed() []reg.VecVirtual {
	vectors := make([]reg.VecVirtual, len(h.seeds))
	for seed := range vectors {
		vectors[seed] = ZMM()
	}
	return vectors
}

// outputs returns the addresses to write hashes to.
func (h *hash64) outputs() (to []reg.GPVirtual) {
	for _, name := range h.seeds {
		to = append(to, argument(name))
	}
	return to
}

// start returns the initial hashes of keys of one length below 32.
func (h *hash64) start(length int) []reg.VecVirtual {
	seeds := make([]reg.VecVirtual, len(h.seeds))
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
	next := make([][]reg.VecVirtual, len(x))
	for i := range next {
		next[i] = make([]reg.VecVirtual, len(h.seeds))
	}
	each := func(emit func(i, seed int)) {
		for i := range x {
			for seed := range h.seeds {
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
func (h *hash64) finish(to []reg.GPVirtual) {
	h.avalanche()
	for i, seeds := range h.h {
		for seed, x := range seeds {
			VMOVDQU64(x, Mem{Base: to[seed], Disp: 64 * i})
		}
	}
	for _, to := range to {
		ADDQ(U32(64*len(h.h)), to)
	}
}

// avalanche emits the last steps.
func (h *hash64) avalanche() {
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
}

// hash64Width emits the hash of keys of 4 or 8 bytes that lie side by side. It computes eight
// vectors of hashes at a time, and the hashes of two vectors of 8 keys at the end.
func hash64Width(x xxh64, width int) {
	TEXT(fmt.Sprintf("%sWidth%dAVX512", x.prefix, width), NOSPLIT, signature(x.prefix))
	Comment(x.comment()...)
	h := newHash64(x, 8/len(x.seeds))
	keys, to, n := argument("rows"), h.outputs(), vectorsOf(16)
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
