package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// double64 has the registers of a kernel while its code is emitted. It tests bits as
// double32 does.
type double64 struct {
	double32

	numbers Mem // of the survivors

	// For AVX-512, which computes remainders. AVX2 has no conversion of 64-bit integers
	// to floating point.
	inverse, low reg.VecVirtual
}

// probeDouble64 emits the test of a window of hashes.
func probeDouble64(v vectors) {
	TEXT("probeDouble64"+v.name(), 0, signature("probeDouble64"))
	Comment(
		"Probe i of the hashes h1 and h2 tests bit (h1 + i·h2 mod 2^64) mod bits. A step",
		"computes the bit of a probe from the bit of the probe before: starts and steps are",
		"h1 and h2 mod bits. Where the sum of the hashes wraps, the bit loses wrap, which is",
		"2^64 mod bits. The kernel makes the first probes of all hashes. If there are other",
		"probes, it compacts the numbers of the hashes that pass, and makes the others for",
		"those.",
	)
	d := &double64{double32: double32{vectors: v}}
	d.loadBase()
	d.bits = d.broadcast(argument("bits"))
	d.prepareGather()
	d.prepareTest()
	if v.lanes() == 16 {
		d.inverse, d.low = d.broadcastLong(argument("inverse")), ZMM()
		VMOVDQU32(alternate[0], d.low)
	}
	d.numbers = AllocLocal(4 * (window + v.lanes()))
	survivors := d.testAll()
	CMPQ(argument("first"), argument("probes"))
	JEQ(LabelRef("end"))
	d.testSurvivors(survivors)
	Label("end")
	VZEROUPPER()
	RET()
}

// testAll emits the first probes of all hashes, and returns the end of the survivors'
// numbers.
func (d *double64) testAll() (end reg.GPVirtual) {
	hashes := [2]reg.GPVirtual{argument("h1"), argument("h2")}
	remainders := [2]reg.GPVirtual{argument("starts"), argument("steps")}
	n, hits := argument("n"), argument("hits")
	end = GP64()
	LEAQ(d.numbers, end)
	d.clearHits(n, hits)
	if d.inverse != nil {
		d.reduce(hashes, remainders, 0)
	}

	Label("all")
	w := &walk64{d: d, bit: d.loadNew(Mem{Base: remainders[0]}), step: d.loadNew(Mem{Base: remainders[1]})}
	for i := range w.h {
		w.h[i] = d.loadNew(Mem{Base: hashes[0], Disp: 4 * d.lanes() * i})
		w.delta[i] = d.loadNew(Mem{Base: hashes[1], Disp: 4 * d.lanes() * i})
	}
	if d.inverse != nil {
		Comment("Compute the remainders for the next vector now: its probes would wait for them.")
		CMPQ(n, U8(d.lanes()))
		JLE(LabelRef("reduced"))
		d.reduce(hashes, remainders, 1)
		Label("reduced")
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
	for i := range hashes {
		ADDQ(U32(8*d.lanes()), hashes[i])
		ADDQ(U8(4*d.lanes()), remainders[i])
	}
	SUBQ(U8(d.lanes()), n)
	JG(LabelRef("all"))
	return end
}

func (d *double64) loadNew(m Mem) reg.VecVirtual {
	x := d.vector()
	d.vectors.load(m, x)
	return x
}

// reduce emits the remainders of the hashes that lie the given number of vectors ahead,
// unless the inverse is 0.
//
// The quotient is the product of the hash, converted to floating point, and the inverse.
// All three are rounded down: the hash and the product by a relative error of up to
// 2^-52, and the inverse by one of up to 3·2^-53. So a quotient below 2^50 is less than 1
// too small. The remainder that its floor leaves is below 2·bits, which fits 32 bits.
func (d *double64) reduce(hashes, remainders [2]reg.GPVirtual, vectors int) {
	given, inverse := fmt.Sprintf("given_%d", vectors), argument("inverse")
	TESTQ(inverse, inverse)
	JZ(LabelRef(given))
	for i := range hashes {
		var x, q [2]reg.VecVirtual
		for j := range x {
			x[j] = d.loadNew(Mem{Base: hashes[i], Disp: 128*vectors + 64*j})
			q[j] = ZMM()
			VCVTUQQ2PD_RZ_SAE(x[j], q[j])
			VMULPD_RZ_SAE(d.inverse, q[j], q[j])
			VCVTTPD2UQQ(q[j], q[j])
		}
		VPERMT2D(x[1], d.low, x[0])
		VPERMT2D(q[1], d.low, q[0])
		r, other := x[0], ZMM()
		VPMULLD(d.bits, q[0], q[0])
		VPSUBD(q[0], r, r)
		VPSUBD(d.bits, r, other)
		VPMINUD(other, r, r)
		d.store(r, Mem{Base: remainders[i], Disp: 64 * vectors})
	}
	Label(given)
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

// trimLanes clears the bits of a mask past the last of the n hashes that are left.
func (d *double64) trimLanes(mask, n reg.GPVirtual) {
	limit, left := GP64(), GP64()
	MOVQ(U32(d.lanes()), limit)
	MOVQ(n, left)
	CMPQ(left, limit)
	CMOVQGT(limit, left)
	BZHIL(left.As32(), mask.As32(), mask.As32())
}

// testSurvivors emits the other probes of the survivors. If there are more than two, it
// makes two first, after which few survivors are left, and then the others.
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

// eachSurvivor emits a loop over vectors of survivors. It skips done probes, makes count
// probes, and calls follow with the mask of the lanes that pass. The code of follow may
// write over survivors that are already tested.
func (d *double64) eachSurvivor(label string, end, done, count reg.GPVirtual, follow func(mask, survivor reg.GPVirtual)) {
	zero, survivor, left := d.vector(), GP64(), GP64()
	d.xor(d.bits, d.bits, zero)
	d.store(zero, Mem{Base: end}) // numbers for the loads past the end
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

// setHits sets the hits of the survivors in the lanes of the mask.
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

// walk64 is a vector of hashes and their state between two probes.
type walk64 struct {
	d                 *double64
	bit, step         reg.VecVirtual // of the next probe, and h2 mod bits
	h, delta          [2]reg.VecVirtual
	back, wrappedBack reg.VecVirtual // what a step subtracts from bit, mod bits
}

// prepare emits back and wrappedBack, which replace step.
func (w *walk64) prepare() {
	w.back, w.wrappedBack = w.d.vector(), w.d.vector()
	VPSUBD(w.step, w.d.bits, w.back)
	less := w.d.vector()
	VPADDD(w.back, w.d.broadcast(argument("wrap")), w.wrappedBack)
	VPSUBD(w.d.bits, w.wrappedBack, less)
	VPMINUD(less, w.wrappedBack, w.wrappedBack)
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
	more := w.d.vector()
	VPSUBD(back, w.bit, w.bit)
	VPADDD(w.d.bits, w.bit, more)
	VPMINUD(more, w.bit, w.bit) // a negative bit is a large number: bits is at most 2^31
}
