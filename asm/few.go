package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fewWalk emits what differs between the walks in fewOf.
type fewWalk struct {
	// hash emits the hashes of 8 keys, in long lanes, and returns the words that choose bits, in their lower halves.
	hash func(x reg.VecVirtual) (words reg.VecVirtual)
	// address emits the addresses of the lines of 8 hashes.
	address func(h reg.VecVirtual) reg.VecVirtual
	// missing emits the test of two keys, each with its word in 8 lanes of x. A lane of the result is 0 if its bit is there.
	missing func(x reg.VecVirtual, line [2]Mem) reg.VecVirtual
}

// fewOf emits the hash and the test of a few integers, 8 at a time, in one function: for so few, the buffers and
// the calls of a window cost more than their tests. The last 8 may begin among the 8 before; fewer are tested with
// zeros, whose hits are dropped. Constants come from memory: to move them from general registers takes longer.
func fewOf(name string, prepare func(v *avx512, walk reg.GPVirtual) fewWalk) {
	TEXT("few"+name+"AVX512", NOSPLIT, signature("few"+name))
	Comment("The addresses and the bits are those of probe" + name + ".")
	walk := prepare(&avx512{}, argument("base"))
	keys, last, at, word, places := argument("keys"), argument("n"), GP64(), GP64(), Mem{Base: stackVectors(64)}
	h, n, mask, lanes := ZMM(), GP64(), number64(math.MaxUint64), K()
	MOVQ(last, n)
	XORL(at.As32(), at.As32())
	XORL(word.As32(), word.As32())
	branch(SUBQ, U8(8), last, JGE, "eight")
	BZHIQ(n, mask, mask)
	KMOVB(mask.As32(), lanes)
	VMOVDQU64_Z(Mem{Base: keys}, lanes, h)
	XORL(last.As32(), last.As32())
	JMP(LabelRef("hash"))
	Label("eight")
	VMOVDQU64(Mem{Base: keys, Index: at, Scale: 8}, h)
	Label("hash")
	words := walk.hash(h)
	VMOVDQU64(walk.address(h), places)
	var missing [4]reg.VecVirtual // of keys i and i + 4
	for i := range missing {
		var line [2]Mem
		for j := range line {
			line[j] = Mem{Base: valueOf(places.Offset(8 * (i + 4*j)))}
		}
		two := ZMM()
		VMOVDQU32(fewPairs.Offset(64*i), two)
		VPERMD(words, two, two)
		missing[i] = walk.missing(two, line)
	}
	Comment("Of each key, two groups of 4 bits: all that are there leave 0 in a word.")
	VPACKSSDW(missing[1], missing[0], missing[0])
	VPACKSSDW(missing[3], missing[2], missing[2])
	VPACKSSWB(missing[2], missing[0], missing[0])
	found, groups, hits := K(), GP64(), GP64()
	VPTESTNMD(missing[0], missing[0], found)
	KMOVW(found, groups.As32())
	MOVL(groups.As32(), hits.As32())
	SHRL(U8(4), groups.As32())
	ANDL(groups.As32(), hits.As32())
	PEXTL(constant(0x0f0f).As32(), hits.As32(), hits.As32())
	SHLXQ(at, hits, hits)
	ORQ(hits, word)
	branch(CMPQ, at, last, JEQ, "end")
	ADDQ(U8(8), at)
	CMPQ(at, last)
	CMOVQGT(last, at)
	JMP(LabelRef("eight"))
	Label("end")
	BZHIQ(n, word, word)
	returnResult(word)
}

// fewPairs has, for i from 0 to 3, the numbers of the lower halves of long lanes i and i + 4, in 8 lanes each.
var fewPairs = words("fewPairs", 64, func(i int) uint32 { return uint32(i/16*2 + i/8%2*8) })

// everyLane and everyLong load a word of memory into all lanes, and a long word into all long lanes.
func everyLane(m Mem) reg.VecVirtual {
	x := ZMM()
	VPBROADCASTD(m, x)
	return x
}

func everyLong(m Mem) reg.VecVirtual {
	x := ZMM()
	VPBROADCASTQ(m, x)
	return x
}

func fewSplit256() {
	fewOf("Split256", func(v *avx512, walk reg.GPVirtual) fewWalk {
		base, n := everyLong(field(walk, "base")), everyLong(field(walk, "n"))
		s := &split256{v: v, ones: everyLane(number(1)), salts: ZMM()}
		VMOVDQU32(splitSalts, s.salts)
		start, upper := everyLong(prime(6)), ZMM()
		return fewWalk{
			hash: func(x reg.VecVirtual) reg.VecVirtual {
				(&integers{vectors: v, width: 8, vector: []reg.VecVirtual{x}}).xxh64(start)
				return x
			},
			address: func(h reg.VecVirtual) reg.VecVirtual {
				VPSRLQ(U8(32), h, upper)
				return lineAt(v, upper, base, n, 5)
			},
			missing: func(x reg.VecVirtual, line [2]Mem) reg.VecVirtual {
				blocks := ZMM()
				VBROADCASTI64X4(line[0], blocks)
				VINSERTI64X4(U8(1), line[1], blocks, blocks)
				s.bits(x)
				VPANDND(x, blocks, x)
				return x
			},
		}
	})
}

// fewBits is bitsOfLine with its constants from memory.
type fewBits struct{ ones, second reg.VecVirtual }

func newFewBits() fewBits {
	b := fewBits{everyLane(number(1)), ZMM()}
	VPSLLD(U8(1), fewPairs, b.second)
	return b
}

// missing is bitsOfLine.testTwo, but a lane of the result is 0 if its bit is there.
func (b *fewBits) missing(line [2]Mem, word, bit reg.VecVirtual) reg.VecVirtual {
	words := ZMM()
	VMOVDQU32(line[0], words)
	VPERMI2D(line[1], words, word)
	VPRORVD(bit, word, word)
	VPANDND(b.ones, word, word)
	return word
}

func fewLine512() {
	fewOf("Line512", func(v *avx512, walk reg.GPVirtual) fewWalk {
		base, n, factors, b := everyLong(field(walk, "base")), everyLong(field(walk, "n")), ZMM(), newFewBits()
		VBROADCASTI64X4(probeRow(line512Factors, walk), factors)
		return fewWalk{
			hash: func(x reg.VecVirtual) reg.VecVirtual {
				(&integers{vectors: v, width: 8, vector: []reg.VecVirtual{x}}).xxph3()
				upper := ZMM()
				VPSRLQ(U8(32), x, upper)
				return upper
			},
			address: func(h reg.VecVirtual) reg.VecVirtual {
				return lineAt(v, h, base, n, 6)
			},
			missing: func(x reg.VecVirtual, line [2]Mem) reg.VecVirtual {
				word := ZMM()
				VPMULLD(factors, x, x)
				VPSRLD(U8(28), x, word)
				VPORD(b.second, word, word)
				VPSRLD(U8(23), x, x)
				return b.missing(line, word, x)
			},
		}
	})
}

func fewLine32() {
	fewOf("Line32", func(v *avx512, walk reg.GPVirtual) fewWalk {
		base, n, steps, b := everyLong(field(walk, "base")), everyLong(field(walk, "n")), ZMM(), newFewBits()
		VBROADCASTI64X4(probeRow(line32Steps, walk), steps)
		inverse := fieldValue(walk, "recip")
		DECQ(inverse)
		SHRQ(U8(32), inverse)
		recip, fifteen := v.broadcastLong(inverse), everyLane(number(15))
		seed, mul := v.broadcast(constant(hash32Seed^8*hash32Mul)), v.broadcast(constant(hash32Mul))
		return fewWalk{
			hash: func(x reg.VecVirtual) reg.VecVirtual {
				second, right := ZMM(), ZMM()
				VPSRLQ(U8(32), x, second)
				for _, word := range []reg.VecVirtual{seed, second} {
					VPADDD(word, x, x)
					VPMULLD(mul, x, x)
					VPSRLD(U8(16), x, right)
					v.xor(right, x, x)
				}
				return x
			},
			address: func(h reg.VecVirtual) reg.VecVirtual {
				q, line, less := ZMM(), ZMM(), ZMM()
				VPMULUDQ(recip, h, q)
				VPSRLQ(U8(32), q, q)
				VPMULUDQ(n, q, q)
				VPSUBD(q, h, line)
				VPSUBD(n, line, less)
				VPMINUD(less, line, line)
				VPSLLQ(U8(32), line, line)
				VPSRLQ(U8(26), line, line)
				VPADDQ(base, line, line)
				return line
			},
			missing: func(h reg.VecVirtual, line [2]Mem) reg.VecVirtual {
				bit, word := ZMM(), ZMM()
				v.rotate17(h, bit)
				VPMULLW(steps, bit, bit)
				VPADDD(h, bit, bit)
				VPSRLD(U8(5), bit, word)
				VPTERNLOGD(U8(0xea), b.second, fifteen, word) // word & 15 | second
				return b.missing(line, word, bit)
			},
		}
	})
}
