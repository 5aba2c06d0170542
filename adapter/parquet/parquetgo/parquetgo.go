// Package parquetgo opens columns of Parquet files that you have opened with parquet-go
// (github.com/parquet-go/parquet-go). You can then test keys against the Bloom filters of the row groups:
//
//	file, err := parquet.OpenFile(f, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
//	column, err := parquetgo.Open(file, "id")
//
// The package github.com/lanebloom/bloom/adapter/parquet describes what to do with the column. That package
// reads the filters itself, so parquet-go need not read them.
//
// The writer of parquet-go v0.32.0 accepts filters of other libraries through the interface
// BloomFilterColumn. However, the header that it writes for such a filter lacks the algorithm, and no
// reader accepts it. So this package does not implement that interface. Use parquet.SplitBlockFilter, which
// builds filters with the same bytes as this library.
package parquetgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// Open returns a column of a file. The path has dots between the names of nested fields, such as
// list.element. The error is a *bloomparquet.NoColumnError if the file has no such column, and
// bloomparquet.ErrType if the format does not allow the type of the column.
func Open(file *parquet.File, path string) (*bloomparquet.Column, error) {
	var paths []string
	for _, names := range file.Schema().Columns() {
		paths = append(paths, strings.Join(names, "."))
	}
	leaf, err := bloomparquet.FindColumn(paths, path)
	if err != nil {
		return nil, err
	}
	return OpenAt(file, leaf)
}

// OpenAt returns the column with the given number. Columns are the leaves of the schema, counted from 0.
func OpenAt(file *parquet.File, leaf int) (*bloomparquet.Column, error) {
	footer := file.Metadata()
	element := leafElement(footer.Schema, leaf)
	if element == nil {
		return nil, fmt.Errorf("parquetgo: no column %d", leaf)
	}
	m := bloomparquet.Meta{
		Path:   strings.Join(file.Schema().Columns()[leaf], "."),
		Type:   typeOf(element),
		Input:  file,
		Size:   file.Size(),
		Chunks: make([]bloomparquet.Chunk, len(footer.RowGroups)),

		CreatedBy:  footer.CreatedBy,
		Decompress: decompress,
	}
	m.Mark, _ = file.Lookup(bloomparquet.MarkKey)
	m.Origins, _ = file.Lookup(bloomparquet.OriginsKey)
	ordered := leaf < len(footer.ColumnOrders) && isTypeOrder(footer.ColumnOrders[leaf])
	repeated := isRepeated(file.Root(), leaf)
	for i := range footer.RowGroups {
		group := &footer.RowGroups[i]
		if leaf >= len(group.Columns) {
			return nil, fmt.Errorf("parquetgo: row group %d has only %d columns", i, len(group.Columns))
		}
		if c := &group.Columns[leaf]; c.CryptoMetadata.Value == nil && c.MetaData.Type != element.Type.V {
			return nil, fmt.Errorf("%w: column %s has the type %v in the schema, but %v in row group %d", bloomparquet.ErrFooter, m.Path, element.Type.V, c.MetaData.Type, i)
		}
		m.Chunks[i] = chunk(&group.Columns[leaf])
		m.Chunks[i].Rows = group.NumRows
		if s := &group.Columns[leaf].MetaData.Statistics; !repeated {
			m.Chunks[i].Null = s.NullCount > 0 && s.NullCount == group.Columns[leaf].MetaData.NumValues
			m.Chunks[i].SetBounds(m.Type, bloomparquet.Statistics{MinValue: s.MinValue, MaxValue: s.MaxValue, Min: s.Min, Max: s.Max}, ordered)
		}
	}
	return bloomparquet.Open(m)
}

func isTypeOrder(order format.ColumnOrder) bool {
	_, ok := order.Value.(*format.TypeDefinedOrder)
	return ok
}

// isRepeated reports whether a leaf is inside a repeated field.
func isRepeated(c *parquet.Column, leaf int) bool {
	if c.Leaf() {
		return c.Index() == leaf && c.MaxRepetitionLevel() > 0
	}
	return slices.ContainsFunc(c.Columns(), func(c *parquet.Column) bool { return isRepeated(c, leaf) })
}

// chunk returns what the footer says of the filter of a column of a row group.
func chunk(c *format.ColumnChunk) bloomparquet.Chunk {
	chunk := bloomparquet.Chunk{
		FilterOffset: c.MetaData.BloomFilterOffset,
		FilterLength: int64(c.MetaData.BloomFilterLength),
		Encrypted:    c.CryptoMetadata.Value != nil,
		Pages:        pagesOf(&c.MetaData),
		Place:        bloomparquet.Place{Values: c.MetaData.NumValues, Offset: c.MetaData.DataPageOffset, Size: c.MetaData.TotalCompressedSize},

		DictionaryOffset: c.MetaData.DictionaryPageOffset,
		Codec:            int32(c.MetaData.Codec),
	}
	if c.FilePath != "" { // the filter is in another file
		chunk.FilterOffset = 0
	}
	return chunk
}

// pagesOf returns how the data pages of a column chunk are encoded.
func pagesOf(c *format.ColumnMetaData) bloomparquet.Pages {
	if len(c.EncodingStats) == 0 {
		return bloomparquet.PagesOf(false, c.Encoding)
	}
	var encodings []format.Encoding
	for _, s := range c.EncodingStats {
		if s.PageType == format.DataPage || s.PageType == format.DataPageV2 {
			encodings = append(encodings, s.Encoding)
		}
	}
	return bloomparquet.PagesOf(true, encodings)
}

// decompress returns the bytes of a page.
func decompress(codec int32, data []byte, size int) (page []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquetgo: malformed page: %v", p)
		}
	}()
	return parquet.LookupCompressionCodec(format.CompressionCodec(codec)).Decode(make([]byte, size), data)
}

// leafElement returns the element of a leaf of a schema, or nil.
func leafElement(schema []format.SchemaElement, leaf int) *format.SchemaElement {
	for i := range schema {
		if !schema[i].Type.Valid {
			continue
		}
		if leaf == 0 {
			return &schema[i]
		}
		leaf--
	}
	return nil
}

// typeOf returns the type of an element: its logical type, or the older converted type.
func typeOf(e *format.SchemaElement) bloomparquet.Type {
	t := bloomparquet.Type{Physical: bloomparquet.Physical(e.Type.V)}
	if t.Physical == bloomparquet.FixedLenByteArray {
		t.Width = int(e.TypeLength.V)
	}
	switch l := e.LogicalType.Value.(type) {
	case nil:
		if e.ConvertedType.Valid {
			convert(&t, e)
		}
	case *format.StringType:
		t.Logical = bloomparquet.String
	case *format.EnumType:
		t.Logical = bloomparquet.Enum
	case *format.JsonType:
		t.Logical = bloomparquet.JSON
	case *format.BsonType:
		t.Logical = bloomparquet.BSON
	case *format.UUIDType:
		t.Logical = bloomparquet.UUID
	case *format.DateType:
		t.Logical = bloomparquet.Date
	case *format.Float16Type:
		t.Logical = bloomparquet.Float16
	case *format.IntType:
		t.Logical, t.Bits = bloomparquet.Uint, int(l.BitWidth)
		if l.IsSigned {
			t.Logical = bloomparquet.Int
		}
	case *format.DecimalType:
		t.Logical, t.Precision, t.Scale = bloomparquet.Decimal, int(l.Precision), int(l.Scale)
	case *format.TimeType:
		t.Logical, t.Unit, t.UTC = bloomparquet.Time, unitOf(l.Unit), l.IsAdjustedToUTC
	case *format.TimestampType:
		t.Logical, t.Unit, t.UTC = bloomparquet.Timestamp, unitOf(l.Unit), l.IsAdjustedToUTC
	default:
		t.Logical = bloomparquet.Other
	}
	return t
}

func unitOf(unit format.TimeUnit) bloomparquet.Unit {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return bloomparquet.Millis
	case *format.MicroSeconds:
		return bloomparquet.Micros
	case *format.NanoSeconds:
		return bloomparquet.Nanos
	}
	return bloomparquet.NoUnit
}

// convert sets the logical type that a converted type stands for.
func convert(t *bloomparquet.Type, e *format.SchemaElement) {
	switch c := e.ConvertedType.V; c {
	case deprecated.UTF8:
		t.Logical = bloomparquet.String
	case deprecated.Enum:
		t.Logical = bloomparquet.Enum
	case deprecated.Json:
		t.Logical = bloomparquet.JSON
	case deprecated.Bson:
		t.Logical = bloomparquet.BSON
	case deprecated.Date:
		t.Logical = bloomparquet.Date
	case deprecated.Interval:
		t.Logical = bloomparquet.Interval
	case deprecated.Decimal:
		t.Logical, t.Precision, t.Scale = bloomparquet.Decimal, int(e.Precision.V), int(e.Scale.V)
	case deprecated.TimeMillis:
		t.Logical, t.Unit, t.UTC = bloomparquet.Time, bloomparquet.Millis, true
	case deprecated.TimeMicros:
		t.Logical, t.Unit, t.UTC = bloomparquet.Time, bloomparquet.Micros, true
	case deprecated.TimestampMillis:
		t.Logical, t.Unit, t.UTC = bloomparquet.Timestamp, bloomparquet.Millis, true
	case deprecated.TimestampMicros:
		t.Logical, t.Unit, t.UTC = bloomparquet.Timestamp, bloomparquet.Micros, true
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		t.Logical, t.Bits = bloomparquet.Uint, 8<<(c-deprecated.Uint8)
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		t.Logical, t.Bits = bloomparquet.Int, 8<<(c-deprecated.Int8)
	default:
		t.Logical = bloomparquet.Other
	}
}
