package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonLine32 has the registers of line32 while a kernel's code is emitted.
type neonLine32 struct {
	f                   *arm64.Function
	base, hashes        arm64.GP
	lines, recip, shift arm64.V
	h, delta            arm64.V // lanes of halfwords can be factors if they are in V0 to V15

	one   arm64.V      // 128 in each halfword
	steps arm64.V      // of 8 probes, times 128
	bits  neonLineBits // for tests
}

func newNEONLine32(f *arm64.Function) *neonLine32 {
	base, lines := neonArray(f)
	hashes, _ := neonWindow(f, "h32")
	recip, shift, left := f.GP(), f.GP(), f.GP()
	f.LDP(neonField(f, "divisor"), recip, shift)
	f.MOVD(arm64.Imm(32), left)
	f.SUB(shift, left, left) // the shift to the left of a product's upper half
	return &neonLine32{
		f: f, base: base, hashes: hashes, lines: broadcast(f, lines), recip: broadcast(f, recip), shift: broadcast(f, left),
		h: arm64.VN(0), delta: arm64.VN(1),
	}
}

func (*neonLine32) words() string { return "h32" }

// neonProbeLine32 emits the test of a window of hashes.
func neonProbeLine32(f *arm64.Function, tables neonTables) {
	d := neonLineKernel(f, newNEONLine32,
		"A hash modulo the number of lines chooses a line, and h + i·(h>>17) modulo 512 the",
		"bits, for 8 steps i. The kernel tests two hashes at a time. It computes the bits times",
		"128, so that 16 bits are the modulus. A line is a table of 64 bytes.",
	)
	d.loadSteps()
	d.bits = newNEONLineBits(f, tables)
	neonTestLines(f, tables, d)
}

func (d *neonLine32) loadSteps() {
	steps := d.f.Argument("steps")
	last := d.f.V()
	d.steps = d.f.V()
	d.f.FLDPQ(steps.At(0), d.steps, last)
	d.f.VUZP1(arm64.H8, last, d.steps, d.steps)
	d.f.VSHL(7, arm64.H8, d.steps, d.steps)
	d.one = broadcastConstant(d.f, 128<<16|128)
}

// next finds line h mod lines.
//
// With 2^L the largest power of two up to lines, and recip = floor(2^(32+L)/lines), or one less, the quotient q =
// floor(h·recip / 2^(32+L)) is floor(h/lines) or one less: recip is at most 1 below 2^(32+L)/lines, which takes less
// than 2^32/2^(32+L) ≤ 1 from the quotient. So h - q·lines is below 2·lines, and its smaller value, with and without
// lines subtracted, is the remainder. The shift is -L, because the instruction shifts to the left.
func (d *neonLine32) next() (at [4]arm64.GP) {
	f := d.f
	f.FMOVQ(d.hashes.Post(16), d.h)
	f.VUSHR(17, arm64.S4, d.h, d.delta)
	q, line, less := neonUpper(f, d.h, d.recip), f.V(), f.V()
	f.VUSHL(arm64.S4, d.shift, q, q)
	f.VMOV(d.h, line)
	f.VMLS(arm64.S4, d.lines, q, line)
	f.VSUB(arm64.S4, d.lines, line, less)
	f.VUMIN(arm64.S4, less, line, line)
	return neonAddresses(f, d.base, line, 6)
}

func (d *neonLine32) test(half int, at [2]arm64.GP) (passed arm64.V) {
	return d.bits.test(d.f, at, d.numbers(2*half), d.numbers(2*half+1))
}

// numbers emits 8 halfwords, whose upper 9 bits are the numbers of the bits of hash i of the 4.
func (d *neonLine32) numbers(i int) arm64.V {
	x := d.f.V()
	d.f.VMULLane(arm64.H8, 2*i, d.h, d.one, x)
	d.f.VMLALane(arm64.H8, 2*i, d.delta, d.steps, x)
	return x
}

// neonSetLine32 emits the setting of the bits of hashes.
func neonSetLine32(f *arm64.Function, _ neonTables) {
	d := neonLineKernel(f, newNEONLine32, "The addresses and the bits are those of probeLine32.")
	d.loadSteps()
	neonAddBits(f, d, d.hashes, 2, d.numbers)
}
