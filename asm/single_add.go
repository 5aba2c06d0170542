package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addOneSplit256 emits the setting of the bits of a hash in Parquet's blocks.
func addOneSplit256() {
	v := &avx2{}
	TEXT("addOneSplit256AVX2", NOSPLIT, signature("addOneSplit256"))
	h, line, bits := argument("hash"), GP64(), singleVector(v, 0)
	broadcastSingle(v, h, bits)
	MOVQ(h, line)
	SHRQ(U8(32), line)
	block, words, isNew := blockOf(v, line, bits), YMM(), GP8()
	VMOVDQU(block, words)
	VPTEST(bits, words)
	SETCC(isNew)
	VPOR(bits, words, words)
	VMOVDQU(words, block)
	MOVB(isNew, result())
	VZEROUPPER()
	RET()
}

// addOneLine512 emits the setting of the bits of a hash in RocksDB's lines. The line is a vector, as in
// bitsAdder.addWhole. It takes no register that VZEROUPPER would have to clear.
func addOneLine512() {
	v := &avx512{}
	TEXT("addOneLine512AVX512", NOSPLIT, signature("addOneLine512"))
	line, x := lineOf(v, argument("hash"))
	slots := stackVectors(32)
	VPSRLD(U8(23), x, x)
	VMOVDQU32(x, Mem{Base: slots})
	ones, starts, before, after := reg.Z24, reg.Z25, reg.Z26, reg.Z27
	VPBROADCASTD(splitOnes, ones)
	VMOVDQU32(lineStarts, starts)
	VMOVDQU32(line, before)
	VMOVDQA32(before, after)
	pairs := [][2]reg.Register{{reg.Z16, reg.Z17}, {reg.Z18, reg.Z19}, {reg.Z20, reg.Z21}, {reg.Z22, reg.Z23}}
	for i, pair := range pairs {
		if i == 3 { // most filters have 6 probes
			CMPQ(field(argument("base"), "k"), U8(6))
			JLE(LabelRef("store"))
		}
		for j, one := range pair {
			VPADDD_BCST(Mem{Base: slots, Disp: 8*i + 4*j}, starts, one)
			VPSLLVD(one, ones, one)
		}
		VPTERNLOGD(U8(0xfe), pair[0], pair[1], after) // the OR of all three
	}
	Label("store")
	VMOVDQU32(after, line)
	missing, isNew := K(), GP8()
	VPCMPUD(U8(4), before, after, missing) // not equal
	KORTESTW(missing, missing)
	SETNE(isNew)
	MOVB(isNew, result())
	RET()
}
