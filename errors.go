package bloom

import (
	"errors"

	"github.com/lanebloom/bloom/internal/encoding"
)

// Functions wrap these errors and add details. To test for a specific error, use [errors.Is].
var (
	// ErrFormat means that the format is not one of the [Format] constants, or that a file names a format that
	// this library does not know.
	ErrFormat = errors.New("bloom: unknown format")
	// ErrEncoding means that the bytes are not a valid filter in the given format, or not a valid filter file.
	// For a [Set], it can also mean that no keys can be added to the filter (see [OpenSet]).
	ErrEncoding = encoding.Err
	// ErrKeys means that offsets, widths, views or bitmaps do not describe a valid column of keys.
	ErrKeys = errors.New("bloom: malformed key column")
	// ErrCapacity means that a number of keys or filters is negative, or that a filter would be too large.
	ErrCapacity = errors.New("bloom: capacity out of range")
	// ErrRate means that no filter of the format has the requested false-positive rate.
	ErrRate = errors.New("bloom: false-positive rate out of reach")
	// ErrShape means that two sets differ in format, size or number of probes, that a set cannot be folded, or
	// that a filter does not fit a [Group] or an [Interleaved].
	ErrShape = errors.New("bloom: wrong shape")
	// ErrKind means that two sets have keys of different kinds, or that a kind cannot be stored in a file.
	ErrKind = errors.New("bloom: wrong kind of keys")
	// ErrKernel means that this CPU or this build does not support the kernel.
	ErrKernel = errors.New("bloom: kernel not available")
)

// unstored is embedded in types that have no text. Without it, JSON would make empty objects of them, without an error.
type unstored struct{}

// MarshalText always returns an error, because values of this type have no text form.
func (unstored) MarshalText() ([]byte, error) {
	return nil, errors.New("bloom: values of this type are not stored as text")
}
