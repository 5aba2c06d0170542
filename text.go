package bloom

import (
	"encoding/base64"
	"fmt"

	"github.com/lanebloom/bloom/internal/memory"
)

// This file is about values as text: in JSON and the like, and printed.

// MarshalText returns the short name of the format, or [ErrFormat].
func (f Format) MarshalText() ([]byte, error) {
	if !f.valid() {
		return nil, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText sets f to the format with the given short name, as [ParseFormat] finds it.
func (f *Format) UnmarshalText(text []byte) error {
	format, err := ParseFormat(string(text))
	if err == nil {
		*f = format
	}
	return err
}

// MarshalBinary is MarshalText, for encoders such as gob.
func (f Format) MarshalBinary() ([]byte, error) { return f.MarshalText() }

// UnmarshalBinary is UnmarshalText.
func (f *Format) UnmarshalBinary(data []byte) error { return f.UnmarshalText(data) }

// MarshalText returns the filter as a filter file in base64. In JSON it is a string. The error is always nil.
func (v view) MarshalText() ([]byte, error) {
	file, err := v.MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, file), err
}

// UnmarshalText reads text, a filter file in base64, into f, as [Filter.UnmarshalBinary] does.
func (f *Filter) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return f.take(v, err)
}

// UnmarshalText reads text, a filter file in base64, into s, as [Set.UnmarshalBinary] does.
func (s *Set) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return s.take(v, err)
}

// MarshalText returns a snapshot of s as a filter file in base64. In JSON it is a string. The error is always
// nil.
func (s AtomicSet) MarshalText() ([]byte, error) { return s.Snapshot().MarshalText() }

// UnmarshalText reads text, a filter file in base64, into s, as [Set.UnmarshalText] does. No goroutine may
// use s during the call.
func (s *AtomicSet) UnmarshalText(text []byte) error { return s.take(decodeText(text)) }

// decodeText reads a file in base64.
func decodeText(text []byte) (view, error) {
	file := memory.Extend(nil, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(file, text)
	if err != nil {
		return view{}, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return verifyFile(file[:n])
}

// MarshalText returns an error. Hashes have no text form: [Hash.Words] returns their numbers.
func (h Hash) MarshalText() ([]byte, error) { return unstored{}.MarshalText() }

// String returns a line with the format, the shape, and the number of keys if it is known.
func (v view) String() string {
	_, s := v.encoded()
	line := fmt.Sprintf("%v filter of %d bits and %d probes", v.format, s.Bits, s.Probes)
	if n, known := v.KeyCount(); known {
		line += fmt.Sprintf(" for %d keys", n)
	}
	return line
}
