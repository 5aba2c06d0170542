package bloom

import (
	"errors"

	"github.com/lanebloom/bloom/internal/encoding"
)

// Functions wrap these errors with details. Test for them with [errors.Is].
var (
	// ErrFormat: the format is not one of the constants, or a file names a format that this
	// library does not know.
	ErrFormat = errors.New("bloom: unknown format")
	// ErrEncoding: the bytes are not a filter of the format, or not a filter file. For a [Set], also: the
	// filter has no bits that can be set.
	ErrEncoding = encoding.Err
	// ErrKeys: offsets, widths, views or bitmaps do not describe a column of keys.
	ErrKeys = errors.New("bloom: malformed key column")
	// ErrCapacity: the number of keys is negative, or the filter is too large.
	ErrCapacity = errors.New("bloom: capacity out of range")
	// ErrRate: no filter of the format has the requested false-positive rate.
	ErrRate = errors.New("bloom: false-positive rate out of reach")
	// ErrShape: two sets differ in format, size or number of probes; a set cannot be folded; or the filters of
	// a group differ in format.
	ErrShape = errors.New("bloom: wrong shape")
	// ErrKind: two sets have keys of different kinds, or a kind cannot be stored in a file.
	ErrKind = errors.New("bloom: wrong kind of keys")
	// ErrKernel: this CPU or this build does not have the kernel.
	ErrKernel = errors.New("bloom: kernel not available")
)

// unstored is embedded in types that have no text. Without it, JSON would make empty objects of them, without an error.
type unstored struct{}

// MarshalText returns an error, because the value has no text form.
func (unstored) MarshalText() ([]byte, error) {
	return nil, errors.New("bloom: values of this type are not stored as text")
}
