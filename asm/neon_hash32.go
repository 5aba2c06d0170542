package main

import (
	"github.com/lanebloom/bloom/asm/arm64"
)

// neonHash32 emits the hash of whole vectors of keys of 4 or 8 bytes that lie side by side.
func neonHash32(f *arm64.Function, width int) {
	f.Comment("Each lane hashes one key: for each of its words h = (h + word)·mul, h ^= h>>16.")
	keys, hashes, n := f.Argument("rows"), f.Argument("hashes"), neonVectors(f)
	seed := broadcastConstant(f, hash32Seed^uint32(width)*hash32Mul)
	mul := broadcastConstant(f, hash32Mul)

	f.Label("vector")
	var h [2]arm64.V
	fillVectors(f, h[:])
	if width == 4 {
		f.FLDPQ(keys.Post(32), h[0], h[1])
		for i := range h {
			neonMix(f, seed, h[i], mul, 16, h[i])
		}
	} else {
		for i := range h {
			a, b, second := f.V(), f.V(), f.V()
			f.FLDPQ(keys.Post(32), a, b)
			f.VUZP1(arm64.S4, b, a, h[i])
			f.VUZP2(arm64.S4, b, a, second)
			neonMix(f, seed, h[i], mul, 16, h[i])
			neonMix(f, h[i], second, mul, 16, h[i])
		}
	}
	f.FSTPQ(h[0], h[1], hashes.Post(32))
	neonCount(f, arm64.Imm(1), n, f.BNE, "vector")
	neonReturnLeft(f, n)
}

// neonVectors and neonReturnLeft are vectorsOf and returnLeft.

func neonVectors(f *arm64.Function) arm64.GP {
	n := f.Argument("n")
	f.LSR(arm64.Imm(log2(neonVector)), n, n)
	return n
}

func neonReturnLeft(f *arm64.Function, vectors arm64.GP) {
	left := f.Argument("n")
	f.AND(arm64.Imm(neonVector-1), left, left)
	f.ADD(vectors.LSL(log2(neonVector)), left, left)
	f.Result("left", left)
	f.RET()
}

// neonMix emits d = x ^ x>>shift for x = (h + word)·mul.
func neonMix(f *arm64.Function, h, word, mul arm64.V, shift int, d arm64.V) {
	x, shifted := f.V(), f.V()
	f.VADD(arm64.S4, h, word, x)
	f.VMUL(arm64.S4, mul, x, x)
	f.VUSHR(shift, arm64.S4, x, shifted)
	f.VEOR(shifted, x, d)
}
