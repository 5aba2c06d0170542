package main

import "github.com/lanebloom/bloom/asm/arm64"

// neonHash32Bytes has the registers of the hash of keys that lie anywhere.
type neonHash32Bytes struct {
	f *arm64.Function

	seed, mul         arm64.V
	three, four, high arm64.V // in each word: 3, 4, and 0xc0
	signs             arm64.V

	keys       [neonVector]arm64.GP // the next 8 bytes
	lengths, h [2]arm64.V
	tails      [4]arm64.V // the last 8 bytes of each key

	rows, hashes, left, bytes arm64.GP
	steps                     [3]arm64.GP // of the second, the third and the last long word of a key

	// The lengths in bytes while the keys are located, and then the addresses of the last 8
	// bytes.
	ends [neonVector]arm64.GP
}

// neonHash32Steps has, at 16 + n, the step from a long word to the next of a key, if n bytes follow
// the former's 8: 8 at most, and 0 if n is negative.
func neonHash32Steps() []byte {
	steps := make([]byte, 56)
	for i := range steps {
		steps[i] = byte(min(max(i-24, 0), 8))
	}
	return steps
}

// neonHash32Any emits the hash of whole vectors of a column of keys.
func neonHash32Any(f *arm64.Function, tables neonTables) {
	steps := tables.steps
	f.Comment(
		"Each lane hashes one key, two words at a time: for each word h = (h + word)·mul,",
		"h ^= h>>16. The layouts differ in how the kernel finds the address and the length of a key.",
		"",
		"If all 8 keys have 8 to 32 bytes, it loads 8 bytes of each four times, and moves on by a",
		"step from a table: the last load has the last 8 bytes, and steps before are shorter if it",
		"would begin behind those. A lane without pairs left keeps its hash. The bytes after the last",
		"pair are the upper bytes of the last 8.",
		"",
		"Else a lane without pairs left reads its last 8 bytes again. A key of fewer than 8 bytes is",
		"loaded by parts, and its lane reads a table in place of pairs.",
		"",
		"The kernel reads nothing but the keys and the table. It ends early at a long key, and when it",
		"has hashed enough bytes: a call must not take long. signs has the highest bits of the last",
		"bytes that are signed, all or none.",
	)
	b := &neonHash32Bytes{f: f, rows: f.Argument("rows"), hashes: f.Argument("hashes"), left: neonVectors(f), bytes: f.GP()}
	f.MOVD(arm64.Imm(most), b.bytes)
	b.seed, b.mul = broadcastConstant(f, hash32Seed), broadcastConstant(f, hash32Mul)
	b.three, b.four, b.high = broadcastConstant(f, 3), broadcastConstant(f, 4), broadcastConstant(f, 0xc0)
	b.signs = broadcast(f, f.Argument("signs"))
	for _, registers := range [][]arm64.GP{b.keys[:], b.steps[:], b.ends[:]} {
		for i := range registers {
			registers[i] = f.GP()
		}
	}
	fillVectors(f, b.lengths[:], b.h[:], b.tails[:])
	f.Address(steps, b.steps[2])
	f.ADD(arm64.Imm(8), b.steps[2], b.steps[1])
	f.ADD(arm64.Imm(16), b.steps[2], b.steps[0])
	eight, fifteen, twentyThree := broadcastConstant(f, 8), broadcastConstant(f, 15), broadcastConstant(f, 23)
	f.Label("vector")
	stride := b.locate()
	longest := b.start(eight)
	f.BHS("any")
	b.near(longest, fifteen, twentyThree)
	f.Label("tails")
	b.mixTails()
	f.FSTPQ(b.h[0], b.h[1], b.hashes.Post(32))
	neonCount(f, arm64.Imm(1), b.left, f.BNE, "vector")
	f.Label("end")
	neonReturnLeft(f, b.left)
	b.otherLayouts(stride)
	f.Label("any")
	b.any()
	f.B("tails")
	for i := range b.keys {
		b.short(i)
	}
}

// locate emits the code that finds the addresses and the lengths of the next keys.
func (b *neonHash32Bytes) locate() (stride arm64.GP) {
	f := b.f
	stride = f.Argument("stride")
	neonBranch(f, arm64.Imm(16), stride, f.BEQ, "strings")
	f.BLT("offsets")
	b.headers(24)
	f.Label("located")
	for i, length := range b.ends {
		setLong(f, length, b.tails[i/2], i%2)
	}
	return stride
}

// otherLayouts emits what locate jumps to.
func (b *neonHash32Bytes) otherLayouts(stride arm64.GP) {
	f := b.f
	f.Label("strings")
	b.headers(16)
	f.B("located")
	f.Label("offsets")
	data, last := f.Argument("data"), f.GP()
	neonBranch(f, arm64.Imm(8), stride, f.BEQ, "long_offsets")
	neonBranch(f, arm64.Imm(0), stride, f.BLT, "fixed")
	for i := 0; i < neonVector; i += 2 {
		f.LDPW(b.rows.At(4*i), b.keys[i], b.keys[i+1])
	}
	f.MOVWU(b.rows.At(4*neonVector), last)
	f.ADD(arm64.Imm(4*neonVector), b.rows, b.rows)
	f.Label("between")
	for i, key := range b.keys {
		next := last
		if i+1 < neonVector {
			next = b.keys[i+1]
		}
		f.SUB(key, next, b.ends[i])
		f.ADD(data, key, key)
	}
	f.B("located")
	f.Label("long_offsets")
	for i := 0; i < neonVector; i += 2 {
		f.LDP(b.rows.At(8*i), b.keys[i], b.keys[i+1])
	}
	f.MOVD(b.rows.At(8*neonVector), last)
	f.ADD(arm64.Imm(8*neonVector), b.rows, b.rows)
	f.B("between")
	f.Label("fixed")
	f.NEG(stride, stride)
	for i, key := range b.keys {
		f.MOVD(b.rows, key)
		f.MOVD(stride, b.ends[i])
		f.ADD(stride, b.rows, b.rows)
	}
	f.B("located")
}

func (b *neonHash32Bytes) headers(stride int) {
	for i, key := range b.keys {
		b.f.LDP(b.rows.At(stride*i), key, b.ends[i])
	}
	b.f.ADD(arm64.Imm(stride*neonVector), b.rows, b.rows)
}

// start emits the initial hashes. It returns the greatest length less 8, compared with 25: it is as high
// or higher as an unsigned number if a key has fewer than 8 bytes or more than 32.
func (b *neonHash32Bytes) start(eight arm64.V) (longest arm64.GP) {
	f := b.f
	var more [2]arm64.V
	for i, length := range b.lengths {
		f.VUQXTN(b.tails[2*i], length)
		f.VUQXTN2(b.tails[2*i+1], length)
		more[i] = f.V()
		f.VSUB(arm64.S4, eight, length, more[i])
		f.VMUL(arm64.S4, b.mul, length, b.h[i])
		f.VEOR(b.seed, b.h[i], b.h[i])
	}
	longest = b.f.GP()
	b.greatest(more, longest)
	f.CMP(arm64.Imm(33-8), longest)
	return longest
}

// greatest emits the greatest of all words of two vectors.
func (b *neonHash32Bytes) greatest(x [2]arm64.V, greatest arm64.GP) {
	v := b.f.V()
	b.f.VUMAX(arm64.S4, x[0], x[1], v)
	b.f.VUMAXV(arm64.S4, v, v)
	b.f.FromLane('S', 0, v, greatest)
}

// near emits the hash of the pairs of 8 keys of 8 to 32 bytes, and the loads of their tails. more is the
// greatest length less 8.
func (b *neonHash32Bytes) near(more arm64.GP, fifteen, twentyThree arm64.V) {
	f := b.f
	load := func(steps arm64.GP) {
		for i, key := range b.keys {
			step := f.GP()
			f.MOVBU(steps.Index(b.ends[i]), step)
			b.load(key.PostBy(step), b.tails[i/2], i%2)
		}
	}
	load(b.steps[0])
	for i, h := range b.h {
		b.mixPair(i, h)
	}
	neonBranch(f, arm64.Imm(16-8), more, f.BLO, "last")
	load(b.steps[1])
	b.mixLonger(b.lengths, fifteen)
	neonBranch(f, arm64.Imm(24-8), more, f.BLO, "last")
	load(b.steps[2])
	b.mixLonger(b.lengths, twentyThree)
	f.Label("last")
	for i, key := range b.keys {
		b.load(key.At(0), b.tails[i/2], i%2)
	}
	neonBranch(f, arm64.Imm(32-8), more, f.BNE, "tails")
	b.mixLonger(b.lengths, broadcastConstant(f, 31))
	f.B("tails")
}

// mixLonger emits the mixing of the next pair into the hashes of keys whose length is above least.
func (b *neonHash32Bytes) mixLonger(lengths [2]arm64.V, least arm64.V) {
	for i, length := range lengths {
		next, active := b.f.V(), b.f.V()
		b.mixPair(i, next)
		b.f.VCMHI(arm64.S4, least, length, active)
		b.f.VBIT(active, next, b.h[i])
	}
}

// any emits near for keys of any length.
func (b *neonHash32Bytes) any() {
	f := b.f
	neonBranch(f, arm64.Imm(0), b.bytes, f.BLT, "end")
	one, x := broadcastConstant(f, 1), f.V()
	var pairs [2]arm64.V
	for i := range pairs {
		pairs[i] = f.V()
		f.VUSHR(3, arm64.S4, b.lengths[i], pairs[i])
	}
	common, most := f.GP(), f.GP()
	b.greatest(pairs, most)
	neonBranch(f, arm64.Imm(long/8), most, f.BHS, "end")
	f.SUB(most.LSL(3), b.bytes, b.bytes)
	for i, key := range b.keys {
		end := b.ends[i]
		neonBranch(f, arm64.Imm(8), end, f.BLO, labelOf("short", i))
		f.ADD(key, end, end)
		f.SUB(arm64.Imm(8), end, end)
		f.Label(labelOf("loaded", i))
	}
	f.VUMIN(arm64.S4, pairs[0], pairs[1], x)
	f.VUMINV(arm64.S4, x, x)
	f.FromLane('S', 0, x, common)
	at := broadcast(f, common)
	f.SUB(common, most, most)
	f.CBZ(common, "common_done")
	f.Label("common")
	for i, key := range b.keys {
		b.load(key.Post(8), b.tails[i/2], i%2)
	}
	for i, h := range b.h {
		b.mixPair(i, h)
	}
	neonCount(f, arm64.Imm(1), common, f.BNE, "common")
	f.Label("common_done")
	f.CBZ(most, "apart_done")
	f.Label("apart")
	for i, key := range b.keys {
		f.CMP(b.ends[i], key)
		f.CSEL("HI", b.ends[i], key, key)
		b.load(key.Post(8), b.tails[i/2], i%2)
	}
	b.mixLonger(pairs, at)
	f.VADD(arm64.S4, one, at, at)
	neonCount(f, arm64.Imm(1), most, f.BNE, "apart")
	f.Label("apart_done")
	for i, end := range b.ends {
		b.load(end.At(0), b.tails[i/2], i%2)
	}
}

// short emits the code that copies key i, of fewer than 8 bytes, to the upper bytes of 8 bytes on the
// stack.
func (b *neonHash32Bytes) short(i int) {
	f, key, n, x, y := b.f, b.keys[i], b.ends[i], b.f.GP(), b.f.GP()
	label := func(name string) string { return labelOf(name, i) }
	f.Label(label("short"))
	neonBranch(f, arm64.Imm(4), n, f.BLO, label("bytes"))
	f.MOVWU(key.At(0), x)
	f.ADD(n, key, y)
	f.MOVWU(y.At(-4), y)
	f.LSL(arm64.Imm(3), n, n)
	f.NEG(n, n)
	f.LSL(n, x, x)
	f.ORR(y.LSL(32), x, x)
	f.B(label("copied"))
	f.Label(label("bytes"))
	f.MOVD(arm64.Imm(0), x)
	f.CBZ(n, label("copied"))
	f.Label(label("byte"))
	f.MOVBU(key.Post(1), y)
	f.LSR(arm64.Imm(8), x, x)
	f.ORR(y.LSL(56), x, x)
	neonCount(f, arm64.Imm(1), n, f.BNE, label("byte"))
	f.Label(label("copied"))
	slot := f.Local(8)
	f.StoreD(x, slot.At(0))
	f.MOVD(slot, key)
	f.MOVD(slot, n)
	f.B(label("loaded"))
}

// load emits code that loads long word i of a vector. Load long word 0 first: it does not wait for
// the old contents.
func (b *neonHash32Bytes) load(from arm64.Mem, to arm64.V, i int) {
	if i == 0 {
		b.f.LoadLow(from, to)
	} else {
		b.f.LoadHigh(from, to)
	}
}

// mixPair emits the mixing of the long words in tails into the hashes of half the keys.
func (b *neonHash32Bytes) mixPair(half int, next arm64.V) {
	first, second := b.words(half)
	neonMix(b.f, b.h[half], first, b.mul, 16, next)
	neonMix(b.f, next, second, b.mul, 16, next)
}

// words emits code that splits the long words in tails into low and high words.
func (b *neonHash32Bytes) words(half int) (low, high arm64.V) {
	low, high = b.f.V(), b.f.V()
	b.f.VUZP1(arm64.S4, b.tails[2*half+1], b.tails[2*half], low)
	b.f.VUZP2(arm64.S4, b.tails[2*half+1], b.tails[2*half], high)
	return low, high
}

// mixTails emits the mixing of the bytes after the last pair: a word, if the key has one, and then up
// to three bytes.
func (b *neonHash32Bytes) mixTails() {
	f := b.f
	for half, length := range b.lengths {
		// Shift out the bytes that were hashed already, at the low end of each long word. The shift
		// is the low byte: 0xc0 + 8·(length%8) is 64 - 8·(length%8) bits to the right.
		shift, mask, next := f.V(), f.V(), f.V()
		f.VSHL(3, arm64.S4, length, shift)
		f.VORR(b.high, shift, shift)
		for j, zip := range []func(arm64.Arrangement, arm64.V, arm64.V, arm64.V){f.VZIP1, f.VZIP2} {
			long, tail := f.V(), b.tails[2*half+j]
			zip(arm64.S4, shift, shift, long)
			f.VUSHL(arm64.D2, long, tail, tail)
		}
		word, rest := b.words(half)
		f.VCMTST(arm64.S4, b.four, length, mask)
		neonMix(f, b.h[half], word, b.mul, 16, next)
		f.VBIT(mask, next, b.h[half])
		f.VBIT(mask, rest, word)
		// (b ^ 0x80) - 0x80 is b as a signed byte, and 0 if there is no byte.
		f.VEOR(b.signs, word, word)
		f.VSUB(arm64.S4, b.signs, word, word)
		f.VCMTST(arm64.S4, b.three, length, mask)
		neonMix(f, b.h[half], word, b.mul, 24, next)
		f.VBIT(mask, next, b.h[half])
	}
}
