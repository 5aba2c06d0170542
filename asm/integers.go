package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// integers has keys of 4 or 8 bytes that lie side by side, and then their hashes of 64 bits, while the code of a kernel
// is emitted. With AVX2, 4 of 16 keys are in general registers: its products in vectors are a little faster than scalar
// ones, and both together are faster still, because the CPU has other ports for scalar shifts and sums.
type integers struct {
	vectors
	width  int
	vector []reg.VecVirtual
	scalar []reg.GPVirtual
}

// xxh64Width and xxph3Width emit kernels. XXH64 takes 64 keys at a time with AVX-512, and then 16.
func xxh64Width(v vectors, width int) {
	integersKernel(v, width, 8, func(k *integers) func() {
		start := number64(primes[4] + uint64(width))
		ADDQ(parameter("seed"), start)
		begin := AllocLocal(4 * v.lanes())
		v.store(v.broadcastLong(start), begin)
		return func() { k.xxh64(begin) }
	})
}

func xxph3Width(v vectors, width int) {
	integersKernel(v, width, 2, func(k *integers) func() { return k.xxph3 })
}

// integersKernel emits the kernel of a hash: prepare emits its constants, and returns what emits its steps.
func integersKernel(v vectors, width, abreast int, prepare func(k *integers) (hash func())) {
	keys, to, n := argument("rows"), argument("hashes"), vectorsOf(16)
	k := &integers{vectors: v, width: width}
	hash := prepare(k)
	step := func(label, next string, vectors, scalars int) {
		some := (vectors*v.lanes()/2 + scalars) / 16
		Label(label)
		branch(SUBQ, U8(some), n, JL, next)
		k.load(keys, vectors, scalars)
		hash()
		k.store(to)
		ADDQ(U32(16*some*width), keys)
		ADDQ(U32(16*some*8), to)
		JMP(LabelRef(label))
		Label(next)
	}
	if v.lanes() == 8 {
		Comment("12 of 16 keys in vectors, and 4 in general registers.")
		step("sixteen", "end", 3, 4)
	} else {
		if abreast > 2 {
			step("many", "few", abreast, 0)
			ADDQ(U8(abreast/2), n)
		}
		step("sixteen", "end", 2, 0)
	}
	returnLeft(nil, 16)
}

func (k *integers) load(keys reg.GPVirtual, vectors, scalars int) {
	k.vector, k.scalar = nil, nil
	for i := range vectors {
		x := k.vectors.vector()
		if m := (Mem{Base: keys, Disp: k.width * k.lanes() / 2 * i}); k.width == 8 {
			k.vectors.load(m, x)
		} else {
			VPMOVZXDQ(m, x)
		}
		k.vector = append(k.vector, x)
	}
	for i := range scalars {
		x := GP64()
		if m := (Mem{Base: keys, Disp: k.width * (k.lanes()/2*vectors + i)}); k.width == 8 {
			MOVQ(m, x)
		} else {
			MOVL(m, x.As32())
		}
		k.scalar = append(k.scalar, x)
	}
}

func (k *integers) store(to reg.GPVirtual) {
	for i, x := range k.vector {
		k.vectors.store(x, Mem{Base: to, Disp: 4 * k.lanes() * i})
	}
	for i, x := range k.scalar {
		MOVQ(x, Mem{Base: to, Disp: 4*k.lanes()*len(k.vector) + 8*i})
	}
}

// xxh64 emits XXH64. start has prime 5, the seed and the width in each long lane.
func (k *integers) xxh64(start Op) {
	turn, mul, add := uint64(27), primes[0], primes[3]
	if k.width == 8 {
		k.multiply(primes[1])
		k.rotate(31)
	} else {
		turn, mul, add = 23, primes[1], primes[2]
	}
	k.multiply(primes[0])
	k.xor(start)
	k.rotate(turn)
	k.multiply(mul)
	k.add(add)
	k.xorShifted(33)
	k.multiply(primes[1])
	k.xorShifted(29)
	k.multiply(primes[2])
	k.xorShifted(32)
}

// xxph3 emits XXPH3.
func (k *integers) xxph3() {
	if k.width == 4 {
		k.repeat()
	}
	k.xorConstant(xxph3Secret)
	k.xorShifted(51)
	k.multiply(xxph3Factor)
	k.add(uint64(k.width))
	k.xorShifted(47)
	k.multiply(primes[1])
	k.xorShifted(37)
	k.multiply(primes[2])
	k.xorShifted(32)
}

// repeat emits x |= x << 32.
func (k *integers) repeat() {
	for _, x := range k.vector {
		left := k.vectors.vector()
		VPSLLQ(U8(32), x, left)
		k.vectors.xor(left, x, x)
	}
	for _, x := range k.scalar {
		left := valueOf(x)
		SHLQ(U8(32), left)
		ORQ(left, x)
	}
}

// each emits an operation on all keys with a number: in vectors as in longs.go, and in general registers.
func (k *integers) each(n uint64, vectors func(v vectors, n uint64, xs ...reg.VecVirtual), scalar func(x reg.GPVirtual)) {
	vectors(k.vectors, n, k.vector...)
	for _, x := range k.scalar {
		scalar(x)
	}
}

func (k *integers) multiply(c uint64) {
	k.each(c, multiply, func(x reg.GPVirtual) { IMULQ(longConstant(c), x) })
}

func (k *integers) rotate(by uint64) {
	k.each(by, rotate, func(x reg.GPVirtual) { ROLQ(U8(by), x) })
}

func (k *integers) xorShifted(by uint64) {
	k.each(by, xorShifted, func(x reg.GPVirtual) { xorRight(x, by) })
}

func (k *integers) add(c uint64) {
	k.each(c, addConstant, func(x reg.GPVirtual) { ADDQ(longConstant(c), x) })
}

func (k *integers) xorConstant(c uint64) {
	k.each(c, xorConstant, func(x reg.GPVirtual) { XORQ(longConstant(c), x) })
}

// xor emits an exclusive or with a vector of equal long words, which is in memory where keys are in general registers.
func (k *integers) xor(with Op) {
	for _, x := range k.vector {
		if k.lanes() == 16 {
			VPXORQ(with, x, x)
		} else {
			VPXOR(with, x, x)
		}
	}
	for _, x := range k.scalar {
		XORQ(with, x)
	}
}
