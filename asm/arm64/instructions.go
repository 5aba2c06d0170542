package arm64

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
)

// General registers.

// MOVD moves 64 bits: an [Imm], a [GP] or a [Mem] to a register.
func (f *Function) MOVD(from any, to GP) {
	switch from := from.(type) {
	case Source:
		f.emit("MOVD", list{to}, from.registers(), from.arg(), to.arg())
	case Mem:
		f.load("MOVD", from, to)
	default:
		f.file.fail("%s: MOVD of %T", f.name, from)
	}
}

// Address loads the address of data.
func (f *Function) Address(s Symbol, to GP) {
	f.emit("MOVD", list{to}, nil, constantArg("$"+s.name+"(SB)"), to.arg())
}

// MOVWU loads 32 bits, and MOVBU 8 bits, extended with zeros.
func (f *Function) MOVWU(from Mem, to GP) { f.load("MOVWU", from, to) }
func (f *Function) MOVBU(from Mem, to GP) { f.load("MOVBU", from, to) }

// PRFM requests the cache line of an address, to read it soon.
func (f *Function) PRFM(from Mem) {
	f.emit("PRFM", nil, from.read(), from.arg(), constantArg("PLDL1KEEP"))
}

// StoreD stores 64 bits and StoreB the low 8 bits: MOVD and MOVB.
func (f *Function) StoreD(from GP, to Mem) { f.store("MOVD", from, to) }
func (f *Function) StoreB(from GP, to Mem) { f.store("MOVB", from, to) }

// LDP loads two numbers of 64 bits that lie side by side into two registers. LDPW loads
// two numbers of 32 bits, extended with zeros.
func (f *Function) LDP(from Mem, a, b GP)  { f.loadPair("LDP", from, a, b) }
func (f *Function) LDPW(from Mem, a, b GP) { f.loadPair("LDPW", from, a, b) }

// STP stores two numbers of 64 bits side by side.
func (f *Function) STP(a, b GP, to Mem) {
	f.emit("STP"+to.suffix(), to.written(), append(to.read(), a, b), pair(a.arg(), b.arg()), to.arg())
}

func (f *Function) load(opcode string, from Mem, to GP) {
	f.emit(opcode+from.suffix(), append(from.written(), to), from.read(), from.arg(), to.arg())
}

func (f *Function) loadPair(opcode string, from Mem, a, b GP) {
	f.emit(opcode+from.suffix(), append(from.written(), a, b), from.read(), from.arg(), pair(a.arg(), b.arg()))
}

func (f *Function) store(opcode string, from GP, to Mem) {
	f.emit(opcode+to.suffix(), to.written(), append(to.read(), from), from.arg(), to.arg())
}

// arithmetic emits d = n ∘ m.
func (f *Function) arithmetic(opcode string, m Source, n, d GP) {
	f.emit(opcode, list{d}, append(m.registers(), n), m.arg(), n.arg(), d.arg())
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
func (f *Function) MADD(m, a, n, d GP) {
	f.emit("MADD", list{d}, list{m, a, n}, m.arg(), a.arg(), n.arg(), d.arg())
}

// NEG is d = -m.
func (f *Function) NEG(m, d GP) { f.emit("NEG", list{d}, list{m}, m.arg(), d.arg()) }

// CMP sets the flags of n - m.
func (f *Function) CMP(m Source, n GP) {
	f.emit("CMP", nil, append(m.registers(), n), m.arg(), n.arg())
}

// CSEL is d = m if the condition, such as "LT", holds, and else d = n.
func (f *Function) CSEL(condition string, m, n, d GP) {
	f.emit("CSEL", list{d}, list{m, n}, constantArg(condition), m.arg(), n.arg(), d.arg())
}

// UBFX takes width bits of n from bit low on.
func (f *Function) UBFX(low int, n GP, width int, d GP) {
	f.bits(low, width)
	f.emit("UBFX", list{d}, list{n}, Imm(low).arg(), n.arg(), Imm(width).arg(), d.arg())
}

// BFI replaces width bits of d, from bit low on, with the low bits of n.
func (f *Function) BFI(low int, n GP, width int, d GP) {
	f.bits(low, width)
	f.emit("BFI", list{d}, list{n, d}, Imm(low).arg(), n.arg(), Imm(width).arg(), d.arg())
}

func (f *Function) bits(low, width int) {
	if low < 0 || width < 1 || low+width > 64 {
		f.file.fail("%s: %d bits from bit %d", f.name, width, low)
	}
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
func (f *Function) CBZ(r GP, label string) { f.branch("CBZ", label, true, r) }

func (f *Function) branch(opcode, label string, conditional bool, read ...GP) {
	var registers list
	var args []arg
	for _, r := range read {
		registers, args = append(registers, r), append(args, r.arg())
	}
	i := f.emit(opcode, nil, registers, append(args, constantArg(label))...)
	i.IsBranch, i.IsConditional = true, conditional
	i.Operands = []operand.Op{operand.LabelRef(label)} // avo looks for the label here
}

// RET returns.
func (f *Function) RET() { f.emit("RET", nil, nil).IsTerminal = true }

// Vector registers.

// FLDPQ loads two whole vectors, and FSTPQ stores two. FMOVQ loads one, and StoreQ stores
// one.
func (f *Function) FLDPQ(from Mem, a, b V) {
	f.emit("FLDPQ"+from.suffix(), append(from.written(), a, b), from.read(), from.arg(), pair(a.scalar(), b.scalar()))
}

func (f *Function) FSTPQ(a, b V, to Mem) {
	f.emit("FSTPQ"+to.suffix(), to.written(), append(to.read(), a, b), pair(a.scalar(), b.scalar()), to.arg())
}

func (f *Function) FMOVQ(from Mem, to V) {
	f.emit("FMOVQ"+from.suffix(), append(from.written(), to), from.read(), from.arg(), to.scalar())
}

func (f *Function) StoreQ(from V, to Mem) { f.storeScalar("FMOVQ", from, to) }

// StoreLow stores lane 0 of long words.
func (f *Function) StoreLow(from V, to Mem) { f.storeScalar("FMOVD", from, to) }

func (f *Function) storeScalar(opcode string, from V, to Mem) {
	f.emit(opcode+to.suffix(), to.written(), append(to.read(), from), from.scalar(), to.arg())
}

// LoadLane loads lane i of words ('S') or long words ('D'): VLD1 of one register.
func (f *Function) LoadLane(from Mem, size byte, i int, to V) {
	f.emit("VLD1"+from.suffix(), append(from.written(), to), append(from.read(), to), from.arg(), to.lane(size, i))
}

// LoadLow loads a long word into lane 0 and clears lane 1: VLD1 of half a register.
func (f *Function) LoadLow(from Mem, to V) {
	f.emit("VLD1"+from.suffix(), append(from.written(), to), from.read(), from.arg(),
		arg{format: "[V%d.B8]", registers: list{to}})
}

// FMOVD moves 64 bits into the low half of a vector and clears the high half.
func (f *Function) FMOVD(from GP, to V) {
	f.emit("FMOVD", list{to}, list{from}, from.arg(), to.scalar())
}

// ToLane moves a general register to a lane. FromLane moves a lane to a general register.
// Both are VMOV.
func (f *Function) ToLane(from GP, size byte, i int, to V) {
	f.emit("VMOV", list{to}, list{from, to}, from.arg(), to.lane(size, i))
}

func (f *Function) FromLane(size byte, i int, from V, to GP) {
	f.emit("VMOV", list{to}, list{from}, from.lane(size, i), to.arg())
}

// VMOVLane moves lane j of n to lane i of d.
func (f *Function) VMOVLane(size byte, j int, n V, i int, d V) {
	f.emit("VMOV", list{d}, list{n, d}, n.lane(size, j), d.lane(size, i))
}

// VMOV copies a whole vector.
func (f *Function) VMOV(n, d V) { f.two("VMOV", B16, n, d) }

// VMOVI sets each byte to b.
func (f *Function) VMOVI(b uint8, d V) {
	f.emit("VMOVI", list{d}, nil, Imm(b).arg(), d.as(B16))
}

// VDUP copies the low bits of a general register to each lane.
func (f *Function) VDUP(from GP, t Arrangement, d V) {
	f.emit("VDUP", list{d}, list{from}, from.arg(), d.as(t))
}

func (f *Function) two(opcode string, t Arrangement, n, d V) {
	f.emit(opcode, list{d}, list{n}, n.as(t), d.as(t))
}

func (f *Function) three(opcode string, t Arrangement, m, n, d V) {
	f.emit(opcode, list{d}, list{m, n}, m.as(t), n.as(t), d.as(t))
}

// change is three for instructions that read their destination as well.
func (f *Function) change(opcode string, t Arrangement, m, n, d V) {
	f.emit(opcode, list{d}, list{m, n, d}, m.as(t), n.as(t), d.as(t))
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
func (f *Function) VBIT(m, n, d V) { f.change("VBIT", B16, m, n, d) }

// VCNT counts the set bits of each byte.
func (f *Function) VCNT(n, d V) { f.two("VCNT", B16, n, d) }

// VTBL looks up bytes of n by the indices in m. VTBLs looks up bytes of up to four physical registers with consecutive
// numbers.
func (f *Function) VTBL(m, n, d V) { f.VTBLs(m, []V{n}, d) }

func (f *Function) VTBLs(m V, table []V, d V) {
	t, separator := arg{format: "["}, ""
	first, _ := table[0].Register.(physical)
	for i, v := range table {
		if r, ok := v.Register.(physical); len(table) > 1 && (!ok || r.number != first.number+i) {
			f.file.fail("%s: the registers of a table are not consecutive", f.name)
			return
		}
		t.format, t.registers, separator = t.format+separator+"V%d.B16", append(t.registers, v), ", "
	}
	t.format += "]"
	f.emit("VTBL", list{d}, append(list{m}, t.registers...), m.as(B16), t, d.as(B16))
}

// VSHL shifts each lane left by 0 to size-1 bits. VUSHR shifts right by 1 to size bits.
func (f *Function) VSHL(by int, t Arrangement, n, d V)  { f.shift("VSHL", by, 0, t, n, d, false) }
func (f *Function) VUSHR(by int, t Arrangement, n, d V) { f.shift("VUSHR", by, 1, t, n, d, false) }

// VSLI and VSRI shift n into d, and keep the bits of d into which no bit is shifted.
func (f *Function) VSLI(by int, t Arrangement, n, d V) { f.shift("VSLI", by, 0, t, n, d, true) }
func (f *Function) VSRI(by int, t Arrangement, n, d V) { f.shift("VSRI", by, 1, t, n, d, true) }

func (f *Function) shift(opcode string, by, least int, t Arrangement, n, d V, changes bool) {
	size := map[Arrangement]int{B16: 8, B8: 8, H8: 16, S4: 32, D2: 64}[t]
	if by < least || by >= size+least {
		f.file.fail("%s: %s of %s by %d", f.name, opcode, t, by)
	}
	read := list{n}
	if changes {
		read = append(read, d)
	}
	f.emit(opcode, list{d}, read, Imm(by).arg(), n.as(t), d.as(t))
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

func (f *Function) VUMINP(t Arrangement, m, n, d V)  { f.word("VUMINP", 0x6e20ac00, B16, t, d, m, n) }
func (f *Function) VUMULL(t Arrangement, m, n, d V)  { f.word("VUMULL", 0x2ea0c000, D2, t, d, m, n) }
func (f *Function) VUMULL2(t Arrangement, m, n, d V) { f.word("VUMULL2", 0x6ea0c000, D2, t, d, m, n) }

func (f *Function) VMULLane(t Arrangement, i int, m, n, d V) {
	f.lane("VMUL", map[Arrangement]uint32{S4: 0x4f808000, H8: 0x4f408000}[t], t, i, d, m, n)
}

func (f *Function) VMLALane(t Arrangement, i int, m, n, d V) {
	f.lane("VMLA", map[Arrangement]uint32{H8: 0x6f400000}[t], t, i, d, m, n, d)
}

// lane emits an instruction whose operand m is lane i of a vector. A vector of halfwords must
// be one of the first 16 registers.
func (f *Function) lane(name string, base uint32, t Arrangement, i int, d V, sources ...V) {
	switch m, _ := sources[0].Register.(physical); {
	case t == S4 && base != 0 && i >= 0 && i < 4:
		base |= uint32(i%2<<21 | i/2<<11)
	case t == H8 && i >= 0 && i < 8 && m.kind == kindV && m.number < 16:
		base |= uint32(i%2<<20 | i/2%2<<21 | i/4<<11)
	default:
		f.file.fail("%s: %s by lane %d of %s in %T", f.name, name, i, t, sources[0].Register)
	}
	f.word(fmt.Sprintf("%s[%d]", name, i), base, t, t, d, sources...)
}

// VUQXTN narrows two long words to the low two words of d, and clears the others. A number that
// is too large becomes the largest word. VUQXTN2 sets the high two words, and keeps the low ones.
func (f *Function) VUQXTN(n, d V)  { f.encode("VUQXTN", 0x2ea14800, S4, d, []V{n}, false) }
func (f *Function) VUQXTN2(n, d V) { f.encode("VUQXTN2", 0x6ea14800, S4, d, []V{n}, true) }

// VSHRN shifts halfwords right by 1 to 8 bits and puts their low bytes into the low half of d.
// VSHRN2 puts them into the high half, and keeps the low one.
func (f *Function) VSHRN(by int, n, d V)  { f.narrow("VSHRN", 0x0f008400, by, B8, n, d, false) }
func (f *Function) VSHRN2(by int, n, d V) { f.narrow("VSHRN2", 0x4f008400, by, B16, n, d, true) }

func (f *Function) narrow(name string, base uint32, by int, t Arrangement, n, d V, changes bool) {
	if by < 1 || by > 8 {
		f.file.fail("%s: %s by %d", f.name, name, by)
	}
	f.encode(fmt.Sprintf("%s $%d,", name, by), base|uint32(16-by)<<16, t, d, []V{n}, changes)
}

func (f *Function) VCMHI(t Arrangement, m, n, d V) {
	f.words("VCMHI", map[Arrangement]uint32{S4: 0x6ea03400, D2: 0x6ee03400}, t, d, m, n)
}

func (f *Function) VUSHL(t Arrangement, m, n, d V) {
	f.words("VUSHL", map[Arrangement]uint32{B16: 0x6e204400, S4: 0x6ea04400, D2: 0x6ee04400}, t, d, m, n)
}

// words is word for an instruction with several arrangements.
func (f *Function) words(name string, bases map[Arrangement]uint32, t Arrangement, d, m, n V) {
	if bases[t] == 0 {
		f.file.fail("%s: %s of %s", f.name, name, t)
	}
	f.word(name, bases[t], t, t, d, m, n)
}

// VUMAXV and VUMINV put the greatest and the smallest lane into lane 0.
func (f *Function) VUMAXV(t Arrangement, n, d V) { f.word("VUMAXV", 0x6eb0a800, S4, t, d, n) }
func (f *Function) VUMINV(t Arrangement, n, d V) { f.word("VUMINV", 0x6eb1a800, S4, t, d, n) }

// word emits an instruction from its base word, which encodes one arrangement. The word
// has d in bits 0 to 4, the last source in bits 5 to 9, and the first of two sources in
// bits 16 to 20. A third source is d.
func (f *Function) word(name string, base uint32, only, t Arrangement, d V, sources ...V) {
	if t != only {
		f.file.fail("%s: %s of %s, not %s", f.name, name, t, only)
	}
	f.encode(name, base, t, d, sources[:min(2, len(sources))], len(sources) > 2)
}

// encode is word for up to two sources. If it changes d, it reads d as well.
func (f *Function) encode(name string, base uint32, t Arrangement, d V, sources []V, changes bool) {
	named := list{}
	for _, s := range append(slices.Clone(sources), d) {
		named = append(named, s)
	}
	read := named[:len(sources)]
	if changes {
		read = named
	}
	f.emit("WORD", list{d}, read, arg{registers: named, word: func(numbers []any) string {
		word, names := base, make([]string, len(named))
		for i, place := range []int{16, 5, 0}[3-len(named):] {
			word |= uint32(numbers[i].(int)) << place
			names[i] = fmt.Sprintf("V%d.%s", numbers[i], t)
		}
		return fmt.Sprintf("$0x%08x // %s %s", word, name, strings.Join(names, ", "))
	}})
}
