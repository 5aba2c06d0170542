package bloomparquet

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Meta describes a column of a file. The information is from the footer of the file. The packages parquetgo
// and arrowgo read it from open files of parquet-go and arrow-go.
type Meta struct {
	File   string // a name for messages
	Path   string // of the column in the schema, with dots
	Type   Type
	Input  io.ReaderAt // the file
	Size   int64       // of the file in bytes
	Chunks []Chunk     // one for each row group
	// CreatedBy is the field created_by of the footer: the program that wrote the file.
	CreatedBy string
	// Origins is the value of [OriginsKey] in the key-value metadata of the footer.
	Origins string
	// Mark is the value of [MarkKey] in the key-value metadata of the footer.
	Mark string
	// Decompress decompresses a page. The result should have the given size. Without this function, the
	// package reads no compressed dictionary. Goroutines that share a [Column] may call it at the same time.
	Decompress func(codec int32, data []byte, size int) ([]byte, error)
}

// Chunk describes a column in one row group. The information is from the footer of the file.
type Chunk struct {
	Rows int64 // of the row group
	// FilterOffset is the offset of the filter's header in the file. 0 means that there is no filter.
	FilterOffset int64
	// FilterLength is the number of bytes of header and blocks. It is 0 if the writer did not store it, as
	// before version 2.10 of the format.
	FilterLength int64
	// Min and Max are bounds of all values, PLAIN bytes without a length, in the order that the format
	// defines for the type. They need not be values of the column. An empty slice means that the bound is not
	// known. [Chunk.SetBounds] computes them from a footer.
	Min, Max []byte
	// Unordered is true if the footer has bounds, but does not record their order.
	Unordered bool
	// Encrypted is true if the filter is encrypted.
	Encrypted bool
	// Pages describes how the data pages are encoded.
	Pages Pages
	// Null is true if all values are null according to the statistics. For a column inside a repeated field it
	// is not used.
	Null bool
	// Place identifies the column chunk. [Meta.Mark] refers to it.
	Place Place
	// DictionaryOffset is the offset of the dictionary page, or 0 if the footer does not record it. Codec is
	// the compression of all pages.
	DictionaryOffset int64
	Codec            int32 // a CompressionCodec of parquet.thrift
}

// Pages describes how the data pages of a column chunk are encoded.
type Pages uint8

// The kinds of chunks.
const (
	UnknownPages    Pages = iota // the footer does not record it
	PlainPages                   // without a dictionary
	DictionaryPages              // all with a dictionary
	MixedPages                   // some with a dictionary and some without
)

// PagesOf returns how the data pages of a column chunk are encoded. The encodings are numbers of
// parquet.thrift. If stats is true, they are the encodings of the data pages in encoding_stats. If the chunk
// has no encoding_stats, stats is false, and they are all encodings of the chunk. Then PLAIN may be the
// encoding of a dictionary, and RLE the encoding of levels.
func PagesOf[E ~int32 | ~int64](stats bool, encodings []E) Pages {
	dictionary := slices.ContainsFunc(encodings, isDictionary)
	switch other := slices.ContainsFunc(encodings, func(e E) bool { return !isDictionary(e) }); {
	case dictionary && !stats:
		return UnknownPages
	case dictionary && other:
		return MixedPages
	case dictionary:
		return DictionaryPages
	case other:
		return PlainPages
	}
	return UnknownPages
}

// Encodings of parquet.thrift.
const (
	encodingPlain      = 0
	encodingPlainOld   = 2 // PLAIN_DICTIONARY
	encodingDictionary = 8 // RLE_DICTIONARY
)

func isDictionary[E ~int32 | ~int64](e E) bool {
	return e == encodingDictionary || e == encodingPlainOld
}

// Compressions of pages: a CompressionCodec of parquet.thrift.
const (
	uncompressed = 0
	snappy       = 1
)

// Place identifies a column chunk: num_values, data_page_offset and total_compressed_size of its metadata.
type Place struct{ Values, Offset, Size int64 }

// OriginsKey is a key of the footer's key-value metadata. parquet-java's ParquetRewriter copies row groups
// with their filters. Under this key it stores the created_by of each file that it read, one on each line.
// These identify the writers of the filters, which the created_by of the new file does not.
const OriginsKey = "original.created.by"

// Statistics describes the values of a column in one row group. Its fields are the fields of the same names
// in parquet.thrift. A field is empty if the footer does not have it.
type Statistics struct {
	MinValue, MaxValue []byte
	Min, Max           []byte // deprecated
}

// SetBounds sets the bounds from the statistics of a footer, if they can be used. The argument ordered is
// true if the column_orders of the footer have a TypeDefinedOrder for the column. Without it, the order in
// which the writer compared min_value and max_value is not known. The deprecated fields min and max are
// compared as signed numbers, so they are used only for signed types. A column inside a repeated field must
// not get bounds: arrow-go writes wrong ones (rank.go).
func (c *Chunk) SetBounds(t Type, s Statistics, ordered bool) {
	value, deprecated := len(s.MinValue)+len(s.MaxValue) > 0, len(s.Min)+len(s.Max) > 0
	c.Min, c.Max, c.Unordered = nil, nil, false
	switch {
	case value && ordered:
		c.Min, c.Max = s.MinValue, s.MaxValue
	case deprecated && t.order() == signedOrder:
		c.Min, c.Max = s.Min, s.Max
	default:
		c.Unordered = value || deprecated
	}
}

// NoColumnError is the error for a path that no column of the file has.
type NoColumnError struct {
	Path    string
	Columns []string // the paths that the file has
}

func (e *NoColumnError) Error() string {
	const most = 40
	names, more := e.Columns, ""
	if len(names) == 0 {
		more = "none"
	}
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("parquet: no column %q: the file has %s%s", e.Path, strings.Join(quoted, ", "), more)
}

// FindColumn returns the number of the column with the given path, counted from 0. The argument paths
// contains the paths of all columns of the file. The error is a [NoColumnError] if the file has no such
// column.
func FindColumn(paths []string, path string) (leaf int, err error) {
	leaf = slices.Index(paths, path)
	switch {
	case leaf < 0:
		return 0, &NoColumnError{path, paths}
	case slices.Contains(paths[leaf+1:], path):
		return 0, fmt.Errorf("parquet: several columns %q", path)
	}
	return leaf, nil
}
