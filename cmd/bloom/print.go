package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// printer prints records, unless only their number is asked for.
type printer struct {
	Count bool `short:"c" help:"Print only the number of lines."`
	All   bool `help:"If a record has several keys, require every key to match, not just one."`

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
func (p *printer) printHeader(s *cli.Streams, name string, in *records.Input) error {
	names, fields := in.Names, in.Fields
	switch {
	case p.Count || fields == 0 || fields == p.header.fields && slices.Equal(names, p.header.names):
		return nil
	case p.header.fields == 0:
		p.header = printedHeader{name, names, fields}
		return p.print(s, in.Header, 0)
	case len(names) == 0:
		return fmt.Errorf("%s: the number of fields is %d, but in %s, whose header was printed, it is %d: filter the files one at a time",
			show.Name(name), fields, show.Name(p.header.stream), p.header.fields)
	}
	return fmt.Errorf("%s: the header is %s, but the header of %s, which was printed, is %s: filter the files one at a time",
		show.Name(name), show.Names(names), show.Name(p.header.stream), show.Names(p.header.names))
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

// outputError is an error of writing, and the number of bytes written before. Unlike an error of reading, it
// ends the command.
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
