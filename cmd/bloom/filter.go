package main

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lanebloom/bloom"
)

type filterCommand struct {
	filterFlags
	keysFlags
	Invert bool     `short:"v" help:"Print the lines that are certainly not in the filter."`
	Count  bool     `short:"c" help:"Print how many lines there are, not the lines."`
	Verify string   `placeholder:"KEYS" help:"Look up what passes in this file, the keys of the filter, one per line: only its keys pass then, and no false positives."`
	Force  bool     `help:"Take KEYS also if they are fewer than the filter says that it has."`
	File   string   `arg:"" name:"filter" help:"The filter."`
	Stream []string `arg:"" optional:"" help:"Files to filter, in this order (standard input)."`

	header   printedHeader
	passed   int // records
	chance   chance
	verifier *verifier
}

// Help is what bloom filter --help says, too.
func (f *filterCommand) Help() string {
	return filterHelp + inputsHelp + `
The lines or records that pass are printed as they are, with the carriage returns that --crlf leaves out of the keys. Before them comes the header of the first stream, if it has one; a stream with another header is an error.
With --verify, lines wait until they and their keys take 64 MiB, and are then looked up in one reading of KEYS, which is a regular file. In all that takes up to 130 MiB more than without the flag. With -v, the lines that are not among KEYS pass: all of them, and no others.
The filter or a stream that is also standard output is an error, as it is for grep, unless only a count is printed (-c).
A line of more than 128 KiB takes twice its length in memory; a long record of CSV or JSON takes up to eight times its length.`
}

// Run filters the lines of all streams as if they were one. If it cannot read a stream, it
// goes on with the next, as grep does.
func (f *filterCommand) Run(s *streams) error {
	f.passed, f.header, f.chance = 0, printedHeader{}, chance{}
	if !f.Count {
		if err := s.checkStdout(f.File, f.Verify); err != nil {
			return err
		}
	}
	f.prepareMissing()
	if _, err := f.records(); err != nil {
		return err
	}
	if f.Verify != "" {
		var err error
		if f.verifier, err = newVerifier(s, f); err != nil {
			return err
		}
	}
	known, err := f.openText(s, f.File)
	if err != nil {
		return err
	}
	if count, said := known.KeyCount(); said && f.verifier != nil && !f.Force {
		f.verifier.fewest = count
	}
	streams := f.Stream
	if len(streams) == 0 {
		streams = []string{"-"}
	}
	progress, done := func(int) {}, func() {}
	if f.Count || !isTerminal(s.out) { // a progress bar would cut through lines on a terminal
		progress, done = bytesBar(s, "filtering", streams)
	}
	var failures []error
	for _, name := range streams {
		err := f.filter(s, known.Filter, name, progress)
		if endsAll(err) {
			done()
			return err
		}
		failures = append(failures, err)
	}
	done()
	if f.verifier != nil {
		if err := f.verifier.flush(s); err != nil {
			return err
		}
	}
	if f.Count {
		if _, err := fmt.Fprintln(s.out, f.passed); err != nil {
			return err
		}
	}
	f.chance.warn(s, known.Filter)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if f.passed == 0 {
		return errNone
	}
	return nil
}

// prepareMissing chooses what becomes of a record of a table without a key, if --missing does not say it.
func (f *filterCommand) prepareMissing() {
	f.prints = true
	switch {
	case f.Missing != missingUnsaid || !f.CSV && !f.JSONL:
	case f.Invert:
		f.Missing = missingKeep
	default:
		f.Missing = missingDrop
	}
}

// outputError is an error of writing. Unlike an error of reading, it ends the command.
type outputError struct{ error }

// endsAll reports whether an error ends the command, and not only the reading of one stream.
func endsAll(err error) bool {
	output, verify := (*outputError)(nil), (*verifyError)(nil)
	return errors.As(err, &output) || errors.As(err, &verify)
}

// filter prints the records of one stream that pass.
func (f *filterCommand) filter(s *streams, filter *bloom.Filter, name string, progress func(int)) error {
	if !f.Count {
		if err := s.checkStdout(name); err != nil {
			return err
		}
	}
	return f.read(s, name, progress, func(in *input) error {
		if err := f.printHeader(s, name, in); err != nil {
			return err
		}
		f.chance.look(name, &in.records, in.head)
		delimiter := in.records.delimiter
		return in.work(
			func(c *chunk) { f.test(c, filter, delimiter) },
			func(c *chunk) error {
				f.chance.keys, f.chance.found = f.chance.keys+len(c.keys), f.chance.found+c.found
				if f.verifier != nil {
					return f.verifier.add(s, c, delimiter)
				}
				return f.print(s, c.out, c.passed)
			})
	})
}

// printedHeader is the header that the records of all streams stand under.
type printedHeader struct {
	stream string
	names  []string
}

// printHeader prints the header of the first stream that has one. A stream with another is an error, unless
// only a count is printed: its records would stand under names that are not theirs.
func (f *filterCommand) printHeader(s *streams, name string, in *input) error {
	names := in.records.names
	switch {
	case f.Count || len(names) == 0 || slices.Equal(names, f.header.names):
		return nil
	case len(f.header.names) > 0:
		return fmt.Errorf("%s: the header is %s, and that of %s, which is printed, is %s: filter the two one at a time",
			shown(name), shownNames(names), shown(f.header.stream), shownNames(f.header.names))
	}
	f.header = printedHeader{name, names}
	return f.print(s, in.header, 0)
}

// print prints n records, unless only their number is asked for.
func (f *filterCommand) print(s *streams, records []byte, n int) error {
	f.passed += n
	if f.Count || len(records) == 0 {
		return nil
	}
	if _, err := s.out.Write(records); err != nil {
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
	c.found = filter.MayContainBatch(bloom.Bytes(c.keys), c.hits)
	c.passed = c.found
	if f.Invert {
		c.passed = len(c.keys) - c.passed
	}
	f.letPass(c)
	if f.Count || f.verifier != nil {
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

// letPass makes the records pass that have no key and are to be printed.
func (f *filterCommand) letPass(c *chunk) {
	for _, i := range c.certain {
		if bit := uint64(1) << (i % 64); (c.hits[i/64]&bit != 0) == f.Invert {
			c.hits[i/64] ^= bit
			c.passed++
		}
	}
}
