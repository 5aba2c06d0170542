package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines has the registers of a kernel that tests filters with one line of memory for each
// key, while its code is emitted. The kernel has two passes over a window of hashes. The
// first computes the addresses of their lines. The second tests each key in its line,
// without a branch, so that the CPU loads the lines of many keys at a time.
type lines struct {
	vectors
	walk   lineWalk
	hashes reg.GPVirtual
	places reg.GPVirtual // the addresses of the lines, on the stack
}

// lineWalk is what differs between the walks.
type lineWalk interface {
	// prepare emits the constants.
	prepare(v vectors)
	// address replaces a vector of hashes by the addresses of their lines.
	address(h reg.VecVirtual)
	// testOne emits the test of the key whose hash is at h and whose line is at line. The
	// carry flag tells the outcome: it is set if the key has all bits.
	testOne(h, line Mem)
	// testTwo emits the test of two keys. It returns a mask with 8 lanes for each key; a lane
	// is set if a bit is missing.
	testTwo(h, line [2]Mem) reg.OpmaskVirtual
}

// ahead is how many keys before its test the line of a key is requested from memory.
const ahead = 64

// testLines emits the body of a kernel.
func testLines(v vectors, walk lineWalk) {
	l := &lines{vectors: v, walk: walk, hashes: argument("hashes"), places: stackVectors(8 * (window + 2*ahead))}
	walk.prepare(v)
	l.locate()
	if v.lanes() == 16 {
		l.testTwos()
	} else {
		l.testOnes()
	}
	VZEROUPPER()
	RET()
}

// stackVectors returns the address of so many bytes of the stack, at a multiple of 64.
func stackVectors(bytes int) reg.GPVirtual {
	p := GP64()
	LEAQ(AllocLocal(bytes+64-8).Offset(63), p)
	ANDQ(I8(-64), p)
	return p
}

// locate emits the first pass.
func (l *lines) locate() {
	from, to, left := GP64(), GP64(), argument("n")
	MOVQ(l.hashes, from)
	MOVQ(l.places, to)
	Label("locate")
	h := l.vector()
	l.load(Mem{Base: from}, h)
	l.walk.address(h)
	l.store(h, Mem{Base: to})
	ADDQ(U8(4*l.lanes()), from)
	ADDQ(U8(4*l.lanes()), to)
	SUBQ(U8(l.lanes()/2), left)
	JG(LabelRef("locate"))
}

// testTwos emits the second pass for mask registers: 8 keys at a time. The outcome of each
// is a byte that has a bit for each missing bit. At the end, one instruction turns 64 of
// the bytes into a word of hits.
func (l *lines) testTwos() {
	outcomes := stackVectors(window)
	hash, place, outcome, left := GP64(), GP64(), GP64(), argument("n")
	MOVQ(l.hashes, hash)
	MOVQ(l.places, place)
	MOVQ(outcomes, outcome)
	Label("test")
	for i := 0; i < 8; i += 2 {
		var h, line [2]Mem
		for j := range line {
			at := GP64()
			MOVQ(Mem{Base: place, Disp: 8 * (i + j)}, at)
			h[j], line[j] = Mem{Base: hash, Disp: 8 * (i + j)}, Mem{Base: at}
		}
		KMOVW(l.walk.testTwo(h, line), Mem{Base: outcome, Disp: i})
	}
	ADDQ(U8(64), hash)
	ADDQ(U8(64), place)
	ADDQ(U8(8), outcome)
	SUBQ(U8(8), left)
	JG(LabelRef("test"))

	hits, n := argument("hits"), argument("n")
	MOVQ(outcomes, outcome)
	Label("collect")
	missing, k := ZMM(), K()
	VMOVDQU64(Mem{Base: outcome}, missing)
	VPTESTNMB(missing, missing, k)
	KMOVQ(k, Mem{Base: hits})
	ADDQ(U8(64), outcome)
	ADDQ(U8(8), hits)
	SUBQ(U8(64), n)
	JG(LabelRef("collect"))
	// n + 64 is the number of the last outcomes.
	last := GP64()
	ADDQ(U8(64), n)
	BZHIQ(n, Mem{Base: hits, Disp: -8}, last)
	MOVQ(last, Mem{Base: hits, Disp: -8})
}

// testOnes emits the second pass for the carry flag, from the last key to the first: a word
// of hits takes the flag as its lowest bit.
func (l *lines) testOnes() {
	hits, n, word := argument("hits"), argument("n"), GP64()
	test := func(i int) {
		at := GP64()
		MOVQ(Mem{Base: l.places, Index: n, Scale: 8, Disp: 8 * i}, at)
		l.walk.testOne(Mem{Base: l.hashes, Index: n, Scale: 8, Disp: 8 * i}, Mem{Base: at})
		ADCQ(word, word)
	}
	store := func() {
		to := GP64()
		MOVQ(n, to)
		SHRQ(U8(6), to)
		MOVQ(word, Mem{Base: hits, Index: to, Scale: 8})
		XORL(word.As32(), word.As32())
	}
	XORL(word.As32(), word.As32())
	Comment("The keys past the last multiple of 4.")
	Label("one")
	TESTQ(U32(3), n)
	JZ(LabelRef("fours"))
	DECQ(n)
	test(0)
	TESTQ(U32(63), n)
	JNZ(LabelRef("one"))
	store()
	Label("fours")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	Label("four")
	SUBQ(U8(4), n)
	for i := range 4 {
		test(3 - i)
	}
	TESTQ(U32(63), n)
	JNZ(LabelRef("four"))
	store()
	TESTQ(n, n)
	JNZ(LabelRef("four"))
	Label("end")
}
