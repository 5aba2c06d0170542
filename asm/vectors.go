package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is an instruction set as operations on vectors of 32-bit lanes. It
// has what the sets do in different ways; what all of them do with one
// instruction, such as VPADDD, the kernels emit themselves.
type vectors interface {
	name() string // ends the names of this set's kernels
	lanes() int
	vector() reg.VecVirtual

	// prepare emits the constants that the methods below use: once a function.
	prepare()
	// broadcast copies the low half of a general register to all lanes.
	broadcast(r reg.GPVirtual) reg.VecVirtual
	// load and store move a vector at any alignment.
	load(m Mem, dst reg.VecVirtual)
	store(src reg.VecVirtual, m Mem)
	and(a, b, dst reg.VecVirtual)
	xor(a, b, dst reg.VecVirtual)
	// rotate17 rotates each lane right by 17 bits.
	rotate17(src, dst reg.VecVirtual)
	// joinHigh leaves in odd the upper halves of all products, of which the two
	// registers hold those of the even and those of the odd lanes.
	joinHigh(even, odd reg.VecVirtual)

	splitter() func(a, b reg.VecVirtual) // see hash32
	sortSplit(h reg.VecVirtual)

	// gather loads the 32-bit words at base + 4·index.
	gather(base reg.Register, index, dst reg.VecVirtual)
	// pickedAll sets the bits that pick leaves.
	pickedAll(dst reg.VecVirtual)
	// pick moves bit i%32 of each word of dst to where collect looks.
	pick(i, dst reg.VecVirtual)
	// collect gathers the picked bits of the lanes in the low bits of a register.
	collect(bits reg.VecVirtual) reg.GPVirtual
	// loadMask reads as many bits as there are lanes.
	loadMask(m Mem, mask reg.GPVirtual)
	// compact stores the lanes of src that the mask in memory has, side by side,
	// and after them whatever makes up a whole vector. It returns their number.
	compact(src reg.VecVirtual, mask, to Mem) reg.GPVirtual
}

// constant returns a register with x in its low half.
func constant(x uint32) reg.GPVirtual {
	r := GP64()
	MOVL(U32(x), r.As32())
	return r
}

// avx512 has 16 lanes and masks. It uses AVX512F alone.
type avx512 struct {
	all   reg.OpmaskVirtual // every lane
	evens reg.OpmaskVirtual // lanes 0, 2, …
	ones  reg.VecVirtual    // 1 in each lane
}

func (*avx512) name() string           { return "AVX512" }
func (*avx512) lanes() int             { return 16 }
func (*avx512) vector() reg.VecVirtual { return ZMM() }

func (v *avx512) prepare() {
	Comment("Constants: lanes to gather, even lanes, 1 in each lane.")
	v.all, v.evens = K(), K()
	r := constant(0xffff)
	KMOVW(r.As32(), v.all)
	r = constant(0x5555)
	KMOVW(r.As32(), v.evens)
	v.ones = v.broadcast(constant(1))
}

func (v *avx512) broadcast(r reg.GPVirtual) reg.VecVirtual {
	z := ZMM()
	VPBROADCASTD(r.As32(), z)
	return z
}

func (v *avx512) load(m Mem, dst reg.VecVirtual)  { VMOVDQU32(m, dst) }
func (v *avx512) and(a, b, dst reg.VecVirtual)    { VPANDD(a, b, dst) }
func (v *avx512) xor(a, b, dst reg.VecVirtual)    { VPXORD(a, b, dst) }
func (v *avx512) store(src reg.VecVirtual, m Mem) { VMOVDQU32(src, m) }

func (v *avx512) rotate17(src, dst reg.VecVirtual) {
	VPRORD(U8(17), src, dst)
}

func (v *avx512) joinHigh(even, odd reg.VecVirtual) {
	VPSHUFD(U8(0xf5), even, v.evens, odd)
}

func (v *avx512) gather(base reg.Register, index, dst reg.VecVirtual) {
	k := K()
	KXNORW(v.all, v.all, k)
	VPXORD(dst, dst, dst)
	VPGATHERDD(Mem{Base: base, Index: index, Scale: 4}, k, dst)
}

func (v *avx512) pick(i, dst reg.VecVirtual) { VPRORVD(i, dst, dst) }

func (v *avx512) pickedAll(dst reg.VecVirtual) { VMOVDQA32(v.ones, dst) }

func (v *avx512) collect(bits reg.VecVirtual) reg.GPVirtual {
	k, mask := K(), GP64()
	VPTESTMD(v.ones, bits, k)
	KMOVW(k, mask.As32())
	return mask
}

func (v *avx512) loadMask(m Mem, mask reg.GPVirtual) { MOVWLZX(m, mask.As32()) }

func (v *avx512) compact(src reg.VecVirtual, mask, to Mem) reg.GPVirtual {
	k, z, count := K(), ZMM(), GP64()
	v.loadMask(mask, count)
	KMOVW(count.As32(), k)
	POPCNTL(count.As32(), count.As32())
	VPCOMPRESSD_Z(src, k, z) // compressing to memory is slow on some CPUs
	VMOVDQU32(z, to)
	return count
}

// avx2 has 8 lanes.
type avx2 struct {
	all        reg.VecVirtual // every lane
	thirtyOnes reg.VecVirtual // 31 in each lane
	table      reg.GPVirtual  // compactTable
}

func (*avx2) name() string           { return "AVX2" }
func (*avx2) lanes() int             { return 8 }
func (*avx2) vector() reg.VecVirtual { return YMM() }

func (v *avx2) prepare() {
	Comment("Constants: lanes to gather, 31 in each lane.")
	v.all = v.broadcast(constant(0xffffffff))
	v.thirtyOnes = v.broadcast(constant(31))
	v.table = GP64()
	LEAQ(compactIndices, v.table)
}

func (v *avx2) broadcast(r reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVD(r.As32(), x)
	VPBROADCASTD(x, y)
	return y
}

func (v *avx2) load(m Mem, dst reg.VecVirtual) { VMOVDQU(m, dst) }
func (v *avx2) and(a, b, dst reg.VecVirtual)   { VPAND(a, b, dst) }
func (v *avx2) xor(a, b, dst reg.VecVirtual)   { VPXOR(a, b, dst) }

func (v *avx2) store(src reg.VecVirtual, m Mem) { VMOVDQU(src, m) }

func (v *avx2) rotate17(src, dst reg.VecVirtual) {
	t := YMM()
	VPSRLD(U8(17), src, t)
	VPSLLD(U8(15), src, dst)
	VPOR(t, dst, dst)
}

func (v *avx2) joinHigh(even, odd reg.VecVirtual) {
	VPSHUFD(U8(0xf5), even, even)
	VPBLENDD(U8(0x55), even, odd, odd)
}

func (v *avx2) gather(base reg.Register, index, dst reg.VecVirtual) {
	mask := YMM()
	VMOVDQA(v.all, mask) // a gather clears its mask
	VPXOR(dst, dst, dst)
	VPGATHERDD(mask, Mem{Base: base, Index: index, Scale: 4}, dst)
}

func (v *avx2) pick(i, dst reg.VecVirtual) {
	t := YMM()
	VPANDN(v.thirtyOnes, i, t)
	VPSLLVD(t, dst, dst) // to the sign
}

func (v *avx2) pickedAll(dst reg.VecVirtual) { VMOVDQA(v.all, dst) }

func (v *avx2) collect(bits reg.VecVirtual) reg.GPVirtual {
	mask := GP64()
	VMOVMSKPS(bits, mask.As32())
	return mask
}

func (v *avx2) loadMask(m Mem, mask reg.GPVirtual) { MOVBLZX(m, mask.As32()) }

func (v *avx2) compact(src reg.VecVirtual, mask, to Mem) reg.GPVirtual {
	indices, count := YMM(), GP64()
	v.loadMask(mask, count)
	VPMOVZXBD(Mem{Base: v.table, Index: count, Scale: 8}, indices)
	POPCNTL(count.As32(), count.As32())
	VPERMD(src, indices, indices)
	VMOVDQU(indices, to)
	return count
}

// compactIndices has, for each mask of 8 lanes, the numbers of its lanes.
var compactIndices Mem

func compactTable() {
	compactIndices = GLOBL("compactIndices", RODATA|NOPTR)
	for mask := range 256 {
		word, n := uint64(0), 0
		for lane := range 8 {
			if mask>>lane&1 != 0 {
				word |= uint64(lane) << (8 * n)
				n++
			}
		}
		DATA(8*mask, U64(word))
	}
}
