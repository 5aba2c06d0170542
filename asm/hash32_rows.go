package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// hash32Rows has the registers of hash32RowsAVX512 while its code is emitted.
type hash32Rows struct {
	*keyRows
	length []reg.VecVirtual // bytes that are left of each key
	h      []reg.VecVirtual
	words  [2][8]reg.VecVirtual // 8 words of each key
	offset reg.GPVirtual        // of the bytes that are loaded next

	masks Mem // of the bytes that are left, of each key
	bytes Mem // that may be hashed until the call ends
	signs Mem

	mul, sixteen reg.VecVirtual
}

// hash32ByRows emits the hash of keys of any length with AVX-512.
func hash32ByRows() {
	TEXT("hash32RowsAVX512", 0, signature("hash32Rows"))
	Comment(
		"A group is 32 keys. The kernel loads 32 bytes of each key with a mask of the bytes that it",
		"has, those of 16 keys into 8 vectors, and transposes them: then a vector has one word of 16",
		"keys. The mask leaves zeros after the end of a key, so a key's last one to three bytes are a",
		"word like the others, but for another shift. The kernel reads nothing but the keys. For a key",
		"without bytes it reads the stack: a load of a page that is not mapped, with an empty mask,",
		"would take 500 cycles. It ends early at a long key, and when it has hashed enough bytes: a",
		"call must not take long.",
		"signs has the highest bits of the last bytes that are signed: all, or none.",
	)
	const size = 32
	r := newKeyRows(size, 128+4*size)
	extra := Mem{Base: r.frame, Disp: r.headersSize()}
	h := &hash32Rows{keyRows: r, offset: GP64(), masks: extra.Offset(128), bytes: extra, signs: extra.Offset(8)}
	out := argument("hashes")
	MOVQ(U32(most), h.bytes)
	signs := argument("signs")
	MOVL(signs.As32(), h.signs)
	h.mul, h.sixteen = h.broadcast(constant(hash32Mul)), h.broadcast(constant(16))
	for i := range h.words {
		for j := range h.words[i] {
			h.words[i][j] = ZMM()
		}
	}

	Label("group")
	h.find()
	h.start(h.lengths())
	XORL(h.offset.As32(), h.offset.As32())
	h.setMasks()
	k := [2]reg.OpmaskVirtual{K(), K()}
	for i, n := range h.length {
		VPTESTNMD(n, n, k[i])
	}
	KORTESTW(k[0], k[1])
	JNZ(LabelRef("checked"))
	h.loadRows(false)
	JMP(LabelRef("loaded"))
	Label("chunk")
	h.setMasks()
	Label("checked")
	h.loadRows(true)
	Label("loaded")
	h.mixChunk()
	ADDQ(U8(chunk), h.offset)
	k = [2]reg.OpmaskVirtual{K(), K()}
	for i, n := range h.length {
		VPSUBD_BCST(number(chunk), n, n)
		VPCMPD_BCST(U8(6), number(0), n, k[i])
	}
	KORTESTW(k[0], k[1])
	JNZ(LabelRef("chunk"))

	Label("hashed")
	SUBQ(U8(size), r.left)
	JL(LabelRef("last"))
	for i, h := range h.h {
		VMOVDQU32(h, Mem{Base: out, Disp: 64 * i})
	}
	ADDQ(U32(4*size), out)
	TESTQ(r.left, r.left)
	JZ(LabelRef("end"))
	ADDQ(h.offset, h.offset)
	SUBQ(h.offset, h.bytes)
	JNS(LabelRef("group"))
	JMP(LabelRef("end"))
	Label("last")
	mask := GP64()
	ADDQ(U8(size), r.left)
	MOVQ(I32(-1), mask)
	BZHIQ(r.left, mask, mask)
	for i, h := range h.h {
		k := K()
		if i > 0 {
			SHRQ(U8(16), mask)
		}
		KMOVW(mask.As32(), k)
		VMOVDQU32(h, k, Mem{Base: out, Disp: 64 * i})
	}
	XORL(r.left.As32(), r.left.As32())
	Label("end")
	Store(r.left, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// start emits the first state of the hashes of keys of n bytes, and their lengths as words. It jumps
// to the end at a long key.
func (h *hash32Rows) start(n []reg.VecVirtual) {
	all := h.zero()
	h.length, h.h = make([]reg.VecVirtual, len(n)/2), make([]reg.VecVirtual, len(n)/2)
	for i := range h.length {
		low, high := ZMM(), ZMM()
		VPTERNLOGQ(U8(0xfe), n[2*i], n[2*i+1], all)
		whole(low)(x86.VPMOVQD(n[2*i], low.AsY()))
		whole(high)(x86.VPMOVQD(n[2*i+1], high.AsY()))
		h.length[i] = ZMM()
		VINSERTI64X4(U8(1), high.AsY(), low, h.length[i])
	}
	k := K()
	VPCMPUQ_BCST(U8(5), longLength, all, k)
	KORTESTW(k, k)
	JNZ(LabelRef("end"))
	seed := h.broadcast(constant(hash32Seed))
	for i, n := range h.length {
		h.h[i] = ZMM()
		VPMULLD(h.mul, n, h.h[i])
		VPXORD(seed, h.h[i], h.h[i])
	}
}

// setMasks emits the masks of the bytes that are left in a chunk.
func (h *hash32Rows) setMasks() {
	one, zero := h.broadcast(constant(1)), h.zero()
	for i, n := range h.length {
		m := ZMM()
		VPMAXSD(zero, n, m)
		VPMINSD_BCST(number(chunk), m, m)
		VPSLLVD(m, one, m) // nothing for 32
		VPSUBD(one, m, m)
		VMOVDQA32(m, h.masks.Offset(64*i))
	}
}

// loadRows emits the loads of a chunk of each key. If check is set, a key may have no bytes left. A
// load with an empty mask of a page that is not mapped would take 500 cycles: it reads the stack.
func (h *hash32Rows) loadRows(check bool) {
	load := func(eight reg.GPVirtual, key int) reg.VecVirtual {
		p, k, z := GP64(), K(), ZMM()
		header := h.header(eight, key%8)
		MOVQ(header, p)
		if check {
			ADDQ(h.offset, p)
			CMPQ(header.Offset(8), h.offset) // the mask would tell, too, but later
			CMOVQLE(h.frame, p)
		}
		KMOVD(h.masks.Offset(4*key), k)
		whole(z)(x86.VMOVDQU8_Z(Mem{Base: p}, k, z.AsY()))
		return z
	}
	for i := range h.words {
		var rows [8]reg.VecVirtual
		for half := range 2 {
			eight := h.eight(16*i + 8*half)
			for j := range 4 {
				rows[4*half+j] = load(eight, 16*i+8*half+j)
			}
			for j := range 4 {
				upper := load(eight, 16*i+8*half+4+j)
				row := rows[4*half+j]
				VINSERTI64X4(U8(1), upper.AsY(), row, row)
			}
		}
		for j, w := range transpose512(rows) {
			VMOVDQA32(w, h.words[i][j])
		}
	}
}

// mixChunk emits the steps of the words that are loaded. It ends when no key has bytes left.
func (h *hash32Rows) mixChunk() {
	for j := range chunk / 4 {
		active := []reg.OpmaskVirtual{K(), K()}
		for i, n := range h.length {
			VPCMPD_BCST(U8(6), number(4*j), n, active[i])
		}
		if j > 0 {
			KORTESTW(active[0], active[1])
			JZ(LabelRef("hashed"))
		}
		h.mixWord(j, []reg.VecVirtual{h.words[0][j], h.words[1][j]}, active)
	}
}

// mixWord emits the step of word j of those that are loaded, in the lanes of keys that have bytes
// left then.
func (h *hash32Rows) mixWord(j int, words []reg.VecVirtual, active []reg.OpmaskVirtual) {
	var next []reg.VecVirtual
	var tails []reg.OpmaskVirtual
	for i, n := range h.length {
		next, tails = append(next, ZMM()), append(tails, K())
		VPCMPD_BCST(U8(1), number(4*j+4), n, tails[i])
		VPXORD_BCST(h.signs, words[i], tails[i], words[i])
		VPADDD(words[i], h.h[i], next[i])
		VPSUBD_BCST(h.signs, next[i], tails[i], next[i])
		VPMULLD(h.mul, next[i], next[i])
	}
	for i := range h.length {
		shift := ZMM()
		whole(shift)(x86.VPBLENDMD_BCST(number(24), h.sixteen, tails[i], shift))
		VPSRLVD(shift, next[i], shift)
		VPXORD(shift, next[i], active[i], h.h[i])
	}
}

// transpose512 returns the columns of 16 rows of 8 words. Vector r has, in its halves, the rows
// r and r+4, or from 4 on, r+4 and r+8.
func transpose512(rows [8]reg.VecVirtual) (columns [8]reg.VecVirtual) {
	for i := 0; i < 8; i += 2 {
		low, high := ZMM(), ZMM()
		VPUNPCKLDQ(rows[i+1], rows[i], low)
		VPUNPCKHDQ(rows[i+1], rows[i], high)
		rows[i], rows[i+1] = low, high
	}
	var fours [2][4]reg.VecVirtual
	for f := range fours {
		for i := range 2 {
			a, b := rows[4*f+i], rows[4*f+2+i]
			low, high := ZMM(), ZMM()
			VPUNPCKLQDQ(b, a, low)
			VPUNPCKHQDQ(b, a, high)
			fours[f][2*i], fours[f][2*i+1] = low, high
		}
	}
	for i := range 4 {
		columns[i], columns[i+4] = ZMM(), ZMM()
		VSHUFI64X2(U8(0x88), fours[1][i], fours[0][i], columns[i])
		VSHUFI64X2(U8(0xdd), fours[1][i], fours[0][i], columns[i+4])
	}
	return columns
}
