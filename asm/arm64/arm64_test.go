package arm64

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/printer"
)

// instructions has every instruction of the package, and its text from the GNU
// disassembler.
var instructions = []struct {
	gnu  string
	emit func(f *Function)
}{
	{"orr x1, xzr, #0x7", func(f *Function) { f.MOVD(Imm(7), R(1)) }},
	{"mov x1, x2", func(f *Function) { f.MOVD(R(2), R(1)) }},
	{"ldr x1, [x2,#8]", func(f *Function) { f.MOVD(R(2).At(8), R(1)) }},
	{"ldr x1, [x2],#16", func(f *Function) { f.MOVD(R(2).Post(16), R(1)) }},
	{"ldr x1, [x2,x3]", func(f *Function) { f.MOVD(R(2).Index(R(3)), R(1)) }},
	{"ldr x1, [x2,x3,lsl #3]", func(f *Function) { f.MOVD(R(2).IndexScaled(R(3), 3), R(1)) }},
	{"ldr w1, [x2,#4]", func(f *Function) { f.MOVWU(R(2).At(4), R(1)) }},
	{"ldrb w1, [x2,x3]", func(f *Function) { f.MOVBU(R(2).Index(R(3)), R(1)) }},
	{"ldrb w1, [x2],#1", func(f *Function) { f.MOVBU(R(2).Post(1), R(1)) }},
	{"prfm pldl1keep, [x1]", func(f *Function) { f.PRFM(R(1).At(0)) }},
	{"str x1, [x2]", func(f *Function) { f.StoreD(R(1), R(2).At(0)) }},
	{"stur x1, [x2,#-8]", func(f *Function) { f.StoreD(R(1), R(2).At(-8)) }},
	{"strb w1, [x2,x3]", func(f *Function) { f.StoreB(R(1), R(2).Index(R(3))) }},
	{"ldp x1, x2, [x3]", func(f *Function) { f.LDP(R(3).At(0), R(1), R(2)) }},
	{"ldp w1, w2, [x3],#8", func(f *Function) { f.LDPW(R(3).Post(8), R(1), R(2)) }},
	{"stp x1, x2, [x3],#16", func(f *Function) { f.STP(R(1), R(2), R(3).Post(16)) }},
	{"add x1, x2, x3, lsl #2", func(f *Function) { f.ADD(R(3).LSL(2), R(2), R(1)) }},
	{"add x1, x2, #0x10", func(f *Function) { f.ADD(Imm(16), R(2), R(1)) }},
	{"sub x1, x2, x3", func(f *Function) { f.SUB(R(3), R(2), R(1)) }},
	{"and x1, x2, #0xfffffffffffffff8", func(f *Function) { f.AND(Imm(-8), R(2), R(1)) }},
	{"orr x1, x2, x3, lsl #56", func(f *Function) { f.ORR(R(3).LSL(56), R(2), R(1)) }},
	{"eor x1, x2, x3, lsr #33", func(f *Function) { f.EOR(R(3).LSR(33), R(2), R(1)) }},
	{"eor x1, x2, x3, ror #37", func(f *Function) { f.EOR(R(3).ROR(37), R(2), R(1)) }},
	{"add x1, x2, w3, uxtw", func(f *Function) { f.ADD(R(3).UXTW(), R(2), R(1)) }},
	{"lsl x1, x2, x3", func(f *Function) { f.LSL(R(3), R(2), R(1)) }},
	{"lsr x1, x2, #8", func(f *Function) { f.LSR(Imm(8), R(2), R(1)) }},
	{"mul x1, x2, x3", func(f *Function) { f.MUL(R(3), R(2), R(1)) }},
	{"adds x1, x2, #0x4", func(f *Function) { f.ADDS(Imm(4), R(2), R(1)) }},
	{"subs x1, x2, #0x1", func(f *Function) { f.SUBS(Imm(1), R(2), R(1)) }},
	{"ror x1, x2, #33", func(f *Function) { f.ROR(33, R(2), R(1)) }},
	{"madd x1, x2, x3, x4", func(f *Function) { f.MADD(R(3), R(4), R(2), R(1)) }},
	{"neg x1, x2", func(f *Function) { f.NEG(R(2), R(1)) }},
	{"cmp x1, x2", func(f *Function) { f.CMP(R(2), R(1)) }},
	{"csel x1, x2, x3, hi", func(f *Function) { f.CSEL("HI", R(2), R(3), R(1)) }},
	{"ubfx x1, x2, #8, #4", func(f *Function) { f.UBFX(8, R(2), 4, R(1)) }},
	{"bfi x1, x2, #8, #4", func(f *Function) { f.BFI(8, R(2), 4, R(1)) }},
	{"b .+0x0", func(f *Function) { f.Label("b"); f.B("b") }},
	{"b.eq .+0x0", func(f *Function) { f.Label("beq"); f.BEQ("beq") }},
	{"b.ne .+0x0", func(f *Function) { f.Label("bne"); f.BNE("bne") }},
	{"b.lt .+0x0", func(f *Function) { f.Label("blt"); f.BLT("blt") }},
	{"b.cs .+0x0", func(f *Function) { f.Label("bhs"); f.BHS("bhs") }},
	{"b.gt .+0x0", func(f *Function) { f.Label("bgt"); f.BGT("bgt") }},
	{"b.ge .+0x0", func(f *Function) { f.Label("bge"); f.BGE("bge") }},
	{"b.cc .+0x0", func(f *Function) { f.Label("blo"); f.BLO("blo") }},
	{"cbz x1, .+0x0", func(f *Function) { f.Label("cbz"); f.CBZ(R(1), "cbz") }},

	{"ldp q1, q2, [x3,#32]", func(f *Function) { f.FLDPQ(R(3).At(32), VN(1), VN(2)) }},
	{"stp q1, q2, [x3],#32", func(f *Function) { f.FSTPQ(VN(1), VN(2), R(3).Post(32)) }},
	{"ldr q1, [x2,#16]", func(f *Function) { f.FMOVQ(R(2).At(16), VN(1)) }},
	{"str q1, [x2,#4224]", func(f *Function) { f.StoreQ(VN(1), R(2).At(4224)) }},
	{"str d1, [x2],#8", func(f *Function) { f.StoreLow(VN(1), R(2).Post(8)) }},
	{"ld1 {v1.d}[1], [x2]", func(f *Function) { f.LoadHigh(R(2).At(0), VN(1)) }},
	{"ld1 {v1.d}[1], [x2],#8", func(f *Function) { f.LoadHigh(R(2).Post(8), VN(1)) }},
	{"ld1 {v1.d}[1], [x2], x3", func(f *Function) { f.LoadHigh(R(2).PostBy(R(3)), VN(1)) }},
	{"ld1 {v1.8b}, [x2], x3", func(f *Function) { f.LoadLow(R(2).PostBy(R(3)), VN(1)) }},
	{"fmov d1, x2", func(f *Function) { f.FMOVD(R(2), VN(1)) }},
	{"mov v1.s[2], w2", func(f *Function) { f.ToLane(R(2), 'S', 2, VN(1)) }},
	{"mov x1, v2.d[1]", func(f *Function) { f.FromLane('D', 1, VN(2), R(1)) }},
	{"mov w1, v2.s[3]", func(f *Function) { f.FromLane('S', 3, VN(2), R(1)) }},
	{"mov v1.d[1], v2.d[0]", func(f *Function) { f.VMOVLane('D', 0, VN(2), 1, VN(1)) }},
	{"mov v1.16b, v2.16b", func(f *Function) { f.VMOV(VN(2), VN(1)) }},
	{"movi v1.16b, #0xff", func(f *Function) { f.VMOVI(255, VN(1)) }},
	{"dup v1.4s, w2", func(f *Function) { f.VDUP(R(2), S4, VN(1)) }},
	{"add v1.4s, v2.4s, v3.4s", func(f *Function) { f.VADD(S4, VN(3), VN(2), VN(1)) }},
	{"sub v1.4s, v2.4s, v3.4s", func(f *Function) { f.VSUB(S4, VN(3), VN(2), VN(1)) }},
	{"and v1.16b, v2.16b, v3.16b", func(f *Function) { f.VAND(VN(3), VN(2), VN(1)) }},
	{"orr v1.16b, v2.16b, v3.16b", func(f *Function) { f.VORR(VN(3), VN(2), VN(1)) }},
	{"eor v1.16b, v2.16b, v3.16b", func(f *Function) { f.VEOR(VN(3), VN(2), VN(1)) }},
	{"bit v1.16b, v2.16b, v3.16b", func(f *Function) { f.VBIT(VN(3), VN(2), VN(1)) }},
	{"uzp1 v1.8h, v2.8h, v3.8h", func(f *Function) { f.VUZP1(H8, VN(3), VN(2), VN(1)) }},
	{"uzp2 v1.4s, v2.4s, v3.4s", func(f *Function) { f.VUZP2(S4, VN(3), VN(2), VN(1)) }},
	{"zip1 v1.4s, v2.4s, v3.4s", func(f *Function) { f.VZIP1(S4, VN(3), VN(2), VN(1)) }},
	{"zip2 v1.4s, v2.4s, v3.4s", func(f *Function) { f.VZIP2(S4, VN(3), VN(2), VN(1)) }},
	{"addp v1.16b, v2.16b, v3.16b", func(f *Function) { f.VADDP(B16, VN(3), VN(2), VN(1)) }},
	{"umax v1.4s, v2.4s, v3.4s", func(f *Function) { f.VUMAX(S4, VN(3), VN(2), VN(1)) }},
	{"umin v1.4s, v2.4s, v3.4s", func(f *Function) { f.VUMIN(S4, VN(3), VN(2), VN(1)) }},
	{"cmtst v1.4s, v2.4s, v3.4s", func(f *Function) { f.VCMTST(S4, VN(3), VN(2), VN(1)) }},
	{"cnt v1.16b, v2.16b", func(f *Function) { f.VCNT(VN(2), VN(1)) }},
	{"tbl v1.16b, {v2.16b}, v3.16b", func(f *Function) { f.VTBL(VN(3), VN(2), VN(1)) }},
	{"tbl v1.16b, {v2.16b-v4.16b}, v31.16b", func(f *Function) { f.VTBLs(VN(31), []V{VN(2), VN(3), VN(4)}, VN(1)) }},
	{"shl v1.4s, v2.4s, #15", func(f *Function) { f.VSHL(15, S4, VN(2), VN(1)) }},
	{"ushr v1.4s, v2.4s, #32", func(f *Function) { f.VUSHR(32, S4, VN(2), VN(1)) }},
	{"sli v1.4s, v2.4s, #3", func(f *Function) { f.VSLI(3, S4, VN(2), VN(1)) }},
	{"sri v1.4s, v2.4s, #17", func(f *Function) { f.VSRI(17, S4, VN(2), VN(1)) }},

	// Instructions that are emitted as words.
	{"mul v1.4s, v2.4s, v31.4s", func(f *Function) { f.VMUL(S4, VN(31), VN(2), VN(1)) }},
	{"sqdmulh v1.4s, v2.4s, v31.4s", func(f *Function) { f.VSQDMULH(S4, VN(31), VN(2), VN(1)) }},
	{"mla v1.4s, v2.4s, v31.4s", func(f *Function) { f.VMLA(S4, VN(31), VN(2), VN(1)) }},
	{"mls v1.4s, v2.4s, v31.4s", func(f *Function) { f.VMLS(S4, VN(31), VN(2), VN(1)) }},
	{"cmhi v1.4s, v2.4s, v31.4s", func(f *Function) { f.VCMHI(S4, VN(31), VN(2), VN(1)) }},
	{"cmhi v1.2d, v2.2d, v31.2d", func(f *Function) { f.VCMHI(D2, VN(31), VN(2), VN(1)) }},
	{"cmlt v31.16b, v2.16b, #0", func(f *Function) { f.VCMLT0(B16, VN(2), VN(31)) }},
	{"bic v1.16b, v2.16b, v31.16b", func(f *Function) { f.VBIC(VN(31), VN(2), VN(1)) }},
	{"ushl v1.16b, v2.16b, v31.16b", func(f *Function) { f.VUSHL(B16, VN(31), VN(2), VN(1)) }},
	{"ushl v1.4s, v2.4s, v31.4s", func(f *Function) { f.VUSHL(S4, VN(31), VN(2), VN(1)) }},
	{"ushl v1.2d, v2.2d, v31.2d", func(f *Function) { f.VUSHL(D2, VN(31), VN(2), VN(1)) }},
	{"uminp v1.16b, v2.16b, v31.16b", func(f *Function) { f.VUMINP(B16, VN(31), VN(2), VN(1)) }},
	{"umull v1.2d, v2.2s, v31.2s", func(f *Function) { f.VUMULL(D2, VN(31), VN(2), VN(1)) }},
	{"umull2 v1.2d, v2.4s, v31.4s", func(f *Function) { f.VUMULL2(D2, VN(31), VN(2), VN(1)) }},
	{"mul v1.4s, v2.4s, v31.s[1]", func(f *Function) { f.VMULLane(S4, 1, VN(31), VN(2), VN(1)) }},
	{"mul v1.4s, v2.4s, v31.s[2]", func(f *Function) { f.VMULLane(S4, 2, VN(31), VN(2), VN(1)) }},
	{"mul v31.8h, v2.8h, v1.h[1]", func(f *Function) { f.VMULLane(H8, 1, VN(1), VN(2), VN(31)) }},
	{"mul v31.8h, v2.8h, v1.h[6]", func(f *Function) { f.VMULLane(H8, 6, VN(1), VN(2), VN(31)) }},
	{"mla v31.8h, v2.8h, v1.h[7]", func(f *Function) { f.VMLALane(H8, 7, VN(1), VN(2), VN(31)) }},
	{"shrn v1.8b, v31.8h, #7", func(f *Function) { f.VSHRN(7, VN(31), VN(1)) }},
	{"shrn2 v1.16b, v31.8h, #8", func(f *Function) { f.VSHRN2(8, VN(31), VN(1)) }},
	{"uqxtn v1.2s, v31.2d", func(f *Function) { f.VUQXTN(VN(31), VN(1)) }},
	{"uqxtn2 v1.4s, v31.2d", func(f *Function) { f.VUQXTN2(VN(31), VN(1)) }},
	{"umaxv s31, v2.4s", func(f *Function) { f.VUMAXV(S4, VN(2), VN(31)) }},
	{"uminv s31, v2.4s", func(f *Function) { f.VUMINV(S4, VN(2), VN(31)) }},
	{"ret", func(f *Function) { f.RET() }},
}

// TestInstructions assembles the instructions, and compares the disassembler's text with
// the table.
func TestInstructions(t *testing.T) {
	file := NewFile("arm64")
	f := file.Function("all", NoSplit, "func()")
	for n := range 4 {
		f.MOVD(Imm(0), R(n+1))
		f.VMOVI(0, VN(n+1))
	}
	f.VMOVI(0, VN(31))
	f.Label("start")
	for _, i := range instructions {
		i.emit(f)
	}
	got := disassemble(t, compile(t, file))[9:]
	for n, i := range instructions {
		if n >= len(got) || got[n] != i.gnu {
			t.Errorf("instruction %d is %q, want %q", n, got[min(n, len(got)-1)], i.gnu)
		}
	}
}

// TestEveryInstruction looks for every instruction in the table.
func TestEveryInstruction(t *testing.T) {
	source, err := os.ReadFile("arm64_test.go")
	if err != nil {
		t.Fatal(err)
	}
	function := reflect.TypeFor[*Function]()
	for i := range function.NumMethod() {
		if name := function.Method(i).Name; !strings.Contains(string(source), "f."+name+"(") {
			t.Errorf("%s is not tested", name)
		}
	}
}

func compile(t *testing.T, file *File) []byte {
	t.Helper()
	text, err := file.Compile(printer.Config{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// disassemble assembles a file and returns its instructions in GNU's syntax.
func disassemble(t *testing.T, text []byte) (lines []string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "test.s")
	object := strings.TrimSuffix(source, "s") + "o"
	if err := os.WriteFile(source, text, 0o666); err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	run := func(arguments ...string) []byte {
		command := exec.Command("go", append([]string{"tool"}, arguments...)...)
		command.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go tool %s: %v\n%s\n%s", strings.Join(arguments, " "), err, out, text)
		}
		return out
	}
	run("asm", "-p", "test", "-I", filepath.Join(strings.TrimSpace(string(root)), "pkg", "include"), "-o", object, source)
	for _, found := range regexp.MustCompile(`(?m)// (.*)$`).FindAllSubmatch(run("objdump", "-gnu", object), -1) {
		lines = append(lines, strings.TrimSpace(string(found[1])))
	}
	return lines
}

// TestAllocation fills all registers of a kind, and one more.
func TestAllocation(t *testing.T) {
	fill := func(n int, vectors bool) *File {
		file := NewFile("arm64")
		f := file.Function("fill", NoSplit, "func(to *byte)")
		var general []GP
		var vector []V
		if !vectors {
			n-- // for the address
		}
		for i := range n {
			if vectors {
				vector = append(vector, f.V())
				f.VMOVI(uint8(i), vector[i])
			} else {
				general = append(general, f.GP())
				f.MOVD(Imm(i), general[i])
			}
		}
		to := f.Argument("to")
		for _, r := range general {
			f.StoreD(r, to.Post(8))
		}
		for _, v := range vector {
			f.StoreQ(v, to.Post(16))
		}
		f.RET()
		return file
	}
	for _, c := range []struct {
		vectors bool
		limit   int
	}{{false, 26}, {true, 32}} {
		text := string(compile(t, fill(c.limit, c.vectors)))
		seen := map[string]bool{}
		for _, found := range regexp.MustCompile(`(?m)^\t(?:MOVD|VMOVI) +\$\d+, (\S+)$`).FindAllStringSubmatch(text, -1) {
			if found[1] == "R18" || found[1] == "R27" || seen[found[1]] {
				t.Errorf("%s given away, or twice:\n%s", found[1], text)
			}
			seen[found[1]] = true
		}
		if want := map[bool]int{false: 25, true: 32}[c.vectors]; len(seen) != want {
			t.Errorf("%d registers written, want %d:\n%s", len(seen), want, text)
		}
		disassemble(t, []byte(text))
		_, err := fill(c.limit+1, c.vectors).Compile(printer.Config{Name: "test"})
		if err == nil || !strings.Contains(err.Error(), "registers are live at once") {
			t.Errorf("%d registers: error %v", c.limit+1, err)
		}
	}
}

// TestReuse checks that no register is used twice at once: in a loop, and where one
// instruction writes two registers that no one reads.
func TestReuse(t *testing.T) {
	file := NewFile("arm64")
	f := file.Function("reuse", NoSplit, "func(from *byte, n int)")
	from, n, kept := f.Argument("from"), f.Argument("n"), f.GP()
	f.MOVD(Imm(1), kept)
	f.Label("loop")
	a, b := f.GP(), f.GP()
	f.LDP(from.Post(16), a, b) // neither is read
	f.ADD(kept, n, n)
	f.SUBS(Imm(2), n, n)
	f.BNE("loop")
	f.RET()
	text := string(compile(t, file))
	found := regexp.MustCompile(`LDP.P +16\((R\d+)\), \((R\d+), (R\d+)\)\n\tADD +(R\d+), (R\d+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no loop in\n%s", text)
	}
	seen := map[string]bool{}
	for _, r := range found[1:] {
		if seen[r] {
			t.Errorf("%s serves twice:\n%s", r, text)
		}
		seen[r] = true
	}
}

// TestMisuse compares the errors of wrong calls.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		emit func(f *Function)
	}{
		{"read before they are written", func(f *Function) { f.ADD(Imm(1), f.GP(), f.GP()); f.RET() }},
		{"read before they are written", func(f *Function) { f.ToLane(f.Argument("n"), 'S', 1, f.V()); f.RET() }},
		{"read before they are written", func(f *Function) {
			r := f.GP()
			f.CBZ(f.Argument("n"), "skip")
			f.MOVD(Imm(1), r)
			f.Label("skip")
			f.Result("left", r)
			f.RET()
		}},
		{"without RET", func(f *Function) { f.MOVD(Imm(1), f.GP()) }},
		{"without RET", func(f *Function) {}},
		{`unknown label "nowhere"`, func(f *Function) { f.B("nowhere"); f.RET() }},
		{`duplicate label "here"`, func(f *Function) { f.Label("here"); f.MOVD(Imm(1), f.GP()); f.Label("here"); f.RET() }},
		{"unknown variable", func(f *Function) { f.Argument("m"); f.RET() }},
		{"not primitive", func(f *Function) { f.Argument("s"); f.RET() }},
		{"VUSHR of S4 by 0", func(f *Function) { f.VUSHR(0, S4, VN(0), VN(0)); f.RET() }},
		{"VSHL of B16 by 8", func(f *Function) { f.VSHL(8, B16, VN(0), VN(0)); f.RET() }},
		{"VMUL of D2", func(f *Function) { f.VMUL(D2, VN(0), VN(0), VN(0)); f.RET() }},
		{"VCMHI of B16", func(f *Function) { f.VCMHI(B16, VN(0), VN(0), VN(0)); f.RET() }},
		{"VMUL by lane 4 of S4", func(f *Function) { f.VMULLane(S4, 4, VN(0), VN(0), VN(0)); f.RET() }},
		{"VMUL by lane 0 of H8", func(f *Function) { f.VMULLane(H8, 0, VN(16), VN(0), VN(0)); f.RET() }},
		{"VMUL by lane 0 of D2", func(f *Function) { f.VMULLane(D2, 0, VN(0), VN(0), VN(0)); f.RET() }},
		{"VMLA by lane 0 of S4", func(f *Function) { f.VMLALane(S4, 0, VN(0), VN(0), VN(0)); f.RET() }},
		{"VSHRN by 9", func(f *Function) { f.VSHRN(9, VN(0), VN(0)); f.RET() }},
		{"not consecutive", func(f *Function) { f.VTBLs(VN(0), []V{VN(1), VN(3)}, VN(0)); f.RET() }},
		{"not consecutive", func(f *Function) { f.VTBLs(VN(0), []V{VN(1), f.V()}, VN(0)); f.RET() }},
		{"9 bits from bit 56", func(f *Function) { f.UBFX(56, f.GP(), 9, f.GP()); f.RET() }},
		{"MOVD of string", func(f *Function) { f.MOVD("R1", f.GP()); f.RET() }},
		{"no multiple of 8", func(f *Function) { f.file.Bytes("data", make([]byte, 7)); f.RET() }},
	} {
		file := NewFile("arm64")
		c.emit(file.Function("misuse", NoSplit, "func(n int, s string) (left int)"))
		if _, err := file.Compile(printer.Config{Name: "test"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestArguments checks the widths of the loads of arguments and the stores of results.
func TestArguments(t *testing.T) {
	file := NewFile("arm64")
	f := file.Function("arguments", NoSplit, "func(p *byte, b uint8, i int32, w uint32) (r uint32)")
	for _, name := range []string{"p", "b", "i"} {
		f.Argument(name)
	}
	f.Result("r", f.Argument("w"))
	f.RET()
	text := string(compile(t, file))
	for _, want := range []string{
		"MOVD p+0(FP), R", "MOVBU b+8(FP), R", "MOVW i+12(FP), R", "MOVWU w+16(FP), R", "MOVW R0, r+24(FP)",
		"// Requires: ASIMD\n", "TEXT ·arguments(SB), NOSPLIT, $0-28\n",
	} {
		if !strings.Contains(regexp.MustCompile(` +`).ReplaceAllString(text, " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	disassemble(t, []byte(text))
}

// TestMemory looks for data, and for places on the stack that lie apart, above the
// return address and within the frame.
func TestMemory(t *testing.T) {
	file := NewFile("arm64")
	data := file.Bytes("numbers", []byte("12345678"))
	f := file.Function("memory", Splits, "func()")
	f.Comment("Two places.")
	a, b, c := f.Local(100), f.Local(16), f.GP()
	f.Address(data, c)
	f.MOVD(c.At(0), c)
	f.StoreD(c, a.At(0))
	f.StoreD(c, b.At(0))
	f.RET()
	text := string(compile(t, file))
	found := regexp.MustCompile(`(?s)\$(\d+)\n\t// Two places\.\n\tADD +\$(\d+), RSP, (R\d+)\n\tAND +\$-16, .*ADD +\$(\d+), RSP, (R\d+)\n\tAND +\$-16, `).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no places in\n%s", text)
	}
	var numbers []int
	for _, s := range []string{found[1], found[2], found[4]} {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	// An address is the sum rounded down to a multiple of 16: up to 15 less.
	frame, first, second := numbers[0], numbers[1], numbers[2]
	if first-15 < 8 || first+100 > second-15 || second+16 > frame+8 {
		t.Errorf("places at %d and %d of a frame of %d:\n%s", first, second, frame, text)
	}
	if !strings.Contains(text, "DATA numbers<>+0(SB)/8, $0x3837363534333231") || !strings.Contains(text, "$numbers<>(SB)") {
		t.Errorf("no data in\n%s", text)
	}
	disassemble(t, []byte(text))
}
