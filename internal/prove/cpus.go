package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// machine is a CPU that is emulated.
type machine struct {
	name    string
	arch    string
	exec    string   // what runs a program on it, instead of qemu-user
	kernels []string // that it must have, or the tests fail
	lacks   string   // what its emulator lacks: words of needs in the tests
	proves  string   // the kernels that it proves, if its emulator is slow and another machine proves the others
	tests   string   // to run instead of the kernel tests
}

// The tests of the root have names that say what they prove: that assembly does what portable Go does, that the kernels
// of a CPU are found and run, and what goroutines do at once.
const (
	library         = "$(go list -deps . | grep ^github.com/lanebloom)" // the root, and the packages that it is made of
	kernelTests     = "^(Test|Fuzz)(Kernel|CPU)"
	cpuTests        = "^(TestCPU.*|TestKernelGolden|FuzzKernels)$"
	concurrentTests = "^Test(Add|Atomic.*|BatchesAtOnce|BuildOnAnyCores|ConcurrentQueries|KeysOnStack|PanicsOfWorkers|RowsShared)$"
)

// machines have each kernel twice, where that can be had, and three generations of arm64. qemu lacks AVX-512, and Bochs
// boots what is of this machine's architecture. s390x is big-endian.
var machines = []machine{
	{name: "skylake-x", arch: "amd64", exec: "$PWD/internal/emulation/bochs-exec", kernels: []string{"avx512", "avx2", "generic"}, lacks: "space", proves: "avx512"},
	{name: "haswell", arch: "amd64", exec: "qemu-x86_64-static -cpu Haswell", kernels: []string{"avx2", "generic"}, lacks: "masks"},
	{name: "cortex-a53", arch: "arm64", exec: "qemu-aarch64-static -cpu cortex-a53", kernels: []string{"neon", "generic"}},
	{name: "s390x", arch: "s390x", exec: "qemu-s390x-static", kernels: []string{"generic"}, tests: "."},
	{name: "nehalem", arch: "amd64", exec: "qemu-x86_64-static -cpu Nehalem", kernels: []string{"generic"}, tests: cpuTests},
	{name: "neoverse-n1", arch: "arm64", exec: "qemu-aarch64-static -cpu neoverse-n1", kernels: []string{"neon", "generic"}, tests: cpuTests},
	{name: "max", arch: "arm64", exec: "qemu-aarch64-static -cpu max", kernels: []string{"neon", "generic"}, tests: cpuTests},
}

// step returns the step that runs the tests on a machine. If this CPU has the machine's best kernel, too, the kernel tests have run
// here, and the machine runs a sample: a step that never runs here could break unnoticed.
func (m machine) step(folder string, host []string) step {
	tests, in := m.tests, "."
	switch tests {
	case ".":
		in = library
	case "":
		tests = kernelTests
		if slices.Contains(host, m.kernels[0]) && folder != "prove/all" {
			tests = cpuTests
		}
	}
	return step{
		name: folder + "/" + m.name,
		env: []string{"CGO_ENABLED=0", "GOARCH=" + m.arch, "BLOOM_TEST_KERNELS=" + strings.Join(m.kernels, " "),
			"BLOOM_TEST_LACKS=" + m.lacks, "BLOOM_TEST_PROVES=" + m.proves},
		script: fmt.Sprintf(`go test -run %q -exec "%s" %s`, tests, m.exec, in),
	}
}

// hostKernels returns the kernels that this CPU must have, by what the system says of it, or nil where that is not known.
// BLOOM_TEST_KERNELS names others.
func hostKernels() []string {
	if named := os.Getenv("BLOOM_TEST_KERNELS"); named != "" {
		return strings.Fields(named)
	}
	if runtime.GOARCH == "arm64" {
		return []string{"neon", "generic"}
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info, err = exec.Command("sysctl", "-n", "machdep.cpu.features", "machdep.cpu.leaf7_features").Output() // of macOS
	}
	if err != nil {
		return nil
	}
	return kernelsIn(info)
}

// kernelsIn returns the kernels of an amd64 whose features a text names.
func kernelsIn(info []byte) (kernels []string) {
	for _, k := range []struct{ kernel, feature string }{{"avx512", `(?i)\bavx512f\b`}, {"avx2", `(?i)\bavx2\b`}} {
		if regexp.MustCompile(k.feature).Match(info) {
			kernels = append(kernels, k.kernel)
		}
	}
	return append(kernels, "generic")
}

func hostName() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(info); m != nil {
		return string(bytes.TrimSpace(m[1]))
	}
	return runtime.GOARCH
}

// proved says on which CPUs the tests have run each kernel, once they have passed.
func proved(host []string, hostName string) string {
	var lines strings.Builder
	for _, kernel := range []string{"avx512", "avx2", "neon", "generic"} {
		var on []string
		if slices.Contains(host, kernel) {
			on = append(on, "real "+hostName)
		}
		for _, m := range machines {
			if slices.Contains(m.kernels, kernel) && m.runsHere() {
				on = append(on, "emulated "+m.name)
			}
		}
		if len(on) == 0 {
			on = []string{"NOT PROVED on this machine"}
		}
		fmt.Fprintf(&lines, "%s: %s\n", kernel, strings.Join(on, "; "))
	}
	return lines.String()
}

// runsHere reports whether the machine's emulator runs on this one.
func (m machine) runsHere() bool { return m.name != "skylake-x" || runtime.GOARCH == "amd64" }
