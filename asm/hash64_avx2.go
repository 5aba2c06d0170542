package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hash64AVX2 has the registers of a kernel of a 64-bit hash in AVX2 while its code is emitted.
// AVX2 has no product of 64 bits. Three products of 32 bits, for four keys at a time, are a
// little faster than scalar products. Both together are faster still, because the CPU has other
// ports for scalar shifts and sums: of 16 keys, 12 are in vectors.
type hash64AVX2 struct {
	width   int
	short   [3]bool              // factors of 32 bits
	factors [3][2]reg.VecVirtual // the lower and the upper half of each, in each long lane
	scalars [3]reg.GPVirtual
	start   Mem // prime 5, the seed and the width in each long lane, of XXH64
	vector  [3]reg.VecVirtual
	scalar  [4]reg.GPVirtual
}

// hash64WidthAVX2 emits XXH64 of keys of 4 or 8 bytes that lie side by side.
func hash64WidthAVX2(width int) {
	widthAVX2("xxh64", "XXH64", width, [3]uint64(primes[:3]), func(h *hash64AVX2) {
		switch width {
		case 8:
			h.multiply(1)
			h.rotate(31)
			h.multiply(0)
			h.xor(h.start)
			h.rotate(27)
			h.multiply(0)
			h.add(primes[3])
		case 4:
			h.multiply(0)
			h.xor(h.start)
			h.rotate(23)
			h.multiply(1)
			h.add(primes[2])
		}
		h.shift(33)
		h.multiply(1)
		h.shift(29)
		h.multiply(2)
		h.shift(32)
	})
}

// xxph3WidthAVX2 is hash64WidthAVX2 for XXPH3.
func xxph3WidthAVX2(width int) {
	widthAVX2("xxph3", "XXPH3", width, [3]uint64{xxph3Factor, primes[1], primes[2]}, func(h *hash64AVX2) {
		if width == 4 {
			h.repeat()
		}
		h.xor(longConstant(xxph3Secret))
		h.shift(51)
		h.multiply(0)
		h.add(uint64(width))
		h.shift(47)
		h.multiply(1)
		h.shift(37)
		h.multiply(2)
		h.shift(32)
	})
}

// widthAVX2 emits the kernel of a hash whose steps hash emits.
func widthAVX2(prefix, name string, width int, factors [3]uint64, hash func(h *hash64AVX2)) {
	TEXT(fmt.Sprintf("%sWidth%dAVX2", prefix, width), NOSPLIT, signature(prefix))
	Comment(name + ": 12 of 16 keys in vectors, and 4 in general registers.")
	keys, to, n := argument("rows"), argument("hashes"), vectorsOf(16)
	h := &hash64AVX2{width: width}
	v := &avx2{}
	for i, factor := range factors {
		h.short[i] = factor>>32 == 0
		h.scalars[i] = number64(factor)
		h.factors[i][0] = v.broadcastLong(h.scalars[i])
		h.factors[i][1] = YMM()
		VPSRLQ(U8(32), h.factors[i][0], h.factors[i][1])
	}
	if prefix == "xxh64" {
		h.start = AllocLocal(32)
		start := number64(primes[4] + uint64(width))
		ADDQ(parameter("seed"), start)
		VMOVDQU(v.broadcastLong(start), h.start)
	}
	Label("vector")
	h.load(keys)
	hash(h)
	for i, x := range h.vector {
		VMOVDQU(x, Mem{Base: to, Disp: 32 * i})
	}
	for i, x := range h.scalar {
		MOVQ(x, Mem{Base: to, Disp: 96 + 8*i})
	}
	ADDQ(U32(16*width), keys)
	ADDQ(U32(128), to)
	countDown(n, "vector")
	returnLeft(nil, 16)
}

func (h *hash64AVX2) load(keys reg.GPVirtual) {
	for i := range h.vector {
		h.vector[i] = YMM()
		if m := (Mem{Base: keys, Disp: 4 * h.width * i}); h.width == 8 {
			VMOVDQU(m, h.vector[i])
		} else {
			VPMOVZXDQ(m, h.vector[i])
		}
	}
	for i := range h.scalar {
		h.scalar[i] = GP64()
		if m := (Mem{Base: keys, Disp: h.width * (12 + i)}); h.width == 8 {
			MOVQ(m, h.scalar[i])
		} else {
			MOVL(m, h.scalar[i].As32())
		}
	}
}

// multiply emits a product with a factor: the lower halves, and the two products of a lower
// and an upper half, which count 2^32 times.
func (h *hash64AVX2) multiply(factor int) {
	low, high := h.factors[factor][0], h.factors[factor][1]
	for _, x := range h.vector {
		upper, cross := YMM(), YMM()
		VPSHUFD(U8(0xf5), x, upper)
		VPMULUDQ(low, upper, upper)
		if !h.short[factor] {
			VPMULUDQ(high, x, cross)
			VPADDQ(cross, upper, upper)
		}
		VPMULUDQ(low, x, x)
		VPSLLQ(U8(32), upper, upper)
		VPADDQ(upper, x, x)
	}
	for _, x := range h.scalar {
		IMULQ(h.scalars[factor], x)
	}
}

// repeat emits x |= x << 32.
func (h *hash64AVX2) repeat() {
	for _, x := range h.vector {
		left := YMM()
		VPSLLQ(U8(32), x, left)
		VPOR(left, x, x)
	}
	for _, x := range h.scalar {
		left := GP64()
		MOVQ(x, left)
		SHLQ(U8(32), left)
		ORQ(left, x)
	}
}

func (h *hash64AVX2) rotate(by uint64) {
	for _, x := range h.vector {
		right := YMM()
		VPSRLQ(U8(64-by), x, right)
		VPSLLQ(U8(by), x, x)
		VPOR(right, x, x)
	}
	for _, x := range h.scalar {
		ROLQ(U8(by), x)
	}
}

// xor emits an exclusive or with four equal long words.
func (h *hash64AVX2) xor(words Mem) {
	for _, x := range h.vector {
		VPXOR(words, x, x)
	}
	for _, x := range h.scalar {
		XORQ(words, x)
	}
}

func (h *hash64AVX2) add(c uint64) {
	for _, x := range h.vector {
		VPADDQ(longConstant(c), x, x)
	}
	for _, x := range h.scalar {
		ADDQ(longConstant(c), x)
	}
}

// shift emits x ^= x >> by.
func (h *hash64AVX2) shift(by uint64) {
	for _, x := range h.vector {
		right := YMM()
		VPSRLQ(U8(by), x, right)
		VPXOR(right, x, x)
	}
	for _, x := range h.scalar {
		right := GP64()
		MOVQ(x, right)
		SHRQ(U8(by), right)
		XORQ(right, x)
	}
}

// longConstants has the constants so far, each in four long lanes.
var longConstants = map[uint64]Mem{}

// longConstant returns a constant in each of four long lanes.
func longConstant(c uint64) Mem {
	if _, ok := longConstants[c]; !ok {
		longConstants[c] = longWords(fmt.Sprintf("longs%016x", c), 4, func(int) uint64 { return c })
	}
	return longConstants[c]
}
