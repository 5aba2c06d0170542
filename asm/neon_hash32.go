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
	neonStoreLeft(f, n)
	f.RET()
}

// neonVectors and neonStoreLeft are vectorsOf and storeLeft.

func neonVectors(f *arm64.Function) arm64.GP {
	n := f.Argument("n")
	f.LSR(arm64.Imm(log2(neonVector)), n, n)
	return n
}

func neonStoreLeft(f *arm64.Function, vectors arm64.GP) {
	left := f.Argument("n")
	f.AND(arm64.Imm(neonVector-1), left, left)
	f.ADD(vectors.LSL(log2(neonVector)), left, left)
	f.Result("left", left)
}

// neonMix emits d = x ^ x>>shift for x = (h + word)·mul.
func neonMix(f *arm64.Function, h, word, mul arm64.V, shift int, d arm64.V) {
	x, shifted := f.V(), f.V()
	f.VADD(arm64.S4, h, word, x)
	f.VMUL(arm64.S4, mul, x, x)
	f.VUSHR(shift, arm64.S4, x, shifted)
	f.VEOR(shifted, x, d)
}

// neonColumns are the layouts of columns, like columns for amd64.
var neonColumns = []neonColumn{
	{"Headers", neonHeaders},
	{"Offsets32", neonOffsets32},
	{"Offsets64", neonOffsets64},
	{"Fixed", nil},
}

// neonColumn is a layout of keys of any length.
type neonColumn struct {
	name string
	// locate emits the code that a kernel runs once, and returns a function that emits the
	// address and the length in bytes of the next key.
	locate func(f *arm64.Function) func(key, length arm64.GP)
}

func neonHeaders(f *arm64.Function) func(key, length arm64.GP) {
	headers, stride := f.Argument("rows"), f.Argument("stride")
	return func(key, length arm64.GP) {
		f.LDP(headers.At(0), key, length)
		f.ADD(stride, headers, headers)
	}
}

func neonOffsets32(f *arm64.Function) func(key, length arm64.GP) {
	data, offsets := f.Argument("data"), f.Argument("rows")
	return func(key, length arm64.GP) {
		f.LDPW(offsets.At(0), key, length)
		f.ADD(arm64.Imm(4), offsets, offsets)
		f.SUB(key, length, length)
		f.ADD(data, key, key)
	}
}

func neonOffsets64(f *arm64.Function) func(key, length arm64.GP) {
	data, offsets := f.Argument("data"), f.Argument("rows")
	return func(key, length arm64.GP) {
		f.LDP(offsets.At(0), key, length)
		f.ADD(arm64.Imm(8), offsets, offsets)
		f.SUB(key, length, length)
		f.ADD(data, key, key)
	}
}

// neonKeys has the registers of a vector of keys while the code of its hash is emitted.
type neonKeys struct {
	f *arm64.Function

	seed, mul               arm64.V
	one, three, four, seven arm64.V // in each word
	bits                    arm64.V // 64 in each word

	keys       [neonVector]arm64.GP // the next 8 bytes
	lengths, h [2]arm64.V
	tails      [4]arm64.V // the last 8 bytes of each key

	// For keys of any length: the address of the last whole pair of words, the number of
	// bytes while a key is located, and 8 bytes of stack for each lane.
	lasts, counts [neonVector]arm64.GP
	slots         arm64.GP
}

// neonHash32Bytes emits the hash of whole vectors of a column of keys.
func neonHash32Bytes(file *arm64.File, c neonColumn) {
	f := file.Function("hash32"+c.name+"NEON", arm64.Splits, signature("hash32"))
	f.Comment(
		"Each lane hashes one key, two words at a time: for each word h = (h + word)·mul,",
		"h ^= h>>16. A lane without pairs left reads its last pair again and keeps its hash.",
		"The bytes after the last pair are the upper bytes of the key's last 8. A key of",
		"fewer than 8 bytes is copied to the upper bytes of 8 bytes on the stack. The kernel",
		"reads nothing but the keys. It ends early at a long key, and when it has hashed",
		"enough bytes: a call must not take long. signs has the highest bits of the last bytes",
		"that are signed, all or none: such a byte is less by twice that bit.",
	)
	k := &neonKeys{f: f}
	hashes, left, bytes := f.Argument("hashes"), neonVectors(f), f.GP()
	f.MOVD(arm64.Imm(most), bytes)
	k.constants()
	if c.locate != nil {
		k.anyLengths(c.locate(f), bytes)
	} else {
		k.oneLength(bytes)
	}
	f.FSTPQ(k.h[0], k.h[1], hashes.Post(32))
	f.SUBS(arm64.Imm(1), left, left)
	f.BEQ("end")
	f.CMP(arm64.Imm(0), bytes)
	f.BGE("vector")
	f.Label("end")
	neonStoreLeft(f, left)
	f.RET()
	if c.locate != nil {
		k.shortKeys()
	}
}

func (k *neonKeys) constants() {
	k.seed, k.mul = broadcastConstant(k.f, hash32Seed), broadcastConstant(k.f, hash32Mul)
	k.one, k.three, k.four = broadcastConstant(k.f, 1), broadcastConstant(k.f, 3), broadcastConstant(k.f, 4)
	k.seven, k.bits = broadcastConstant(k.f, 7), broadcastConstant(k.f, 64)
	for i := range k.keys {
		k.keys[i] = k.f.GP()
	}
	for _, vectors := range [][]arm64.V{k.lengths[:], k.h[:], k.tails[:]} {
		for i := range vectors {
			vectors[i] = k.f.V()
		}
	}
}

// anyLengths emits the hash of a vector of keys that locate finds.
func (k *neonKeys) anyLengths(locate func(key, length arm64.GP), bytes arm64.GP) {
	f := k.f
	k.slots = f.Local(8 * neonVector)
	for i := range k.lasts {
		k.lasts[i], k.counts[i] = f.GP(), f.GP()
	}
	f.Label("vector")
	any := f.GP()
	f.MOVD(arm64.Imm(0), any)
	for i, key := range k.keys {
		length, start, end := k.counts[i], f.GP(), f.GP()
		locate(key, length)
		f.ORR(length, any, any)
		setLane(f, length, k.lengths[i/4], i%4)
		f.CMP(arm64.Imm(8), length)
		f.BLO(fmt.Sprintf("short_%d", i))
		f.Label(fmt.Sprintf("located_%d", i))
		f.SUB(arm64.Imm(8), key, start)
		f.ADD(length, start, end)
		k.loadLong(end.At(0), k.tails[i/2], i%2)
		f.AND(arm64.Imm(-8), length, length)
		f.ADD(length, start, k.lasts[i])
	}
	f.LSR(arm64.Imm(log2(long)), any, any)
	f.CBNZ(any, "end")

	var pairs [2]arm64.V
	for i := range pairs {
		pairs[i] = f.V()
		f.VUSHR(3, arm64.S4, k.lengths[i], pairs[i])
		k.start(k.lengths[i], k.h[i])
	}
	common, most, x := f.GP(), f.GP(), f.V()
	f.VUMIN(arm64.S4, pairs[0], pairs[1], x)
	f.VUMINV(arm64.S4, x, x)
	f.FromLane('S', 0, x, common)
	at := broadcast(f, common)
	f.VUMAX(arm64.S4, pairs[0], pairs[1], x)
	f.VUMAXV(arm64.S4, x, x)
	f.FromLane('S', 0, x, most)
	f.SUB(most.LSL(3), bytes, bytes)
	f.SUB(common, most, most)
	k.pairs("common", common, nil)
	k.pairs("apart", most, func(next [2]arm64.V) {
		for i := range next {
			active := f.V()
			f.VCMHI(arm64.S4, at, pairs[i], active)
			f.VBIT(active, next[i], k.h[i])
		}
		f.VADD(arm64.S4, k.one, at, at)
	})
	k.tail()
}

// oneLength emits the hash of a vector of keys that lie side by side.
func (k *neonKeys) oneLength(bytes arm64.GP) {
	f := k.f
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
	k.pairs("pairs", count, nil)
	f.CBZ(rest, "store")
	for i, key := range k.keys {
		end := f.GP()
		f.ADD(rest, key, end)
		f.SUB(arm64.Imm(8), end, end)
		k.loadLong(end.At(0), k.tails[i/2], i%2)
	}
	k.tail()
	f.Label("store")
}

// setLane and loadLong emit code that sets a lane of words or of long words. Set lane 0
// first: it does not wait for the old contents of the vector.
func setLane(f *arm64.Function, from arm64.GP, to arm64.V, i int) {
	if i == 0 {
		f.VDUP(from, arm64.S4, to)
	} else {
		f.ToLane(from, 'S', i, to)
	}
}

func (k *neonKeys) loadLong(from arm64.Mem, to arm64.V, i int) {
	if i == 0 {
		k.f.LoadD(from, to)
	} else {
		k.f.LoadLane(from, 'D', i, to)
	}
}

// start emits the initial hash, before the first word.
func (k *neonKeys) start(lengths, h arm64.V) {
	k.f.VMUL(arm64.S4, k.mul, lengths, h)
	k.f.VEOR(k.seed, h, h)
}

// pairs emits the hash of the next count pairs of words of each key. If take is nil, all
// keys have that many pairs. Else a key without pairs left reads its last pair again, and
// take emits the choice between the old hashes and the next ones.
func (k *neonKeys) pairs(label string, count arm64.GP, take func(next [2]arm64.V)) {
	f := k.f
	f.CBZ(count, label+"_done")
	f.Label(label)
	var words [4]arm64.V
	for i, key := range k.keys {
		if take != nil {
			f.CMP(k.lasts[i], key)
			f.CSEL("HI", k.lasts[i], key, key)
		}
		if i%2 == 0 {
			words[i/2] = f.V()
		}
		k.loadLong(key.Post(8), words[i/2], i%2)
	}
	next := k.h
	for i := range next {
		first, second := k.split(words[2*i], words[2*i+1])
		if take != nil {
			next[i] = f.V()
		}
		neonMix(f, k.h[i], first, k.mul, 16, next[i])
		neonMix(f, next[i], second, k.mul, 16, next[i])
	}
	if take != nil {
		take(next)
	}
	f.SUBS(arm64.Imm(1), count, count)
	f.BNE(label)
	f.Label(label + "_done")
}

// split emits code that splits long words, two in each vector, into low and high words.
func (k *neonKeys) split(a, b arm64.V) (low, high arm64.V) {
	low, high = k.f.V(), k.f.V()
	k.f.VUZP1(arm64.S4, b, a, low)
	k.f.VUZP2(arm64.S4, b, a, high)
	return low, high
}

// tail emits the hash of the bytes after the last pair: a word, if the key has one, and
// then up to three bytes.
func (k *neonKeys) tail() {
	f := k.f
	signs := broadcast(f, f.Argument("signs"))
	for i, length := range k.lengths {
		// Shift out the bytes that were hashed already, at the low end of each long word.
		shift, mask, next := f.V(), f.V(), f.V()
		f.VAND(k.seven, length, shift)
		f.VSHL(3, arm64.S4, shift, shift)
		f.VSUB(arm64.S4, k.bits, shift, shift)
		for j, zip := range []func(arm64.Arrangement, arm64.V, arm64.V, arm64.V){f.VZIP1, f.VZIP2} {
			long := f.V()
			zip(arm64.S4, shift, shift, long)
			f.VUSHL(arm64.D2, long, k.tails[2*i+j], k.tails[2*i+j])
		}
		word, rest := k.split(k.tails[2*i], k.tails[2*i+1])
		f.VCMTST(arm64.S4, k.four, length, mask)
		neonMix(f, k.h[i], word, k.mul, 16, next)
		f.VBIT(mask, next, k.h[i])
		f.VBIT(mask, rest, word)
		f.VAND(signs, word, shift)
		f.VSHL(1, arm64.S4, shift, shift)
		f.VSUB(arm64.S4, shift, word, word)
		f.VCMTST(arm64.S4, k.three, length, mask)
		neonMix(f, k.h[i], word, k.mul, 24, next)
		f.VBIT(mask, next, k.h[i])
	}
}

// shortKeys emits, for each lane, the code that copies a key of fewer than 8 bytes.
func (k *neonKeys) shortKeys() {
	f := k.f
	for i, key := range k.keys {
		label := func(name string) string { return fmt.Sprintf("%s_%d", name, i) }
		long, b := f.GP(), f.GP()
		f.Label(label("short"))
		f.MOVD(arm64.Imm(0), long)
		f.CBZ(k.counts[i], label("copied"))
		f.Label(label("copy"))
		f.MOVBU(key.Post(1), b)
		f.LSR(arm64.Imm(8), long, long)
		f.ORR(b.LSL(56), long, long)
		f.SUBS(arm64.Imm(1), k.counts[i], k.counts[i])
		f.BNE(label("copy"))
		f.Label(label("copied"))
		f.ADD(arm64.Imm(8*i), k.slots, key)
		f.StoreD(long, key.At(0))
		f.MOVD(arm64.Imm(8), k.counts[i])
		f.B(label("located"))
	}
}
