package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// setPlaces emits a function that sets bits by number, four at a time.
func setPlaces(vectors) {
	Comment("A bit below whole lies in a whole word of 32 bits: the kernel reads and writes that",
		"word. After the last whole word, the filter may end inside a word. For a bit there,",
		"the kernel reads and writes only its byte.")
	base, whole, places, fours := argument("base"), argument("whole"), argument("places"), argument("fours")
	five, three := constant(5), constant(3)
	Label("four")
	for i := range 4 {
		address, index, word := GP64(), GP64(), GP64()
		MOVL(Mem{Base: places, Disp: 4 * i}, address.As32())
		branch(CMPL, address.As32(), whole.As32(), JAE, labelOf("byte", i))
		SHRXL(five.As32(), address.As32(), index.As32())
		MOVL(Mem{Base: base, Index: index, Scale: 4}, word.As32())
		BTSL(address.As32(), word.As32())
		MOVL(word.As32(), Mem{Base: base, Index: index, Scale: 4})
		Label(labelOf("next", i))
	}
	ADDQ(U8(16), places)
	countDown(fours, "four")
	RET()

	for i := range 4 {
		address, index, b := GP64(), GP64(), GP64()
		Label(labelOf("byte", i))
		MOVL(Mem{Base: places, Disp: 4 * i}, address.As32())
		SHRXL(three.As32(), address.As32(), index.As32())
		ANDL(U8(7), address.As32())
		MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, b.As32())
		BTSL(address.As32(), b.As32())
		MOVB(b.As8(), Mem{Base: base, Index: index, Scale: 1})
		JMP(LabelRef(labelOf("next", i)))
	}
}

// sortPlaces emits a function that sorts places (numbers of bits) by regions.
func sortPlaces(vectors) {
	Comment(
		"Each region collects its next places in a cache line in lines. A full line is",
		"appended to the region's places in kept, with stores past the caches: the caches",
		"can't hold the ends of so many regions. The function returns when a region is full.",
	)
	places, left := argument("places"), argument("n")
	numbers, lines := argument("numbers"), argument("lines")
	kept, capacity := argument("kept"), argument("capacity")

	Label("place")
	address, region, number, end := GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: places}, address.As32())
	ADDQ(U8(4), places)
	MOVL(address.As32(), region.As32())
	SHRL(U8(bloom.constant("regionShift")), region.As32())
	MOVL(Mem{Base: numbers, Index: region, Scale: 4}, number.As32())
	MOVL(number.As32(), end.As32())
	INCL(number.As32())
	MOVL(number.As32(), Mem{Base: numbers, Index: region, Scale: 4})
	ANDL(U8(15), end.As32())
	line := valueOf(region)
	SHLQ(U8(6), line)
	ADDQ(lines, line)
	MOVL(address.As32(), Mem{Base: line, Index: end, Scale: 4})
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
