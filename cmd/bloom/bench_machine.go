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
)

// machine has the properties of the machine on which the results depend.
type machine struct {
	CPU       string   `json:"cpu"`
	Cores     int      `json:"cores"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	Go        string   `json:"go"`
	Kernels   []string `json:"kernels"` // the first is the one chosen
	HugePages string   `json:"huge_pages"`
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
	return m
}

// hugePages returns which memory Linux backs with huge pages: always (all memory), madvise (only memory for which a
// program requests them, as the library does for large filters) or never.
func hugePages() string {
	text, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	chosen := regexp.MustCompile(`\[(\w+)\]`).FindSubmatch(text)
	if chosen == nil {
		return "unknown"
	}
	return string(chosen[1])
}

func (m machine) print(w io.Writer) {
	fmt.Fprintf(w, "CPU      %s, %d cores (%s/%s); one is used\n", m.CPU, m.Cores, m.OS, m.Arch)
	fmt.Fprintf(w, "kernels  %s: %s is chosen\n", strings.Join(m.Kernels, ", "), m.Kernels[0])
	fmt.Fprintf(w, "Go       %s; transparent huge pages: %s\n", m.Go, m.HugePages)
}
