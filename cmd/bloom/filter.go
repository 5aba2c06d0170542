package main

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/lanebloom/bloom"
)

type filterCommand struct {
	filterFlags
	keysFlags
	Invert bool     `short:"v" help:"Print the lines that are certainly not in the filter."`
	Count  bool     `short:"c" help:"Print how many lines there are, not the lines."`
	File   string   `arg:"" name:"filter" help:"The filter."`
	Stream []string `arg:"" optional:"" help:"Files to filter, in this order (standard input)."`

	printed bool // whether a header was printed
}

// Help is what bloom filter --help says, too.
func (f *filterCommand) Help() string {
	return filterHelp + inputsHelp + `
The lines or records that pass are printed as they are, with the carriage returns that --crlf leaves out of the keys. Before them comes the header of the first stream, if it has one.
The filter or a stream that is also standard output is an error, as it is for grep, unless only a count is printed (-c).
A line of more than 128 KiB takes twice its length in memory; a record of CSV may have 64 MiB.`
}

// Run filters the lines of all streams as if they were one. If it cannot read a stream, it
// goes on with the next, as grep does.
func (f *filterCommand) Run(s *streams) error {
	if !f.Count {
		if err := s.checkStdout(f.File); err != nil {
			return err
		}
	}
	if _, err := f.records(); err != nil {
		return err
	}
	known, err := f.openFilter(s, f.File)
	if err != nil {
		return err
	}
	streams := f.Stream
	if len(streams) == 0 {
		streams = []string{"-"}
	}
	progress, done := func(int) {}, func() {}
	if f.Count || !isTerminal(s.out) { // a progress bar would cut through lines on a terminal
		progress, done = bytesBar(s, "filtering", streams)
	}
	passed := 0
	var failures []error
	for _, name := range streams {
		n, err := f.filter(s, known.Filter, name, progress)
		passed += n
		if failed := (*outputError)(nil); errors.As(err, &failed) {
			done()
			return failed
		}
		failures = append(failures, err)
	}
	done()
	if f.Count {
		if _, err := fmt.Fprintln(s.out, passed); err != nil {
			return err
		}
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if passed == 0 {
		return errNone
	}
	return nil
}

// outputError is an error of writing. Unlike an error of reading, it ends the command.
type outputError struct{ error }

// filter prints the lines of one stream and returns their number.
func (f *filterCommand) filter(s *streams, filter *bloom.Filter, name string, progress func(int)) (passed int, err error) {
	if !f.Count {
		if err := s.checkStdout(name); err != nil {
			return 0, err
		}
	}
	err = f.read(s, name, progress, func(in *input) error {
		if err := f.printHeader(s, in.header); err != nil {
			return err
		}
		return in.work(
			func(c *chunk) { f.test(c, filter, in.records.delimiter) },
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

// printHeader prints the header of the first stream that has one.
func (f *filterCommand) printHeader(s *streams, header []byte) error {
	if f.Count || f.printed || len(header) == 0 {
		return nil
	}
	f.printed = true
	if _, err := s.out.Write(header); err != nil {
		return &outputError{err}
	}
	return nil
}

// test finds the records of a chunk to print.
func (f *filterCommand) test(c *chunk, filter *bloom.Filter, delimiter byte) {
	words := (len(c.keys) + 63) / 64
	if cap(c.hits) < words {
		c.hits = make([]uint64, words)
	}
	c.hits = c.hits[:words]
	c.passed = filter.MayContainBatch(bloom.Bytes(c.keys), c.hits)
	if f.Invert {
		c.passed = len(c.keys) - c.passed
	}
	if f.Count {
		return
	}
	out := c.data[:0] // no record moves beyond where one is still to be read
	for i, hits := range c.hits {
		if f.Invert {
			n := min(64, len(c.keys)-64*i)
			hits = ^hits << (64 - n) >> (64 - n)
		}
		for ; hits != 0; hits &= hits - 1 {
			out = append(out, c.record(64*i+bits.TrailingZeros64(hits), delimiter)...)
		}
	}
	c.out = out
}
