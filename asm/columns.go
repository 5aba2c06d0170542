package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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

// jumpIfLong emits a jump to end that is taken if a key has at least long bytes.
func (l located) jumpIfLong(v vectors) {
	if l.length != nil {
		v.testAny(greater(v, l.length, v.broadcast(constant(uint32(long-1)))))
	} else {
		v.testAbove(long, l.lengths)
	}
	JNZ(LabelRef("end"))
}

// locate returns a function that emits the code to locate the next vector of keys, and one that emits, after the end of
// the kernel, what this code jumps to. It asks for each vector which layout the keys have: Go's headers, Arrow's offsets,
// or keys of one width. With a kernel for each, those of hashes were four times as long, and no faster. Strings take no
// jump. If words is set, the lengths are a vector of words, and the code jumps to end at a long key.
func locate(v vectors, words bool) (next func() located, rest func()) {
	rows, slices, strings := argument("rows"), v.headers(24), v.headers(16)
	var rests []func()
	next = func() located {
		label := func(name string) string { return labelOf(name, len(rests)) }
		others, found := label("others"), label("located")
		to := located{
			address: [2]reg.VecVirtual{v.vector(), v.vector()},
			lengths: [2]reg.VecVirtual{v.vector(), v.vector()},
		}
		if words {
			to.length = v.vector()
		}
		// check emits what layouts of keys of any length have in common.
		check := func(l located) {
			if words {
				l.jumpIfLong(v)
				copyVector(v, l.words(v), to.length)
				return
			}
			for i, n := range l.longs(v) {
				if n != to.lengths[i] {
					copyVector(v, n, to.lengths[i])
				}
			}
		}
		headers := func(size int, load func(m Mem, address, length reg.VecVirtual)) {
			for i := range to.address {
				load(Mem{Base: rows, Disp: size * v.lanes() / 2 * i}, to.address[i], to.lengths[i])
			}
			ADDQ(U32(size*v.lanes()), rows)
			check(located{lengths: to.lengths})
		}
		branch(CMPQ, parameter("stride"), U8(16), JNE, others)
		headers(16, strings)
		Label(found)
		offsets, long, short := label("offsets"), label("long_offsets"), label("short_offsets")
		rests = append(rests, func() {
			Label(others)
			JLT(LabelRef(offsets))
			headers(24, slices)
			JMP(LabelRef(found))
			Label(offsets)
			branch(CMPQ, parameter("stride"), U8(0), JGE, short)
			to.fixed(v, rows)
			JMP(LabelRef(found))
			Label(short)
			data := v.vector()
			VPBROADCASTQ(parameter("data"), data)
			branch(CMPQ, parameter("stride"), U8(8), JEQ, long)
			from, n := v.vector(), v.vector()
			v.load(Mem{Base: rows}, from)
			v.load(Mem{Base: rows, Disp: 4}, n)
			VPSUBD(from, n, n)
			for i, x := range v.widen(from) {
				VPADDQ(data, x, to.address[i])
			}
			ADDQ(U8(4*v.lanes()), rows)
			check(located{length: n})
			JMP(LabelRef(found))
			Label(long)
			for i := range to.address {
				v.load(Mem{Base: rows}, to.address[i])
				v.load(Mem{Base: rows, Disp: 8}, to.lengths[i])
				VPSUBQ(to.address[i], to.lengths[i], to.lengths[i])
				VPADDQ(data, to.address[i], to.address[i])
				ADDQ(U8(4*v.lanes()), rows)
			}
			check(located{lengths: to.lengths})
			JMP(LabelRef(found))
		})
		if words {
			return located{address: to.address, length: to.length}
		}
		return to
	}
	return next, func() {
		for _, rest := range rests {
			rest()
		}
	}
}

// fixed emits the addresses and the lengths of the next vector of keys of one width, which is not long. The stride is
// -width.
func (l located) fixed(v vectors, rows reg.GPVirtual) {
	stride, skip := v.vector(), GP64()
	VPBROADCASTQ(parameter("stride"), stride)
	if l.length != nil {
		VPBROADCASTD(parameter("stride"), l.length)
		VPABSD(l.length, l.length)
	} else {
		VPABSQ(stride, l.lengths[0])
		VPABSQ(stride, l.lengths[1])
	}
	first, second := l.address[0], l.address[1]
	VPMULDQ(smallNumbers, stride, first)
	VPSUBQ(first, v.broadcastLong(rows), first)
	VPSLLQ(U8(log2(v.lanes()/2)), stride, stride)
	VPSUBQ(stride, first, second)
	MOVQ(parameter("stride"), skip)
	SHLQ(U8(log2(v.lanes())), skip)
	SUBQ(skip, rows)
}

// headers picks long words of 8 headers by their numbers. Two vectors hold the numbers
// 0 to 15. Headers of 24 bytes have a third vector; for the lanes that need it, VPERMQ
// takes the same numbers mod 8.
func (v *avx512) headers(stride int) func(m Mem, address, length reg.VecVirtual) {
	words := headerWords[stride]
	var numbers [2]reg.VecVirtual
	var third [2]reg.OpmaskVirtual
	for i, word := range words {
		if word.third != 0 {
			numbers[i], third[i] = ZMM(), K()
			VMOVDQU64(word.numbers, numbers[i])
			KMOVW(constant(word.third).As32(), third[i])
		}
	}
	return func(m Mem, address, length reg.VecVirtual) {
		first := ZMM()
		VMOVDQU64(m, first)
		for i, x := range []reg.VecVirtual{address, length} {
			if third[i] == nil {
				VMOVDQU64(words[i].numbers, x)
			} else {
				VMOVDQA64(numbers[i], x)
			}
			VPERMI2Q(m.Offset(64), first, x)
			if third[i] != nil {
				VPERMQ(m.Offset(128), numbers[i], third[i], x)
			}
		}
	}
}

// headers gathers from headers of 24 bytes. It picks from whole vectors if headers have
// 16 bytes.
func (v *avx2) headers(stride int) func(m Mem, address, length reg.VecVirtual) {
	if stride == 24 {
		index := YMM()
		VPMULLD(ascending, v.broadcast(constant(24)), index)
		return func(m Mem, address, length reg.VecVirtual) {
			for i, x := range []reg.VecVirtual{address, length} {
				mask := YMM()
				VMOVDQA(v.all, mask)
				VPXOR(x, x, x)
				m.Index, m.Scale = index.AsX(), 1
				VPGATHERDQ(mask, m.Offset(8*i), x)
			}
		}
	}
	return func(m Mem, address, length reg.VecVirtual) {
		first, second := YMM(), YMM()
		v.load(m, first)
		v.load(m.Offset(32), second)
		VPUNPCKLQDQ(second, first, address)
		VPUNPCKHQDQ(second, first, length)
		VPERMQ(U8(0xd8), address, address)
		VPERMQ(U8(0xd8), length, length)
	}
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

func copyVector(v vectors, from, to reg.VecVirtual) {
	if v.lanes() == 16 {
		VMOVDQA32(from, to)
	} else {
		VMOVDQA(from, to)
	}
}

func log2(n int) (log int) {
	for ; n > 1; n /= 2 {
		log++
	}
	return log
}
