// Package golden reads and writes files of filters that a storage engine made, or a
// program that follows the engine's documentation. They pin the formats byte for
// byte: TestGolden of compare writes them, and the tests of the root package read them.
package golden

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
)

// File is a file of filters, with their provenance.
type File struct {
	Provenance string   `json:"provenance"`
	Filters    []Filter `json:"filters"`
}

// Filter is one filter that an engine wrote.
type Filter struct {
	Format     string `json:"format"` // as the library calls it
	Keys       Kind   `json:"keys"`
	N          int    `json:"n"` // built from keys 0 to N-1 of the kind
	BitsPerKey int    `json:"bits_per_key"`
	Encoded    []byte `json:"encoded"`

	// FalsePositives has the first of the Searched keys from N on to which the
	// engine answers yes.
	FalsePositives []int `json:"false_positives"`
}

// Searched is the number of absent keys that the engine tested for each filter.
const Searched = 4000

// Kind names a sequence of keys.
type Kind string

// The kinds of keys.
const (
	Integers Kind = "integers" // key i is i as 4 little-endian bytes
	Decimals Kind = "decimals" // key i is "key" and i in at least 6 digits
	Mixed    Kind = "mixed"    // key i has 1 + i%131 bytes of every value
)

// Kinds lists every kind.
var Kinds = []Kind{Integers, Decimals, Mixed}

// Key returns key i.
func (k Kind) Key(i int) []byte {
	switch k {
	case Integers:
		return binary.LittleEndian.AppendUint32(nil, uint32(i))
	case Decimals:
		return fmt.Appendf(nil, "key%06d", i)
	case Mixed:
		key := make([]byte, 1+i%131)
		for j := range key {
			key[j] = byte((uint32(i)*131 + uint32(j) + 1) * 0x9e3779b1 >> 24)
		}
		return key
	}
	panic("golden: unknown kind of key " + string(k))
}

// Range returns keys from to to-1.
func (k Kind) Range(from, to int) [][]byte {
	keys := make([][]byte, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, k.Key(i))
	}
	return keys
}

// Read reads a file of filters.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := new(File)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Write writes a file of filters.
func (f *File) Write(path string) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
