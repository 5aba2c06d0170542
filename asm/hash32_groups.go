package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash32Groups has the registers of hash32AnyAVX2 while its code is emitted. The kernel
// takes 32 keys, a group, at a time.
type hash32Groups struct {
	avx2
	rows, stride reg.GPVirtual // where the headers of the group are
	most         reg.GPVirtual // words that the longest key of the group has left
	offset       reg.GPVirtual // bytes of each key that are in its hash

	lengths Mem // of the keys of the group, as words of 32 bits
	hashes  Mem // the state of the hashes
	words   Mem // the next 8 words of each key: word i of 8 keys is a vector
	tails   Mem // the last length%4 bytes of each key
	out     Mem // where the next hashes go
	next    Mem // where the next offset or key of one width is
	headers Mem // of keys between offsets, and of one width
	nothing Mem // what the loads for a key that has ended read
}

// A kernel leaves a key of long bytes or more to Go. A call ends when the longest keys of
// its vectors have most bytes in sum. To hash that many words takes some 30 µs.
var long = int(bloom.constant("longKey"))

const (
	most = 1 << 14

	group     = 32 // keys
	chunk     = 32 // bytes of a key that are loaded at a time
	groupSize = 4 * group
)

// hash32InGroups emits the hash of keys of any length by AVX2.
func hash32InGroups(vectors) {
	Comment(
		"A group is 32 keys. The kernel loads 32 bytes of each key, those of 8 keys into 8 vectors,",
		"and transposes them: then a vector has one word of 8 keys. A mask leaves out what is past",
		"the end of a key, so that the kernel reads nothing but the keys. Four vectors of hashes take",
		"their words in turn, because a step waits for the product of the step before. The kernel",
		"ends at a long key, and when it has hashed enough bytes.",
	)
	h := &hash32Groups{rows: argument("rows"), stride: argument("stride"), most: GP64(), offset: GP64()}
	h.lengths, h.hashes, h.tails = AllocLocal(groupSize), AllocLocal(groupSize), AllocLocal(groupSize)
	h.words, h.nothing = AllocLocal(chunk*group), AllocLocal(chunk)
	h.out, h.next, h.headers = AllocLocal(8), AllocLocal(8), AllocLocal(16*group)
	left, bytes := vectorsOf(group), GP64()
	MOVQ(argument("hashes"), h.out)
	MOVQ(U32(most), bytes)
	MOVQ(h.rows, h.next)
	sixteen := valueOf(U32(16))
	CMPQ(h.stride, sixteen)
	CMOVQLT(sixteen, h.stride)

	Label("group")
	branch(CMPQ, parameter("stride"), U8(16), JGE, "found")
	h.findOffsets()
	Label("found")
	h.measure()
	XORL(h.offset.As32(), h.offset.As32())
	SHRQ(U8(2), h.most)
	JZ(LabelRef("tails"))
	Label("chunk")
	h.loadChunk()
	h.mixChunk()
	ADDQ(U8(chunk), h.offset)
	branch(TESTQ, h.most, h.most, JNZ, "chunk")
	Label("tails")
	short := h.loadTails()
	h.mixTails()
	SHLQ(U8(2), h.offset) // for the four vectors
	SUBQ(h.offset, bytes)
	next := valueOf(h.stride)
	SHLQ(U8(log2(group)), next)
	ADDQ(next, h.rows)
	DECQ(left)
	JZ(LabelRef("end"))
	branch(TESTQ, bytes, bytes, JNS, "group")
	Label("end")
	returnLeft(left, group)

	short()
}

// eachKey emits a loop over the keys of the group, several in each round. It calls visit with
// the number of the key in the round, its header, and the index of the round's first key.
func (h *hash32Groups) eachKey(label string, perRound int, visit func(i int, header, index reg.GPVirtual)) {
	header, index := valueOf(h.rows), zeroWord()
	Label(label)
	for i := range perRound {
		visit(i, header, index)
		ADDQ(h.stride, header)
	}
	ADDQ(U8(perRound), index)
	branch(CMPQ, index, U8(group), JB, label)
}

// findOffsets emits the headers of a group between offsets, or of one width, 4 keys at a time. Others have headers.
func (h *hash32Groups) findOffsets() {
	next, to, left := valueOf(h.next), addressOf(h.headers), valueOf(U32(group/4))
	Label("offsets")
	h.storeHeaders(next, to)
	ADDQ(U8(64), to)
	countDown(left, "offsets")
	MOVQ(next, h.next)
	LEAQ(h.headers, h.rows)
}

// storeHeaders emits the headers of 4 keys between offsets, or of one width, and returns their lengths.
func (v *avx2) storeHeaders(next, to reg.GPVirtual) reg.VecVirtual {
	at, n := betweenOffsets(v, next, func(m Mem, x reg.VecVirtual) { VMOVDQU(m, x) }, func(m Mem, x reg.VecVirtual) { VPMOVSXDQ(m, x) })
	even, odd := YMM(), YMM()
	VPUNPCKLQDQ(n, at, even)
	VPUNPCKHQDQ(n, at, odd)
	for i, two := range []reg.VecVirtual{even, odd} {
		VMOVDQU(two.AsX(), Mem{Base: to, Disp: 16 * i})
		VEXTRACTI128(U8(1), two, Mem{Base: to, Disp: 16*i + 32})
	}
	return n
}

// measure emits the lengths of the group, the longest of them, and the first state of the
// hashes. It jumps to the end at a long key.
func (h *hash32Groups) measure() {
	all := zeroWord()
	XORL(h.most.As32(), h.most.As32())
	h.eachKey("measure", 4, func(i int, header, index reg.GPVirtual) {
		n := valueOf(Mem{Base: header, Disp: 8})
		ORQ(n, all)
		CMPQ(n, h.most)
		CMOVQHI(n, h.most)
		MOVL(n.As32(), h.lengths.Offset(4*i).Idx(index, 4))
	})
	branch(CMPQ, all, U32(long), JAE, "end")
	seed, mul := h.broadcast(constant(hash32Seed)), h.broadcast(constant(hash32Mul))
	for i := range 4 {
		x := YMM()
		VPMULLD(h.lengths.Offset(32*i), mul, x)
		VPXOR(seed, x, x)
		VMOVDQU(x, h.hashes.Offset(32*i))
	}
}

// loadChunk emits the loads of the next 8 words of each key.
func (h *hash32Groups) loadChunk() {
	lanes, nothing, to := YMM(), addressOf(h.nothing), addressOf(h.words)
	words := valueOf(h.offset)
	SHRQ(U8(2), words)
	VPADDD(ascending, h.broadcast(words), lanes)
	var rows [8]reg.VecVirtual
	h.eachKey("load", 8, func(i int, header, _ reg.GPVirtual) {
		at, need, mask := GP64(), GP64(), YMM()
		VPBROADCASTD(Mem{Base: header, Disp: 8}, mask)
		VPSRLD(U8(2), mask, mask)
		VPCMPGTD(lanes, mask, mask)
		MOVQ(Mem{Base: header}, at)
		ADDQ(h.offset, at)
		LEAQ(Mem{Base: h.offset, Disp: 4}, need)
		CMPQ(need, Mem{Base: header, Disp: 8})
		CMOVQHI(nothing, at)
		rows[i] = YMM()
		VPMASKMOVD(Mem{Base: at}, mask, rows[i])
		if i == 7 {
			for j, column := range transpose(h, rows) {
				VMOVDQU(column, Mem{Base: to, Disp: 32 * j})
			}
			ADDQ(U32(8*32), to)
		}
	})
}

// transpose returns the columns of 8 rows of 8 words. With AVX-512 there are 16 rows: vector r has, in its halves, the
// rows r and r+4, or from 4 on, r+4 and r+8.
func transpose(v vectors, rows [8]reg.VecVirtual) (columns [8]reg.VecVirtual) {
	for i := 0; i < 8; i += 2 { // words 0 0 1 1 and 2 2 3 3 of two rows, in each quarter
		low, high := v.vector(), v.vector()
		VPUNPCKLDQ(rows[i+1], rows[i], low)
		VPUNPCKHDQ(rows[i+1], rows[i], high)
		rows[i], rows[i+1] = low, high
	}
	var fours [2][4]reg.VecVirtual // word i and word i+4 of four rows
	for f := range fours {
		for i := range 2 {
			a, b := rows[4*f+i], rows[4*f+2+i]
			low, high := v.vector(), v.vector()
			VPUNPCKLQDQ(b, a, low)
			VPUNPCKHQDQ(b, a, high)
			fours[f][2*i], fours[f][2*i+1] = low, high
		}
	}
	for i := range 4 {
		columns[i], columns[i+4] = v.vector(), v.vector()
		if v.lanes() == 16 {
			VSHUFI64X2(U8(0x88), fours[1][i], fours[0][i], columns[i])
			VSHUFI64X2(U8(0xdd), fours[1][i], fours[0][i], columns[i+4])
		} else {
			VPERM2I128(U8(0x20), fours[1][i], fours[0][i], columns[i])
			VPERM2I128(U8(0x31), fours[1][i], fours[0][i], columns[i+4])
		}
	}
	return columns
}

// mixChunk emits the steps of the words that are loaded. It ends when no key has words left.
func (h *hash32Groups) mixChunk() {
	mul, step := h.broadcast(constant(hash32Mul)), YMM()
	var state, words [4]reg.VecVirtual
	done := valueOf(h.offset)
	SHRQ(U8(2), done)
	past := h.broadcast(done)
	for i := range state {
		state[i], words[i] = YMM(), YMM()
		VMOVDQU(h.hashes.Offset(32*i), state[i])
		VMOVDQU(h.lengths.Offset(32*i), words[i])
		VPSRLD(U8(2), words[i], words[i])
		VPSUBD(past, words[i], words[i])
	}
	VPXOR(step, step, step)
	minusOne := YMM()
	VPCMPEQD(minusOne, minusOne, minusOne)
	for j := range chunk / 4 {
		for i := range state {
			next, active := YMM(), YMM()
			VPADDD(h.words.Offset(8*32*i+32*j), state[i], next)
			VPCMPGTD(step, words[i], active)
			VPMULLD(mul, next, next)
			shifted := YMM()
			VPSRLD(U8(16), next, shifted)
			VPXOR(shifted, next, next)
			VPBLENDVB(active, next, state[i], state[i])
		}
		DECQ(h.most)
		if j < chunk/4-1 {
			JZ(LabelRef("mixed"))
			VPSUBD(minusOne, step, step)
		}
	}
	Label("mixed")
	for i := range state {
		VMOVDQU(state[i], h.hashes.Offset(32*i))
	}
}

// loadTails emits the loads of the last bytes of each key: the upper length%4 bytes of its last
// four.
func (h *hash32Groups) loadTails() (short func()) {
	var shorts []func()
	h.eachKey("load_tails", 4, func(i int, header, index reg.GPVirtual) {
		n, at, shift, tail := GP64(), valueOf(Mem{Base: header}), GP64(), GP64()
		MOVQ(Mem{Base: header, Disp: 8}, n)
		branch(CMPQ, n, U8(4), JB, labelOf("short", i))
		MOVL(Mem{Base: at, Index: n, Scale: 1, Disp: -4}, tail.As32())
		ANDL(U8(3), n.As32())
		SHLL(U8(3), n.As32())
		MOVL(U32(32), shift.As32())
		SUBL(n.As32(), shift.As32())
		SHRXQ(shift, tail, tail)
		Label(labelOf("tail", i))
		MOVL(tail.As32(), h.tails.Offset(4*i).Idx(index, 4))
		shorts = append(shorts, func() { shortTail(i, n, at, tail) })
	})
	return func() {
		Comment("Keys of fewer than four bytes: the first, the last and the middle byte. They may be",
			"the same byte.")
		for _, emit := range shorts {
			emit()
		}
	}
}

// shortTail emits the load of a key of fewer than four bytes.
func shortTail(i int, n, at, tail reg.GPVirtual) {
	label := labelOf("tail", i)
	Label(labelOf("short", i))
	XORL(tail.As32(), tail.As32())
	branch(TESTQ, n, n, JZ, label)
	MOVBLZX(Mem{Base: at}, tail.As32())
	place := func() {
		b, shift := GP64(), GP64()
		MOVBLZX(Mem{Base: at, Index: n, Scale: 1}, b.As32())
		MOVQ(n, shift)
		SHLQ(U8(3), shift)
		SHLXQ(shift, b, b)
		ORQ(b, tail)
	}
	middle := valueOf(n)
	SHRQ(U8(1), middle)
	DECQ(n)
	place()
	MOVQ(middle, n)
	place()
	JMP(LabelRef(label))
}

// mixTails emits the last step of the keys that have a tail, and stores the hashes.
func (h *hash32Groups) mixTails() {
	to := valueOf(h.out)
	mul, three := h.broadcast(constant(hash32Mul)), h.broadcast(constant(3))
	none, signs := YMM(), h.broadcast(argument("signs"))
	VPXOR(none, none, none)
	for i := range 4 {
		state, next, active, shifted := YMM(), YMM(), YMM(), YMM()
		VMOVDQU(h.hashes.Offset(32*i), state)
		VMOVDQU(h.tails.Offset(32*i), next)
		VPAND(next, signs, shifted)
		VPADDD(shifted, shifted, shifted)
		VPSUBD(shifted, next, next)
		VPADDD(state, next, next)
		VPAND(h.lengths.Offset(32*i), three, active)
		VPCMPGTD(none, active, active)
		VPMULLD(mul, next, next)
		VPSRLD(U8(24), next, shifted)
		VPXOR(shifted, next, next)
		VPBLENDVB(active, next, state, state)
		VMOVDQU(state, Mem{Base: to, Disp: 32 * i})
	}
	ADDQ(U8(groupSize), to)
	MOVQ(to, h.out)
}
