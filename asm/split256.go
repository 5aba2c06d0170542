package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// split256 is the walk through Parquet's blocks of 32 bytes.
type split256 struct {
	base, blocks reg.VecVirtual // the first address and the number of blocks, in each long lane
	salts, ones  reg.VecVirtual
	upper        reg.OpmaskVirtual // lanes 8 to 15
}

// testSplit256 emits the test of a window of hashes.
func testSplit256(v vectors) {
	TEXT("testSplit256"+v.name(), 0, "func(base *byte, blocks uint64, hashes *uint64, n int, hits *uint64)")
	Comment(
		"The upper half of a hash chooses a block. In each of its 8 words, the top five bits of",
		"a product of the lower half choose a bit. A lane is a word.",
	)
	testLines(v, &split256{})
}

// splitSalts has the factors for the words of two blocks.
var splitSalts Mem

func splitSaltsTable() {
	splitSalts = GLOBL("splitSalts", RODATA|NOPTR)
	salts := []uint32{
		0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
	}
	for i := range 16 {
		DATA(4*i, U32(salts[i%8]))
	}
}

func (s *split256) prepare(v vectors) {
	s.base, s.blocks = v.broadcastLong(argument("base")), v.broadcastLong(argument("blocks"))
	s.salts, s.ones = v.vector(), v.broadcast(constant(1))
	v.load(splitSalts, s.salts)
	if _, wide := v.(*avx512); wide {
		s.upper = K()
		KMOVW(constant(0xff00).As32(), s.upper)
	}
}

func (s *split256) address(h reg.VecVirtual) {
	VPSRLQ(U8(32), h, h)
	VPMULUDQ(s.blocks, h, h)
	VPSRLQ(U8(32), h, h)
	VPSLLQ(U8(5), h, h)
	VPADDQ(s.base, h, h)
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
	low, blocks, k := ZMM(), ZMM(), K()
	VPBROADCASTD(h[0], low)
	VPBROADCASTD(h[1], s.upper, low)
	VBROADCASTI64X4(line[0], blocks)
	VINSERTI64X4(U8(1), line[1], blocks, blocks)
	s.bits(low)
	VPTESTNMD(low, blocks, k)
	return k
}
