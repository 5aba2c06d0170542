package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// kernelOf is a kernel of a CPU that has a page.
type kernelOf struct {
	page
	kernel string
}

// withAndWithout returns the kernels of the first CPU with AVX-512, and of the first without it. If there is none without it, that with
// it stands for it, by its kernel avx2.
func withAndWithout(pages []page) (kernels []kernelOf) {
	i := slices.IndexFunc(pages, func(p page) bool { return p.kernel == "avx512" })
	j := slices.IndexFunc(pages, func(p page) bool { return p.kernel == "avx2" })
	if i >= 0 {
		kernels = append(kernels, kernelOf{pages[i], "avx512"})
	}
	if j < 0 {
		j = i
	}
	if j >= 0 {
		kernels = append(kernels, kernelOf{pages[j], "avx2"})
	}
	return kernels
}

// words name the CPU, and the kernel if a faster one was there.
func (k kernelOf) words() string {
	if k.kernel != k.page.kernel {
		return k.Name + " by kernel " + k.kernel
	}
	return k.Name + ", " + k.kernel
}

// sizesOfColumns are those of the tables of columns.
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
func (k kernelOf) cells(format string) (cells []string) {
	for _, keys := range []string{"uint64", "8-32"} {
		for _, size := range sizesOfColumns {
			at := fmt.Sprintf("Test/keys=%s/format=%s/filter=%s/hits=", keys, format, size)
			absent, err := k.report.find(at + "0%/way=" + k.kernel)
			if err != nil {
				return nil
			}
			present, err := k.report.find(at + "100%/way=" + k.kernel)
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
	pages := pagesOf(files)
	t := race.NewTable(headOfColumns("", "<CPU")...)
	for _, f := range formats() {
		for _, k := range withAndWithout(pages) {
			if cells := k.cells(f.String()); cells != nil {
				t.Row(append([]string{"`" + f.String() + "`", k.words()}, cells...)...)
			}
		}
	}
	return t.String() + "\n" + sourcesOf(code, pages), nil
}

// cpusTable has a row for each kernel of each CPU but portable Go, with the times of the default format.
func cpusTable(code string, files []*file, _ string) (string, error) {
	t := race.NewTable(headOfColumns("CPU")...)
	for _, p := range pagesOf(files) {
		kernels, _, _ := strings.Cut(p.report.Config["kernels"], ";")
		for kernel := range strings.SplitSeq(kernels, ", ") {
			if kernel == bloom.Generic.String() {
				continue
			}
			k := kernelOf{p, kernel}
			cells := k.cells(bloom.Default.String())
			if cells == nil {
				return "", fmt.Errorf("%s has no figures of the kernel %s", p.stem, kernel)
			}
			words := strings.Replace(k.words(), p.Name, fmt.Sprintf("[%s](%s.md)", p.Name, p.stem), 1)
			if p.report.Code != code {
				words += ", older code"
			}
			t.Row(append([]string{words}, cells...)...)
		}
	}
	return t.String(), nil
}
