package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hasSplit256 emits the tests of single keys in Parquet's blocks: of a hash, of a key of 8
// bytes, and of any short key. They test all words of a block at a time. base points to the
// first address and the number of blocks.
func hasSplit256() {
	TEXT("hasSplit256AVX2", NOSPLIT, "func(base **byte, hash uint64) bool")
	line, bits := argument("hash"), YMM()
	hash, err := Param("hash").Resolve()
	if err != nil {
		panic(err)
	}
	SHRQ(U8(32), line)
	VPBROADCASTD(hash.Addr, bits)
	hasHash(line, bits)

	TEXT("hasUint64Split256AVX2", NOSPLIT, "func(base **byte, key uint64) bool")
	Comment("XXH64 with the seed 0 of 8 bytes.")
	x := newXXH64()
	MOVQ(U64(primes[4]+8), x.h)
	x.mixLong(argument("key"))
	x.finish()

	TEXT("hasKeySplit256AVX2", NOSPLIT, "func(base **byte, key *byte, n int) bool")
	Comment("XXH64 with the seed 0 of fewer than 32 bytes.")
	x = newXXH64()
	key, n := argument("key"), argument("n")
	MOVQ(U64(primes[4]), x.h)
	ADDQ(n, x.h)
	SUBQ(U8(8), n)
	JL(LabelRef("short"))
	Label("long")
	part := GP64()
	MOVQ(Mem{Base: key}, part)
	x.mixLong(part)
	ADDQ(U8(8), key)
	SUBQ(U8(8), n)
	JGE(LabelRef("long"))
	Label("short")
	ADDQ(U8(8), n)
	JZ(LabelRef("hashed"))
	TESTQ(U32(4), n)
	JZ(LabelRef("bytes"))
	part = GP64()
	MOVL(Mem{Base: key}, part.As32())
	IMULQ(x.primes[0], part)
	XORQ(part, x.h)
	ROLQ(U8(23), x.h)
	IMULQ(x.primes[1], x.h)
	ADDQ(number64(primes[2]), x.h)
	ADDQ(U8(4), key)
	SUBQ(U8(4), n)
	JZ(LabelRef("hashed"))
	Label("bytes")
	part = GP64()
	MOVBLZX(Mem{Base: key}, part.As32())
	IMULQ(number64(primes[4]), part)
	XORQ(part, x.h)
	ROLQ(U8(11), x.h)
	IMULQ(x.primes[0], x.h)
	INCQ(key)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("hashed")
	x.finish()
}

// scalarXXH64 has the registers of XXH64 of one key.
type scalarXXH64 struct {
	h      reg.GPVirtual
	primes [2]reg.GPVirtual
}

func newXXH64() scalarXXH64 {
	return scalarXXH64{GP64(), [2]reg.GPVirtual{number64(primes[0]), number64(primes[1])}}
}

func number64(c uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(c), r)
	return r
}

// mixLong emits the mixing of 8 bytes into the hash.
func (x scalarXXH64) mixLong(part reg.GPVirtual) {
	IMULQ(x.primes[1], part)
	ROLQ(U8(31), part)
	IMULQ(x.primes[0], part)
	XORQ(part, x.h)
	ROLQ(U8(27), x.h)
	IMULQ(x.primes[0], x.h)
	ADDQ(number64(primes[3]), x.h)
}

// finish emits the last steps of the hash, its test, and the end of the function. The last
// step changes only the lower half of the hash.
func (x scalarXXH64) finish() {
	for i, by := range []uint64{33, 29} {
		right := GP64()
		MOVQ(x.h, right)
		SHRQ(U8(by), right)
		XORQ(right, x.h)
		IMULQ([]reg.GPVirtual{x.primes[1], number64(primes[2])}[i], x.h)
	}
	upper := GP64()
	MOVQ(x.h, upper)
	SHRQ(U8(32), upper)
	XORQ(upper, x.h)
	bits := YMM()
	VMOVD(x.h.As32(), bits.AsX())
	VPBROADCASTD(bits.AsX(), bits)
	hasHash(upper, bits)
}

// hasHash emits the test of a hash, and the end of the function. line is the upper half of
// the hash. Each word of bits is the lower half.
func hasHash(line reg.GPVirtual, bits reg.VecVirtual) {
	walk, has := argument("base"), GP8()
	IMULQ(Mem{Base: walk, Disp: 8}, line)
	SHRQ(U8(32), line)
	SHLQ(U8(5), line)
	ADDQ(Mem{Base: walk}, line)
	ones, block := YMM(), YMM()
	VPMULLD(splitSalts, bits, bits)
	VMOVDQU(splitOnes, ones)
	VPSRLD(U8(27), bits, bits)
	VPSLLVD(bits, ones, bits)
	VMOVDQU(Mem{Base: line}, block)
	VPTEST(bits, block)
	SETCS(has)
	Store(has, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// splitOnes has 1 in each word of a block.
var splitOnes Mem

func splitOnesTable() {
	splitOnes = GLOBL("splitOnes", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(1))
	}
}
