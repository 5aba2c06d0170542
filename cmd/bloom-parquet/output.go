package main

import "github.com/lanebloom/bloom/cmd/internal/outputfile"

func (s *streams) outputs() outputfile.Streams {
	return outputfile.Streams{In: s.in, Out: s.out, Err: s.err}
}
