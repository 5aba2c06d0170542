package bloom

import (
	"encoding/base64"
	"fmt"

	"github.com/lanebloom/bloom/internal/memory"
)

// This file is about values as text: in JSON and the like, and printed.

// MarshalText returns the short name of the format. The error is [ErrFormat] if f is not one of the constants.
func (f Format) MarshalText() ([]byte, error) {
	if !f.valid() {
		return nil, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText sets f to the format whose short name is text. The error is [ErrFormat] if there is no such
// format.
func (f *Format) UnmarshalText(text []byte) error {
	format, err := ParseFormat(string(text))
	if err == nil {
		*f = format
	}
	return err
}

// MarshalBinary returns the same bytes as MarshalText. It is for encoders such as gob.
func (f Format) MarshalBinary() ([]byte, error) { return f.MarshalText() }

// UnmarshalBinary does the same as UnmarshalText.
func (f *Format) UnmarshalBinary(data []byte) error { return f.UnmarshalText(data) }

// MarshalText returns the filter as a base64-encoded filter file. The package encoding/json stores the result
// as a string. The error is always nil.
func (v view) MarshalText() ([]byte, error) {
	file, err := v.MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, file), err
}

// UnmarshalText sets f to the filter in text, which must be a base64-encoded filter file. The errors are the
// same as those of [Filter.UnmarshalBinary].
func (f *Filter) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return f.take(v, err)
}

// UnmarshalText replaces the contents of s with the filter in text, which must be a base64-encoded filter
// file. The errors are the same as those of [Set.UnmarshalBinary].
func (s *Set) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return s.take(v, err)
}

// MarshalText returns a snapshot of s as a base64-encoded filter file. The package encoding/json stores the
// result as a string. The error is always nil.
func (s AtomicSet) MarshalText() ([]byte, error) { return s.Snapshot().MarshalText() }

// UnmarshalText replaces the contents of s with the filter in text, which must be a base64-encoded filter
// file. The errors are the same as those of [Set.UnmarshalBinary]. No other goroutine may use s during the
// call.
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

// MarshalText always returns an error, because a Hash has no text form. To get the words of a hash, call
// [Hash.Words].
func (h Hash) MarshalText() ([]byte, error) { return unstored{}.MarshalText() }

// String returns one line with the format, the number of bits, the number of probes, and the number of keys if
// it is known.
func (v view) String() string {
	_, s := v.encoded()
	line := fmt.Sprintf("%v filter of %d bits and %d probes", v.format, s.Bits, s.Probes)
	if n, known := v.KeyCount(); known {
		line += fmt.Sprintf(" for %d keys", n)
	}
	return line
}
