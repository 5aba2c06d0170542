package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// xxph3Fours has the registers of xxph3AnyAVX2 while its code is emitted.
type xxph3Fours struct {
	*avx2
	at, stride, three reg.GPVirtual  // the headers of four keys, and the sizes of one and of three
	frame             reg.GPVirtual  // what is on the stack
	low               reg.VecVirtual // the lower half of each lane
	second, last      reg.VecVirtual // the second word of the secret, and the next two in turn
	n, h              reg.VecVirtual // lengths and hashes
}

// xxph3AnyAVX2 emits XXPH3 of keys of 8 to 128 bytes with AVX2.
func xxph3AnyAVX2(vectors) {
	Comment(
		"XXPH3. The kernel takes the first and the last 16 bytes of each key, or the first and the last 8, and",
		"transposes those of four keys: then each long lane hashes one. It reads nothing but the keys. It ends at",
		"four keys with one of less than 8 bytes, or of more than 128.",
	)
	x := &xxph3Fours{avx2: &avx2{}, at: GP64(), stride: GP64(), three: GP64(), n: YMM(), h: YMM(), low: YMM(), second: YMM(), last: YMM()}
	rows, to, left, others := argument("rows"), argument("hashes"), argument("n"), GP64()
	x.frame = stackVectors(96)
	VPCMPEQD(x.low, x.low, x.low)
	VPSRLQ(U8(32), x.low, x.low)
	VPBROADCASTQ(secret.Offset(8), x.second)
	VBROADCASTI128(secret.Offset(16), x.last)
	Comment("This takes the place of bytes that a key does not have: combined with the secret, they are 0.")
	VMOVDQA(x.last, Mem{Base: x.frame})
	MOVQ(U32(16), x.stride)
	CMPQ(parameter("stride"), x.stride)
	CMOVQGT(parameter("stride"), x.stride)
	LEAQ(Mem{Base: x.stride, Index: x.stride, Scale: 2}, x.three)

	Label("four")
	branch(SUBQ, U8(4), left, JL, "end")
	branch(CMPQ, parameter("stride"), U8(16), JL, "offsets")
	MOVQ(rows, x.at)
	LEAQ(Mem{Base: rows, Index: x.stride, Scale: 4}, rows)
	x.lengths()
	Label("measured")
	x.outside(9, 32, others)
	JNZ(LabelRef("others"))
	Label("load")
	a := x.ends()
	branch(TESTL, others.As32(), others.As32(), JNZ, "eights")
	Label("finish")
	endXXPH3(x, x.h)
	VMOVDQU(x.h, Mem{Base: to})
	ADDQ(U8(32), to)
	JMP(LabelRef("four"))

	Label("others")
	x.outside(8, 128, GP64())
	JZ(LabelRef("load"))
	Label("end")
	ADDQ(U8(4), left)
	returnResult(left)
	x.eights(a)
	x.pairs()
	Label("offsets")
	LEAQ(Mem{Base: x.frame, Disp: 32}, x.at)
	VMOVDQA(x.storeHeaders(rows, x.at), x.n)
	JMP(LabelRef("measured"))
}

// outside emits a test for lengths of less than least, or more than most.
func (x *xxph3Fours) outside(least, most int, lanes reg.GPVirtual) {
	under, over := YMM(), YMM()
	VPSUBQ(lanesOf(least), x.n, under) // the sign tells
	VMOVDQU(lanesOf(most), over)
	VPSUBQ(x.n, over, over)
	VPOR(under, over, over)
	VMOVMSKPD(over, lanes.As32())
	TESTL(lanes.As32(), lanes.As32())
}

// lanesOf returns a small number in each lane.
func lanesOf(n int) Mem { return longConstant(uint64(n)) }

// header returns the header of a key: its address and its length.
func (x *xxph3Fours) header(key int) Mem {
	switch key {
	case 0:
		return Mem{Base: x.at}
	case 3:
		return Mem{Base: x.at, Index: x.three, Scale: 1}
	}
	return Mem{Base: x.at, Index: x.stride, Scale: uint8(key)}
}

// load16 emits the load of 16 bytes of a key, or of its header, to its half of one of two vectors: keys 0 and 2
// have the first.
func load16(m Mem, rows [2]reg.VecVirtual, key int) {
	if row := rows[key%2]; key < 2 {
		whole(row)(x86.VMOVDQU(m, row.AsX()))
	} else {
		VINSERTI128(U8(1), m, row, row)
	}
}

// lengths emits the loads of the lengths.
func (x *xxph3Fours) lengths() {
	rows := [2]reg.VecVirtual{YMM(), YMM()}
	for key := range 4 {
		load16(x.header(key), rows, key)
	}
	VPUNPCKHQDQ(rows[1], rows[0], x.n)
}

// secretWords returns the first long words of four keys, and the second, combined with those of the secret.
func secretWords(rows [2]reg.VecVirtual, secret reg.VecVirtual) (a, b reg.VecVirtual) {
	a, b = YMM(), YMM()
	for _, row := range rows {
		VPXOR(secret, row, row)
	}
	VPUNPCKLQDQ(rows[1], rows[0], a)
	VPUNPCKHQDQ(rows[1], rows[0], b)
	return a, b
}

// ends emits the hash of the first and the last 16 bytes, but for the last steps. Of a key of 8 to 16 bytes, the
// first two long words are its first 8 and its last 8 bytes, and the other two are the secret's, from the stack:
// they add nothing. So no load reads more than the key, and none needs a mask. It returns the first long words.
func (x *xxph3Fours) ends() reg.VecVirtual {
	words, last := [2]reg.VecVirtual{YMM(), YMM()}, [2]reg.VecVirtual{YMM(), YMM()}
	for key := range 4 {
		p, n, second, end := valueOf(x.header(key)), valueOf(x.header(key).Offset(8)), GP64(), GP64()
		LEAQ(Mem{Base: n, Disp: -8}, second)
		LEAQ(Mem{Base: p, Index: n, Scale: 1, Disp: -16}, end)
		CMPQ(n, U8(16))
		CMOVQGT(number(8), second)
		CMOVQLE(x.frame, end)
		for i, m := range []Mem{{Base: p}, {Base: p, Index: second, Scale: 1}} {
			word := words[i]
			if key > 0 {
				word = YMM()
			}
			VPBROADCASTQ(m, word)
			if key > 0 {
				VPBLENDD(U8(3<<(2*key)), word, words[i], words[i])
			}
		}
		load16(Mem{Base: end}, last, key)
	}
	a, b := words[0], words[1]
	VPXOR(longConstant(xxph3Secret), a, a)
	VPXOR(x.second, b, b)
	c, d := secretWords(last, x.last)
	big, most := YMM(), YMM()
	VPADDQ(a, b, x.h)
	VPADDQ(x.n, x.h, x.h)
	VMOVDQA(x.n, most)
	multiply(x, primes[0], most)
	VMOVDQU(lanesOf(16), big)
	VPSUBQ(x.n, big, big) // negative for keys of more than 16 bytes
	VBLENDVPD(big, most, x.h, x.h)
	VPADDQ(x.fold(c, d), x.h, x.h)
	VPADDQ(x.fold(a, b), x.h, x.h)
	return a
}

// eights emits the hash of keys of 8 bytes, but for the last steps.
func (x *xxph3Fours) eights(word reg.VecVirtual) {
	Label("eights")
	eight := YMM()
	VPCMPEQQ(lanesOf(8), x.n, eight)
	branch(VPTEST, eight, eight, JZ, "pairs")
	mixXXPH3(x, word, x.n)
	multiply(x, primes[1], word)
	VBLENDVPD(eight, word, x.h, x.h)
}

// fold does what fold of xxph3Rows does.
func (x *xxph3Fours) fold(a, b reg.VecVirtual) reg.VecVirtual {
	upperA, upperB := YMM(), YMM()
	VPSHUFD(U8(0xf5), a, upperA)
	VPSHUFD(U8(0xf5), b, upperB)
	low, other, high := products(a, b, upperA, upperB, x.low)
	VPSLLQ(U8(32), other, other)
	VPBLENDD(U8(0xaa), other, low, low)
	VPXOR(low, high, high)
	return high
}

// pairs emits the hash of bytes 16 to n-17, 16 from both ends at a time. A key of limit bytes or more has those
// from offset on twice, as limit is 2·offset+1. Of a key that has no more, it takes the bytes of the secret, which
// add nothing, from the stack.
func (x *xxph3Fours) pairs() {
	Label("pairs")
	offset, limit, word := GP64(), GP64(), GP64()
	none := [2]reg.GPVirtual{x.frame, GP64()}
	LEAQ(Mem{Base: x.frame, Disp: 16}, none[1])
	MOVQ(U32(16), offset)
	MOVQ(U32(33), limit)
	LEAQ(secret.Offset(32), word)
	Label("pair")
	limits, done := YMM(), GP64()
	whole(limits)(x86.VMOVQ(limit, limits.AsX()))
	VPBROADCASTQ(limits.AsX(), limits)
	VPCMPGTQ(x.n, limits, limits)
	VMOVMSKPD(limits, done.As32())
	branch(CMPL, done.As32(), U8(15), JEQ, "paired")
	both := YMM()
	VMOVDQU(Mem{Base: word}, both)
	VMOVDQA(both, Mem{Base: none[0]})
	ends := [2][2]reg.VecVirtual{{YMM(), YMM()}, {YMM(), YMM()}}
	for key := range 4 {
		at := [2]reg.GPVirtual{GP64(), GP64()}
		n := GP64()
		MOVQ(x.header(key), at[0])
		MOVQ(x.header(key).Offset(8), n)
		LEAQ(Mem{Base: at[0], Index: n, Scale: 1, Disp: -16}, at[1])
		ADDQ(offset, at[0])
		SUBQ(offset, at[1])
		CMPQ(n, limit)
		for i, p := range at {
			CMOVQLT(none[i], p)
			load16(Mem{Base: p}, ends[i], key)
		}
	}
	for i, rows := range ends {
		part := YMM()
		VBROADCASTI128(Mem{Base: none[i]}, part)
		VPADDQ(x.fold(secretWords(rows, part)), x.h, x.h)
	}
	ADDQ(U8(32), word)
	ADDQ(U8(16), offset)
	ADDQ(U8(32), limit)
	JMP(LabelRef("pair"))
	Label("paired")
	VMOVDQA(x.last, Mem{Base: x.frame})
	JMP(LabelRef("finish"))
}
