package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// split256 is the scheme of Parquet's blocks of 32 bytes.
type split256 struct {
	v            vectors
	base, blocks reg.VecVirtual // where the blocks begin, and their number, in each long lane
	salts, ones  reg.VecVirtual
	upper        reg.Register
}

// probeSplit256 emits the test of a window of hashes.
func probeSplit256(v vectors) {
	Comment(
		"The upper half of a hash chooses a block. In each of its 8 words, the top five bits of",
		"a product of the lower half choose a bit. A lane is a word.",
	)
	testLines(v, &split256{})
}

// setSplit256 emits the setting of the bits of a window of hashes.
func setSplit256(v vectors) {
	Comment("The addresses and the bits are those of probeSplit256.")
	s := &split256{}
	addLines(v, s, func(h, line []Mem) {
		for i, line := range line {
			bits := YMM()
			VPBROADCASTD(h[i], bits)
			s.bits(bits)
			VPOR(line, bits, bits)
			v.store(bits, line)
		}
	})
}

// setNewSplit256 emits setSplit256 in the order of the hashes, with the outcome of each.
func setNewSplit256(v vectors) {
	Comment("The addresses and the bits are those of probeSplit256. The carry flag is set if no bit is missing.")
	s := &split256{}
	addLinesNew(v, s, true, func(h, line []Mem, outcome func()) {
		bits := make([]reg.VecVirtual, len(h))
		for i := range bits {
			bits[i] = YMM()
			VPBROADCASTD(h[i], bits[i])
			s.bits(bits[i])
		}
		for i, line := range line {
			block := YMM()
			v.load(line, block)
			VPTEST(bits[i], block)
			VPOR(block, bits[i], bits[i])
			v.store(bits[i], line)
			outcome()
		}
	})
}

// salts are the factors for the words of a block.
var salts = probes.elements("ParquetSalts")

// splitSalts has the salts for the words of two blocks.
var splitSalts = words("splitSalts", 16, func(i int) uint32 { return uint32(salts[i%8]) })

func (s *split256) prepare(v vectors, prober reg.GPVirtual) (words string, size int) {
	s.v = v
	s.base, s.blocks = broadcastLongAt(v, field(prober, "Base")), broadcastLongAt(v, field(prober, "N"))
	s.salts, s.ones = v.vector(), v.broadcast(constant(1))
	v.load(splitSalts, s.salts)
	s.upper = upperLanes(v)
	return "h1", 8
}

func (s *split256) prepareTest() {}

// address begins with the upper halves of the hashes.
func (s *split256) address(m Mem, line reg.VecVirtual) {
	VPSHUFD(U8(0xf5), m, line)
	lineAt(s.blocks, line, s.base, 5, line)
}

// bits replaces the lower halves of hashes by their bits in the words.
func (s *split256) bits(low reg.VecVirtual) {
	VPMULLD(s.salts, low, low)
	VPSRLD(U8(27), low, low)
	VPSLLVD(low, s.ones, low)
}

func (s *split256) testOne(h, line Mem) {
	low, block := YMM(), YMM()
	VPBROADCASTD(h, low)
	VMOVDQU(line, block)
	s.bits(low)
	VPTEST(low, block)
}

func (s *split256) testTwo(h, line [2]Mem) reg.OpmaskVirtual {
	low, blocks, k := broadcastTwo(h, s.upper), ZMM(), K()
	VBROADCASTI64X4(line[0], blocks)
	VINSERTI64X4(U8(1), line[1], blocks, blocks)
	s.bits(low)
	VPTESTNMD(low, blocks, k)
	return k
}
