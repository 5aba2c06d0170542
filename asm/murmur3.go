package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// The constants of murmur3_x64_128: of its blocks, of its end, and what is left of a last byte 1.
var (
	murmurC1, murmurC2 = keyhash.constant("MurmurC1"), keyhash.constant("MurmurC2")

	murmurSums    = [2]uint64{0x52dce729, 0x38495ab5}
	murmurFactors = [2]uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53}

	murmurLowOfOne, murmurHighOfOne = keyhash.constant("MurmurLowOfOne"), keyhash.constant("murmurHighOfOne")
)

// digestWord emits the address to write word i of the hashes h to. For a hash that lacks the second digest, both have one place: the
// first is written last.
func digestWord(h reg.GPVirtual, i int) reg.GPVirtual {
	place := func(i int) Mem {
		return Mem{Base: h, Disp: bloom.offset("hashes." + []string{"h1", "h2", "h3", "h4"}[i])}
	}
	to := valueOf(place(i))
	if i >= 2 {
		TESTQ(to, to)
		CMOVQEQ(place(i-2), to)
	}
	return to
}

// longs are vectors of long words.
type longs []reg.VecVirtual

// murmur3 emits the steps of murmur3_x64_128 with an instruction set. Each step is emitted for several vectors in
// turn: a product takes long.
type murmur3 struct{ vectors }

// scramble emits what a block or a tail makes of its first words, low, and of its second ones.
func (m murmur3) scramble(low, high longs) {
	multiply(m, murmurC1, low...)
	multiply(m, murmurC2, high...)
	rotate(m, 31, low...)
	rotate(m, 33, high...)
	multiply(m, murmurC2, low...)
	multiply(m, murmurC1, high...)
}

// block emits the rest of a block: x and y are the states XORed with the scrambled words, and before is the second
// state before, or nil if it was 0.
func (m murmur3) block(x, y, before reg.VecVirtual) {
	five := func(x reg.VecVirtual, sum uint64) {
		four := m.vector()
		VPSLLQ(U8(2), x, four)
		VPADDQ(four, x, x)
		addConstant(m, sum, x)
	}
	rotate(m, 27, x)
	if before != nil {
		VPADDQ(before, x, x)
	}
	five(x, murmurSums[0])
	rotate(m, 31, y)
	VPADDQ(x, y, y)
	five(y, murmurSums[1])
}

// finish emits the end of digests of vectors of keys, two words each, which are XORed with the lengths of the keys.
func (m murmur3) finish(words ...longs) {
	sums := func() {
		for i := 0; i < len(words); i += 2 {
			for j, x := range words[i] {
				VPADDQ(words[i+1][j], x, x)
				VPADDQ(x, words[i+1][j], words[i+1][j])
			}
		}
	}
	sums()
	all := slices.Concat(words...)
	xorShifted(m, 33, all...)
	for _, c := range murmurFactors {
		multiply(m, c, all...)
		xorShifted(m, 33, all...)
	}
	sums()
}

// murmurWidth emits the hash of keys of 8 or 16 bytes that lie side by side.
func murmurWidth(v vectors, width int) {
	Comment(
		"murmur3_x64_128 of each key, and of the key and a byte 1: they share what the key itself has. A tail of",
		"the byte 1, or of 9 bytes of which it is the last, adds a constant. If there is no h3, nobody wants the second.",
	)
	m := murmur3{v}
	const abreast = 2
	perVector := v.lanes() / 2
	keys, to, n, h := argument("rows"), [4]reg.GPVirtual{}, vectorsOf(abreast*perVector), argument("h")
	for i := range to {
		to[i] = digestWord(h, i)
	}
	load := func(at Mem, k1, k2 reg.VecVirtual) { v.load(at, k1) }
	if width == 16 {
		load = v.loadPairs
	}
	// What a block or a tail and the length are XORed with.
	length := uint64(width)
	lengths := [4]uint64{length, length, (length + 1) ^ murmurLowOfOne, length + 1}
	if width == 8 {
		lengths = [4]uint64{length, length, length + 1, (length + 1) ^ murmurHighOfOne}
	}
	Label("vectors")
	var words [4]longs
	for i := range words {
		words[i] = longs{v.vector(), v.vector()}
	}
	for i := range abreast {
		load(Mem{Base: keys, Disp: i * perVector * width}, words[0][i], words[1][i])
	}
	if width == 16 {
		m.scramble(words[0], words[1])
	} else {
		m.scramble(words[0], nil)
	}
	for i := range abreast {
		if width == 16 {
			m.block(words[0][i], words[1][i], nil)
			copyVector(v, words[1][i], words[3][i])
		} else {
			VPBROADCASTQ(longConstant(lengths[1]), words[1][i])
			VPBROADCASTQ(longConstant(lengths[3]), words[3][i])
		}
		copyVector(v, words[0][i], words[2][i])
	}
	for w, length := range lengths {
		if width == 16 || w%2 == 0 {
			xorConstant(m, length, words[w]...)
		}
	}
	if v.lanes() == 16 {
		m.finish(words[:2]...)
		branch(CMPQ, to[0], to[2], JEQ, "store")
		m.finish(words[2:]...)
	} else {
		m.finish(words[:]...)
	}
	Label("store")
	for _, w := range []int{2, 3, 0, 1} {
		for i, x := range words[w] {
			v.store(x, Mem{Base: to[w], Disp: 8 * i * perVector})
		}
		ADDQ(I32(8*abreast*perVector), to[w])
	}
	ADDQ(U32(abreast*perVector*width), keys)
	countDown(n, "vectors")
	returnLeft(nil, abreast*perVector)
}

// murmurRows has the registers of the kernel for keys of any length while its code is emitted.
type murmurRows struct {
	murmur3
	*keyRows
	lengths, masks      []Mem // of the keys, and of the bytes that are loaded
	columns             [][4]reg.VecVirtual
	state               [2]longs
	tail, scrambled     [2]longs // the words after the last block, as they are and scrambled
	offset, bytes, done Mem      // of the next bytes; bytes that may be hashed until the call ends; bytes of the hashes so far
}

// murmurByRows emits the hash of keys of any length with AVX-512.
func murmurByRows(vectors) {
	Comment(
		"The kernel takes 32 bytes of each of 16 keys at a time, and transposes them. A mask leaves zeros after the",
		"end of a key. For a key without bytes left it reads the stack: a load of a page that is not mapped, with an",
		"empty mask, would take 500 cycles. It ends early at a long key, and when it has hashed enough bytes.",
	)
	const abreast = 2
	v := &avx512{}
	m := &murmurRows{murmur3: murmur3{v}, keyRows: newKeyRows(8*abreast, 64+2*64*abreast), columns: newColumns(abreast)}
	m.ahead = true
	at := Mem{Base: m.frame, Disp: m.headersSize()}
	m.offset, m.bytes, m.done = at, at.Offset(8), at.Offset(16)
	for i := range abreast {
		vector := at.Offset(64 + 2*64*i)
		m.lengths, m.masks = append(m.lengths, vector), append(m.masks, vector.Offset(64))
	}
	for i := range 2 {
		m.state[i], m.tail[i], m.scrambled[i] = newVectors(abreast), newVectors(abreast), newVectors(abreast)
	}
	MOVQ(zeroWord(), m.done)
	MOVQ(U32(most), m.bytes)

	Label("keys")
	m.find(func(bytes reg.GPVirtual) { SUBQ(bytes, m.done) })
	longest := m.start()
	jumpIf(longest, atLeast, long, "end")
	Label("bytes")
	m.loadColumns()
	Label("block")
	m.blocks()
	ADDQ(U8(16), m.offset)
	SUBQ(U8(16), m.bytes)
	more := K()
	VPCMPUQ_BCST(U8(above), m.offset, longest, more)
	branch(KORTESTB, more, more, JZ, "hashed")
	for _, c := range m.columns {
		VMOVDQA64(c[2], c[0])
		VMOVDQA64(c[3], c[1])
	}
	branch(TESTB, U8(16), m.offset, JNZ, "block")
	JMP(LabelRef("bytes"))
	Label("hashed")
	for word, hashes := range m.finishRows() {
		to := digestWord(argument("h"), word^2)
		ADDQ(m.done, to)
		storeLongs(hashes, to)
	}
	SUBQ(I8(-128), m.done)
	branch(SUBQ, U8(8*abreast), m.keyRows.left, JLE, "end")
	branch(CMPQ, m.bytes, U8(0), JGE, "keys")
	m.end()
}

// start emits the first state of the keys of a group, and returns the longest length of each lane.
func (m *murmurRows) start() (longest reg.VecVirtual) {
	lengths := m.keyRows.lengths()
	longest = ZMM()
	VPMAXUQ(lengths[0], lengths[1], longest)
	for i, n := range lengths {
		VMOVDQA64(n, m.lengths[i])
	}
	for _, pair := range [][2]longs{m.state, m.tail, m.scrambled} {
		for _, x := range append(pair[0], pair[1]...) {
			whole(x)(x86.VPXORD(x, x, x))
		}
	}
	MOVQ(zeroWord(), m.offset)
	return longest
}

// loadColumns emits the loads of the next 32 bytes of each key.
func (m *murmurRows) loadColumns() {
	zero, one := m.zero(), broadcastLongAt(m.murmur3, number(1))
	for i, n := range m.lengths {
		left, mask := loaded(n), ZMM()
		VPSUBQ_BCST(m.offset, left, left)
		VPMAXSQ(zero, left, left)
		VPMINSQ_BCST(number(32), left, left)
		VPSLLVQ(left, one, mask)
		VPSUBQ(one, mask, mask)
		VMOVDQA64(mask, m.masks[i])
	}
	m.columnsOf(m.columns, func(header Mem, key int) reg.VecVirtual {
		p, bits, k, z := valueOf(header), GP64(), K(), ZMM()
		ADDQ(m.offset, p)
		MOVL(m.masks[key/8].Offset(key%8*8), bits.As32())
		TESTL(bits.As32(), bits.As32())
		CMOVQEQ(m.frame, p)
		KMOVD(bits.As32(), k)
		whole(z)(x86.VMOVDQU8_Z(Mem{Base: p}, k, z.AsY()))
		return z
	})
}

// blocks emits the next 16 bytes of each key: a block of each key that has 16 or more left, and the tail of
// each shorter one.
func (m *murmurRows) blocks() {
	scrambled := [2]longs{newVectors(len(m.columns)), newVectors(len(m.columns))}
	for i, c := range m.columns {
		for j, x := range scrambled {
			VMOVDQA64(c[j], x[i])
		}
	}
	m.scramble(scrambled[0], scrambled[1])
	for i, c := range m.columns {
		left, full, tail := loaded(m.lengths[i]), K(), K()
		VPSUBQ_BCST(m.offset, left, left)
		VPCMPQ_BCST(U8(atLeast), number(16), left, full)
		VPCMPQ_BCST(U8(above), number(0), left, tail)
		KANDNB(tail, full, tail)
		for j := range 2 {
			VMOVDQA64(c[j], tail, m.tail[j][i])
			VMOVDQA64(scrambled[j][i], tail, m.scrambled[j][i])
			VPXORQ(m.state[j][i], scrambled[j][i], scrambled[j][i])
		}
		m.block(scrambled[0][i], scrambled[1][i], m.state[1][i])
		for j := range 2 {
			VMOVDQA64(scrambled[j][i], full, m.state[j][i])
		}
	}
}

// finishRows emits the end of both digests, and returns the words of the second and the first. The second has a byte 1
// after the key, which may fill a block.
func (m *murmurRows) finishRows() [][]reg.VecVirtual {
	for i, n := range m.lengths {
		for j, x := range m.scrambled {
			VPXORQ(m.state[j][i], x[i], x[i])
			VPXORQ(n, x[i], x[i])
		}
	}
	m.finish(m.scrambled[0], m.scrambled[1])
	second, _ := windowOf("h3")
	branch(CMPQ, second, U8(0), JEQ, "store")
	m.second()
	Label("store")
	return [][]reg.VecVirtual{m.tail[0], m.tail[1], m.scrambled[0], m.scrambled[1]}
}

// second emits the end of the second digest.
func (m *murmurRows) second() {
	for i, n := range m.lengths {
		one, shift := ZMM(), loaded(n)
		VPBROADCASTQ(number(1), one)
		VPANDQ_BCST(number(15), shift, shift)
		VPSLLQ(U8(3), shift, shift)
		for j, tail := range m.tail {
			last := ZMM()
			VPSLLVQ(shift, one, last)
			VPORQ(last, tail[i], tail[i])
			if j == 0 {
				VPSUBQ_BCST(number(64), shift, shift) // no shift by a negative number leaves anything
			}
		}
	}
	m.scramble(m.tail[0], m.tail[1])
	for i, n := range m.lengths {
		after, first, last, full := loaded(n), ZMM(), ZMM(), K()
		VPADDQ_BCST(number(1), after, after)
		VPTESTNMQ_BCST(number(15), after, full)
		for j := range 2 {
			VPXORQ(m.state[j][i], m.tail[j][i], m.tail[j][i])
		}
		VMOVDQA64(m.tail[0][i], first)
		VMOVDQA64(m.tail[1][i], last)
		m.block(first, last, m.state[1][i])
		for j, x := range []reg.VecVirtual{first, last} {
			VMOVDQA64(x, full, m.tail[j][i])
			VPXORQ(after, m.tail[j][i], m.tail[j][i])
		}
	}
	m.finish(m.tail[0], m.tail[1])
}
