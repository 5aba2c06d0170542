// Command asm generates the assembly of package bloom:
//
//	go generate github.com/lanebloom/bloom
//
// Each file beside this one has a family of kernels. The files without the prefix neon
// write a kernel once for the instruction sets of vectors.go; the files with it write the
// kernels of arm64.
package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	ConstraintExpr("!purego")
	for _, family := range families {
		for _, form := range family.forms {
			for _, set := range form.sets {
				v := set()
				TEXT(family.name+form.name+v.name(), 0, family.avoSignature())
				form.emit(v)
			}
		}
	}
	oneKeyJumps()
	arm := flag.String("arm64", "", "file to write the assembly of arm64 to")
	flag.Parse()
	writeNEON(*arm)
	pass.Compile = pass.Concat(compile, pass.Func(func(f *ir.File) error {
		dir := filepath.Dir(*arm)
		return errors.Join(
			declare(filepath.Join(dir, "probe_amd64.go"), "!purego", f.Functions()),
			declare(filepath.Join(dir, "probe_generic.go"), "(!amd64 && !arm64) || purego", nil))
	}))
	Generate()
}

// writeNEON writes the assembly of arm64, and its declarations beside it.
func writeNEON(to string) {
	file := neon()
	text, err := file.Compile(printer.NewGoRunConfig())
	check(err)
	check(os.WriteFile(to, text, 0o666))
	check(declare(strings.TrimSuffix(to, ".s")+".go", "!purego", file.Functions()))
}
