package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stagedWalk is what differs between the walks of groupStaged. The lanes are arrays.
type stagedWalk interface {
	// load emits the constants, the hash of the first probe, and the step that each probe adds.
	load() (hash, step reg.VecVirtual)
	// next emits the hash of the next probe.
	next(step, hash, to reg.VecVirtual)
	// convert emits what remainder needs of a hash besides the hash.
	convert(hash, to reg.VecVirtual)
	// fields emits the loads of what the walk needs of a block, which are so many rows. The first
	// field is the numbers of the arrays' first bits, counted from address 0.
	fields(b block) []reg.VecVirtual
	rows() int
	// remainder emits the hash modulo the numbers of bits.
	remainder(hash, converted reg.VecVirtual, fields []reg.VecVirtual) reg.VecVirtual
}

// arraysStaged has the registers of a kernel while its code is emitted.
type arraysStaged struct {
	stagedWalk
	ones reg.VecVirtual // 1 in each lane
	zero reg.GPVirtual  // the address that gathers begin at
}

// passedRow is the size of a row of a field of the arrays that passed. A compressed vector is
// stored whole: those of 8 blocks end at 64 words at most.
const passedRow = 8 * 64

// groupStaged emits all probes of one key in many filters of a walk of double hashing.
func groupStaged(name string, w stagedWalk) {
	TEXT(name+"AVX512", 0, signature(name))
	Comment(
		"The kernel makes the first two probes in all arrays. It compresses the fields of the arrays",
		"that pass, which are a quarter if the key is absent, and makes the other probes in these. If",
		"there is one probe, the kernel makes it twice.",
	)
	a := &arraysStaged{w, (&avx512{}).broadcastLong(constant(1)), constant(0)}
	hash, step := w.load()
	CMPQ(argument("probes"), U8(1))
	JNE(LabelRef("first"))
	VPXORQ(step, step, step)
	Label("first")
	passed := stackVectors(w.rows() * passedRow)
	word, end := a.first(hash, step, passed)
	CMPQ(argument("probes"), U8(2))
	JLE(LabelRef("end"))
	SUBQ(passed, end)
	JZ(LabelRef("end"))
	PDEPQ(word, a.others(hash, step, passed, end), word)
	Label("end")
	Store(word, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// first emits the first two probes in all arrays. It stores the fields of those that pass from
// passed on. It returns a bit for each array, set if it passes, and the end of the first row of
// fields. It leaves the hash of the second probe in hash.
func (a *arraysStaged) first(hash, step reg.VecVirtual, passed reg.GPVirtual) (word, end reg.GPVirtual) {
	at, left, count := argument("blocks"), argument("n"), GP64()
	word, end = GP64(), GP64()
	start, startConverted, converted := ZMM(), ZMM(), ZMM()
	VMOVDQA64(hash, start)
	a.convert(start, startConverted)
	a.next(step, hash, hash)
	a.convert(hash, converted)
	MOVQ(passed, end)
	XORL(word.As32(), word.As32())
	XORL(count.As32(), count.As32())

	Label("block")
	fields, all, lanes := a.fields(block{Base: at}), a.newAll(), firstLanes(left)
	a.probe(start, startConverted, fields, lanes, all)
	a.probe(hash, converted, fields, lanes, all)
	mask, number := a.collect(all, count, word), GP64()
	for i, field := range fields {
		VPCOMPRESSQ_Z(field, mask, field)
		VMOVDQU64(field, Mem{Base: end, Disp: passedRow * i})
	}
	KMOVB(mask, number.As32())
	POPCNTL(number.As32(), number.As32())
	LEAQ(Mem{Base: end, Index: number, Scale: 8}, end)
	ADDQ(U32(blockSize), at)
	SUBQ(U8(blockArrays), left)
	JG(LabelRef("block"))
	return word, end
}

// others emits the other probes in the arrays whose fields were stored. size is the bytes of a row
// of fields. It returns a bit for each of these arrays, set if it passes.
func (a *arraysStaged) others(hash, step reg.VecVirtual, passed, size reg.GPVirtual) (found reg.GPVirtual) {
	fields, converted, count := make([]reg.VecVirtual, a.rows()), ZMM(), GP64()
	found = GP64()
	XORL(found.As32(), found.As32())
	XORL(count.As32(), count.As32())

	Label("passed")
	number := GP64()
	MOVQ(size, number)
	SHRQ(U8(3), number)
	lanes := firstLanes(number)
	for i := range fields {
		fields[i] = ZMM()
		VMOVDQU64(Mem{Base: passed, Disp: passedRow * i}, fields[i])
	}
	h, all, left := ZMM(), a.newAll(), argument("probes")
	VMOVDQA64(hash, h)
	SUBQ(U8(2), left)
	Label("probe")
	a.next(step, h, h)
	a.convert(h, converted)
	a.probe(h, converted, fields, lanes, all)
	DECQ(left)
	JNZ(LabelRef("probe"))
	a.collect(all, count, found)
	ADDQ(U8(blockRow), passed)
	SUBQ(U8(blockRow), size)
	JG(LabelRef("passed"))
	return found
}

// firstLanes returns a mask of so many lanes, or all if there are fewer. The others have no array.
func firstLanes(count reg.GPVirtual) reg.OpmaskVirtual {
	lanes, bits := K(), constant(1<<blockArrays-1)
	BZHIL(count.As32(), bits.As32(), bits.As32())
	KMOVB(bits.As32(), lanes)
	return lanes
}

// newAll returns a register in which every lane has passed.
func (a *arraysStaged) newAll() reg.VecVirtual {
	all := ZMM()
	VMOVDQA64(a.ones, all)
	return all
}

// probe emits a probe in the arrays of some lanes. It clears the lowest bit of the lanes of all in
// whose arrays the bit is clear, and of the other lanes. A gather takes aligned words, so that
// none crosses the end of a page of memory.
func (a *arraysStaged) probe(hash, converted reg.VecVirtual, fields []reg.VecVirtual, lanes reg.Register, all reg.VecVirtual) {
	bit, number, word, mask := a.remainder(hash, converted, fields), ZMM(), ZMM(), K()
	KMOVB(lanes, mask) // the gather clears it
	VPADDQ(fields[0], bit, bit)
	VPSRLQ(U8(6), bit, number)
	VPXORQ(word, word, word)
	VPGATHERQQ(Mem{Base: a.zero, Index: number, Scale: 8}, mask, word)
	VPRORVQ(bit, word, word)
	VPANDQ(word, all, all)
}

// collect returns the lanes that pass. It sets their bits in word, 8 from bit count on, and adds 8
// to count.
func (a *arraysStaged) collect(all reg.VecVirtual, count, word reg.GPVirtual) reg.OpmaskVirtual {
	mask, bits := K(), GP64()
	VPTESTMQ(a.ones, all, mask)
	KMOVB(mask, bits.As32())
	SHLXQ(count, bits, bits)
	ORQ(bits, word)
	ADDQ(U8(blockArrays), count)
	return mask
}

// loadFields emits the loads of rows of a block. The addresses become numbers of bits.
func loadFields(rows ...Mem) []reg.VecVirtual {
	fields := make([]reg.VecVirtual, len(rows))
	for i, row := range rows {
		fields[i] = ZMM()
		VMOVDQU64(row, fields[i])
	}
	VPSLLQ(U8(3), fields[0], fields[0])
	return fields
}

// staged32 is the walk double32.
type staged32 struct{}

func (staged32) load() (hash, step reg.VecVirtual) {
	h, delta := GP64(), GP64()
	Load(Param("hash"), h.As32())
	RORXL(U8(17), h.As32(), delta.As32())
	v := &avx512{}
	return v.broadcastLong(h), v.broadcastLong(delta)
}

func (staged32) next(step, hash, to reg.VecVirtual) { VPADDD(step, hash, to) }

func (staged32) convert(hash, to reg.VecVirtual) { VPSRLQ(U8(3), hash, to) }

func (staged32) rows() int { return 4 }

func (staged32) fields(b block) []reg.VecVirtual {
	fields := loadFields(b.bases(), b.units(), b.recips(), b.shifts())
	VPSLLQ(U8(3), fields[1], fields[1]) // from bytes to bits
	return fields
}

// remainder emits the quotient of h/8 by the number of bytes, which is that of h by the number of
// bits. If there are 2^32 bits, their number has no bit in the lower half of its lane, and the
// quotient is 0.
func (staged32) remainder(hash, eighth reg.VecVirtual, fields []reg.VecVirtual) reg.VecVirtual {
	r, bits, recip, shift := ZMM(), fields[1], fields[2], fields[3]
	VPMULUDQ(recip, eighth, r)
	VPSRLVQ(shift, r, r)
	VPMULUDQ(bits, r, r)
	VPSUBQ(r, hash, r)
	return r
}

// staged64 is the walk double64.
type staged64 struct {
	lower reg.OpmaskVirtual // the lower halves of the lanes
}

func (s *staged64) load() (hash, step reg.VecVirtual) {
	s.lower = K()
	KMOVW(constant(0x5555).As32(), s.lower)
	v := &avx512{}
	return v.broadcastLong(argument("h1")), v.broadcastLong(argument("h2"))
}

func (*staged64) next(step, hash, to reg.VecVirtual) { VPADDQ(step, hash, to) }

func (*staged64) convert(hash, to reg.VecVirtual) { VCVTUQQ2PD_RZ_SAE(hash, to) }

func (*staged64) rows() int { return 3 }

func (*staged64) fields(b block) []reg.VecVirtual {
	return loadFields(b.bases(), b.units(), b.recips())
}

// remainder emits a quotient that is at most 1 too small, as double64.reduce does, and so a
// remainder that is below twice the number of bits.
func (s *staged64) remainder(hash, converted reg.VecVirtual, fields []reg.VecVirtual) reg.VecVirtual {
	r, less, bits, inverse := ZMM(), ZMM(), fields[1], fields[2]
	VMULPD_RZ_SAE(inverse, converted, r)
	VCVTTPD2UQQ(r, r)
	VPMULUDQ(bits, r, r)
	VPSUBD(r, hash, r)
	VPSUBD(bits, r, less)
	VPMINUD_Z(less, r, s.lower, r)
	return r
}
