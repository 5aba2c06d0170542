package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// keyRows has the registers by which a kernel of AVX-512 finds keys of any length, while its code is
// emitted. It finds a group of 16 or 32 keys at a time. Each has a header, which begins with the
// address and the length of the key. The headers of Go's strings and slices are read where they are.
// Those of keys between offsets, and those of the last keys, fewer than a group, are written to the
// stack.
type keyRows struct {
	*avx512
	keys    int
	at      reg.GPVirtual // the headers of the group
	next    reg.GPVirtual // the rows after the group
	left    reg.GPVirtual // how many keys have no hash yet, the group included
	frame   reg.GPVirtual // what is on the stack, aligned to 64 bytes
	stride  [4]reg.GPVirtual
	numbers [2]Mem // of the long words of 8 headers: addresses, and lengths
	third   [2]reg.OpmaskVirtual
}

// headersSize is the size of the headers of a group on the stack.
func (r *keyRows) headersSize() int { return 24*r.keys + 128 }

// newKeyRows emits what comes before the first group. It also allocates extra bytes on the stack, at
// headersSize of frame.
func newKeyRows(keys, extra int) *keyRows {
	r := &keyRows{avx512: &avx512{}, keys: keys, at: GP64()}
	r.frame = stackVectors(r.headersSize() + extra)
	r.next, r.left = argument("rows"), argument("n")
	for i := range r.stride {
		r.stride[i] = GP64()
	}
	stride := r.stride[0]
	for i := range r.numbers {
		r.numbers[i], r.third[i] = Mem{Base: r.frame, Disp: 24*keys + 64*i}, K()
	}
	for _, size := range []int{24, 16} {
		MOVQ(U32(size), stride)
		for i, words := range headerWords[size] {
			x := ZMM()
			VMOVDQU64(words.numbers, x)
			VMOVDQA64(x, r.numbers[i])
			KMOVW(constant(words.third).As32(), r.third[i])
		}
		if size == 24 {
			CMPQ(parameter("stride"), stride)
			JEQ(LabelRef("strided"))
		}
	}
	Label("strided")
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.stride[1])
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, r.stride[2])
	LEAQ(Mem{Base: r.stride[1], Index: stride, Scale: 4}, r.stride[3])
	return r
}

// parameter returns the place of an argument.
func parameter(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// find emits the code that finds the next group. Its labels begin with a prefix. If partial is set,
// fewer keys may be left.
func (r *keyRows) find(prefix string, keys int, partial bool) {
	CMPQ(parameter("stride"), U8(16))
	JL(LabelRef(prefix + "offsets"))
	MOVQ(r.next, r.at)
	if partial {
		CMPQ(r.left, U8(keys))
		JL(LabelRef(prefix + "copy"))
	}
	skip := GP64()
	MOVQ(r.stride[0], skip)
	SHLQ(U8(log2(keys)), skip)
	ADDQ(skip, r.next)
	JMP(LabelRef(prefix + "found"))
	if partial {
		r.copyHeaders(prefix, keys)
	}
	r.findOffsets(prefix, keys)
	Label(prefix + "found")
}

// copyHeaders emits the copy of the last headers, and zeros after them.
func (r *keyRows) copyHeaders(prefix string, keys int) {
	Label(prefix + "copy")
	zero := r.zero()
	for i := 0; i < 24*keys; i += 64 {
		VMOVDQA64(zero, Mem{Base: r.frame, Disp: i})
	}
	words, to := GP64(), GP64()
	MOVQ(r.stride[0], words)
	SHRQ(U8(3), words)
	IMULQ(r.left, words)
	MOVQ(r.frame, to)
	Label(prefix + "copy_words")
	k, x := firstLongs(words), ZMM()
	VMOVDQU64_Z(Mem{Base: r.at}, k, x)
	VMOVDQA64(x, Mem{Base: to})
	ADDQ(U8(64), r.at)
	ADDQ(U8(64), to)
	SUBQ(U8(8), words)
	JG(LabelRef(prefix + "copy_words"))
	MOVQ(r.frame, r.at)
	JMP(LabelRef(prefix + "found"))
}

// firstLongs returns the mask of the first long words, as many as count says.
func firstLongs(count reg.GPVirtual) reg.OpmaskVirtual {
	k, bits, limit := K(), GP64(), GP64()
	MOVQ(U32(8), bits)
	CMPQ(count, bits)
	CMOVQLT(count, bits)
	XORL(limit.As32(), limit.As32())
	TESTQ(bits, bits)
	CMOVQLT(limit, bits)
	MOVQ(I32(-1), limit)
	BZHIQ(bits, limit, bits)
	KMOVB(bits.As32(), k)
	return k
}

// findOffsets emits the headers of keys between offsets.
func (r *keyRows) findOffsets(prefix string, keys int) {
	Label(prefix + "offsets")
	to := GP64()
	MOVQ(r.frame, to)
	r.eachOffsets(prefix, keys, func(from, n reg.VecVirtual) {
		a, b := ZMM(), ZMM()
		VMOVDQU64(firstHeaders, a)
		VMOVDQU64(firstHeaders.Offset(64), b)
		VPERMI2Q(n, from, a)
		VPERMI2Q(n, from, b)
		VMOVDQA64(a, Mem{Base: to})
		VMOVDQA64(b, Mem{Base: to, Disp: 64})
		ADDQ(U32(128), to)
	})
	MOVQ(r.frame, r.at)
}

// eachOffsets emits a loop over 8 keys between offsets. visit gets their addresses and lengths.
func (r *keyRows) eachOffsets(prefix string, keys int, visit func(from, n reg.VecVirtual)) {
	data, left, groups, k := r.broadcastLong(argument("data")), GP64(), GP64(), K()
	MOVQ(r.left, left)
	MOVQ(U32(keys/8), groups)
	KXNORB(r.third[0], r.third[0], k)
	Label(prefix + "offset")
	CMPQ(left, U8(8))
	JGE(LabelRef(prefix + "eight"))
	KMOVB(firstLongs(left), k)
	Label(prefix + "eight")
	from, end := ZMM(), ZMM()
	CMPQ(parameter("stride"), U8(8))
	JL(LabelRef(prefix + "other_offsets"))
	VMOVDQU64_Z(Mem{Base: r.next}, k, from)
	VMOVDQU64_Z(Mem{Base: r.next, Disp: 8}, k, end)
	ADDQ(U8(64), r.next)
	JMP(LabelRef(prefix + "ends"))
	Label(prefix + "other_offsets")
	CMPQ(parameter("stride"), U8(0))
	JGE(LabelRef(prefix + "short_offsets"))
	width := GP64()
	MOVQ(parameter("stride"), width)
	NEGQ(width)
	VPBROADCASTQ(r.next, from)
	VPBROADCASTQ(width, end)
	SHLQ(U8(3), width)
	ADDQ(width, r.next)
	VPMULLQ(ascendingLongs, end, data)
	VPADDQ(data, from, from)
	VMOVDQA64_Z(end, k, end)
	JMP(LabelRef(prefix + "located"))
	Label(prefix + "short_offsets")
	VPMOVSXDQ_Z(Mem{Base: r.next}, k, from)
	VPMOVSXDQ_Z(Mem{Base: r.next, Disp: 4}, k, end)
	ADDQ(U8(32), r.next)
	Label(prefix + "ends")
	VPSUBQ(from, end, end)
	VPADDQ(data, from, from)
	Label(prefix + "located")
	visit(from, end)
	SUBQ(U8(8), left)
	DECQ(groups)
	JNZ(LabelRef(prefix + "offset"))
}

var (
	firstHeaders   Mem
	ascendingLongs Mem // the numbers 0 to 7
	longLength     Mem // the length of long keys
)

// rowsTables has the numbers of the long words of 8 addresses, and of 8 lengths after them, in the
// order of headers.
func rowsTables() {
	firstHeaders = GLOBL("firstHeaders", RODATA|NOPTR)
	for i := range 16 {
		DATA(8*i, U64(i/2+i%2*8))
	}
	ascendingLongs = GLOBL("ascendingLongs", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	longLength = GLOBL("longLength", RODATA|NOPTR)
	DATA(0, U64(long))
}

func (v *avx512) zero() reg.VecVirtual {
	z := ZMM()
	whole(z)(x86.VPXORD(z, z, z))
	return z
}

// eight returns the address of the header of key i, a multiple of 8.
func (r *keyRows) eight(i int) reg.GPVirtual {
	if i == 0 {
		return r.at
	}
	base := GP64()
	LEAQ(Mem{Base: r.at, Index: r.stride[0], Scale: 8}, base)
	for i -= 8; i > 0; i -= 8 {
		LEAQ(Mem{Base: base, Index: r.stride[0], Scale: 8}, base)
	}
	return base
}

// header returns the header of key i of 8.
func (r *keyRows) header(eight reg.GPVirtual, i int) Mem {
	switch m := (Mem{Base: eight, Scale: 1}); i {
	case 0:
		return Mem{Base: eight}
	case 1, 2, 4:
		m.Index, m.Scale = r.stride[0], uint8(i)
		return m
	case 6:
		m.Index, m.Scale = r.stride[1], 2
		return m
	default:
		m.Index = r.stride[i/2]
		return m
	}
}

// fields emits the loads of the addresses, or with 1, of the lengths of keys, 8 to a vector.
func (r *keyRows) fields(prefix string, i int, to []reg.VecVirtual) {
	load := func(slices bool) {
		for j, x := range to {
			first, numbers, eight := ZMM(), x, r.eight(8*j)
			if slices {
				numbers = ZMM()
			}
			VMOVDQU64(Mem{Base: eight}, first)
			VMOVDQA64(r.numbers[i], numbers)
			if slices {
				VMOVDQA64(numbers, x)
			}
			VPERMI2Q(Mem{Base: eight, Disp: 64}, first, x)
			if slices {
				VPERMQ(Mem{Base: eight, Disp: 128}, numbers, r.third[i], x)
			}
		}
	}
	CMPQ(r.stride[0], U8(16))
	JNE(LabelRef(prefix + "slices"))
	load(false)
	JMP(LabelRef(prefix + "fields"))
	Label(prefix + "slices")
	load(true)
	Label(prefix + "fields")
}

func newVectors(n int) (v []reg.VecVirtual) {
	for range n {
		v = append(v, ZMM())
	}
	return v
}

// whole emits an instruction that writes a part of a vector register and clears the rest, or that
// does not depend on what was there. avo takes the rest as kept: the register would be in use before.
func whole(z reg.VecVirtual) func(i *ir.Instruction, err error) {
	return func(i *ir.Instruction, err error) {
		if err != nil {
			panic(err)
		}
		i.Outputs = []Op{z}
		i.Inputs = nil
		for _, op := range i.Operands {
			if r, ok := op.(reg.Register); !ok || r.ID() != z.ID() {
				i.Inputs = append(i.Inputs, op)
			}
		}
		Instruction(i)
	}
}

// storeLongs emits the stores of the hashes of the group, those of a seed side by side, and counts the
// keys. It sets the zero flag if none is left.
func (r *keyRows) storeLongs(hashes [][]reg.VecVirtual, to []reg.GPVirtual) {
	SUBQ(U8(r.keys), r.left)
	JL(LabelRef("last"))
	for seed, h := range hashes {
		for i, h := range h {
			VMOVDQU64(h, Mem{Base: to[seed], Disp: 64 * i})
		}
		ADDQ(U32(8*r.keys), to[seed])
	}
	JMP(LabelRef("stored"))
	Label("last")
	ADDQ(U8(r.keys), r.left)
	for i := range hashes[0] {
		k := firstLongs(r.left)
		for seed := range hashes {
			VMOVDQU64(hashes[seed][i], k, Mem{Base: to[seed], Disp: 64 * i})
		}
		SUBQ(U8(8), r.left)
	}
	XORL(r.left.As32(), r.left.As32())
	Label("stored")
	TESTQ(r.left, r.left)
}
