package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// column is a layout of keys.
type column struct {
	name string
	// locate emits the code that a kernel runs once, and returns a function that emits the
	// code to locate the next vector of keys.
	locate func(v vectors) func() located
}

// columns are the layouts of keys of any length: Go's slices and strings, and Arrow's offsets.
var columns = []column{
	{"Slices", locateHeaders(24)},
	{"Strings", locateHeaders(16)},
	{"Offsets32", locateOffsets32},
	{"Offsets64", locateOffsets64},
}

// fixed is the layout of keys of one width.
var fixed = column{"Fixed", locateFixed}

// located has the addresses and the lengths in bytes of a vector of keys. The lengths
// are a vector of words, or two long vectors, or both.
type located struct {
	address [2]reg.VecVirtual
	length  reg.VecVirtual
	lengths [2]reg.VecVirtual
}

// words returns the lengths as a vector of words.
func (l located) words(v vectors) reg.VecVirtual {
	if l.length == nil {
		return v.narrow(l.lengths)
	}
	return l.length
}

// longs returns the lengths as two long vectors.
func (l located) longs(v vectors) [2]reg.VecVirtual {
	if l.lengths[0] == nil {
		return v.widen(l.length)
	}
	return l.lengths
}

// jumpIfLong emits a jump that is taken if a key has at least long bytes. If both kinds
// of lengths are given, all keys have one length, and the Go caller has checked it.
func (l located) jumpIfLong(v vectors, label string) {
	switch {
	case l.length == nil:
		v.testAbove(long, l.lengths)
	case l.lengths[0] == nil:
		v.testAny(v.greater(l.length, v.broadcast(constant(uint32(long-1)))))
	default:
		return
	}
	JNZ(LabelRef(label))
}

// locateHeaders is locate for Go's headers, of stride bytes each. A header has an
// address, a length, and in slices a capacity.
func locateHeaders(stride int) func(v vectors) func() located {
	return func(v vectors) func() located {
		headers, load := argument("rows"), v.headers(stride)
		return func() (l located) {
			for i := range l.address {
				l.address[i], l.lengths[i] = load(Mem{Base: headers, Disp: stride * v.lanes() / 2 * i})
			}
			ADDQ(U32(stride*v.lanes()), headers)
			return l
		}
	}
}

// headers picks long words of 8 headers by their numbers. Two vectors hold the numbers
// 0 to 15. Headers of 24 bytes have a third vector; for the lanes that need it, VPERMQ
// takes the same numbers mod 8.
func (v *avx512) headers(stride int) func(Mem) (address, length reg.VecVirtual) {
	var numbers [2]reg.VecVirtual
	var third [2]reg.OpmaskVirtual
	for i, words := range headerWords[stride] {
		numbers[i] = ZMM()
		VMOVDQU64(words.numbers, numbers[i])
		if words.third != 0 {
			third[i] = K()
			KMOVW(constant(words.third).As32(), third[i])
		}
	}
	return func(m Mem) (address, length reg.VecVirtual) {
		first, both := ZMM(), [2]reg.VecVirtual{ZMM(), ZMM()}
		VMOVDQU64(m, first)
		for i, x := range both {
			VMOVDQA64(numbers[i], x)
			VPERMI2Q(m.Offset(64), first, x)
			if third[i] != nil {
				VPERMQ(m.Offset(128), numbers[i], third[i], x)
			}
		}
		return both[0], both[1]
	}
}

// headers gathers from headers of 24 bytes. It picks from whole vectors if headers have
// 16 bytes.
func (v *avx2) headers(stride int) func(Mem) (address, length reg.VecVirtual) {
	if stride == 24 {
		index := YMM()
		VPMULLD(ascending, v.broadcast(constant(24)), index)
		return func(m Mem) (address, length reg.VecVirtual) {
			both := [2]reg.VecVirtual{YMM(), YMM()}
			for i, x := range both {
				mask := YMM()
				VMOVDQA(v.all, mask)
				VPXOR(x, x, x)
				m.Index, m.Scale = index.AsX(), 1
				VPGATHERDQ(mask, m.Offset(8*i), x)
			}
			return both[0], both[1]
		}
	}
	return func(m Mem) (address, length reg.VecVirtual) {
		first, second := YMM(), YMM()
		v.load(m, first)
		address, length = YMM(), YMM()
		v.load(m.Offset(32), second)
		VPUNPCKLQDQ(second, first, address)
		VPUNPCKHQDQ(second, first, length)
		VPERMQ(U8(0xd8), address, address)
		VPERMQ(U8(0xd8), length, length)
		return address, length
	}
}

// headerWords has two entries for each size of a header: one for the addresses and one
// for the lengths. An entry has the numbers of these long words in 8 headers, and the
// lanes whose numbers are above 15.
var headerWords = map[int][2]struct {
	numbers Mem
	third   uint32
}{}

func headerTables() {
	for _, stride := range []int{16, 24} {
		words := headerWords[stride]
		for i := range words {
			words[i].numbers = GLOBL(fmt.Sprintf("headers%dWord%d", stride, i), RODATA|NOPTR)
			for lane := range 8 {
				number := stride/8*lane + i
				DATA(8*lane, U64(number))
				words[i].third |= uint32(number/16) << lane
			}
		}
		headerWords[stride] = words
	}
}

func locateOffsets32(v vectors) func() located {
	data, offsets := v.broadcastLong(argument("data")), argument("rows")
	return func() located {
		from, to := v.vector(), v.vector()
		v.load(Mem{Base: offsets}, from)
		v.load(Mem{Base: offsets, Disp: 4}, to)
		VPSUBD(from, to, to)
		address := v.widen(from)
		for i := range address {
			VPADDQ(data, address[i], address[i])
		}
		ADDQ(U8(4*v.lanes()), offsets)
		return located{address: address, length: to}
	}
}

func locateOffsets64(v vectors) func() located {
	data, offsets := v.broadcastLong(argument("data")), argument("rows")
	return func() (l located) {
		for i := range l.address {
			l.address[i], l.lengths[i] = v.vector(), v.vector()
			v.load(Mem{Base: offsets}, l.address[i])
			v.load(Mem{Base: offsets, Disp: 8}, l.lengths[i])
			VPSUBQ(l.address[i], l.lengths[i], l.lengths[i])
			VPADDQ(data, l.address[i], l.address[i])
			ADDQ(U8(4*v.lanes()), offsets)
		}
		return l
	}
}

func locateFixed(v vectors) func() located {
	data, width := argument("rows"), argument("stride")
	NEGQ(width)
	addresses := AllocLocal(8 * v.lanes())
	for lane := range v.lanes() {
		MOVQ(data, addresses.Offset(8*lane))
		ADDQ(width, data)
	}
	length, long := v.broadcast(width), v.broadcastLong(width)
	SHLQ(U8(log2(v.lanes())), width)
	step := v.broadcastLong(width)
	var address [2]reg.VecVirtual
	for i := range address {
		address[i] = v.vector()
		v.load(addresses.Offset(4*v.lanes()*i), address[i])
		VPSUBQ(step, address[i], address[i])
	}
	return func() located {
		for i := range address {
			VPADDQ(step, address[i], address[i])
		}
		return located{address, length, [2]reg.VecVirtual{long, long}}
	}
}

func log2(n int) (log int) {
	for ; n > 1; n /= 2 {
		log++
	}
	return log
}
