package main

import (
	"encoding/binary"

	"github.com/lanebloom/bloom/asm/arm64"
)

// neonBlock is the number of hashes that a kernel tests at a time.
const neonBlock = 16

// survivorsSize is the number of bytes for the hashes of the survivors: a window, and
// room for stores past its end. Their numbers have as many bytes and follow the hashes.
var survivorsSize = 4 * (window + 2*neonBlock)

// noScheme is the number in lanes that have no hash. There is a byte for its outcome, which
// no one reads.
var noScheme = uint32(window)

// neonDouble32 has the registers of double32 while a kernel's code is emitted.
type neonDouble32 struct {
	f                  *arm64.Function
	size, recip, shift arm64.V

	// For tests: the address of the filter, memory for the indices of the bytes to load,
	// and a vector with 7 in each byte.
	base, indices arm64.GP
	seven         arm64.V
	first, others arm64.GP // the numbers of probes that are made of all hashes, and of those that pass them
}

// load emits the constants of index, from the prober's divisor, which divides by
// the smallest power of two that is at least size: half of its reciprocal, rounded up, and 3 less the shift.
func (d *neonDouble32) load() {
	base, size := neonArray(d.f)
	recip, shift, left := d.f.GP(), d.f.GP(), d.f.GP()
	d.f.LDP(neonField(d.f, "divisor"), recip, shift)
	d.f.ADD(arm64.Imm(1), recip, recip)
	d.f.LSR(arm64.Imm(1), recip, recip)
	d.f.MOVD(arm64.Imm(3), left)
	d.f.SUB(shift, left, left)
	d.base, d.size, d.recip, d.shift = base, broadcast(d.f, size), broadcast(d.f, recip), broadcast(d.f, left)
}

// neonProbeDouble32 emits the test of a window of hashes.
func neonProbeDouble32(f *arm64.Function, tables neonTables) {
	f.Comment(
		"Probe i of a hash h tests bit x%8 of byte x/8 mod size, x = h + i·rotr(h, 17). The",
		"kernel makes the first probes of all hashes, 16 at a time. If there are other",
		"probes, it compacts the hashes that pass, with their numbers, and makes the others",
		"for those. The sign bit of a byte is the outcome for a hash. At the end, the kernel",
		"packs the sign bits into hits.",
	)
	d := &neonDouble32{f: f}
	d.load()
	d.indices, d.seven = f.Local(4*neonBlock), f.V()
	f.VMOVI(7, d.seven)
	d.split()
	outcomes, survivors, end := f.Local(window+neonBlock), f.Local(2*survivorsSize), f.GP()
	f.MOVD(survivors, end)
	d.testAll(outcomes, end, tables)
	neonBranch(f, survivors, end, f.BEQ, "pack")
	d.testSurvivors(outcomes, survivors, end)
	f.Label("pack")
	_, n := neonWindow(f, "h32")
	neonPack(f, n, outcomes, tables)
	f.RET()
}

// neonTables are the constants of the tests.
type neonTables struct {
	// lanes has 0, 1, 2 and 3 in words. nibbles repeats 16, 32, 64 and 128 in bytes. bits
	// repeats the powers of two from 1 to 128 in bytes.
	lanes, nibbles, bits arm64.Symbol
	// compact has an entry for each subset of 4 words: the indices of the subset's bytes,
	// and then indices past all bytes.
	compact arm64.Symbol
	// salts are the salts of split256, in words. upperBytes has the indices of the upper bytes of 16 words,
	// and wordStarts the indices of the lower bytes.
	salts, upperBytes, wordStarts arm64.Symbol
	steps, secret                 arm64.Symbol // of LevelDB's hash, and of XXPH3
}

func newNEONTables(file *arm64.File) neonTables {
	var lanes, nibbles, bits, upperBytes, wordStarts [16]byte
	var compact, factors, secret []byte
	for i := range 16 {
		lanes[i] = byte(i / 4 * (1 - min(1, i%4)))
		nibbles[i], bits[i] = 16<<(i%4), 1<<(i%8)
		upperBytes[i], wordStarts[i] = byte(4*i+3), byte(4*i)
		var words []byte
		for b := range byte(16) {
			if i>>(b/4)&1 != 0 {
				words = append(words, b)
			}
		}
		for len(words) < 16 {
			words = append(words, 0xff)
		}
		compact = append(compact, words...)
	}
	for _, salt := range salts {
		factors = binary.LittleEndian.AppendUint32(factors, uint32(salt))
	}
	for _, word := range xxph3Words {
		secret = binary.LittleEndian.AppendUint64(secret, word)
	}
	return neonTables{
		lanes:      file.Bytes("laneNumbers", lanes[:]),
		nibbles:    file.Bytes("nibbleBits", nibbles[:]),
		bits:       file.Bytes("byteBits", bits[:]),
		compact:    file.Bytes("compactBytes", compact),
		salts:      file.Bytes("splitSalts", factors),
		upperBytes: file.Bytes("upperBytes", upperBytes[:]),
		wordStarts: file.Bytes("wordStarts", wordStarts[:]),
		steps:      file.Bytes("hash32Steps", neonHash32Steps()),
		secret:     file.Bytes("xxph3Words", secret),
	}
}

// split emits the numbers of the first probes and of the others.
func (d *neonDouble32) split() {
	f := d.f
	d.first, d.others = f.GP(), f.GP()
	f.MOVD(neonField(f, "Array.K"), d.others)
	f.MOVD(arm64.Imm(bloom.constant("firstProbes")), d.first)
	f.CMP(d.others, d.first)
	f.CSEL("LO", d.first, d.others, d.first)
	f.CBZ(f.Argument("dense"), "staged")
	f.MOVD(d.others, d.first)
	f.Label("staged")
	f.SUB(d.first, d.others, d.others)
}

// testAll emits the first probes of all hashes. Those that pass move to the end of
// the survivors, if there are other probes.
func (d *neonDouble32) testAll(outcomes, end arm64.GP, tables neonTables) {
	f := d.f
	hashes, n := neonWindow(f, "h32")
	outcome, move := f.GP(), d.mover(tables, end)
	f.MOVD(outcomes, outcome)

	f.Label("octet")
	passed := d.probes("first", d.begin(hashes, nil), d.first)
	f.StoreQ(passed, outcome.Post(16)) // later overwritten for survivors
	f.CBZ(d.others, "next")
	move(passed, 4, d.loadBlock(hashes))
	f.Label("next")
	f.ADD(arm64.Imm(4*neonBlock), hashes, hashes)
	neonCount(f, arm64.Imm(neonBlock), n, f.BGT, "octet")
}

// mover returns a function that emits the move of the numbers of the hashes that passed, some fours of them, to the
// end. If there are hashes, they move there, too, and the numbers survivorsSize further.
func (d *neonDouble32) mover(tables neonTables, end arm64.GP) func(passed arm64.V, fours int, hash []arm64.V) {
	f, compact := d.f, d.f.GP()
	f.Address(tables.compact, compact)
	numbers, four, weights := neonConstant(f, tables.lanes), broadcastConstant(f, 4), neonConstant(f, tables.nibbles)
	return func(passed arm64.V, fours int, hash []arm64.V) {
		// Of each 4 hashes, the upper half of a byte of lanes has a bit for each that passed, and one of counts their number.
		lanes, counts, v := f.GP(), f.GP(), f.V()
		f.VCMLT0(arm64.B16, passed, v)
		f.VAND(weights, v, v)
		f.VADDP(arm64.B16, v, v, v)
		f.VADDP(arm64.B16, v, v, v)
		f.FromLane('S', 0, v, lanes)
		f.VCNT(v, v)
		f.FromLane('S', 0, v, counts)
		for i := range fours {
			set, control, moved, to := f.GP(), f.V(), f.V(), 0
			f.UBFX(8*i, lanes, 8, set)
			f.ADD(compact, set, set)
			f.FMOVQ(set.At(0), control)
			if hash != nil {
				f.VTBL(control, hash[i], moved)
				f.StoreQ(moved, end.At(0))
				to = survivorsSize
			}
			f.VTBL(control, numbers, moved)
			f.StoreQ(moved, end.At(to))
			f.VADD(arm64.S4, four, numbers, numbers)
			f.UBFX(8*i, counts, 8, set)
			f.ADD(set.LSL(2), end, end)
		}
	}
}

// testSurvivors emits the other probes of the survivors.
func (d *neonDouble32) testSurvivors(outcomes, survivors, end arm64.GP) {
	f := d.f
	numbers := f.GP()
	done, none := broadcast(f, d.first), broadcastConstant(f, noScheme)
	for i := range neonBlock / 4 {
		f.StoreQ(none, end.At(survivorsSize+16*i))
	}
	f.ADD(arm64.Imm(survivorsSize), survivors, numbers)

	f.Label("survivors")
	passed := d.probes("others", d.begin(survivors, &done), d.others)
	f.ADD(arm64.Imm(4*neonBlock), survivors, survivors)
	d.scatter(passed, 0, numbers, outcomes)
	d.scatter(passed, 1, numbers, outcomes)
	neonBranch(f, end, survivors, f.BLO, "survivors")
}

// scatter emits the stores of half of the outcomes to the bytes of the next numbers.
func (d *neonDouble32) scatter(passed arm64.V, half int, numbers, outcomes arm64.GP) {
	f, bytes := d.f, d.f.GP()
	f.FromLane('D', half, passed, bytes)
	for i := range 4 {
		a, b := f.GP(), f.GP()
		f.LDPW(numbers.Post(8), a, b)
		f.StoreB(bytes, outcomes.Index(a))
		f.LSR(arm64.Imm(8), bytes, bytes)
		f.StoreB(bytes, outcomes.Index(b))
		if i < 3 {
			f.LSR(arm64.Imm(8), bytes, bytes)
		}
	}
}

// neonPack emits code that packs the sign bits of the outcomes of some hashes, bytes, into hits. It changes how many are left.
func neonPack(f *arm64.Function, left, outcomes arm64.GP, tables neonTables) {
	hits, weights := f.Argument("hits"), neonConstant(f, tables.bits)
	f.Label("word")
	var v [4]arm64.V
	fillVectors(f, v[:])
	f.FLDPQ(outcomes.Post(32), v[0], v[1])
	f.FLDPQ(outcomes.Post(32), v[2], v[3])
	for i := range v {
		f.VCMLT0(arm64.B16, v[i], v[i])
		f.VAND(weights, v[i], v[i])
	}
	f.VADDP(arm64.B16, v[1], v[0], v[0])
	f.VADDP(arm64.B16, v[3], v[2], v[2])
	f.VADDP(arm64.B16, v[2], v[0], v[0])
	f.VADDP(arm64.B16, v[0], v[0], v[0])
	f.StoreLow(v[0], hits.Post(8))
	neonCount(f, arm64.Imm(64), left, f.BGT, "word")

	f.Comment("Clear the bits past the last hash in the last word.")
	word := f.GP()
	f.NEG(left, left)
	f.MOVD(hits.At(-8), word)
	f.LSL(left, word, word)
	f.LSR(left, word, word)
	f.StoreD(word, hits.At(-8))
}

// neonProbing is a block of hashes and their state between two probes.
type neonProbing struct {
	h, delta       []arm64.V
	bits, bitsStep arm64.V // the low byte of each hash, and of its delta
}

// begin emits the first probe of a block of hashes in memory. It is probe number done, or probe 0 if done is nil.
func (d *neonDouble32) begin(hashes arm64.GP, done *arm64.V) neonProbing {
	w := neonProbing{h: d.loadBlock(hashes)}
	for _, h := range w.h {
		delta := d.rotate17(h)
		w.delta = append(w.delta, delta)
		if done != nil {
			d.f.VMLA(arm64.S4, delta, *done, h)
		}
	}
	w.bits, w.bitsStep = d.lowBytes(w.h), d.lowBytes(w.delta)
	return w
}

func (d *neonDouble32) loadBlock(hashes arm64.GP) []arm64.V {
	h := []arm64.V{d.f.V(), d.f.V(), d.f.V(), d.f.V()}
	d.f.FLDPQ(hashes.At(0), h[0], h[1])
	d.f.FLDPQ(hashes.At(32), h[2], h[3])
	return h
}

// rotate17 returns words rotated right by 17 bits.
func (d *neonDouble32) rotate17(h arm64.V) (delta arm64.V) {
	delta = d.f.V()
	d.f.VSHL(15, arm64.S4, h, delta)
	d.f.VSRI(17, arm64.S4, h, delta)
	return delta
}

// lowBytes returns the low bytes of 16 words.
func (d *neonDouble32) lowBytes(words []arm64.V) arm64.V {
	low, high := d.f.V(), d.f.V()
	d.f.VUZP1(arm64.H8, words[1], words[0], low)
	d.f.VUZP1(arm64.H8, words[3], words[2], high)
	d.f.VUZP1(arm64.B16, high, low, low)
	return low
}

// probes emits the next count probes of a block, at least one. It returns a byte for each
// hash, with the sign bit set if the hash passes all of them.
func (d *neonDouble32) probes(label string, w neonProbing, count arm64.GP) (passed arm64.V) {
	f := d.f
	passed = f.V()
	f.VMOVI(0xff, passed)
	left := f.GP()
	f.MOVD(count, left)
	f.Label(label)
	var indices [4]arm64.V
	for i := range indices {
		indices[i] = d.index(w.h[i])
		f.VADD(arm64.S4, w.delta[i], w.h[i], w.h[i])
	}
	f.FSTPQ(indices[0], indices[1], d.indices.At(0))
	f.FSTPQ(indices[2], indices[3], d.indices.At(32))
	loaded, shift := f.V(), f.V()
	f.FMOVD(d.gather(0), loaded)
	f.ToLane(d.gather(8), 'D', 1, loaded)
	f.VBIC(w.bits, d.seven, shift)
	f.VUSHL(arm64.B16, shift, loaded, loaded)
	f.VAND(loaded, passed, passed)
	f.VADD(arm64.B16, w.bitsStep, w.bits, w.bits)
	neonCount(f, arm64.Imm(1), left, f.BNE, label)
	return passed
}

// gather emits the loads of the bytes with indices from to from+7, and returns them side
// by side. It loads them through general registers. A load into a lane of a vector has no
// index for its address, and it waits for the lane before.
func (d *neonDouble32) gather(from int) (bytes arm64.GP) {
	f := d.f
	bytes = f.GP()
	for i := 0; i < 8; i += 2 {
		a, b := f.GP(), f.GP()
		f.LDPW(d.indices.At(4*(from+i)), a, b)
		if i == 0 {
			f.MOVBU(d.base.Index(a), bytes)
		} else {
			f.MOVBU(d.base.Index(a), a)
			f.BFI(8*i, a, 8, bytes)
		}
		f.MOVBU(d.base.Index(b), b)
		f.BFI(8*(i+1), b, 8, bytes)
	}
	return bytes
}

// index returns the bytes that hold bits h mod 8·size: (h>>3) mod size.
//
// For x = h>>3 < 2^29 it is x - q·size with q = floor(x/size). It needs no division: with
// 2^L the largest power of two up to size, and recip = ceil(2^(31+L)/size), q is
// floor(x·recip / 2^(31+L)). Proof: recip is less than 1 above 2^(31+L)/size. So the
// quotient is less than 2^29/2^(31+L) ≤ 1/(4·2^L) < 1/size too large, which can't carry a
// multiple of 1/size over an integer. The signed product needs a recip below 2^31. It is,
// unless size is 2^L; then recip is 2^30 and the shift is L-1. VSQDMULH returns
// x·recip / 2^31. The shift is negative, because the instruction shifts to the left.
func (d *neonDouble32) index(h arm64.V) (x arm64.V) {
	x, q := d.f.V(), d.f.V()
	d.f.VUSHR(3, arm64.S4, h, x)
	d.f.VSQDMULH(arm64.S4, d.recip, x, q)
	d.f.VUSHL(arm64.S4, d.shift, q, q)
	d.f.VMLS(arm64.S4, d.size, q, x)
	return x
}

// neonPlaceDouble32 emits a function that stores the numbers of the bits that hashes
// probe, in any order, for the given number of whole vectors.
func neonPlaceDouble32(f *arm64.Function, _ neonTables) {
	f.Comment("The probes are those of probeDouble32. The kernel stores the bits of each vector.")
	d := &neonDouble32{f: f}
	d.load()
	hashes, vectors := neonWindow(f, "h32")
	places, probes := f.Argument("places"), f.GP()
	f.MOVD(neonField(f, "Array.K"), probes)
	done := f.GP()
	f.LSR(arm64.Imm(3), vectors, vectors)
	f.LSL(arm64.Imm(3), vectors, done)
	f.Result("done", done)
	f.Label("vector")
	h := [2]arm64.V{f.V(), f.V()}
	f.FLDPQ(hashes.Post(32), h[0], h[1])
	delta := [2]arm64.V{d.rotate17(h[0]), d.rotate17(h[1])}
	left := f.GP()
	f.MOVD(probes, left)
	f.Label("probe")
	var place [2]arm64.V
	for i := range place {
		place[i] = f.V()
		f.VMOV(h[i], place[i])
		f.VSLI(3, arm64.S4, d.index(h[i]), place[i])
		f.VADD(arm64.S4, delta[i], h[i], h[i])
	}
	f.FSTPQ(place[0], place[1], places.Post(32))
	neonCount(f, arm64.Imm(1), left, f.BNE, "probe")
	neonCount(f, arm64.Imm(1), vectors, f.BNE, "vector")
	f.RET()
}
