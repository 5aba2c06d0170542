package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// cpu is a CPU on which a part ran, and a kernel of this library.
type cpu struct {
	run
	kernel string
}

// firstKernel returns the kernel that is chosen on a CPU.
func (r run) firstKernel() string {
	kernel, _, _ := strings.Cut(cmp.Or(r.Config["kernel"], r.Config["kernels"]), ",")
	return kernel
}

// withAndWithout returns the CPU with AVX-512 that was measured last, and that without it. If there is none without it, that with
// it stands for it, by its kernel avx2.
func withAndWithout(runs []run) (cpus []cpu) {
	for _, kernel := range []string{"avx512", "avx2"} {
		last := -1
		for i, r := range runs {
			if r.firstKernel() == kernel && (last < 0 || r.Date > runs[last].Date) {
				last = i
			}
		}
		switch {
		case last >= 0:
			cpus = append(cpus, cpu{runs[last], kernel})
		case len(cpus) > 0:
			cpus = append(cpus, cpu{cpus[0].run, kernel})
		}
	}
	return cpus
}

// byKernel says if the CPU has a faster kernel, which was not used.
func (c cpu) byKernel() bool { return c.kernel != c.firstKernel() }

// words name the CPU, and the kernel.
func (c cpu) words() string {
	if c.byKernel() {
		return c.name + " limited to " + kernelWords[c.kernel]
	}
	return c.name + ", " + kernelWords[c.kernel]
}

// kernelWords are what tables call the kernels.
var kernelWords = map[string]string{"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON"}

// sizesOfColumns are the sizes of filters in the tables of columns.
var sizesOfColumns = []string{"16KiB", "8MiB", "64MiB"}

func headOfColumns(first ...string) []string {
	for _, kind := range []string{"integers: ", "strings: "} {
		for _, size := range sizesOfColumns {
			first = append(first, kind+labelOf(size))
			kind = ""
		}
	}
	return first
}

// cells has the times of absent and present integers, and strings, of a format, in filters of all sizes. It is nil if the page is
// older than the format.
func (k cpu) cells(format string) (cells []string) {
	for _, keys := range []string{"uint64", "8-32"} {
		for _, size := range sizesOfColumns {
			at := fmt.Sprintf("Test/keys=%s/format=%s/filter=%s/hits=", keys, format, size)
			absent, err := k.find(at + "0%/way=" + k.kernel)
			if err != nil {
				return nil
			}
			present, err := k.find(at + "100%/way=" + k.kernel)
			if err != nil {
				return nil
			}
			cells = append(cells, fmt.Sprintf("%s %s, %s %s", digits(absent.Ns), times(absent.X), digits(present.Ns), times(present.X)))
		}
	}
	return cells
}

// columnsTable has a row for each format, on a CPU with AVX-512 and on one without it.
func columnsTable(code string, files []*file, _ string) (string, error) {
	reports := runsOf(files, "report")
	t := race.NewTable(headOfColumns("", "<CPU")...)
	for _, f := range formats() {
		for _, k := range withAndWithout(reports) {
			if cells := k.cells(f.String()); cells != nil {
				t.Row(append([]string{"`" + f.String() + "`", k.words()}, cells...)...)
			}
		}
	}
	return t.String() + "\n" + sourcesOf(code, reports), nil
}

// cpusTable has a row for each kernel of each CPU but portable Go, with the times of the default format.
func cpusTable(code string, files []*file, _ string) (string, error) {
	t := race.NewTable(headOfColumns("CPU")...)
	for _, r := range runsOf(files, "report") {
		kernels, _, _ := strings.Cut(r.Config["kernels"], ";")
		for kernel := range strings.SplitSeq(kernels, ", ") {
			if kernel == bloom.Generic.String() {
				continue
			}
			k := cpu{r, kernel}
			cells := k.cells(bloom.Default.String())
			if cells == nil {
				return "", fmt.Errorf("%s has no figures of the kernel %s", r.stem, kernel)
			}
			words := strings.Replace(k.words(), r.name, fmt.Sprintf("[%s](%s.md)", r.name, r.stem), 1)
			if r.Code != code {
				words += ", older code"
			}
			t.Row(append([]string{words}, cells...)...)
		}
	}
	return t.String(), nil
}
