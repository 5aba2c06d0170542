package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// xxh64Rows has the registers of a kernel of XXH64 for keys of any length while its code is emitted.
// A product takes 15 cycles, so there are two vectors of 8 hashes.
type xxh64Rows struct {
	*keyRows
	n              []Mem // lengths, on the stack
	h              []reg.VecVirtual
	least, longest reg.VecVirtual
	c              [][4]reg.VecVirtual // 32 bytes of each key
	bytes          Mem                 // that may be hashed until the call ends
	seed           Mem                 // of the hashes at work
	kept           []Mem               // lengths and columns for seed 0, while the hashes of seed 1 are at work
	any            reg.VecVirtual      // the bits that a length has
}

// xxh64ByRows emits XXH64 of keys of any length with AVX-512.
func xxh64ByRows(vectors) {
	Comment(
		"XXH64. Each lane hashes one key. The kernel takes 32 bytes of each key, those of 8 keys into 4 vectors, and transposes them:",
		"then a vector has 8 bytes of 8 keys. A mask leaves zeros after the end of a key. The kernel",
		"reads nothing but the keys. For a key without bytes it reads the stack: a load of a page that",
		"is not mapped, with an empty mask, would take 500 cycles. It ends early at a long key, and when",
		"it has hashed enough bytes: a call must not take long. With two seeds, it hashes each group with",
		"seed 1 first, and keeps its columns for seed 0.",
	)
	const vectors = 2
	r := newKeyRows(8*vectors, 64*(1+vectors+5*vectors))
	h := &xxh64Rows{keyRows: r, h: newVectors(vectors), c: newColumns(vectors), least: ZMM(), longest: ZMM()}
	h.bytes = Mem{Base: r.frame, Disp: r.headersSize()}
	h.seed = h.bytes.Offset(8)
	other, rest := h.bytes.Offset(16), h.bytes.Offset(64)
	for i := range vectors {
		h.n = append(h.n, rest.Offset(64*i))
	}
	for i := range 5 * vectors {
		h.kept = append(h.kept, rest.Offset(64*(vectors+i)))
	}
	h.any = ZMM()
	to, second := argument("h1"), argument("h2")
	MOVQ(U32(most), h.bytes)
	MOVQ(U32(0), h.seed)
	none := zeroWord()
	CMPQ(to, second)
	CMOVQEQ(none, second)
	MOVQ(second, other)
	swap := func() {
		next := valueOf(other)
		MOVQ(to, other)
		MOVQ(next, to)
	}

	Label("vector")
	h.find(func(bytes reg.GPVirtual) {
		SUBQ(bytes, to)
		branch(CMPQ, other, U8(0), JEQ, "whole")
		SUBQ(bytes, other)
	})
	h.storeLengths()
	h.compare()
	jumpIf(h.longest, atLeast, long, "end")
	h.loadColumns()
	Label("loaded")
	branch(CMPQ, other, U8(0), JEQ, "seed")
	h.keep(func(at, kept Mem) { VMOVDQA64(loaded(at), kept) }, func(x reg.VecVirtual, kept Mem) { VMOVDQA64(x, kept) })
	MOVQ(U32(1), h.seed)
	swap()
	Label("seed")
	jumpUnless(h.longest, atLeast, 32, "start")
	for i := range h.n {
		h.stripes(i)
	}
	jumpUnless(h.longest, atLeast, 33, "again")
	for i := range h.n {
		h.loadTails(i)
	}
	Label("again")
	h.compare()
	JMP(LabelRef("tails"))
	Label("start")
	for i := range h.n {
		h.start(i)
	}
	Label("tails")
	h.tails()
	Label("finish")
	endXXH64(h, h.h...)
	storeLongs(h.h, to)
	ADDQ(U32(64*vectors), to)
	branch(CMPQ, h.seed, U8(0), JEQ, "stored_all")
	h.keep(func(at, kept Mem) { VMOVDQA64(loaded(kept), at) }, func(x reg.VecVirtual, kept Mem) { VMOVDQA64(kept, x) })
	h.compare()
	MOVQ(U32(0), h.seed)
	swap()
	JMP(LabelRef("seed"))
	Label("stored_all")
	branch(SUBQ, U8(8*vectors), r.left, JLE, "end")
	branch(CMPQ, h.bytes, U8(0), JGE, "vector")
	r.end()
}

// keep emits a move of each length and of each vector of a column, to or from where it is kept.
func (h *xxh64Rows) keep(length func(at, kept Mem), column func(x reg.VecVirtual, kept Mem)) {
	for i, n := range h.n {
		length(n, h.kept[i])
		for j, x := range h.c[i] {
			column(x, h.kept[len(h.n)+4*i+j])
		}
	}
}

// storeLengths emits the loads of the lengths, and stores them.
func (h *xxh64Rows) storeLengths() {
	for i, x := range h.lengths() {
		VMOVDQA64(x, h.n[i])
	}
}

// loaded returns a vector that is on the stack.
func loaded(m Mem) reg.VecVirtual {
	x := ZMM()
	VMOVDQA64(m, x)
	return x
}

// compare emits the shortest and the longest length of each lane.
func (h *xxh64Rows) compare() {
	n := loaded(h.n[0])
	VPMINUD(h.n[1], n, h.least)
	VPMAXUD(h.n[1], n, h.longest)
	VPORQ(h.n[1], n, h.any)
}

// start emits the first state of vector i, for keys of less than 32 bytes.
func (h *xxh64Rows) start(i int) {
	VPADDQ_BCST(prime(5), loaded(h.n[i]), h.h[i])
	VPADDQ_BCST(h.seed, h.h[i], h.h[i])
}

// mix emits a step of the hashes of vector i, in the lanes of the mask. x has been multiplied.
func (h *xxh64Rows) mix(i int, x, mask reg.Register, turn uint8, mul, add int) {
	next := ZMM()
	VPXORQ(x, h.h[i], next)
	VPROLQ(U8(turn), next, next)
	if add == 0 {
		VPMULLQ_BCST(prime(mul), next, mask, h.h[i])
	} else {
		VPMULLQ_BCST(prime(mul), next, next)
		VPADDQ_BCST(prime(add), next, mask, h.h[i])
	}
}

// round emits the product, the rotation and the second product of a long word.
func round(x reg.VecVirtual) {
	multiply(&avx512{}, primes[1], x)
	rotate(&avx512{}, 31, x)
	multiply(&avx512{}, primes[0], x)
}

// loadColumns emits the loads of the first 32 bytes of each key.
func (h *xxh64Rows) loadColumns() {
	jumpIf(h.least, less, 16, "others")
	jumpIf(h.longest, above, 16, "others")
	h.loadSixteens()
	JMP(LabelRef("loaded"))
	Label("others")
	jumpIf(h.least, less, 1, "checked")
	jumpIf(h.longest, above, 255, "checked")
	h.columnsOf(h.c, func(header Mem, _ int) reg.VecVirtual {
		return firstBytes(valueOf(header), valueOf(header.Offset(8)))
	})
	JMP(LabelRef("loaded"))
	Label("checked")
	h.columnsOf(h.c, func(header Mem, _ int) reg.VecVirtual {
		p, n := valueOf(header), valueOf(header.Offset(8))
		CMPQ(n, U8(32))
		CMOVQGT(number(32), n)
		TESTQ(n, n)
		CMOVQEQ(h.frame, p)
		return firstBytes(p, n)
	})
}

// loadSixteens emits the loads of keys of 16 bytes, such as UUIDs, which need no masks. Their last two columns mean nothing.
func (h *xxh64Rows) loadSixteens() {
	for i, c := range h.c {
		eight := h.eight(8 * i)
		for key := range 8 {
			row, p := c[2+key%2], Mem{Base: valueOf(h.header(eight, key))}
			if key < 2 {
				whole(row)(x86.VMOVDQU(p, row.AsX()))
			} else {
				VINSERTI64X2(U8(key/2), p, row, row)
			}
		}
		VPUNPCKLQDQ(c[3], c[2], c[0])
		VPUNPCKHQDQ(c[3], c[2], c[1])
	}
}

// firstBytes emits the load of the first 32 of n bytes, with zeros after the last. n is at most 255, and the code changes it.
func firstBytes(p, n reg.GPVirtual) reg.VecVirtual {
	k, z := K(), ZMM()
	BZHIQ(n, allBits, n)
	KMOVD(n.As32(), k)
	whole(z)(x86.VMOVDQU8_Z(Mem{Base: p}, k, z.AsY()))
	return z
}

// stripes emits the first state of vector i: the hash of the stripes, whole parts of 32 bytes, of the keys that have any. It leaves
// the numbers of bytes after them as the lengths. loadTails loads these bytes.
func (h *xxh64Rows) stripes(i int) {
	n, label := h.n[i], func(name string) string { return labelOf(name, i) }
	h.start(i)
	some := compare(loaded(n), atLeast, 32)
	branch(KORTESTB, some, some, JZ, label("no_stripes"))
	sums := newVectors(4)
	startSums(sums, h.seed)
	add := func(x [4]reg.VecVirtual, active reg.Register) {
		for j, x := range x {
			word, next := ZMM(), ZMM()
			VPMULLQ_BCST(prime(2), x, word)
			VPADDQ(word, sums[j], next)
			VPROLQ(U8(31), next, next)
			if active == nil {
				VPMULLQ_BCST(prime(1), next, sums[j])
			} else {
				VPMULLQ_BCST(prime(1), next, active, sums[j])
			}
		}
	}
	offset, need, end, active := GP64(), GP64(), ZMM(), K()
	add(h.c[i], nil) // the sums of keys without a stripe are not merged
	MOVQ(U32(32), offset)
	Label(label("stripe"))
	LEAQ(Mem{Base: offset, Disp: 32}, need)
	VPBROADCASTQ(need, end)
	VPCMPUQ(U8(5), end, loaded(n), active)
	branch(KORTESTB, active, active, JZ, label("merge"))
	h.loadStripe(i, offset, need)
	add(h.c[i], active)
	ADDQ(U8(32), offset)
	SUBQ(U8(32), h.bytes)
	JMP(LabelRef(label("stripe")))
	Label(label("merge"))
	VPADDQ(n, mergeSums(sums), some, h.h[i])
	Label(label("no_stripes"))
	rest := loaded(n)
	VPANDQ_BCST(number(31), rest, rest)
	VMOVDQA64(rest, n)
}

// loadTails emits the loads of what is after the stripes of the keys of vector i.
func (h *xxh64Rows) loadTails(i int) {
	eight := h.eight(8 * i)
	h.columnsOf([][4]reg.VecVirtual{h.c[i]}, func(_ Mem, key int) reg.VecVirtual {
		header := h.header(eight, key)
		p, n, rest := valueOf(header), valueOf(header.Offset(8)), GP64()
		MOVQ(n, rest)
		ANDQ(I8(-32), rest)
		ADDQ(rest, p)
		ANDQ(U8(31), n)
		CMOVQEQ(h.frame, p)
		return firstBytes(p, n)
	})
}

// startSums emits the sums of no stripe.
func startSums(sums []reg.VecVirtual, seed Mem) {
	for j, start := range []uint64{primes[0] + primes[1], primes[1], 0, -primes[0]} {
		VPBROADCASTQ(number64(start), sums[j])
		VPADDQ_BCST(seed, sums[j], sums[j])
	}
}

// mergeSums emits the merging of the sums of stripes.
func mergeSums(sums []reg.VecVirtual) (hash reg.VecVirtual) {
	hash = ZMM()
	x := ZMM()
	VPROLQ(U8(1), sums[0], hash)
	for j, turn := range []uint8{7, 12, 18} {
		VPROLQ(U8(turn), sums[j+1], x)
		VPADDQ(x, hash, hash)
	}
	for _, sum := range sums {
		round(sum)
		VPXORQ(sum, hash, hash)
		VPMULLQ_BCST(prime(1), hash, hash)
		VPADDQ_BCST(prime(4), hash, hash)
	}
	return hash
}

// loadStripe emits the loads of 32 bytes at offset of the keys of vector i that have need bytes. It
// reads the stack for the others.
func (h *xxh64Rows) loadStripe(i int, offset, need reg.GPVirtual) {
	eight := h.eight(8 * i)
	var rows [4]reg.VecVirtual
	for key := range 8 {
		header, p, row := h.header(eight, key), GP64(), key/4*2+key%2
		MOVQ(header, p)
		ADDQ(offset, p)
		CMPQ(need, header.Offset(8))
		CMOVQHI(h.frame, p)
		if key%4 < 2 {
			rows[row] = ZMM()
			whole(rows[row])(x86.VMOVDQU64(Mem{Base: p}, rows[row].AsY()))
		} else {
			VINSERTI64X4(U8(1), Mem{Base: p}, rows[row], rows[row])
		}
	}
	transposeLongs(rows, h.c[i])
}

// tails emits the hash of up to three long words, a word and three bytes of each key.
func (h *xxh64Rows) tails() {
	tail := newVectors(len(h.n))
	for i, x := range tail {
		VMOVDQA64(h.c[i][0], x)
	}
	for j := range 3 {
		jumpUnless(h.longest, atLeast, 8*(j+1), "words")
		for i, n := range h.n {
			k := compare(loaded(n), atLeast, 8*(j+1))
			VMOVDQA64(h.c[i][j+1], k, tail[i])
			round(h.c[i][j])
			h.mix(i, h.c[i][j], k, 27, 1, 4)
		}
	}
	Label("words")
	jumpUnlessAny := func(bits int, label string) {
		k := K()
		VPTESTMQ_BCST(number(bits), h.any, k)
		branch(KORTESTB, k, k, JZ, label)
	}
	jumpUnlessAny(7, "finish")
	for i, n := range h.n {
		x, k := ZMM(), K()
		VPTESTMQ_BCST(number(4), loaded(n), k)
		VPANDQ_BCST(longConstant(0xffffffff), tail[i], x)
		VPMULLQ_BCST(prime(1), x, x)
		h.mix(i, x, k, 23, 2, 3)
		VPSRLQ(U8(32), tail[i], k, tail[i])
	}
	for j, bits := range []int{3, 2, 2} {
		jumpUnlessAny(bits, "finish")
		for i, n := range h.n {
			x, count := ZMM(), loaded(n)
			VPANDQ_BCST(number(3), count, count)
			k := compare(count, above, j)
			VPANDQ_BCST(number(255), tail[i], x)
			if j < 2 {
				VPSRLQ(U8(8), tail[i], tail[i])
			}
			VPMULLQ_BCST(prime(5), x, x)
			h.mix(i, x, k, 11, 1, 0)
		}
	}
}
