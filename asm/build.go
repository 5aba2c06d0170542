package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// setBits emits the setting of bits by number, in whole fours.
func setBits() {
	TEXT("setBits", NOSPLIT, "func(base *byte, places *uint32, fours int)")
	Comment("One byte is read and written for each bit.")
	base, places, fours := argument("base"), argument("places"), argument("fours")
	Label("four")
	for i := range 4 {
		place, index, b := GP64(), GP64(), GP64()
		MOVL(Mem{Base: places, Disp: 4 * i}, place.As32())
		MOVL(place.As32(), index.As32())
		SHRL(U8(3), index.As32())
		ANDL(U8(7), place.As32())
		MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, b.As32())
		BTSL(place.As32(), b.As32())
		MOVB(b.As8(), Mem{Base: base, Index: index, Scale: 1})
	}
	ADDQ(U8(16), places)
	DECQ(fours)
	JNZ(LabelRef("four"))
	RET()
}

// scatterPlaces emits the distribution of places over regions.
func scatterPlaces() {
	TEXT("scatterAVX2", NOSPLIT, "func(places *uint32, n int, shift uint32, numbers, lines, kept *uint32, capacity int) (left int)")
	Comment(
		"The next places of a region gather in a cache line of its own, in lines, which",
		"moves past the caches to its end in kept when it is full: there are too many",
		"ends for the caches to keep. It returns when a region is full.",
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
	line := GP64()
	MOVQ(region, line)
	SHLQ(U8(6), line)
	ADDQ(lines, line)
	MOVL(place.As32(), Mem{Base: line, Index: end, Scale: 4})
	CMPL(end.As32(), U8(15))
	JEQ(LabelRef("line_full"))
	Label("next")
	DECQ(left)
	JNZ(LabelRef("place"))
	JMP(LabelRef("end"))

	Label("line_full")
	IMULQ(capacity, region)
	ADDQ(number, region)
	for i := range 2 {
		half := YMM()
		VMOVDQU(Mem{Base: line, Disp: 32 * i}, half)
		VMOVNTDQ(half, Mem{Base: kept, Index: region, Scale: 4, Disp: 32*i - 64})
	}
	CMPQ(number, capacity)
	JNE(LabelRef("next"))
	DECQ(left)
	Label("end")
	Store(left, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
