package arm64

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// General registers.

// MOVD moves 64 bits: an [Imm], a [GP] or a [Mem] to a register.
func (f *Function) MOVD(from any, d GP) {
	switch from := from.(type) {
	case Source:
		f.emit("MOVD", from.arg(), writes(d.arg()))
	case Mem:
		f.load("MOVD", from, d.arg())
	default:
		f.file.fail("%s: MOVD of %T", f.name, from)
	}
}

// Address loads the address of data.
func (f *Function) Address(s Symbol, d GP) {
	f.emit("MOVD", constantArg("$"+s.name+"(SB)"), writes(d.arg()))
}

// MOVWU loads 32 bits, and MOVBU 8 bits, extended with zeros.
func (f *Function) MOVWU(from Mem, to GP) { f.load("MOVWU", from, to.arg()) }
func (f *Function) MOVBU(from Mem, to GP) { f.load("MOVBU", from, to.arg()) }

// PRFM requests the cache line of an address, to read it soon.
func (f *Function) PRFM(from Mem) { f.emit("PRFM", from.place(), constantArg("PLDL1KEEP")) }

// StoreD stores 64 bits and StoreB the low 8 bits: MOVD and MOVB.
func (f *Function) StoreD(from GP, to Mem) { f.store("MOVD", from.arg(), to) }
func (f *Function) StoreB(from GP, to Mem) { f.store("MOVB", from.arg(), to) }

// LDP loads two numbers of 64 bits that lie side by side into two registers. LDPW loads
// two numbers of 32 bits, extended with zeros.
func (f *Function) LDP(from Mem, a, b GP)  { f.load("LDP", from, pair(a.arg(), b.arg())) }
func (f *Function) LDPW(from Mem, a, b GP) { f.load("LDPW", from, pair(a.arg(), b.arg())) }

// STP stores two numbers of 64 bits side by side.
func (f *Function) STP(a, b GP, to Mem) { f.store("STP", pair(a.arg(), b.arg()), to) }

// load emits a load of one register or of a pair, and store a store.

func (f *Function) load(opcode string, from Mem, d arg) {
	f.emit(opcode+from.suffix(), from.place(), writes(d))
}

func (f *Function) store(opcode string, from arg, to Mem) {
	f.emit(opcode+to.suffix(), from, to.place())
}

// arithmetic emits d = n ∘ m.
func (f *Function) arithmetic(opcode string, m Source, n, d GP) {
	f.emit(opcode, m.arg(), n.arg(), writes(d.arg()))
}

// These emit d = n ∘ m.
func (f *Function) ADD(m Source, n, d GP) { f.arithmetic("ADD", m, n, d) }
func (f *Function) SUB(m Source, n, d GP) { f.arithmetic("SUB", m, n, d) }
func (f *Function) AND(m Source, n, d GP) { f.arithmetic("AND", m, n, d) }
func (f *Function) ORR(m Source, n, d GP) { f.arithmetic("ORR", m, n, d) }
func (f *Function) EOR(m Source, n, d GP) { f.arithmetic("EOR", m, n, d) }
func (f *Function) LSL(m Source, n, d GP) { f.arithmetic("LSL", m, n, d) }
func (f *Function) LSR(m Source, n, d GP) { f.arithmetic("LSR", m, n, d) }
func (f *Function) MUL(m, n, d GP)        { f.arithmetic("MUL", m, n, d) }

// ADDS and SUBS set the flags as well.
func (f *Function) ADDS(m Source, n, d GP) { f.arithmetic("ADDS", m, n, d) }
func (f *Function) SUBS(m Source, n, d GP) { f.arithmetic("SUBS", m, n, d) }

// ROR rotates n right by 0 to 63 bits.
func (f *Function) ROR(by int, n, d GP) { f.arithmetic("ROR", Imm(by), n, d) }

// MADD is d = a + n·m.
func (f *Function) MADD(m, a, n, d GP) { f.emit("MADD", m.arg(), a.arg(), n.arg(), writes(d.arg())) }

// NEG is d = -m.
func (f *Function) NEG(m, d GP) { f.emit("NEG", m.arg(), writes(d.arg())) }

// CMP sets the flags of n - m.
func (f *Function) CMP(m Source, n GP) { f.emit("CMP", m.arg(), n.arg()) }

// CSEL is d = m if the condition, such as "LT", holds, and else d = n.
func (f *Function) CSEL(condition string, m, n, d GP) {
	f.emit("CSEL", constantArg(condition), m.arg(), n.arg(), writes(d.arg()))
}

// UBFX takes width bits of n from bit low on. BFI replaces those of d with the low bits of n.
func (f *Function) UBFX(low int, n GP, width int, d GP) { f.bits("UBFX", low, n, width, d, writes) }
func (f *Function) BFI(low int, n GP, width int, d GP)  { f.bits("BFI", low, n, width, d, changes) }

func (f *Function) bits(opcode string, low int, n GP, width int, d GP, access func(arg) arg) {
	if low < 0 || width < 1 || low+width > 64 {
		f.file.fail("%s: %d bits from bit %d", f.name, width, low)
	}
	f.emit(opcode, Imm(low).arg(), n.arg(), Imm(width).arg(), access(d.arg()))
}

// B jumps always. The other branches jump on a condition: equal, not equal; less, greater,
// greater or equal for signed numbers; lower, higher or same for unsigned numbers.
func (f *Function) B(label string)   { f.branch("B", label, false) }
func (f *Function) BEQ(label string) { f.branch("BEQ", label, true) }
func (f *Function) BNE(label string) { f.branch("BNE", label, true) }
func (f *Function) BLT(label string) { f.branch("BLT", label, true) }
func (f *Function) BGT(label string) { f.branch("BGT", label, true) }
func (f *Function) BGE(label string) { f.branch("BGE", label, true) }
func (f *Function) BLO(label string) { f.branch("BLO", label, true) }
func (f *Function) BHS(label string) { f.branch("BHS", label, true) }

// CBZ branches if r is 0.
func (f *Function) CBZ(r GP, label string) { f.branch("CBZ", label, true, r.arg()) }

func (f *Function) branch(opcode, label string, conditional bool, read ...arg) {
	i := f.emit(opcode, append(read, constantArg(label))...)
	i.IsBranch, i.IsConditional = true, conditional
	i.Operands = []operand.Op{operand.LabelRef(label)} // avo looks for the label here
}

// RET returns.
func (f *Function) RET() { f.emit("RET").IsTerminal = true }

// Vector registers.

// FLDPQ loads two whole vectors, and FSTPQ stores two. FMOVQ loads one, and StoreQ stores
// one.
func (f *Function) FLDPQ(from Mem, a, b V) { f.load("FLDPQ", from, pair(a.scalar(), b.scalar())) }
func (f *Function) FSTPQ(a, b V, to Mem)   { f.store("FSTPQ", pair(a.scalar(), b.scalar()), to) }
func (f *Function) FMOVQ(from Mem, to V)   { f.load("FMOVQ", from, to.scalar()) }
func (f *Function) StoreQ(from V, to Mem)  { f.store("FMOVQ", from.scalar(), to) }

// StoreLow stores lane 0 of long words.
func (f *Function) StoreLow(from V, to Mem) { f.store("FMOVD", from.scalar(), to) }

// LoadLow loads a long word into lane 0 and clears lane 1, and LoadHigh loads one into lane 1: VLD1 of half a register
// and of a lane.
func (f *Function) LoadLow(m Mem, d V) {
	f.load("VLD1", m, reads("[V%d.B8]", d))
}

func (f *Function) LoadHigh(m Mem, d V) {
	f.emit("VLD1"+m.suffix(), m.place(), changes(d.lane('D', 1)))
}

// FMOVD moves 64 bits into the low half of a vector and clears the high half.
func (f *Function) FMOVD(from GP, d V) { f.emit("FMOVD", from.arg(), writes(d.scalar())) }

// ToLane moves a general register to a lane, FromLane moves a lane to a general register, and VMOVLane moves lane j of
// n to lane i of d. All are VMOV.
func (f *Function) ToLane(from GP, size byte, i int, d V) {
	f.emit("VMOV", from.arg(), changes(d.lane(size, i)))
}

func (f *Function) FromLane(size byte, i int, from V, d GP) {
	f.emit("VMOV", from.lane(size, i), writes(d.arg()))
}

func (f *Function) VMOVLane(size byte, j int, n V, i int, d V) {
	f.emit("VMOV", n.lane(size, j), changes(d.lane(size, i)))
}

// VMOV copies a whole vector. VCNT counts the set bits of each byte.
func (f *Function) VMOV(n, d V) { f.emit("VMOV", n.as(B16), writes(d.as(B16))) }
func (f *Function) VCNT(n, d V) { f.emit("VCNT", n.as(B16), writes(d.as(B16))) }

// VMOVI sets each byte to b. VDUP copies the low bits of a general register to each lane.
func (f *Function) VMOVI(b uint8, d V)               { f.emit("VMOVI", Imm(b).arg(), writes(d.as(B16))) }
func (f *Function) VDUP(from GP, t Arrangement, d V) { f.emit("VDUP", from.arg(), writes(d.as(t))) }

func (f *Function) three(opcode string, t Arrangement, m, n, d V) {
	f.emit(opcode, m.as(t), n.as(t), writes(d.as(t)))
}

// These emit d = n ∘ m, lane by lane. VUZP1 takes the even lanes of n and then of m, and
// VUZP2 the odd lanes. VZIP1 and VZIP2 interleave the low and the high halves. VADDP adds
// neighbours.
func (f *Function) VADD(t Arrangement, m, n, d V)   { f.three("VADD", t, m, n, d) }
func (f *Function) VSUB(t Arrangement, m, n, d V)   { f.three("VSUB", t, m, n, d) }
func (f *Function) VAND(m, n, d V)                  { f.three("VAND", B16, m, n, d) }
func (f *Function) VORR(m, n, d V)                  { f.three("VORR", B16, m, n, d) }
func (f *Function) VEOR(m, n, d V)                  { f.three("VEOR", B16, m, n, d) }
func (f *Function) VUZP1(t Arrangement, m, n, d V)  { f.three("VUZP1", t, m, n, d) }
func (f *Function) VUZP2(t Arrangement, m, n, d V)  { f.three("VUZP2", t, m, n, d) }
func (f *Function) VZIP1(t Arrangement, m, n, d V)  { f.three("VZIP1", t, m, n, d) }
func (f *Function) VZIP2(t Arrangement, m, n, d V)  { f.three("VZIP2", t, m, n, d) }
func (f *Function) VADDP(t Arrangement, m, n, d V)  { f.three("VADDP", t, m, n, d) }
func (f *Function) VUMAX(t Arrangement, m, n, d V)  { f.three("VUMAX", t, m, n, d) }
func (f *Function) VUMIN(t Arrangement, m, n, d V)  { f.three("VUMIN", t, m, n, d) }
func (f *Function) VCMTST(t Arrangement, m, n, d V) { f.three("VCMTST", t, m, n, d) }

// VBIT copies the bits of n to d where the bits of m are set.
func (f *Function) VBIT(m, n, d V) { f.emit("VBIT", m.as(B16), n.as(B16), changes(d.as(B16))) }

// VTBL looks up bytes of n by the indices in m. VTBLs looks up bytes of up to four physical registers with consecutive
// numbers.
func (f *Function) VTBL(m, n, d V) { f.VTBLs(m, []V{n}, d) }

func (f *Function) VTBLs(m V, table []V, d V) {
	var registers []reg.Register
	first, _ := table[0].Register.(physical)
	for i, v := range table {
		if r, ok := v.Register.(physical); len(table) > 1 && (!ok || r.number != first.number+i) {
			f.file.fail("%s: the registers of a table are not consecutive", f.name)
			return
		}
		registers = append(registers, v)
	}
	format := "[V%d.B16" + strings.Repeat(", V%d.B16", len(table)-1) + "]"
	f.emit("VTBL", m.as(B16), reads(format, registers...), writes(d.as(B16)))
}

// VSHL shifts each lane left by 0 to size-1 bits. VUSHR shifts right by 1 to size bits. VSLI and VSRI shift n into d, and
// keep the bits of d into which no bit is shifted.
func (f *Function) VSHL(by int, t Arrangement, n, d V)  { f.shift("VSHL", by, 0, t, n, d, writes) }
func (f *Function) VUSHR(by int, t Arrangement, n, d V) { f.shift("VUSHR", by, 1, t, n, d, writes) }
func (f *Function) VSLI(by int, t Arrangement, n, d V)  { f.shift("VSLI", by, 0, t, n, d, changes) }
func (f *Function) VSRI(by int, t Arrangement, n, d V)  { f.shift("VSRI", by, 1, t, n, d, changes) }

func (f *Function) shift(opcode string, by, least int, t Arrangement, n, d V, access func(arg) arg) {
	size := map[Arrangement]int{B16: 8, B8: 8, H8: 16, S4: 32, D2: 64}[t]
	if by < least || by >= size+least {
		f.file.fail("%s: %s of %s by %d", f.name, opcode, t, by)
	}
	f.emit(opcode, Imm(by).arg(), n.as(t), access(d.as(t)))
}

// Instructions that the Go assembler of 1.26 lacks. Each has its word with register 0 for
// all operands (Arm Architecture Reference Manual, C7).
//
// VMUL multiplies. VSQDMULH returns the upper half of twice the product of signed numbers.
// VMLA adds the product to d, and VMLS subtracts it. VUSHL shifts each lane of n left by
// the low byte of the lane of m, or right if that byte is negative. VCMHI sets the lanes
// where n > m as unsigned numbers, and VCMLT0 the lanes where n < 0. VBIC clears the bits
// of n that are set in m. VUMINP takes the smaller of neighbours. VUMULL and VUMULL2 multiply
// the words in the low and the high half of unsigned numbers to long words. VMULLane
// multiplies all lanes of n by lane i of m, and VMLALane adds the products to d.
func (f *Function) VMUL(t Arrangement, m, n, d V)     { f.word("VMUL", 0x4ea09c00, S4, t, d, m, n) }
func (f *Function) VSQDMULH(t Arrangement, m, n, d V) { f.word("VSQDMULH", 0x4ea0b400, S4, t, d, m, n) }
func (f *Function) VMLA(t Arrangement, m, n, d V)     { f.word("VMLA", 0x4ea09400, S4, t, d, m, n, d) }
func (f *Function) VMLS(t Arrangement, m, n, d V)     { f.word("VMLS", 0x6ea09400, S4, t, d, m, n, d) }
func (f *Function) VCMLT0(t Arrangement, n, d V)      { f.word("VCMLT0", 0x4e20a800, B16, t, d, n) }
func (f *Function) VBIC(m, n, d V)                    { f.word("VBIC", 0x4e601c00, B16, B16, d, m, n) }
func (f *Function) VUMINP(t Arrangement, m, n, d V)   { f.word("VUMINP", 0x6e20ac00, B16, t, d, m, n) }
func (f *Function) VUMULL(t Arrangement, m, n, d V)   { f.word("VUMULL", 0x2ea0c000, D2, t, d, m, n) }
func (f *Function) VUMULL2(t Arrangement, m, n, d V)  { f.word("VUMULL2", 0x6ea0c000, D2, t, d, m, n) }

func (f *Function) VCMHI(t Arrangement, m, n, d V) {
	f.word("VCMHI", words{S4: 0x6ea03400, D2: 0x6ee03400}[t], t, t, d, m, n)
}

func (f *Function) VUSHL(t Arrangement, m, n, d V) {
	f.word("VUSHL", words{B16: 0x6e204400, S4: 0x6ea04400, D2: 0x6ee04400}[t], t, t, d, m, n)
}

func (f *Function) VMULLane(t Arrangement, i int, m, n, d V) {
	f.lane("VMUL", words{S4: 0x4f808000, H8: 0x4f408000}[t], t, i, writes(d.as(t)), m, n)
}

func (f *Function) VMLALane(t Arrangement, i int, m, n, d V) {
	f.lane("VMLA", words{H8: 0x6f400000}[t], t, i, changes(d.as(t)), m, n)
}

// lane emits an instruction whose operand m is lane i of a vector. A vector of halfwords must
// be one of the first 16 registers.
func (f *Function) lane(name string, base uint32, t Arrangement, i int, d arg, m, n V) {
	switch p, _ := m.Register.(physical); {
	case t == S4 && base != 0 && i >= 0 && i < 4:
		base |= uint32(i%2<<21 | i/2<<11)
	case t == H8 && i >= 0 && i < 8 && p.kind == kindV && p.number < 16:
		base |= uint32(i%2<<20 | i/2%2<<21 | i/4<<11)
	default:
		f.file.fail("%s: %s by lane %d of %s in %T", f.name, name, i, t, m.Register)
	}
	f.encode(fmt.Sprintf("%s[%d]", name, i), base, t, d, m, n)
}

// VUQXTN narrows two long words to the low two words of d, and clears the others. A number that
// is too large becomes the largest word. VUQXTN2 sets the high two words, and keeps the low ones.
func (f *Function) VUQXTN(n, d V)  { f.encode("VUQXTN", 0x2ea14800, S4, writes(d.as(S4)), n) }
func (f *Function) VUQXTN2(n, d V) { f.encode("VUQXTN2", 0x6ea14800, S4, changes(d.as(S4)), n) }

// VSHRN shifts halfwords right by 1 to 8 bits and puts their low bytes into the low half of d.
// VSHRN2 puts them into the high half, and keeps the low one.
func (f *Function) VSHRN(by int, n, d V) { f.narrow("VSHRN", 0x0f008400, by, B8, n, writes(d.as(B8))) }
func (f *Function) VSHRN2(by int, n, d V) {
	f.narrow("VSHRN2", 0x4f008400, by, B16, n, changes(d.as(B16)))
}

func (f *Function) narrow(name string, base uint32, by int, t Arrangement, n V, d arg) {
	if by < 1 || by > 8 {
		f.file.fail("%s: %s by %d", f.name, name, by)
	}
	f.encode(fmt.Sprintf("%s $%d,", name, by), base|uint32(16-by)<<16, t, d, n)
}

// VUMAXV and VUMINV put the greatest and the smallest lane into lane 0.
func (f *Function) VUMAXV(t Arrangement, n, d V) { f.word("VUMAXV", 0x6eb0a800, S4, t, d, n) }
func (f *Function) VUMINV(t Arrangement, n, d V) { f.word("VUMINV", 0x6eb1a800, S4, t, d, n) }

// words are the base words of an instruction for several arrangements.
type words map[Arrangement]uint32

// word emits an instruction from its base word, which encodes one arrangement. An instruction that reads d, too, has it as
// the third source.
func (f *Function) word(name string, base uint32, only, t Arrangement, d V, sources ...V) {
	if t != only || base == 0 {
		f.file.fail("%s: %s of %s", f.name, name, t)
	}
	to := writes(d.as(t))
	if len(sources) > 2 {
		to = changes(d.as(t))
	}
	f.encode(name, base, t, to, sources[:min(2, len(sources))]...)
}

// encode emits an instruction from its base word. The word has d in bits 0 to 4, the last source in bits 5 to 9, and the
// first of two sources in bits 16 to 20.
func (f *Function) encode(name string, base uint32, t Arrangement, d arg, sources ...V) {
	a := arg{written: d.written}
	for _, s := range sources {
		a.registers = append(a.registers, s)
	}
	a.read = slices.Concat(a.registers, d.read)
	a.registers = append(a.registers, d.registers...)
	a.word = func(numbers []any) string {
		word, names := base, make([]string, len(numbers))
		for i, place := range []int{16, 5, 0}[3-len(numbers):] {
			word |= uint32(numbers[i].(int)) << place
			names[i] = fmt.Sprintf("V%d.%s", numbers[i], t)
		}
		return fmt.Sprintf("$0x%08x // %s %s", word, name, strings.Join(names, ", "))
	}
	f.emit("WORD", a)
}
