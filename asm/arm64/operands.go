package arm64

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/reg"
)

// arg is an operand. Its text is known when registers are allocated.
type arg struct {
	format        string // has a verb for the number of each register
	registers     []reg.Register
	read, written []reg.Register // those of them that the instruction reads, and that it writes
	// word, if it is not nil, replaces format.
	word func(numbers []any) string
}

// reads returns an operand that the instruction reads, writes makes it one that the instruction writes, and changes one
// that it reads and writes.

func reads(format string, registers ...reg.Register) arg {
	return arg{format: format, registers: registers, read: registers}
}

func writes(a arg) arg {
	a.read, a.written = nil, a.registers
	return a
}

func changes(a arg) arg {
	a.written = a.registers
	return a
}

func (a arg) render(allocation reg.Allocation) string {
	numbers := make([]any, len(a.registers))
	for i, r := range a.registers {
		numbers[i] = int(allocation.LookupDefault(r.ID()).Index())
	}
	if a.word != nil {
		return a.word(numbers)
	}
	return fmt.Sprintf(a.format, numbers...)
}

// text is a rendered operand.
type text string

func (t text) Asm() string { return string(t) }

func constantArg(s string) arg { return arg{word: func([]any) string { return s }} }

// Source is the first operand of arithmetic: an [Imm], a [GP], or a shifted GP.
type Source interface{ arg() arg }

// Imm is an immediate number.
type Imm int64

func (i Imm) arg() arg { return constantArg(fmt.Sprintf("$%d", int64(i))) }

func (r GP) arg() arg { return reads("R%d", r) }

type shifted struct {
	r      GP
	format string
}

func (s shifted) arg() arg { return reads(s.format, s.r) }

// LSL is the register shifted left by n bits, 0 to 63.
func (r GP) LSL(n int) Source { return shifted{r, fmt.Sprintf("R%%d<<%d", n)} }

// LSR is the register shifted right by n bits, 0 to 63.
func (r GP) LSR(n int) Source { return shifted{r, fmt.Sprintf("R%%d>>%d", n)} }

// ROR is the register rotated right by n bits, 0 to 63, an operand of AND, ORR and EOR.
func (r GP) ROR(n int) Source { return shifted{r, fmt.Sprintf("R%%d@>%d", n)} }

// UXTW is the low 32 bits of the register, extended with zeros, an operand of ADD and SUB.
func (r GP) UXTW() Source { return shifted{r, "R%d.UXTW"} }

// Mem is a memory operand.
type Mem struct {
	base, index reg.Register // index may be nil
	format      string
	step        int // if not 0, base moves after the access; by index, if that is not nil
}

// At is the memory offset bytes from the address in r.
func (r GP) At(offset int) Mem { return Mem{base: r, format: fmt.Sprintf("%d(R%%d)", offset)} }

// Index is the memory i bytes from the address in r.
func (r GP) Index(i GP) Mem { return Mem{base: r, index: i, format: "(R%d)(R%d)"} }

// IndexScaled is the memory i·2^shift bytes from the address in r. The instruction must
// move 2^shift bytes.
func (r GP) IndexScaled(i GP, shift int) Mem {
	return Mem{base: r, index: i, format: fmt.Sprintf("(R%%d)(R%%d<<%d)", shift)}
}

// Post is the memory at the address in r. After the access, r moves by step bytes.
func (r GP) Post(step int) Mem {
	return Mem{base: r, format: fmt.Sprintf("%d(R%%d)", step), step: step}
}

func (m Mem) place() arg {
	a := reads(m.format, m.base)
	if m.index != nil {
		a = reads(m.format, m.base, m.index)
	}
	if m.step != 0 {
		a.written = a.registers[:1]
	}
	return a
}

// suffix returns the suffix of the opcode for this access.
func (m Mem) suffix() string {
	if m.step != 0 {
		return ".P"
	}
	return ""
}

// PostBy is Post for a step in a register.
func (r GP) PostBy(step GP) Mem { return Mem{base: r, index: step, format: "(R%d)(R%d)", step: 1} }

// Arrangement is the division of a vector register into lanes.
type Arrangement string

// The arrangements: 16 or 8 bytes, 8 halves, 4 words of 32 bits, 2 of 64.
const (
	B16 Arrangement = "B16"
	B8  Arrangement = "B8"
	H8  Arrangement = "H8"
	S4  Arrangement = "S4"
	D2  Arrangement = "D2"
)

func (v V) as(t Arrangement) arg { return reads("V%d."+string(t), v) }

// scalar is the register's name in instructions that move all of it, or its low end.
func (v V) scalar() arg { return reads("F%d", v) }

// lane is lane i of words, 'S', or long words, 'D'.
func (v V) lane(size byte, i int) arg { return reads(fmt.Sprintf("V%%d.%c[%d]", size, i), v) }

func pair(a, b arg) arg {
	return reads("("+a.format+", "+b.format+")", slices.Concat(a.registers, b.registers)...)
}
