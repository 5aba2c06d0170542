package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setBlock emits the setting of a hash's bit in each word of one of Parquet's blocks, and the end of the function.
func setBlock(h hashHalves) {
	block, bits := blockOf(h)
	isNew := GP8()
	words := YMM()
	VMOVDQU(block, words)
	VPTEST(bits, words)
	SETCC(isNew)
	VPOR(bits, words, words)
	VMOVDQU(words, block)
	MOVB(isNew, result())
	returnVectors()
}

// setLine emits the setting of the bits of a hash in one of RocksDB's lines, and the end of the function. The
// line is a vector, as in bitsAdder.addWhole. It takes no register that VZEROUPPER would have to clear.
func setLine(h hashHalves) {
	prober, line, x := argument("base"), Mem{Base: h.lower}, reg.Y16
	VPBROADCASTD(h.upper.As32(), x)
	lineAddress(prober, h.lower, 6)
	VPMULLD(probeRow(line512Factors, prober), x, x)
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
			branch(CMPQ, field(prober, "K"), U8(6), JLE, "store")
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

// addDouble32 emits the setting of the bits at h, h + delta and so on, and the end of the function, as those below do for theirs.
func addDouble32(h reg.GPVirtual) {
	prober, delta, index := argument("base"), GP64(), GP64()
	RORXL(U8(17), h.As32(), delta.As32())
	base, n, recip := fieldValue(prober, "Base"), fieldValue(prober, "N"), fieldValue(prober, "Recip")
	SUBL(delta.As32(), h.As32())
	setEach(prober, base, "", func() (reg.GPVirtual, reg.GPVirtual) {
		low := GP64()
		ADDL(delta.As32(), h.As32())
		MOVL(h.As32(), reg.EDX)
		IMULQ(recip, reg.RDX)
		MULXQ(n, low, index)
		return index, h
	})
}

func addDouble64(h [2]reg.GPVirtual) {
	prober := argument("base")
	base := fieldValue(prober, "Base")
	eachRemainder(prober, h[0], h[1], func(name string, next nextBit) { setEach(prober, base, name, next) })
}

// addLine512 sets a vector with AVX-512: bit after bit, an addition takes 1.55 times as long (Zen 5).
func addLine512(v vectors) {
	h := xxph3Single()
	if v.lanes() == 16 {
		setLine(h)
		return
	}
	prober, upper := argument("base"), h.upper
	lineAddress(prober, h.lower, 6)
	setEach(prober, h.lower, "", func() (reg.GPVirtual, reg.GPVirtual) {
		bit, index := GP64(), GP64()
		MOVL(upper.As32(), bit.As32())
		SHRL(U8(23), bit.As32())
		MOVL(bit.As32(), index.As32())
		SHRL(U8(3), index.As32())
		IMUL3L(U32(probes.constant("RocksDBMul")), upper.As32(), upper.As32())
		return index, bit
	})
}

func addLine32(h reg.GPVirtual) {
	prober, delta := argument("base"), GP64()
	RORXL(U8(17), h.As32(), delta.As32())
	setEach(prober, line32Address(prober, h), "", func() (reg.GPVirtual, reg.GPVirtual) {
		bit, index := GP64(), GP64()
		MOVL(h.As32(), bit.As32())
		MOVL(h.As32(), index.As32())
		SHRL(U8(3), index.As32())
		ANDL(U8(63), index.As32())
		ADDL(delta.As32(), h.As32())
		return index, bit
	})
}

// setEach emits the setting of a bit for each probe, and the end of the function. Bytes lie after from. Of a bit's
// number, whose register it does not change, only the last three digits count. The labels begin with name.
//
// TESTB and ORB load the byte twice, but a byte in a register takes three instructions more.
func setEach(prober, from reg.GPVirtual, name string, next nextBit) {
	k, one, three, isNew := fieldValue(prober, "K"), GP32(), valueOf(U32(3)), GP32()
	MOVL(U32(1), one)
	XORL(isNew, isNew)
	Label(name + "next")
	index, bit := next()
	at, mask := Mem{Base: from, Index: index, Scale: 1}, GP32()
	BZHIL(three.As32(), bit.As32(), mask)
	SHLXL(mask, one, mask)
	TESTB(mask.As8(), at)
	CMOVLEQ(one, isNew)
	ORB(mask.As8(), at)
	countDown(k, name+"next")
	MOVB(isNew.As8(), result())
	RET()
}
