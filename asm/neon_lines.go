package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonLines is a scheme with one line of memory, or a part of one, for each key, while a
// kernel's code is emitted.
type neonLines interface {
	words() string // which hashes it takes
	// next emits the load of the next 4 hashes, and returns the addresses of their lines.
	next() (at [4]arm64.GP)
	// test emits the test of two of these 4 keys, the first ones or the last ones. It returns
	// 8 bytes for each key: zeros where the filter lacks a bit, and else ones.
	test(half int, at [2]arm64.GP) (passed arm64.V)
}

// neonHalves has the registers of a scheme in which half of a hash chooses the line.
type neonHalves struct {
	f            *arm64.Function
	base, hashes arm64.GP
	lines        arm64.V // their number, in each word
	h            [2]arm64.V
}

func newNEONHalves(f *arm64.Function) neonHalves {
	base, n := neonArray(f)
	hashes, _ := neonWindow(f, "h1")
	return neonHalves{f: f, base: base, hashes: hashes, lines: broadcast(f, n), h: [2]arm64.V{f.V(), f.V()}}
}

func (*neonHalves) words() string { return "h1" }

// linesOf emits the load of the next 4 hashes, and returns the addresses of their lines of 1<<shift bytes. unzip takes the
// lower or the upper halves.
func (d *neonHalves) linesOf(unzip func(t arm64.Arrangement, m, n, d arm64.V), shift int) (at [4]arm64.GP) {
	half := d.f.V()
	d.f.FLDPQ(d.hashes.Post(32), d.h[0], d.h[1])
	unzip(arm64.S4, d.h[1], d.h[0], half)
	return neonAddresses(d.f, d.base, neonUpper(d.f, half, d.lines), shift)
}

// neonTestLines emits the body of a kernel that tests a window of hashes. It has no branch
// that depends on a key.
func neonTestLines(f *arm64.Function, tables neonTables, scheme neonLines) {
	outcomes, outcome := f.Local(window+neonBlock), f.GP()
	_, n := neonWindow(f, scheme.words())
	f.MOVD(outcomes, outcome)
	f.Label("octet")
	var fours [4]arm64.V
	for i := range fours {
		at := scheme.next()
		first, last := scheme.test(0, [2]arm64.GP(at[:2])), scheme.test(1, [2]arm64.GP(at[2:]))
		fours[i] = f.V()
		f.VUMINP(arm64.B16, last, first, fours[i])
	}
	f.VUMINP(arm64.B16, fours[1], fours[0], fours[0])
	f.VUMINP(arm64.B16, fours[3], fours[2], fours[2])
	f.VUMINP(arm64.B16, fours[2], fours[0], fours[0])
	f.StoreQ(fours[0], outcome.Post(neonBlock))
	neonCount(f, arm64.Imm(neonBlock), n, f.BGT, "octet")
	_, n = neonWindow(f, scheme.words())
	neonPack(f, n, outcomes, tables)
	f.RET()
}

// neonAddLines emits the body of a kernel that adds hashes of 1<<shift bytes, at least 4. It
// calls add to emit the setting of the bits of 4 hashes, with the addresses of their lines.
func neonAddLines(f *arm64.Function, scheme neonLines, hashes arm64.GP, shift int, add func(at [4]arm64.GP)) {
	f.Comment(
		"The kernel sets the bits of 4 hashes at a time. If fewer are left at the end, it sets",
		"those of the last 4 again.",
	)
	_, n := neonWindow(f, scheme.words())
	f.Label("four")
	add(scheme.next())
	neonCount(f, arm64.Imm(4), n, f.BEQ, "end")
	neonBranch(f, arm64.Imm(4), n, f.BGE, "four")
	f.SUB(arm64.Imm(4), n, n)
	f.ADD(n.LSL(shift), hashes, hashes)
	f.MOVD(arm64.Imm(4), n)
	f.B("four")
	f.Label("end")
	f.RET()
}

// neonAddLinesNew is neonAddLines in the order of the hashes. After the bits of each hash, add calls after with a register that is
// not 0 if one was missing.
func neonAddLinesNew(f *arm64.Function, scheme neonLines, add func(at [4]arm64.GP, after func(missing arm64.GP))) {
	_, n := neonWindow(f, scheme.words())
	added, count, word := f.Argument("added"), f.GP(), f.GP()
	top, none := f.GP(), f.GP()
	f.MOVD(arm64.Imm(-1<<63), top)
	f.MOVD(arm64.Imm(0), none)
	f.Label("word")
	f.MOVD(arm64.Imm(64), count)
	f.MOVD(none, word)
	f.Label("four")
	add(scheme.next(), func(missing arm64.GP) {
		f.CMP(arm64.Imm(0), missing)
		f.CSEL("NE", top, none, missing)
		f.ORR(word.LSR(1), missing, word)
		neonCount(f, arm64.Imm(1), n, f.BEQ, "end")
	})
	neonCount(f, arm64.Imm(4), count, f.BNE, "four")
	f.StoreD(word, added.Post(8))
	f.B("word")
	f.Label("end")
	f.Comment("The outcomes of a last word are its upper bits.")
	_, last := neonWindow(f, scheme.words())
	f.NEG(last, last)
	f.LSR(last, word, word)
	f.StoreD(word, added.At(0))
	f.RET()
}

// neonLineKernel begins a kernel: it requests the lines of the hashes, if they are far. It returns the
// scheme, which uses the registers of the hashes again.
func neonLineKernel[W neonLines](f *arm64.Function, scheme func(*arm64.Function) W, comment ...string) W {
	f.Comment(comment...)
	neonRequestFar(f, func() neonLines { return scheme(f) })
	return scheme(f)
}

// neonRequestFar emits the requests for the lines of the hashes, 4 at a time, if they are far.
func neonRequestFar(f *arm64.Function, scheme func() neonLines) {
	far := f.GP()
	f.MOVBU(neonField(f, "far"), far)
	f.CBZ(far, "requested")
	w := scheme()
	_, fours := neonWindow(f, w.words())
	f.LSR(arm64.Imm(2), fours, fours)
	f.CBZ(fours, "requested")
	f.Label("request")
	for _, at := range w.next() {
		f.PRFM(at.At(0))
	}
	neonCount(f, arm64.Imm(1), fours, f.BNE, "request")
	f.Label("requested")
}

// neonUpper returns the upper halves of the products of words.
func neonUpper(f *arm64.Function, x, y arm64.V) arm64.V {
	low, high := f.V(), f.V()
	f.VUMULL(arm64.D2, y, x, low)
	f.VUMULL2(arm64.D2, y, x, high)
	f.VUZP2(arm64.S4, high, low, low)
	return low
}

// neonAddresses returns the addresses of 4 lines of 1<<shift bytes, whose numbers are in
// words. It changes these. The offset of a line has 32 bits.
func neonAddresses(f *arm64.Function, base arm64.GP, numbers arm64.V, shift int) (at [4]arm64.GP) {
	f.VSHL(shift, arm64.S4, numbers, numbers)
	for half := range 2 {
		two := f.GP()
		f.FromLane('D', half, numbers, two)
		at[2*half], at[2*half+1] = f.GP(), f.GP()
		f.ADD(two.UXTW(), base, at[2*half])
		f.ADD(two.LSR(32), base, at[2*half+1])
	}
	return at
}

// four returns consecutive registers, which a table needs.
func four(from int) []arm64.V {
	return []arm64.V{arm64.VN(from), arm64.VN(from + 1), arm64.VN(from + 2), arm64.VN(from + 3)}
}

// neonLineBits has the constants by which bits of two lines of 64 bytes are tested.
type neonLineBits struct{ seven, powers arm64.V }

func newNEONLineBits(f *arm64.Function, tables neonTables) neonLineBits {
	b := neonLineBits{f.V(), neonConstant(f, tables.bits)}
	f.VMOVI(7, b.seven)
	return b
}

// test emits the test of 8 bits of each of two lines. The upper 9 bits of 8 halfwords are
// the numbers of the bits.
func (b neonLineBits) test(f *arm64.Function, at [2]arm64.GP, first, last arm64.V) (passed arm64.V) {
	index, bit, loaded := f.V(), f.V(), [2]arm64.V{f.V(), f.V()}
	f.VUZP2(arm64.B16, last, first, index)
	f.VUSHR(2, arm64.B16, index, index)
	f.VSHRN(7, first, bit)
	f.VSHRN2(7, last, bit)
	f.VAND(b.seven, bit, bit)
	f.VTBL(bit, b.powers, bit)
	for i, at := range at {
		line := four(16 + 4*i)
		f.FLDPQ(at.At(0), line[0], line[1])
		f.FLDPQ(at.At(32), line[2], line[3])
		f.VTBLs(index, line, loaded[i])
	}
	f.VMOVLane('D', 1, loaded[1], 1, loaded[0])
	f.VCMTST(arm64.B16, bit, loaded[0], bit)
	return bit
}

// neonAddBits emits the body of a kernel that sets bits of lines of 64 bytes, two for each of the
// pairs. The upper 9 bits of the 8 halfwords of numbers(i) are the numbers of the bits of hash i
// of 4.
func neonAddBits(f *arm64.Function, scheme neonLines, hashes arm64.GP, shift int, numbers func(i int) arm64.V) {
	set := neonSetBits(f, numbers)
	neonAddLines(f, scheme, hashes, shift, func(at [4]arm64.GP) { set(at, nil) })
}

// neonSetBits returns a function that emits a loop over 4 hashes: the setting of the bits of one, and what after emits, if it is not
// nil, for a register that is not 0 if a bit was missing. The addresses of the lines and the numbers of the bits are on the stack.
func neonSetBits(f *arm64.Function, numbers func(i int) arm64.V) func(at [4]arm64.GP, after func(missing arm64.GP)) {
	pairs, most, one := f.GP(), f.GP(), f.GP()
	f.MOVD(neonField(f, "Array.K"), pairs)
	f.MOVD(arm64.Imm(8), most)
	f.CMP(arm64.Imm(8), pairs)
	f.CSEL("LT", pairs, most, pairs)
	f.ADD(arm64.Imm(1), pairs, pairs)
	f.LSR(arm64.Imm(1), pairs, pairs)
	f.MOVD(arm64.Imm(1), one)
	lines, vectors := f.Local(4*8), f.Local(4*16)
	return func(at [4]arm64.GP, after func(missing arm64.GP)) {
		for i := range at {
			f.StoreQ(numbers(i), vectors.At(16*i))
		}
		f.STP(at[0], at[1], lines.At(0))
		f.STP(at[2], at[3], lines.At(16))
		line, vector, left, to, missing := f.GP(), f.GP(), f.GP(), f.GP(), f.GP()
		halves := [2]arm64.GP{f.GP(), f.GP()}
		f.MOVD(lines, line)
		f.MOVD(vectors, vector)
		f.MOVD(arm64.Imm(4), left)
		f.Label("key")
		f.MOVD(line.Post(8), to)
		f.LDP(vector.Post(16), halves[0], halves[1])
		if after != nil {
			f.MOVD(arm64.Imm(0), missing)
		}
		for probe := range 8 {
			index, bit, word := f.GP(), f.GP(), f.GP()
			f.UBFX(probe%4*16+13, halves[probe/4], 3, index)
			f.LSR(arm64.Imm(probe%4*16+7), halves[probe/4], bit)
			f.LSL(bit, one, bit) // by its lower 6 bits
			f.MOVD(to.IndexScaled(index, 3), word)
			f.ORR(bit, word, bit)
			if after != nil {
				f.EOR(bit, word, word)
				f.ORR(word, missing, missing)
			}
			f.StoreD(bit, to.IndexScaled(index, 3))
			if probe%2 == 1 && probe < 7 {
				neonBranch(f, arm64.Imm(probe/2+1), pairs, f.BEQ, "set")
			}
		}
		f.Label("set")
		if after != nil {
			after(missing)
		}
		neonCount(f, arm64.Imm(1), left, f.BNE, "key")
	}
}
