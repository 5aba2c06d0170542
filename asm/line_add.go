package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitsAdder has the registers of a kernel that sets up to 8 bits of a line of 512 bits for
// each key, while its code is emitted: of the walks line512 and line32.
type bitsAdder struct {
	v            vectors
	walk         numbered
	slots, pairs reg.GPVirtual  // 8 words for each of 4 keys, on the stack; pairs of bits
	ones, starts reg.VecVirtual // of whole lines
	loops        int
}

// numbered is a walk whose keys have up to 8 bits in a line.
type numbered interface {
	lineWalk
	// numbers emits the numbers of the bits, 8 lanes for each key of a vector.
	numbers(h []Mem) reg.VecVirtual
}

// addBits emits the body of a kernel that sets bits of lines.
func addBits(v vectors, walk numbered) {
	a := &bitsAdder{v: v, walk: walk, slots: stackVectors(128), pairs: argument("pairs")}
	if v.lanes() < 16 {
		addLines(v, walk, a.addByWord)
		return
	}
	a.ones, a.starts = v.broadcast(constant(1)), v.vector()
	v.load(lineStarts, a.starts)
	addLines(v, walk, a.addWhole)
}

// addWhole emits the setting of the bits in a vector that is a whole line. A bit's number,
// less that of the first bit of a word, is the number of places to shift a 1 by: it leaves
// nothing in all words but its own. The bits of several keys are computed at a time, and set
// one key after the other.
func (a *bitsAdder) addWhole(h, line []Mem) {
	for i := 0; i < len(h); i += 2 {
		two := []Mem{h[i], h[min(i+1, len(h)-1)]}
		a.v.store(a.walk.numbers(two), Mem{Base: a.slots, Disp: 32 * i})
	}
	bits := make([]reg.VecVirtual, len(h))
	for i := range bits {
		bits[i] = ZMM()
		VPXORD(bits[i], bits[i], bits[i])
	}
	a.eachPair(func(numbers Mem) {
		for i, all := range bits {
			two := [2]reg.VecVirtual{ZMM(), ZMM()}
			for j, one := range two {
				VPADDD_BCST(numbers.Offset(32*i+4*j), a.starts, one)
				VPSLLVD(one, a.ones, one)
			}
			VPTERNLOGD(U8(0xfe), two[0], two[1], all) // the OR of all three
		}
	})
	for i, line := range line {
		VPORD(line, bits[i], bits[i])
		a.v.store(bits[i], line)
	}
}

// addByWord emits the setting of the bits one by one, in words of the line.
func (a *bitsAdder) addByWord(h, line []Mem) {
	for i := range h {
		a.v.store(a.walk.numbers(h[i:i+1]), Mem{Base: a.slots, Disp: 32 * i})
	}
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
	label, numbers, left := fmt.Sprintf("pair_%d", a.loops), GP64(), GP64()
	MOVQ(a.slots, numbers)
	MOVQ(a.pairs, left)
	Label(label)
	emit(Mem{Base: numbers})
	ADDQ(U8(8), numbers)
	DECQ(left)
	JNZ(LabelRef(label))
}

// lineStarts has the number of the first bit of each word of a line, negated.
var lineStarts Mem

func lineStartsTable() {
	lineStarts = GLOBL("lineStarts", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(uint32(-32*i)))
	}
}
