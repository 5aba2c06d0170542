package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// argument loads an argument into a new register. Code that runs out of registers calls
// it again at each use.
func argument(name string) reg.GPVirtual {
	return Load(Param(name), GP64()).(reg.GPVirtual)
}

// parameter returns the place of an argument.
func parameter(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// windowOf returns the fields of a slice of the hashes that are the argument h: where they begin, and their number.
func windowOf(words string) (start, n Mem) {
	start = Mem{Base: argument("h"), Disp: bloom.offset("hashes." + words)}
	return start, start.Offset(8)
}

// stackVectors returns an address on the stack with room for these bytes, at a multiple of 64.
func stackVectors(bytes int) reg.GPVirtual {
	p := addressOf(AllocLocal(bytes + 64 - 8).Offset(63))
	ANDQ(I8(-64), p)
	return p
}

// labelOf returns the label of one of several places that have the same name.
func labelOf(name string, n int) string { return fmt.Sprintf("%s_%d", name, n) }

// branch emits an instruction that sets the flags, such as CMPQ, and after it a jump that depends on them.
func branch(compare func(a, b Op), a, b Op, jump func(Op), label string) {
	compare(a, b)
	jump(LabelRef(label))
}

// countDown emits the end of a loop that runs n times.
func countDown(n reg.GPVirtual, label string) {
	DECQ(n)
	JNZ(LabelRef(label))
}

// vectorsOf emits the number of whole vectors of n keys, with this number of keys in a vector. returnLeft
// emits the end of a kernel. The kernel returns the number of keys that it leaves: the keys of the vectors,
// if vectors is not nil, and the rest.

func vectorsOf(keys int) reg.GPVirtual {
	n := argument("n")
	SHRQ(U8(log2(keys)), n)
	return n
}

func returnLeft(vectors reg.GPVirtual, keys int) {
	left := argument("n")
	ANDQ(U8(keys-1), left)
	if vectors != nil {
		SHLQ(U8(log2(keys)), vectors)
		ADDQ(vectors, left)
	}
	returnResult(left)
}

// returnResult emits the end of a function that used vectors and has one result.
func returnResult(result reg.Register) {
	Store(result, ReturnIndex(0))
	returnVectors()
}

// returnVectors emits the end of a function that used vectors.
func returnVectors() {
	VZEROUPPER()
	RET()
}

// valueOf returns a new register with what is in another, or in memory, or with a constant. addressOf returns one with an
// address, and zeroWord one with 0.

func valueOf(from Op) reg.GPVirtual {
	r := GP64()
	MOVQ(from, r)
	return r
}

func addressOf(m Mem) reg.GPVirtual {
	r := GP64()
	LEAQ(m, r)
	return r
}

func zeroWord() reg.GPVirtual {
	r := GP64()
	XORL(r.As32(), r.As32())
	return r
}

// align makes the next instruction begin a line of memory. Otherwise the speed of a loop would depend on
// what stands before it: AVX2's test of lines took 3 to 6 % more time where it was not aligned.
func align() {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U8(64)}})
}

// request emits a prefetch. avo says that it requires a feature, but every amd64 has it.
func request(m Mem) {
	i, err := x86.PREFETCHT0(m)
	if err != nil {
		panic(err)
	}
	i.ISA = nil
	Instruction(i)
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
