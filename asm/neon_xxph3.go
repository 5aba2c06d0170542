package main

import (
	"github.com/lanebloom/bloom/asm/arm64"
)

// neonXXPH3Width emits XXPH3 of keys of 4 or 8 bytes that lie side by side.
func neonXXPH3Width(f *arm64.Function, width int) {
	f.Comment(
		"XXPH3 of a key of 4 to 8 bytes. The first 4 and the last 4 are the halves of a word x:",
		"x ^= secret, x = (x ^ x>>51)·p + length, x = (x ^ x>>47)·q, x = (x ^ x>>37)·r, x ^= x>>32.",
	)
	constant := func(x uint64) arm64.GP {
		r := f.GP()
		f.MOVD(arm64.Imm(int64(x)), r)
		return r
	}
	secret, length := constant(0xbe4ba423396cfeb8), constant(uint64(width))
	p, q, r := constant(xxph3Factor), constant(primes[1]), constant(primes[2])
	neonWidth(f, width, func(x []arm64.GP) []arm64.GP {
		for _, x := range x {
			if width == 4 {
				f.ORR(x.LSL(32), x, x)
			}
			f.EOR(secret, x, x)
			f.EOR(x.LSR(51), x, x)
			f.MADD(p, length, x, x)
		}
		for i, mul := range []arm64.GP{q, r} {
			for _, x := range x {
				f.EOR(x.LSR(47-10*i), x, x)
				f.MUL(mul, x, x)
			}
		}
		for _, x := range x {
			f.EOR(x.LSR(32), x, x)
		}
		return x
	})
}

// neonXXPH3Stripes emits the sums of the stripes of 64 bytes of a long key.
func neonXXPH3Stripes(f *arm64.Function, tables neonTables) {
	f.Comment("Four vectors of two words. The products of the halves of a word are those of the even",
		"and the odd words of 32 bits.")
	sums, key, n := f.Argument("sums"), f.Argument("key"), f.Argument("n")
	first, at, last, tail := f.GP(), f.GP(), f.GP(), f.GP()
	acc := [2][2]arm64.V{{f.V(), f.V()}, {f.V(), f.V()}}
	// eachPair emits code for two vectors of sums, with two vectors of the secret.
	eachPair := func(at arm64.GP, emit func(offset int, acc, secret [2]arm64.V)) {
		for i, acc := range acc {
			secret := [2]arm64.V{f.V(), f.V()}
			f.FLDPQ(at.At(32*i), secret[0], secret[1])
			emit(32*i, acc, secret)
		}
	}
	// halves returns the lower and the upper words of 32 bits of two vectors.
	halves := func(x [2]arm64.V) (lower, upper arm64.V) {
		lower, upper = f.V(), f.V()
		f.VUZP1(arm64.S4, x[1], x[0], lower)
		f.VUZP2(arm64.S4, x[1], x[0], upper)
		return lower, upper
	}
	products := func(a, b arm64.V) (p [2]arm64.V) {
		p = [2]arm64.V{f.V(), f.V()}
		f.VUMULL(arm64.D2, a, b, p[0])
		f.VUMULL2(arm64.D2, a, b, p[1])
		return p
	}
	stripe := func(from arm64.GP) {
		eachPair(at, func(offset int, acc, mixed [2]arm64.V) {
			words := [2]arm64.V{f.V(), f.V()}
			f.FLDPQ(from.At(offset), words[0], words[1])
			for i, word := range words {
				f.VEOR(word, mixed[i], mixed[i])
				f.VADD(arm64.D2, word, acc[i], acc[i])
			}
			for i, p := range products(halves(mixed)) {
				f.VADD(arm64.D2, p, acc[i], acc[i])
			}
		})
	}

	for i, acc := range acc {
		f.FLDPQ(sums.At(32*i), acc[0], acc[1])
	}
	factor, zero := broadcastConstant(f, uint32(xxph3Factor)), f.V()
	f.VMOVI(0, zero)
	f.Address(tables.secret, first)
	f.MOVD(first, at)
	f.ADD(arm64.Imm(128), first, last)
	f.ADD(n, key, tail)
	f.SUB(arm64.Imm(64), tail, tail)
	neonCount(f, arm64.Imm(64), n, f.BLT, "tail")
	f.Label("stripe")
	stripe(key)
	f.ADD(arm64.Imm(64), key, key)
	f.ADD(arm64.Imm(8), at, at)
	neonBranch(f, last, at, f.BNE, "next")
	eachPair(last, func(_ int, acc, secret [2]arm64.V) {
		for i, acc := range acc {
			right := f.V()
			f.VUSHR(47, arm64.D2, acc, right)
			f.VEOR(right, acc, acc)
			f.VEOR(secret[i], acc, acc)
		}
		lower, upper := halves(acc)
		f.VMUL(arm64.S4, factor, upper, upper)
		low := products(lower, factor)
		f.VZIP1(arm64.S4, upper, zero, acc[0])
		f.VZIP2(arm64.S4, upper, zero, acc[1])
		for i, p := range low {
			f.VADD(arm64.D2, p, acc[i], acc[i])
		}
	})
	f.MOVD(first, at)
	f.Label("next")
	neonCount(f, arm64.Imm(64), n, f.BGE, "stripe")
	f.Label("tail")
	f.ADDS(arm64.Imm(64), n, n)
	f.BEQ("end")
	f.ADD(arm64.Imm(121), first, at)
	stripe(tail)
	f.Label("end")
	for i, acc := range acc {
		f.FSTPQ(acc[0], acc[1], sums.At(32*i))
	}
	f.RET()
}
