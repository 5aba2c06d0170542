package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// columnsOf emits the loads of a row of four long words of each key, and transposes those of 8 keys
// into columns.
func (r *keyRows) columnsOf(columns [][4]reg.VecVirtual, load func(header Mem, key int) reg.VecVirtual) {
	for i, columns := range columns {
		r.columnsAt(r.eight(8*i), columns, func(m Mem, key int) reg.VecVirtual { return load(m, 8*i+key) })
	}
}

// columnsInTurn is columnsOf for 16 keys, with one load of 8 for both.
func (x *xxph3Rows) columnsInTurn(label string, load func(header Mem, key int) reg.VecVirtual) {
	x.eachEight(label, x.at, func(eight reg.GPVirtual) {
		for j, c := range x.c[1] {
			VMOVDQA64(c, x.c[0][j])
		}
		x.columnsAt(eight, x.c[1], load)
	})
}

func (r *keyRows) columnsAt(eight reg.GPVirtual, columns [4]reg.VecVirtual, load func(header Mem, key int) reg.VecVirtual) {
	var keys [8]reg.VecVirtual
	var rows [4]reg.VecVirtual
	for key := range keys {
		keys[key] = load(r.header(eight, key), key)
		if row := key/4*2 + key%2; key%4 >= 2 {
			rows[row] = ZMM()
			VINSERTI64X4(U8(1), keys[key].AsY(), keys[key-2], rows[row])
		}
	}
	transposeLongs(rows, columns)
}

// transposeLongs emits the transposition of 8 rows of four long words. Row r has two of them, those
// of keys r and r+2, or from 2 on, r+2 and r+4.
func transposeLongs(rows, columns [4]reg.VecVirtual) {
	var both [2][2]reg.VecVirtual
	for i := range 2 {
		both[0][i], both[1][i] = ZMM(), ZMM()
		VPUNPCKLQDQ(rows[2*i+1], rows[2*i], both[0][i])
		VPUNPCKHQDQ(rows[2*i+1], rows[2*i], both[1][i])
	}
	for i, column := range columns {
		x := both[i%2]
		VSHUFI64X2(U8([]uint64{0x88, 0xdd}[i/2]), x[1], x[0], column)
	}
}

func newColumns(vectors int) [][4]reg.VecVirtual {
	c := make([][4]reg.VecVirtual, vectors)
	for i := range c {
		c[i] = [4]reg.VecVirtual(newVectors(4))
	}
	return c
}

// xxph3Rows has the registers of xxph3RowsAVX512 while its code is emitted. It hashes 16 keys, a group,
// at a time.
type xxph3Rows struct {
	*keyRows
	low, least, longest reg.VecVirtual
	odd                 reg.OpmaskVirtual
	n, h                []reg.VecVirtual // lengths and hashes
	c                   [][4]reg.VecVirtual
}

// xxph3ByRows emits XXPH3 of keys of any length up to 128 bytes with AVX-512.
func xxph3ByRows(vectors) {
	Comment(
		"XXPH3. The kernel takes the first and the last 16 bytes of each key, and transposes those",
		"of 8 keys: then a vector has 8 bytes of 8 keys. If a key of a group has less than 8 bytes, it loads",
		"them by masks, and reads the stack for an empty key: a load with an empty mask of a page that",
		"is not mapped would take 500 cycles. It reads nothing but the keys. It ends at a group with a",
		"key of more than 128 bytes.",
	)
	const keys = 16
	r := newKeyRows(keys, 2*16*keys)
	x := &xxph3Rows{keyRows: r, odd: K(), c: newColumns(keys / 8), least: ZMM(), longest: ZMM(), h: newVectors(keys / 8)}
	x.low = x.broadcastLong(number64(0xffffffff))
	KMOVW(constant(0xaaaa).As32(), x.odd)
	to := argument("hashes")

	align()
	Label("group")
	r.find(func(bytes reg.GPVirtual) { SUBQ(bytes, to) })
	x.n = r.lengths()
	VPMINUD(x.n[1], x.n[0], x.least)
	VPMAXUD(x.n[1], x.n[0], x.longest)
	jumpIf(x.longest, atLeast, 129, "end")
	x.loadEnds()
	Label("loaded")
	x.mixRows()
	Label("long")
	endXXPH3(x, x.h...)
	for i, h := range x.h {
		empty := K()
		VPTESTNMQ(x.n[i], x.n[i], empty)
		VPBROADCASTQ(longConstant(keyhash.constant("xxph3Empty")), empty, h)
	}
	storeLongs(x.h, to)
	ADDQ(U32(8*keys), to)
	branch(SUBQ, U8(keys), r.left, JG, "group")
	r.end()
}

// fold returns the two halves of the products of a and b combined. 32 bits of each make a product of
// an instruction. Shuffles and shifts take turns, because they have different ports.
func (x *xxph3Rows) fold(a, b reg.VecVirtual) reg.VecVirtual {
	upperA, upperB := ZMM(), ZMM()
	VPSHUFD(U8(0xf5), a, upperA)
	VPSHUFD(U8(0xf5), b, upperB)
	low, other, high := products(a, b, upperA, upperB, x.low)
	VPSHUFD(U8(0xa0), other, x.odd, low)
	VPXORQ(low, high, high)
	return high
}

// loadEnds emits the loads of the first and the last 16 bytes of each key. Of a key of less than 16
// bytes, the first two long words are its first 8 and its last 8 bytes, and so is the last one. Of a key
// of less than 8 bytes, the first and the last long word begin, or end, with its bytes.
func (x *xxph3Rows) loadEnds() {
	jumpIf(x.least, less, 16, "short")
	x.columnsOf(x.c, func(header Mem, key int) reg.VecVirtual {
		p, q, z := valueOf(header), valueOf(header.Offset(8)), ZMM()
		whole(z)(x86.VMOVDQU64(Mem{Base: p}, z.AsX()))
		VINSERTI32X4(U8(1), Mem{Base: p, Index: q, Scale: 1, Disp: -16}, z.AsY(), z.AsY())
		return z
	})
	JMP(LabelRef("loaded"))
	Label("short")
	jumpIf(x.least, less, 8, "shorter")
	x.columnsInTurn("short_eight", func(header Mem, key int) reg.VecVirtual {
		p, q, at, z := valueOf(header), valueOf(header.Offset(8)), GP64(), ZMM()
		LEAQ(Mem{Base: q, Disp: -8}, at)
		CMPQ(at, U8(8))
		CMOVQGT(number(8), at)
		whole(z)(x86.VMOVQ(Mem{Base: p}, z.AsX()))
		VPINSRQ(U8(1), Mem{Base: p, Index: at, Scale: 1}, z.AsX(), z.AsX())
		LEAQ(Mem{Base: p, Index: q, Scale: 1, Disp: -16}, at)
		CMPQ(q, U8(16))
		CMOVQLT(x.frame, at)
		VINSERTI32X4(U8(1), Mem{Base: at}, z.AsY(), z.AsY())
		return z
	})
	for i, c := range x.c {
		VMOVDQA64(c[1], compare(x.n[i], less, 17), c[3])
	}
	JMP(LabelRef("loaded"))
	Label("shorter")
	masks := addressOf(Mem{Base: x.frame, Disp: x.headersSize()})
	one, sixteen, all := broadcastLongAt(x, number(1)), broadcastLongAt(x, number(16)), broadcastLongAt(x, longConstant(0xffff))
	for i, n := range x.n {
		first, last := ZMM(), ZMM()
		VPMINUQ(sixteen, n, first)
		VPSUBQ(first, sixteen, last)
		VPSLLVQ(last, all, last)
		VMOVDQA64(last, Mem{Base: masks, Disp: 128*i + 64})
		VPSLLVQ(first, one, first)
		VPSUBQ(one, first, first)
		VMOVDQA64(first, Mem{Base: masks, Disp: 128 * i})
	}
	x.columnsInTurn("shorter_eight", func(header Mem, key int) reg.VecVirtual {
		p, q, z, y, k, l := valueOf(header), valueOf(header.Offset(8)), ZMM(), ZMM(), K(), K()
		TESTQ(q, q)
		CMOVQEQ(x.frame, p)
		KMOVW(Mem{Base: masks, Disp: 8 * key}, k)
		KMOVW(Mem{Base: masks, Disp: 8*key + 64}, l)
		whole(z)(x86.VMOVDQU8_Z(Mem{Base: p}, k, z.AsX()))
		whole(y)(x86.VMOVDQU8_Z(Mem{Base: p, Index: q, Scale: 1, Disp: -16}, l, y.AsX()))
		VINSERTI32X4(U8(1), y.AsX(), z.AsY(), z.AsY())
		if key == 7 {
			SUBQ(I8(-128), masks)
		}
		return z
	})
}

// mixRows emits the hash of the first 16 bytes of each key and its last 16, and then of what is
// between them, but for the last steps.
func (x *xxph3Rows) mixRows() {
	jumpUnless(x.longest, atLeast, 9, "pairs_end")
	for i := range x.c {
		c := x.c[i]
		big, a, b, t, u := compare(x.n[i], atLeast, 17), ZMM(), ZMM(), ZMM(), ZMM()
		VPXORQ_BCST(secret, c[0], a)
		whole(b)(x86.VPBLENDMQ(c[1], c[3], big, b))
		VPXORQ_BCST(secret.Offset(8), b, b)
		VPADDQ(a, b, t)
		VPADDQ(x.n[i], t, t)
		VPMULLQ_BCST(prime(1), x.n[i], u)
		VMOVDQA64(u, big, t)
		VPADDQ(x.fold(a, b), t, x.h[i])
	}
	jumpUnless(x.longest, atLeast, 17, "pairs_end")
	for i := range x.c {
		a, b := ZMM(), ZMM()
		VPXORQ_BCST(secret.Offset(16), x.c[i][2], a)
		VPXORQ_BCST(secret.Offset(24), x.c[i][3], b)
		VPADDQ(x.fold(a, b), x.h[i], compare(x.n[i], atLeast, 17), x.h[i])
	}
	x.morePairs()
	Label("pairs_end")
	jumpUnless(x.least, less, 9, "long")
	for i := range x.c {
		word := ZMM()
		whole(word)(x86.VPBLENDMD(x.c[i][3], x.c[i][0], x.odd, word))
		VPXORQ_BCST(secret, word, word)
		mixXXPH3(x, word, x.n[i])
		VPMULLQ_BCST(prime(2), word, compare(x.n[i], less, 9), x.h[i])
	}
	jumpUnless(x.least, less, 4, "long")
	for i := range x.c {
		x.few(i, compare(x.n[i], less, 4))
	}
}

// few emits the hash of keys of up to 3 bytes: the first, the middle and the last byte, and the length.
func (x *xxph3Rows) few(i int, lanes reg.Register) {
	low, a, b, t := ZMM(), ZMM(), ZMM(), ZMM()
	VPSRLQ(U8(24), x.low, low)
	VPANDQ(low, x.c[i][0], a)
	VPSRLQ(U8(1), x.n[i], t)
	VPSLLQ(U8(3), t, t)
	VPSRLVQ(t, x.c[i][0], b)
	VPANDQ(low, b, b)
	VPSLLQ(U8(8), b, b)
	VPORQ(b, a, a)
	VPSRLQ(U8(56), x.c[i][3], b)
	VPSLLQ(U8(16), b, b)
	VPSLLQ(U8(24), x.n[i], t)
	VPTERNLOGQ(U8(0xfe), b, t, a)
	VPXORQ_BCST(secret, a, a)
	VPANDQ(x.low, a, a)
	VPMULLQ_BCST(prime(1), a, lanes, x.h[i])
}

// morePairs emits the hash of bytes 16 to n-17, 16 from both ends at a time. For a key that has no
// more, it reads the stack.
func (x *xxph3Rows) morePairs() {
	offset, limit, word := valueOf(U32(16)), valueOf(U32(33)), addressOf(secret.Offset(32))
	Label("pair")
	limits, k := ZMM(), K()
	VPBROADCASTQ(limit, limits)
	VPCMPUQ(U8(5), limits, x.longest, k)
	branch(KORTESTB, k, k, JZ, "pairs_end")
	for i := range x.c {
		eight, w := x.eight(8*i), [][4]reg.VecVirtual{newColumns(1)[0]}
		x.columnsAt(eight, w[0], func(header Mem, key int) reg.VecVirtual {
			p, q, z := valueOf(header), valueOf(header.Offset(8)), ZMM()
			CMPQ(q, limit)
			CMOVQLT(x.frame, p)
			CMOVQLT(limit, q)
			whole(z)(x86.VMOVDQU64(Mem{Base: p, Index: offset, Scale: 1}, z.AsX()))
			SUBQ(offset, q)
			VINSERTI32X4(U8(1), Mem{Base: p, Index: q, Scale: 1, Disp: -16}, z.AsY(), z.AsY())
			return z
		})
		for j, w := range w[0] {
			VPXORQ_BCST(Mem{Base: word, Disp: 8 * j}, w, w)
		}
		active := K()
		VPCMPUQ(U8(5), limits, x.n[i], active)
		VPADDQ(x.fold(w[0][0], w[0][1]), x.h[i], active, x.h[i])
		VPADDQ(x.fold(w[0][2], w[0][3]), x.h[i], active, x.h[i])
	}
	ADDQ(U8(32), word)
	ADDQ(U8(16), offset)
	ADDQ(U8(32), limit)
	JMP(LabelRef("pair"))
}

var allBits = longConstant(1<<64 - 1)
