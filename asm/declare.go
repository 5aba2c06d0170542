package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/printer"
)

// avoSignature returns the type of the functions of a family for avo, which knows no type of package bloom: a pointer is as good as
// another.
func (f *family) avoSignature() string {
	return "func" + structs.ReplaceAllString(f.signature(), "*byte")
}

var structs = regexp.MustCompile(`\*(prober|hashes|fullProbes)\b`)

func (f *family) signature() string { return "(" + f.taken() + ") (" + f.results + ")" }

// ofLayout begins the arguments of an entry for several layouts, ofProber those of one for a prober, and ofKernel those of one for
// a prober that another kernel may serve.
const (
	ofLayout = "layout layout, "
	ofProber = "s *prober, "
	ofKernel = "kernel Kernel, "
)

// taken returns the arguments that the functions of an entry take.
func (f *family) taken() string {
	return strings.TrimPrefix(strings.TrimPrefix(f.arguments, ofLayout), ofKernel)
}

// kernels are the suffixes of functions. A kernel without a function of its own takes that of the next
// one, if it has a line for that.
var kernels = []struct{ name, instead string }{{"AVX512", "AVX2"}, {"AVX2", ""}, {"NEON", ""}}

// layouts are what follows the family in the name of a hash's function, and the layouts that it serves.
var layouts = []struct{ name, layouts string }{
	{"Width4", "uint32s"},
	{"Width8", "uint64s"},
	{"Width16", "fixedWidth"},
	{"Any", "byteSlices, strs, offsets32, offsets64, fixedWidth"},
}

// declare writes a Go file with the entries and the declarations of an architecture's functions.
func declare(file, constraint string, functions []*ir.Function) error {
	members := make([][]string, len(families))
	stubs := map[string]string{}
	for _, f := range functions {
		i := -1
		for j, family := range families {
			if strings.HasPrefix(f.Name, family.name) && (i < 0 || len(family.name) > len(families[i].name)) {
				i = j
			}
		}
		if i < 0 {
			return fmt.Errorf("%s is of no family in entries.go", f.Name)
		}
		members[i] = append(members[i], f.Name)
		if stubs[f.Name] = f.Stub(); families[i].arguments != "" {
			stubs[f.Name] = "func " + f.Name + families[i].signature()
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n//go:build %s\n\npackage bloom\n", printer.NewGoRunConfig().GeneratedWarning(), constraint)
	if len(functions) > 0 {
		b.WriteString("\nimport (\n\t\"unsafe\"\n\n\t\"github.com/lanebloom/bloom/internal/keyhash\"\n\t\"github.com/lanebloom/bloom/internal/probes\"\n)\n\n" + guards())
	}
	for i, family := range families {
		entry := family.arguments != "" && inGo[family.name] == "" && !slices.Contains(targets, family.name)
		if entry || len(members[i]) > 0 {
			b.WriteString(strings.ReplaceAll(family.doc, "\n\t\t", "\n// ") + "\n")
		}
		if entry {
			b.WriteString(family.entry(members[i]))
		}
		for _, name := range members[i] {
			fmt.Fprintf(&b, "\n//go:noescape\n%s\n", stubs[name])
		}
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}

// entry returns the Go function of an entry, which calls one of some functions.
func (f *family) entry(functions []string) string {
	var b strings.Builder
	results := "ok bool"
	if f.results != "" {
		results = f.results + ", ok bool"
	}
	arguments, kernel := ofKernel+strings.TrimPrefix(f.arguments, ofKernel), "kernel"
	if strings.HasPrefix(f.arguments, ofProber) {
		arguments, kernel = f.arguments, "s.kernel"
	}
	fmt.Fprintf(&b, "func %s(%s) (%s) {\n", f.name, arguments, results)
	if len(functions) > 0 {
		b.WriteString("switch " + kernel + " {\n" + f.cases(functions) + "}\n")
	}
	fmt.Fprintf(&b, "return %s\n}\n", strings.Join(append(names(f.results), "false"), ", "))
	return b.String()
}

// cases returns those of the switch over the kernels.
func (f *family) cases(functions []string) string {
	var b strings.Builder
	if !strings.HasPrefix(f.arguments, ofLayout) {
		for _, name := range functions {
			fmt.Fprintf(&b, "case %s:\n%s\n", strings.Join(f.kernels(name, functions), ", "), f.call(name))
		}
		return b.String()
	}
	for _, k := range kernels {
		inner := ""
		for _, l := range layouts {
			if name := f.name + l.name + k.name; slices.Contains(functions, name) {
				inner += fmt.Sprintf("case %s:\n%s\n", l.layouts, f.call(name))
			}
		}
		if inner != "" {
			fmt.Fprintf(&b, "case %s:\nswitch layout {\n%s}\n", k.name, inner)
		}
	}
	return b.String()
}

// kernels returns those that a function of an entry serves.
func (f *family) kernels(function string, all []string) (served []string) {
	for _, k := range kernels {
		if own := f.name + k.name; function == own || function == f.name+k.instead && !slices.Contains(all, own) {
			served = append(served, k.name)
		}
	}
	return served
}

// call returns the statements that call a function with the arguments of the entry.
func (f *family) call(function string) string {
	call := function + "(" + strings.Join(names(f.taken()), ", ") + ")"
	if f.results == "" {
		return call + "\nreturn true"
	}
	return "return " + call + ", true"
}

// names returns the names of arguments or results.
func names(list string) (names []string) {
	for _, one := range strings.Split(list, ",") {
		if one != "" {
			names = append(names, strings.Fields(one)[0])
		}
	}
	return names
}
