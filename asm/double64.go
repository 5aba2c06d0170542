package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reduceDouble64 emits the remainders of 64-bit hashes, for filters of 2^14 to 2^31
// bits.
func reduceDouble64() {
	TEXT("reduceDouble64AVX512", NOSPLIT, "func(bits, inverse uint64, hashes *uint64, remainders *uint32, vectors int)")
	Comment(
		"The quotient, below 2^50, by the inverse in floating point, has an error of less",
		"than 3·2^-53 times itself. So its floor is off by one at most, and what it leaves",
		"is from -bits to 2·bits. For 2^30 bits and more the quotient is below 2^34, its",
		"error below 2^-17, and what it leaves misses 0 to bits by 2^14 at most. So 32 bits",
		"tell it, where numbers below 0 are large ones.",
	)
	v := &avx512{}
	bits, inverse := v.broadcast(argument("bits")), v.broadcastLong(argument("inverse"))
	low := ZMM()
	VMOVDQU32(alternate[0], low)
	hashes, remainders, n := argument("hashes"), argument("remainders"), argument("vectors")
	Label("vector")
	var x, q [2]reg.VecVirtual
	for i := range x {
		x[i], q[i] = ZMM(), ZMM()
		VMOVDQU64(Mem{Base: hashes, Disp: 64 * i}, x[i])
		VCVTUQQ2PD(x[i], q[i])
		VMULPD(inverse, q[i], q[i])
		VCVTTPD2UQQ(q[i], q[i])
	}
	VPERMT2D(x[1], low, x[0])
	VPERMT2D(q[1], low, q[0])
	r, other := x[0], ZMM()
	VPMULLD(bits, q[0], q[0])
	VPSUBD(q[0], r, r)
	VPADDD(bits, r, other)
	VPMINUD(other, r, r)
	VPSUBD(bits, r, other)
	VPMINUD(other, r, r)
	VMOVDQU32(r, Mem{Base: remainders})
	ADDQ(U32(128), hashes)
	ADDQ(U8(64), remainders)
	DECQ(n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// double64 is a kernel while it is emitted. It tests bits as double32 does.
type double64 struct {
	double32

	numbers Mem // of the survivors
}

// testDouble64 emits the test of a window of hashes.
func testDouble64(v vectors) {
	TEXT("testDouble64"+v.name(), 0, "func(base *byte, bits, wrap uint32, probes, first int, starts, steps *uint32, h1, h2 *uint64, n int, hits *uint64)")
	Comment(
		"Probe i of the hashes h1 and h2 tests bit (h1 + i·h2 mod 2^64) mod bits. That of",
		"the next is computed from the one before: starts and steps are h1 and h2 mod",
		"bits, and wrap is 2^64 mod bits, which is lost where the sum of the hashes wraps.",
		"The first probes are made for all hashes. If there are others, the numbers of",
		"those that pass are compacted, and the others are made for them.",
	)
	d := &double64{double32: double32{vectors: v}}
	d.loadBase()
	d.bits = d.broadcast(argument("bits"))
	d.prepareGather()
	d.prepareTest()
	d.numbers = AllocLocal(4 * (window + v.lanes()))
	survivors := d.testAll()
	CMPQ(argument("first"), argument("probes"))
	JEQ(LabelRef("end"))
	d.testSurvivors(survivors)
	Label("end")
	VZEROUPPER()
	RET()
}

// testAll emits the first probes of all hashes, and returns the end of survivors.
func (d *double64) testAll() (end reg.GPVirtual) {
	starts, steps, h1, h2 := argument("starts"), argument("steps"), argument("h1"), argument("h2")
	n, hits := argument("n"), argument("hits")
	end = GP64()
	LEAQ(d.numbers, end)
	d.clearHits(n, hits)

	Label("all")
	w := &walk64{d: d, bit: d.vector(), step: d.vector()}
	d.vectors.load(Mem{Base: starts}, w.bit)
	d.vectors.load(Mem{Base: steps}, w.step)
	for i := range w.h {
		w.h[i], w.delta[i] = d.vector(), d.vector()
		d.vectors.load(Mem{Base: h1, Disp: 4 * d.lanes() * i}, w.h[i])
		d.vectors.load(Mem{Base: h2, Disp: 4 * d.lanes() * i}, w.delta[i])
	}
	w.prepare()
	mask := w.probes("first", argument("first"))
	d.trimLanes(mask, n)
	CMPQ(argument("first"), argument("probes"))
	JNE(LabelRef("compact"))
	d.storeMask(mask, hits)
	JMP(LabelRef("next"))
	Label("compact")
	done := argument("n")
	SUBQ(n, done)
	number := d.broadcast(done)
	VPADDD(ascending, number, number)
	d.compact(number, mask, Mem{Base: end})
	LEAQ(Mem{Base: end, Index: mask, Scale: 4}, end)
	Label("next")
	ADDQ(U8(4*d.lanes()), starts)
	ADDQ(U8(4*d.lanes()), steps)
	ADDQ(U32(8*d.lanes()), h1)
	ADDQ(U32(8*d.lanes()), h2)
	SUBQ(U8(d.lanes()), n)
	JG(LabelRef("all"))
	return end
}

// clearHits clears the words of n hits.
func (d *double64) clearHits(n, hits reg.GPVirtual) {
	word, zero := GP64(), GP64()
	LEAQ(Mem{Base: n, Disp: -1}, word)
	SHRQ(U8(6), word)
	XORL(zero.As32(), zero.As32())
	Label("clear")
	MOVQ(zero, Mem{Base: hits, Index: word, Scale: 8})
	DECQ(word)
	JNS(LabelRef("clear"))
}

// trimLanes clears the bits of a mask past the last of the n hashes left.
func (d *double64) trimLanes(mask, n reg.GPVirtual) {
	limit, left := GP64(), GP64()
	MOVQ(U32(d.lanes()), limit)
	MOVQ(n, left)
	CMPQ(left, limit)
	CMOVQGT(limit, left)
	BZHIL(left.As32(), mask.As32(), mask.As32())
}

// testSurvivors emits the other probes of the survivors: two more, after which few
// are left, and then the rest, if there are more than two.
func (d *double64) testSurvivors(end reg.GPVirtual) {
	others := argument("probes")
	SUBQ(argument("first"), others)
	CMPQ(others, U8(3))
	JL(LabelRef("rest"))
	more := GP64()
	MOVQ(U32(2), more)
	kept := GP64()
	LEAQ(d.numbers, kept)
	d.eachSurvivor("more", end, argument("first"), more, func(mask, survivor reg.GPVirtual) {
		number := d.vector()
		d.vectors.load(Mem{Base: survivor}, number)
		d.compact(number, mask, Mem{Base: kept})
		LEAQ(Mem{Base: kept, Index: mask, Scale: 4}, kept)
	})
	MOVQ(kept, end)

	Label("rest")
	done, rest := argument("first"), argument("probes")
	SUBQ(done, rest)
	CMPQ(rest, U8(3))
	JL(LabelRef("last"))
	ADDQ(U8(2), done)
	SUBQ(U8(2), rest)
	Label("last")
	d.eachSurvivor("last", end, done, rest, d.setHits)
}

// eachSurvivor emits count probes, done from the first, of the survivors, and what
// is to follow with the mask of those that pass. That may write over survivors
// already tested.
func (d *double64) eachSurvivor(label string, end, done, count reg.GPVirtual, follow func(mask, survivor reg.GPVirtual)) {
	zero, survivor, left := d.vector(), GP64(), GP64()
	d.xor(d.bits, d.bits, zero)
	d.store(zero, Mem{Base: end}) // numbers to read on
	LEAQ(d.numbers, survivor)
	MOVQ(end, left)
	SUBQ(survivor, left)
	SHRQ(U8(2), left)
	JZ(LabelRef(label + "_end"))

	Label(label + "_survivors")
	number := d.vector()
	d.vectors.load(Mem{Base: survivor}, number)
	w := &walk64{d: d, bit: d.vector(), step: d.vector()}
	d.gather(argument("starts"), number, w.bit)
	d.gather(argument("steps"), number, w.step)
	w.h, w.delta = d.gatherLongs(argument("h1"), number), d.gatherLongs(argument("h2"), number)
	w.prepare()
	skipped, made := GP64(), GP64()
	MOVQ(done, skipped)
	Label(label + "_skip")
	w.next()
	DECQ(skipped)
	JNZ(LabelRef(label + "_skip"))
	MOVQ(count, made)
	mask := w.probes(label+"_probe", made)
	d.trimLanes(mask, left)
	follow(mask, survivor)
	ADDQ(U8(4*d.lanes()), survivor)
	SUBQ(U8(d.lanes()), left)
	JG(LabelRef(label + "_survivors"))
	Label(label + "_end")
}

// setHits sets the hits of the survivors that the mask has.
func (d *double64) setHits(mask, survivor reg.GPVirtual) {
	hits := argument("hits")
	TESTL(mask.As32(), mask.As32())
	JZ(LabelRef("no_hit"))
	Label("hit")
	lane, number, word, hit := GP64(), GP64(), GP64(), GP64()
	BSFL(mask.As32(), lane.As32())
	MOVL(Mem{Base: survivor, Index: lane, Scale: 4}, number.As32())
	MOVL(number.As32(), word.As32())
	SHRL(U8(6), word.As32())
	MOVQ(Mem{Base: hits, Index: word, Scale: 8}, hit)
	BTSQ(number, hit)
	MOVQ(hit, Mem{Base: hits, Index: word, Scale: 8})
	LEAL(Mem{Base: mask, Disp: -1}, lane.As32())
	ANDL(lane.As32(), mask.As32())
	JNZ(LabelRef("hit"))
	Label("no_hit")
}

// walk64 is a vector of hashes on their way through the probes.
type walk64 struct {
	d                 *double64
	bit, step         reg.VecVirtual // of the next probe, and h2 mod bits
	h, delta          [2]reg.VecVirtual
	back, wrappedBack reg.VecVirtual // what to subtract from bit, mod bits
}

// prepare emits the steps back, which take the place of that forth.
func (w *walk64) prepare() {
	w.back, w.wrappedBack = w.d.vector(), w.d.vector()
	VPSUBD(w.step, w.d.bits, w.back)
	w.d.subtract(w.d.bits, w.d.broadcast(argument("wrap")), w.step)
	VPSUBD(w.step, w.d.bits, w.wrappedBack)
}

// probes emits count probes and returns a mask of the lanes that pass all.
func (w *walk64) probes(label string, count reg.GPVirtual) reg.GPVirtual {
	d := w.d
	passed := d.vector()
	d.pickedAll(passed)
	JMP(LabelRef(label))
	Label(label + "_step")
	w.next()
	Label(label)
	d.and(d.test(w.bit), passed, passed)
	DECQ(count)
	JNZ(LabelRef(label + "_step"))
	return d.collect(passed)
}

// next emits the step to the next probe.
func (w *walk64) next() {
	back := w.d.vector()
	w.d.blend(w.back, w.wrappedBack, w.d.carry(w.h, w.delta), back)
	w.d.subtract(w.d.bits, back, w.bit)
}
