package bloomparquet

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom"
)

// If a filter lacks a value of its row group, queries lose rows without an error. So a filter is used only
// if it is known to be complete, for one of these reasons:
//
//   - An [Embedder] made it: the footer has a mark that applies to this filter and this chunk.
//   - No data page uses a dictionary, and the writer is not known to leave out the values of such pages.
//   - The writer is known to add all values of pages with these encodings. If the writer copied row groups
//     of other writers, all of these writers are known to do so, too.
//   - All data pages use a dictionary, and the filter has all values of the dictionary. The dictionary is read
//     only if the filter excludes a key.
//
// If no bit of a filter is set but its chunk has values, the filter is incomplete, whoever wrote it.

// writer is a program that adds all values of pages with a dictionary to its filters. If it is mixed, it also
// adds the values of pages without a dictionary that follow.
type writer struct {
	name  string // how created_by begins
	since [3]int // the first version that does this, if older versions do not
	mixed bool
	plain bool // whether older versions do not add the values of pages without a dictionary either
}

// The behaviour of these writers is known from the tests of this repository or from their code.
var writers = []writer{
	{name: "DuckDB version ", mixed: true},
	{name: "parquet-mr version ", mixed: true}, // parquet-java
	{name: "parquet-rs version ", mixed: true},
	// arrow-go. Older versions add no values of Arrow dictionary arrays to a filter (its pull request 1164).
	// If the dictionary changes, they write the values before the change without a dictionary (v18.7.0,
	// file/column_writer_types.gen.go:268).
	{name: "parquet-go version ", since: [3]int{18, 8, 0}, mixed: true, plain: true},
	// Arrow C++, since pyarrow writes filters.
	{name: "parquet-cpp-arrow version ", since: [3]int{24, 0, 0}, mixed: true},
	// parquet-go v0.32.0 adds only the values of the dictionary (writer.go:2131). It changes to another
	// encoding at parquet.DictionaryMaxBytes, or at 1 GiB without that option.
	{name: "github.com/parquet-go/parquet-go version "},
	{name: "github.com/segmentio/parquet-go version "},
}

// fills reports whether the program that a footer names fills its filters from pages of a kind.
func fills(createdBy string, pages Pages) bool {
	for _, w := range writers {
		version, found := strings.CutPrefix(createdBy, w.name)
		if !found {
			continue
		}
		// Users of parquet-go choose the name in created_by (parquet.CreatedBy), which may be the name of arrow-go.
		// Unlike other programs, parquet-go writes no space before "(build".
		does := (w.since == [3]int{} || atLeast(version, w.since)) && !(w.mixed && parquetGoBuild(version))
		switch pages {
		case PlainPages:
			return does || !w.plain
		case DictionaryPages:
			return does
		}
		return does && w.mixed
	}
	return pages == PlainPages
}

func parquetGoBuild(version string) bool {
	i := strings.Index(version, "(build ")
	return i == 0 || i > 0 && version[i-1] != ' '
}

// atLeast reports whether a text is a version, such as 18.8.0, and not before another.
func atLeast(text string, version [3]int) bool {
	parts := strings.Split(text, ".")
	if len(parts) != len(version) {
		return false
	}
	later := false
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || !later && int(n) < version[i] {
			return false
		}
		later = later || int(n) > version[i]
	}
	return true
}

// fills reports whether all programs that a footer names fill their filters from pages of a kind.
func (m *Meta) fills(pages Pages) bool {
	names := []string{m.CreatedBy}
	if m.Origins != "" {
		names = append(names, strings.Split(m.Origins, "\n")...)
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !fills(name, pages) })
}

// trust is how a filter is known to be whole.
type trust uint8

const (
	noTrust   trust = iota
	afterMark       // if the footer has a mark for it
	afterProof
	fullTrust
)

// trustOf returns how the filter of a row group can be known to be whole.
func (c *Column) trustOf(i int) trust {
	pages := c.meta.Chunks[i].Pages
	switch {
	case c.meta.fills(pages):
		return fullTrust
	case pages == DictionaryPages && (c.meta.Chunks[i].Codec == uncompressed || c.meta.Decompress != nil):
		return afterProof
	case c.meta.Mark != "":
		return afterMark
	}
	return noTrust
}

// judge returns an error if a filter that was read is not known to be whole. unproven says that prove has to
// decide.
func (c *Column) judge(i int, blocks []byte) (unproven bool, err error) {
	chunk := &c.meta.Chunks[i]
	if len(c.marks) > 0 && c.marks[chunk.Place.mark(blocks)] {
		return false, nil
	}
	if chunk.Rows > 0 && !chunk.Null && isEmpty(blocks) {
		return false, fmt.Errorf("%w: it has no bit set, but the column has values", ErrIncomplete)
	}
	switch c.trustOf(i) {
	case fullTrust:
		return false, nil
	case afterProof:
		return true, nil
	}
	return false, c.distrust()
}

// distrust is the error for a filter if nothing shows whether it is whole.
func (c *Column) distrust() error {
	return fmt.Errorf("%w: values that are not in the dictionary may be missing", ErrIncomplete)
}

// isEmpty reports whether no bit of a filter is set.
func isEmpty(blocks []byte) bool {
	for word := 0; word < len(blocks); word += 8 {
		if binary.LittleEndian.Uint64(blocks[word:]) != 0 {
			return false
		}
	}
	return true
}

// prove returns an error if the filter of a row group lacks a value of the dictionary, which has all values.
func (c *Column) prove(i int, filter *bloom.Filter) error {
	values, err := c.dictionary(i)
	if err != nil {
		return fmt.Errorf("%w: its dictionary cannot be read: %w", ErrIncomplete, err)
	}
	hits := make([]uint64, (values.Len()+63)/64)
	if lacks := values.Len() - filter.MayContainBatch(values, hits); lacks > 0 {
		return fmt.Errorf("%w: it lacks %d of the %d values of the dictionary", ErrIncomplete, lacks, values.Len())
	}
	return nil
}
