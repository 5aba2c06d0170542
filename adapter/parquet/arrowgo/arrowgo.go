// Package arrowgo opens columns of Parquet files that you have opened with arrow-go
// (github.com/apache/arrow-go/v18/parquet/file). You can then test keys against the Bloom filters of the
// row groups:
//
//	reader, err := file.OpenParquetFile(name, false)
//	column, err := arrowgo.Open(reader, "id")
//
// The package github.com/lanebloom/bloom/adapter/parquet describes what to do with the column.
//
// The writer of arrow-go v18.8.0 builds its own filters, and accepts no filters of other libraries. To make
// it write filters, use parquet.WithBloomFilterEnabled.
package arrowgo

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// Open returns a column of a file. Do not close the reader while you use the column. The path has dots
// between the names of nested fields, such as list.element. The error is a *bloomparquet.NoColumnError if
// the file has no such column, and bloomparquet.ErrType if the format does not allow the type of the
// column.
func Open(reader *file.Reader, path string) (*bloomparquet.Column, error) {
	s := reader.MetaData().Schema
	var paths []string
	for i := range s.NumColumns() {
		paths = append(paths, s.Column(i).Path())
	}
	leaf, err := bloomparquet.FindColumn(paths, path)
	if err != nil {
		return nil, err
	}
	return OpenAt(reader, leaf)
}

// OpenAt returns the column with the given number. Columns are the leaves of the schema, counted from 0.
func OpenAt(reader *file.Reader, leaf int) (*bloomparquet.Column, error) {
	meta := reader.MetaData()
	if leaf < 0 || leaf >= meta.Schema.NumColumns() {
		return nil, fmt.Errorf("arrowgo: no column %d", leaf)
	}
	descr := meta.Schema.Column(leaf)
	m := bloomparquet.Meta{
		Path:   descr.Path(),
		Type:   typeOf(descr),
		Input:  reader.GetBloomFilterReader().Input,
		Size:   meta.GetSourceFileSize(),
		Chunks: make([]bloomparquet.Chunk, len(meta.RowGroups)),

		CreatedBy:  meta.GetCreatedBy(),
		Decompress: decompress,
	}
	if mark := meta.KeyValueMetadata().FindValue(bloomparquet.MarkKey); mark != nil {
		m.Mark = *mark
	}
	if origins := meta.KeyValueMetadata().FindValue(bloomparquet.OriginsKey); origins != nil {
		m.Origins = *origins
	}
	ordered := leaf < len(meta.ColumnOrders) && meta.ColumnOrders[leaf].IsSetTYPE_ORDER()
	for i, group := range meta.RowGroups {
		if leaf >= len(group.Columns) {
			return nil, fmt.Errorf("arrowgo: row group %d has only %d columns", i, len(group.Columns))
		}
		c := group.Columns[leaf]
		m.Chunks[i] = bloomparquet.Chunk{Rows: group.NumRows, Encrypted: c.IsSetCryptoMetadata()}
		if c.MetaData == nil || c.IsSetFilePath() && c.GetFilePath() != "" {
			continue // the filter is in another file, or the metadata are encrypted
		}
		if has := parquet.Type(c.MetaData.Type); has != descr.PhysicalType() {
			return nil, fmt.Errorf("%w: column %s has the type %v in the schema, but %v in row group %d", bloomparquet.ErrFooter, m.Path, descr.PhysicalType(), has, i)
		}
		chunk := &m.Chunks[i]
		chunk.FilterOffset = c.MetaData.GetBloomFilterOffset()
		chunk.FilterLength = int64(c.MetaData.GetBloomFilterLength())
		chunk.Pages = pagesOf(meta.RowGroup(i), leaf)
		chunk.Place = bloomparquet.Place{Values: c.MetaData.NumValues, Offset: c.MetaData.DataPageOffset, Size: c.MetaData.TotalCompressedSize}
		chunk.DictionaryOffset = c.MetaData.GetDictionaryPageOffset()
		chunk.Codec = int32(c.MetaData.Codec)
		if s := c.MetaData.Statistics; s != nil && descr.MaxRepetitionLevel() == 0 {
			chunk.Null = s.IsSetNullCount() && s.GetNullCount() == c.MetaData.NumValues
			chunk.SetBounds(m.Type, bloomparquet.Statistics{MinValue: s.MinValue, MaxValue: s.MaxValue, Min: s.Min, Max: s.Max}, ordered)
		}
	}
	return bloomparquet.Open(m)
}

// pagesOf returns how the data pages of a column chunk are encoded.
func pagesOf(group *metadata.RowGroupMetaData, leaf int) bloomparquet.Pages {
	c, err := group.ColumnChunk(leaf)
	if err != nil {
		return bloomparquet.UnknownPages
	}
	if len(c.EncodingStats()) == 0 {
		return bloomparquet.PagesOf(false, c.Encodings())
	}
	var encodings []parquet.Encoding
	for _, s := range c.EncodingStats() {
		if page := s.PageType.String(); page == "DATA_PAGE" || page == "DATA_PAGE_V2" {
			encodings = append(encodings, s.Encoding)
		}
	}
	return bloomparquet.PagesOf(true, encodings)
}

// decompress returns the bytes of a page.
func decompress(codec int32, data []byte, size int) ([]byte, error) {
	decoder, err := compress.GetCodec(compress.Compression(codec))
	if err != nil {
		return nil, err
	}
	return compress.Decode(decoder, make([]byte, size), data)
}

// typeOf returns the type of a column. arrow-go has turned older converted types into
// logical ones.
func typeOf(c *schema.Column) bloomparquet.Type {
	t := bloomparquet.Type{Physical: bloomparquet.Physical(c.PhysicalType())}
	if t.Physical == bloomparquet.FixedLenByteArray {
		t.Width = c.TypeLength()
	}
	switch l := c.LogicalType().(type) {
	case nil, schema.NoLogicalType:
	case schema.StringLogicalType:
		t.Logical = bloomparquet.String
	case schema.EnumLogicalType:
		t.Logical = bloomparquet.Enum
	case schema.JSONLogicalType:
		t.Logical = bloomparquet.JSON
	case schema.BSONLogicalType:
		t.Logical = bloomparquet.BSON
	case schema.UUIDLogicalType:
		t.Logical = bloomparquet.UUID
	case schema.DateLogicalType:
		t.Logical = bloomparquet.Date
	case schema.IntervalLogicalType:
		t.Logical = bloomparquet.Interval
	case schema.Float16LogicalType:
		t.Logical = bloomparquet.Float16
	case schema.IntLogicalType:
		t.Logical, t.Bits = bloomparquet.Uint, int(l.BitWidth())
		if l.IsSigned() {
			t.Logical = bloomparquet.Int
		}
	case schema.DecimalLogicalType:
		t.Logical, t.Precision, t.Scale = bloomparquet.Decimal, int(l.Precision()), int(l.Scale())
	case schema.TimeLogicalType:
		t.Logical, t.Unit, t.UTC = bloomparquet.Time, unitOf(l.TimeUnit()), l.IsAdjustedToUTC()
	case schema.TimestampLogicalType:
		t.Logical, t.Unit, t.UTC = bloomparquet.Timestamp, unitOf(l.TimeUnit()), l.IsAdjustedToUTC()
	default:
		t.Logical = bloomparquet.Other
	}
	return t
}

func unitOf(unit schema.TimeUnitType) bloomparquet.Unit {
	switch unit {
	case schema.TimeUnitMillis:
		return bloomparquet.Millis
	case schema.TimeUnitMicros:
		return bloomparquet.Micros
	case schema.TimeUnitNanos:
		return bloomparquet.Nanos
	}
	return bloomparquet.NoUnit
}
