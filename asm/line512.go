package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitsOfLine tests up to 8 bits of a line of 512 bits, one in each lane: the schemes line512
// and line32.
type bitsOfLine struct {
	v           vectors
	base, lines reg.VecVirtual // where the lines begin, and their number, in each long lane
	ones        reg.VecVirtual
	thirtyOnes  reg.VecVirtual // of AVX2
	upper       reg.Register
	second      reg.VecVirtual // 16 in the lanes of the second key
}

func newBitsOfLine(v vectors, prober reg.GPVirtual) bitsOfLine {
	return bitsOfLine{v: v, base: broadcastLongAt(v, field(prober, "Base")), lines: broadcastLongAt(v, field(prober, "N")), upper: upperLanes(v)}
}

func (b *bitsOfLine) prepareTest() {
	b.ones = b.v.broadcast(constant(1))
	if b.v.lanes() < 16 {
		b.thirtyOnes = b.v.broadcast(constant(31))
		return
	}
	b.second = ZMM()
	VPXORD(b.ones, b.ones, b.second)
	VPSLLD(U8(4), b.ones, b.upper, b.second)
}

// testOne emits the test of some bits of a line. A bit's number in its word is the lower five bits of bit. The number of the word
// is the lower bits of word, and the sign of half says which half of the line it is in.
func (b *bitsOfLine) testOne(line Mem, word, half, bit reg.VecVirtual) {
	words := chosenWords(line, word, half)
	VPAND(b.thirtyOnes, bit, bit)
	VPSLLVD(bit, b.ones, bit)
	VPTEST(bit, words)
}

// chosenWords returns the words of a line whose numbers are as in testOne.
func chosenWords(line Mem, word, half reg.VecVirtual) reg.VecVirtual {
	low, high := YMM(), YMM()
	VPERMD(line, word, low)
	VPERMD(line.Offset(32), word, high)
	VBLENDVPS(half, high, low, low)
	return low
}

// testTwo emits the test of bits of two lines. The numbers of the words of the second are 16
// above those of the first.
func (b *bitsOfLine) testTwo(line [2]Mem, word, bit reg.VecVirtual) reg.OpmaskVirtual {
	words, k := ZMM(), K()
	VMOVDQU32(line[0], words)
	VPERMI2D(line[1], words, word)
	VPRORVD(bit, word, word)
	VPTESTNMD(b.ones, word, k)
	return k
}

// testHalves is testTwo for words and bits in half a vector for each key, and two loads of each line.
func (b *bitsOfLine) testHalves(line [2]Mem, word, bit [2]reg.VecVirtual) reg.OpmaskVirtual {
	masks := [3]reg.OpmaskVirtual{K(), K(), K()}
	for i, line := range line {
		words := YMM()
		VMOVDQU(line, words)
		VPERMI2D(line.Offset(32), words, word[i])
		VPRORVD(bit[i], word[i], word[i])
		VPTESTNMD(b.ones.AsY(), word[i], masks[i])
	}
	KUNPCKBW(masks[0], masks[1], masks[2])
	return masks[2]
}

// line512 is the scheme of RocksDB's lines.
type line512 struct {
	bitsOfLine
	factors reg.VecVirtual
}

// probeLine512 emits the test of a window of hashes by up to 8 probes.
func probeLine512(v vectors) {
	Comment(
		"The lower half of a hash chooses a line. A lane is a probe: the top nine bits of the",
		"product of its factor and the upper half choose a bit.",
	)
	testLines(v, &line512{})
}

func (l *line512) prepare(v vectors, prober reg.GPVirtual) (words string, size int) {
	l.bitsOfLine = newBitsOfLine(v, prober)
	l.factors = broadcastEight(v, "factors")
	return "h1", 8
}

// broadcastEight loads 8 words, once for each key in a vector.
func broadcastEight(v vectors, name string) reg.VecVirtual {
	x, m := v.vector(), Mem{Base: argument(name)}
	if v.lanes() == 16 {
		VBROADCASTI64X4(m, x)
	} else {
		v.load(m, x)
	}
	return x
}

func (l *line512) address(m Mem, line reg.VecVirtual) { lineAt(m, l.lines, l.base, 6, line) }

// lineAt emits base + (x·y>>32)<<log: the address of a line, from the lower half of a hash and the number of lines.
func lineAt(x Op, y reg.VecVirtual, base Op, log uint64, line reg.VecVirtual) {
	VPMULUDQ(x, y, line)
	VPSRLQ(U8(32), line, line)
	VPSLLQ(U8(log), line, line)
	VPADDQ(base, line, line)
}

// products emits the products of a vector of keys. Their upper nine bits choose the bits.
func (l *line512) products(h []Mem) reg.VecVirtual {
	upper := make([]Mem, len(h))
	for i, h := range h {
		upper[i] = h.Offset(4)
	}
	x := broadcastKeys(upper, l.upper)
	VPMULLD(forKeys(l.factors, h), x, x)
	return x
}

// numbers emits the numbers of the bits of a vector of keys.
func (l *line512) numbers(h []Mem) reg.VecVirtual {
	x := l.products(h)
	VPSRLD(U8(23), x, x)
	return x
}

// wordsAndBits emits the numbers of the words of one key's bits, and of the bits. The sign of x is the highest
// bit of word.
func (l *line512) wordsAndBits(h Mem) (x, word, bit reg.VecVirtual) {
	x, word, bit = l.products([]Mem{h}), YMM(), YMM()
	VPSRLD(U8(28), x, word)
	VPSRLD(U8(23), x, bit)
	return x, word, bit
}

func (l *line512) testOne(h, line Mem) {
	x, word, bit := l.wordsAndBits(h)
	l.bitsOfLine.testOne(line, word, x, bit)
}

func (l *line512) testHalves(h, line [2]Mem) reg.OpmaskVirtual {
	var word, bit [2]reg.VecVirtual
	for i, h := range h {
		_, word[i], bit[i] = l.wordsAndBits(h)
	}
	return l.bitsOfLine.testHalves(line, word, bit)
}

func (l *line512) testTwo(h, line [2]Mem) reg.OpmaskVirtual {
	x, word := l.products(h[:]), ZMM()
	VPSRLD(U8(28), x, word)
	VPORD(l.second, word, word)
	VPSRLD(U8(23), x, x)
	return l.bitsOfLine.testTwo(line, word, x)
}
