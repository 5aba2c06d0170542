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

// hash64 is XXH64 of some vectors of 8 keys, with the seeds 0 and 1, while its
// kernel is emitted. It takes AVX-512: without multiplication of 64 bits, Go is
// faster.
//
// A product takes 15 cycles, and what waits for it waits in the CPU's scheduler,
// which is small. So each step is emitted for all vectors and seeds in turn.
type hash64 struct {
	*avx512
	prime [5]reg.VecVirtual
	h     [][2]reg.VecVirtual // of vector i with seed j

	// Of keys of any lengths: what is not hashed yet.
	zero     reg.GPVirtual // no address
	at, rest []reg.VecVirtual
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

// start returns the hashes of keys of less than 32 bytes before the first one.
func (h *hash64) start(length int) (seeds [2]reg.VecVirtual) {
	for seed := range seeds {
		r := GP64()
		MOVQ(U64(primes[4]+uint64(seed+length)), r)
		seeds[seed] = h.broadcastLong(r)
	}
	return seeds
}

// mixLongs, mixWords and mixBytes take 8, 4 or 1 bytes of each key, in x, into the
// hashes from, where the masks have them, if there are any.
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

// hashes is what mixLongs and the others start from, if not from the start of keys.
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

// hash64Width emits the hash of keys of 4 or 8 bytes that lie side by side, four
// vectors of them at a time and then two.
func hash64Width(width int) {
	TEXT(fmt.Sprintf("hash64Width%dAVX512", width), NOSPLIT, "func(keys *byte, h1, h2 *uint64, vectors int)")
	Comment("XXH64 with the seeds 0 and 1: each lane hashes one key, of which the part without",
		"a seed is computed once.")
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

// hash64Bytes emits the hash of a column of keys.
func hash64Bytes(c column) {
	TEXT("hash64"+c.name+"AVX512", 0, "func("+c.arguments+", h1, h2 *uint64, vectors int) (left int)")
	Comment(
		"XXH64 with the seeds 0 and 1: each lane hashes one key, of which the part without",
		"a seed is computed once. Lanes gather what their key has: stripes of 32 bytes,",
		"then up to three times 8, 4, and bytes, which are the upper ones of the last",
		"four, of a key that has four, and else are loaded one by one. Nothing but the",
		"keys is read. The kernel ends early at a long key, and when the longest keys of",
		"all vectors make up too much: a call must be short.",
	)
	h := newHash64(2)
	locate := c.locate(h.avx512)
	h1, h2, left, bytes, stop := argument("h1"), argument("h2"), argument("vectors"), GP64(), GP64()
	MOVQ(U32(most), bytes)
	h.prepareGather()
	saved := AllocLocal(3 * 64)
	h.zero = GP64()
	XORL(h.zero.As32(), h.zero.As32())
	XORL(stop.As32(), stop.As32())
	address, length := locate("end")

	Label("vector")
	rest := h.widen(length)
	h.at, h.rest = []reg.VecVirtual{ZMM(), ZMM()}, rest[:]
	for i, seeds := range h.h {
		VMOVDQA64(address[i], h.at[i])
		h.store(address[i], saved.Offset(64*i))
		VMOVDQA64(h.prime[4], seeds[0])
		VPADDQ_BCST(number(1), h.prime[4], seeds[1])
	}
	h.store(length, saved.Offset(128))
	Comment("The next keys are located ahead: what waits for the loads of these would keep the",
		"CPU from those.")
	CMPQ(left, U8(1))
	JE(LabelRef("located"))
	nextAddress, nextLength := locate("long_key")
	VMOVDQA64(nextAddress[0], address[0])
	VMOVDQA64(nextAddress[1], address[1])
	VMOVDQA32(nextLength, length)
	Label("located")
	h.stripes(bytes)
	now := ZMM()
	h.load(saved.Offset(128), now)
	for i, n := range h.widen(now) {
		for _, hash := range h.h[i] {
			VPADDQ(n, hash, hash)
		}
	}
	h.longs()
	h.words()
	h.bytes(saved)
	Label("store")
	h.finish(h1, h2)
	DECQ(left)
	JZ(LabelRef("end"))
	TESTQ(stop, stop)
	JNZ(LabelRef("end"))
	TESTQ(bytes, bytes)
	JNS(LabelRef("vector"))
	Label("end")
	Store(left, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("long_key")
	INCQ(stop)
	JMP(LabelRef("located"))
}

// number returns a small number in memory, which instructions broadcast as they load
// it: from a general register, it would take a port that is busy.
func number(n int) Mem { return numbers.Offset(8 * n) }

var numbers Mem

func numbersTable() {
	numbers = GLOBL("numbers", RODATA|NOPTR)
	for n := range 33 {
		DATA(8*n, U64(n))
	}
}

// step takes n bytes off the keys of vector i that the mask has.
func (h *hash64) step(i, n int, mask reg.Register) {
	VPADDQ_BCST(number(n), h.at[i], mask, h.at[i])
	VPSUBQ_BCST(number(n), h.rest[i], mask, h.rest[i])
}

// gatherQuad loads the long words disp bytes from the rest of the keys of vector i,
// in the lanes of the mask: the others are zero.
func (h *hash64) gatherQuad(i, disp int, mask reg.Register) reg.VecVirtual {
	k, x := K(), ZMM()
	KMOVW(mask, k)
	h.clear(h.at[i], x)
	VPGATHERQQ(Mem{Base: h.zero, Index: h.at[i], Scale: 1, Disp: disp}, k, x)
	return x
}

// stripes emits the hash of the whole 32 bytes of keys that have them, one vector
// after the other: both have not registers enough.
func (h *hash64) stripes(bytes reg.GPVirtual) {
	for i := range h.h {
		label := func(name string) string { return fmt.Sprintf("%s_%d", name, i) }
		whole, active := K(), K()
		VPCMPUQ_BCST(U8(5), number(32), h.rest[i], whole)
		KORTESTW(whole, whole)
		JZ(LabelRef(label("no_stripes")))
		KMOVW(whole, active)
		var sums [2][4]reg.VecVirtual
		for seed := range sums {
			for j := range sums[seed] {
				sums[seed][j] = ZMM()
			}
			VPADDQ(h.prime[0], h.prime[1], sums[seed][0])
			VMOVDQA64(h.prime[1], sums[seed][1])
			h.clear(h.prime[0], sums[seed][2])
			VPSUBQ(h.prime[0], sums[seed][2], sums[seed][3])
			for _, sum := range sums[seed] {
				if seed == 1 {
					VPADDQ_BCST(number(1), sum, sum)
				}
			}
		}
		Label(label("stripe"))
		for j := range 4 {
			x := h.gatherQuad(i, 8*j, active)
			VPMULLQ(h.prime[1], x, x)
			for seed := range sums {
				next := ZMM()
				VPADDQ(x, sums[seed][j], next)
				VPROLQ(U8(31), next, next)
				VPMULLQ(h.prime[0], next, active, sums[seed][j])
			}
		}
		h.step(i, 32, active)
		SUBQ(U8(32), bytes)
		VPCMPUQ_BCST(U8(5), number(32), h.rest[i], active)
		KORTESTW(active, active)
		JNZ(LabelRef(label("stripe")))
		for seed := range sums {
			h.merge(sums[seed], h.h[i][seed], whole)
		}
		Label(label("no_stripes"))
	}
}

// merge emits the hash of the sums of stripes.
func (h *hash64) merge(sums [4]reg.VecVirtual, to reg.VecVirtual, mask reg.Register) {
	hash, x := ZMM(), ZMM()
	VPROLQ(U8(1), sums[0], hash)
	for j, turn := range []uint8{7, 12, 18} {
		VPROLQ(U8(turn), sums[j+1], x)
		VPADDQ(x, hash, hash)
	}
	for _, sum := range sums {
		VPMULLQ(h.prime[1], sum, x)
		VPROLQ(U8(31), x, x)
		VPMULLQ(h.prime[0], x, x)
		VPXORQ(x, hash, hash)
		VPMULLQ(h.prime[0], hash, hash)
		VPADDQ(h.prime[3], hash, hash)
	}
	VMOVDQA64(hash, mask, to)
}

// longs emits up to three times 8 bytes of the keys.
func (h *hash64) longs() {
	var active [2]reg.Register
	for i := range active {
		active[i] = K()
	}
	Label("long")
	for i := range active {
		VPCMPUQ_BCST(U8(5), number(8), h.rest[i], active[i])
	}
	KORTESTW(active[0], active[1])
	JZ(LabelRef("word"))
	var x []reg.VecVirtual
	for i := range active {
		x = append(x, h.gatherQuad(i, 0, active[i]))
		h.step(i, 8, active[i])
	}
	h.mixLongs(h.hashes, x, active[:])
	JMP(LabelRef("long"))
}

// words emits 4 bytes of the keys that have them.
func (h *hash64) words() {
	Label("word")
	var x []reg.VecVirtual
	active := []reg.Register{K(), K()}
	for i, mask := range active {
		VPTESTMQ_BCST(number(4), h.rest[i], mask)
	}
	KORTESTW(active[0], active[1])
	JZ(LabelRef("no_word"))
	for i, mask := range active {
		k, word := K(), ZMM()
		KMOVW(mask, k)
		h.clear(h.at[i], word)
		VPGATHERQD(Mem{Base: h.zero, Index: h.at[i], Scale: 1}, k, word.AsY())
		VPMOVZXDQ(word.AsY(), word)
		x = append(x, word)
	}
	h.mixWords(h.hashes, x, active)
	Label("no_word")
}

// bytes emits the last bytes of keys, of which the addresses and lengths are in memory.
func (h *hash64) bytes(located Mem) {
	some := []reg.Register{K(), K()}
	for i, mask := range some {
		VPTESTMQ_BCST(number(3), h.rest[i], mask)
	}
	KORTESTW(some[0], some[1])
	JZ(LabelRef("store"))
	address, length := [2]reg.VecVirtual{ZMM(), ZMM()}, h.vector()
	for i := range address {
		h.load(located.Offset(64*i), address[i])
	}
	h.load(located.Offset(128), length)
	word, _ := lastBytes(h.avx512, address, length, "store")
	low := GP64()
	MOVQ(U32(0xff), low)
	lowByte := h.broadcastLong(low)
	var words, counts [2]reg.VecVirtual
	for i := range words {
		words[i], counts[i] = ZMM(), ZMM()
		half := word.AsY()
		if i == 1 {
			half = YMM()
			VEXTRACTI64X4(U8(1), word, half)
		}
		VPMOVZXDQ(half, words[i])
		VPANDQ_BCST(number(3), h.rest[i], counts[i])
	}
	for range 3 {
		var x []reg.VecVirtual
		var active []reg.Register
		for i := range words {
			mask, b := K(), ZMM()
			VPTESTMQ(counts[i], counts[i], mask)
			VPANDQ(lowByte, words[i], b)
			VPSRLQ(U8(8), words[i], words[i])
			VPSUBQ_BCST(number(1), counts[i], mask, counts[i])
			x, active = append(x, b), append(active, mask)
		}
		h.mixBytes(h.hashes, x, active)
	}
}
