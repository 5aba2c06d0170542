package records

import (
	"errors"
	"fmt"
)

// Missing says what becomes of a record without a key.
type Missing uint8

// What becomes of it: an error, nothing, or what a record with a key becomes.
const (
	MissingUnsaid Missing = iota
	MissingError
	MissingDrop
	MissingKeep
)

// UnmarshalText reads a value of --missing.
func (m *Missing) UnmarshalText(text []byte) error {
	for i, name := range []string{"error", "drop", "keep"} {
		if string(text) == name {
			*m = MissingError + Missing(i)
			return nil
		}
	}
	return fmt.Errorf("the value must be error, drop or keep, not %q", text)
}

// noKeyError is the error of a record that is whole, and has no key.
type noKeyError struct{ why func() string }

func (e *noKeyError) Error() string { return e.why() }

// nullError is the error of a record whose key is null.
type nullError struct{ noKeyError }

func (e *nullError) Unwrap() error { return &e.noKeyError }

// nullIf returns the error of an empty field, which is null where tables have nulls.
func (r *layout) nullIf(isEmpty bool) error {
	if !isEmpty || !r.isGuessed {
		return nil
	}
	return &nullError{noKeyError{func() string { return "the field is null" }}}
}

// skips reports whether the command goes on after an error of a record.
func (r *layout) skips(err error) bool {
	return r.missing > MissingError && errors.As(err, new(*noKeyError))
}

// skipped counts the records without a key.
type skipped struct {
	n     int
	first error // of the first
}

// add counts the records of a chunk that stands behind this number of newlines.
func (s *skipped) add(c *Chunk, newlines int) {
	if s.n == 0 {
		s.first = after(newlines, c.skipped.first)
	}
	s.n += c.skipped.n
}

// warning says how many records had no key, or nothing.
func (s *skipped) warning(missing Missing) string {
	if s.n == 0 {
		return ""
	}
	records, what := fmt.Sprintf("%d records have no key and are", s.n), "left out"
	if s.n == 1 {
		records = "1 record has no key and is"
	}
	if missing == MissingKeep {
		what = "printed"
	}
	return fmt.Sprintf("%s %s; the first: %v", records, what, s.first)
}
