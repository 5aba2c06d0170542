package bloom

import (
	"fmt"
	"strings"
)

// KeyKind describes what the bytes of a filter's keys represent. For example, the number 42 has different
// bytes as text and as a 64-bit integer. The header of a filter file records the kind. A program can use the
// kind to reject keys of a different kind, which would otherwise appear to be absent. The kind does not
// affect the answers of a filter.
//
// A kind is a name of up to 32 printable ASCII characters. The package adapter/parquet uses the names of
// Parquet's column types, such as INT64.
type KeyKind string

const (
	// KindUnknown means that no kind was set. A filter has this kind if it was opened from bytes without a
	// file header, or from a file that does not record a kind.
	KindUnknown KeyKind = ""
	// KindText is the kind of keys that are text.
	KindText KeyKind = "text"
)

// mostKeyKind is the most bytes of a kind of keys.
const mostKeyKind = 32

// valid reports whether a file can hold the kind.
func (k KeyKind) valid() bool {
	return len(k) <= mostKeyKind && !strings.ContainsFunc(string(k), func(r rune) bool { return r < ' ' || r > '~' })
}

func (k KeyKind) check() error {
	if !k.valid() {
		return fmt.Errorf("%w: %.40q is not a name of up to %d ASCII characters", ErrKind, string(k), mostKeyKind)
	}
	return nil
}

// and returns the kind of the keys of two sets together.
func (k KeyKind) and(other KeyKind) (KeyKind, error) {
	switch {
	case k == KindUnknown || other == KindUnknown:
		return KindUnknown, nil
	case k != other:
		return k, fmt.Errorf("%w: %s and %s", ErrKind, k, other)
	}
	return k, nil
}
