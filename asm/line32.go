package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// line32 is the scheme of Pebble's lines.
type line32 struct {
	bitsOfLine
	recip, shift reg.VecVirtual // in each long lane
	steps        reg.VecVirtual
	fifteen      reg.VecVirtual // of AVX-512
}

// probeLine32 emits the test of a window of hashes by up to 8 probes.
func probeLine32(v vectors) {
	Comment(
		"The remainder of a hash h by the number of lines chooses a line. The quotient",
		"h·recip>>shift may be 1 too small. A lane is a probe: with its step i, the lower nine",
		"bits of h + i·rotr(h, 17) choose a bit.",
	)
	testLines(v, &line32{})
}

func (l *line32) prepare(v vectors, prober reg.GPVirtual) (words string, size int) {
	l.bitsOfLine = newBitsOfLine(v, prober)
	divisor := Mem{Base: prober, Disp: bloom.offset("prober.divisor")}
	l.recip, l.shift = broadcastLongAt(v, divisor), broadcastLongAt(v, divisor.Offset(8))
	l.steps = broadcastEight(v, "steps")
	return "h32", 4
}

func (l *line32) prepareTest() {
	l.bitsOfLine.prepareTest()
	if l.v.lanes() == 16 {
		l.fifteen = l.v.broadcast(constant(15))
	}
}

func (l *line32) address(m Mem, h reg.VecVirtual) {
	VPMOVZXDQ(m, h)
	lineOfRemainder(l.v, h, l.base, l.lines, l.recip, l.shift, h)
}

// lineOfRemainder emits the addresses of the lines of hashes, in long lanes: the remainder by the number of
// lines chooses one. line32.divisor in package bloom computes the numbers with which it divides.
func lineOfRemainder(v vectors, h reg.VecVirtual, base, lines, recip, shift Op, line reg.VecVirtual) {
	q, less := v.vector(), v.vector()
	VPMULUDQ(recip, h, q)
	VPSRLVQ(shift, q, q)
	VPMULUDQ(lines, q, q)
	VPSUBQ(q, h, line)
	VPSUBD(lines, line, less)
	VPMINUD(less, line, line)
	VPSLLQ(U8(6), line, line)
	VPADDQ(base, line, line)
}

// sums emits the sums for a vector of keys. Their lower nine bits are the numbers of the bits.
func (l *line32) sums(keys []Mem) reg.VecVirtual {
	h, bit := broadcastKeys(keys, l.upper), YMM()
	if len(keys) == 2 {
		bit = ZMM()
	}
	l.v.rotate17(h, bit)
	VPMULLW(forKeys(l.steps, keys), bit, bit) // nine bits of it count
	VPADDD(h, bit, bit)
	return bit
}

// numbers emits the numbers of the bits of a vector of keys.
func (l *line32) numbers(h []Mem) reg.VecVirtual {
	bit := l.sums(h)
	VPSLLD(U8(23), bit, bit)
	VPSRLD(U8(23), bit, bit)
	return bit
}

func (l *line32) testOne(h, line Mem) {
	bit, word, half := l.sums([]Mem{h}), YMM(), YMM()
	VPSRLD(U8(5), bit, word)
	VPSLLD(U8(23), bit, half)
	l.bitsOfLine.testOne(line, word, half, bit)
}

func (l *line32) testHalves(h, line [2]Mem) reg.OpmaskVirtual {
	var word, bit [2]reg.VecVirtual
	for i := range h {
		bit[i], word[i] = l.sums(h[i:i+1]), YMM()
		VPSRLD(U8(5), bit[i], word[i])
	}
	return l.bitsOfLine.testHalves(line, word, bit)
}

func (l *line32) testTwo(h, line [2]Mem) reg.OpmaskVirtual {
	bit, word := l.sums(h[:]), ZMM()
	VPSRLD(U8(5), bit, word)
	VPTERNLOGD(U8(0xea), l.second, l.fifteen, word) // word & 15 | second
	return l.bitsOfLine.testTwo(line, word, bit)
}
