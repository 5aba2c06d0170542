package bloomparquet

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Meta describes a column of a file. The information comes from the footer of the file. The packages
// parquetgo and arrowgo fill in a Meta for files that you have opened with parquet-go and arrow-go.
type Meta struct {
	File   string // name of the file, for messages
	Path   string // path of the column in the schema, with dots between the names
	Type   Type
	Input  io.ReaderAt // the file
	Size   int64       // size of the file in bytes
	Chunks []Chunk     // one for each row group
	// CreatedBy is the field created_by of the footer. It names the program that wrote the file.
	CreatedBy string
	// Origins is the value of [OriginsKey] in the key-value metadata of the footer.
	Origins string
	// Mark is the value of [MarkKey] in the key-value metadata of the footer.
	Mark string
	// Decompress returns the decompressed bytes of a page. The argument codec is the compression codec,
	// numbered as in parquet.thrift, and size is the expected length of the result. If Decompress is nil,
	// the package reads no compressed dictionaries. If several goroutines share a [Column], Decompress must
	// be safe for concurrent use.
	Decompress func(codec int32, data []byte, size int) ([]byte, error)
}

// Chunk describes a column chunk, which is the part of a column in one row group. The information comes
// from the footer of the file.
type Chunk struct {
	Rows int64 // number of rows in the row group
	// FilterOffset is the offset of the filter's header in the file, or 0 if there is no filter.
	FilterOffset int64
	// FilterLength is the length of the filter in bytes, including its header. It is 0 if the footer does
	// not record the length.
	FilterLength int64
	// Min and Max are a lower and an upper bound of all values, in the order that the format defines for the
	// type. Both are in PLAIN encoding, without a length prefix. The bounds need not be values of the
	// column. An empty slice means that the bound is not known. [Chunk.SetBounds] sets them from the
	// statistics in a footer.
	Min, Max []byte
	// Unordered is true if the footer has bounds but does not record their order.
	Unordered bool
	// Encrypted is true if the filter is encrypted.
	Encrypted bool
	// Pages describes how the data pages are encoded.
	Pages Pages
	// Null is true if the statistics report that all values are null. Do not set Null for a column inside a
	// repeated field, because arrow-go counts nulls wrongly there (see rank.go).
	Null bool
	// Place identifies the column chunk. [Meta.Mark] refers to column chunks by their Place.
	Place Place
	// DictionaryOffset is the offset of the dictionary page, or 0 if the footer does not record it.
	DictionaryOffset int64
	// Codec is the compression codec of all pages, numbered as in parquet.thrift.
	Codec int32
}

// Pages describes how the data pages of a column chunk are encoded.
type Pages uint8

// Values of Pages.
const (
	UnknownPages    Pages = iota // the footer does not record the encodings of the pages
	PlainPages                   // no page uses a dictionary
	DictionaryPages              // all pages use a dictionary
	MixedPages                   // some pages use a dictionary, and some do not
)

// PagesOf returns how the data pages of a column chunk are encoded. Encodings are numbered as in
// parquet.thrift. If the metadata of the chunk has encoding_stats, pass true and the encodings that
// encoding_stats lists for data pages. Otherwise, pass false and all encodings of the chunk. These also
// include the encodings of the dictionary page and of the levels. So if one of them is RLE_DICTIONARY or
// PLAIN_DICTIONARY, it is not known whether all data pages use the dictionary, and PagesOf returns
// UnknownPages.
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

// Place identifies a column chunk by three fields of its metadata: num_values, data_page_offset and
// total_compressed_size.
type Place struct{ Values, Offset, Size int64 }

// OriginsKey is a key in the key-value metadata of the footer. The ParquetRewriter of parquet-java copies
// row groups and their filters from other files. It stores the created_by fields of these files under
// OriginsKey, one per line. These fields, not the created_by field of the new file, name the writers of the
// filters.
const OriginsKey = "original.created.by"

// Statistics describes the values of a column in one row group. Its fields have the same names and meanings
// as in parquet.thrift. A field is empty if the footer does not have it.
type Statistics struct {
	MinValue, MaxValue []byte
	Min, Max           []byte // deprecated
}

// SetBounds sets Min, Max and Unordered from the statistics in a footer. It leaves Min and Max empty if the
// statistics cannot be used. Pass true for ordered if column_orders in the footer has a TypeDefinedOrder
// for the column. If ordered is false, SetBounds does not use min_value and max_value, because the order in
// which the writer compared values is unknown. For the deprecated fields min and max, writers compared
// values as signed numbers, so SetBounds uses these fields only for signed types.
//
// Do not call SetBounds for a column inside a repeated field, because arrow-go writes wrong bounds for such
// columns (see rank.go).
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

// NoColumnError is the error for a path that does not name a column of the file.
type NoColumnError struct {
	Path    string
	Columns []string // the paths of all columns of the file
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

// FindColumn returns the number of the column with the given path, counted from 0. The first argument lists
// the paths of all columns of the file. If no column has the path, the error is a [*NoColumnError].
// FindColumn also returns an error if several columns have that path.
func FindColumn(paths []string, path string) (leaf int, err error) {
	leaf = slices.Index(paths, path)
	switch {
	case leaf < 0:
		return 0, &NoColumnError{path, paths}
	case slices.Contains(paths[leaf+1:], path):
		return 0, fmt.Errorf("parquet: several columns have the path %q", path)
	}
	return leaf, nil
}
