// Command emulated estimates the gain of the arm64 kernels without an arm64 machine. It
// counts the instructions that QEMU executes for a key, and lets llvm-mca predict the
// cycles of the inner loops for a probe or a key. It prints Markdown.
//
//	go run ./emulated [FORMAT ...]
//
// It needs qemu-aarch64-static and LLVM 19 (Debian's qemu-user-static and llvm-19).
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
)

const (
	emulator     = "qemu-aarch64-static"
	analyzer     = "llvm-mca-19"
	disassembler = "llvm-objdump-19"
)

// keys is the number of keys of a round of the workload.
const keys = 4096

func main() {
	log.SetFlags(0)
	formats := []bloom.Format{bloom.LevelDB, bloom.Nori, bloom.Parquet, bloom.RocksDB, bloom.Pebble}
	if len(os.Args) > 1 {
		formats = nil
	}
	for _, name := range os.Args[1:] {
		format, err := bloom.ParseFormat(name)
		if err != nil {
			log.Fatal(err)
		}
		formats = append(formats, format)
	}
	folder, err := os.MkdirTemp("", "emulated")
	if err == nil {
		err = report(os.Stdout, filepath.Join(folder, "workload"), formats)
		err = firstError(err, os.RemoveAll(folder))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// report builds the workload and writes the tables.
func report(w io.Writer, workload string, formats []bloom.Format) error {
	build := exec.Command("go", "build", "-o", workload, "./emulated/workload")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	ranges, mark, err := measured(workload)
	if err != nil {
		return err
	}
	if err := reportInstructions(w, workload, ranges, mark, formats); err != nil {
		return err
	}
	for _, loops := range [][]loop{probeLoops, keyLoops} {
		fmt.Fprintln(w)
		if err := reportCycles(w, workload, loops); err != nil {
			return err
		}
	}
	return nil
}

// measured returns the ranges of addresses whose instructions count: those of the
// libraries, of the loop around them, and of the runtime's functions that clear and move
// memory. The rest of the runtime runs in the background, and under emulation takes more
// than its usual share. mark is how a trace shows the address of the function of that name.
func measured(workload string) (ranges, mark string, err error) {
	out, err := exec.Command("go", "tool", "nm", "-size", workload).Output()
	if err != nil {
		return "", "", fmt.Errorf("go tool nm: %w", err)
	}
	names := regexp.MustCompile(`^(github\.com/(lanebloom/bloom\.|syndtr/goleveldb/|parquet-go/parquet-go/bloom|cockroachdb/pebble/v2/bloom|cespare/xxhash/)|main\.(run|plain|mark)|runtime\.mem(clr|move))`)
	var list []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line) // address, size, type, name
		if len(fields) >= 4 && strings.EqualFold(fields[2], "t") && names.MatchString(fields[3]) {
			size, err := strconv.Atoi(fields[1])
			if err != nil {
				return "", "", fmt.Errorf("go tool nm: %q: %w", line, err)
			}
			list = append(list, fmt.Sprintf("0x%s+%d", fields[0], size))
			if fields[3] == "main.mark" {
				mark = fmt.Sprintf("/%016s/", fields[0])
			}
		}
	}
	return strings.Join(list, ","), mark, nil
}

func reportInstructions(w io.Writer, workload, ranges, mark string, formats []bloom.Format) error {
	fmt.Fprintln(w, "| format | keys | hits | plain loop | generic | neon | plain loop / neon |")
	fmt.Fprintln(w, "|---|---|---|---:|---:|---:|---:|")
	for _, format := range formats {
		for _, column := range []string{"uint64", "strings"} {
			for _, hits := range []string{"absent", "present"} {
				var counts []float64
				for _, path := range []string{"plain", "generic", "neon"} {
					count, err := instructions(workload, ranges, mark, path, format.String(), column, hits)
					if err != nil {
						return err
					}
					counts = append(counts, count)
				}
				fmt.Fprintf(w, "| %v | %s | %s | %.1f | %.1f | %.1f | %.2f |\n",
					format, column, hits, counts[0], counts[1], counts[2], counts[0]/counts[2])
			}
		}
	}
	return nil
}

// instructions returns the instructions for a key. The emulator writes a line for each
// instruction of a run; those after the call of mark count.
func instructions(workload, ranges, mark string, arguments ...string) (float64, error) {
	file := workload + ".trace"
	run := exec.Command(emulator, append([]string{
		"-cpu", "neoverse-n1", "-singlestep", "-d", "exec,nochain", "-dfilter", ranges, "-D", file, workload,
	}, arguments...)...)
	if out, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s %s: %w\n%s", emulator, strings.Join(arguments, " "), err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	count, marked := 0, false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.Contains(line, mark):
			count, marked = 0, true
		case strings.HasPrefix(line, "Trace "):
			count++
		}
	}
	if !marked {
		return 0, fmt.Errorf("%s %s: no call of mark", emulator, strings.Join(arguments, " "))
	}
	return float64(count) / keys, lines.Err()
}

// loop is the inner loop of a function that has the given instruction.
type loop struct {
	name, function, instruction string
	times                       int // that one iteration does the work
}

// probeLoops are the loops of a probe: the plain one and that of the kernel. keyLoops are the
// loops of a key in the kernels of filters of one line a key.
var (
	probeLoops = []loop{
		{"plain loop", "github.com/syndtr/goleveldb/leveldb/filter.bloomFilter.Contains", "udiv", 1},
		{"neon", "github.com/lanebloom/bloom.testDouble32NEON.abi0", "sqdmulh", 16},
	}
	keyLoops = []loop{
		{"XXH64, 8 bytes", "github.com/lanebloom/bloom.xxh64Width8NEON.abi0", "madd", 4},
		{"parquet, test", "github.com/lanebloom/bloom.testSplit256NEON.abi0", "sri", 16},
		{"parquet, add", "github.com/lanebloom/bloom.addSplit256NEON.abi0", "ushl", 4},
		{"XXPH3, 8 bytes", "github.com/lanebloom/bloom.xxph3Width8NEON.abi0", "madd", 4},
		{"rocksdb, test", "github.com/lanebloom/bloom.probeLine512NEON.abi0", "shrn", 16},
		{"pebble, test", "github.com/lanebloom/bloom.probeLine32NEON.abi0", "shrn", 16},
	}
)

// reportCycles writes a table of the cycles for the work of each loop.
func reportCycles(w io.Writer, workload string, loops []loop) error {
	fmt.Fprint(w, "| CPU |")
	for _, l := range loops {
		fmt.Fprintf(w, " %s |", l.name)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---:|", len(loops)))
	for _, cpu := range []string{"neoverse-n1", "neoverse-v1", "neoverse-v2", "cortex-a55"} {
		fmt.Fprintf(w, "| %s |", cpu)
		for _, l := range loops {
			code, err := l.code(workload)
			if err != nil {
				return err
			}
			cycles, err := analyze(code, cpu)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, " %.2f |", cycles/float64(l.times))
		}
		fmt.Fprintln(w)
	}
	return nil
}

var (
	instructionLine = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(.*)$`)
	branchTarget    = regexp.MustCompile(`0x([0-9a-f]+) <[^>]*>`)
)

// code returns the instructions of the loop: from the target of a backward branch to
// the branch, with no other backward branch between.
func (l loop) code(workload string) (string, error) {
	out, err := exec.Command(disassembler, "-d", "--no-show-raw-insn", "--disassemble-symbols="+l.function, workload).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", disassembler, err)
	}
	at := map[string]int{}
	var code []string
	for line := range strings.Lines(string(out)) {
		found := instructionLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if found == nil {
			continue
		}
		at[found[1]] = len(code)
		code = append(code, found[2])
		target := branchTarget.FindStringSubmatch(found[2])
		if target == nil {
			continue
		}
		code[len(code)-1] = branchTarget.ReplaceAllString(found[2], "0") // near enough to encode
		if from, back := at[target[1]]; back {
			body := strings.Join(code[from:], "\n") + "\n"
			if strings.Contains(body, l.instruction) {
				return body, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no loop with %s", l.function, l.instruction)
}

// analyze returns the cycles of one pass through the code.
func analyze(code, cpu string) (float64, error) {
	const times = 100
	run := exec.Command(analyzer, "-mtriple=aarch64", "-mcpu="+cpu, fmt.Sprintf("-iterations=%d", times), "-instruction-info=false", "-resource-pressure=false")
	run.Stdin = strings.NewReader(code)
	var problems strings.Builder
	run.Stderr = &problems
	out, err := run.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", analyzer, err, problems.String())
	}
	found := regexp.MustCompile(`Total Cycles:\s+(\d+)`).FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("%s: no cycles in\n%s", analyzer, out)
	}
	cycles, err := strconv.ParseFloat(string(found[1]), 64)
	return cycles / times, err
}
