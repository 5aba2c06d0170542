package bloomparquet

import (
	"fmt"
	"unicode/utf8"
)

// KeyError is the error for a key that is not a value of the column's type.
type KeyError struct {
	Index int    // position of the key, from 0
	Text  string // the key
	Type  Type   // the type of the column
	Why   string // the reason, such as "it is negative"
}

func newKeyError(i int, text string, t Type, why refusal) *KeyError {
	return &KeyError{i, text, t, why.String()}
}

func (e *KeyError) Error() string {
	text := e.Text
	if most := 60; len(text) > most {
		text = text[:most] + "…"
	}
	if !utf8.ValidString(text) {
		return fmt.Sprintf("parquet: key %d, %x, is not a value of %v: %s", e.Index, text, e.Type, e.Why)
	}
	return fmt.Sprintf("parquet: key %d, %q, is not a value of %v: %s", e.Index, text, e.Type, e.Why)
}

// refusal says why a column cannot have a value. The zero refusal refuses nothing.
type refusal struct {
	reason reason
	detail string // what follows the words of the reason
}

// reason is the kind of a refusal.
type reason uint8

const (
	noReason      reason = iota
	mistaken             // the value is of another kind than the column's: whoever wrote it erred
	negative             // in a column of numbers without a sign
	outOfRange           // of the type or of its unit
	tooWide              // for the bits or bytes of a value
	tooManyDigits        // before or after the point
	betweenUnits         // of a time
)

var reasons = [...]string{
	negative:      "it is negative",
	outOfRange:    "it is out of the range of ",
	tooWide:       "it does not fit into ",
	tooManyDigits: "it has more than ",
	betweenUnits:  "it is not a whole number of ",
}

// mistake returns the refusal of a value of another kind.
func mistake(why string) refusal { return refusal{mistaken, why} }

// ok reports whether nothing is refused.
func (r refusal) ok() bool { return r.reason == noReason }

// outside reports whether the value is of the column's kind, and only none of its values: a number outside of
// its range or with more digits than it stores, or a time between two of its units. A value of another kind
// is an error of whoever wrote it.
func (r refusal) outside() bool { return r.reason > mistaken }

func (r refusal) String() string { return reasons[r.reason] + r.detail }
