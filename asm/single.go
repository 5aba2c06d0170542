package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hasSplit256 emits the tests of single keys in Parquet's blocks: of a hash, and of any short
// key. They test all words of a block at a time. base points to the first address and the
// number of blocks.
func hasSplit256() {
	v := &avx2{}
	TEXT("hasSplit256AVX2", NOSPLIT, "func(base **byte, hash uint64) bool")
	line := argument("hash")
	hash, err := Param("hash").Resolve()
	if err != nil {
		panic(err)
	}
	SHRQ(U8(32), line)
	bits := YMM()
	VPBROADCASTD(hash.Addr, bits)
	hasHash(v, line, bits)

	TEXT("hasKeySplit256AVX2", NOSPLIT, "func(base **byte, key *byte, n int) bool")
	Comment("XXH64 with the seed 0 of fewer than 32 bytes.")
	x := scalarXXH64{GP64(), v}
	key, n := argument("key"), argument("n")
	MOVQ(prime(5), x.h)
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
	IMULQ(prime(1), part)
	XORQ(part, x.h)
	ROLQ(U8(23), x.h)
	IMULQ(prime(2), x.h)
	ADDQ(prime(3), x.h)
	ADDQ(U8(4), key)
	SUBQ(U8(4), n)
	JZ(LabelRef("hashed"))
	Label("bytes")
	part = GP64()
	MOVBLZX(Mem{Base: key}, part.As32())
	IMULQ(prime(5), part)
	XORQ(part, x.h)
	ROLQ(U8(11), x.h)
	IMULQ(prime(1), x.h)
	INCQ(key)
	DECQ(n)
	JNZ(LabelRef("bytes"))
	Label("hashed")
	x.finish()
}

// hasUint64Split256 emits the test of a key of 8 bytes.
func hasUint64Split256(v vectors) {
	TEXT("hasUint64Split256"+v.name(), NOSPLIT, "func(base **byte, key uint64) bool")
	Comment("XXH64 with the seed 0 of 8 bytes.")
	x := scalarXXH64{argument("key"), v}
	roundLong(x.h)
	XORQ(prime(6), x.h) // the state before
	x.endLong()
	x.finish()
}

// scalarXXH64 has the register of XXH64 of one key. The primes are operands in memory: that
// saves an instruction for each.
type scalarXXH64 struct {
	h reg.GPVirtual
	v vectors
}

func number64(c uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(c), r)
	return r
}

// prime returns the prime of XXH64 with a number from 1 on.
func prime(i int) Mem { return singleWords.Offset(8 * (i - 1)) }

// singleWords has the primes of XXH64, its state before a key of 8 bytes, and the constants
// of XXPH3.
var singleWords Mem

func singleWordsTable() {
	singleWords = GLOBL("singleWords", RODATA|NOPTR)
	for i, word := range append(primes[:], primes[4]+8, xxph3Secret) {
		DATA(8*i, U64(word))
	}
}

// mixLong emits the mixing of 8 bytes into the hash.
func (x scalarXXH64) mixLong(part reg.GPVirtual) {
	roundLong(part)
	XORQ(part, x.h)
	x.endLong()
}

func roundLong(part reg.GPVirtual) {
	IMULQ(prime(2), part)
	ROLQ(U8(31), part)
	IMULQ(prime(1), part)
}

func (x scalarXXH64) endLong() {
	ROLQ(U8(27), x.h)
	IMULQ(prime(1), x.h)
	ADDQ(prime(4), x.h)
}

// finish emits the last steps of the hash, its test, and the end of the function. The last
// step changes only the lower half of the hash.
func (x scalarXXH64) finish() {
	xorRight(x.h, 33)
	IMULQ(prime(2), x.h)
	xorRight(x.h, 29)
	IMULQ(prime(3), x.h)
	upper := xorRight(x.h, 32)
	bits := singleVector(x.v, 0)
	broadcastSingle(x.v, x.h, bits)
	hasHash(x.v, upper, bits)
}

// xorRight emits h ^= h >> by, and returns h >> by.
func xorRight(h reg.GPVirtual, by uint64) reg.GPVirtual {
	right := GP64()
	MOVQ(h, right)
	SHRQ(U8(by), right)
	XORQ(right, h)
	return right
}

// singleVector returns a register for 8 words: with AVX-512 that of the number i from 16 on,
// which needs no VZEROUPPER.
func singleVector(v vectors, i int) reg.Register {
	if v.lanes() == 16 {
		return []reg.Register{reg.Y16, reg.Y17, reg.Y18, reg.Y19, reg.Y20}[i]
	}
	return YMM()
}

// broadcastSingle copies the lower half of a general register to 8 words.
func broadcastSingle(v vectors, r reg.GPVirtual, to reg.Register) {
	if v.lanes() == 16 {
		VPBROADCASTD(r.As32(), to)
		return
	}
	low := XMM()
	VMOVD(r.As32(), low)
	VPBROADCASTD(low, to)
}

// returnNoneClear emits the return of whether each word of bits has a bit of mask.
func returnNoneClear(mask Mem, bits reg.Register) {
	missing := K()
	VPTESTNMD(mask, bits, missing)
	KORTESTB(missing, missing)
	SETEQ(result())
	RET()
}

// hasHash emits the test of a hash, and the end of the function. line is the upper half of
// the hash. Each word of bits is the lower half.
func hasHash(v vectors, line reg.GPVirtual, bits reg.Register) {
	walk, base := argument("base"), GP64()
	IMULQ(Mem{Base: walk, Disp: 8}, line)
	MOVQ(Mem{Base: walk}, base)
	SHRQ(U8(32), line)
	SHLQ(U8(5), line)
	block := Mem{Base: base, Index: line, Scale: 1}
	VPMULLD(splitSalts, bits, bits)
	ones := singleVector(v, 1)
	if v.lanes() == 16 {
		VMOVDQU32(splitOnes, ones)
	} else {
		VMOVDQU(splitOnes, ones)
	}
	VPSRLD(U8(27), bits, bits)
	VPSLLVD(bits, ones, bits)
	if v.lanes() == 16 {
		returnNoneClear(block, bits)
		return
	}
	words := YMM()
	VMOVDQU(block, words)
	VPTEST(bits, words)
	returnCarry()
}

// result returns where the result goes.
func result() Mem {
	r, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	return r.Addr
}

// returnCarry emits the return of the carry flag.
func returnCarry() {
	SETCS(result())
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

// hasLine512 emits the test of a hash in RocksDB's lines. base points to the first address,
// the number of lines, a word that is not used, and the number of probes, 1 to 8.
func hasLine512() {
	TEXT("hasLine512AVX2", NOSPLIT, "func(base **byte, hash uint64) bool")
	hasHash512(&avx2{}, argument("hash"))
}

// hasUint64Line512 emits the test of a key of 8 bytes.
func hasUint64Line512(v vectors) {
	TEXT("hasUint64Line512"+v.name(), NOSPLIT, "func(base **byte, key uint64) bool")
	Comment("XXPH3 of 8 bytes.")
	h := argument("key")
	XORQ(prime(7), h)
	xorRight(h, 51)
	IMULQ(number64(0x9e3779b1), h)
	ADDQ(U8(8), h)
	xorRight(h, 47)
	IMULQ(prime(2), h)
	xorRight(h, 37)
	IMULQ(prime(3), h)
	xorRight(h, 32)
	hasHash512(v, h)
}

// hasHash512 emits the test of a hash, and the end of the function.
func hasHash512(v vectors, h reg.GPVirtual) {
	walk, base, line := argument("base"), GP64(), GP64()
	MOVL(h.As32(), line.As32())
	SHRQ(U8(32), h)
	x, word, bit := singleVector(v, 0), singleVector(v, 1), singleVector(v, 2)
	broadcastSingle(v, h, x)
	IMULQ(Mem{Base: walk, Disp: 8}, line)
	MOVQ(Mem{Base: walk}, base)
	SHRQ(U8(32), line)
	SHLQ(U8(6), line)
	ADDQ(line, base)
	VPMULLD(probeRow(line512Factors, walk), x, x)
	VPSRLD(U8(28), x, word)
	VPSRLD(U8(23), x, bit)
	hasBits(v, Mem{Base: base}, word, x, bit)
}

// hasLine32 emits the test of a hash in Pebble's lines of 64 bytes. base points to the first
// address, the number of lines, its reciprocal, and the number of probes, 1 to 8.
func hasLine32() {
	TEXT("hasLine32AVX2", NOSPLIT, "func(base **byte, hash uint32) bool")
	hasHash32(&avx2{}, Load(Param("hash"), GP64().As32()).(reg.GPVirtual).As64().(reg.GPVirtual))
}

// hasUint64Line32 emits the test of a key of 8 bytes.
func hasUint64Line32(v vectors) {
	TEXT("hasUint64Line32"+v.name(), NOSPLIT, "func(base **byte, key uint64) bool")
	Comment("LevelDB's hash of 8 bytes.")
	key, upper := argument("key"), GP64()
	MOVQ(key, upper)
	SHRQ(U8(32), upper)
	const seed, mul = 0xbc9f1d34, 0xc6a4a793
	h := key.As32()
	start := uint32(8*mul&0xffffffff) ^ seed
	ADDL(U32(start), h)
	for i := range 2 {
		IMUL3L(U32(mul), h, h)
		right := GP64()
		MOVL(h, right.As32())
		SHRL(U8(16), right.As32())
		XORL(right.As32(), h)
		if i == 0 {
			ADDL(upper.As32(), h)
		}
	}
	hasHash32(v, key)
}

// hasHash32 emits the test of a hash, whose register has no other bits, and the end of the
// function.
func hasHash32(v vectors, h reg.GPVirtual) {
	walk, base, q, delta := argument("base"), GP64(), GP64(), GP64()
	x, bit, word, half := singleVector(v, 0), singleVector(v, 1), singleVector(v, 2), singleVector(v, 3)
	broadcastSingle(v, h, x)
	RORXL(U8(17), h.As32(), delta.As32())
	broadcastSingle(v, delta, bit)
	MOVQ(Mem{Base: walk, Disp: 16}, q)
	IMULQ(h, q)
	MOVQ(q, reg.RDX)
	line, low := GP64(), GP64()
	MULXQ(Mem{Base: walk, Disp: 8}, low, line)
	SHLQ(U8(6), line)
	MOVQ(Mem{Base: walk}, base)
	ADDQ(line, base)
	VPMULLW(probeRow(line32Steps, walk), bit, bit)
	VPADDD(x, bit, bit)
	VPSRLD(U8(5), bit, word)
	if v.lanes() < 16 {
		VPSLLD(U8(23), bit, half)
	}
	hasBits(v, Mem{Base: base}, word, half, bit)
}

// hasBits emits the test of 8 bits of a line, as bitsOfLine.testOne does, and the end of the
// function. AVX-512 needs no half: bit 3 of word chooses it.
func hasBits(v vectors, line Mem, word, half, bit reg.Register) {
	if v.lanes() == 16 {
		words := singleVector(v, 4)
		VMOVDQU32(line, words)
		VPERMI2D(line.Offset(32), words, word)
		VPRORVD(bit, word, word)
		returnNoneClear(splitOnes, word)
		return
	}
	b := bitsOfLine{ones: YMM(), thirtyOnes: YMM()}
	VMOVDQU(splitOnes, b.ones)
	VMOVDQU(lineMask, b.thirtyOnes)
	b.testOne(line, word.(reg.VecVirtual), half.(reg.VecVirtual), bit.(reg.VecVirtual))
	returnCarry()
}

// probeRow returns the row of a table for the number of probes.
func probeRow(table Mem, walk reg.GPVirtual) Mem {
	row, rows := GP64(), GP64()
	MOVQ(Mem{Base: walk, Disp: 24}, row)
	SHLQ(U8(5), row)
	LEAQ(table, rows)
	return Mem{Base: rows, Index: row, Scale: 1}
}

// line512Factors and line32Steps have a row of 8 words for each number of probes, 1 to 8: the
// factors and the steps of the probes, and then those of the first probe. lineMask has 31 in
// each word.
var line512Factors, line32Steps, lineMask Mem

func singleTables() {
	line512Factors = GLOBL("line512Factors", RODATA|NOPTR)
	eachProbe(func(at, probe int) {
		factor := uint32(1)
		for range probe {
			factor *= 0x9e3779b9
		}
		DATA(at, U32(factor))
	})
	line32Steps = GLOBL("line32Steps", RODATA|NOPTR)
	eachProbe(func(at, probe int) { DATA(at, U32(probe)) })
	lineMask = GLOBL("lineMask", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(31))
	}
}

// eachProbe calls emit for every word of the rows.
func eachProbe(emit func(at, probe int)) {
	for k := range 9 {
		for i := range 8 {
			emit(32*k+4*i, i*(1-min(1, i/max(k, 1))))
		}
	}
}
