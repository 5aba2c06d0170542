package bloom

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
)

// This file is about values as text: in JSON and the like, printed, and logged.

// MarshalText returns the short name of the format, or [ErrFormat].
func (f Format) MarshalText() ([]byte, error) {
	if !f.valid() {
		return nil, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText makes f the format with the given short name, as [ParseFormat] does.
func (f *Format) UnmarshalText(text []byte) error {
	format, err := ParseFormat(string(text))
	if err == nil {
		*f = format
	}
	return err
}

// MarshalText returns the file of the filter in base64. In JSON it is a string. The error is
// always nil.
func (v view) MarshalText() ([]byte, error) {
	file, err := v.MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, file), err
}

// UnmarshalText makes f the filter in a file in base64, as [Filter.UnmarshalBinary] does.
func (f *Filter) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return f.take(v, err)
}

// UnmarshalText makes s the set with the contents of a file in base64, as
// [Set.UnmarshalBinary] does.
func (s *Set) UnmarshalText(text []byte) error {
	v, err := decodeText(text)
	return s.take(v, err)
}

// decodeText reads a file in base64.
func decodeText(text []byte) (view, error) {
	file := extend(nil, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(file, text)
	if err != nil {
		return view{}, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return verifyFile(file[:n])
}

// String returns a line that tells the format, the shape, and the number of keys if it is
// known.
func (v view) String() string {
	_, s := v.encoded()
	line := fmt.Sprintf("%v filter of %d bits and %d probes", v.format, s.bits, s.probes)
	if n, known := v.KeyCount(); known {
		line += fmt.Sprintf(" for %d keys", n)
	}
	return line
}

// LogValue returns the attributes format, bits, probes, and keys if their number is known.
func (v view) LogValue() slog.Value {
	_, s := v.encoded()
	attributes := []slog.Attr{slog.String("format", v.format.String()), slog.Uint64("bits", s.bits), slog.Int("probes", s.probes)}
	if n, known := v.KeyCount(); known {
		attributes = append(attributes, slog.Uint64("keys", n))
	}
	return slog.GroupValue(attributes...)
}

// String returns a line such as "leveldb with 10 bits per key".
func (p Policy) String() string {
	return fmt.Sprintf("%v with %d bits per key", p.Format, p.BitsPerKey)
}

// LogValue returns the attributes format and bits_per_key.
func (p Policy) LogValue() slog.Value {
	return slog.GroupValue(slog.String("format", p.Format.String()), slog.Int("bits_per_key", p.BitsPerKey))
}

// statsJSON is Stats with a number of keys that may be null.
type statsJSON struct {
	Bits              uint64
	SetBits           uint64
	Probes            int
	Keys              *float64
	FalsePositiveRate float64
}

// MarshalJSON returns the fields as an object. JSON has no infinite number: an infinite number
// of keys is null.
func (s Stats) MarshalJSON() ([]byte, error) {
	keys := &s.Keys
	if math.IsInf(s.Keys, 1) {
		keys = nil
	}
	return json.Marshal(statsJSON{s.Bits, s.SetBits, s.Probes, keys, s.FalsePositiveRate})
}

// UnmarshalJSON reads what MarshalJSON returns. As for other types of Go, null changes nothing.
func (s *Stats) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var read statsJSON
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*s = Stats{read.Bits, read.SetBits, read.Probes, math.Inf(1), read.FalsePositiveRate}
	if read.Keys != nil {
		s.Keys = *read.Keys
	}
	return nil
}
