package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonSplit256 has the registers of split256 while a kernel's code is emitted.
type neonSplit256 struct {
	neonHalves
	salts [2]arm64.V

	// For tests: the indices of the upper bytes of 16 words, and those of the bytes to load,
	// whose upper 6 bits never change; the powers of two.
	upper  arm64.V
	index  [2]arm64.V
	powers []arm64.V
}

func newNEONSplit256(f *arm64.Function) *neonSplit256 {
	return &neonSplit256{neonHalves: newNEONHalves(f)}
}

func (d *neonSplit256) loadSalts(tables neonTables) {
	address := d.f.GP()
	d.f.Address(tables.salts, address)
	d.salts = [2]arm64.V{d.f.V(), d.f.V()}
	d.f.FLDPQ(address.At(0), d.salts[0], d.salts[1])
}

// next finds block hi·blocks >> 32, for the upper half hi of a hash.
func (d *neonSplit256) next() (at [4]arm64.GP) {
	return d.linesOf(d.f.VUZP2, 5)
}

// products emits the products of the lower half of hash i of the 4 and the salts.
func (d *neonSplit256) products(i int, to []arm64.V) {
	for j, salt := range d.salts {
		d.f.VMULLane(arm64.S4, i%2*2, d.h[i/2], salt, to[j])
	}
}

// neonProbeSplit256 emits the test of a window of hashes.
func neonProbeSplit256(f *arm64.Function, tables neonTables) {
	d := neonLineKernel(f, newNEONSplit256,
		"The upper half of a hash chooses a block, and the upper 5 bits of its lower half times",
		"a salt choose a bit in each of the 8 words. The kernel tests two hashes at a time: of",
		"16 products it takes the upper bytes. Their upper 2 bits choose the byte of a word,",
		"the next 3 the bit. A key has 8 outcomes in bytes; the smallest of them is its own.",
		"At the end, the kernel packs the sign bits of the outcomes into hits.",
	)
	d.loadSalts(tables)
	d.upper = neonConstant(f, tables.upperBytes)
	d.index = [2]arm64.V{neonConstant(f, tables.wordStarts), f.V()}
	f.VMOV(d.index[0], d.index[1])
	bit := neonConstant(f, tables.bits)
	d.powers = four(0)[:2]
	f.VMOV(bit, d.powers[0])
	f.VMOV(bit, d.powers[1])
	neonTestLines(f, tables, d)
}

func (d *neonSplit256) test(half int, at [2]arm64.GP) (passed arm64.V) {
	f, block, product := d.f, four(4+8*half), four(8+8*half)
	f.FLDPQ(at[0].At(0), block[0], block[1])
	f.FLDPQ(at[1].At(0), block[2], block[3])
	d.products(2*half, product[:2])
	d.products(2*half+1, product[2:])
	bit, loaded := f.V(), f.V()
	f.VTBLs(d.upper, product, bit)
	f.VSRI(6, arm64.B16, bit, d.index[half])
	f.VUSHR(3, arm64.B16, bit, bit)
	f.VTBLs(d.index[half], block, loaded)
	f.VTBLs(bit, d.powers, bit)
	f.VCMTST(arm64.B16, bit, loaded, bit)
	return bit
}

// neonSetSplit256 emits the setting of the bits of hashes.
func neonSetSplit256(f *arm64.Function, tables neonTables) {
	d := neonLineKernel(f, newNEONSplit256, "The addresses and the bits are those of probeSplit256.")
	d.loadSalts(tables)
	set := d.setBits()
	neonAddLines(f, d, d.hashes, 3, func(at [4]arm64.GP) {
		for i, at := range at {
			set(i, at)
		}
	})
}

// neonSetNewSplit256 emits setSplit256 in the order of the hashes, with the outcome of each.
func neonSetNewSplit256(f *arm64.Function, tables neonTables) {
	d := neonLineKernel(f, newNEONSplit256, "The addresses and the bits are those of probeSplit256.")
	d.loadSalts(tables)
	set := d.setBits()
	neonAddLinesNew(f, d, func(at [4]arm64.GP, after func(missing arm64.GP)) {
		for i, at := range at {
			before, bit := set(i, at)
			missing := f.GP()
			for j := range bit {
				f.VBIC(before[j], bit[j], bit[j])
			}
			f.VORR(bit[0], bit[1], bit[0])
			f.VUMAXV(arm64.S4, bit[0], bit[0])
			f.FromLane('S', 0, bit[0], missing)
			after(missing)
		}
	})
}

// setBits returns a function that emits the setting of the bits of hash i of 4. It returns the block before that,
// and the bits.
func (d *neonSplit256) setBits() func(i int, at arm64.GP) (before, bit [2]arm64.V) {
	f, ones := d.f, broadcastConstant(d.f, 1)
	return func(i int, at arm64.GP) (before, bit [2]arm64.V) {
		before, bit = [2]arm64.V{f.V(), f.V()}, [2]arm64.V{f.V(), f.V()}
		after := [2]arm64.V{f.V(), f.V()}
		d.products(i, bit[:])
		f.FLDPQ(at.At(0), before[0], before[1])
		for j := range before {
			f.VUSHR(27, arm64.S4, bit[j], bit[j])
			f.VUSHL(arm64.S4, bit[j], ones, bit[j])
			f.VORR(bit[j], before[j], after[j])
		}
		f.FSTPQ(after[0], after[1], at.At(0))
		return before, bit
	}
}
