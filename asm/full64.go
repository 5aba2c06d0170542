package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// full64 has the registers of a kernel of a scheme with a full remainder of 64 bits a probe while its code is
// emitted.
type full64 struct {
	vectors

	starts        [4]Mem        // where the four words of the hashes begin: copies on the stack
	base          reg.GPVirtual // the first aligned word of 32 bits of the filter
	bits, inverse Op
	swap, skip    Op             // the number of a bit is XORed with the first, and added to the second
	sumMask       Op             // of the sums
	evens         reg.VecVirtual // the numbers of the even words of two vectors, for AVX-512

	sums  [4][2]reg.VecVirtual // of the next four probes: two vectors of long words
	steps [2][2]Op             // of sums 0 and 3, and of sums 1 and 2, to the fourth probe after

	frame     reg.GPVirtual // two rooms for the numbers of the bits of a vector of hashes
	room      int           // bytes of each
	fill, use Mem           // the offsets of the rooms to fill and to test next
	constants Mem           // after the rooms
	numbers   Mem           // of the hashes that pass the first probes
	results   Mem           // a bit for each number: whether its hash passes the other probes, too
	second    Mem           // 1 while those are made
	probes    Mem           // how many are made: the first, or the others

	ahead, left reg.GPVirtual // how many hashes have no numbers yet, and how many are not tested
	out, end    reg.GPVirtual // where the next mask goes, and the next number
	at, count   reg.GPVirtual // the end of a room, and how many probes it lacks
}

// probeFull64 emits the test of a window of hashes.
func probeFull64(v vectors) {
	Comment(
		"Probe i tests bit (h + i·d & mask) mod bits. If i is even, h is h1, and else h2. If i mod 4 is 0 or 3,",
		"d is d1, and else d2. So four sums of 64 bits take turns. The kernel writes the numbers of the bits of",
		"all probes of a vector of hashes to the stack, and then tests those of the vector before: a test that",
		"follows at once would wait for them. It makes the first probes of all hashes, writes the outcomes to",
		"hits, and compacts the numbers of the hashes that pass. Then it makes the other probes of those, and",
		"deposits the outcomes in hits.",
	)
	f := &full64{vectors: v}
	f.prepare()
	f.locate()
	f.follow(f.test())
	outcome := addressOf(f.results)
	deposit(argument("hits"), outcome, argument("hits"), f.n())
	Label("end")
	returnVectors()
}

// prepare emits the arguments and constants.
func (f *full64) prepare() {
	d, s := &double32{vectors: f.vectors}, argument("s")
	d.loadBase(s)
	f.base = d.base
	f.prepareGather()
	f.prepareTest()
	f.room = 4 * f.lanes() * int(bloom.constant("maxFullProbes"))
	f.frame = stackVectors(4*f.room + 9*64)
	f.constants = Mem{Base: f.frame, Disp: 4 * f.room}
	f.skip = f.keep(d.skip)
	f.prepareArray(s)
	f.numbers, f.results = AllocLocal(4*(window+f.lanes())), AllocLocal(window/8+8)
	f.fill, f.use, f.second, f.probes = AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	f.ahead, f.left, f.out, f.end = f.n(), f.n(), argument("hits"), GP64()
	LEAQ(f.numbers, f.end)
	few := valueOf(U32(bloom.constant("firstProbes")))
	MOVQ(field(s, "K"), f.count)
	branch(CMPB, parameter("dense"), U8(0), JNE, "together")
	CMPQ(f.count, few)
	CMOVQGT(few, f.count)
	Label("together")
	MOVQ(f.count, f.probes)
	zero, last := zeroWord(), GP64()
	for _, m := range []Mem{f.fill, f.use, f.second} {
		MOVQ(zero, m)
	}
	Comment("Masks fill a part of the last word of hits.")
	LEAQ(Mem{Base: f.left, Disp: -1}, last)
	SHRQ(U8(6), last)
	MOVQ(zero, Mem{Base: f.out, Index: last, Scale: 8})
}

// n emits the load of the number of hashes.
func (*full64) n() reg.GPVirtual {
	_, n := windowOf("h1")
	return valueOf(n)
}

// prepareArray emits the constants of an array.
func (f *full64) prepareArray(prober reg.GPVirtual) {
	h, w := argument("h"), argument("w")
	for i := range f.starts {
		word := valueOf(Mem{Base: w, Disp: bloom.offset("fullProbes.words") + 8*i})
		MOVQ(Mem{Base: h, Index: word, Scale: 1}, word)
		f.starts[i] = AllocLocal(8)
		MOVQ(word, f.starts[i])
	}
	f.swap = f.keep(broadcastAt(f, Mem{Base: w, Disp: bloom.offset("fullProbes.swap")}))
	f.bits = f.keep(broadcastAt(f, Mem{Base: prober, Disp: bloom.offset("prober.full.bits")}))
	f.inverse = f.keep(broadcastLongAt(f, Mem{Base: prober, Disp: bloom.offset("prober.full.inverse")}))
	f.sumMask = f.keep(broadcastLongAt(f, Mem{Base: w, Disp: bloom.offset("fullProbes.mask")}))
	if f.lanes() == 16 {
		f.evens = f.vector()
		f.load(alternate[0], f.evens)
	}
	for i := range f.sums {
		f.sums[i] = [2]reg.VecVirtual{f.vector(), f.vector()}
	}
	for i := range f.steps {
		f.steps[i] = [2]Op{f.keep(f.vector()), f.keep(f.vector())}
	}
	f.at, f.count = GP64(), GP64()
}

// keep returns a constant vector or, for AVX2, which has few registers, where it is on the stack.
func (f *full64) keep(x reg.VecVirtual) Op {
	if f.lanes() == 16 {
		return x
	}
	m := f.constants
	f.constants = m.Offset(64)
	f.store(x, m)
	return m
}

// locate emits the numbers of the bits of a vector of hashes, or of two if none waits for its test.
func (f *full64) locate() {
	Label("locate")
	branch(CMPQ, f.ahead, U8(0), JLE, "test")
	MOVQ(f.frame, f.at)
	ADDQ(f.fill, f.at)
	MOVQ(f.probes, f.count)
	next := GP64()
	branch(CMPQ, f.second, U8(0), JNE, "gather_sums")
	MOVQ(f.n(), next)
	SUBQ(f.ahead, next)
	f.startAt(next)
	f.eachProbe()

	Comment("The probes after the first three of hashes that passed those.")
	Label("gather_sums")
	MOVQ(f.ahead, next)
	NEGQ(next)
	LEAQ(Mem{Base: f.end, Index: next, Scale: 4}, next)
	f.start(func(words Mem, to [2]reg.VecVirtual) {
		number := f.vector()
		f.load(Mem{Base: next}, number)
		for j, x := range f.gatherLongs(valueOf(words), number) {
			copyVector(f, x, to[j])
		}
	})
	for i := range 3 {
		f.next(i)
	}
	JMP(LabelRef("probe_3"))

	Label("located")
	start := valueOf(f.frame)
	ADDQ(f.fill, start)
	f.reduceAgain(start)
	XORQ(U32(f.room), f.fill)
	SUBQ(U8(f.lanes()), f.ahead)
	others := addressOf(Mem{Base: f.left, Disp: -f.lanes()})
	branch(CMPQ, others, f.ahead, JEQ, "locate")
}

// startAt emits the sums of the hashes from number next on.
func (f *full64) startAt(next reg.GPVirtual) {
	f.start(func(words Mem, to [2]reg.VecVirtual) {
		p := valueOf(words)
		for j, x := range to {
			f.load(Mem{Base: p, Index: next, Scale: 8, Disp: 4 * f.lanes() * j}, x)
		}
	})
}

// eachProbe emits the numbers of the bits of the probes that are left to make, and goes on to located.
func (f *full64) eachProbe() {
	for i, sums := range f.sums {
		Label(labelOf("probe", i))
		f.place(f.remainder(sums), Mem{Base: f.at})
		ADDQ(U8(4*f.lanes()), f.at)
		DECQ(f.count)
		JZ(LabelRef("located"))
		f.next(i)
	}
	JMP(LabelRef("probe_0"))
}

// start emits the sums of the first four probes, and the steps. load emits the loads of some words of a vector
// of hashes.
func (f *full64) start(load func(words Mem, to [2]reg.VecVirtual)) {
	for i, words := range f.starts[:2] {
		load(words, f.sums[i])
		for j, x := range f.sums[i] {
			copyVector(f, x, f.sums[i+2][j])
		}
	}
	for i, words := range f.starts[2:] {
		d := [2]reg.VecVirtual{f.vector(), f.vector()}
		load(words, d)
		for j, x := range d {
			once, twice := f.sums[3-2*i][j], f.sums[3-i][j]
			VPADDQ(x, once, once)
			VPADDQ(x, x, x)
			VPADDQ(x, twice, twice)
			switch step := f.steps[i][j].(type) {
			case Mem:
				VPADDQ(x, x, x)
				f.store(x, step)
			case reg.VecVirtual:
				VPADDQ(x, x, step)
			}
		}
	}
}

// next emits the step of a sum to its next probe.
func (f *full64) next(i int) {
	for j, x := range f.sums[i] {
		VPADDQ(f.steps[(i+1)/2%2][j], x, x)
	}
}

// place emits the store of a remainder as the number of a bit: for a test, of one after the first aligned word, and
// with the number of its word.
func (f *full64) place(r reg.VecVirtual, to Mem) {
	f.xor(f.swap, r, r)
	if f.skip == nil {
		f.store(r, to)
		return
	}
	VPADDD(f.skip, r, r)
	f.store(r, to)
	index := f.vector()
	VPSRLD(U8(5), r, index)
	f.store(index, to.Offset(2*f.room))
}

// The numbers with which AVX2 makes floating point.
var (
	two52     = math.Float64bits(1 << 52)
	two84     = math.Float64bits(1 << 84)
	two84And  = math.Float64bits(1<<84 + 1<<52)
	two52Less = math.Float64bits(1<<52 - 0.5)
)

// remainder emits the remainders of two vectors of long words, masked. Only the quotients need the mask: no kernel reads the
// upper halves of remainders, and the mask has the lower half.
//
// A quotient is the product of the word, as floating point, and the inverse. The first is rounded to nearest, by a
// relative error of up to 2^-53. The inverse is 2^-51.2 to 2^-49.8 of itself too small. So no quotient is too
// large, and one below 2^49 is less than 1 too small. Its sum with 2^52 - 1/2, rounded once, is an integer, which is
// its floor or, if it is whole or below 1/2, perhaps 1 less. The remainder that this leaves is below 2·bits, which
// fits 32 bits. There are at least 2^15 bits: see reduceAgain.
//
// AVX2 has no conversion of long words. Their halves are the fractions of two numbers, 2^52 and more and 2^84 and
// more.
func (f *full64) remainder(h [2]reg.VecVirtual) (r reg.VecVirtual) {
	q := [2]reg.VecVirtual{f.vector(), f.vector()}
	less := f.vector()
	if f.lanes() == 8 {
		VBROADCASTSD(longConstant(two52Less), less)
	}
	for j := range q {
		if f.lanes() == 16 {
			VPANDQ(f.sumMask, h[j], q[j])
			VCVTUQQ2PD(q[j], q[j])
			VFMADD213PD_BCST(longConstant(two52Less), f.inverse, q[j])
			continue
		}
		low := f.vector()
		VPAND(f.sumMask, h[j], q[j])
		VPSRLQ(U8(32), q[j], q[j])
		VPOR(longConstant(two84), q[j], q[j])
		VSUBPD(longConstant(two84And), q[j], q[j])
		VPBLENDD(U8(0xaa), longConstant(two52), h[j], low)
		VADDPD(low, q[j], q[j])
		VFMADD132PD(f.inverse, less, q[j])
	}
	r = f.words(h)
	f.subtract(f.words(q), f.bits, r)
	return r
}

// subtract emits what a quotient leaves that may be 1 too small.
func (f *full64) subtract(quotient reg.VecVirtual, bits Op, r reg.VecVirtual) {
	less := f.vector()
	VPMULLD(bits, quotient, quotient)
	VPSUBD(quotient, r, r)
	VPSUBD(bits, r, less)
	VPMINUD(less, r, r)
}

// words returns the lower words of two vectors of long words.
func (f *full64) words(x [2]reg.VecVirtual) reg.VecVirtual {
	if f.lanes() == 8 {
		return f.narrow(x)
	}
	r := f.vector()
	VMOVDQA64(x[0], r)
	VPERMT2D(x[1], f.evens, r)
	return r
}

// reduceAgain emits a second remainder of the numbers from p to f.at, in a filter of few bits: bits is a multiple of that number then,
// below 2^16. Floats of 32 bits hold such numbers. Their product is rounded to nearest, by up to 2^-24, and the
// inverse is more than that too small.
func (f *full64) reduceAgain(p reg.GPVirtual) {
	s := argument("s")
	inverse32 := Mem{Base: s, Disp: bloom.offset("prober.full.inverse32")}
	branch(CMPL, inverse32, U8(0), JEQ, "reduced")
	bits, inverse := broadcastAt(f, field(s, "N")), broadcastAt(f, inverse32)
	Label("again")
	r, q := f.vector(), f.vector()
	f.load(Mem{Base: p}, r)
	if f.skip != nil {
		VPSUBD(f.skip, r, r)
	}
	f.xor(f.swap, r, r)
	VCVTDQ2PS(r, q)
	VMULPS(inverse, q, q)
	VCVTTPS2DQ(q, q)
	f.subtract(q, bits, r)
	f.place(r, Mem{Base: p})
	ADDQ(U8(4*f.lanes()), p)
	branch(CMPQ, p, f.at, JB, "again")
	Label("reduced")
}

// test emits the test of the numbers in a room, and returns a mask of the hashes that have all bits.
func (f *full64) test() (mask reg.GPVirtual) {
	mask, p, end := GP64(), GP64(), GP64()
	Label("test")
	MOVQ(f.frame, p)
	ADDQ(f.use, p)
	MOVQ(f.probes, end)
	SHLQ(U8(log2(4*f.lanes())), end)
	ADDQ(p, end)
	passed := f.vector()
	f.pickedAll(passed)
	if f.lanes() == 16 {
		branch(CMPB, NewDataAddr(Symbol{Name: "·gathers"}, 0), U8(0), JEQ, "load")
		f.testBits("gather", p, end, passed, func(word reg.VecVirtual) {
			index := f.vector()
			f.load(Mem{Base: p, Disp: 2 * f.room}, index)
			f.gather(f.base, index, word)
		})
		JMP(LabelRef("tested"))
	}
	f.testBits("load", p, end, passed, func(word reg.VecVirtual) { f.loadWords(Mem{Base: p, Disp: 2 * f.room}, word) })
	Label("tested")
	MOVL(f.collect(passed).As32(), mask.As32())
	XORQ(U32(f.room), f.use)
	limit := valueOf(U32(f.lanes()))
	CMPQ(f.left, limit)
	CMOVQLT(f.left, limit)
	BZHIL(limit.As32(), mask.As32(), mask.As32())
	return mask
}

// testBits emits a loop over the bits from p to end. words emits the words that have them.
func (f *full64) testBits(label string, p, end reg.GPVirtual, passed reg.VecVirtual, words func(to reg.VecVirtual)) {
	Label(label)
	bit, word := f.vector(), f.vector()
	words(word)
	f.load(Mem{Base: p}, bit)
	f.pick(bit, word)
	f.and(word, passed, passed)
	ADDQ(U8(4*f.lanes()), p)
	branch(CMPQ, p, end, JB, label)
}

// loadWords emits the loads of words one by one, at the indices in memory.
func (f *full64) loadWords(indices Mem, to reg.VecVirtual) {
	var parts []reg.VecVirtual // four words each
	for lane := range f.lanes() {
		index := GP64()
		MOVL(indices.Offset(4*lane), index.As32())
		word := Mem{Base: f.base, Index: index, Scale: 4}
		if lane%4 == 0 {
			x := f.vector()
			whole(x)(x86.VMOVD(word, x.AsX()))
			parts = append(parts, x)
		} else {
			x := parts[lane/4].AsX()
			VPINSRD(U8(lane%4), word, x, x)
		}
	}
	for i := 0; i < len(parts); i += 2 {
		y := parts[i].AsY()
		if f.lanes() == 8 {
			y = to.AsY()
		}
		VINSERTI128(U8(1), parts[i+1].AsX(), parts[i].AsY(), y)
	}
	if f.lanes() == 16 {
		VINSERTI64X4(U8(1), parts[2].AsY(), parts[0], to)
	}
}

// follow emits what follows the test of a vector.
func (f *full64) follow(mask reg.GPVirtual) {
	appendMask(f, mask, f.out)
	probes := fieldValue(argument("s"), "K")
	branch(CMPQ, f.probes, probes, JEQ, "next")
	branch(CMPQ, f.second, U8(0), JNE, "next")
	number := f.n()
	SUBQ(f.left, number)
	numbers := f.broadcast(number)
	VPADDD(ascending, numbers, numbers)
	f.compact(numbers, mask, Mem{Base: f.end})
	LEAQ(Mem{Base: f.end, Index: mask, Scale: 4}, f.end)
	Label("next")
	branch(SUBQ, U8(f.lanes()), f.left, JG, "locate")
	branch(SUBQ, f.probes, probes, JZ, "end")
	branch(CMPQ, f.second, U8(0), JNE, "deposit")

	Comment("The numbers after the last are 0, for the loads past the end.")
	none := f.vector()
	f.xor(f.sums[0][0], f.sums[0][0], none)
	f.store(none, Mem{Base: f.end})
	LEAQ(f.results, f.out)
	MOVQ(U32(1), f.second)
	MOVQ(probes, f.probes)
	first := addressOf(f.numbers)
	MOVQ(f.end, f.left)
	SUBQ(first, f.left)
	SHRQ(U8(2), f.left)
	MOVQ(f.left, f.ahead)
	JNZ(LabelRef("locate"))
	JMP(LabelRef("end"))
	Label("deposit")
}

// placeFull64 emits a function that stores the numbers of the bits that hashes probe, for whole vectors.
func placeFull64(vectors) {
	Comment("The probes are those of probeFull64. The kernel stores the bits of each probe of 16 hashes in turn.")
	f := &full64{vectors: &avx512{}}
	f.prepareArray(argument("s"))
	next, left, start := GP64(), f.n(), GP64()
	MOVQ(argument("places"), f.at)
	XORL(next.As32(), next.As32())
	Label("vector")
	branch(SUBQ, U8(f.lanes()), left, JL, "end")
	MOVQ(f.at, start)
	MOVQ(field(argument("s"), "K"), f.count)
	f.startAt(next)
	f.eachProbe()
	Label("located")
	f.reduceAgain(start)
	ADDQ(U8(f.lanes()), next)
	JMP(LabelRef("vector"))
	Label("end")
	Store(next, Return("done"))
	returnVectors()
}
