package main

import (
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"

	"github.com/lanebloom/bloom/asm/arm64"
)

// compile is avo's pass.Compile with two passes more, chooseIndices and arm64.AvoidSplit.
var compile = pass.Concat(
	pass.Verify,
	pass.FunctionPass(pass.PruneJumpToFollowingLabel),
	pass.FunctionPass(pass.PruneDanglingLabels),
	pass.FunctionPass(pass.LabelTarget),
	pass.FunctionPass(pass.CFG),
	pass.InstructionPass(pass.ZeroExtend32BitOutputs),
	pass.FunctionPass(pass.Liveness),
	pass.FunctionPass(chooseIndices),
	pass.FunctionPass(pass.AllocateRegisters),
	pass.FunctionPass(pass.BindRegisters),
	pass.FunctionPass(pass.VerifyAllocation),
	pass.FunctionPass(pass.EnsureBasePointerCalleeSaved),
	pass.FunctionPass(arm64.AvoidSplit),
	pass.Func(pass.IncludeTextFlagHeader),
	pass.FunctionPass(pass.PruneSelfMoves),
	pass.FunctionPass(pass.RequiredISAExtensions),
)

// chooseIndices keeps the index of every gather out of the registers with which
// emulators fail: qemu 7.2 takes number 4 for no index, and Bochs 2.7 raises an
// invalid opcode from number 16 on.
//
// It says that those registers are in use after each instruction that writes an
// index, so the allocator gives the index another one. This costs no instruction.
func chooseIndices(fn *ir.Function) error {
	indices := map[reg.ID]bool{}
	for _, i := range fn.Instructions() {
		if index := gatherIndex(i); index != nil {
			indices[index.ID()] = true
		}
	}
	for _, i := range fn.Instructions() {
		for _, r := range i.OutputRegisters() {
			if !indices[r.ID()] {
				continue
			}
			for _, p := range reg.Vector.Registers() {
				if !mayIndex(p) {
					i.LiveOut.AddRegister(p)
				}
			}
		}
	}
	return nil
}

// mayIndex reports whether emulators run gathers with the index in r.
func mayIndex(r reg.Physical) bool { return r.PhysicalIndex() < 16 && r.PhysicalIndex() != 4 }

// gatherIndex returns the register of indices if i is a gather, and else nil.
func gatherIndex(i *ir.Instruction) reg.Register {
	if !strings.HasPrefix(i.Opcode, "VPGATHER") {
		return nil
	}
	for _, op := range i.Operands {
		if m, ok := op.(operand.Mem); ok {
			return m.Index
		}
	}
	return nil
}
