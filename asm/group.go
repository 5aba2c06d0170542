package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// arraySize is the size in bytes of an array of package bloom: the address, the number of
// units, the reciprocal and the number of probes.
const arraySize = 32

// testArrays emits the tests of one key with many filters whose keys have one line each. The
// bits of the key in its line are the same in every filter.
func testArrays() {
	testArraysOf("Split256", "hash uint64", func(hash reg.GPVirtual) []reg.VecVirtual {
		SHRQ(U8(32), hash)
		return []reg.VecVirtual{bitsOfBlock()}
	}, product(32))
	testArraysOf("Line512", "hash uint64, bits *uint64", bitsOfArgument, product(64))
	testArraysOf("Line32", "hash uint64, bits *uint64", bitsOfArgument, func(hash, line reg.GPVirtual, a Mem) {
		Comment("The line is the remainder of the hash by the number of lines.")
		MOVQ(hash, reg.RDX)
		IMULQ(a.Offset(16), reg.RDX)
		MULXQ(a.Offset(8), GP64(), line)
		SHLQ(U8(6), line)
	})
}

// product returns what emits the upper half of the product of a hash of 32 bits and the number of
// lines, which have so many bytes.
func product(bytes int) func(hash, line reg.GPVirtual, a Mem) {
	return func(hash, line reg.GPVirtual, a Mem) {
		MOVQ(hash, line)
		IMULQ(a.Offset(8), line)
		SHRQ(U8(32), line)
		SHLQ(U8(log2(bytes)), line)
	}
}

// bitsOfBlock emits the bits in a block of a hash of Parquet.
func bitsOfBlock() reg.VecVirtual {
	bits, ones := YMM(), YMM()
	hash, err := Param("hash").Resolve()
	if err != nil {
		panic(err)
	}
	VPBROADCASTD(hash.Addr, bits)
	VPMULLD(splitSalts, bits, bits)
	VMOVDQU(splitOnes, ones)
	VPSRLD(U8(27), bits, bits)
	VPSLLVD(bits, ones, bits)
	return bits
}

// bitsOfArgument loads the 512 bits of a key in its line.
func bitsOfArgument(reg.GPVirtual) []reg.VecVirtual {
	at, bits := argument("bits"), []reg.VecVirtual{YMM(), YMM()}
	for i, b := range bits {
		VMOVDQU(Mem{Base: at, Disp: 32 * i}, b)
	}
	return bits
}

// testArraysOf emits the test for a walk. load loads the bits of a key in its line. locate
// emits the offset of the line of a hash in the array at a.
func testArraysOf(walk, arguments string, load func(hash reg.GPVirtual) []reg.VecVirtual, locate func(hash, line reg.GPVirtual, a Mem)) {
	TEXT("testArrays"+walk+"AVX2", NOSPLIT, "func(arrays **byte, n int, "+arguments+") uint64")
	Comment(
		"The kernel goes from the last array to the first. It has no branch that depends on the",
		"key, so the CPU loads the lines of many filters at a time.",
	)
	at, n, hash := argument("arrays"), argument("n"), argument("hash")
	bits := load(hash)
	none, word, size := YMM(), GP64(), GP64()
	VPXOR(none, none, none)
	XORL(word.As32(), word.As32())
	MOVQ(n, size)
	SHLQ(U8(log2(arraySize)), size)
	ADDQ(size, at)

	Label("array")
	SUBQ(U8(arraySize), at)
	line := GP64()
	locate(hash, line, Mem{Base: at})
	ADDQ(Mem{Base: at}, line)
	missing := YMM()
	for i, b := range bits {
		lacks := YMM()
		VMOVDQU(Mem{Base: line, Disp: 32 * i}, lacks)
		VPANDN(b, lacks, lacks)
		if i == 0 {
			missing = lacks
		} else {
			VPOR(lacks, missing, missing)
		}
	}
	VPTEST(missing, none) // sets the carry flag if no bit is missing
	ADCQ(word, word)
	DECQ(n)
	JNZ(LabelRef("array"))
	Store(word, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// testArraysDouble32 emits the first three probes of one key in many filters of the walk
// double32.
func testArraysDouble32() {
	TEXT("testArraysDouble32AVX2", NOSPLIT, "func(arrays **byte, n int, hashes, clear *uint32) uint64")
	Comment(
		"The kernel goes from the last array to the first. The place of a bit in its byte is the same",
		"in every filter: clear has the byte without it. The byte's address is the upper word of a",
		"product, as in double32.index.",
	)
	at, n, word, size := argument("arrays"), argument("n"), GP64(), GP64()
	hashes, clear := argument("hashes"), argument("clear")
	var hash, others [3]reg.GPVirtual
	for i := range hash {
		hash[i], others[i] = GP64(), GP64()
		MOVL(Mem{Base: hashes, Disp: 4 * i}, hash[i].As32())
		MOVL(Mem{Base: clear, Disp: 4 * i}, others[i].As32())
	}
	XORL(word.As32(), word.As32())
	MOVQ(n, size)
	SHLQ(U8(log2(arraySize)), size)
	ADDQ(size, at)

	Label("array")
	SUBQ(U8(arraySize), at)
	base, all := GP64(), GP64()
	MOVQ(Mem{Base: at}, base)
	for i := range hash {
		index, bits := GP64(), GP64()
		MOVQ(Mem{Base: at, Disp: 16}, reg.RDX)
		IMULQ(hash[i], reg.RDX)
		MULXQ(Mem{Base: at, Disp: 8}, GP64(), index)
		if i == 0 {
			bits = all
		}
		MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, bits.As32())
		ORL(others[i].As32(), bits.As32())
		if i > 0 {
			ANDL(bits.As32(), all.As32())
		}
	}
	ADDB(U8(1), all.As8()) // sets the carry flag if all bits are set
	ADCQ(word, word)
	DECQ(n)
	JNZ(LabelRef("array"))
	Store(word, ReturnIndex(0))
	RET()
}

// testArraysDouble64 emits the first three probes of one key in many filters of the walk
// double64, of 512 bits or more.
func testArraysDouble64() {
	TEXT("testArraysDouble64AVX2", NOSPLIT, "func(arrays **byte, n int, hashes *uint64) uint64")
	Comment(
		"The kernel goes from the last array to the first. The remainders are those of remainder64:",
		"a quotient from the reciprocal may be 1 too small.",
	)
	at, n, word := argument("arrays"), argument("n"), GP64()
	hashes := argument("hashes")
	var hash [3]reg.GPVirtual
	for i := range hash {
		hash[i] = GP64()
		MOVQ(Mem{Base: hashes, Disp: 8 * i}, hash[i])
	}
	XORL(word.As32(), word.As32())
	MOVQ(n, hashes)
	SHLQ(U8(log2(arraySize)), hashes)
	ADDQ(hashes, at)

	Label("array")
	SUBQ(U8(arraySize), at)
	base, size, all := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: at}, base)
	MOVQ(Mem{Base: at, Disp: 8}, size)
	for i, h := range hash {
		quotient, bit, less, b := GP64(), GP64(), GP64(), GP64()
		MOVQ(h, reg.RDX)
		MULXQ(Mem{Base: at, Disp: 16}, GP64(), quotient)
		SHRQ(U8(8), quotient)
		IMULQ(size, quotient)
		MOVQ(h, bit)
		SUBQ(quotient, bit)
		MOVQ(bit, less)
		SUBQ(size, less)
		CMOVQCC(less, bit)
		if i == 0 {
			b = all
		}
		MOVQ(bit, b)
		SHRQ(U8(3), b)
		MOVBLZX(Mem{Base: base, Index: b, Scale: 1}, b.As32())
		ANDL(U8(7), bit.As32())
		SHRXL(bit.As32(), b.As32(), b.As32())
		if i > 0 {
			ANDL(b.As32(), all.As32())
		}
	}
	SHRL(U8(1), all.As32()) // moves the outcome to the carry flag
	ADCQ(word, word)
	DECQ(n)
	JNZ(LabelRef("array"))
	Store(word, ReturnIndex(0))
	RET()
}
