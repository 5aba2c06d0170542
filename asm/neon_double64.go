package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonDouble64 has the registers of the walk double64 while a kernel's code is emitted.
// It tests bytes as double32 does.
type neonDouble64 struct {
	neonDouble32
	bits, wrap arm64.V
}

// neonProbeDouble64 emits the test of a window of hashes.
func neonProbeDouble64(file *arm64.File, tables neonTables) {
	f := file.Function("probeDouble64NEON", arm64.Splits, signature("probeDouble64"))
	f.Comment(
		"Probe i of the hashes h1 and h2 tests bit (h1 + i·h2 mod 2^64) mod bits. A step",
		"computes the bit of a probe from the bit of the probe before: starts and steps are",
		"h1 and h2 mod bits. Where the sum of the hashes wraps, the bit loses wrap, which is",
		"2^64 mod bits. The kernel makes the first probes of all hashes, 8 at a time. If",
		"there are other probes, it compacts the numbers of the hashes that pass, and makes",
		"the others for those. The sign bit of a byte is the outcome for a hash. At the end,",
		"the kernel packs the sign bits into hits.",
	)
	d := &neonDouble64{neonDouble32: neonDouble32{f: f}}
	d.bits, d.wrap = broadcast(f, f.Argument("bits")), broadcast(f, f.Argument("wrap"))
	d.base, d.indices, d.seven = f.Argument("base"), f.Local(4*neonVector), f.V()
	f.VMOVI(7, d.seven)
	outcomes, numbers, end := f.Local(window+neonBlock), f.Local(survivorsSize), f.GP()
	f.MOVD(numbers, end)
	d.testAll(outcomes, end, tables)
	neonBranch(f, numbers, end, f.BEQ, "pack")
	d.testSurvivors(outcomes, numbers, end)
	f.Label("pack")
	neonPack(f, outcomes, tables)
	f.RET()
}

// testAll emits the first probes of all hashes. If there are other probes, it stores the
// numbers of the hashes that pass, from end on.
func (d *neonDouble64) testAll(outcomes, end arm64.GP, tables neonTables) {
	f := d.f
	n, first, others := f.Argument("n"), f.Argument("first"), f.Argument("probes")
	f.SUB(first, others, others)
	starts, steps, h1, h2 := f.Argument("starts"), f.Argument("steps"), f.Argument("h1"), f.Argument("h2")
	outcome, move := f.GP(), d.mover(tables, end)
	f.MOVD(outcomes, outcome)

	f.Label("vector")
	w := newNEONWalk64(f)
	f.FLDPQ(starts.Post(32), w.bit[0], w.bit[1])
	f.FLDPQ(steps.Post(32), w.back[0], w.back[1])
	for i := range 2 {
		f.FLDPQ(h1.Post(32), w.h[2*i], w.h[2*i+1])
		f.FLDPQ(h2.Post(32), w.delta[2*i], w.delta[2*i+1])
	}
	d.prepare(w)
	passed := d.probes64("first", w, first)
	f.StoreLow(passed, outcome.Post(8)) // later overwritten for survivors
	f.CBZ(others, "next")
	move(passed, 2, nil)
	f.Label("next")
	neonCount(f, arm64.Imm(neonVector), n, f.BGT, "vector")
}

// testSurvivors emits the other probes of the survivors.
func (d *neonDouble64) testSurvivors(outcomes, numbers, end arm64.GP) {
	f := d.f
	first, others, skipped := f.Argument("first"), f.Argument("probes"), f.GP()
	f.SUB(first, others, others)
	starts, steps, h1, h2 := f.Argument("starts"), f.Argument("steps"), f.Argument("h1"), f.Argument("h2")
	f.Comment("Fill up the last vector with the first survivor: it has the same outcome again.")
	none := f.V()
	f.MOVWU(numbers.At(0), skipped)
	f.VDUP(skipped, arm64.S4, none)
	f.FSTPQ(none, none, end.At(0))

	f.Label("survivors")
	w := newNEONWalk64(f)
	for i := 0; i < neonVector; i += 2 {
		var number [2]arm64.GP
		number[0], number[1] = f.GP(), f.GP()
		f.LDPW(numbers.At(4*i), number[0], number[1])
		for j, number := range number {
			lane, x := i+j, f.GP()
			f.MOVWU(starts.IndexScaled(number, 2), x)
			setLane(f, x, w.bit[lane/4], lane%4)
			f.MOVWU(steps.IndexScaled(number, 2), x)
			setLane(f, x, w.back[lane/4], lane%4)
			f.MOVD(h1.IndexScaled(number, 3), x)
			setLong(f, x, w.h[lane/2], lane%2)
			f.MOVD(h2.IndexScaled(number, 3), x)
			setLong(f, x, w.delta[lane/2], lane%2)
		}
	}
	d.prepare(w)
	f.MOVD(first, skipped)
	f.Label("skip")
	d.next(w)
	neonCount(f, arm64.Imm(1), skipped, f.BNE, "skip")
	d.scatter(d.probes64("others", w, others), 0, numbers, outcomes)
	neonBranch(f, end, numbers, f.BLO, "survivors")
}

// neonWalk64 is a vector of hashes and their state between two probes.
type neonWalk64 struct {
	bit      [2]arm64.V // of the next probe
	h, delta [4]arm64.V
	// What a step subtracts from bit, mod bits. Before prepare, back is h2 mod bits, which
	// a step would add.
	back, wrappedBack [2]arm64.V
}

func newNEONWalk64(f *arm64.Function) *neonWalk64 {
	w := new(neonWalk64)
	fillVectors(f, w.bit[:], w.h[:], w.delta[:], w.back[:], w.wrappedBack[:])
	return w
}

// prepare emits back and wrappedBack, computed from h2 mod bits in back.
func (d *neonDouble64) prepare(w *neonWalk64) {
	for i, forth := range w.back {
		d.f.VMOV(forth, w.wrappedBack[i])
		d.subtract(d.wrap, w.wrappedBack[i])
		d.f.VSUB(arm64.S4, w.wrappedBack[i], d.bits, w.wrappedBack[i])
		d.f.VSUB(arm64.S4, forth, d.bits, forth)
	}
}

// subtract emits r = r - x, and adds bits if the difference is negative. bits is at most
// 2^31, and r and x are at most bits.
func (d *neonDouble64) subtract(x, r arm64.V) {
	more := d.f.V()
	d.f.VSUB(arm64.S4, x, r, r)
	d.f.VADD(arm64.S4, d.bits, r, more)
	d.f.VUMIN(arm64.S4, more, r, r)
}

// next emits the step to the next probe.
func (d *neonDouble64) next(w *neonWalk64) {
	f := d.f
	var wrapped [4]arm64.V
	for i := range wrapped {
		wrapped[i] = f.V()
		f.VADD(arm64.D2, w.delta[i], w.h[i], w.h[i])
		f.VCMHI(arm64.D2, w.h[i], w.delta[i], wrapped[i])
	}
	for i := range w.bit {
		back := f.V()
		f.VUZP1(arm64.S4, wrapped[2*i+1], wrapped[2*i], wrapped[2*i])
		f.VMOV(w.back[i], back)
		f.VBIT(wrapped[2*i], w.wrappedBack[i], back)
		d.subtract(back, w.bit[i])
	}
}

// probes64 emits the next count probes of a vector, at least one. It returns a byte for
// each of the 8 hashes, with the sign bit set if the hash passes all of them.
func (d *neonDouble64) probes64(label string, w *neonWalk64, count arm64.GP) (passed arm64.V) {
	f := d.f
	passed = f.V()
	left := f.GP()
	f.VMOVI(0xff, passed)
	f.MOVD(count, left)
	f.B(label)
	f.Label(label + "_step")
	d.next(w)
	f.Label(label)
	index := [2]arm64.V{f.V(), f.V()}
	for i := range index {
		f.VUSHR(3, arm64.S4, w.bit[i], index[i])
	}
	f.FSTPQ(index[0], index[1], d.indices.At(0))
	loaded, shift := f.V(), f.V()
	f.FMOVD(d.gather(0), loaded)
	f.VUZP1(arm64.H8, w.bit[1], w.bit[0], shift)
	f.VUZP1(arm64.B16, shift, shift, shift)
	f.VBIC(shift, d.seven, shift)
	f.VUSHL(arm64.B16, shift, loaded, loaded)
	f.VAND(loaded, passed, passed)
	neonCount(f, arm64.Imm(1), left, f.BNE, label+"_step")
	return passed
}
