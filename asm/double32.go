package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// window is the largest number of hashes in a call.
var window = int(bloom.constant("windowKeys"))

// A stage writes a row: the number of its hashes, and then a bit for each hash.
const rows = 12

var rowSize = 8 + window/8

// double32 has the registers of a kernel while its code is emitted.
type double32 struct {
	vectors

	base         reg.GPVirtual // the first aligned word of 32 bits of the filter
	skip         reg.VecVirtual
	bits, recip  reg.VecVirtual
	shift, bytes reg.VecVirtual
	evens        reg.OpmaskVirtual // lanes 0, 2, …, of AVX-512
	wrap         reg.VecVirtual    // 2^32 mod bits
	probes, done reg.GPVirtual     // the number of probes, and how many are done

	hashes, n reg.GPVirtual // the hashes that are left to test, and their number
	survivors reg.GPVirtual
	firstRow  Mem
	row       reg.GPVirtual // the next row to write

	trims int // the number of trims emitted so far
}

// probeDouble32 emits the test of a window of hashes.
func probeDouble32(v vectors) {
	Comment(
		"Probe i of a hash h tests bit (h + i·rotr(h, 17)) mod bits. The kernel starts with",
		"stages. A stage makes one probe of every hash that is left, writes the outcomes to",
		"a row of bits, and compacts the hashes that pass. When at most vectorKeys hashes are left,",
		"or more than densePer256/256 of them pass a stage, the kernel makes all further probes of",
		"each hash at once, without a branch. At the end it spreads the last outcomes over",
		"the hashes that passed the stage before, and so on back to the first stage. If dense is",
		"set, there is no stage.",
	)
	d := &double32{vectors: v}
	d.prepare()
	branch(CMPB, parameter("dense"), U8(0), JNE, "rest")
	Label("stage")
	branch(CMPQ, d.n, U8(bloom.constant("vectorKeys")), JLE, "rest")
	left, last := valueOf(d.probes), GP64()
	SUBQ(d.done, left)
	branch(CMPQ, left, U8(2), JL, "rest")
	LEAQ(d.firstRow.Offset((rows-1)*rowSize), last)
	branch(CMPQ, d.row, last, JAE, "rest")
	d.stage()
	JMP(LabelRef("stage"))

	Label("rest")
	d.rest()
	d.spread()
	returnVectors()
}

// prepare emits the arguments and constants.
func (d *double32) prepare() {
	s := argument("s")
	d.loadBase(s)
	d.prepareGather()
	d.prepareTest()
	d.loadArray(s)
	d.probes = fieldValue(s, "K")
	hashes, n := windowOf("h32")
	d.hashes, d.n = valueOf(hashes), valueOf(n)
	d.survivors = GP64()
	LEAQ(AllocLocal(4*window+2*64-8).Offset(63), d.survivors)
	ANDQ(I8(-64), d.survivors)
	d.firstRow = AllocLocal(rows*rowSize + 8)
	d.row, d.done = GP64(), GP64()
	LEAQ(d.firstRow, d.row)
	XORL(d.done.As32(), d.done.As32())
}

// loadBase emits the address of the first word and the bits to skip.
func (d *double32) loadBase(prober reg.GPVirtual) {
	Comment("Loads take aligned words, so that none crosses the end of a page of memory. The",
		"bits to skip are those of the first word that lie before the filter.")
	d.base = fieldValue(prober, "Base")
	skip := GP64()
	MOVL(d.base.As32(), skip.As32())
	ANDL(U8(3), skip.As32())
	SHLL(U8(3), skip.As32())
	ANDQ(I8(-4), d.base)
	d.skip = d.broadcast(skip)
}

// loadArray emits the constants of an array.
func (d *double32) loadArray(prober reg.GPVirtual) {
	divisor := Mem{Base: prober, Disp: bloom.offset("prober.divisor")}
	d.bits, d.recip, d.shift = broadcastAt(d, field(prober, "N")), broadcastAt(d, divisor), broadcastAt(d, divisor.Offset(8))
	VPSLLD(U8(3), d.bits, d.bits) // modulo 2^32
	d.bytes = d.broadcast(constant(0xfffffff8))
	if d.abreast() > 1 {
		d.evens = K()
		KMOVW(constant(0x5555).As32(), d.evens)
		last, less := d.broadcast(constant(0xffffffff)), d.vector()
		d.wrap = d.vector()
		d.remainder(last, d.wrap)
		VPSUBD(last, d.wrap, d.wrap) // that of 2^32 - 1, and 1 more
		VPSUBD(d.bits, d.wrap, less)
		VPMINUD(less, d.wrap, d.wrap)
	}
}

// stage emits one probe of all hashes, and moves the hashes that pass to survivors. If
// more than densePer256/256 of them pass, the kernel goes on to rest.
//
// The address of a survivor depends on the outcomes of all hashes before it. While the
// CPU does not know that address, it holds back later loads whose addresses have some
// bits in common with it. By chance, that happens on some pages of a filter; such
// filters took half as long again. So a hash moves some vectors after its probe.
func (d *double32) stage() {
	mask, hash, end, survivor := GP64(), GP64(), GP64(), GP64()
	MOVQ(d.n, Mem{Base: d.row})
	LEAQ(Mem{Base: d.row, Disp: 8}, mask)
	d.clearLast(mask)
	MOVQ(d.hashes, hash)
	LEAQ(Mem{Base: hash, Index: d.n, Scale: 4}, end)
	MOVQ(d.survivors, survivor)
	done := d.broadcast(d.done)
	vector := 4 * d.lanes()
	const behind = 8

	Label("probe")
	d.probe(hash, mask, done)
	start := addressOf(Mem{Base: hash, Disp: -(behind + 1) * vector})
	branch(CMPQ, start, d.hashes, JB, "unmoved")
	d.move(Mem{Base: start}, Mem{Base: mask, Disp: -(behind + 1) * d.lanes() / 8}, survivor)
	Label("unmoved")
	branch(CMPQ, hash, end, JB, "probe")

	d.trim(mask)
	LEAQ(Mem{Base: hash, Disp: -behind * vector}, hash)
	CMPQ(hash, d.hashes)
	CMOVQLT(d.hashes, hash)
	MOVQ(hash, mask)
	SUBQ(d.hashes, mask)
	SHRQ(U8(5), mask)
	LEAQ(Mem{Base: d.row, Index: mask, Scale: 1, Disp: 8}, mask)
	Label("move")
	d.move(Mem{Base: hash}, Mem{Base: mask}, survivor)
	ADDQ(U8(d.lanes()/8), mask)
	ADDQ(U8(vector), hash)
	branch(CMPQ, hash, end, JB, "move")

	limit := GP64()
	IMUL3Q(U32(bloom.constant("densePer256")), d.n, limit)
	MOVQ(d.survivors, d.hashes)
	SUBQ(d.hashes, survivor)
	MOVQ(survivor, d.n)
	SHRQ(U8(2), d.n)
	INCQ(d.done)
	ADDQ(U32(rowSize), d.row)
	SHLQ(U8(6), survivor) // a survivor has 4 bytes: this is 256 times their number
	branch(CMPQ, survivor, limit, JA, "rest")
}

// probe emits probe number done of a vector of hashes, and steps to the next vector.
func (d *double32) probe(hash, mask reg.GPVirtual, done reg.VecVirtual) {
	h, delta, bit := d.vector(), d.vector(), d.vector()
	d.load(Mem{Base: hash}, h)
	branch(TESTQ, d.done, d.done, JZ, "first") // which is the hash itself
	d.rotate17(h, delta)
	VPMULLD(done, delta, delta)
	VPADDD(delta, h, h)
	Label("first")
	d.remainder(h, bit)
	appendMask(d, d.collect(d.test(bit)), mask)
	ADDQ(U8(4*d.lanes()), hash)
}

// move emits the move of the hashes in a vector that passed. Survivors never overtake
// the hashes to read, so the two may share memory.
func (d *double32) move(hash, mask Mem, survivor reg.GPVirtual) {
	h := d.vector()
	d.load(hash, h)
	count := GP64()
	d.loadMask(mask, count)
	d.compact(h, count, Mem{Base: survivor})
	LEAQ(Mem{Base: survivor, Index: count, Scale: 4}, survivor)
}

// rest emits all further probes of each hash that is left.
func (d *double32) rest() {
	Comment("All further probes. Their outcomes are the last row, or hits if there was no stage.")
	mask, first := addressOf(Mem{Base: d.row, Disp: 8}), addressOf(d.firstRow)
	CMPQ(d.row, first)
	CMOVQEQ(argument("hits"), mask)
	d.clearLast(mask)
	done := d.broadcast(d.done)
	left := valueOf(d.probes)
	SUBQ(d.done, left)
	hash, end := valueOf(d.hashes), GP64()
	LEAQ(Mem{Base: hash, Index: d.n, Scale: 4}, end)

	for n := d.abreast(); n > 0; n-- {
		d.eachProbing(n, hash, end, left, done, (*probing).test, func(w *probing) {
			appendMask(d, d.collect(w.passed), mask)
		})
	}
	d.trim(mask)
}

// eachProbing emits a loop that takes n vectors of hashes at a time, as long as n vectors begin
// before the end. It skips the first done probes of a vector and calls visit for each of
// the left probes after them. At the end of a vector it calls leave, if that is not nil, for the outcomes.
func (d *double32) eachProbing(n int, hash, end, left reg.GPVirtual, done reg.VecVirtual, visit, leave func(w *probing)) {
	label := func(name string) string { return labelOf(name+"_of", n) }
	begin, count := GP64(), GP64()

	Label(label("vectors"))
	LEAQ(Mem{Base: hash, Disp: 4 * d.lanes() * (n - 1)}, begin)
	branch(CMPQ, begin, end, JAE, label("end"))
	all := make([]*probing, n)
	for i := range all {
		all[i] = d.begin(Mem{Base: hash, Disp: 4 * d.lanes() * i}, done)
		if leave != nil {
			d.pickedAll(all[i].passed)
		}
	}
	MOVQ(left, count)
	JMP(LabelRef(label("visit")))
	Label(label("step"))
	for _, w := range all {
		w.step()
	}
	Label(label("visit"))
	for _, w := range all {
		visit(w)
	}
	countDown(count, label("step"))
	for _, w := range all {
		if leave != nil {
			leave(w)
		}
	}
	ADDQ(U32(4*d.lanes()*n), hash)
	JMP(LabelRef(label("vectors")))
	Label(label("end"))
}

// remainder emits r = h mod bits.
//
// r is h - q·bits for q = floor(h/bits). It needs no division: with d = bits/8, 2^L the
// smallest power of two that is at least d, and recip = ceil(2^(31+L)/d) < 2^32, q is
// floor((h&^7)·recip / 2^(34+L)). Proof: (h&^7)/8 has 29 bits, and recip is less than 1
// above 2^(31+L)/d. So the quotient is less than 2^29/2^(31+L) ≤ 1/(4d) too large, which
// can't carry a multiple of 1/d over an integer.
func (d *double32) remainder(h, r reg.VecVirtual) {
	even, odd := d.vector(), d.vector()
	d.and(h, d.bytes, even)
	VPSHUFD(U8(0xf5), even, odd)
	VPMULUDQ(d.recip, even, even)
	VPMULUDQ(d.recip, odd, odd)
	if d.lanes() == 16 { // the upper halves of all products
		VPSHUFD(U8(0xf5), even, d.evens, odd)
	} else {
		VPSHUFD(U8(0xf5), even, even)
		VPBLENDD(U8(0x55), even, odd, odd)
	}
	VPSRLVD(d.shift, odd, odd)
	VPMULLD(d.bits, odd, odd)
	VPSUBD(odd, h, r)
}

// test emits one probe and returns a vector with the picked outcomes: see pick.
func (d *double32) test(bit reg.VecVirtual) reg.VecVirtual {
	position, index, word := d.vector(), d.vector(), d.vector()
	VPADDD(d.skip, bit, position)
	VPSRLD(U8(5), position, index)
	d.gather(d.base, index, word)
	d.pick(position, word)
	return word
}

// probing is a vector of hashes and their state between two probes.
type probing struct {
	d        *double32
	h, delta reg.VecVirtual
	bit      reg.VecVirtual // of the next probe
	passed   reg.VecVirtual // the picked outcome of all probes so far

	// A step subtracts back from bit, mod bits, if h + delta stays below 2^32. Else the
	// sum loses 2^32, and the step subtracts wrappedBack.
	back, wrappedBack reg.VecVirtual
}

// abreast returns how many vectors to interleave. If it is above 1, a step computes the
// remainder from the one before. Both pay only with mask registers: of loads, ×1.15 (Z5).
func (d *double32) abreast() int { return d.lanes() / 8 }

// begin emits the first probe of a vector of hashes, which is number done.
func (d *double32) begin(hashes Mem, done reg.VecVirtual) *probing {
	w := &probing{d: d, h: d.vector(), delta: d.vector(), bit: d.vector(), passed: d.vector()}
	d.load(hashes, w.h)
	d.rotate17(w.h, w.delta)
	ahead := d.vector()
	VPMULLD(done, w.delta, ahead)
	VPADDD(ahead, w.h, w.h)
	d.remainder(w.h, w.bit)
	if d.abreast() > 1 {
		w.back, w.wrappedBack = d.vector(), d.vector()
		forth, less := d.vector(), K()
		d.remainder(w.delta, forth)
		VPSUBD(forth, d.bits, w.back)
		VPCMPUD(U8(1), d.wrap, forth, less)
		VPSUBD(d.wrap, forth, forth)
		VPADDD(d.bits, forth, less, forth)
		VPSUBD(forth, d.bits, w.wrappedBack)
	}
	return w
}

// test emits the next probe.
func (w *probing) test() {
	w.d.and(w.d.test(w.bit), w.passed, w.passed)
}

// step emits the step to the next probe.
func (w *probing) step() {
	VPADDD(w.delta, w.h, w.h)
	if w.d.abreast() == 1 {
		w.d.remainder(w.h, w.bit)
		return
	}
	wrapped, less, back := K(), K(), w.d.vector()
	VPCMPUD(U8(1), w.delta, w.h, wrapped)
	VPBLENDMD(w.wrappedBack, w.back, wrapped, back)
	VPCMPUD(U8(1), back, w.bit, less)
	VPSUBD(back, w.bit, w.bit)
	VPADDD(w.d.bits, w.bit, less, w.bit)
}

// clearLast clears the last 64 bits of a row for n hashes. If n is 0, it clears the
// number before the bits, which no one reads in the last row.
func (d *double32) clearLast(mask reg.GPVirtual) {
	last, zero := GP64(), zeroWord()
	LEAQ(Mem{Base: d.n, Disp: -1}, last)
	SARQ(U8(6), last)
	MOVQ(zero, Mem{Base: mask, Index: last, Scale: 8})
}

// storeMask stores the outcome of a vector, and appendMask appends it to others.

func storeMask(v vectors, bits reg.GPVirtual, to Mem) {
	if v.lanes() == 16 {
		MOVW(bits.As16(), to)
	} else {
		MOVB(bits.As8(), to)
	}
}

func appendMask(v vectors, bits, to reg.GPVirtual) {
	storeMask(v, bits, Mem{Base: to})
	ADDQ(U8(v.lanes()/8), to)
}

// trim clears the bits past the last hash of a row, which ends at mask.
func (d *double32) trim(mask reg.GPVirtual) {
	d.trims++
	trimmed := labelOf("trimmed", d.trims)
	rest, bits := valueOf(d.n), GP64()
	branch(ANDQ, U8(d.lanes()-1), rest, JZ, trimmed)
	last := Mem{Base: mask, Disp: -d.lanes() / 8}
	d.loadMask(last, bits)
	BZHIL(rest.As32(), bits.As32(), bits.As32())
	storeMask(d, bits, last)
	Label(trimmed)
}

// spread emits the loop from the last row back to the hits.
func (d *double32) spread() {
	Comment("From the last row back: the outcomes of a row go to the set bits of the row before.")
	first, outcome := addressOf(d.firstRow), addressOf(Mem{Base: d.row, Disp: 8})
	Label("row")
	branch(CMPQ, d.row, first, JEQ, "rows_done")
	SUBQ(U32(rowSize), d.row)
	words, source, dest := valueOf(Mem{Base: d.row}), addressOf(Mem{Base: d.row, Disp: 8}), GP64()
	MOVQ(source, dest)
	CMPQ(d.row, first)
	CMOVQEQ(argument("hits"), dest)
	deposit(source, outcome, dest, words)
	LEAQ(Mem{Base: d.row, Disp: 8}, outcome)
	JMP(LabelRef("row"))
	Label("rows_done")
}

// deposit emits the outcomes of the hashes whose bits are set in source, of n hashes, as bits of dest. It
// changes the registers but outcome.
func deposit(source, outcome, dest, n reg.GPVirtual) {
	Comment("There are two n of 32 bits for every 64 hashes.")
	ADDQ(U8(63), n)
	SHRQ(U8(6), n)
	ADDQ(n, n)
	position := zeroWord()
	Label("word")
	mask, from, bits, shift := GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: source}, mask.As32())
	MOVQ(position, from)
	SHRQ(U8(3), from)
	MOVQ(Mem{Base: outcome, Index: from, Scale: 1}, bits)
	MOVL(position.As32(), shift.As32())
	ANDL(U8(7), shift.As32())
	SHRXQ(shift, bits, bits)
	PDEPL(mask.As32(), bits.As32(), bits.As32())
	MOVL(bits.As32(), Mem{Base: dest})
	POPCNTL(mask.As32(), mask.As32())
	ADDQ(mask, position)
	ADDQ(U8(4), source)
	ADDQ(U8(4), dest)
	countDown(n, "word")
}

// placeDouble32 emits a function that stores the numbers of the bits that hashes probe,
// in any order, for the given number of whole vectors.
func placeDouble32(v vectors) {
	Comment("The probes are those of probeDouble32. The kernel stores the bits of each vector.")
	d, s := &double32{vectors: v}, argument("s")
	d.loadArray(s)
	hashes, n := windowOf("h32")
	hash, done, address := valueOf(hashes), valueOf(n), argument("places")
	end, none := GP64(), v.vector()
	ANDQ(I8(-v.lanes()), done)
	Store(done, Return("done"))
	LEAQ(Mem{Base: hash, Index: done, Scale: 4}, end)
	v.xor(none, none, none)
	for n := d.abreast(); n > 0; n-- {
		d.eachProbing(n, hash, end, fieldValue(s, "K"), none, func(w *probing) {
			v.store(w.bit, Mem{Base: address})
			ADDQ(U8(4*v.lanes()), address)
		}, nil)
	}
	returnVectors()
}
