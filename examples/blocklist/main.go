// Command blocklist reads names from standard input and prints the names that a list of domains blocks.
// It is an example to copy: list.go has the filter, the search that makes the answers exact, and the
// reload of the list.
//
//	go run ./examples/blocklist -make 860000 > domains.txt
//	printf 'ads.example.com\nwww.acorn-1.net\n' | go run ./examples/blocklist domains.txt
//
// When the file of the list changes, the command reloads it. Meanwhile, it answers with the old list.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

func main() {
	count := flag.Int("make", 0, "print a list of this many domains, the same in every run")
	every := flag.Duration("reload", time.Second, "how often to check whether the list has changed")
	flag.Parse()
	if err := run(*count, *every, flag.Args(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "blocklist:", err)
		os.Exit(2)
	}
}

func run(count int, every time.Duration, args []string, in io.Reader, out, log io.Writer) (err error) {
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	if count > 0 {
		for _, domain := range domains(count) {
			fmt.Fprintln(w, domain) // w keeps the first error
		}
		return nil
	}
	if len(args) != 1 || every <= 0 {
		return errors.New("usage: blocklist [-reload 1s] LIST < NAMES, or blocklist -make N > LIST")
	}
	var list Blocklist
	if err := list.Load(args[0]); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go list.watch(args[0], every, done, log)
	for names := bufio.NewScanner(in); ; {
		if !names.Scan() {
			return names.Err()
		}
		blocked, err := list.Blocked(names.Text())
		if err != nil {
			return err
		}
		if blocked {
			fmt.Fprintln(w, names.Text())
		}
	}
}

// watch reloads the list when its file has changed. If it cannot load the new list, it reports the
// error and keeps the old list.
func (b *Blocklist) watch(path string, every time.Duration, done <-chan struct{}, log io.Writer) {
	before, _ := os.Stat(path)
	for {
		select {
		case <-done:
			return
		case <-time.After(every):
		}
		now, err := os.Stat(path)
		if err != nil || before != nil && os.SameFile(before, now) && now.ModTime().Equal(before.ModTime()) {
			continue
		}
		before = now
		if err := b.Load(path); err != nil {
			fmt.Fprintln(log, "blocklist: keeping the old list:", err)
		}
	}
}

// domains returns n domains, sorted by their bytes. Every call returns the same domains.
func domains(n int) []string {
	words := [...]string{"acorn", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath"}
	tops := [...]string{"com", "net", "org", "io"}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s-%d.%s", words[i%len(words)], i/(len(words)*len(tops)), tops[i/len(words)%len(tops)])
	}
	slices.Sort(list)
	return list
}
