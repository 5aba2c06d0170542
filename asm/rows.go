package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// keyRows has the registers by which a kernel of AVX-512 finds keys of any length, while its code is emitted. It finds a group of
// 16 or 64 keys at a time. Each key has a header, which begins with its address and its length. The headers of Go's strings and
// slices are read where they are. The kernel writes headers to the stack for keys between offsets. If fewer than 16 keys are left,
// it hashes the last 16 again; fewer than 64 get headers on the stack, and empty keys after them.
type keyRows struct {
	*avx512
	keys   int
	at     reg.GPVirtual // the headers of the group
	next   reg.GPVirtual // the rows after the group
	left   reg.GPVirtual // how many keys have no hash yet, the group included; at the end 0 or, for groups of 16, less
	frame  reg.GPVirtual // what is on the stack, aligned to 64 bytes
	stride [4]reg.GPVirtual
	third  reg.OpmaskVirtual // of the lengths of 8 slices, those in the third vector of headers
	ahead  bool              // whether it requests what lies columnAhead after keys between offsets, or of one width
}

// headersSize is the size of the headers of a group on the stack.
func (r *keyRows) headersSize() int { return 24 * r.keys }

// newKeyRows emits what comes before the first group. It also allocates extra bytes on the stack, at
// headersSize of frame.
func newKeyRows(keys, extra int) *keyRows {
	r := &keyRows{avx512: &avx512{}, keys: keys, at: GP64(), third: K()}
	r.frame = stackVectors(r.headersSize() + extra)
	r.next, r.left = argument("rows"), argument("n")
	for i := range r.stride {
		r.stride[i] = GP64()
	}
	stride := r.stride[0]
	MOVQ(U32(16), stride)
	CMPQ(parameter("stride"), U8(24))
	CMOVQEQ(parameter("stride"), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.stride[1])
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, r.stride[2])
	LEAQ(Mem{Base: r.stride[1], Index: stride, Scale: 4}, r.stride[3])
	KMOVW(constant(headerWords[24][1].third).As32(), r.third)
	Comment("Touch what is read for a key without bytes: a load with an empty mask of a page that was never",
		"written would take as long as that of one that is not mapped.")
	MOVQ(stride, Mem{Base: r.frame})
	return r
}

// find emits the code that finds the next group. If fewer than 16 keys are left, back emits the step back of
// hashes of 64 bits, by a number of bytes.
func (r *keyRows) find(back func(bytes reg.GPVirtual)) {
	if r.keys == 16 {
		branch(CMPQ, r.left, U8(16), JGE, "whole")
		again, stride := valueOf(U32(16)), valueOf(parameter("stride"))
		SUBQ(r.left, again)
		NEGQ(stride)
		CMOVQLT(parameter("stride"), stride) // its absolute value
		IMULQ(again, stride)
		SUBQ(stride, r.next)
		SHLQ(U8(3), again)
		back(again)
		Label("whole")
	}
	branch(CMPQ, parameter("stride"), U8(16), JL, "offsets")
	MOVQ(r.next, r.at)
	if r.keys == 64 {
		branch(CMPQ, r.left, U8(64), JL, "copy")
	}
	skip := valueOf(r.stride[0])
	SHLQ(U8(log2(r.keys)), skip)
	ADDQ(skip, r.next)
	if r.keys < 64 { // the loads of 64 keys fill the CPU's buffers for lines, and requests would come on top
		r.request()
	}
	JMP(LabelRef("found"))
	if r.keys == 64 {
		r.copyHeaders()
	}
	r.findOffsets()
	Label("found")
}

// request emits the requests of the first bytes of the keys of the next group, if it is whole.
func (r *keyRows) request() {
	branch(CMPQ, r.left, U8(2*r.keys), JL, "found")
	r.eachEight("request", r.next, func(eight reg.GPVirtual) {
		for i := range 8 {
			request(Mem{Base: valueOf(r.header(eight, i))})
		}
	})
}

// eachEight emits a loop that runs for the headers of 8 keys, and then for those of the next 8.
func (r *keyRows) eachEight(label string, first reg.GPVirtual, body func(eight reg.GPVirtual)) {
	eight, last := valueOf(first), addressOf(Mem{Base: first, Index: r.stride[0], Scale: 8})
	Label(label)
	body(eight)
	CMPQ(eight, last)
	MOVQ(last, eight)
	JNE(LabelRef(label))
}

// copyHeaders emits the copy of the last headers, and zeros after them.
func (r *keyRows) copyHeaders() {
	Label("copy")
	zero := r.zero()
	for i := 0; i < 24*r.keys; i += 64 {
		VMOVDQA64(zero, Mem{Base: r.frame, Disp: i})
	}
	words, to := valueOf(r.stride[0]), GP64()
	SHRQ(U8(3), words)
	IMULQ(r.left, words)
	MOVQ(r.frame, to)
	Label("copy_words")
	k, x := firstLongs(words), ZMM()
	VMOVDQU64_Z(Mem{Base: r.at}, k, x)
	VMOVDQA64(x, Mem{Base: to})
	ADDQ(U8(64), r.at)
	ADDQ(U8(64), to)
	branch(SUBQ, U8(8), words, JG, "copy_words")
	MOVQ(r.frame, r.at)
	JMP(LabelRef("found"))
}

// firstLongs returns the mask of the first long words, as many as count says.
func firstLongs(count reg.GPVirtual) reg.OpmaskVirtual {
	k, bits, limit := K(), valueOf(U32(8)), GP64()
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

// findOffsets emits the headers of keys between offsets, and of keys of one width, 8 at a time.
func (r *keyRows) findOffsets() {
	Label("offsets")
	left, to, end, k := valueOf(r.left), valueOf(r.frame), GP64(), K()
	LEAQ(Mem{Base: to, Disp: 16 * r.keys}, end)
	KXNORB(r.third, r.third, k)
	Label("offset")
	if r.keys == 64 {
		branch(CMPQ, left, U8(8), JGE, "eight")
		KMOVB(firstLongs(left), k)
		Label("eight")
	}
	at, n := betweenOffsets(r, r.next,
		func(m Mem, x reg.VecVirtual) { VMOVDQU64_Z(m, k, x) },
		func(m Mem, x reg.VecVirtual) { VPMOVSXDQ_Z(m, k, x) })
	if r.keys == 64 {
		VMOVDQA64_Z(n, k, n)
	}
	for i := range 2 {
		headers := ZMM()
		VMOVDQU64(firstHeaders.Offset(64*i), headers)
		VPERMI2Q(n, at, headers)
		VMOVDQA64(headers, Mem{Base: to, Disp: 64 * i})
	}
	for i := 0; r.ahead && i < 8; i++ {
		request(Mem{Base: valueOf(Mem{Base: to, Disp: 16 * i}), Disp: int(bloom.constant("columnAhead"))})
	}
	ADDQ(U32(128), to)
	SUBQ(U8(8), left)
	branch(CMPQ, to, end, JNE, "offset")
	MOVQ(r.frame, r.at)
}

// betweenOffsets emits the addresses and the lengths of a vector of keys between offsets, or of one width, and the step to the next
// keys. load emits the load of a vector of long words, and extend that of words as long words.
func betweenOffsets(v vectors, next reg.GPVirtual, load, extend func(m Mem, x reg.VecVirtual)) (at, n reg.VecVirtual) {
	at, n = v.vector(), v.vector()
	width := valueOf(parameter("stride"))
	branch(CMPQ, width, U8(8), JL, "other_offsets")
	load(Mem{Base: next}, at)
	load(Mem{Base: next, Disp: 8}, n)
	ADDQ(U8(4*v.lanes()), next)
	JMP(LabelRef("ends"))
	Label("other_offsets")
	branch(TESTQ, width, width, JNS, "short_offsets")
	NEGQ(width)
	copyVector(v, v.broadcastLong(width), n)
	VPMULUDQ(smallNumbers, n, at)
	VPADDQ(v.broadcastLong(next), at, at)
	SHLQ(U8(log2(v.lanes()/2)), width)
	ADDQ(width, next)
	JMP(LabelRef("located"))
	Label("short_offsets")
	extend(Mem{Base: next}, at)
	extend(Mem{Base: next, Disp: 4}, n)
	ADDQ(U8(2*v.lanes()), next)
	Label("ends")
	VPSUBQ(at, n, n)
	VPADDQ(broadcastLongAt(v, parameter("data")), at, at)
	Label("located")
	return at, n
}

// firstHeaders has the numbers of the long words of 8 addresses, and of 8 lengths after them, in the order of headers.
var firstHeaders = longWords("firstHeaders", 16, func(i int) uint64 { return uint64(i/2 + i%2*8) })

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
	base := addressOf(Mem{Base: r.at, Index: r.stride[0], Scale: 8})
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

// lengths emits the loads of the lengths of keys, 8 to a vector.
func (r *keyRows) lengths() []reg.VecVirtual {
	all := newVectors(r.keys / 8)
	load := func(size int) {
		numbers := ZMM()
		VMOVDQU64(headerWords[size][1].numbers, numbers)
		for j, x := range all {
			first, eight := ZMM(), r.eight(8*j)
			VMOVDQU64(Mem{Base: eight}, first)
			VMOVDQA64(numbers, x)
			VPERMI2Q(Mem{Base: eight, Disp: 64}, first, x)
			if size == 24 {
				VPERMQ(Mem{Base: eight, Disp: 128}, numbers, r.third, x)
			}
		}
	}
	branch(CMPQ, r.stride[0], U8(16), JNE, "slices")
	load(16)
	JMP(LabelRef("measured"))
	Label("slices")
	load(24)
	Label("measured")
	return all
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

// storeLongs emits the stores of a word of the hashes of 16 keys.
func storeLongs(hashes []reg.VecVirtual, to reg.GPVirtual) {
	for i, h := range hashes {
		VMOVDQU64(h, Mem{Base: to, Disp: 64 * i})
	}
}

// end emits the end of a kernel of groups of 16 keys.
func (r *keyRows) end() {
	Label("end")
	none := zeroWord()
	TESTQ(r.left, r.left)
	CMOVQLT(none, r.left)
	returnResult(r.left)
}

// The comparisons of unsigned numbers.
const (
	less    = 1
	atLeast = 5
	above   = 6
)

// compare returns the lanes in which a comparison of lengths with n holds.
func compare(lengths reg.VecVirtual, comparison uint8, n int) reg.OpmaskVirtual {
	k := K()
	VPCMPUQ_BCST(U8(comparison), number(n), lengths, k)
	return k
}

// jumpIf emits a jump that is taken if a comparison of lengths with n holds in a lane, and jumpUnless one that is taken
// if it holds in none.

func jumpIf(lengths reg.VecVirtual, comparison uint8, n int, label string) {
	k := compare(lengths, comparison, n)
	branch(KORTESTB, k, k, JNZ, label)
}

func jumpUnless(lengths reg.VecVirtual, comparison uint8, n int, label string) {
	k := compare(lengths, comparison, n)
	branch(KORTESTB, k, k, JZ, label)
}

// headerWords has two entries for each size of a header: one for the addresses and one
// for the lengths. An entry has the numbers of these long words in 8 headers, and the
// lanes whose numbers are above 15.
var headerWords = map[int][2]headerWord{
	16: {newHeaderWord(16, 0), newHeaderWord(16, 1)},
	24: {newHeaderWord(24, 0), newHeaderWord(24, 1)},
}

type headerWord struct {
	numbers Mem
	third   uint32
}

func newHeaderWord(stride, word int) (h headerWord) {
	h.numbers = longWords(fmt.Sprintf("headers%dWord%d", stride, word), 8, func(lane int) uint64 {
		number := stride/8*lane + word
		h.third |= uint32(number/16) << lane
		return uint64(number)
	})
	return h
}
