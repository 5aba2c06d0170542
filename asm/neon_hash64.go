package main

import (
	"fmt"

	"github.com/lanebloom/bloom/asm/arm64"
)

// neonHash64 has the registers of XXH64 of a key with the seeds 0 and 1 while a kernel's
// code is emitted. NEON has no product of 64 bits. So the kernel hashes keys in general
// registers, one after the other, and the CPU overlaps them.
type neonHash64 struct {
	f     *arm64.Function
	prime [5]arm64.GP
	h     [2]arm64.GP // with each seed
}

func newNEONHash64(f *arm64.Function) *neonHash64 {
	h := &neonHash64{f: f, h: [2]arm64.GP{f.GP(), f.GP()}}
	for i, p := range primes {
		h.prime[i] = f.GP()
		f.MOVD(arm64.Imm(int64(p)), h.prime[i])
	}
	return h
}

// mix emits code that mixes x into the hashes. The steps for x that do not depend on a
// seed are already done.
func (h *neonHash64) mix(x arm64.GP, turn int, mul arm64.GP, add *arm64.GP) {
	for _, hash := range h.h {
		h.f.EOR(x, hash, hash)
		h.f.ROR(64-turn, hash, hash)
		if add != nil {
			h.f.MADD(mul, *add, hash, hash)
		} else {
			h.f.MUL(mul, hash, hash)
		}
	}
}

// mixLong, mixWord and mixByte emit code that mixes 8, 4 or 1 bytes into the hashes.
func (h *neonHash64) mixLong(x arm64.GP) {
	h.f.MUL(h.prime[1], x, x)
	h.f.ROR(64-31, x, x)
	h.f.MUL(h.prime[0], x, x)
	h.mix(x, 27, h.prime[0], &h.prime[3])
}

func (h *neonHash64) mixWord(x arm64.GP) {
	h.f.MUL(h.prime[0], x, x)
	h.mix(x, 23, h.prime[1], &h.prime[2])
}

func (h *neonHash64) mixByte(x arm64.GP) {
	h.f.MUL(h.prime[4], x, x)
	h.mix(x, 11, h.prime[0], nil)
}

// finish emits the last steps and the stores.
func (h *neonHash64) finish(h1, h2 arm64.GP) {
	for seed, to := range []arm64.GP{h1, h2} {
		hash := h.h[seed]
		h.f.EOR(hash.LSR(33), hash, hash)
		h.f.MUL(h.prime[1], hash, hash)
		h.f.EOR(hash.LSR(29), hash, hash)
		h.f.MUL(h.prime[2], hash, hash)
		h.f.EOR(hash.LSR(32), hash, hash)
		h.f.StoreD(hash, to.Post(8))
	}
}

// neonHash64Width emits the hash of keys of 4 or 8 bytes that lie side by side.
func neonHash64Width(file *arm64.File, width int) {
	f := file.Function(fmt.Sprintf("hash64Width%dNEON", width), arm64.NoSplit, "func(keys *byte, h1, h2 *uint64, n int)")
	f.Comment("XXH64 with the seeds 0 and 1. The steps that do not depend on the seed are",
		"computed once for both.")
	keys, h1, h2, n := f.Argument("keys"), f.Argument("h1"), f.Argument("h2"), f.Argument("n")
	h, start := newNEONHash64(f), f.GP()
	f.ADD(arm64.Imm(width), h.prime[4], start)
	f.Label("key")
	x := f.GP()
	f.MOVD(start, h.h[0])
	f.ADD(arm64.Imm(1), start, h.h[1])
	if width == 8 {
		f.MOVD(keys.Post(8), x)
		h.mixLong(x)
	} else {
		f.MOVWU(keys.Post(4), x)
		h.mixWord(x)
	}
	h.finish(h1, h2)
	f.SUBS(arm64.Imm(1), n, n)
	f.BNE("key")
	f.RET()
}

// neonHash64Bytes emits the hash of a column of keys.
func neonHash64Bytes(file *arm64.File, c neonColumn) {
	f := file.Function("hash64"+c.name+"NEON", arm64.Splits, "func("+c.arguments+", h1, h2 *uint64, n int) (left int)")
	f.Comment(
		"XXH64 with the seeds 0 and 1. The steps that do not depend on the seed are computed",
		"once for both. A key has stripes of 32 bytes, then long words, a word, and single",
		"bytes. The kernel ends early at a long key, and when it has hashed enough bytes: a",
		"call must not take long.",
	)
	h1, h2, left, bytes := f.Argument("h1"), f.Argument("h2"), f.Argument("n"), f.GP()
	f.MOVD(arm64.Imm(8*most), bytes)
	h, key, length := newNEONHash64(f), f.GP(), f.GP()
	locate := c.locate
	if locate == nil {
		locate = neonFixed
	}
	next := locate(f)
	f.Label("key")
	next(key, length)
	f.CMP(arm64.Imm(long), length)
	f.BHS("end")
	f.SUB(length, bytes, bytes)
	f.MOVD(h.prime[4], h.h[0])
	f.ADD(arm64.Imm(1), h.prime[4], h.h[1])
	x, rest := f.GP(), f.GP()
	f.MOVD(length, rest)
	f.CMP(arm64.Imm(32), length)
	f.BHS("stripes")
	f.Label("striped")
	for _, hash := range h.h {
		f.ADD(length, hash, hash)
	}
	f.SUBS(arm64.Imm(8), rest, rest)
	f.BLO("word")
	f.Label("long")
	f.MOVD(key.Post(8), x)
	h.mixLong(x)
	f.SUBS(arm64.Imm(8), rest, rest)
	f.BHS("long")
	f.Label("word")
	f.ADDS(arm64.Imm(8-4), rest, rest)
	f.BLT("bytes")
	f.MOVWU(key.Post(4), x)
	h.mixWord(x)
	f.SUB(arm64.Imm(4), rest, rest)
	f.Label("bytes")
	f.ADDS(arm64.Imm(4), rest, rest)
	f.BEQ("finish")
	f.Label("byte")
	f.MOVBU(key.Post(1), x)
	h.mixByte(x)
	f.SUBS(arm64.Imm(1), rest, rest)
	f.BNE("byte")
	f.Label("finish")
	h.finish(h1, h2)
	f.SUBS(arm64.Imm(1), left, left)
	f.BEQ("end")
	f.CMP(arm64.Imm(0), bytes)
	f.BGE("key")
	f.Label("end")
	f.Result("left", left)
	f.RET()

	f.Label("stripes")
	h.stripes(key, rest)
	f.B("striped")
}

func neonFixed(f *arm64.Function) func(key, length arm64.GP) {
	data, width := f.Argument("data"), f.Argument("width")
	return func(key, length arm64.GP) {
		f.MOVD(data, key)
		f.MOVD(width, length)
		f.ADD(width, data, data)
	}
}

// stripes emits the hash of the stripes of a key, its whole parts of 32 bytes.
func (h *neonHash64) stripes(key, rest arm64.GP) {
	f := h.f
	var sums [2][4]arm64.GP
	for seed := range sums {
		for i := range sums[seed] {
			sums[seed][i] = f.GP()
		}
		s := sums[seed]
		f.MOVD(arm64.Imm(seed), s[2])
		f.ADD(h.prime[1], s[2], s[1])
		f.ADD(h.prime[0], s[1], s[0])
		f.SUB(h.prime[0], s[2], s[3])
	}
	x := f.GP()
	f.Label("stripe")
	for i := range 4 {
		f.MOVD(key.Post(8), x)
		f.MUL(h.prime[1], x, x)
		for seed := range sums {
			sum := sums[seed][i]
			f.ADD(x, sum, sum)
			f.ROR(64-31, sum, sum)
			f.MUL(h.prime[0], sum, sum)
		}
	}
	f.SUB(arm64.Imm(32), rest, rest)
	f.CMP(arm64.Imm(32), rest)
	f.BHS("stripe")
	for seed, s := range sums {
		hash := h.h[seed]
		f.ROR(64-1, s[0], hash)
		for i, turn := range []int{7, 12, 18} {
			f.ROR(64-turn, s[i+1], x)
			f.ADD(x, hash, hash)
		}
		for _, sum := range s {
			f.MUL(h.prime[1], sum, x)
			f.ROR(64-31, x, x)
			f.MUL(h.prime[0], x, x)
			f.EOR(x, hash, hash)
			f.MADD(h.prime[0], h.prime[3], hash, hash)
		}
	}
}
