package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// setPlaces emits a function that sets bits by number, four at a time.
func setPlaces() {
	TEXT("setPlacesAVX2", NOSPLIT, signature("setPlaces"))
	Comment("A bit below whole lies in a whole word of 32 bits: the kernel reads and writes that",
		"word. After the last whole word, the filter may end inside a word. For a bit there,",
		"the kernel reads and writes only its byte.")
	base, whole, places, fours := argument("base"), argument("whole"), argument("places"), argument("fours")
	five, three := constant(5), constant(3)
	Label("four")
	for i := range 4 {
		place, index, word := GP64(), GP64(), GP64()
		MOVL(Mem{Base: places, Disp: 4 * i}, place.As32())
		branch(CMPL, place.As32(), whole.As32(), JAE, labelOf("byte", i))
		SHRXL(five.As32(), place.As32(), index.As32())
		MOVL(Mem{Base: base, Index: index, Scale: 4}, word.As32())
		BTSL(place.As32(), word.As32())
		MOVL(word.As32(), Mem{Base: base, Index: index, Scale: 4})
		Label(labelOf("next", i))
	}
	ADDQ(U8(16), places)
	countDown(fours, "four")
	RET()

	for i := range 4 {
		place, index, b := GP64(), GP64(), GP64()
		Label(labelOf("byte", i))
		MOVL(Mem{Base: places, Disp: 4 * i}, place.As32())
		SHRXL(three.As32(), place.As32(), index.As32())
		ANDL(U8(7), place.As32())
		MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, b.As32())
		BTSL(place.As32(), b.As32())
		MOVB(b.As8(), Mem{Base: base, Index: index, Scale: 1})
		JMP(LabelRef(labelOf("next", i)))
	}
}

// setNewPlaces emits a function that sets the bits of keys by number, key by key, and tells which keys
// lacked a bit.
func setNewPlaces() {
	TEXT("setNewPlacesAVX2", NOSPLIT, signature("setNewPlaces"))
	Comment("For a bit below whole, the kernel reads and writes a word of 32 bits, and else a byte, as setPlaces does.")
	base, whole, key, stride := argument("base"), argument("whole"), argument("places"), argument("block")
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
	at, left, missing := GP64(), argument("probes"), GP64()
	MOVQ(key, at)
	XORL(missing.As32(), missing.As32())
	places := []Mem{{Base: at}, {Base: at, Index: stride, Scale: 1}, {Base: at}}
	set := func(i int) {
		place, index, bits := GP64(), GP64(), GP64()
		MOVL(places[i], place.As32())
		branch(CMPL, place.As32(), whole.As32(), JAE, labelOf("byte", i))
		MOVL(place.As32(), index.As32())
		SHRL(U8(5), index.As32())
		MOVL(Mem{Base: base, Index: index, Scale: 4}, bits.As32())
		BTSL(place.As32(), bits.As32())
		MOVL(bits.As32(), Mem{Base: base, Index: index, Scale: 4})
		Label(labelOf("set", i))
		SBBL(I8(-1), missing.As32()) // 1 more if the bit was clear
	}
	branch(SUBQ, U8(2), left, JL, "last")
	Label("two")
	set(0)
	set(1)
	LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	branch(SUBQ, U8(2), left, JGE, "two")
	Label("last")
	branch(CMPQ, left, I8(-2), JEQ, "outcome")
	set(2)
	Label("outcome")
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
	skip := argument("probes")
	DECQ(skip)
	IMULQ(stride, skip)
	ADDQ(skip, key)
	JMP(LabelRef("block"))
	Label("end")
	Comment("The outcomes of a last word are its upper bits.")
	last := argument("n")
	NEGQ(last)
	branch(TESTQ, U32(63), last, JZ, "done")
	SHRXQ(last, word, word)
	MOVQ(word, Mem{Base: added})
	Label("done")
	RET()

	for i, m := range places {
		place, index, bits := GP64(), GP64(), GP64()
		Label(labelOf("byte", i))
		MOVL(m, place.As32())
		MOVL(place.As32(), index.As32())
		SHRL(U8(3), index.As32())
		ANDL(U8(7), place.As32())
		MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, bits.As32())
		BTSL(place.As32(), bits.As32())
		MOVB(bits.As8(), Mem{Base: base, Index: index, Scale: 1})
		JMP(LabelRef(labelOf("set", i)))
	}
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
