package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// forOneKey returns what emits a function for one key: hash emits its hash, or where that is, and body the rest, to the end.
func forOneKey[H any](hash func() H, body func(h H)) func(vectors) {
	return func(vectors) { body(hash()) }
}

// word, twoWords and halvesOf are where the hash is for functions that take it.

func word() reg.GPVirtual        { return argument("h1") }
func twoWords() [2]reg.GPVirtual { return [2]reg.GPVirtual{argument("h1"), argument("h2")} }

// oneKeyJumps emits the functions that jump to one whose address the prober's oneKey has. That one finds its
// arguments in the same places, and returns to the caller of the first. base begins a prober. The zero prober has
// no oneKey: Go answers for it. For a hash, there is an address for each scheme. A test of a hash in Parquet's
// filters takes so few instructions that an indirect jump would cost it a thirtieth: comparisons find it.
func oneKeyJumps() {
	oneKeyTable()
	addresses := map[string]string{"probeUint64": "oneKey.ofUint64", "probeHash": "oneKey.ofHash", "addUint64": "oneKey.ofAdd"}
	for _, s := range families {
		if inGo[s.name] == "" {
			continue
		}
		TEXT(s.name, NOSPLIT, s.avoSignature())
		base, oneKey, scheme := argument("base"), GP64(), GP64()
		ofHash := strings.HasSuffix(s.name, "Hash")
		if ofHash {
			Load(Param("h4"), scheme)
		}
		if s.name == "probeHash" {
			what, first, second := GP32(), bloom.constant("AVX2")<<8, bloom.constant("AVX512")<<8
			branch(CMPQ, scheme, U8(bloom.constant("schemeParquet")), JNE, "table")
			Comment("The scheme, and behind it a kernel of amd64.")
			MOVWLZX(Mem{Base: base, Disp: bloom.offset("prober.scheme")}, what)
			SUBL(U32(first|bloom.constant("schemeParquet")), what)
			branch(TESTL, U32(math.MaxUint32&^(second-first)), what, JNZ, "table")
			tailCall("hasHashSplit256AVX2")
			Label("table")
		}
		MOVQ(Mem{Base: base, Disp: bloom.offset("prober.oneKey")}, oneKey)
		branch(TESTQ, oneKey, oneKey, JZ, "go")
		to := Mem{Base: oneKey, Disp: bloom.offset(addresses[s.name])}
		if ofHash {
			branch(CMPQ, scheme, U8(bloom.elementsOf("oneKey.ofHash")-1), JHI, "go")
			to.Index, to.Scale = scheme, 8
		}
		jump(to)
		Label("go")
		tailCall(inGo[s.name])
	}
}

// oneKeySchemes are the schemes whose single keys have assembly, and what names its functions. The functions of AVX2 serve
// AVX-512, too: longer vectors gain nothing for one key, but where they set the bits of RocksDB's lines.
var oneKeySchemes = []struct{ scheme, name string }{
	{"schemeLevelDB", "Double32"}, {"schemeNori", "Double64"}, {"schemeParquet", "Split256"}, {"schemeRocksDB", "Line512"}, {"schemePebble", "Line32"},
}

// columns is the number of addresses of a row.
const columns = 3

// oneKeyTable emits a table of addresses, and the function that reads a row of it. Each scheme has a row for AVX2 and one for
// AVX-512, in the order of the schemes' numbers. A scheme without assembly has the addresses of Go's functions there.
func oneKeyTable() {
	var rows [][columns]string
	for _, s := range oneKeySchemes {
		first := 2 * int(bloom.constant(s.scheme))
		for len(rows) < first+2 {
			rows = append(rows, [columns]string{"mayContainUint64", "mayContainHash", "addUint64Generic"})
		}
		own := [columns]string{"hasUint64" + s.name + "AVX2", "hasHash" + s.name + "AVX2", "addUint64" + s.name + "AVX2"}
		rows[first], rows[first+1] = own, own
		if s.name == "Line512" {
			rows[first+1][2] = "addUint64Line512AVX512"
		}
	}
	table := GLOBL("oneKeyTable", RODATA|NOPTR)
	for i, row := range rows {
		for j, name := range row {
			DATA(8*(columns*i+j), address{name: name})
		}
	}
	TEXT("oneKeyAt", NOSPLIT, "func(row int) (ofUint64, ofHash, ofAdd uintptr)")
	from, at, one := argument("row"), GP64(), GP64()
	IMUL3Q(U8(8*columns), from, from)
	LEAQ(table, at)
	ADDQ(from, at)
	for i := range columns {
		MOVQ(Mem{Base: at, Disp: 8 * i}, one)
		Store(one, ReturnIndex(i))
	}
	RET()
}

// address is the address of a function, as a constant.
type address struct {
	U64
	name string
}

func (a address) Asm() string { return "$·" + a.name + "(SB)" }

// jump emits a jump to the address in a word of memory, of a function with the same arguments and results.
func jump(at Mem) {
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{at}, Inputs: []Op{at}, IsTerminal: true})
}

// tailCall emits a jump to a function with the same arguments and results.
func tailCall(function string) {
	Instruction(&ir.Instruction{
		Opcode:     "JMP",
		Operands:   []Op{NewDataAddr(Symbol{Name: "·" + function}, 0)},
		IsTerminal: true,
	})
}

// hasDouble32 emits the test of the probes at h, h + delta and so on, and the end of the function.
// The first three share a branch, as in double32.has.
func hasDouble32(h reg.GPVirtual) {
	prober, delta := argument("base"), GP64()
	RORXL(U8(17), h.As32(), delta.As32())
	base := fieldValue(prober, "Base")
	probe := func() reg.GPVirtual { return bitOfDouble32(prober, base, h) }
	k := GP64()
	MOVQ(field(prober, "K"), k)
	together := func(probes int) {
		all := probe()
		for range probes - 1 {
			ADDQ(delta, h)
			ANDL(probe().As32(), all.As32())
		}
		branch(TESTL, U32(1), all.As32(), JZ, "absent")
	}
	branch(SUBQ, U8(3), k, JL, "few")
	together(3)
	ADDQ(delta, h)
	JMP(LabelRef("pairs"))
	Label("few")
	ADDQ(U8(3), k)
	Label("pairs")
	branch(SUBQ, U8(2), k, JL, "last")
	together(2)
	ADDQ(delta, h)
	JMP(LabelRef("pairs"))
	Label("last")
	branch(ADDQ, U8(1), k, JL, "present")
	together(1)
	Label("present")
	MOVB(U8(1), result())
	RET()
	Label("absent")
	MOVB(U8(0), result())
	RET()
}

// bitOfDouble32 returns a register with the bit at h, which is extended, in the lowest bit.
func bitOfDouble32(prober, base, h reg.GPVirtual) reg.GPVirtual {
	MOVL(h.As32(), reg.EDX)
	IMULQ(field(prober, "Recip"), reg.RDX)
	low, index, bit := GP64(), GP64(), GP64()
	MULXQ(field(prober, "N"), low, index)
	MOVL(h.As32(), bit.As32())
	return bitOfByte(base, index, bit)
}

// hash64Single emits XXH64 with the seeds 0 and 1 of a key of 8 bytes, in whose register the first rounds are. Each
// step serves both seeds: with one seed after the other, present keys took 1.05 to 1.1 times as long on a
// Zen 4, which then began probes that waited for the second hash.
func hash64Single() [2]reg.GPVirtual {
	Comment("XXH64 with the seeds 0 and 1 of 8 bytes.")
	key := argument("key")
	x := newScalarXXH64(key)
	x.roundLong(key)
	h1, h2 := number64(primes[4]+8), number64(primes[4]+9)
	both := func(step func(h reg.GPVirtual)) { step(h1); step(h2) }
	p3, p4 := GP64(), GP64()
	both(func(h reg.GPVirtual) { XORQ(key, h) })
	both(func(h reg.GPVirtual) { rotateLeft(27, h) })
	both(func(h reg.GPVirtual) { IMULQ(x.p1, h) })
	MOVQ(prime(4), p4)
	both(func(h reg.GPVirtual) { ADDQ(p4, h) })
	both(func(h reg.GPVirtual) { xorRight(h, 33); IMULQ(x.p2, h) })
	MOVQ(prime(3), p3)
	both(func(h reg.GPVirtual) { xorRight(h, 29); IMULQ(p3, h) })
	both(func(h reg.GPVirtual) { xorRight(h, 32) })
	return [2]reg.GPVirtual{h1, h2}
}

// hasDouble64 emits the test of the probes at h[0], h[0] + h[1] and so on, and the end of the function.
func hasDouble64(h [2]reg.GPVirtual) {
	prober := argument("base")
	eachRemainder(prober, h[0], h[1], func(name string, next nextBit) { hasEach(prober, name, next) })
}

// nextBit emits the number of the next bit, and that of its byte, in registers that may be changed.
type nextBit func() (index, bit reg.GPVirtual)

// eachRemainder emits two loops over the probes at h, h + step and so on, for an array that has a reciprocal.
// loop emits one with labels that begin with name, to the end of the function. If the number of bits is a power of
// two, as all of NoriCrate's are, the ratio's lower word is 0, and the second loop runs, with a mask in place of the remainder.
//
// The first loop steps the fraction of h/n, in units of 2^-64, and multiplies it by n. The fraction is the lower 64 bits of
// hi(h·r0) + lo(h·r1), or less than 2 more, where r1 and r0 are the words of floor(2^128/n), the ratio. A sum of hashes that
// wraps loses 2^64, whose fraction is r0, or less than 1 more. So each step is off by less than 2 downwards and 1 upwards, and
// with fractionBias no probe's fraction is too small. What it is too large, times n, is below 1.
func eachRemainder(prober, h, step reg.GPVirtual, loop func(name string, next nextBit)) {
	n, three := fieldValue(prober, "N"), GP64()
	MOVL(U32(3), three.As32())
	ratio := Mem{Base: prober, Disp: bloom.offset("prober.divisor")}
	MOVQ(ratio, reg.RDX)
	branch(TESTQ, reg.RDX, reg.RDX, JZ, "masked")
	upper, part, wrapped, onward := valueOf(ratio.Offset(8)), GP64(), GP64(), GP64()
	MULXQ(h, part, part)
	MULXQ(step, wrapped, wrapped)
	MOVQ(upper, onward)
	IMULQ(h, upper)
	IMULQ(step, onward)
	ADDQ(wrapped, onward)
	MOVQ(onward, wrapped)
	SUBQ(reg.RDX, wrapped)
	LEAQ(Mem{Base: part, Index: upper, Scale: 1, Disp: int(bloom.constant("fractionBias"))}, reg.RDX)
	loop("", func() (index, bit reg.GPVirtual) {
		index, bit = GP64(), GP64()
		MULXQ(n, bit, bit)
		ADDQ(step, h)
		MOVQ(onward, index)
		CMOVQCS(wrapped, index)
		ADDQ(index, reg.RDX)
		SHRXQ(three, bit, index)
		return index, bit
	})
	Label("masked")
	mask := n
	DECQ(mask)
	MOVQ(h, reg.RDX)
	loop("masked_", func() (index, bit reg.GPVirtual) {
		index, bit = GP64(), GP64()
		MOVQ(reg.RDX, bit)
		ANDQ(mask, bit)
		ADDQ(step, reg.RDX)
		SHRXQ(three, bit, index)
		return index, bit
	})
}

// hasEach emits the test of all probes, and the end of the function. Three probes share a branch, and the
// last one or two have their own. The labels begin with name.
func hasEach(prober reg.GPVirtual, name string, next nextBit) {
	base, k := fieldValue(prober, "Base"), fieldValue(prober, "K")
	// probe returns a register with the outcome in the lowest bit.
	probe := func() reg.GPVirtual {
		index, bit := next()
		return bitOfByte(base, index, bit)
	}
	Label(name + "threes")
	branch(SUBQ, U8(3), k, JL, name+"few")
	all := probe()
	ANDL(probe().As32(), all.As32())
	ANDL(probe().As32(), all.As32())
	branch(TESTL, U32(1), all.As32(), JNZ, name+"threes")
	Label(name + "absent")
	MOVB(U8(0), result())
	RET()
	Label(name + "few")
	ADDQ(U8(3), k)
	Label(name + "ones")
	branch(SUBQ, U8(1), k, JL, name+"present")
	branch(TESTL, U32(1), probe().As32(), JNZ, name+"ones")
	JMP(LabelRef(name + "absent"))
	Label(name + "present")
	MOVB(U8(1), result())
	RET()
}

// field is a field of the array that a register points to, and fieldValue a register with it.
func field(prober reg.GPVirtual, name string) Mem {
	return Mem{Base: prober, Disp: bloom.offset("prober.Array." + name)}
}

func fieldValue(prober reg.GPVirtual, name string) reg.GPVirtual {
	r := valueOf(field(prober, name))
	return r
}

// bitOfByte returns a register whose lowest bit is the given bit, modulo 8, of a byte of the
// array. It changes bit.
func bitOfByte(base, index, bit reg.GPVirtual) reg.GPVirtual {
	ANDL(U8(7), bit.As32())
	MOVBLZX(Mem{Base: base, Index: index, Scale: 1}, index.As32())
	SHRXL(bit.As32(), index.As32(), index.As32())
	return index
}

// probeShortSplit256 emits the test of any short key.
func probeShortSplit256(vectors) {
	Comment("XXH64 with the seed 0 of fewer than 32 bytes.")
	x := newScalarXXH64(GP64())
	key, n := argument("key"), argument("n")
	MOVQ(prime(5), x.h)
	ADDQ(n, x.h)
	branch(SUBQ, U8(8), n, JL, "short")
	Label("long")
	part := valueOf(Mem{Base: key})
	x.mixLong(part)
	ADDQ(U8(8), key)
	branch(SUBQ, U8(8), n, JGE, "long")
	Label("short")
	branch(ADDQ, U8(8), n, JZ, "hashed")
	branch(TESTQ, U32(4), n, JZ, "bytes")
	part = GP64()
	MOVL(Mem{Base: key}, part.As32())
	IMULQ(x.p1, part)
	XORQ(part, x.h)
	rotateLeft(23, x.h)
	IMULQ(x.p2, x.h)
	ADDQ(prime(3), x.h)
	ADDQ(U8(4), key)
	branch(SUBQ, U8(4), n, JZ, "hashed")
	Label("bytes")
	part = GP64()
	MOVBLZX(Mem{Base: key}, part.As32())
	IMULQ(prime(5), part)
	XORQ(part, x.h)
	rotateLeft(11, x.h)
	IMULQ(x.p1, x.h)
	INCQ(key)
	countDown(n, "bytes")
	Label("hashed")
	hasBlock(x.avalanche())
}

// xxh64Single emits XXH64 with the seed 0 of a key of 8 bytes.
func xxh64Single() hashHalves {
	Comment("XXH64 with the seed 0 of 8 bytes.")
	x := newScalarXXH64(argument("key"))
	x.roundLong(x.h)
	XORQ(prime(6), x.h) // the state before
	x.endLong()
	return x.avalanche()
}

// scalarXXH64 has the register of XXH64 of one key. The first two primes, which are factors
// twice or more, are in registers: a test of an integer then takes a twentieth less time than
// with operands in memory.
type scalarXXH64 struct {
	h      reg.GPVirtual
	p1, p2 reg.GPVirtual
}

func newScalarXXH64(h reg.GPVirtual) scalarXXH64 {
	return scalarXXH64{h, number64(primes[0]), number64(primes[1])}
}

func number64(c uint64) reg.GPVirtual {
	r := valueOf(U64(c))
	return r
}

// prime returns the prime of XXH64 with a number from 1 on.
func prime(i int) Mem { return singleWords.Offset(8 * (i - 1)) }

// singleWords has the primes of XXH64, its state before a key of 8 bytes, and the constants
// of XXPH3.
var singleWords = longWords("singleWords", 8, func(i int) uint64 {
	return append(primes[:], primes[4]+8, xxph3Secret, xxph3Factor)[i]
})

// mixLong emits the mixing of 8 bytes into the hash.
func (x scalarXXH64) mixLong(part reg.GPVirtual) {
	x.roundLong(part)
	XORQ(part, x.h)
	x.endLong()
}

func (x scalarXXH64) roundLong(part reg.GPVirtual) {
	IMULQ(x.p2, part)
	rotateLeft(31, part)
	IMULQ(x.p1, part)
}

// rotateLeft emits a rotation by one micro-operation. ROLQ takes two.
func rotateLeft(by int, r reg.GPVirtual) { RORXQ(U8(64-by), r, r) }

func (x scalarXXH64) endLong() {
	rotateLeft(27, x.h)
	IMULQ(x.p1, x.h)
	ADDQ(prime(4), x.h)
}

// avalanche emits the last steps of the hash. The last one changes only the lower half.
func (x scalarXXH64) avalanche() hashHalves {
	xorRight(x.h, 33)
	IMULQ(x.p2, x.h)
	xorRight(x.h, 29)
	IMULQ(prime(3), x.h)
	return hashHalves{x.h, xorRight(x.h, 32)}
}

// xorRight emits h ^= h >> by, and returns h >> by.
func xorRight(h reg.GPVirtual, by uint64) reg.GPVirtual {
	right := valueOf(h)
	SHRQ(U8(by), right)
	XORQ(right, h)
	return right
}

// broadcastLow copies the lower half of a general register to 8 words.
func broadcastLow(r reg.GPVirtual, to reg.Register) {
	low := XMM()
	VMOVD(r.As32(), low)
	VPBROADCASTD(low, to)
}

// hasBlock emits the test of a hash in Parquet's blocks, all words at a time, and the end of the function.
func hasBlock(h hashHalves) {
	block, bits := blockOf(h)
	words := YMM()
	VMOVDQU(block, words)
	VPTEST(bits, words)
	returnCarry()
}

// blockOf emits the address of a hash's block, and its bits in the block.
func blockOf(h hashHalves) (block Mem, bits reg.VecVirtual) {
	bits = YMM()
	broadcastLow(h.lower, bits)
	lineAddress(argument("base"), h.upper, 5)
	splitBits(bits)
	return Mem{Base: h.upper}, bits
}

// splitBits emits the bits of a hash in the words of a block. Each word of bits is the lower half of the hash.
func splitBits(bits reg.Register) {
	VPMULLD(splitSalts, bits, bits)
	ones := YMM()
	VMOVDQU(splitOnes, ones)
	VPSRLD(U8(27), bits, bits)
	VPSLLVD(bits, ones, bits)
}

// lineAddress emits the address of one of the lines of 1<<log bytes, in the register of the half of a hash that chooses it.
func lineAddress(prober, line reg.GPVirtual, log uint8) {
	IMULQ(field(prober, "N"), line)
	SHRQ(U8(32), line)
	SHLQ(U8(log), line)
	ADDQ(field(prober, "Base"), line)
}

// result returns where the result goes: the last, if there is an unused one.
func result() Mem {
	r, err := ReturnIndex(1).Resolve()
	if err != nil {
		r, err = ReturnIndex(0).Resolve()
	}
	if err != nil {
		panic(err)
	}
	return r.Addr
}

// returnCarry emits the return of the carry flag.
func returnCarry() {
	all := GP8()
	SETCS(all)
	MOVB(all, result())
	returnVectors()
}

// splitOnes has 1 in each word of a block.
var splitOnes = words("splitOnes", 8, func(int) uint32 { return 1 })

// hashHalves are the halves of a hash. The register of the lower one may have other bits, too, if the hash is XXH64.
type hashHalves struct{ lower, upper reg.GPVirtual }

// halvesOf returns what emits the halves of a hash that is an argument.
func halvesOf(name string) func() hashHalves {
	return func() hashHalves {
		upper, lower := argument(name), GP64()
		MOVL(upper.As32(), lower.As32())
		SHRQ(U8(32), upper)
		return hashHalves{lower, upper}
	}
}

// xxph3Single emits XXPH3 of a key of 8 bytes. The last step changes only the lower half.
func xxph3Single() hashHalves {
	Comment("XXPH3 of 8 bytes.")
	h := argument("key")
	XORQ(prime(7), h)
	xorRight(h, 51)
	IMULQ(number64(xxph3Factor), h)
	ADDQ(U8(8), h)
	xorRight(h, 47)
	IMULQ(prime(2), h)
	xorRight(h, 37)
	IMULQ(prime(3), h)
	upper := valueOf(h)
	SHRQ(U8(32), upper)
	XORL(upper.As32(), h.As32())
	return hashHalves{h, upper}
}

// hasLine512 emits the test of a hash in RocksDB's lines, and the end of the function. base points to the first address,
// the number of lines, a word that is not used, and the number of probes, 1 to 8.
func hasLine512(h hashHalves) {
	prober := argument("base")
	x, word, bit := YMM(), YMM(), YMM()
	broadcastLow(h.upper, x)
	lineAddress(prober, h.lower, 6)
	VPMULLD(probeRow(line512Factors, prober), x, x)
	VPSRLD(U8(28), x, word)
	VPSRLD(U8(23), x, bit)
	hasBits(Mem{Base: h.lower}, word, x, bit)
}

// hash32Single emits LevelDB's hash of a key of 8 bytes, in a register without other bits.
func hash32Single() reg.GPVirtual {
	Comment("LevelDB's hash of 8 bytes.")
	key := argument("key")
	upper := valueOf(key)
	SHRQ(U8(32), upper)
	h := key.As32()
	start := 8*hash32Mul ^ hash32Seed
	ADDL(U32(start), h)
	for i := range 2 {
		IMUL3L(U32(hash32Mul), h, h)
		right := GP64()
		MOVL(h, right.As32())
		SHRL(U8(16), right.As32())
		XORL(right.As32(), h)
		if i == 0 {
			ADDL(upper.As32(), h)
		}
	}
	return key
}

// hasLine32 emits the test of a hash in Pebble's lines of 64 bytes, and the end of the function. The hash's register has no other
// bits. base points to the first address, the number of lines, its reciprocal, and the number of probes, 1 to 8.
func hasLine32(h reg.GPVirtual) {
	prober, delta := argument("base"), GP64()
	x, bit, word, half := YMM(), YMM(), YMM(), YMM()
	broadcastLow(h, x)
	RORXL(U8(17), h.As32(), delta.As32())
	broadcastLow(delta, bit)
	line := line32Address(prober, h)
	VPMULLW(probeRow(line32Steps, prober), bit, bit)
	VPADDD(x, bit, bit)
	VPSRLD(U8(5), bit, word)
	VPSLLD(U8(23), bit, half)
	hasBits(Mem{Base: line}, word, half, bit)
}

// line32Address emits the address of one of Pebble's lines of 64 bytes, for a hash whose register has no other bits.
func line32Address(prober, h reg.GPVirtual) (line reg.GPVirtual) {
	line, low, q := GP64(), GP64(), fieldValue(prober, "Recip")
	IMULQ(h, q)
	MOVQ(q, reg.RDX)
	MULXQ(field(prober, "N"), low, line)
	SHLQ(U8(6), line)
	ADDQ(field(prober, "Base"), line)
	return line
}

// hasBits emits the test of 8 bits of a line, as bitsOfLine.testOne does, and the end of the
// function.
func hasBits(line Mem, word, half, bit reg.VecVirtual) {
	b := bitsOfLine{ones: YMM(), thirtyOnes: YMM()}
	VMOVDQU(splitOnes, b.ones)
	VMOVDQU(lineMask, b.thirtyOnes)
	b.testOne(line, word, half, bit)
	returnCarry()
}

// probeRow returns the row of a table for the number of probes.
func probeRow(table Mem, prober reg.GPVirtual) Mem {
	row, rows := valueOf(field(prober, "K")), GP64()
	SHLQ(U8(5), row)
	LEAQ(table, rows)
	return Mem{Base: rows, Index: row, Scale: 1}
}

// line512Factors and line32Steps have a row of 8 words for each number of probes, 1 to 8: the
// factors and the steps of the probes, and then those of the first probe. lineMask has 31 in
// each word.
var (
	line512Factors = words("line512Factors", 72, func(i int) uint32 {
		factor := uint32(1)
		for range probeOf(i) {
			factor *= uint32(probes.constant("RocksDBMul"))
		}
		return factor
	})
	line32Steps = words("line32Steps", 72, func(i int) uint32 { return uint32(probeOf(i)) })
	lineMask    = words("lineMask", 8, func(int) uint32 { return 31 })
)

// probeOf returns the probe of word i of the rows.
func probeOf(i int) int {
	probes, probe := i/8, i%8
	return probe * (1 - min(1, probe/max(probes, 1)))
}
