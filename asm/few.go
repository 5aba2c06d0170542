package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fewOf emits the hash and the test of a few integers, 8 at a time, in one function: for so few, the buffers and
// the calls of a window cost more than their tests. The last 8 may begin among the 8 before. prepare emits the
// constants of the hash, and returns a function that emits the hash of a long vector of keys.
func fewOf(name string, walk lineWalk, prepare func(v *avx512) (hash func(x reg.VecVirtual))) {
	TEXT("few"+name+"AVX512", NOSPLIT, signature("few"+name))
	Comment("The addresses and the bits are those of probe" + name + ".")
	v := &avx512{}
	size := walk.prepare(v)
	walk.prepareTest()
	hash, test := prepare(v), walk.testTwo
	if walk, ok := walk.(halvesWalk); ok {
		test = walk.testHalves
	}
	keys, last, at, word, room := argument("keys"), argument("n"), GP64(), GP64(), stackVectors(2*64)
	hashes, places := Mem{Base: room}, Mem{Base: room, Disp: 64}
	SUBQ(U8(8), last)
	XORL(at.As32(), at.As32())
	XORL(word.As32(), word.As32())
	Label("eight")
	x := ZMM()
	VMOVDQU64(Mem{Base: keys, Index: at, Scale: 8}, x)
	hash(x)
	if size == 8 {
		VMOVDQU64(x, hashes)
	} else {
		VPMOVQD(x, hashes)
	}
	address := ZMM()
	walk.address(hashes, address)
	VMOVDQU64(address, places)
	var missing [4]reg.OpmaskVirtual // 8 lanes for each key
	for i := range missing {
		var h, line [2]Mem
		for j := range line {
			place := GP64()
			MOVQ(places.Offset(8*(2*i+j)), place)
			h[j], line[j] = hashes.Offset(size*(2*i+j)), Mem{Base: place}
		}
		missing[i] = test(h, line)
	}
	KUNPCKWD(missing[0], missing[1], missing[0])
	KUNPCKWD(missing[2], missing[3], missing[2])
	KUNPCKDQ(missing[0], missing[2], missing[0])
	lanes, found, hits := ZMM(), K(), GP64()
	VPMOVM2B(missing[0], lanes)
	VPTESTNMQ(lanes, lanes, found)
	KMOVB(found, hits.As32())
	SHLXQ(at, hits, hits)
	ORQ(hits, word)
	CMPQ(at, last)
	JEQ(LabelRef("end"))
	ADDQ(U8(8), at)
	CMPQ(at, last)
	CMOVQGT(last, at)
	JMP(LabelRef("eight"))
	Label("end")
	Store(word, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func fewSplit256() {
	fewOf("Split256", &split256{}, func(v *avx512) func(x reg.VecVirtual) {
		start := v.broadcastLong(number64(primes[4] + 8))
		return func(x reg.VecVirtual) { (&integers{vectors: v, width: 8, vector: []reg.VecVirtual{x}}).xxh64(start) }
	})
}

func fewLine512() {
	fewOf("Line512", &line512{}, func(v *avx512) func(x reg.VecVirtual) {
		return func(x reg.VecVirtual) { (&integers{vectors: v, width: 8, vector: []reg.VecVirtual{x}}).xxph3() }
	})
}

func fewLine32() {
	fewOf("Line32", &line32{}, func(v *avx512) func(x reg.VecVirtual) {
		seed, mul := v.broadcast(constant(hash32Seed^8*hash32Mul)), v.broadcast(constant(hash32Mul))
		return func(x reg.VecVirtual) {
			second, right := ZMM(), ZMM()
			VPSRLQ(U8(32), x, second)
			for _, word := range []reg.VecVirtual{seed, second} {
				VPADDD(word, x, x)
				VPMULLD(mul, x, x)
				VPSRLD(U8(16), x, right)
				v.xor(right, x, x)
			}
		}
	})
}
