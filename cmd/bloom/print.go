package main

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// printer prints records, unless only their number is asked for.
type printer struct {
	Count bool `short:"c" help:"Print how many lines there are, not the lines."`
	All   bool `help:"Where a record has several keys, all of them decide, and not any."`

	header printedHeader
	passed int // records
}

// printedHeader is the header that the records of all streams stand under. Without names, it is how many fields
// records of CSV have.
type printedHeader struct {
	stream string
	names  []string
	fields int
}

// printHeader prints the header of the first stream that has one. A stream with another, or with another number of
// fields, is an error, unless only a count is printed: its records would stand under names that are not theirs.
func (p *printer) printHeader(s *cli.Streams, name string, in *input) error {
	names, fields := in.records.names, in.records.columns
	switch {
	case p.Count || fields == 0 || fields == p.header.fields && slices.Equal(names, p.header.names):
		return nil
	case p.header.fields == 0:
		p.header = printedHeader{name, names, fields}
		return p.print(s, in.header, 0)
	case len(names) == 0:
		return fmt.Errorf("%s: the number of fields is %d, and that of %s, which is printed, is %d: filter the two one at a time",
			show.Name(name), fields, show.Name(p.header.stream), p.header.fields)
	}
	return fmt.Errorf("%s: the header is %s, and that of %s, which is printed, is %s: filter the two one at a time",
		show.Name(name), shownNames(names), show.Name(p.header.stream), shownNames(p.header.names))
}

// print prints n records, unless only their number is asked for.
func (p *printer) print(s *cli.Streams, records []byte, n int) error {
	p.passed += n
	if p.Count || len(records) == 0 {
		return nil
	}
	if wrote, err := s.Out.Write(records); err != nil {
		return &outputError{err, wrote}
	}
	return nil
}

// printCount prints how many records there were, if that is asked for.
func (p *printer) printCount(s *cli.Streams) error {
	if !p.Count {
		return nil
	}
	if _, err := fmt.Fprintln(s.Out, p.passed); err != nil {
		return &outputError{error: err}
	}
	return nil
}

// outputError is an error of writing, after so many bytes. Unlike an error of reading, it ends the command.
type outputError struct {
	error
	wrote int
}

func (e *outputError) Unwrap() error { return e.error }

// endsAll reports whether an error ends the command, and not only the reading of one stream.
func endsAll(err error) bool {
	output, verify := (*outputError)(nil), (*verifyError)(nil)
	return errors.As(err, &output) || errors.As(err, &verify)
}

// wordsFor returns words for the bits of n keys, the old ones if they are enough.
func wordsFor(words []uint64, n int) []uint64 {
	n = (n + 63) / 64
	return slices.Grow(words[:0], n)[:n]
}

// choose finds the records that pass, by the bits of their keys in hits: those of which some key hits or, if all
// is set, every one does. invert chooses the other records. Records without a key that are in the chunk pass
// whatever is asked for.
func (c *chunk) choose(all, invert bool) {
	n := c.len()
	c.chosen = wordsFor(c.chosen, n)
	if len(c.ends) == 0 {
		copy(c.chosen, c.hits)
	} else {
		c.chooseByKeys(all)
	}
	if invert {
		for i := range c.chosen {
			c.chosen[i] = ^c.chosen[i] << (64 - min(64, n-64*i)) >> (64 - min(64, n-64*i))
		}
	}
	for _, i := range c.certain {
		c.chosen[i/64] |= 1 << (i % 64)
	}
	c.passed = 0
	for _, word := range c.chosen {
		c.passed += bits.OnesCount64(word)
	}
}

// chooseByKeys sets the bits of the records of which some key hits, or every one.
func (c *chunk) chooseByKeys(all bool) {
	clear(c.chosen)
	key := 0
	for i, end := range c.ends {
		passes := all
		for ; key < end; key++ {
			if hit := c.hits[key/64]>>(key%64)&1 != 0; hit != all {
				passes = hit
			}
		}
		if passes {
			c.chosen[i/64] |= 1 << (i % 64)
		}
	}
}

// gather moves the records that pass to the front of data.
func (c *chunk) gather(delimiter byte) {
	out := c.data[:0] // no record moves beyond where one is still to be read
	for i, word := range c.chosen {
		for ; word != 0; word &= word - 1 {
			out = append(out, c.record(64*i+bits.TrailingZeros64(word), delimiter)...)
		}
	}
	c.out = out
}
