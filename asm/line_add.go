package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitsAdder has the registers of a kernel that sets up to 8 bits of a line of 512 bits for
// each key, while its code is emitted: of the schemes line512 and line32.
type bitsAdder struct {
	v               vectors
	scheme          numbered
	slots, pairs    reg.GPVirtual    // 8 words for each of 4 keys, on the stack; pairs of bits
	ones            reg.VecVirtual   // of whole lines, as what follows
	starts          []reg.VecVirtual // the numbers of the first bits of the words of each part of a line, negated
	none            reg.VecVirtual   // no bits
	loops, unrolled int              // of pairs, for labels
}

// numbered is a scheme whose keys have up to 8 bits in a line.
type numbered interface {
	lineScheme
	// numbers emits the numbers of the bits, 8 lanes for each key of a vector.
	numbers(h []Mem) reg.VecVirtual
}

// setLine512 and setLine32 emit the setting of up to 8 bits of each of a window of hashes.

func setLine512(v vectors) { addBits(v, "Line512", &line512{}) }
func setLine32(v vectors)  { addBits(v, "Line32", &line32{}) }

func addBits(v vectors, name string, scheme numbered) {
	Comment("The addresses and the bits are those of probe" + name + ".")
	a := newBitsAdder(v, scheme)
	if v.lanes() < 16 {
		addLines(v, scheme, a.addByWord)
		return
	}
	a.prepareWhole()
	addLines(v, scheme, a.addWhole)
}

// setNewLine512 emits setLine512 in the order of the hashes, with the outcome of each.
func setNewLine512(v vectors) {
	Comment("The addresses and the bits are those of probeLine512.")
	scheme := &line512{}
	a := newBitsAdder(v, scheme)
	a.prepareWhole()
	if v.lanes() < 16 {
		a.none = v.vector()
		v.xor(a.ones, a.ones, a.none)
		addLinesNew(v, scheme, true, a.addNewHalves)
		return
	}
	addLinesNew(v, scheme, false, a.addNewWhole)
}

func newBitsAdder(v vectors, scheme numbered) *bitsAdder {
	a := &bitsAdder{v: v, scheme: scheme, slots: stackVectors(128), pairs: valueOf(field(argument("s"), "K"))}
	most := valueOf(U32(8))
	CMPQ(a.pairs, most)
	CMOVQGT(most, a.pairs)
	INCQ(a.pairs)
	SHRQ(U8(1), a.pairs)
	return a
}

// prepareWhole emits the constants of wholeLines.
func (a *bitsAdder) prepareWhole() {
	a.ones = a.v.broadcast(constant(1))
	for i := range 16 / a.v.lanes() {
		a.starts = append(a.starts, a.v.vector())
		a.v.load(lineStarts.Offset(32*i), a.starts[i])
	}
}

// storeNumbers emits the numbers of the bits, and stores them to the slots.
func (a *bitsAdder) storeNumbers(h []Mem) {
	abreast := a.v.lanes() / 8
	for i := 0; i < len(h); i += abreast {
		a.v.store(a.scheme.numbers(h[i:min(i+abreast, len(h))]), Mem{Base: a.slots, Disp: 32 * i})
	}
}

// wholeLines emits the bits of some keys in vectors that make up a whole line. A bit's number, less
// that of the first bit of a word, is the number of places to shift a 1 by: it leaves nothing in
// all words but its own.
func (a *bitsAdder) wholeLines(h []Mem) (bits [][]reg.VecVirtual) {
	a.storeNumbers(h)
	for range h {
		var line []reg.VecVirtual
		for range a.starts {
			line = append(line, a.v.vector())
		}
		bits = append(bits, line)
	}
	pair := func(numbers Mem, first bool) {
		for i, line := range bits {
			a.orTwo(numbers.Offset(32*i), line, first)
		}
	}
	if a.v.lanes() < 16 {
		for _, line := range bits {
			for _, all := range line {
				VPXOR(all, all, all)
			}
		}
		a.eachPair(func(numbers Mem) { pair(numbers, false) })
		return bits
	}
	// A loop over the pairs is shorter: with AVX2, and 450 lines less of assembly, adding in order took 1.04
	// times as long. With AVX-512, prototypes of six probes were 1.2 times as fast without it on a Zen 5, and
	// as fast on an Emerald Rapids.
	a.unrolled++
	end := labelOf("pairs_end", a.unrolled)
	for i := range 4 {
		if i > 0 {
			branch(CMPQ, a.pairs, U8(i), JEQ, end)
		}
		pair(Mem{Base: a.slots, Disp: 8 * i}, i == 0)
	}
	Label(end)
	return bits
}

// orTwo emits the OR of two bits of a line, whose numbers are at m, and of the parts of the line, unless these bits
// are the first.
func (a *bitsAdder) orTwo(m Mem, line []reg.VecVirtual, first bool) {
	if a.v.lanes() == 16 {
		two := newVectors(2)
		for j, one := range two {
			VPADDD_BCST(m.Offset(4*j), a.starts[0], one)
			VPSLLVD(one, a.ones, one)
		}
		if first {
			VPORD(two[0], two[1], line[0])
		} else {
			VPTERNLOGD(U8(0xfe), two[0], two[1], line[0]) // the OR of all three
		}
		return
	}
	for j := range 2 {
		number := broadcastAt(a.v, m.Offset(4*j))
		for part, all := range line {
			one := YMM()
			VPADDD(number, a.starts[part], one)
			VPSLLVD(one, a.ones, one)
			VPOR(one, all, all)
		}
	}
}

// addWhole emits the setting of the bits in a vector that is a whole line. The bits of several keys
// are computed at a time, and set one key after the other.
func (a *bitsAdder) addWhole(h, line []Mem) {
	for i, bits := range a.wholeLines(h) {
		VPORD(line[i], bits[0], bits[0])
		a.v.store(bits[0], line[i])
	}
}

// addNewWhole is addWhole with outcomes.
func (a *bitsAdder) addNewWhole(h, line []Mem, outcome func()) {
	for i, bits := range a.wholeLines(h) {
		before, k, changed := ZMM(), K(), GP64()
		a.v.load(line[i], before)
		VPORD(before, bits[0], bits[0])
		VPCMPD(U8(4), before, bits[0], k) // not equal
		a.v.store(bits[0], line[i])
		KMOVW(k, changed.As32())
		NEGL(changed.As32())
		outcome()
	}
}

// addNewHalves is addNewWhole with vectors of half a line. Prototypes that set bit after bit, as addByWord does,
// took 1.3 times as long on a Zen 5.
func (a *bitsAdder) addNewHalves(h, line []Mem, outcome func()) {
	for first := 0; first < len(h); first += 2 {
		some := h[first:min(first+2, len(h))]
		for i, bits := range a.wholeLines(some) {
			var missing [2]reg.VecVirtual
			for part, bits := range bits {
				before, m := YMM(), line[first+i].Offset(32*part)
				missing[part] = YMM()
				a.v.load(m, before)
				VPANDN(bits, before, missing[part])
				VPOR(before, bits, bits)
				a.v.store(bits, m)
			}
			VPOR(missing[0], missing[1], missing[0])
			VPTEST(missing[0], a.none)
			outcome()
		}
	}
}

// addByWord emits the setting of the bits one by one, in words of the line.
func (a *bitsAdder) addByWord(h, line []Mem) {
	a.storeNumbers(h)
	five := constant(5)
	a.eachPair(func(numbers Mem) {
		for i, line := range line {
			for j := range 2 {
				number, index, word := GP64(), GP64(), GP64()
				MOVL(numbers.Offset(32*i+4*j), number.As32())
				SHRXL(five.As32(), number.As32(), index.As32())
				MOVL(line.Idx(index, 4), word.As32())
				BTSL(number.As32(), word.As32())
				MOVL(word.As32(), line.Idx(index, 4))
			}
		}
	})
}

// eachPair emits a loop over the pairs of bits. numbers has the first number of the pair of
// the first key.
func (a *bitsAdder) eachPair(emit func(numbers Mem)) {
	a.loops++
	label, numbers, left := labelOf("pair", a.loops), valueOf(a.slots), valueOf(a.pairs)
	Label(label)
	emit(Mem{Base: numbers})
	ADDQ(U8(8), numbers)
	countDown(left, label)
}

// lineStarts has the number of the first bit of each word of a line, negated.
var lineStarts = words("lineStarts", 16, func(i int) uint32 { return uint32(-32 * i) })
