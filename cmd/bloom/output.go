package main

import (
	"errors"
	"io"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

func (s *streams) outputs() outputfile.Streams {
	return outputfile.Streams{In: s.in, Out: s.out, Err: s.err}
}

// writeFile writes the file of a name.
func writeFile[name cli.Output | cli.State](s *streams, to name, data []byte) error {
	return s.outputs().Write(string(to), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeFilter writes a filter to a file or, without a name, to standard output.
func writeFilter(s *streams, to cli.Output, data []byte) error {
	if to == "" {
		_, err := s.out.Write(data)
		return err
	}
	return writeFile(s, to, data)
}

// refuseTerminal returns an error if a filter, without the name of a file, would go to a terminal.
func refuseTerminal(s *streams, to cli.Output) error {
	if to == "" && isTerminal(s.out) {
		return errors.New("will not write a filter to a terminal: name a file with -o")
	}
	return nil
}
