package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setPlaces emits a function that sets bits by number, four at a time.
func setPlaces() {
	TEXT("setPlacesAVX2", NOSPLIT, signature("setPlaces"))
	Comment("A bit below whole lies in a whole word of 32 bits: the kernel reads and writes that",
		"word. After the last whole word, the filter may end inside a word. For a bit there,",
		"the kernel reads and writes only its byte.")
	set, places, fours := newPlaceSetter(), argument("places"), argument("fours")
	var last []func()
	Label("four")
	for i := range 4 {
		last = append(last, set.at(Mem{Base: places, Disp: 4 * i}, i))
	}
	ADDQ(U8(16), places)
	countDown(fours, "four")
	RET()
	for _, emit := range last {
		emit()
	}
}

// placeSetter has the registers of a kernel that sets bits by number, while its code is emitted.
type placeSetter struct{ base, whole, five reg.GPVirtual }

func newPlaceSetter() *placeSetter {
	return &placeSetter{argument("base"), argument("whole"), constant(5)}
}

// at emits the setting of bit number i of a step, whose place is at m. After it, the carry flag says whether the bit
// was set. It returns what emits the same for a bit after the last whole word, behind the end of the function.
func (s *placeSetter) at(m Mem, i int) (last func()) {
	place, index, word := GP64(), GP64(), GP64()
	MOVL(m, place.As32())
	branch(CMPL, place.As32(), s.whole.As32(), JAE, labelOf("byte", i))
	SHRXL(s.five.As32(), place.As32(), index.As32())
	MOVL(Mem{Base: s.base, Index: index, Scale: 4}, word.As32())
	BTSL(place.As32(), word.As32())
	MOVL(word.As32(), Mem{Base: s.base, Index: index, Scale: 4})
	Label(labelOf("set", i))
	return func() {
		b := Mem{Base: s.base, Index: index, Scale: 1}
		Label(labelOf("byte", i))
		MOVL(place.As32(), index.As32())
		SHRL(U8(3), index.As32())
		ANDL(U8(7), place.As32())
		MOVBLZX(b, word.As32())
		BTSL(place.As32(), word.As32())
		MOVB(word.As8(), b)
		JMP(LabelRef(labelOf("set", i)))
	}
}

// setNewPlaces emits a function that sets the bits of keys by number, key by key, and tells which keys
// lacked a bit.
func setNewPlaces() {
	TEXT("setNewPlacesAVX2", NOSPLIT, signature("setNewPlaces"))
	Comment("For a bit below whole, the kernel reads and writes a word of 32 bits, and else a byte, as setPlaces does.")
	set, key, stride := newPlaceSetter(), argument("places"), argument("block")
	n, added, inBlock, word := argument("n"), argument("added"), GP64(), GP64()
	SHLQ(U8(2), stride)
	Comment("Bit 63 of a word without outcomes leaves it after 64 of them.")
	empty := func() {
		MOVQ(U32(1), word)
		RORQ(U8(1), word)
	}
	empty()
	Label("block")
	MOVQ(argument("block"), inBlock)
	Label("key")
	at, left, missing := valueOf(key), argument("probes"), zeroWord()
	Label("probe")
	last := set.at(Mem{Base: at}, 0)
	SBBL(I8(-1), missing.As32()) // 1 more if the bit was clear
	ADDQ(stride, at)
	countDown(left, "probe")
	NEGL(missing.As32())
	RCRQ(U8(1), word)
	JCC(LabelRef("kept"))
	MOVQ(word, Mem{Base: added})
	ADDQ(U8(8), added)
	empty()
	Label("kept")
	DECQ(n)
	JZ(LabelRef("end"))
	ADDQ(U8(4), key)
	countDown(inBlock, "key")
	LEAQ(Mem{Base: at, Disp: 4}, key)
	SUBQ(stride, key)
	JMP(LabelRef("block"))
	Label("end")
	Comment("The outcomes of a last word are its upper bits.")
	rest := argument("n")
	NEGQ(rest)
	branch(TESTQ, U32(63), rest, JZ, "done")
	SHRXQ(rest, word, word)
	MOVQ(word, Mem{Base: added})
	Label("done")
	RET()
	last()
}

// sortPlaces emits a function that sorts places (numbers of bits) by regions.
func sortPlaces() {
	TEXT("sortPlacesAVX2", NOSPLIT, signature("sortPlaces"))
	Comment(
		"Each region collects its next places in a cache line in lines. A full line is",
		"appended to the region's places in kept, with stores past the caches: the caches",
		"can't hold the ends of so many regions. The function returns when a region is full.",
	)
	places, left := argument("places"), argument("n")
	shift, numbers, lines := argument("shift"), argument("numbers"), argument("lines")
	kept, capacity := argument("kept"), argument("capacity")

	Label("place")
	place, region, number, end := GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: places}, place.As32())
	ADDQ(U8(4), places)
	SHRXL(shift.As32(), place.As32(), region.As32())
	MOVL(Mem{Base: numbers, Index: region, Scale: 4}, number.As32())
	MOVL(number.As32(), end.As32())
	INCL(number.As32())
	MOVL(number.As32(), Mem{Base: numbers, Index: region, Scale: 4})
	ANDL(U8(15), end.As32())
	line := valueOf(region)
	SHLQ(U8(6), line)
	ADDQ(lines, line)
	MOVL(place.As32(), Mem{Base: line, Index: end, Scale: 4})
	branch(CMPL, end.As32(), U8(15), JEQ, "line_full")
	Label("next")
	countDown(left, "place")
	JMP(LabelRef("end"))

	Label("line_full")
	IMULQ(capacity, region)
	ADDQ(number, region)
	for i := range 2 {
		half := YMM()
		VMOVDQU(Mem{Base: line, Disp: 32 * i}, half)
		VMOVNTDQ(half, Mem{Base: kept, Index: region, Scale: 4, Disp: 32*i - 64})
	}
	branch(CMPQ, number, capacity, JNE, "next")
	DECQ(left)
	Label("end")
	returnResult(left)
}
