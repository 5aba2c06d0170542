package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
