package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/kernelforms"
)

// machine has the properties of the machine on which the results depend.
type machine struct {
	CPU       string             `json:"cpu"`
	Cores     int                `json:"cores"`
	OS        string             `json:"os"`
	Arch      string             `json:"arch"`
	Go        string             `json:"go"`
	Kernels   []string           `json:"kernels"` // the first is the one chosen
	Forms     []kernelforms.Cost `json:"forms,omitempty"`
	HugePages string             `json:"huge_pages"`
}

func thisMachine() machine {
	m := machine{
		CPU:       cpuid.CPU.BrandName,
		Cores:     runtime.GOMAXPROCS(0),
		OS:        runtime.GOOS,
		Arch:      runtime.GOARCH,
		Go:        runtime.Version(),
		HugePages: hugePages(),
	}
	if m.CPU == "" {
		m.CPU = "unknown"
	}
	for _, kernel := range bloom.Kernels() {
		m.Kernels = append(m.Kernels, kernel.String())
	}
	if kernelforms.Costs != nil {
		m.Forms = kernelforms.Costs()
	}
	return m
}

// forms says how the kernels get the words of a filter, and what that costs.
func (m machine) forms() string {
	if len(m.Forms) == 0 {
		return "one for each kernel"
	}
	costs := make([]string, len(m.Forms))
	for i, f := range m.Forms {
		costs[i] = fmt.Sprintf("%s %s and %s ns", f.Kernel, three(f.Gathers), three(f.Loads))
	}
	return fmt.Sprintf("%s are in use; a key of leveldb by gathers and by loads: %s", m.Forms[0].InUse, strings.Join(costs, "; "))
}

// hugePages returns when Linux gives huge pages: always, madvise (to programs that ask for
// them, as the library does for large filters) or never.
func hugePages() string {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	chosen := regexp.MustCompile(`\[(\w+)\]`).FindSubmatch(text)
	if chosen == nil {
		return "unknown"
	}
	return string(chosen[1])
}

func (m machine) print(w io.Writer) {
	fmt.Fprintf(w, "CPU      %s, %d cores (%s/%s); one is used\n", m.CPU, m.Cores, m.OS, m.Arch)
	fmt.Fprintf(w, "kernels  %s: %s is chosen\n", strings.Join(m.Kernels, ", "), m.Kernels[0])
	fmt.Fprintf(w, "forms    %s\n", m.forms())
	fmt.Fprintf(w, "Go       %s; transparent huge pages: %s\n", m.Go, m.HugePages)
}
