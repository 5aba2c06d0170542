package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The primes of XXH64.
var primes = [5]uint64{
	bloom.constant("prime1"), bloom.constant("prime2"), bloom.constant("prime3"), bloom.constant("prime4"), bloom.constant("prime5"),
}

// hash64 has the registers of a kernel of XXH64 of keys of one length, while its code is emitted.
type hash64 struct {
	*avx512
	h []reg.VecVirtual // the hashes of some vectors of keys, and perhaps those with the next seed after them
}

// mixLongs and mixWords emit code that mixes x, the next 8 or 4 bytes of each key, into the hashes.
func (h *hash64) mixLongs(x []reg.VecVirtual) {
	multiply(h, primes[1], x...)
	rotate(h, 31, x...)
	multiply(h, primes[0], x...)
	h.mix(x, 27, primes[0], primes[3])
}

func (h *hash64) mixWords(x []reg.VecVirtual) {
	multiply(h, primes[0], x...)
	h.mix(x, 23, primes[1], primes[2])
}

func (h *hash64) mix(x []reg.VecVirtual, turn, mul, add uint64) {
	for i, hash := range h.h {
		VPXORQ(x[i%len(x)], hash, hash)
	}
	rotate(h, turn, h.h...)
	multiply(h, mul, h.h...)
	addConstant(h, add, h.h...)
}

// finish emits the last steps and the stores: those of each seed go to a column.
func (h *hash64) finish(to ...reg.GPVirtual) {
	endXXH64(h, h.h...)
	vectors := len(h.h) / len(to)
	for i, x := range h.h {
		VMOVDQU64(x, Mem{Base: to[i/vectors], Disp: 64 * (i % vectors)})
	}
	for _, to := range to {
		ADDQ(U32(64*vectors), to)
	}
}

// equalLengths emits the hash of keys of one length, with a seed for each column of hashes.
func equalLengths(name string, vectors int, columns ...string) {
	TEXT(name+"AnyAVX512", 0, signature(name))
	Comment(
		"XXH64. Each lane hashes one key. The kernel gathers each part of 32 keys once for all seeds. It ends at the first keys that do",
		"not have one length, a multiple of 4 below 32. It reads nothing but the keys.",
	)
	h := &hash64{avx512: &avx512{}, h: newVectors(vectors)}
	start := h.broadcastLong(number64(primes[4]))
	if len(columns) == 1 {
		VPADDQ_BCST(parameter("seed"), start, start)
	}
	keys, rest := locate(h, false)
	var to []reg.GPVirtual
	for _, column := range columns {
		to = append(to, argument(column))
	}
	left := vectorsOf(16)
	h.prepareGather()
	align()
	Label("vectors")
	branch(CMPQ, left, U8(2), JL, "end")
	first, second := keys(), keys()
	n := h.oneLength(first, second, "end")
	h.equal(append(first.address[:], second.address[:]...), n, start)
	h.finish(to...)
	SUBQ(U8(2), left)
	JMP(LabelRef("vectors"))
	Label("end")
	returnLeft(left, 16)
	rest()
}

// oneLength returns the common length of all keys. It emits a jump to not, taken if the
// keys have different lengths, or a length that equal does not take.
func (h *hash64) oneLength(a, b located, not string) reg.GPVirtual {
	n, first := GP64(), ZMM()
	VMOVQ(a.lengths[0].AsX(), n)
	VPBROADCASTQ(a.lengths[0].AsX(), first)
	var unequal [2]reg.VecVirtual
	for i, lengths := range [][2]reg.VecVirtual{a.lengths, b.longs(h.avx512)} {
		unequal[i] = ZMM()
		VMOVDQA64(lengths[0], unequal[i])
		VPTERNLOGQ(U8(0x7e), lengths[1], first, unequal[i]) // the bits in which the three differ
	}
	k := K()
	VPORQ(unequal[0], unequal[1], unequal[0])
	VPTESTMQ(unequal[0], unequal[0], k)
	branch(KORTESTW, k, k, JNZ, not)
	branch(TESTQ, I32(^28), n, JNZ, not)
	return n
}

// equal emits the hash of keys that all have n bytes, a multiple of 4 below 32. start is prime 5 and the seed.
func (h *hash64) equal(address []reg.VecVirtual, n reg.GPVirtual, start reg.VecVirtual) {
	VPBROADCASTQ(n, h.h[0])
	VPADDQ(start, h.h[0], h.h[0])
	for i, x := range h.h[1:] {
		if i+1 < len(address) {
			VMOVDQA64(h.h[0], x)
		} else {
			VPADDQ_BCST(number(1), h.h[0], x)
		}
	}
	offset, x := zeroWord(), make([]reg.VecVirtual, len(address))
	JMP(LabelRef("equal_rest"))
	Label("equal_long")
	for i := range x {
		x[i] = h.gatherQuad(Mem{Base: offset, Index: address[i], Scale: 1}, h.all)
	}
	h.mixLongs(x)
	ADDQ(U8(8), offset)
	SUBQ(U8(8), n)
	Label("equal_rest")
	branch(CMPQ, n, U8(8), JGE, "equal_long")

	branch(TESTQ, n, n, JZ, "equal_end")
	for i := range x {
		x[i] = h.gatherWord(Mem{Base: offset, Index: address[i], Scale: 1}, h.all)
	}
	h.mixWords(x)
	Label("equal_end")
}

// number returns a small number in memory. Instructions broadcast it as they load it. A
// broadcast from a general register would use a busy port.
func number(n int) Mem {
	if n > mostSmallNumber {
		return longConstant(uint64(n))
	}
	return smallNumbers.Offset(8 * n)
}

const mostSmallNumber = 33

// smallNumbers has the numbers from 0 on.
var smallNumbers = longWords("smallNumbers", mostSmallNumber+1, func(n int) uint64 { return uint64(n) })

// gatherQuad emits loads of long words in the lanes of the mask. The other lanes are zero.
func (v *avx512) gatherQuad(m Mem, mask reg.Register) reg.VecVirtual {
	k, x := K(), ZMM()
	KMOVW(mask, k)
	v.clear(m.Index.(reg.VecVirtual), x)
	VPGATHERQQ(m, k, x)
	return x
}

// gatherWord is gatherQuad for words.
func (v *avx512) gatherWord(m Mem, mask reg.Register) reg.VecVirtual {
	k, x := K(), ZMM()
	KMOVW(mask, k)
	v.clear(m.Index.(reg.VecVirtual), x)
	VPGATHERQD(m, k, x.AsY())
	VPMOVZXDQ(x.AsY(), x)
	return x
}
