package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions below emit the requests for the bits of a hash, and return the last address that they request.
// Double walks request the bits of firstProbes. A block of 32 bytes or a line of 64 may begin anywhere, and so lie
// in two cache lines.

func requestDouble32() {
	TEXT("requestDouble32AVX2", NOSPLIT, ofRequest)
	h, walk, delta := argument("h1"), argument("base"), GP64()
	base, n, recip := fieldValue(walk, "base"), fieldValue(walk, "n"), fieldValue(walk, "recip")
	RORXL(U8(17), h.As32(), delta.As32())
	index := GP64()
	for i := range firstProbes {
		if i > 0 {
			ADDL(delta.As32(), h.As32())
		}
		low := GP64()
		MOVL(h.As32(), reg.EDX)
		IMULQ(recip, reg.RDX)
		MULXQ(n, low, index)
		request(Mem{Base: base, Index: index, Scale: 1})
	}
	returnSum(base, index)
}

func requestDouble64() {
	TEXT("requestDouble64AVX2", NOSPLIT, ofRequest)
	h, step, walk := argument("h1"), argument("h2"), argument("base")
	base, n, recip := fieldValue(walk, "base"), fieldValue(walk, "n"), fieldValue(walk, "recip")
	Comment("One remainder in 512 is too large by the number of bits: it requests bytes in vain.")
	bit := GP64()
	for i := range firstProbes {
		if i > 0 {
			ADDQ(step, h)
		}
		low, q := GP64(), GP64()
		MOVQ(h, reg.RDX)
		MULXQ(recip, low, q)
		MOVQ(h, bit)
		SHRQ(U8(8), q)
		IMULQ(n, q)
		SUBQ(q, bit)
		SHRQ(U8(3), bit)
		request(Mem{Base: base, Index: bit, Scale: 1})
	}
	returnSum(base, bit)
}

// firstProbes is how many probes of a double walk are requested.
const firstProbes = 3

func requestSplit256() {
	TEXT("requestSplit256AVX2", NOSPLIT, ofRequest)
	block := argument("h1")
	SHRQ(U8(32), block)
	lineAddress(argument("base"), block, 5)
	requestBoth(block, 32)
}

func requestLine512() {
	TEXT("requestLine512AVX2", NOSPLIT, ofRequest)
	line := argument("h1")
	SHLQ(U8(32), line) // clears the upper half: avo would drop a MOVL from a register to itself
	SHRQ(U8(32), line)
	lineAddress(argument("base"), line, 6)
	requestBoth(line, 64)
}

func requestLine32() {
	TEXT("requestLine32AVX2", NOSPLIT, ofRequest)
	requestBoth(line32Address(argument("base"), argument("h1")), 64)
}

// requestBoth emits requests for the first and the last of some bytes, and the end of the function.
func requestBoth(at reg.GPVirtual, bytes int) {
	request(Mem{Base: at})
	ADDQ(U8(bytes-1), at)
	request(Mem{Base: at})
	MOVQ(at, result())
	RET()
}

// returnSum emits the return of the sum of two registers, the first of which it changes.
func returnSum(a, b reg.GPVirtual) {
	ADDQ(b, a)
	MOVQ(a, result())
	RET()
}
