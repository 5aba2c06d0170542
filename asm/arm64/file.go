// Package arm64 emits arm64 assembly for Go through avo, which knows only the
// instructions of amd64. From avo it uses the build context for signatures, arguments and
// labels, the control flow, the liveness, the register allocator, and the printer. It adds
// the registers, operands and instructions of arm64.
//
// A program builds a [File] of functions, and writes the text that [File.Compile] returns:
//
//	file := arm64.NewFile("!purego")
//	f := file.Function("sum", arm64.NoSplit, "func(words *uint64, n int) uint64")
//	words, n, sum, word := f.Argument("words"), f.Argument("n"), f.GP(), f.GP()
//	f.MOVD(arm64.Imm(0), sum)
//	f.Label("word")
//	f.MOVD(words.Post(8), word)
//	f.ADD(word, sum, sum)
//	f.SUBS(arm64.Imm(1), n, n)
//	f.BNE("word")
//	f.Result("ret", sum)
//	f.RET()
//
// Methods have the names of the Go assembler's instructions, and its order of operands.
// The destination is last. The second source is before the first: VSUB m, n, d is
// d = n - m. If the Go assembler lacks an instruction, the method follows its naming and
// emits the instruction's word.
//
// Registers are virtual until Compile. Compile gives each of them a register from R0 to
// R26 without R18, or from V0 to V31. It fails if these are too few: it spills nothing. It
// also fails if code may read a register before writing it. It does not track flags: an
// instruction that sets flags must stand next to those that read them.
package arm64

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// Attributes of functions.
const (
	Splits  = attr.Attribute(0)
	NoSplit = attr.NOSPLIT
)

// File is a file of assembly under construction. [File.Compile] returns its errors.
type File struct {
	context  *build.Context
	operands map[*ir.Instruction][]arg
	errs     []error

	functions []*ir.Function
}

// NewFile returns an empty file with the given build constraint.
func NewFile(constraint string) *File {
	f := &File{context: build.NewContext(), operands: map[*ir.Instruction][]arg{}}
	f.context.ConstraintExpr(constraint)
	return f
}

// Symbol is data of a file.
type Symbol struct{ name string }

// Bytes declares read-only data. Its length must be a multiple of 8.
func (f *File) Bytes(name string, data []byte) Symbol {
	f.context.StaticGlobal(name)
	f.context.DataAttributes(attr.RODATA | attr.NOPTR)
	if len(data)%8 != 0 {
		f.fail("%s: %d bytes of data are no multiple of 8", name, len(data))
	}
	for ; len(data) >= 8; data = data[8:] {
		f.context.AppendDatum(operand.U64(binary.LittleEndian.Uint64(data)))
	}
	return Symbol{name + "<>"}
}

// Function begins a new function, which ends the function before. Its signature may have
// only integers and pointers.
func (f *File) Function(name string, a attr.Attribute, signature string) *Function {
	f.context.Function(name)
	f.context.Attributes(a)
	f.context.SignatureExpr(signature)
	return &Function{file: f, name: name}
}

func (f *File) fail(format string, a ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, a...))
}

// Functions returns the functions of a file that Compile has compiled.
func (f *File) Functions() []*ir.Function { return f.functions }

// Compile allocates registers and returns the text of the file. The error joins all
// errors of the methods before.
func (f *File) Compile(config printer.Config) ([]byte, error) {
	file, err := f.context.Result()
	if err := errors.Join(append(f.errs, err)...); err != nil {
		return nil, err
	}
	f.functions = file.Functions()
	for _, fn := range f.functions {
		if err := f.compile(fn); err != nil {
			return nil, fmt.Errorf("%s: %w", fn.Name, err)
		}
	}
	if err := pass.IncludeTextFlagHeader(file); err != nil {
		return nil, err
	}
	return printer.NewGoAsm(config).Print(file)
}

// AvoidSplit is a pass, for any architecture, by which a function with a small frame does not ask for more stack: it calls
// nothing.
func AvoidSplit(fn *ir.Function) error {
	if fn.LocalSize <= 128 {
		fn.Attributes |= NoSplit
	}
	return nil
}

func (f *File) compile(fn *ir.Function) error {
	instructions := fn.Instructions()
	if n := len(instructions); n == 0 || !instructions[n-1].IsTerminal && !instructions[n-1].IsUnconditionalBranch() {
		return errors.New("the end is reached without RET")
	}
	for _, step := range []func(*ir.Function) error{pass.LabelTarget, pass.CFG, pass.Liveness} {
		if err := step(fn); err != nil {
			return err
		}
	}
	if unset := len(instructions[0].LiveIn); unset > 0 {
		return fmt.Errorf("%d registers may be read before they are written: the first by %s", unset, firstReader(instructions))
	}
	if err := allocate(fn); err != nil {
		return err
	}
	for _, i := range instructions {
		i.Operands = nil
		for _, a := range f.operands[i] {
			i.Operands = append(i.Operands, text(a.render(fn.Allocation)))
		}
	}
	fn.ISA = []string{"ASIMD"}
	return AvoidSplit(fn)
}

// firstReader describes the first instruction that reads a register which is live at the
// start.
func firstReader(instructions []*ir.Instruction) string {
	for n, i := range instructions {
		for _, r := range i.InputRegisters() {
			if instructions[0].LiveIn[r.ID()] != 0 {
				return fmt.Sprintf("instruction %d, %s", n, i.Opcode)
			}
		}
	}
	return "none"
}

// Function is a function under construction.
type Function struct {
	file *File
	name string
}

// Comment adds lines of comment.
func (f *Function) Comment(lines ...string) { f.file.context.Comment(lines...) }

// Label names the next instruction.
func (f *Function) Label(name string) { f.file.context.Label(name) }

// Argument loads an argument into a new register. It extends the argument to 64 bits, with
// its sign if its type is signed.
func (f *Function) Argument(name string) GP {
	r := f.GP()
	mem, opcode := f.component(f.file.context.Param(name), name, loads)
	f.emit(opcode, mem, writes(r.arg()))
	return r
}

// Result stores a result.
func (f *Function) Result(name string, r GP) {
	mem, opcode := f.component(f.file.context.Return(name), name, stores)
	f.emit(opcode, r.arg(), mem)
}

// loads and stores have the opcodes by the number of bytes to move. Loads that extend the
// sign have 100 added to that number.
var (
	loads  = map[int64]string{1: "MOVBU", 2: "MOVHU", 4: "MOVWU", 8: "MOVD", 101: "MOVB", 102: "MOVH", 104: "MOVW", 108: "MOVD"}
	stores = map[int64]string{1: "MOVB", 2: "MOVH", 4: "MOVW", 8: "MOVD", 101: "MOVB", 102: "MOVH", 104: "MOVW", 108: "MOVD"}
)

func (f *Function) component(c gotypes.Component, name string, opcodes map[int64]string) (arg, string) {
	basic, err := c.Resolve()
	if err != nil {
		f.file.fail("%s: %s: %v", f.name, name, err)
		return arg{}, ""
	}
	size := gotypes.Sizes.Sizeof(basic.Type)
	if signed(basic.Type) {
		size += 100
	}
	return constantArg(basic.Addr.Asm()), opcodes[size]
}

// Local reserves bytes of stack and returns their address, a multiple of 16, in a
// new register.
func (f *Function) Local(size int) GP {
	const saved = 8 // the return address lies below the locals
	offset := saved + f.file.context.AllocLocal((size+15+7)&^7).Disp
	r := f.GP()
	f.emit("ADD", Imm(offset+15).arg(), constantArg("RSP"), writes(r.arg()))
	f.AND(Imm(-16), r, r)
	return r
}

// emit appends an instruction.
func (f *Function) emit(opcode string, args ...arg) *ir.Instruction {
	i := &ir.Instruction{Opcode: opcode}
	for _, a := range args {
		for _, r := range a.read {
			i.Inputs = append(i.Inputs, r)
		}
		for _, r := range a.written {
			i.Outputs = append(i.Outputs, r)
		}
	}
	f.file.operands[i] = args
	f.file.context.Instruction(i)
	return i
}
