// Command mutants measures tests by planted bugs. It changes one instruction of the
// generated assembly at a time and runs tests, which must fail:
//
//	cd asm && go run ./mutants -func AVX512
//
// No file is changed. A bug that no test sees is a gap
// in the tests, or none at all: some instructions decide about speed alone, and some
// results are not used. The tests stop at the first that fails.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

var (
	change  = flag.String("func", "AVX512$", "regular expression of the functions to change")
	tests   = flag.String("run", "^(Test|Fuzz)(Kernel|CPU)", "regular expression of the tests to run")
	each    = flag.Int("n", 3, "bugs in each function, of different kinds as far as there are")
	seed    = flag.Uint64("seed", 1, "chooses the bugs")
	arch    = flag.String("arch", "amd64", "architecture, the end of the name of the file")
	emulate = flag.String("exec", "", "runs the test binary, such as qemu-aarch64-static")
	seconds = flag.Int("cpu", 60, "CPU time after which tests of a bug are killed")
	short   = flag.Bool("short", false, "the tests are short, as in make test")
	root    = flag.String("root", "..", "directory of the package")
)

const packagePath = "github.com/lanebloom/bloom"

func main() {
	flag.Parse()
	unseen, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if unseen > 0 {
		fmt.Printf("%d bugs not seen\n", unseen)
		os.Exit(1)
	}
}

func run() (unseen int, err error) {
	file, err := filepath.Abs(filepath.Join(*root, "probe_"+*arch+".s"))
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	lines := strings.Split(string(text), "\n")
	s, err := newSuite(file, work)
	if err != nil {
		return 0, err
	}
	if seen, err := s.test(lines); err != nil {
		return 0, err
	} else if seen != "" {
		return 0, fmt.Errorf("without a bug, %s fails", seen)
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	fmt.Print("| function | kind | line | is | becomes | seen by |\n|---|---|---|---|---|---|\n")
	for _, f := range functions(lines) {
		for planted := 0; planted < *each; {
			bug, ok := f.next(random)
			if !ok {
				break
			}
			changed := slices.Clone(lines)
			changed[bug.line] = bug.text
			seen, err := s.test(changed)
			if err != nil {
				continue // it does not assemble
			}
			planted++
			if seen == "" {
				seen = "NOT SEEN"
				unseen++
			}
			fmt.Printf("| %s | %s | %d | `%s` | `%s` | %s |\n", f.name, bug.kind, bug.line+1,
				strings.Join(strings.Fields(lines[bug.line]), " "), strings.Join(strings.Fields(bug.text), " "), seen)
		}
	}
	return unseen, nil
}

// suite runs the tests with other text in the place of a file. They are compiled once: a bug is assembled, and linked.
type suite struct {
	work    string
	archive *archive // of the package with its tests
	member  string   // of the archive: the file's object
	link    []string // the linker and its arguments
}

var (
	workLine    = regexp.MustCompile(`(?m)^WORK=(.*)$`)
	linkLine    = regexp.MustCompile(`(?m)^(?:\w+='.*' )?(\S+/link -o .*)$`)
	packageLine = regexp.MustCompile(`(?m)^packagefile (\S+)=(\S+)$`)
)

// newSuite compiles the tests, and learns from go test how it links them.
func newSuite(file, work string) (*suite, error) {
	s := &suite{work: work, member: strings.TrimSuffix(filepath.Base(file), ".s") + ".o"}
	if err := os.Setenv("GOTMPDIR", work); err != nil { // where go test leaves what the linker reads
		return nil, err
	}
	log, err := command("go", "test", "-c", "-x", "-work", "-vet=off", "-o", s.path("test"), ".")
	folder, link := workLine.FindSubmatch(log), linkLine.FindSubmatch(log)
	if err != nil || folder == nil || link == nil {
		return nil, fmt.Errorf("%s\nno way to link: %v", log, err)
	}
	s.link = strings.Fields(strings.ReplaceAll(string(link[1]), "$WORK", string(folder[1])))
	last := len(s.link) - 1 // the program's own package
	imports, err := os.ReadFile(filepath.Join(string(folder[1]), "b001", "importcfg.link"))
	if err != nil {
		return nil, err
	}
	for _, m := range packageLine.FindAllSubmatch(imports, -1) {
		if string(m[1]) == packagePath {
			if s.archive, err = readArchive(string(m[2])); err != nil {
				return nil, err
			}
			imports = bytes.Replace(imports, m[0], []byte("packagefile "+packagePath+"="+s.path("package.a")), 1)
		}
	}
	main, err := os.ReadFile(s.link[last])
	if err != nil {
		return nil, err
	}
	if s.archive == nil || s.archive.members[s.member] == nil {
		return nil, fmt.Errorf("%s has no %s", packagePath, s.member)
	}
	s.link[slices.Index(s.link, "-o")+1] = s.path("test")
	s.link[slices.Index(s.link, "-importcfg")+1] = s.path("imports")
	s.link[last] = s.path("main.a")
	return s, errors.Join(os.WriteFile(s.path("imports"), imports, 0o666), os.WriteFile(s.path("main.a"), main, 0o666))
}

func (s *suite) path(name string) string { return filepath.Join(s.work, name) }

// test returns what failed, if anything. The error is from the assembler or the linker.
func (s *suite) test(lines []string) (seen string, err error) {
	if err := os.WriteFile(s.path("text.s"), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		return "", err
	}
	if output, err := command("go", "tool", "asm", "-p", packagePath, "-I", filepath.Join(runtime.GOROOT(), "pkg", "include"), "-o", s.path("text.o"), s.path("text.s")); err != nil {
		return "", fmt.Errorf("%s%w", output, err)
	}
	object, err := os.ReadFile(s.path("text.o"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(s.path("package.a"), s.archive.with(s.member, object), 0o666); err != nil {
		return "", err
	}
	if output, err := command(s.link[0], s.link[1:]...); err != nil {
		return "", fmt.Errorf("%s%w", output, err)
	}
	arguments := append([]string{"--core=0", "--cpu=" + strconv.Itoa(*seconds)}, strings.Fields(*emulate)...)
	arguments = append(arguments, s.path("test"), "-test.failfast", "-test.run", *tests)
	if *short {
		arguments = append(arguments, "-test.short")
	}
	output, err := command("prlimit", arguments...)
	if err == nil {
		return "", nil
	}
	return failures(string(output), err), nil
}

// command runs a program for the architecture in the directory of the package, and returns its output.
func command(name string, arguments ...string) ([]byte, error) {
	c := exec.Command(name, arguments...)
	c.Dir, c.Env = *root, append(os.Environ(), "GOARCH="+*arch, "CGO_ENABLED=0")
	return c.CombinedOutput()
}

// failures names the tests that failed, and the end of the process if it is not theirs.
func failures(output string, err error) string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^--- FAIL: (\w+)`).FindAllStringSubmatch(output, -1) {
		names = append(names, m[1])
	}
	if fault := regexp.MustCompile(`(?m)^(fatal error|panic|SIG\w+|unexpected fault).*`).FindString(output); fault != "" {
		if in := regexp.MustCompile(`bloom\.((Test|Fuzz)\w+)`).FindStringSubmatch(output); in != nil {
			names = append(names, in[1])
		}
		names = append(names, fault)
	} else if len(names) == 0 {
		names = append(names, err.Error())
	}
	return strings.Join(names, ", ")
}

// function is a function of the assembly and the bugs to plant in it.
type function struct {
	name string
	bugs map[string][]bug // by kind
	turn []string         // of kinds
}

type bug struct {
	kind, text string
	line       int
}

// functions returns those to change.
func functions(lines []string) (found []*function) {
	names := regexp.MustCompile(*change)
	var f *function
	for n, line := range lines {
		if m := regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`).FindStringSubmatch(line); m != nil {
			f = nil
			if names.MatchString(m[1]) {
				f = &function{name: m[1], bugs: map[string][]bug{}}
				found = append(found, f)
			}
		} else if f != nil {
			for _, b := range mutate(line) {
				b.line = n
				f.bugs[b.kind] = append(f.bugs[b.kind], b)
			}
		}
	}
	return found
}

// next takes a bug out of the function, of each kind in turn.
func (f *function) next(random *rand.Rand) (bug, bool) {
	if len(f.turn) == 0 {
		for kind, bugs := range f.bugs {
			if len(bugs) > 0 {
				f.turn = append(f.turn, kind)
			}
		}
		slices.Sort(f.turn) // the order of a map is not that of the seed
		random.Shuffle(len(f.turn), func(i, j int) { f.turn[i], f.turn[j] = f.turn[j], f.turn[i] })
	}
	if len(f.turn) == 0 {
		return bug{}, false
	}
	kind := f.turn[0]
	f.turn = f.turn[1:]
	i := random.IntN(len(f.bugs[kind]))
	b := f.bugs[kind][i]
	f.bugs[kind] = slices.Delete(f.bugs[kind], i, i+1)
	return b, true
}

var (
	instruction = regexp.MustCompile(`^\t([A-Z][A-Z0-9_.]*)\s+(.*)$`)
	hint        = regexp.MustCompile(`^\t(PRFM|PREFETCH\w+|[BJ]\w+\s+request$)`) // requests lines, and changes no answer
	shifts      = regexp.MustCompile(`^(V?P?S[RLH][RLA]|VPRO|SH|RO|LS[LR]$|ASR|EXTR|VS?SHL|VU?SHR|VSRI|VSLI|UBFX|BFI)`)
	immediate   = regexp.MustCompile(`^\$(-?0x[0-9a-fA-F]+|-?\d+)$`)
	place       = regexp.MustCompile(`^(-?\d*)(\([A-Z0-9]+\).*)$`)
	vector      = regexp.MustCompile(`^([XYZV])(\d+)((?:\.\w+)*)$`)
	opposite    = map[string]string{
		"JE": "JNE", "JEQ": "JNE", "JNE": "JEQ", "JZ": "JNZ", "JNZ": "JZ", "JB": "JAE", "JAE": "JB", "JA": "JBE", "JBE": "JA",
		"JL": "JGE", "JGE": "JL", "JLT": "JGE", "JG": "JLE", "JLE": "JG", "JHI": "JLS", "JS": "JNS", "JNS": "JS",
		"BEQ": "BNE", "BNE": "BEQ", "BLT": "BGE", "BGE": "BLT", "BGT": "BLE", "BLE": "BGT", "BHS": "BLO", "BLO": "BHS", "BHI": "BLS", "BLS": "BHI",
	}
)

// mutate returns the bugs that a line may have.
func mutate(line string) (bugs []bug) {
	line, _, _ = strings.Cut(line, " // ")
	m := instruction.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[2], "ret") || hint.MatchString(line) {
		return nil
	}
	opcode, operands := m[1], strings.Split(m[2], ", ")
	with := func(kind string, operands ...string) {
		bugs = append(bugs, bug{kind: kind, text: "\t" + opcode + " " + strings.Join(operands, ", ")})
	}
	if other, ok := opposite[opcode]; ok {
		opcode = other
		with("branch", operands...)
		return bugs
	}
	for i, operand := range operands {
		change := func(kind, to string) {
			changed := slices.Clone(operands)
			changed[i] = to
			with(kind, changed...)
		}
		if m := immediate.FindStringSubmatch(operand); m != nil {
			n, err := strconv.ParseInt(m[1], 0, 64)
			kind := "constant"
			if shifts.MatchString(opcode) {
				kind = "shift"
			}
			if err == nil {
				change(kind, fmt.Sprintf("$%d", n^1))
			} else if u, err := strconv.ParseUint(m[1], 0, 64); err == nil {
				change(kind, fmt.Sprintf("$%#x", u^1))
			}
		}
		if m := place.FindStringSubmatch(operand); m != nil && !(*arch == "arm64" && strings.Contains(operand, ")(")) { // an index has no offset there
			n, _ := strconv.Atoi(m[1]) // nothing is 0
			change("offset", fmt.Sprintf("%d%s", n+4, m[2]))
		}
		if m := vector.FindStringSubmatch(operand); m != nil {
			n, err := strconv.Atoi(m[2])
			if err == nil {
				change("register", fmt.Sprintf("%s%d%s", m[1], n^1, m[3]))
			}
		}
		if strings.HasPrefix(operand, "K") && i > 0 && i < len(operands)-1 && strings.HasPrefix(opcode, "V") {
			with("mask", slices.Delete(slices.Clone(operands), i, i+1)...)
		}
	}
	return bugs
}
