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
	last   []reg.VecVirtual // the products p of the last step: h is p ^ p>>16, or p ^ p>>24 after fewer than 4 bytes
	offset reg.GPVirtual    // of the bytes that are loaded next

	masks Mem // of the bytes that are left, of each key
	words Mem // 8 words of each key: word 0 of all keys, then word 1
	loads Mem // where in masks those of the last 16 keys end
	signs Mem

	mul reg.VecVirtual
}

// hash32ByRows emits the hash of keys of any length with AVX-512.
func hash32ByRows(vectors) {
	Comment(
		"A group is 64 keys. The kernel loads 32 bytes of each key with a mask of the bytes that it",
		"has, those of 16 keys into 8 vectors, and transposes them: then a vector has one word of 16",
		"keys. Four vectors of hashes take their words in turn, because a step waits for the product of",
		"the step before. The mask leaves zeros after the end of a key, so a key's last one to three",
		"bytes are a word like the others, but for another shift. The loads have no mask if all keys have 32",
		"bytes left. If all have 1 to 16, they fill half as many vectors. The kernel reads nothing but the keys.",
		"For a key without bytes it reads the stack: a load of a page that is not mapped, with an empty",
		"mask, would take 500 cycles. It skips 16 keys that have no bytes left in a chunk, so a long key among",
		"short ones costs the loads of 16 keys. It ends at a group with a key of rowsLimit bytes or more.",
		"signs has the highest bits of the last bytes that are signed: all, or none.",
	)
	const size = 64
	r := newKeyRows(size, 128+4*size+chunk*size)
	extra := Mem{Base: r.frame, Disp: r.headersSize()}
	h := &hash32Rows{
		keyRows: r, offset: GP64(),
		signs: extra, loads: extra.Offset(8),
		masks: extra.Offset(128), words: extra.Offset(128 + 4*size),
	}
	out := argument("hashes")
	signs := argument("signs")
	MOVL(signs.As32(), h.signs)
	h.mul = h.broadcast(constant(hash32Mul))

	Label("group")
	h.find(nil)
	h.setLoads()
	h.start(h.lengths())
	XORL(h.offset.As32(), h.offset.As32())
	Label("chunk")
	h.choose()
	h.loadRows("row", masked)
	JMP(LabelRef("loaded"))
	Label("whole")
	h.loadRows("whole_row", plain)
	JMP(LabelRef("loaded"))
	Label("short")
	h.loadShortRows("short_row")
	JMP(LabelRef("loaded"))
	Label("checked")
	h.loadRows("checked_row", checked)
	Label("loaded")
	h.mixChunk()
	ADDQ(U8(chunk), h.offset)
	testEach(h.length, func(n reg.VecVirtual, k reg.OpmaskVirtual) {
		VPSUBD_BCST(number(chunk), n, n)
		VPCMPD_BCST(U8(6), number(0), n, k)
	})
	JNZ(LabelRef("chunk"))

	Label("hashed")
	hashes := h.finish()
	branch(SUBQ, U8(size), r.left, JL, "last")
	for i, h := range hashes {
		VMOVDQU32(h, Mem{Base: out, Disp: 64 * i})
	}
	ADDQ(U32(4*size), out)
	branch(TESTQ, r.left, r.left, JNZ, "group")
	JMP(LabelRef("end"))
	Label("last")
	mask := GP64()
	ADDQ(U8(size), r.left)
	MOVQ(I32(-1), mask)
	BZHIQ(r.left, mask, mask)
	for i, h := range hashes {
		k := K()
		if i > 0 {
			SHRQ(U8(16), mask)
		}
		KMOVW(mask.As32(), k)
		VMOVDQU32(h, k, Mem{Base: out, Disp: 64 * i})
	}
	XORL(r.left.As32(), r.left.As32())
	Label("end")
	returnResult(r.left)
}

// testEach emits a test of each of four vectors, and clears the zero flag if one sets a bit of its mask.
func testEach(vectors []reg.VecVirtual, test func(x reg.VecVirtual, k reg.OpmaskVirtual)) (masks []reg.OpmaskVirtual) {
	for _, x := range vectors {
		masks = append(masks, K())
		test(x, masks[len(masks)-1])
	}
	a, b := K(), K()
	KORW(masks[0], masks[1], a)
	KORW(masks[2], masks[3], b)
	KORTESTW(a, b)
	return masks
}

// start emits the lengths of keys of n bytes as words, and the state before the first word as if a step had
// made it: if h is p ^ p>>16, then p is h ^ h>>16. It jumps to the end at a key that is too long.
func (h *hash32Rows) start(n []reg.VecVirtual) {
	all := h.zero()
	h.length, h.last = make([]reg.VecVirtual, len(n)/2), make([]reg.VecVirtual, len(n)/2)
	for i := range h.length {
		low, high := ZMM(), ZMM()
		VPTERNLOGQ(U8(0xfe), n[2*i], n[2*i+1], all)
		whole(low)(x86.VPMOVQD(n[2*i], low.AsY()))
		whole(high)(x86.VPMOVQD(n[2*i+1], high.AsY()))
		h.length[i] = ZMM()
		VINSERTI64X4(U8(1), high.AsY(), low, h.length[i])
	}
	k := K()
	VPCMPUQ_BCST(U8(5), longConstant(bloom.constant("rowsLimit")), all, k) // a power of 2: the bits of all lengths tell
	branch(KORTESTW, k, k, JNZ, "end")
	seed := h.broadcast(constant(hash32Seed))
	for i, n := range h.length {
		first, shifted := ZMM(), ZMM()
		VPMULLD(h.mul, n, first)
		VPXORD(seed, first, first)
		VPSRLD(U8(16), first, shifted)
		h.last[i] = ZMM()
		VPXORD(shifted, first, h.last[i])
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

// setLoads emits where the loads of a group end: after its last 16 keys, or fewer.
func (h *hash32Rows) setLoads() {
	end, all := addressOf(Mem{Base: h.left, Disp: 15}), GP64()
	ANDQ(I8(-16), end)
	SHLQ(U8(2), end)
	MOVL(U32(4*h.keys), all.As32())
	CMPQ(end, all)
	CMOVQGT(all, end)
	MOVQ(end, h.loads)
}

// choose emits the choice of how a chunk is loaded: plainly if all keys have 32 bytes left, in half as many vectors
// if all have 1 to 16, and with a check if a key has none.
func (h *hash32Rows) choose() {
	least, longest, k := ZMM(), ZMM(), K()
	VPMINSD(h.length[1], h.length[0], least)
	VPMAXSD(h.length[1], h.length[0], longest)
	for _, n := range h.length[2:] {
		VPMINSD(n, least, least)
		VPMAXSD(n, longest, longest)
	}
	jump := func(comparison uint8, n int, lengths reg.VecVirtual, jump func(Op), label string) {
		VPCMPD_BCST(U8(comparison), number(n), lengths, k)
		KORTESTW(k, k)
		jump(LabelRef(label))
	}
	jump(1, chunk, least, JZ, "whole")
	h.setMasks()
	jump(2, 0, least, JNZ, "checked")
	jump(6, chunk/2, longest, JZ, "short")
}

// How a chunk is loaded where keys are not short: all 32 bytes; those that the key has, at least one; those that it
// has, perhaps none.
const (
	plain = iota
	masked
	checked
)

// eachRow emits a loop over 16 keys at a time. It calls body with the addresses of the headers of the first 8 and of
// the other keys, and with the offset of the 16 keys where each key has a word of 4 bytes. If skip is set, from byte
// 128 on it leaves out 16 keys that have no bytes left.
func (h *hash32Rows) eachRow(loop string, skip bool, body func(eights [2]reg.GPVirtual, sixteen reg.GPVirtual)) {
	sixteen, eights := zeroWord(), [2]reg.GPVirtual{GP64(), GP64()}
	MOVQ(h.at, eights[0])
	Label(loop)
	LEAQ(Mem{Base: eights[0], Index: h.stride[0], Scale: 8}, eights[1])
	if skip {
		CMPQ(h.offset, U32(128)) // of shorter keys, the branch would be mispredicted too often
		JL(LabelRef(loop + "_body"))
		left, k := ZMM(), K()
		VMOVDQA32(h.masks.Idx(sixteen, 1), left)
		VPTESTMD(left, left, k)
		branch(KORTESTW, k, k, JZ, loop+"_next")
		Label(loop + "_body")
	}
	body(eights, sixteen)
	Label(loop + "_next")
	LEAQ(Mem{Base: eights[1], Index: h.stride[0], Scale: 8}, eights[0])
	ADDQ(U8(64), sixteen)
	branch(CMPQ, sixteen, h.loads, JNE, loop)
}

// maskOf emits the load of the mask of a key.
func (h *hash32Rows) maskOf(key int, sixteen reg.GPVirtual) reg.OpmaskVirtual {
	k := K()
	KMOVD(h.masks.Offset(4*key).Idx(sixteen, 1), k)
	return k
}

// loadRows emits the loads of a chunk of each key. A load with an empty mask of a page that is not mapped would
// take 500 cycles: where a key may have no bytes left, it reads the stack.
func (h *hash32Rows) loadRows(loop string, how int) {
	h.eachRow(loop, how == checked, func(eights [2]reg.GPVirtual, sixteen reg.GPVirtual) {
		address := func(key int) Mem {
			p, header := GP64(), h.header(eights[key/8], key%8)
			MOVQ(header, p)
			if how != checked {
				return Mem{Base: p, Index: h.offset, Scale: 1}
			}
			ADDQ(h.offset, p)
			CMPQ(header.Offset(8), h.offset) // the mask would tell, too, but later
			CMOVQLE(h.frame, p)
			return Mem{Base: p}
		}
		load := func(key int) reg.VecVirtual {
			z, at := ZMM(), address(key)
			if how == plain {
				whole(z)(x86.VMOVDQU32(at, z.AsY()))
			} else {
				whole(z)(x86.VMOVDQU8_Z(at, h.maskOf(key, sixteen), z.AsY()))
			}
			return z
		}
		var rows [8]reg.VecVirtual
		for half := range 2 {
			for j := range 4 {
				rows[4*half+j] = load(8*half + j)
			}
			for j := range 4 {
				row := rows[4*half+j]
				if how == plain {
					VINSERTI64X4(U8(1), address(8*half+4+j), row, row)
				} else {
					VINSERTI64X4(U8(1), load(8*half+4+j).AsY(), row, row)
				}
			}
		}
		for j, w := range transpose(h, rows) {
			VMOVDQA32(w, h.word(j).Idx(sixteen, 1))
		}
	})
}

// loadShortRows emits the loads of up to 16 bytes of each key: keys i, i+4, i+8 and i+12 into a vector.
func (h *hash32Rows) loadShortRows(loop string) {
	h.eachRow(loop, false, func(eights [2]reg.GPVirtual, sixteen reg.GPVirtual) {
		load := func(key int) reg.VecVirtual {
			p, z := valueOf(h.header(eights[key/8], key%8)), ZMM()
			whole(z)(x86.VMOVDQU8_Z(Mem{Base: p, Index: h.offset, Scale: 1}, h.maskOf(key, sixteen), z.AsX()))
			return z
		}
		var rows [4]reg.VecVirtual
		for i := range rows {
			var halves [2]reg.VecVirtual
			for j := range halves {
				halves[j] = load(8*j + i)
				VINSERTI32X4(U8(1), load(8*j+i+4).AsX(), halves[j].AsY(), halves[j].AsY())
			}
			rows[i] = halves[0]
			VINSERTI64X4(U8(1), halves[1].AsY(), rows[i], rows[i])
		}
		for i, unpack := range []func(...Op){VPUNPCKLDQ, VPUNPCKHDQ} {
			a, b, even, odd := ZMM(), ZMM(), ZMM(), ZMM()
			unpack(rows[1], rows[0], a)
			unpack(rows[3], rows[2], b)
			VPUNPCKLQDQ(b, a, even)
			VPUNPCKHQDQ(b, a, odd)
			VMOVDQA32(even, h.word(2*i).Idx(sixteen, 1))
			VMOVDQA32(odd, h.word(2*i+1).Idx(sixteen, 1))
		}
	})
}

// word returns where word j of the keys is.
func (h *hash32Rows) word(j int) Mem { return h.words.Offset(4 * h.keys * j) }

// mixChunk emits the steps of the words that are loaded. It ends when no key has bytes left.
func (h *hash32Rows) mixChunk() {
	h.signBytes()
	for j := range chunk / 4 {
		active := testEach(h.length, func(n reg.VecVirtual, k reg.OpmaskVirtual) { VPCMPD_BCST(U8(6), number(4*j), n, k) })
		if j > 0 {
			JZ(LabelRef("hashed"))
		}
		for i, last := range h.last {
			next := ZMM()
			VPSRLD(U8(16), last, next)
			VPXORD(last, next, next)
			VPADDD(h.word(j).Offset(64*i), next, next)
			VPMULLD(h.mul, next, active[i], last)
		}
	}
}

// signBytes emits code that takes the bytes of a last word of fewer than 4 bytes as signed numbers, if they are.
func (h *hash32Rows) signBytes() {
	branch(CMPL, h.signs, U8(0), JEQ, "unsigned")
	words, stop, end := addressOf(h.word(0)), addressOf(h.word(chunk/4)), addressOf(number(4))
	Label("sign")
	for i, n := range h.length {
		at, word, short := Mem{Base: words, Disp: 64 * i}, ZMM(), K()
		VPCMPD_BCST(U8(1), Mem{Base: end}, n, short)
		VMOVDQA32(at, word)
		VPXORD_BCST(h.signs, word, short, word)
		VPSUBD_BCST(h.signs, word, short, word)
		VMOVDQA32(word, at)
	}
	ADDQ(U8(4*8), end) // number(8) and so on
	ADDQ(U32(4*h.keys), words)
	branch(CMPQ, words, stop, JNE, "sign")
	Label("unsigned")
}

// finish emits the last shifts and returns the hashes.
func (h *hash32Rows) finish() (hashes []reg.VecVirtual) {
	for i, last := range h.last {
		short, shifted := K(), ZMM()
		VPTESTMD_BCST(number(3), h.length[i], short)
		VPSRLD(U8(16), last, shifted)
		VPSRLD(U8(24), last, short, shifted)
		VPXORD(last, shifted, shifted)
		hashes = append(hashes, shifted)
	}
	return hashes
}
