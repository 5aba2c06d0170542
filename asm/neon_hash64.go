package main

import (
	"github.com/lanebloom/bloom/asm/arm64"
)

// neonHash64 has the constants of XXH64 while a kernel's code is emitted. NEON has no product
// of 64 bits. So the kernel hashes keys in general registers, one after the other, and the
// CPU overlaps them.
type neonHash64 struct {
	f                  *arm64.Function
	prime              [5]arm64.GP
	long, word, single neonMixing // of 8 bytes, 4 bytes, and one
}

// neonMixing is how bytes x are mixed into a hash, which becomes rotl(hash ^ x, turn)·mul + add. prepare first emits the steps for
// x that do not depend on the seed.
type neonMixing struct {
	bytes   int
	prepare func(x arm64.GP)
	turn    int
	mul     arm64.GP
	add     *arm64.GP
}

func newNEONHash64(f *arm64.Function) *neonHash64 {
	h := &neonHash64{f: f}
	for i, p := range primes {
		h.prime[i] = f.GP()
		f.MOVD(arm64.Imm(int64(p)), h.prime[i])
	}
	h.long = neonMixing{8, func(x arm64.GP) { h.round(x, x) }, 27, h.prime[0], &h.prime[3]}
	h.word = neonMixing{4, func(x arm64.GP) { f.MUL(h.prime[0], x, x) }, 23, h.prime[1], &h.prime[2]}
	h.single = neonMixing{1, func(x arm64.GP) { f.MUL(h.prime[4], x, x) }, 11, h.prime[0], nil}
	return h
}

// round emits to = rotl(x·prime 2, 31)·prime 1.
func (h *neonHash64) round(x, to arm64.GP) {
	h.f.MUL(h.prime[1], x, to)
	h.f.ROR(64-31, to, to)
	h.f.MUL(h.prime[0], to, to)
}

// scale emits the end of a mixing, after the rotation.
func (h *neonHash64) scale(m neonMixing, hash arm64.GP) {
	if m.add != nil {
		h.f.MADD(m.mul, *m.add, hash, hash)
	} else {
		h.f.MUL(m.mul, hash, hash)
	}
}

// mix emits the load of the next bytes of a key, and their mixing into the hash.
func (h *neonHash64) mix(m neonMixing, key, hash arm64.GP) {
	x := h.f.GP()
	switch m.bytes {
	case 8:
		h.f.MOVD(key.Post(8), x)
	case 4:
		h.f.MOVWU(key.Post(4), x)
	default:
		h.f.MOVBU(key.Post(1), x)
	}
	m.prepare(x)
	h.f.EOR(x, hash, hash)
	h.f.ROR(64-m.turn, hash, hash)
	h.scale(m, hash)
}

// finish emits the last steps.
func (h *neonHash64) finish(hashes []arm64.GP) {
	for i, shift := range []int{33, 29} {
		for _, hash := range hashes {
			h.f.EOR(hash.LSR(shift), hash, hash)
			h.f.MUL(h.prime[i+1], hash, hash)
		}
	}
	for _, hash := range hashes {
		h.f.EOR(hash.LSR(32), hash, hash)
	}
}

// registers returns n new general registers.
func registers(f *arm64.Function, n int) (r []arm64.GP) {
	for range n {
		r = append(r, f.GP())
	}
	return r
}

// neonHash64Width emits the hash of keys of 4 or 8 bytes that lie side by side.
func neonHash64Width(f *arm64.Function, width int) {
	f.Comment(
		"XXH64. The kernel rotates the initial hash once for all keys: rotating an exclusive or is",
		"rotating its parts.")
	h, start := newNEONHash64(f), f.Argument("seed")
	m := h.long
	if width == 4 {
		m = h.word
	}
	f.ADD(h.prime[4], start, start)
	f.ADD(arm64.Imm(width), start, start)
	f.ROR(64-m.turn, start, start)
	neonWidth(f, width, func(keys []arm64.GP) (hashes []arm64.GP) {
		for _, x := range keys {
			m.prepare(x)
		}
		for _, x := range keys {
			hash := f.GP()
			f.EOR(x.ROR(64-m.turn), start, hash)
			h.scale(m, hash)
			hashes = append(hashes, hash)
		}
		h.finish(hashes)
		return hashes
	})
}

// neonWidth emits the rest of a kernel that hashes keys of 4 or 8 bytes which lie side by
// side: 4 at a time, and then single ones. The function hash returns the hashes of some keys.
func neonWidth(f *arm64.Function, width int, hash func(keys []arm64.GP) []arm64.GP) {
	keys, n, to := f.Argument("rows"), f.Argument("n"), f.Argument("hashes")
	neonCount(f, arm64.Imm(4), n, f.BLT, "rest")
	f.Label("four")
	x := registers(f, 4)
	for i := 0; i < 4; i += 2 {
		if width == 8 {
			f.LDP(keys.Post(16), x[i], x[i+1])
		} else {
			f.LDPW(keys.Post(8), x[i], x[i+1])
		}
	}
	hashes := hash(x)
	for i := 0; i < len(hashes); i += 2 {
		f.STP(hashes[i], hashes[i+1], to.Post(16))
	}
	neonCount(f, arm64.Imm(4), n, f.BGE, "four")
	f.Label("rest")
	f.ADDS(arm64.Imm(4), n, n)
	f.BEQ("end")
	f.Label("key")
	last := f.GP()
	if width == 8 {
		f.MOVD(keys.Post(8), last)
	} else {
		f.MOVWU(keys.Post(4), last)
	}
	f.StoreD(hash([]arm64.GP{last})[0], to.Post(8))
	neonCount(f, arm64.Imm(1), n, f.BNE, "key")
	f.Label("end")
	f.Result("left", n)
	f.RET()
}

// neonHash64Any emits the hash of a column of keys of any layout.
func neonHash64Any(f *arm64.Function, _ neonTables) {
	f.Comment(
		"XXH64. A key has stripes of 32 bytes, then long words, a word, and single bytes. The kernel",
		"asks for each key which layout it has. It ends early at a long key, and when it has hashed",
		"enough bytes: a call must not take long.",
	)
	to, left, bytes := f.Argument("hashes"), f.Argument("n"), f.GP()
	f.MOVD(arm64.Imm(8*most), bytes)
	h, hash, key, length := newNEONHash64(f), f.GP(), f.GP(), f.GP()
	rows, stride := f.Argument("rows"), f.Argument("stride")
	f.Label("key")
	neonBranch(f, arm64.Imm(16), stride, f.BLT, "others")
	f.LDP(rows.At(0), key, length)
	f.ADD(stride, rows, rows)
	f.Label("located")
	neonBranch(f, arm64.Imm(long), length, f.BHS, "end")
	f.SUB(length, bytes, bytes)
	f.ADD(f.Argument("seed"), h.prime[4], hash)
	rest := f.GP()
	f.MOVD(length, rest)
	neonBranch(f, arm64.Imm(32), length, f.BHS, "stripes")
	f.Label("striped")
	f.ADD(length, hash, hash)
	neonCount(f, arm64.Imm(8), rest, f.BLO, "word")
	f.Label("long")
	h.mix(h.long, key, hash)
	neonCount(f, arm64.Imm(8), rest, f.BHS, "long")
	f.Label("word")
	f.ADDS(arm64.Imm(8-4), rest, rest)
	f.BLT("bytes")
	h.mix(h.word, key, hash)
	f.SUB(arm64.Imm(4), rest, rest)
	f.Label("bytes")
	f.ADDS(arm64.Imm(4), rest, rest)
	f.BEQ("finish")
	f.Label("byte")
	h.mix(h.single, key, hash)
	neonCount(f, arm64.Imm(1), rest, f.BNE, "byte")
	f.Label("finish")
	h.finish([]arm64.GP{hash})
	f.StoreD(hash, to.Post(8))
	neonCount(f, arm64.Imm(1), left, f.BEQ, "end")
	neonBranch(f, arm64.Imm(0), bytes, f.BGE, "key")
	f.Label("end")
	f.Result("left", left)
	f.RET()

	f.Label("stripes")
	h.stripes(key, rest, hash)
	f.B("striped")
	neonOffsets(f, rows, stride, key, length)
}

// neonOffsets emits the address and the length of the next key between offsets, or of one width: what is not a header.
func neonOffsets(f *arm64.Function, rows, stride, key, length arm64.GP) {
	f.Label("others")
	neonBranch(f, arm64.Imm(8), stride, f.BEQ, "long_offsets")
	neonBranch(f, arm64.Imm(0), stride, f.BLT, "fixed")
	f.LDPW(rows.At(0), key, length)
	f.Label("between")
	f.ADD(stride, rows, rows)
	f.SUB(key, length, length)
	f.ADD(f.Argument("data"), key, key)
	f.B("located")
	f.Label("long_offsets")
	f.LDP(rows.At(0), key, length)
	f.B("between")
	f.Label("fixed")
	f.MOVD(rows, key)
	f.NEG(stride, length)
	f.SUB(stride, rows, rows)
	f.B("located")
}

// stripes emits the hash of the stripes of a key, its whole parts of 32 bytes.
func (h *neonHash64) stripes(key, rest, hash arm64.GP) {
	f, x, s := h.f, h.f.GP(), registers(h.f, 4)
	f.MOVD(f.Argument("seed"), s[2])
	f.ADD(h.prime[1], s[2], s[1])
	f.ADD(h.prime[0], s[1], s[0])
	f.SUB(h.prime[0], s[2], s[3])
	f.Label("stripe")
	for _, sum := range s {
		f.MOVD(key.Post(8), x)
		f.MUL(h.prime[1], x, x)
		f.ADD(x, sum, sum)
		f.ROR(64-31, sum, sum)
		f.MUL(h.prime[0], sum, sum)
	}
	f.SUB(arm64.Imm(32), rest, rest)
	neonBranch(f, arm64.Imm(32), rest, f.BHS, "stripe")
	f.ROR(64-1, s[0], hash)
	for i, turn := range []int{7, 12, 18} {
		f.ROR(64-turn, s[i+1], x)
		f.ADD(x, hash, hash)
	}
	for _, sum := range s {
		h.round(sum, x)
		f.EOR(x, hash, hash)
		f.MADD(h.prime[0], h.prime[3], hash, hash)
	}
}
