package main

import (
	"errors"
	"fmt"
	"math/bits"
	"os"

	"github.com/lanebloom/bloom"
)

type filterCommand struct {
	formatFlag
	linesFlag
	Invert bool     `short:"v" help:"Print the lines that are certainly not in the filter."`
	Count  bool     `short:"c" help:"Print how many lines there are, not the lines."`
	File   string   `arg:"" name:"filter" help:"The filter."`
	Stream []string `arg:"" optional:"" help:"Files to filter, in this order (standard input)."`
}

// Run prints the lines of all streams as if they were one. As grep does, it
// goes on to the next stream after one that cannot be read.
func (f *filterCommand) Run(s *streams) error {
	format, err := f.parse()
	if err != nil {
		return err
	}
	filter, _, err := openFilter(format, f.File)
	if err != nil {
		return err
	}
	streams := f.Stream
	if len(streams) == 0 {
		streams = []string{"-"}
	}
	progress, done := func(int) {}, func() {}
	if f.Count || !isTerminal(s.out) { // else a bar would cut through the lines
		progress, done = bytesBar(s, "filtering", streams)
	}
	passed := 0
	var failures []error
	for _, name := range streams {
		n, err := f.filter(s, filter, name, progress)
		passed += n
		if failed := (*outputError)(nil); errors.As(err, &failed) {
			done()
			return failed
		}
		failures = append(failures, err)
	}
	done()
	if f.Count {
		fmt.Fprintln(s.out, passed)
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if passed == 0 {
		return errNone
	}
	return nil
}

// outputError is an error of writing: there is no going on after it.
type outputError struct{ error }

// filter prints the lines of one stream and returns their number.
func (f *filterCommand) filter(s *streams, filter *bloom.Filter, name string, progress func(int)) (passed int, err error) {
	err = oneInput(s, name, func(file *os.File) error {
		return pipeline(file, f.delimiter(), progress,
			func(c *chunk) { f.test(c, filter) },
			func(c *chunk) error {
				passed += c.passed
				if len(c.out) == 0 {
					return nil
				}
				if _, err := s.out.Write(c.out); err != nil {
					return &outputError{err}
				}
				return nil
			})
	})
	return passed, err
}

// test finds the lines of a chunk to print.
func (f *filterCommand) test(c *chunk, filter *bloom.Filter) {
	words := (len(c.lines) + 63) / 64
	if cap(c.hits) < words {
		c.hits = make([]uint64, words)
	}
	c.hits = c.hits[:words]
	c.passed = filter.MayContainBatch(bloom.Bytes(c.lines), c.hits)
	if f.Invert {
		c.passed = len(c.lines) - c.passed
	}
	if f.Count {
		return
	}
	out := c.out[:0]
	for i, hits := range c.hits {
		lines := c.lines[64*i : min(64*i+64, len(c.lines))]
		if f.Invert {
			hits = ^hits << (64 - len(lines)) >> (64 - len(lines))
		}
		for ; hits != 0; hits &= hits - 1 {
			line := lines[bits.TrailingZeros64(hits)]
			out = append(out, line[:len(line)+1]...) // the delimiter follows it
		}
	}
	c.out = out
}
