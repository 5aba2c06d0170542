package bloom

import (
	"fmt"
	"strings"
)

// KeyKind says what the bytes of a filter's keys stand for: the number 42 has other bytes as text than
// as an integer of 64 bits. The header of a file has it, so that a program that asks with keys
// of another kind gets an error, and not the answer no to all of them. The kind changes no answer of
// a filter.
//
// A kind is a name of up to 32 printable characters of ASCII. [KindText] is the kind of text. The
// package adapter/parquet has names for the types of Parquet's columns, such as INT64.
type KeyKind string

const (
	// KindUnknown is the kind if nobody said it: of bare bytes, and of files that do not have it.
	KindUnknown KeyKind = ""
	// KindText is the kind of keys that are text, byte for byte.
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
		return fmt.Errorf("%w: %.40q is no name of up to %d characters of ASCII", ErrKind, string(k), mostKeyKind)
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
