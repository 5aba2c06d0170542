package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonLine512 has the registers of line512 while a kernel's code is emitted.
type neonLine512 struct {
	neonHalves
	factors [2]arm64.V   // of 8 probes
	bits    neonLineBits // for tests
}

func newNEONLine512(f *arm64.Function) *neonLine512 {
	return &neonLine512{neonHalves: newNEONHalves(f)}
}

// neonProbeLine512 emits the test of a window of hashes.
func neonProbeLine512(f *arm64.Function, tables neonTables) {
	d := neonLineKernel(f, newNEONLine512,
		"The lower half of a hash chooses a line, and the upper 9 bits of its upper half times",
		"a factor choose a bit, for 8 factors. The kernel tests two hashes at a time: of 16",
		"products it takes the upper halfwords. A line is a table of 64 bytes.",
	)
	d.loadFactors()
	d.bits = newNEONLineBits(f, tables)
	neonTestLines(f, tables, d)
}

func (d *neonLine512) loadFactors() {
	factors := d.f.Argument("factors")
	d.factors = [2]arm64.V{d.f.V(), d.f.V()}
	d.f.FLDPQ(factors.At(0), d.factors[0], d.factors[1])
}

// next finds line lo·lines >> 32, for the lower half lo of a hash.
func (d *neonLine512) next() (at [4]arm64.GP) {
	return d.linesOf(d.f.VUZP1, 6)
}

func (d *neonLine512) test(half int, at [2]arm64.GP) (passed arm64.V) {
	return d.bits.test(d.f, at, d.numbers(2*half), d.numbers(2*half+1))
}

// numbers emits 8 halfwords, whose upper 9 bits are the numbers of the bits of hash i of the 4.
func (d *neonLine512) numbers(i int) arm64.V {
	var product [2]arm64.V
	for j, factor := range d.factors {
		product[j] = d.f.V()
		d.f.VMULLane(arm64.S4, i%2*2+1, d.h[i/2], factor, product[j])
	}
	d.f.VUZP2(arm64.H8, product[1], product[0], product[0])
	return product[0]
}

// neonSetLine512 emits the setting of the bits of hashes.
func neonSetLine512(f *arm64.Function, _ neonTables) {
	d := neonLineKernel(f, newNEONLine512, "The addresses and the bits are those of probeLine512.")
	d.loadFactors()
	neonAddBits(f, d, d.hashes, 3, d.numbers)
}

// neonSetNewLine512 emits setLine512 in the order of the hashes, with the outcome of each.
func neonSetNewLine512(f *arm64.Function, _ neonTables) {
	d := neonLineKernel(f, newNEONLine512, "The addresses and the bits are those of probeLine512.")
	d.loadFactors()
	neonAddLinesNew(f, d, neonSetBits(f, d.numbers))
}
