package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
