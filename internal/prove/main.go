// Command prove runs the steps of make test and make prove: see CONTRIBUTING.md.
//
//	go run ./internal/prove [-list] STEP...
//
// A STEP is the name of one, or of the folder that several have in common: test/purego, prove/emulated, test.
// Each prints a line when it ends, and what its command printed if the command failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	list := flag.Bool("list", false, "print the steps and their commands instead of running them")
	flag.Parse()
	if err := run(*list, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func run(list bool, names []string) error {
	tree, err := readTree(".")
	if err != nil {
		return err
	}
	chosen, err := choose(tree.steps(hostKernels()), names)
	if err != nil {
		return err
	}
	if list {
		for _, s := range chosen {
			fmt.Printf("%s:\n\t%s\n", s.name, strings.Join(append(slices.Clone(s.env), s.script), "\n\t"))
		}
		return nil
	}
	for tool, from := range map[string]string{"bash": "Git for Windows has it, too", "git": "https://git-scm.com"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("the steps need %s, which is not in PATH: install it (%s)", tool, from)
		}
	}
	for name, value := range settings(tree.documents) {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	// One more at a time than there are cores, since steps wait for browsers and servers.
	if failed := runAll(ctx, chosen, runtime.NumCPU()+1, os.Stdout); len(failed) > 0 {
		return fmt.Errorf("%d of %d steps failed: make %s", len(failed), len(chosen), strings.Join(failed, " "))
	}
	fmt.Printf("%s passed in %v by %s\n", strings.Join(names, " "), time.Since(start).Round(time.Second), runtime.Version())
	if slices.Contains(names, "prove") {
		fmt.Print(proved(hostKernels(), hostName()))
	}
	return nil
}

// settings returns the environment of all steps. What is compiled here is run a few times and never debugged: no debugging
// information, no optimization of C, and a compiler that collects its garbage only beyond 1 GiB. No test ends by the
// clock: on a busy machine, any may take long.
func settings(documents uint64) map[string]string {
	flags := os.Getenv("GOFLAGS") + " -vet=off -timeout=12h -gcflags=all=-dwarf=false"
	if _, err := exec.LookPath("env"); err == nil && runtime.GOOS != "windows" {
		flags += " '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'"
	}
	return map[string]string{
		"GOFLAGS":              flags,
		"CGO_CFLAGS":           os.Getenv("CGO_CFLAGS") + " -O0",
		"BLOOM_TEST_DOCUMENTS": strconv.FormatUint(documents, 16),
	}
}

// choose returns the steps with such names, or in such folders, in their order.
func choose(all []step, names []string) (chosen []step, err error) {
	if len(names) == 0 {
		return nil, errors.New("name steps, such as test or prove/fuzz: go run ./internal/prove -list test prove prints all")
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s step) bool { return s.is(name) }) {
			return nil, fmt.Errorf("no step is called %s: go run ./internal/prove -list test prove prints all", name)
		}
	}
	for _, s := range all {
		if slices.ContainsFunc(names, s.is) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}
