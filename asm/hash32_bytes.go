package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A kernel leaves a key of long bytes or more to Go. A call ends when the longest keys of
// its vectors have most bytes in sum. To hash that many words takes some 30 µs.
var long = int(bloom.constant("longKey"))

const most = 1 << 14

// hash32Any emits the hash of whole vectors of a column of keys.
func hash32Any(v vectors) {
	TEXT("hash32Any"+v.name(), 0, signature("hash32"))
	Comment(
		"Each lane hashes one key. The kernel gathers the next word of each key that has",
		"one, and mixes it into the hash: h = (h + word)·mul, h ^= h>>16. The last one to",
		"three bytes of a key are the upper bytes of its last four. If a key has fewer than",
		"four bytes, the kernel loads them one by one. It reads nothing but the keys. It ends",
		"early at a long key, and when it has hashed enough bytes: a call must not take long.",
		"signs has the highest bits of the last bytes that are signed: all, or none.",
	)
	hashes, left, bytes := argument("hashes"), vectorsOf(v.lanes()), valueOf(U32(most))
	seed := v.broadcast(constant(hash32Seed))
	mul := v.broadcast(constant(hash32Mul))
	v.prepareGather()
	next, rest := locate(v, true)
	minusOne := v.allOnes()

	align()
	Label("vector")
	keys := next()
	address, length := keys.address, keys.words(v)
	h, words, zero, offset := v.vector(), v.vector(), v.vector(), GP64()
	VPMULLD(mul, length, h)
	v.xor(seed, h, h)
	VPSRLD(U8(2), length, words)
	v.xor(seed, seed, zero)
	XORL(offset.As32(), offset.As32())

	Label("word")
	active := greater(v, words, zero)
	v.testAny(active)
	JZ(LabelRef("tail"))
	word := v.vector()
	v.gatherAt(offset, address, active, word)
	mixBytes(v, h, word, mul, 16, active)
	VPADDD(minusOne, words, words)
	ADDQ(U8(4), offset)
	JMP(LabelRef("word"))

	Label("tail")
	SUBQ(offset, bytes)
	word, active = lastBytes(v, address, length, "store")
	signBytes(v, v.broadcast(argument("signs")), word)
	mixBytes(v, h, word, mul, 24, active)

	Label("store")
	v.store(h, Mem{Base: hashes})
	ADDQ(U8(4*v.lanes()), hashes)
	DECQ(left)
	JZ(LabelRef("end"))
	branch(TESTQ, bytes, bytes, JNS, "vector")
	Label("end")
	returnLeft(left, v.lanes())
	rest()
}

// lastBytes emits the loads of the last length%4 bytes of each key. It returns them in
// the words of a vector, and the lanes that have any. If no lane has any, the code jumps
// to none.
func lastBytes(v vectors, address [2]reg.VecVirtual, length reg.VecVirtual, none string) (word reg.VecVirtual, active reg.Register) {
	three, zero, rest := v.broadcast(constant(3)), v.vector(), v.vector()
	v.xor(three, three, zero)
	v.and(three, length, rest)
	active = greater(v, rest, zero)
	v.testAny(active)
	JZ(LabelRef(none))
	whole := greater(v, length, three)
	end := v.widen(length)
	for i := range end {
		VPADDQ(address[i], end[i], end[i])
	}
	offset, word := GP64(), v.vector()
	MOVQ(I32(-4), offset)
	some := v.mask()
	v.both(active, whole, some)
	v.gatherAt(offset, end, some, word)
	Comment("Take the upper length%4 bytes of the last four.")
	shift := v.broadcast(constant(32))
	VPSLLD(U8(3), rest, rest)
	VPSUBD(rest, shift, shift)
	VPSRLVD(shift, word, word)
	short := v.mask()
	v.butNot(active, whole, short)
	v.testAny(short)
	JZ(LabelRef("last_bytes"))
	shortKeys(v, address, length, word)
	Label("last_bytes")
	return word, active
}

// signBytes emits code that takes bytes as signed numbers: a byte with its highest bit is less
// by twice that bit.
func signBytes(v vectors, signs, word reg.VecVirtual) {
	v.and(word, signs, signs)
	VPADDD(signs, signs, signs)
	VPSUBD(signs, word, word)
}

// mixBytes emits code that mixes a word into the hashes of the active lanes.
func mixBytes(v vectors, h, word, mul reg.VecVirtual, shift uint8, active reg.Register) {
	next, shifted := v.vector(), v.vector()
	VPADDD(h, word, next)
	VPMULLD(mul, next, next)
	VPSRLD(U8(shift), next, shifted)
	v.xor(shifted, next, next)
	v.merge(next, active, h)
}

// shortKeys emits code that adds the bytes of keys of one to three bytes to word. The
// lanes of these keys in word are zero.
func shortKeys(v vectors, address [2]reg.VecVirtual, length, word reg.VecVirtual) {
	Comment("Keys of one to three bytes: load the first, the middle and the last byte. They",
		"may be the same byte.")
	addresses, lengths, bytes := AllocLocal(8*v.lanes()), AllocLocal(4*v.lanes()), AllocLocal(4*v.lanes())
	v.store(address[0], addresses)
	v.store(address[1], addresses.Offset(4*v.lanes()))
	v.store(length, lengths)
	lane, n, key, at, b, sum := zeroWord(), GP64(), GP64(), GP64(), GP64(), GP64()
	Label("lane")
	XORL(sum.As32(), sum.As32())
	MOVL(lengths.Idx(lane, 4), n.As32())
	LEAQ(Mem{Base: n, Disp: -1}, at)
	branch(CMPQ, at, U8(3), JAE, "not_short")
	MOVQ(addresses.Idx(lane, 8), key)
	MOVBLZX(Mem{Base: key}, sum.As32())
	place := func() {
		MOVBLZX(Mem{Base: key, Index: at, Scale: 1}, b.As32())
		SHLQ(U8(3), at)
		SHLXQ(at, b, b)
		ORQ(b, sum)
	}
	place()
	MOVQ(n, at)
	SHRQ(U8(1), at)
	place()
	Label("not_short")
	MOVL(sum.As32(), bytes.Idx(lane, 4))
	INCQ(lane)
	branch(CMPQ, lane, U8(v.lanes()), JB, "lane")
	short := v.vector()
	v.load(bytes, short)
	VPADDD(short, word, word)
}
