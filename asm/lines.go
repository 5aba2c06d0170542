package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines has the registers of a kernel for filters with one line of memory for each key,
// while its code is emitted. The kernel has two passes over a window of hashes. The first
// computes the addresses of their lines. The second goes to the lines. It has no branch
// that depends on a key, so the CPU loads the lines of many keys at a time.
type lines struct {
	vectors
	scheme    lineScheme
	words     string // the hashes
	size      int    // of one, in bytes
	hashes    reg.GPVirtual
	left      reg.GPVirtual // how many hashes have no address yet
	addresses reg.GPVirtual // the addresses of the lines, on the stack

	requests int // how many of them were emitted, for labels
}

// lineScheme is what differs between the schemes.
type lineScheme interface {
	// prepare emits the constants of a prober, and returns which hashes it takes, and the size of one in bytes.
	// prepareTest emits those of the tests.
	prepare(v vectors, prober reg.GPVirtual) (words string, size int)
	prepareTest()
	// address emits the addresses of the lines of the hashes at m.
	address(m Mem, to reg.VecVirtual)
	// testOne emits the test of the key whose hash is at h and whose line is at line. It sets
	// the carry flag if the key has all bits.
	testOne(h, line Mem)
	// testTwo emits the test of two keys with mask registers. The mask has 8 lanes for each
	// key. A lane is set if a bit is missing.
	testTwo(h, line [2]Mem) reg.OpmaskVirtual
}

// halvesScheme is a lineScheme whose lines have 64 bytes. testHalves is testTwo with two loads of 32 bytes for each
// line, for far filters. On a Zen 4, one load of 64 bytes from memory takes 2.5 times as long as those two, on a Zen 5 1.3 times.
type halvesScheme interface {
	lineScheme
	testHalves(h, line [2]Mem) reg.OpmaskVirtual
}

// ahead is how many keys before its test the second pass requests the line of a key, if the
// filter does not fit the caches. The CPU itself looks some 30 to 80 keys ahead.
const ahead = 64

func newLines(v vectors, scheme lineScheme) *lines {
	l := &lines{vectors: v, scheme: scheme, addresses: stackVectors(8 * (window + 2*ahead))}
	ADDQ(U32(8*ahead), l.addresses)
	l.words, l.size = scheme.prepare(v, argument("s"))
	start, n := windowOf(l.words)
	l.hashes, l.left = valueOf(start), valueOf(n)
	return l
}

// count emits the load of the number of hashes.
func (l *lines) count() reg.GPVirtual {
	_, n := windowOf(l.words)
	return valueOf(n)
}

// far returns where the prober says whether lines are requested.
func far() Mem { return Mem{Base: argument("s"), Disp: bloom.offset("prober.far")} }

// testLines emits the body of a kernel that tests hashes.
func testLines(v vectors, scheme lineScheme) {
	l := newLines(v, scheme)
	scheme.prepareTest()
	l.locate()
	if v.lanes() < 16 {
		l.testOnes()
	} else {
		l.testTwos()
	}
}

// addLines emits the body of a kernel that adds hashes. It calls add to emit the setting of
// the bits of some hashes in their lines. Two of these may be the same line.
func addLines(v vectors, scheme lineScheme, add func(h, line []Mem)) {
	l := newLines(v, scheme)
	l.locate()
	n := l.count()
	Label("one")
	branch(TESTQ, U32(3), n, JZ, "some")
	DECQ(n)
	add(l.at(n, 1))
	JMP(LabelRef("one"))
	align()
	Label("four")
	SUBQ(U8(4), n)
	l.request(Mem{Base: l.addresses, Index: n, Scale: 8, Disp: -8 * ahead}, 4)
	add(l.at(n, 4))
	Label("some")
	branch(TESTQ, n, n, JNZ, "four")
	returnVectors()
}

// addLinesNew is addLines in the order of the hashes. add emits the setting of the bits of some hashes, one hash after the other.
// After each hash it calls outcome, which emits code that stores the carry flag: set for a new key or, if inverted, for one that is
// not new.
func addLinesNew(v vectors, scheme lineScheme, inverted bool, add func(h, line []Mem, outcome func())) {
	l := newLines(v, scheme)
	l.locate()
	added, done, word := argument("added"), GP64(), GP64()
	some := func(count int) {
		h, line := l.at(done, count)
		add(h, line, func() { RCRQ(U8(1), word) })
		ADDQ(U8(count), done)
	}
	store := func() {
		if inverted {
			NOTQ(word)
		}
	}
	next, n := GP64(), l.count()
	XORL(done.As32(), done.As32())
	JMP(LabelRef("next"))
	align()
	Label("four")
	l.request(Mem{Base: l.addresses, Index: done, Scale: 8, Disp: 8 * ahead}, 4)
	some(4)
	branch(TESTQ, U32(63), done, JNZ, "next")
	store()
	MOVQ(word, Mem{Base: added})
	ADDQ(U8(8), added)
	Label("next")
	LEAQ(Mem{Base: done, Disp: 4}, next)
	branch(CMPQ, next, n, JLE, "four")
	JMP(LabelRef("rest"))
	Label("one")
	some(1)
	Label("rest")
	branch(CMPQ, done, n, JL, "one")
	Comment("The outcomes of a last word are its upper bits.")
	branch(TESTQ, U32(63), n, JZ, "done")
	NEGQ(n)
	store()
	SHRXQ(n, word, word)
	MOVQ(word, Mem{Base: added})
	Label("done")
	returnVectors()
}

// locate emits the first pass.
func (l *lines) locate() {
	from, end := GP64(), GP64()
	MOVQ(l.hashes, from)
	MOVQ(l.addresses, end)
	align()
	Label("locate")
	address := l.vector()
	l.scheme.address(Mem{Base: from}, address)
	l.store(address, Mem{Base: end})
	ADDQ(U8(l.size*l.lanes()/2), from)
	ADDQ(U8(4*l.lanes()), end)
	branch(SUBQ, U8(l.lanes()/2), l.left, JG, "locate")

	Comment("Lines are requested past both ends of the window: the first one again.")
	branch(CMPB, far(), U8(0), JE, "located")
	first := l.vector()
	VPBROADCASTQ(Mem{Base: l.addresses}, first)
	for i := 0; i < ahead; i += l.lanes() / 2 {
		l.store(first, Mem{Base: l.addresses, Disp: 8 * (i - ahead)})
		l.store(first, Mem{Base: end, Disp: 8 * i})
	}
	Label("located")
}

// upperLanes returns the mask of the lanes of the second key of testTwo, if there are masks.
func upperLanes(v vectors) reg.Register {
	if v.lanes() < 16 {
		return nil
	}
	k := K()
	KMOVW(constant(0xff00).As32(), k)
	return k
}

// broadcastTwo emits the loads of a word of each of two keys, into 8 lanes each.
func broadcastTwo(words [2]Mem, upper reg.Register) reg.VecVirtual {
	x := ZMM()
	VPBROADCASTD(words[0], x)
	VPBROADCASTD(words[1], upper, x)
	return x
}

// broadcastKeys emits the load of a word of one key, or of two keys if they fit a vector.
func broadcastKeys(words []Mem, upper reg.Register) reg.VecVirtual {
	if len(words) == 2 {
		return broadcastTwo([2]Mem(words), upper)
	}
	x := YMM()
	VPBROADCASTD(words[0], x)
	return x
}

// forKeys returns the part of a vector that is as wide as that of broadcastKeys.
func forKeys(x reg.VecVirtual, words []Mem) Op {
	if len(words) == 1 {
		return x.AsY()
	}
	return x
}

// request emits the requests of the lines at some places, if the filter does not fit the caches.
func (l *lines) request(at Mem, count int) {
	l.requests++
	near := labelOf("near", l.requests)
	branch(CMPB, far(), U8(0), JE, near)
	for i := range count {
		request(Mem{Base: valueOf(at.Offset(8 * i))})
	}
	Label(near)
}

// at returns some hashes from number n on, and their lines.
func (l *lines) at(n reg.GPVirtual, count int) (h, line []Mem) {
	return l.keys(Mem{Base: l.hashes, Index: n, Scale: uint8(l.size)}, Mem{Base: l.addresses, Index: n, Scale: 8}, count)
}

// keys returns some hashes, and their lines, whose addresses it loads.
func (l *lines) keys(hash, address Mem, count int) (h, line []Mem) {
	for i := range count {
		h, line = append(h, hash.Offset(l.size*i)), append(line, Mem{Base: valueOf(address.Offset(8 * i))})
	}
	return h, line
}

// testTwos emits the second pass with mask registers, for 8 keys at a time. The outcome of
// each is a byte that has a bit for each missing bit. At the end, one instruction turns 64
// of the bytes into a word of hits.
func (l *lines) testTwos() {
	outcomes := stackVectors(window)
	hash, address, outcome, left := GP64(), GP64(), GP64(), l.count()
	MOVQ(l.hashes, hash)
	MOVQ(l.addresses, address)
	MOVQ(outcomes, outcome)
	eights := func(label string, requests bool, testTwo func(h, line [2]Mem) reg.OpmaskVirtual) {
		Label(label)
		if requests {
			l.request(Mem{Base: address, Disp: 8 * ahead}, 8)
		}
		for i := 0; i < 8; i += 2 {
			h, line := l.keys(Mem{Base: hash, Disp: l.size * i}, Mem{Base: address, Disp: 8 * i}, 2)
			KMOVW(testTwo([2]Mem(h), [2]Mem(line)), Mem{Base: outcome, Disp: i})
		}
		ADDQ(U8(8*l.size), hash)
		ADDQ(U8(64), address)
		ADDQ(U8(8), outcome)
		branch(SUBQ, U8(8), left, JG, label)
	}
	halves, ok := l.scheme.(halvesScheme)
	if ok {
		branch(CMPB, far(), U8(0), JNE, "halves")
	}
	align()
	eights("eight", !ok, l.scheme.testTwo)

	Label("words")
	hits, n, last := argument("hits"), l.count(), GP64()
	Label("word")
	missing, k := ZMM(), K()
	l.load(Mem{Base: outcomes}, missing)
	VPTESTNMB(missing, missing, k)
	KMOVQ(k, Mem{Base: hits})
	ADDQ(U8(64), outcomes)
	ADDQ(U8(8), hits)
	branch(SUBQ, U8(64), n, JG, "word")
	ADDQ(U8(64), n) // in the last word
	BZHIQ(n, Mem{Base: hits, Disp: -8}, last)
	MOVQ(last, Mem{Base: hits, Disp: -8})
	returnVectors()
	if ok {
		eights("halves", true, halves.testHalves) // not aligned: with a PCALIGN here, Go's assembler does not end
		JMP(LabelRef("words"))
	}
}

// testOnes emits the second pass with the carry flag. It goes from the last key to the
// first: a word of hits takes the flag as its lowest bit.
func (l *lines) testOnes() {
	hits, n, word := argument("hits"), l.count(), GP64()
	test := func(count int) {
		h, line := l.at(n, count)
		for i := count - 1; i >= 0; i-- {
			l.scheme.testOne(h[i], line[i])
			ADCQ(word, word)
		}
	}
	store := func() {
		to := valueOf(n)
		SHRQ(U8(6), to)
		MOVQ(word, Mem{Base: hits, Index: to, Scale: 8})
		XORL(word.As32(), word.As32())
	}
	XORL(word.As32(), word.As32())
	Label("one")
	branch(TESTQ, U32(3), n, JZ, "some")
	DECQ(n)
	test(1)
	branch(TESTQ, U32(63), n, JNZ, "one")
	store()
	Label("some")
	branch(TESTQ, n, n, JZ, "done")
	align()
	Label("four")
	SUBQ(U8(4), n)
	l.request(Mem{Base: l.addresses, Index: n, Scale: 8, Disp: -8 * ahead}, 4)
	test(4)
	branch(TESTQ, U32(63), n, JNZ, "four")
	store()
	branch(TESTQ, n, n, JNZ, "four")
	Label("done")
	returnVectors()
}
