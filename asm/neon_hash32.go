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
	for i := range h {
		h[i] = f.V()
	}
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
	f.SUBS(arm64.Imm(1), n, n)
	f.BNE("vector")
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

// neonHash32Keys has the registers of a vector of keys of any length while the code of its hash is
// emitted.
type neonHash32Keys struct {
	f *arm64.Function

	seed, mul         arm64.V
	three, four, high arm64.V // in each word: 3, 4, and 0xc0
	signs             arm64.V

	keys       [neonVector]arm64.GP // the next 8 bytes
	lengths, h [2]arm64.V
	tails      [4]arm64.V // the last 8 bytes of each key
}

func newNEONHash32Keys(f *arm64.Function) *neonHash32Keys {
	k := &neonHash32Keys{f: f}
	k.seed, k.mul = broadcastConstant(f, hash32Seed), broadcastConstant(f, hash32Mul)
	k.three, k.four, k.high = broadcastConstant(f, 3), broadcastConstant(f, 4), broadcastConstant(f, 0xc0)
	k.signs = broadcast(f, f.Argument("signs"))
	for i := range k.keys {
		k.keys[i] = f.GP()
	}
	for _, vectors := range [][]arm64.V{k.lengths[:], k.h[:], k.tails[:]} {
		for i := range vectors {
			vectors[i] = f.V()
		}
	}
	return k
}

// neonHash32Fixed emits the hash of whole vectors of keys of one width that lie side by side.
func neonHash32Fixed(file *arm64.File) {
	f := file.Function("hash32FixedNEON", arm64.NoSplit, signature("hash32"))
	f.Comment(
		"Each lane hashes one key, two words at a time: for each word h = (h + word)·mul,",
		"h ^= h>>16. The bytes after the last pair are the upper bytes of the key's last 8. The",
		"kernel reads nothing but the keys. It leaves keys of fewer than 8 bytes, and ends early",
		"when it has hashed enough bytes: a call must not take long. signs has the highest bits of",
		"the last bytes that are signed, all or none.",
	)
	hashes, left, bytes := f.Argument("hashes"), neonVectors(f), f.GP()
	f.MOVD(arm64.Imm(most), bytes)
	k := newNEONHash32Keys(f)
	data, width := neonFixed(f)
	f.CMP(arm64.Imm(8), width)
	f.BLO("end")
	var starts [2]arm64.V
	for i := range starts {
		starts[i], k.lengths[i] = f.V(), broadcast(f, width)
		k.start(k.lengths[i], starts[i])
	}
	rest := f.GP()
	f.AND(arm64.Imm(7), width, rest)
	f.Label("vector")
	for i, key := range k.keys {
		f.MOVD(data, key)
		f.ADD(width, data, data)
		if i%4 == 0 {
			f.VMOV(starts[i/4], k.h[i/4])
		}
	}
	count := f.GP()
	f.AND(arm64.Imm(-8), width, count)
	f.SUB(count, bytes, bytes)
	f.LSR(arm64.Imm(3), width, count)
	f.Label("pair")
	for i, key := range k.keys {
		k.load(key.Post(8), k.tails[i/2], i%2)
	}
	for i := range k.h {
		k.mixPair(i, k.h[i])
	}
	f.SUBS(arm64.Imm(1), count, count)
	f.BNE("pair")
	f.CBZ(rest, "store")
	for i, key := range k.keys {
		end := f.GP()
		f.ADD(rest, key, end)
		f.SUB(arm64.Imm(8), end, end)
		k.load(end.At(0), k.tails[i/2], i%2)
	}
	k.mixTails()
	f.Label("store")
	f.FSTPQ(k.h[0], k.h[1], hashes.Post(32))
	f.SUBS(arm64.Imm(1), left, left)
	f.BEQ("end")
	f.CMP(arm64.Imm(0), bytes)
	f.BGE("vector")
	f.Label("end")
	neonReturnLeft(f, left)
}

// load emits code that loads long word i of a vector. Load long word 0 first: it does not wait for
// the old contents.
func (k *neonHash32Keys) load(from arm64.Mem, to arm64.V, i int) {
	if i == 0 {
		k.f.LoadLow(from, to)
	} else {
		k.f.LoadLane(from, 'D', i, to)
	}
}

// start emits the initial hash, before the first word.
func (k *neonHash32Keys) start(lengths, h arm64.V) {
	k.f.VMUL(arm64.S4, k.mul, lengths, h)
	k.f.VEOR(k.seed, h, h)
}

// mixPair emits the mixing of the long words in tails into the hashes of half the keys.
func (k *neonHash32Keys) mixPair(half int, next arm64.V) {
	first, second := k.words(half)
	neonMix(k.f, k.h[half], first, k.mul, 16, next)
	neonMix(k.f, next, second, k.mul, 16, next)
}

// words emits code that splits the long words in tails into low and high words.
func (k *neonHash32Keys) words(half int) (low, high arm64.V) {
	low, high = k.f.V(), k.f.V()
	k.f.VUZP1(arm64.S4, k.tails[2*half+1], k.tails[2*half], low)
	k.f.VUZP2(arm64.S4, k.tails[2*half+1], k.tails[2*half], high)
	return low, high
}

// mixTails emits the mixing of the bytes after the last pair: a word, if the key has one, and then up
// to three bytes.
func (k *neonHash32Keys) mixTails() {
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
