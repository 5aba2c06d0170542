package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bufferHeader is the size of a slice, which is the header of a buffer.
const bufferHeader = 24

// views has the registers of a kernel for Arrow's views while its code is emitted. It takes 8 views at a time.
type views struct {
	rows, buffers, valid, left reg.GPVirtual
	evens, odds                reg.VecVirtual // the numbers of the first and of the second long words of 8 views
	low, header                reg.VecVirtual

	lengths, places reg.VecVirtual    // of 8 views: the length, and the buffer below the offset
	long            reg.OpmaskVirtual // the views whose keys are in a buffer
}

func newViews() *views {
	v := &views{
		rows: argument("rows"), buffers: argument("buffers"), valid: argument("valid"), left: argument("n"),
		evens: ZMM(), odds: ZMM(), low: ZMM(), header: ZMM(), lengths: ZMM(), places: ZMM(), long: K(),
	}
	VMOVDQU64(headerWords[16][0].numbers, v.evens)
	VMOVDQU64(headerWords[16][1].numbers, v.odds)
	VPBROADCASTQ(longConstant(0xffffffff), v.low)
	VPBROADCASTQ(number(bufferHeader), v.header)
	return v
}

// each emits a loop over 8 views at a time: start, the loads of the views, and body. If all keys are in the views
// themselves, it jumps to the label short, which body emits.
func (v *views) each(start, body func()) {
	Label("eight")
	start()
	first, second, k := ZMM(), ZMM(), K()
	VMOVDQU64(Mem{Base: v.rows}, first)
	VMOVDQU64(Mem{Base: v.rows, Disp: 64}, second)
	KMOVB(v.valid.As32(), k)
	SHRQ(U8(8), v.valid)
	VMOVDQA64(first, v.lengths)
	VPERMT2Q(second, v.evens, v.lengths)
	VPANDQ_Z(v.low, v.lengths, k, v.lengths)
	VPCMPUQ_BCST(U8(above), number(int(bloom.constant("inlineBytes"))), v.lengths, v.long)
	branch(KORTESTB, v.long, v.long, JZ, "short")
	VMOVDQA64(first, v.places)
	VPERMT2Q(second, v.odds, v.places)
	body()
	ADDQ(U32(128), v.rows)
	branch(SUBQ, U8(8), v.left, JNZ, "eight")
}

// gather emits the gathers of a word of the headers of the buffers, for the long views, and the offsets in them.
func (v *views) gather(word int, to reg.VecVirtual) (offsets reg.VecVirtual) {
	index, lanes := ZMM(), K()
	offsets = ZMM()
	VPMULUDQ(v.header, v.places, index)
	VPSRLQ(U8(32), v.places, offsets)
	KMOVW(v.long, lanes)
	VPGATHERQQ(Mem{Base: v.buffers, Index: index, Scale: 1, Disp: 8 * word}, lanes, to)
	return offsets
}

// viewStrings emits a function that writes the Go strings of Arrow's views.
func viewStrings(vectors) {
	v, to := newViews(), argument("strings")
	headers := [2]reg.VecVirtual{ZMM(), ZMM()}
	for i, h := range headers {
		VMOVDQU64(firstHeaders.Offset(64*i), h)
	}
	Comment("The addresses of keys in the views themselves.")
	at, inline, keys := addressOf(Mem{Base: v.rows, Disp: 4}), ZMM(), ZMM()
	VPSLLQ(U8(4), smallNumbers, inline)
	VPADDQ((&avx512{}).broadcastLong(at), inline, inline)
	v.each(func() { VMOVDQA64(inline, keys) }, func() {
		offsets := v.gather(0, keys)
		VPADDQ(offsets, keys, v.long, keys)
		Label("short")
		for i, h := range headers {
			strings := ZMM()
			VMOVDQA64(keys, strings)
			VPERMT2Q(v.lengths, h, strings)
			VMOVDQU64(strings, Mem{Base: to, Disp: 64 * i})
		}
		VPADDQ_BCST(number(128), inline, inline)
		ADDQ(U32(128), to)
	})
	returnVectors()
}

// fitViews emits a function that checks whether the keys of Arrow's views are within their buffers.
func fitViews(vectors) {
	Comment("A key of 2^31 bytes or more is long. Only views whose buffers are there gather their sizes.")
	v, count, sign := newViews(), ZMM(), ZMM()
	VPBROADCASTQ(argument("count"), count)
	VPBROADCASTQ(number64(1<<31), sign)
	v.each(func() {}, func() {
		buffer, negative, negatives, bad, sizes := ZMM(), ZMM(), K(), K(), (&avx512{}).zero()
		VPANDQ(v.low, v.places, buffer)
		VPCMPUQ(U8(5), count, buffer, v.long, bad)
		branch(KORTESTB, bad, bad, JNZ, "end")
		offsets := v.gather(1, sizes)
		VPORQ(offsets, v.lengths, negative)
		VPTESTMQ(sign, negative, v.long, negatives)
		VPADDQ(v.lengths, offsets, offsets)
		VPCMPQ(U8(6), sizes, offsets, v.long, bad)
		branch(KORTESTB, negatives, bad, JNZ, "end")
		Label("short")
	})
	Label("end")
	returnResult(v.left)
}
