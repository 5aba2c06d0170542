package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash64Bytes emits the hash of a column of keys.
func hash64Bytes(c column) {
	TEXT("xxh64"+c.name+"AVX512", 0, signature("xxh64"))
	Comment(
		xxh64Comment,
		"If the next 32 keys have one length,",
		"a multiple of 4 below 32, the kernel hashes 32 keys at a time. Else it hashes 16 at",
		"a time, and each lane gathers the parts that its key has: stripes of 32 bytes, up",
		"to three long words, a word, and up to three bytes. These are the upper bytes of the",
		"key's last four. If a key has fewer than four bytes, the kernel loads them one by",
		"one. It reads nothing but the keys. It ends early at a long key, and when it has",
		"hashed enough bytes: a call must not take long.",
	)
	h := newHash64(4)
	four := h.h
	locate, rest := c.locate(h.avx512, false)
	to, left, bytes := argument("hashes"), vectorsOf(16), GP64()
	MOVQ(U32(most), bytes)
	h.prepareGather()
	h.start = ZMM()
	VPADDQ_BCST(parameter("seed"), h.prime[4], h.start)
	h.zero = GP64()
	XORL(h.zero.As32(), h.zero.As32())
	keys := located{address: h.pair(), lengths: h.pair()}

	Label("start")
	h.assign(keys, locate())
	Label("vector")
	CMPQ(left, U8(2))
	JL(LabelRef("mixed"))
	next := locate()
	n := h.oneLength(keys, next, "mixed")
	h.equal(append(keys.address[:], next.address[:]...), n)
	h.finish(to)
	SUBQ(U8(2), left)
	JNZ(LabelRef("start"))
	JMP(LabelRef("end"))

	Label("mixed")
	keys.jumpIfLong(h.avx512)
	h.h = four[:2]
	h.mixed(keys, bytes)
	h.finish(to)
	h.assign(keys, next)
	DECQ(left)
	JZ(LabelRef("end"))
	TESTQ(bytes, bytes)
	JNS(LabelRef("vector"))
	Label("end")
	storeLeft(left, 16)
	VZEROUPPER()
	RET()
	rest()
}

// hash64Equal emits the hashes with both seeds of 32 keys of one length at a time.
func hash64Equal(c column) {
	TEXT("hash64"+c.name+"AVX512", 0, signature("hash64"))
	Comment(
		xxh64Comment,
		"The kernel gathers each part of 32 keys once for both seeds. It ends at the first keys that do",
		"not have one length, a multiple of 4 below 32. It reads nothing but the keys.",
	)
	h := newHash64(8)
	h.start = h.prime[4]
	locate, rest := c.locate(h.avx512, false)
	h1, h2, left := argument("h1"), argument("h2"), vectorsOf(16)
	h.prepareGather()
	keys := located{address: h.pair(), lengths: h.pair()}
	Label("vectors")
	CMPQ(left, U8(2))
	JL(LabelRef("end"))
	h.assign(keys, locate())
	next := locate()
	n := h.oneLength(keys, next, "end")
	h.equal(append(keys.address[:], next.address[:]...), n)
	h.finish(h1, h2)
	SUBQ(U8(2), left)
	JMP(LabelRef("vectors"))
	Label("end")
	storeLeft(left, 16)
	VZEROUPPER()
	RET()
	rest()
}

func (*hash64) pair() [2]reg.VecVirtual { return [2]reg.VecVirtual{ZMM(), ZMM()} }

func (h *hash64) assign(keys, from located) {
	lengths := from.longs(h.avx512)
	for i := range lengths {
		VMOVDQA64(from.address[i], keys.address[i])
		VMOVDQA64(lengths[i], keys.lengths[i])
	}
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
	KORTESTW(k, k)
	JNZ(LabelRef(not))
	TESTQ(I32(^28), n)
	JNZ(LabelRef(not))
	return n
}

// equal emits the hash of keys that all have n bytes, a multiple of 4 below 32.
func (h *hash64) equal(address []reg.VecVirtual, n reg.GPVirtual) {
	VPBROADCASTQ(n, h.h[0])
	VPADDQ(h.start, h.h[0], h.h[0])
	for i, x := range h.h[1:] {
		if i+1 < len(address) {
			VMOVDQA64(h.h[0], x)
		} else {
			VPADDQ_BCST(number(1), h.h[0], x)
		}
	}
	offset, x := GP64(), make([]reg.VecVirtual, len(address))
	XORL(offset.As32(), offset.As32())

	JMP(LabelRef("equal_rest"))
	Label("equal_long")
	for i := range x {
		x[i] = h.gatherQuad(Mem{Base: offset, Index: address[i], Scale: 1}, h.all)
	}
	h.mixLongs(h.hashes, x, nil)
	ADDQ(U8(8), offset)
	SUBQ(U8(8), n)
	Label("equal_rest")
	CMPQ(n, U8(8))
	JGE(LabelRef("equal_long"))

	TESTQ(n, n)
	JZ(LabelRef("equal_end"))
	for i := range x {
		x[i] = h.gatherWord(Mem{Base: offset, Index: address[i], Scale: 1}, h.all)
	}
	h.mixWords(h.hashes, x, nil)
	Label("equal_end")
}

// mixed emits the hash of two vectors of keys of any length. It subtracts the stripes
// from bytes; their other parts are below 32 bytes a key, so the window bounds them.
// Addresses and lengths go to the stack: there are not enough registers to keep them.
func (h *hash64) mixed(keys located, bytes reg.GPVirtual) {
	addresses, lengths := AllocLocal(128), AllocLocal(128)
	for i, x := range h.h {
		h.at[i], h.rest[i] = ZMM(), ZMM()
		VMOVDQA64(keys.address[i], h.at[i])
		VMOVDQA64(keys.lengths[i], h.rest[i])
		h.store(h.at[i], addresses.Offset(64*i))
		h.store(h.rest[i], lengths.Offset(64*i))
		VMOVDQA64(h.start, x)
	}
	h.stripes(bytes)
	for i, x := range h.h {
		VPADDQ(lengths.Offset(64*i), x, x)
	}
	h.longs()
	h.words()
	h.bytes(func() located {
		again := located{address: h.pair(), lengths: h.pair()}
		for i := range again.address {
			h.load(addresses.Offset(64*i), again.address[i])
			h.load(lengths.Offset(64*i), again.lengths[i])
		}
		return again
	})
	Label("hashed")
}

// number returns a small number in memory. Instructions broadcast it as they load it. A
// broadcast from a general register would use a busy port.
func number(n int) Mem { return smallNumbers.Offset(8 * n) }

var smallNumbers Mem

func smallNumbersTable() {
	smallNumbers = GLOBL("smallNumbers", RODATA|NOPTR)
	for n := range 130 {
		DATA(8*n, U64(n))
	}
}

// step emits code that moves n bytes ahead in the keys of vector i, in the lanes of the
// mask.
func (h *hash64) step(i, n int, mask reg.Register) {
	VPADDQ_BCST(number(n), h.at[i], mask, h.at[i])
	VPSUBQ_BCST(number(n), h.rest[i], mask, h.rest[i])
}

// left returns the addresses of the bytes that are not hashed yet, in vector i.
func (h *hash64) left(i int) Mem { return Mem{Base: h.zero, Index: h.at[i], Scale: 1} }

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

// stripes emits the hash of the stripes, parts of 32 bytes, of the keys that have any.
// It takes one vector after the other: there are not enough registers for two.
func (h *hash64) stripes(bytes reg.GPVirtual) {
	for i := range h.h {
		label := func(name string) string { return fmt.Sprintf("%s_%d", name, i) }
		whole, active := K(), K()
		VPCMPUQ_BCST(U8(5), number(32), h.rest[i], whole)
		KORTESTW(whole, whole)
		JZ(LabelRef(label("no_stripes")))
		KMOVW(whole, active)
		sums := newVectors(4)
		startSums(sums)
		Label(label("stripe"))
		for j := range 4 {
			x := h.gatherQuad(h.left(i).Offset(8*j), active)
			VPMULLQ(h.prime[1], x, x)
			next := ZMM()
			VPADDQ(x, sums[j], next)
			VPROLQ(U8(31), next, next)
			VPMULLQ(h.prime[0], next, active, sums[j])
		}
		h.step(i, 32, active)
		SUBQ(U8(32), bytes)
		VPCMPUQ_BCST(U8(5), number(32), h.rest[i], active)
		KORTESTW(active, active)
		JNZ(LabelRef(label("stripe")))
		VMOVDQA64(mergeSums(sums), whole, h.h[i])
		Label(label("no_stripes"))
	}
}

// longs emits the hash of up to three long words of the keys that have them.
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
		x = append(x, h.gatherQuad(h.left(i), active[i]))
		h.step(i, 8, active[i])
	}
	h.mixLongs(h.hashes, x, active[:])
	JMP(LabelRef("long"))
}

// words emits the hash of a word of the keys that have one.
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
		x = append(x, h.gatherWord(h.left(i), mask))
	}
	h.mixWords(h.hashes, x, active)
	Label("no_word")
}

// bytes emits the hash of the last bytes of the keys that have any. It calls load to emit
// the loads of addresses and lengths.
func (h *hash64) bytes(load func() located) {
	some := []reg.Register{K(), K()}
	for i, mask := range some {
		VPTESTMQ_BCST(number(3), h.rest[i], mask)
	}
	KORTESTW(some[0], some[1])
	JZ(LabelRef("hashed"))
	keys := load()
	word, _ := lastBytes(h.avx512, keys.address, keys.words(h.avx512), "hashed")
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
