package main

import (
	"io"

	"github.com/lanebloom/bloom/internal/outputfile"
)

func (s *streams) outputs() outputfile.Streams {
	return outputfile.Streams{In: s.in, Out: s.out, Err: s.err}
}

// writeFile writes the file of a name, which must not be one of the inputs.
func writeFile(s *streams, name string, data []byte, inputs ...string) error {
	return s.outputs().Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, inputs...)
}

// checkOutput finds out before the work that writeFile would fail. An empty name is
// no file.
func checkOutput(s *streams, name string, inputs ...string) error {
	return s.outputs().Check(name, inputs...)
}

// checkStdout refuses inputs that are standard output, too.
func (s *streams) checkStdout(inputs ...string) error { return s.outputs().CheckStdout(inputs...) }
