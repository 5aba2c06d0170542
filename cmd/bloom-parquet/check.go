package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// codecs are the compressions that parquet-go decodes. It does not know LZO and the LZ4 of Hadoop. Of LZ4_RAW,
// v0.32.0 drops what it decompressed and takes what was in the memory before (column.go:712, its issue 608).
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd}

// checkColumn returns an error if parquet-go does not decode the pages of a column. It takes the type of the
// schema and the codec of the first row group for all of them.
func (f *parquetFile) checkColumn(leaf int) error {
	path := strings.Join(f.Schema().Columns()[leaf], ".")
	first := format.CompressionCodec(-1)
	column, _ := f.Schema().Lookup(f.Schema().Columns()[leaf]...)
	kind := column.Node.Type().Kind()
	for i, group := range f.Metadata().RowGroups {
		if group.Columns[leaf].CryptoMetadata.Value != nil {
			return fmt.Errorf("column %s of row group %d is encrypted, and encrypted columns are not supported", path, i)
		}
		if has := parquet.Kind(group.Columns[leaf].MetaData.Type); has != kind && kind >= 0 { // parquet-go's NULL is of no kind
			return fmt.Errorf("%w: column %s has the type %v in the schema, but %v in row group %d", bloomparquet.ErrFooter, path, kind, has, i)
		}
		codec := group.Columns[leaf].MetaData.Codec
		if i == 0 {
			first = codec
		}
		switch {
		case !slices.Contains(codecs, codec):
			return fmt.Errorf("column %s has the compression %v, which is not supported: rewrite the file with ZSTD, SNAPPY or GZIP", path, codec)
		case codec != first:
			return fmt.Errorf("column %s has the compression %v in row group 0 but %v in row group %d, which is not supported", path, first, codec, i)
		}
	}
	return nil
}

// bounds are what the footer says of the integers of a column in a row group: no value is outside of them.
// Values that parquet-go decodes wrongly often are.
type bounds struct {
	from, to int64
	column   *bloomparquet.Column

	dictionary parquet.Dictionary // the last one, and whether all of its values are within the bounds
	within     bool
}

// boundsOf returns the bounds of a column of a row group, or nil if none are known or its values are no
// integers with a sign.
func (f *parquetFile) boundsOf(leaf, group int) *bounds {
	if !trusted.bounds() {
		return nil
	}
	column := f.columnOf(leaf)
	if column == nil || column.Type().Logical == bloomparquet.Uint {
		return nil
	}
	low, high, ok := column.Bounds(group)
	b := &bounds{math.MinInt64, math.MaxInt64, column, nil, false}
	switch column.Type().Physical {
	case bloomparquet.Int32, bloomparquet.Int64:
		b.from, b.to = signed(low, b.from), signed(high, b.to)
		if ok {
			return b
		}
	}
	return nil
}

// signed returns the integer of a bound, or another one if the bound is not known.
func signed(bound []byte, unknown int64) int64 {
	switch len(bound) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(bound)))
	case 8:
		return int64(binary.LittleEndian.Uint64(bound))
	}
	return unknown
}

// checkPage returns an error if a value of a page is outside of the bounds.
func (b *bounds) checkPage(page parquet.Page) error {
	if b == nil {
		return nil
	}
	dictionary, data := page.Dictionary(), page.Data()
	if dictionary == nil {
		return b.checkAll(data)
	}
	if b.dictionary != dictionary {
		values := dictionary.Page().Data()
		b.dictionary, b.within = dictionary, b.checkAll(values) == nil
	}
	if b.within {
		return nil
	}
	for _, i := range data.Int32() { // a value of the dictionary that no row has may be anything
		if err := b.check(dictionary.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkAll is checkPage for values without a dictionary.
func (b *bounds) checkAll(values encoding.Values) error {
	switch values.Kind() {
	case encoding.Int32:
		return checkIntegers(b, values.Int32())
	case encoding.Int64:
		return checkIntegers(b, values.Int64())
	}
	return nil
}

func checkIntegers[I int32 | int64](b *bounds, values []I) error {
	for _, x := range values {
		if int64(x) < b.from || int64(x) > b.to {
			return b.outside(int64(x))
		}
	}
	return nil
}

// check returns an error if a value is outside of the bounds.
func (b *bounds) check(v parquet.Value) error {
	if b == nil || v.IsNull() {
		return nil
	}
	x := v.Int64()
	if b.column.Type().Physical == bloomparquet.Int32 {
		x = int64(v.Int32())
	}
	if x < b.from || x > b.to {
		return b.outside(x)
	}
	return nil
}

func (b *bounds) outside(x int64) error {
	text := func(x int64) string {
		if b.column.Type().Physical == bloomparquet.Int32 {
			return b.column.Type().Text(binary.LittleEndian.AppendUint32(nil, uint32(x)))
		}
		return b.column.Type().Text(binary.LittleEndian.AppendUint64(nil, uint64(x)))
	}
	return fmt.Errorf("damaged, or decoded wrongly: the value %s is outside the bounds of its row group, %s to %s (if only the bounds are wrong, use --trust filters)", text(x), text(b.from), text(b.to))
}

// openValues is openFile for a column whose values are read.
func openValues(name, column string) (*parquetFile, error) {
	f, err := openFile(name, column)
	if err != nil {
		return nil, err
	}
	if err := f.checkColumns(f.leaf); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// checkColumns returns an error if some columns cannot be read.
func (f *parquetFile) checkColumns(leaves ...int) (err error) {
	defer explain(f.name, &err)
	for _, leaf := range leaves {
		if err := f.checkColumn(leaf); err != nil {
			return err
		}
	}
	return nil
}
