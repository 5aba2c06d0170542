package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is an instruction set: operations on vectors of 32-bit lanes. It has the
// operations that differ between the sets. If one instruction serves all sets, such as
// VPADDD, the kernels emit it themselves.
type vectors interface {
	name() string // ends the names of this set's kernels
	lanes() int
	vector() reg.VecVirtual

	// prepareGather emits the constants of gather, prepareCompact those of compact, and
	// prepareTest those of pick, pickedAll, collect and compact. gatherLongs needs the first and the
	// last. Call each at most once in a function.
	prepareGather()
	prepareCompact()
	prepareTest()
	// broadcast copies the low half of a general register to all lanes.
	broadcast(r reg.GPVirtual) reg.VecVirtual
	// load and store move a vector at any alignment.
	load(m Mem, dst reg.VecVirtual)
	store(src reg.VecVirtual, m Mem)
	and(a, b, dst reg.VecVirtual)
	xor(a Op, b, dst reg.VecVirtual)
	// rotate17 rotates each lane right by 17 bits.
	rotate17(src, dst reg.VecVirtual)

	splitter() func(a, b reg.VecVirtual) // see hash32
	sortSplit(h reg.VecVirtual)
	// loadPairs loads pairs of long words: a vector of the first ones, and one of the second ones.
	loadPairs(m Mem, first, second reg.VecVirtual)

	// Two long vectors have a lane of 64 bits for each lane of a vector.
	broadcastLong(r reg.GPVirtual) reg.VecVirtual
	narrow(src [2]reg.VecVirtual) reg.VecVirtual
	// gather loads the 32-bit words at base + 4·index. AVX2 loads them one by one, which takes less time than a gather on
	// most CPUs.
	gather(base reg.Register, index, dst reg.VecVirtual)
	// pickedAll sets all picked bits.
	pickedAll(dst reg.VecVirtual)
	// pick moves bit i%32 of each word of dst to the bit that collect reads: the picked
	// bit.
	pick(i, dst reg.VecVirtual)
	// collect puts the picked bits of the lanes into the low bits of a register.
	collect(bits reg.VecVirtual) reg.GPVirtual
	// loadMask loads a bit for each lane.
	loadMask(m Mem, mask reg.GPVirtual)
	// compact stores the lanes of src in the mask side by side. It always stores a whole
	// vector; the words after those lanes are arbitrary. It leaves the number of those
	// lanes in mask.
	compact(src reg.VecVirtual, mask reg.GPVirtual, to Mem)

	// gatherLongs loads the long words at base + 8·index.
	gatherLongs(base reg.GPVirtual, index reg.VecVirtual) [2]reg.VecVirtual
}

// broadcastAt is broadcast of a word in memory, and broadcastLongAt is broadcastLong of a long word.

func broadcastAt(v vectors, m Mem) reg.VecVirtual {
	x := v.vector()
	VPBROADCASTD(m, x)
	return x
}

func broadcastLongAt(v vectors, m Mem) reg.VecVirtual {
	x := v.vector()
	VPBROADCASTQ(m, x)
	return x
}

// constant returns a register with x in its low half.
func constant(x uint32) reg.GPVirtual {
	r := GP64()
	MOVL(U32(x), r.As32())
	return r
}

// avx512 has 16 lanes and mask registers.
type avx512 struct {
	all  reg.OpmaskVirtual // every lane
	ones reg.VecVirtual    // 1 in each lane
}

func (*avx512) name() string           { return "AVX512" }
func (*avx512) lanes() int             { return 16 }
func (*avx512) vector() reg.VecVirtual { return ZMM() }

func (v *avx512) prepareGather() {
	v.all = K()
	KMOVW(constant(0xffff).As32(), v.all)
}

func (v *avx512) prepareCompact() {}

func (v *avx512) prepareTest() {
	v.ones = v.broadcast(constant(1))
}

func (v *avx512) broadcast(r reg.GPVirtual) reg.VecVirtual {
	z := ZMM()
	VPBROADCASTD(r.As32(), z)
	return z
}

func (v *avx512) load(m Mem, dst reg.VecVirtual)  { VMOVDQU32(m, dst) }
func (v *avx512) and(a, b, dst reg.VecVirtual)    { VPANDD(a, b, dst) }
func (v *avx512) xor(a Op, b, dst reg.VecVirtual) { VPXORD(a, b, dst) }
func (v *avx512) store(src reg.VecVirtual, m Mem) { VMOVDQU32(src, m) }

func (v *avx512) rotate17(src, dst reg.VecVirtual) {
	VPRORD(U8(17), src, dst)
}

func (v *avx512) gather(base reg.Register, index, dst reg.VecVirtual) {
	k := K()
	KXNORW(v.all, v.all, k)
	v.clear(index, dst)
	VPGATHERDD(Mem{Base: base, Index: index, Scale: 4}, k, dst)
}

// clear emits dst = 0 as the XOR of a register in use with itself. If it were the XOR of
// dst with itself, the register allocator would take dst as in use before, all around a
// loop.
func (v *avx512) clear(inUse, dst reg.VecVirtual) { VPXORD(inUse, inUse, dst) }

func (v *avx512) pick(i, dst reg.VecVirtual) { VPRORVD(i, dst, dst) }

func (v *avx512) pickedAll(dst reg.VecVirtual) { VMOVDQA32(v.ones, dst) }

func (v *avx512) collect(bits reg.VecVirtual) reg.GPVirtual {
	k, mask := K(), GP64()
	VPTESTMD(v.ones, bits, k)
	KMOVW(k, mask.As32())
	return mask
}

func (v *avx512) loadMask(m Mem, mask reg.GPVirtual) { MOVWLZX(m, mask.As32()) }

func (v *avx512) compact(src reg.VecVirtual, mask reg.GPVirtual, to Mem) {
	k, z := K(), ZMM()
	KMOVW(mask.As32(), k)
	POPCNTL(mask.As32(), mask.As32())
	VPCOMPRESSD_Z(src, k, z) // compressing to memory is slow on some CPUs
	VMOVDQU32(z, to)
}

func (v *avx512) gatherLongs(base reg.GPVirtual, index reg.VecVirtual) (dst [2]reg.VecVirtual) {
	half := YMM()
	VEXTRACTI64X4(U8(1), index, half)
	for i, index := range []reg.VecVirtual{index.AsY().(reg.VecVirtual), half} {
		k := K()
		dst[i] = ZMM()
		KMOVW(v.all, k)
		v.clear(v.ones, dst[i])
		VPGATHERDQ(Mem{Base: base, Index: index, Scale: 8}, k, dst[i])
	}
	return dst
}

func (v *avx512) broadcastLong(r reg.GPVirtual) reg.VecVirtual {
	z := ZMM()
	VPBROADCASTQ(r, z)
	return z
}

func (v *avx512) narrow(src [2]reg.VecVirtual) reg.VecVirtual {
	low, high := ZMM(), YMM()
	VPMOVQD(src[0], low.AsY())
	VPMOVQD(src[1], high)
	VINSERTI64X4(U8(1), high, low, low)
	return low
}

func (v *avx512) loadPairs(m Mem, first, second reg.VecVirtual) {
	low := ZMM()
	VMOVDQU64(m, low)
	for i, x := range []reg.VecVirtual{first, second} {
		VMOVDQU64(headerWords[16][i].numbers, x)
		VPERMI2Q(m.Offset(64), low, x)
	}
}

// avx2 has 8 lanes.
type avx2 struct {
	thirtyOnes reg.VecVirtual // 31 in each lane
	table      reg.GPVirtual  // compactIndices
}

func (*avx2) name() string           { return "AVX2" }
func (*avx2) lanes() int             { return 8 }
func (*avx2) vector() reg.VecVirtual { return YMM() }

func (v *avx2) prepareGather() {}

func (v *avx2) prepareTest() {
	v.thirtyOnes = v.broadcast(constant(31))
	v.prepareCompact()
}

func (v *avx2) prepareCompact() {
	v.table = GP64()
	LEAQ(compactIndices, v.table)
}

func (v *avx2) broadcast(r reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVD(r.As32(), x)
	VPBROADCASTD(x, y)
	return y
}

func (v *avx2) load(m Mem, dst reg.VecVirtual)  { VMOVDQU(m, dst) }
func (v *avx2) and(a, b, dst reg.VecVirtual)    { VPAND(a, b, dst) }
func (v *avx2) xor(a Op, b, dst reg.VecVirtual) { VPXOR(a, b, dst) }

func (v *avx2) store(src reg.VecVirtual, m Mem) { VMOVDQU(src, m) }

func (v *avx2) rotate17(src, dst reg.VecVirtual) {
	t := YMM()
	VPSRLD(U8(17), src, t)
	VPSLLD(U8(15), src, dst)
	VPOR(t, dst, dst)
}

func (v *avx2) pick(i, dst reg.VecVirtual) {
	t := YMM()
	VPANDN(v.thirtyOnes, i, t)
	VPSLLVD(t, dst, dst) // to the sign bit
}

func (v *avx2) pickedAll(dst reg.VecVirtual) { VPCMPEQD(dst, dst, dst) }

func (v *avx2) collect(bits reg.VecVirtual) reg.GPVirtual {
	mask := GP64()
	VMOVMSKPS(bits, mask.As32())
	return mask
}

func (v *avx2) loadMask(m Mem, mask reg.GPVirtual) { MOVBLZX(m, mask.As32()) }

func (v *avx2) compact(src reg.VecVirtual, mask reg.GPVirtual, to Mem) {
	indices := YMM()
	VPMOVZXBD(Mem{Base: v.table, Index: mask, Scale: 8}, indices)
	POPCNTL(mask.As32(), mask.As32())
	VPERMD(src, indices, indices)
	VMOVDQU(indices, to)
}

func (v *avx2) broadcastLong(r reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVQ(r, x)
	VPBROADCASTQ(x, y)
	return y
}

func (v *avx2) narrow(src [2]reg.VecVirtual) reg.VecVirtual {
	y := YMM()
	VSHUFPS(U8(0x88), src[1], src[0], y)
	VPERMQ(U8(0xd8), y, y)
	return y
}

func (v *avx2) loadPairs(m Mem, first, second reg.VecVirtual) {
	low, high := YMM(), YMM()
	v.load(m, low)
	v.load(m.Offset(32), high)
	VPUNPCKLQDQ(high, low, first)
	VPUNPCKHQDQ(high, low, second)
	VPERMQ(U8(0xd8), first, first)
	VPERMQ(U8(0xd8), second, second)
}

// halves returns the four lower and the four upper indices of a vector.
func (v *avx2) halves(index reg.VecVirtual) [2]reg.VecVirtual {
	upper := XMM()
	VEXTRACTI128(U8(1), index, upper)
	return [2]reg.VecVirtual{index.AsX().(reg.VecVirtual), upper}
}

// eachIndex moves four indices to general registers, before the first load, and calls load for each.
func eachIndex(indices reg.VecVirtual, load func(i int, index reg.GPVirtual)) {
	pairs := [2]reg.GPVirtual{GP64(), GP64()}
	VMOVQ(indices, pairs[0])
	VPEXTRQ(U8(1), indices, pairs[1])
	for i, pair := range pairs {
		low := GP64()
		MOVL(pair.As32(), low.As32())
		load(2*i, low)
		SHRQ(U8(32), pair)
		load(2*i+1, pair)
	}
}

func (v *avx2) gather(base reg.Register, index, dst reg.VecVirtual) {
	words := [2]reg.VecVirtual{XMM(), XMM()}
	for i, half := range v.halves(index) {
		eachIndex(half, func(lane int, index reg.GPVirtual) {
			word := Mem{Base: base, Index: index, Scale: 4}
			if lane == 0 {
				VMOVD(word, words[i])
			} else {
				VPINSRD(U8(lane), word, words[i], words[i])
			}
		})
	}
	VINSERTI128(U8(1), words[1], words[0].AsY(), dst)
}

func (v *avx2) gatherLongs(base reg.GPVirtual, index reg.VecVirtual) (dst [2]reg.VecVirtual) {
	for i, half := range v.halves(index) {
		longs := [2]reg.VecVirtual{XMM(), XMM()}
		eachIndex(half, func(lane int, index reg.GPVirtual) {
			long := Mem{Base: base, Index: index, Scale: 8}
			if x := longs[lane/2]; lane%2 == 0 {
				VMOVQ(long, x)
			} else {
				VPINSRQ(U8(1), long, x, x)
			}
		})
		dst[i] = YMM()
		VINSERTI128(U8(1), longs[1], longs[0].AsY(), dst[i])
	}
	return dst
}

// ascending has the numbers 0 to 15.
var ascending = words("ascending", 16, func(i int) uint32 { return uint32(i) })

// words returns a table of n numbers of 32 bits, an even number. A line of the assembly has two.
func words(name string, n int, number func(i int) uint32) Mem {
	return longWords(name, n/2, func(i int) uint64 { return uint64(number(2*i)) | uint64(number(2*i+1))<<32 })
}

// longWords returns a table of n numbers of 64 bits.
func longWords(name string, n int, number func(i int) uint64) Mem {
	table := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		DATA(8*i, U64(number(i)))
	}
	return table
}

// compactIndices has, for each mask of 8 lanes, the numbers of its lanes.
var compactIndices = longWords("compactIndices", 256, func(mask int) (lanes uint64) {
	for lane := 7; lane >= 0; lane-- {
		if mask>>lane&1 != 0 {
			lanes = lanes<<8 | uint64(lane)
		}
	}
	return lanes
})
