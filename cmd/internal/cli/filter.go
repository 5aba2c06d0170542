package cli

import (
	"errors"
	"io"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// FilterFlags say how the commands read a filter.
type FilterFlags struct {
	Format *Format `placeholder:"NAME" help:"Format of bare bytes: ${formats}. If the file has a header, the header must name the same format."`
	Raw    bool    `help:"Read the file as bare bytes, even if it looks like something else."`
}

// FilterHelp is the part of the help that the commands that read a filter share.
var FilterHelp = `Filters: A filter is a file that bloom build wrote, or the bare bytes that a storage engine wrote. Files are recognised by their first bytes, and their checksums are verified.
For bare bytes, --format names the format. You may leave it out for ` + formatNames(filterfile.FormatsInBytes(), " and ") + `, because these bytes contain their format.
Bare bytes are refused if they are empty or look like text, a compressed file, a table or a filter of a different format, unless --raw is given.

`

// Options say how to take the bytes of a filter.
func (f FilterFlags) Options() filterfile.Options {
	o := filterfile.Options{Asked: f.Format != nil, Raw: f.Raw}
	if o.Asked {
		o.Format = f.Format.Format
	}
	return o
}

// Open reads a filter; "-" is standard input. It warns of bare bytes that no writer of the format writes.
func (f FilterFlags) Open(s *Streams, path string) (filterfile.Filter, error) {
	filter, doubt, err := f.Options().Read(path, func(path string) ([]byte, error) {
		if path == "-" {
			return io.ReadAll(s.In)
		}
		return outputfile.Read(path)
	})
	if doubt != "" {
		s.Warn(path, doubt)
	}
	return filter, err
}

// OpenText is Open for a filter that is asked for keys of text, or gets them.
func (f FilterFlags) OpenText(s *Streams, path string) (filterfile.Filter, error) {
	filter, err := f.Open(s, path)
	if err == nil {
		err = filter.CheckKeys(show.Name(path), "the keys here are", bloom.KindText)
	}
	return filter, err
}

// BuiltFormat returns the format of a filter to build: the one that is asked for, or the usual one. Bare
// bytes have no usual one.
func BuiltFormat(asked *Format, raw bool, usual bloom.Format) (bloom.Format, error) {
	switch {
	case asked != nil:
		return asked.Format, nil
	case raw:
		return 0, errors.New("--raw writes the bytes that a storage engine reads: name their format with --format")
	}
	return usual, nil
}

// EncodeFilter returns the bytes of a filter, or of one with the keys of a set: bare, or those of a file.
func EncodeFilter(filter interface {
	Bytes() []byte
	MarshalBinary() ([]byte, error)
}, bare bool) ([]byte, error) {
	if bare {
		return filter.Bytes(), nil
	}
	return filter.MarshalBinary()
}

// WriteFilter writes a filter to a file or, without a name, to standard output.
func (s *Streams) WriteFilter(to Output, data []byte) error {
	if to == "" {
		_, err := s.Out.Write(data)
		return err
	}
	return s.Outputs().WriteBytes(string(to), data)
}

// RefuseTerminal returns an error if a filter, without the name of a file, would go to a terminal.
func (s *Streams) RefuseTerminal(to Output) error {
	if to == "" && IsTerminal(s.Out) {
		return errors.New("will not write a filter to a terminal: name a file with -o")
	}
	return nil
}
