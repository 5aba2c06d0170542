package main

import (
	"fmt"

	"github.com/lanebloom/bloom/asm/arm64"
)

// neonHash32 emits the hash of whole vectors of keys of 4 or 8 bytes that lie side by side.
func neonHash32(file *arm64.File, width int) {
	f := file.Function(fmt.Sprintf("hash32Width%dNEON", width), arm64.NoSplit, signature("hash32"))
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

// load emits code that loads long word i of a vector. Load long word 0 first: it does not wait for
// the old contents.
func (k *neonHash32Bytes) load(from arm64.Mem, to arm64.V, i int) {
	if i == 0 {
		k.f.LoadLow(from, to)
	} else {
		k.f.LoadHigh(from, to)
	}
}

// mixPair emits the mixing of the long words in tails into the hashes of half the keys.
func (k *neonHash32Bytes) mixPair(half int, next arm64.V) {
	first, second := k.words(half)
	neonMix(k.f, k.h[half], first, k.mul, 16, next)
	neonMix(k.f, next, second, k.mul, 16, next)
}

// words emits code that splits the long words in tails into low and high words.
func (k *neonHash32Bytes) words(half int) (low, high arm64.V) {
	low, high = k.f.V(), k.f.V()
	k.f.VUZP1(arm64.S4, k.tails[2*half+1], k.tails[2*half], low)
	k.f.VUZP2(arm64.S4, k.tails[2*half+1], k.tails[2*half], high)
	return low, high
}

// mixTails emits the mixing of the bytes after the last pair: a word, if the key has one, and then up
// to three bytes.
func (k *neonHash32Bytes) mixTails() {
	f := k.f
	for half, length := range k.lengths {
		// Shift out the bytes that were hashed already, at the low end of each long word. The shift
		// is the low byte: 0xc0 + 8·(length%8) is 64 - 8·(length%8) bits to the right.
		shift, mask, next := f.V(), f.V(), f.V()
		f.VSHL(3, arm64.S4, length, shift)
		f.VORR(k.high, shift, shift)
		for j, zip := range []func(arm64.Arrangement, arm64.V, arm64.V, arm64.V){f.VZIP1, f.VZIP2} {
			long, tail := f.V(), k.tails[2*half+j]
			zip(arm64.S4, shift, shift, long)
			f.VUSHL(arm64.D2, long, tail, tail)
		}
		word, rest := k.words(half)
		f.VCMTST(arm64.S4, k.four, length, mask)
		neonMix(f, k.h[half], word, k.mul, 16, next)
		f.VBIT(mask, next, k.h[half])
		f.VBIT(mask, rest, word)
		// (b ^ 0x80) - 0x80 is b as a signed byte, and 0 if there is no byte.
		f.VEOR(k.signs, word, word)
		f.VSUB(arm64.S4, k.signs, word, word)
		f.VCMTST(arm64.S4, k.three, length, mask)
		neonMix(f, k.h[half], word, k.mul, 24, next)
		f.VBIT(mask, next, k.h[half])
	}
}
