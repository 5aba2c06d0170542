package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A block of package bloom has the fields of 8 arrays side by side: a row of 8 words each for
// the addresses, the numbers of units, the reciprocals and the shifts.
var (
	blockArrays = int(bloom.constant("blockArrays"))
	blockRow    = 8 * blockArrays
	blockSize   = bloom.size("octet")
)

// block is where a block is, or a part of its columns.
type block Mem

func (b block) bases() Mem  { return Mem(b) }
func (b block) units() Mem  { return Mem(b).Offset(bloom.offset("octet.units")) }
func (b block) recips() Mem { return Mem(b).Offset(bloom.offset("octet.recips")) }
func (b block) shifts() Mem { return Mem(b).Offset(bloom.offset("octet.shifts")) }

// groupSplit256, groupLine512 and groupLine32 emit the tests of one key with many filters.

func groupSplit256(v vectors) { groupLines(v, locateSplit256, bitsOfBlock) }
func groupLine512(v vectors)  { groupLines(v, locateLine512, bitsOfLine512) }
func groupLine32(v vectors)   { groupLines(v, locateLine32, bitsOfLine32) }

// groupLines emits the test for a scheme whose keys have one line in each array. locate emits
// the addresses of the lines. prepare emits what is the same for all lines, and returns what emits
// the test of one: it sets the carry flag if the line has all bits of the key.
func groupLines(v vectors, locate func(v vectors, hash reg.VecVirtual, b block) reg.VecVirtual, prepare func(v vectors, hash reg.GPVirtual) (test func(line Mem))) {
	Comment(
		"The kernel computes the addresses of the lines, and then goes from the last line to the",
		"first. It has no branch that depends on the key, so the CPU loads many lines at a time.",
	)
	lines := stackVectors(64 * 8)
	at, n, end := argument("blocks"), argument("n"), GP64()
	hash := v.broadcastLong(argument("hash"))
	MOVQ(lines, end)
	Label("octet")
	for i := 0; i < blockArrays; i += v.lanes() / 2 {
		v.store(locate(v, hash, block{Base: at, Disp: 8 * i}), Mem{Base: end, Disp: 8 * i})
	}
	ADDQ(U32(blockSize), at)
	ADDQ(U8(blockRow), end)
	branch(SUBQ, U8(blockArrays), n, JG, "octet")

	test, word := prepare(v, argument("hash")), zeroWord()
	Label("four")
	for i := range 4 {
		line := valueOf(Mem{Base: end, Disp: -8 * (i + 1)})
		test(Mem{Base: line})
		ADCQ(word, word)
	}
	SUBQ(U8(32), end)
	branch(CMPQ, end, lines, JNE, "four")
	returnWord(word)
}

// returnWord emits the return of the lowest n bits of a word, and the end of the function.
func returnWord(word reg.GPVirtual) {
	BZHIQ(argument("n"), word, word)
	returnResult(word)
}

func locateSplit256(v vectors, hash reg.VecVirtual, b block) reg.VecVirtual {
	line := v.vector()
	VPSRLQ(U8(32), hash, line)
	lineAt(b.units(), line, b.bases(), 5, line)
	return line
}

func locateLine512(v vectors, hash reg.VecVirtual, b block) reg.VecVirtual {
	line := v.vector()
	lineAt(b.units(), hash, b.bases(), 6, line)
	return line
}

func locateLine32(v vectors, hash reg.VecVirtual, b block) reg.VecVirtual {
	line := v.vector()
	lineOfRemainder(v, hash, b.bases(), b.units(), b.recips(), b.shifts(), line)
	return line
}

// bitsOfBlock emits the bits in a block of a hash of Parquet, and returns what emits their test.
func bitsOfBlock(v vectors, hash reg.GPVirtual) func(line Mem) {
	bits := YMM()
	broadcastLow(hash, bits)
	splitBits(bits)
	return func(line Mem) {
		has := YMM()
		VMOVDQU(line, has)
		VPTEST(bits, has) // sets the carry flag if no bit is missing
	}
}

// bitsOfLine512 emits the bits in a line of a hash of RocksDB, and returns what emits their test.
func bitsOfLine512(v vectors, hash reg.GPVirtual) func(line Mem) {
	word, bit := v.vector(), v.vector()
	SHRQ(U8(32), hash)
	x := v.broadcast(hash)
	VPMULLD(eightOf(v, "factors"), x, x)
	VPSRLD(U8(28), x, word)
	VPSRLD(U8(23), x, bit)
	return testBits(v, word, x, bit)
}

// bitsOfLine32 is bitsOfLine512 for a hash of Pebble.
func bitsOfLine32(v vectors, hash reg.GPVirtual) func(line Mem) {
	word, half, bit, h := v.vector(), v.vector(), v.vector(), v.broadcast(hash)
	v.rotate17(h, bit)
	VPMULLW(eightOf(v, "steps"), bit, bit) // nine bits of it count
	VPADDD(h, bit, bit)
	VPSRLD(U8(5), bit, word)
	VPSLLD(U8(23), bit, half)
	return testBits(v, word, half, bit)
}

// eightOf returns eight words that an argument points to, or a vector with them in both halves.
func eightOf(v vectors, name string) Op {
	from := Mem{Base: argument(name)}
	if v.lanes() < 16 {
		return from
	}
	both := ZMM()
	VBROADCASTI64X4(from, both)
	return both
}

// testBits returns what emits the test of bits of a line. Their numbers are as in bitsOfLine.testOne.
func testBits(v vectors, word, half, bit reg.VecVirtual) func(line Mem) {
	bits := v.broadcast(constant(1))
	if v.lanes() < 16 {
		VPAND(v.broadcast(constant(31)), bit, bit)
		VPSLLVD(bit, bits, bits)
		return func(line Mem) { VPTEST(bits, chosenWords(line, word, half)) }
	}
	VPROLVD(bit, bits, bits)
	return func(line Mem) {
		has, k := ZMM(), K()
		VPERMD(line, word, has)
		VPTESTMD(bits, has, k)
		KORTESTW(k, k) // sets the carry flag if no bit is missing
	}
}
