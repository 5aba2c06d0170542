package arm64

import (
	"fmt"
	"go/types"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// The kinds of registers have avo's numbers: avo's context counts registers by kind.
const (
	kindGP = reg.KindGP
	kindV  = reg.KindVector
)

// GP is a general register of 64 bits.
type GP struct{ reg.Register }

// V is a vector register of 128 bits.
type V struct{ reg.Register }

// GP returns a new general register.
func (f *Function) GP() GP { return GP{f.file.context.GP64()} }

// V returns a new vector register.
func (f *Function) V() V { return V{f.file.context.XMM()} }

// R returns the physical general register with the given number.
func R(n int) GP { return GP{physical{kind: kindGP, number: n}} }

// VN returns the physical vector register with the given number.
func VN(n int) V { return V{physical{kind: kindV, number: n}} }

// physical is a register of the machine. The embedded interface is nil. It has methods
// that avo does not export, and that avo calls only for amd64.
type physical struct {
	reg.Physical
	kind   reg.Kind
	number int
}

func (p physical) ID() reg.ID               { return reg.ID(p.kind)<<8 | reg.ID(p.number)<<16 }
func (p physical) Kind() reg.Kind           { return p.kind }
func (p physical) PhysicalIndex() reg.Index { return reg.Index(p.number) }
func (p physical) Info() reg.Info           { return reg.None }
func (p physical) Size() uint               { return p.spec().Size() }
func (p physical) Mask() uint16             { return p.spec().Mask() }
func (p physical) Asm() string              { return fmt.Sprintf("%d", p.number) }

// spec is the spec of virtual registers of the same kind.
func (p physical) spec() reg.Spec {
	if p.kind == kindV {
		return reg.S128
	}
	return reg.S64
}

// allocatable returns the registers that functions may change. It leaves out R18, which
// belongs to the system, R27, which the assembler uses, and the registers after R27,
// which the runtime uses.
func allocatable(kind reg.Kind) (registers []reg.Physical) {
	for n := range 32 {
		if kind == kindV || n < 27 && n != 18 {
			registers = append(registers, physical{kind: kind, number: n})
		}
	}
	return registers
}

// allocate is avo's AllocateRegisters for these registers.
func allocate(fn *ir.Function) error {
	fn.Allocation = reg.NewEmptyAllocation()
	for _, kind := range []reg.Kind{kindGP, kindV} {
		allocator, err := pass.NewAllocator(allocatable(kind))
		if err != nil {
			return err
		}
		for _, i := range fn.Instructions() {
			for _, r := range append(i.InputRegisters(), i.OutputRegisters()...) {
				if r.Kind() == kind {
					allocator.Add(r.ID())
				}
			}
			for n, r := range i.OutputRegisters() {
				if r.Kind() != kind {
					continue
				}
				others := i.LiveOut.OfKind(kind)
				for _, other := range i.OutputRegisters()[n+1:] {
					if other.Kind() == kind {
						others.AddRegister(other) // two outputs need two registers, even if no one reads them
					}
				}
				others.DiscardRegister(r)
				allocator.AddInterferenceSet(r, others)
			}
		}
		allocation, err := allocator.Allocate()
		if err != nil {
			return fmt.Errorf("%w: more than %d %s registers are live at once", err, len(allocatable(kind)), kindNames[kind])
		}
		if err := fn.Allocation.Merge(allocation); err != nil {
			return err
		}
	}
	return nil
}

var kindNames = map[reg.Kind]string{kindGP: "general", kindV: "vector"}

func signed(t *types.Basic) bool {
	return t.Info()&types.IsUnsigned == 0 && t.Info()&types.IsInteger != 0
}
