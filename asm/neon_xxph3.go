package main

import (
	"fmt"

	"github.com/lanebloom/bloom/asm/arm64"
)

// neonXXPH3Width emits XXPH3 of keys of 4 or 8 bytes that lie side by side.
func neonXXPH3Width(file *arm64.File, width int) {
	f := file.Function(fmt.Sprintf("xxph3Width%dNEON", width), arm64.NoSplit, "func(keys *byte, hashes *uint64, n int)")
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
	p, q, r := constant(0x9e3779b1), constant(primes[1]), constant(primes[2])
	neonWidth(f, width, []arm64.GP{f.Argument("hashes")}, func(x []arm64.GP) []arm64.GP {
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
