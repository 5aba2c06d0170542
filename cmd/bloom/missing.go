package main

import (
	"errors"
	"fmt"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// missingKey says what becomes of a record without a key.
type missingKey uint8

const (
	missingUnsaid missingKey = iota
	missingError
	missingDrop
	missingKeep
)

// UnmarshalText reads a value of --missing.
func (m *missingKey) UnmarshalText(text []byte) error {
	for i, name := range []string{"error", "drop", "keep"} {
		if string(text) == name {
			*m = missingError + missingKey(i)
			return nil
		}
	}
	return fmt.Errorf("it must be error, drop or keep, and not %q", text)
}

// noKeyError is the error of a record that is whole, and has no key.
type noKeyError struct{ why func() string }

func (e *noKeyError) Error() string { return e.why() }

// skips reports whether the command goes on after an error of a record.
func (r *records) skips(err error) bool {
	return r.missing > missingError && errors.As(err, new(*noKeyError))
}

// skipped counts the records without a key.
type skipped struct {
	n     int
	first error // of the first
}

// add counts the records of a chunk, before which there are so many newlines.
func (s *skipped) add(c *chunk, newlines int) {
	if s.n == 0 {
		s.first = after(newlines, c.skipped.first)
	}
	s.n += c.skipped.n
}

// warn says how many records had no key.
func (s *skipped) warn(to *cli.Streams, name string, r *records) {
	if s.n == 0 {
		return
	}
	records, what := fmt.Sprintf("%d records have no key and are", s.n), "left out"
	if s.n == 1 {
		records = "1 record has no key and is"
	}
	if r.missing == missingKeep {
		what = "printed"
	}
	to.Warn(name, fmt.Sprintf("%s %s; the first: %v", records, what, s.first))
}
