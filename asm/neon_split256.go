package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonSplit256 has the registers of the walk split256 while a kernel's code is emitted.
type neonSplit256 struct {
	f      *arm64.Function
	base   arm64.GP
	blocks arm64.V // their number, in each word
	salts  [2]arm64.V
}

func newNEONSplit256(f *arm64.Function) *neonSplit256 {
	return &neonSplit256{f: f, base: f.Argument("base"), blocks: broadcast(f, f.Argument("blocks"))}
}

func (d *neonSplit256) loadSalts(salts arm64.Symbol) {
	address := d.f.GP()
	d.f.Address(salts, address)
	d.salts = [2]arm64.V{d.f.V(), d.f.V()}
	d.f.FLDPQ(address.At(0), d.salts[0], d.salts[1])
}

// next emits the load of the next 4 hashes.
func (d *neonSplit256) next(hashes arm64.GP) (h [2]arm64.V) {
	h = [2]arm64.V{d.f.V(), d.f.V()}
	d.f.FLDPQ(hashes.Post(32), h[0], h[1])
	return h
}

// find returns the addresses of the blocks of 4 hashes: base + 32·(hi·blocks >> 32) for the
// upper half hi of a hash.
func (d *neonSplit256) find(h [2]arm64.V) (at [4]arm64.GP) {
	f := d.f
	high, low, block := f.V(), f.V(), f.V()
	f.VUZP2(arm64.S4, h[1], h[0], block)
	f.VUMULL(arm64.D2, d.blocks, block, low)
	f.VUMULL2(arm64.D2, d.blocks, block, high)
	f.VUZP2(arm64.S4, high, low, block)
	f.VSHL(5, arm64.S4, block, block)
	for half := range 2 {
		two := f.GP()
		f.FromLane('D', half, block, two)
		at[2*half], at[2*half+1] = f.GP(), f.GP()
		f.ADD(two.UXTW(), d.base, at[2*half])
		f.ADD(two.LSR(32), d.base, at[2*half+1])
	}
	return at
}

// products returns the products of the lower half of hash i, 0 or 1, and the salts.
func (d *neonSplit256) products(h arm64.V, i int, to []arm64.V) {
	for j, salt := range d.salts {
		d.f.VMULLane(arm64.S4, 2*i, h, salt, to[j])
	}
}

// four returns consecutive registers, which a table needs.
func four(from int) []arm64.V {
	return []arm64.V{arm64.VN(from), arm64.VN(from + 1), arm64.VN(from + 2), arm64.VN(from + 3)}
}

// neonTestSplit256 emits the test of a window of hashes.
func neonTestSplit256(file *arm64.File, tables neonTables) {
	f := file.Function("testSplit256NEON", arm64.Splits, "func(base *byte, blocks uint32, hashes *uint64, n int, hits *uint64)")
	f.Comment(
		"The upper half of a hash chooses a block, and the upper 5 bits of its lower half times",
		"a salt choose a bit in each of the 8 words. The kernel tests two hashes at a time: of",
		"16 products it takes the upper bytes. Their upper 2 bits choose the byte of a word,",
		"the next 3 the bit. A key has 8 outcomes in bytes; the smallest of them is its own.",
		"At the end, the kernel packs the sign bits of the outcomes into hits.",
	)
	d := newNEONSplit256(f)
	d.loadSalts(tables.salts)
	hashes, n, outcomes, outcome := f.Argument("hashes"), f.Argument("n"), f.Local(window+neonBlock), f.GP()
	f.MOVD(outcomes, outcome)
	upper := neonConstant(f, tables.upperBytes)
	places := [2]arm64.V{neonConstant(f, tables.wordStarts), f.V()}
	f.VMOV(places[0], places[1])
	powers := four(0)[:2]
	bit := neonConstant(f, tables.bits)
	f.VMOV(bit, powers[0])
	f.VMOV(bit, powers[1])

	f.Label("block")
	var fours [4]arm64.V
	for i := range fours {
		h := d.next(hashes)
		at := d.find(h)
		var passed [2]arm64.V
		for j := range passed {
			block, product := four(4+8*j), four(8+8*j)
			f.FLDPQ(at[2*j].At(0), block[0], block[1])
			f.FLDPQ(at[2*j+1].At(0), block[2], block[3])
			d.products(h[j], 0, product[:2])
			d.products(h[j], 1, product[2:])
			chosen, loaded := f.V(), f.V()
			f.VTBLs(upper, product, chosen)
			f.VSRI(6, arm64.B16, chosen, places[j]) // the upper 6 bits stay
			f.VUSHR(3, arm64.B16, chosen, chosen)
			f.VTBLs(places[j], block, loaded)
			f.VTBLs(chosen, powers, chosen)
			passed[j] = f.V()
			f.VCMTST(arm64.B16, chosen, loaded, passed[j])
		}
		fours[i] = f.V()
		f.VUMINP(arm64.B16, passed[1], passed[0], fours[i])
	}
	f.VUMINP(arm64.B16, fours[1], fours[0], fours[0])
	f.VUMINP(arm64.B16, fours[3], fours[2], fours[2])
	f.VUMINP(arm64.B16, fours[2], fours[0], fours[0])
	f.StoreQ(fours[0], outcome.Post(neonBlock))
	f.SUBS(arm64.Imm(neonBlock), n, n)
	f.BGT("block")
	neonPack(f, outcomes, tables)
	f.RET()
}

// neonAddSplit256 emits the setting of the bits of hashes.
func neonAddSplit256(file *arm64.File, tables neonTables) {
	f := file.Function("addSplit256NEON", arm64.NoSplit, "func(base *byte, blocks uint32, hashes *uint64, n int)")
	f.Comment(
		"The kernel sets the bits of 4 hashes at a time. If fewer are left at the end, it sets",
		"those of the last 4 again.",
	)
	d := newNEONSplit256(f)
	d.loadSalts(tables.salts)
	hashes, n, ones := f.Argument("hashes"), f.Argument("n"), broadcastConstant(f, 1)
	f.Label("four")
	h := d.next(hashes)
	for i, at := range d.find(h) {
		block, bit := [2]arm64.V{f.V(), f.V()}, [2]arm64.V{f.V(), f.V()}
		d.products(h[i/2], i%2, bit[:])
		f.FLDPQ(at.At(0), block[0], block[1])
		for j := range block {
			f.VUSHR(27, arm64.S4, bit[j], bit[j])
			f.VUSHL(arm64.S4, bit[j], ones, bit[j])
			f.VORR(bit[j], block[j], block[j])
		}
		f.FSTPQ(block[0], block[1], at.At(0))
	}
	f.SUBS(arm64.Imm(4), n, n)
	f.BEQ("end")
	f.CMP(arm64.Imm(4), n)
	f.BGE("four")
	f.SUB(arm64.Imm(4), n, n)
	f.ADD(n.LSL(3), hashes, hashes)
	f.MOVD(arm64.Imm(4), n)
	f.B("four")
	f.Label("end")
	f.RET()
}

// neonRequestSplit256 emits the requests of the blocks of hashes.
func neonRequestSplit256(file *arm64.File) {
	f := file.Function("requestSplit256NEON", arm64.NoSplit, "func(base *byte, blocks uint32, hashes *uint64, fours int)")
	f.Comment("The kernel requests the cache lines of the blocks of 4 hashes at a time.")
	d := newNEONSplit256(f)
	hashes, fours := f.Argument("hashes"), f.Argument("fours")
	f.Label("four")
	for _, at := range d.find(d.next(hashes)) {
		f.PRFM(at.At(0))
	}
	f.SUBS(arm64.Imm(1), fours, fours)
	f.BNE("four")
	f.RET()
}
