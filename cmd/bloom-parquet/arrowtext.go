package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// arrowText prints record batches.
type arrowText struct {
	textWriter
	out   io.Writer
	names []string
}

// start writes the header.
func (a *arrowText) start(schema *arrow.Schema) error {
	for _, field := range schema.Fields() {
		if nested, ok := keyType(field.Type).(arrow.NestedType); ok && a.csv {
			return fmt.Errorf("column %s is %v, and CSV has none: print the rows with --jsonl", field.Name, nested)
		}
		a.names = append(a.names, field.Name)
	}
	return a.header(a.out, a.names)
}

// keyType returns the type of the values of a dictionary, of runs, or of an extension, which always has the methods of a nested type.
func keyType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return keyType(t.StorageType())
	case *arrow.DictionaryType:
		return keyType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return keyType(t.Encoded())
	}
	return t
}

// write prints the rows of a batch.
func (a *arrowText) write(batch arrow.RecordBatch) error {
	var cells []func(row int) error
	for _, column := range batch.Columns() {
		cells = append(cells, a.cellsOf(column))
	}
	for row := range int(batch.NumRows()) {
		for i, cell := range cells {
			a.separate(i, a.names[i])
			if err := cell(row); err != nil {
				return fmt.Errorf("column %s: %w", a.names[i], err)
			}
		}
		if err := a.end(a.out); err != nil {
			return err
		}
	}
	return nil
}

// cellsOf returns a function that appends the value of a row of an array: as that of a Parquet column if Parquet
// has its type, and else as arrow-go writes it in JSON.
func (a *arrowText) cellsOf(column arrow.Array) func(row int) error {
	switch c := column.(type) {
	case *array.Dictionary:
		of := a.cellsOf(c.Dictionary())
		return func(row int) error {
			if c.IsNull(row) {
				a.value(bloomparquet.Type{Physical: bloomparquet.Int64}, nil, true)
				return nil
			}
			return of(c.GetValueIndex(row))
		}
	case *array.RunEndEncoded:
		of := a.cellsOf(c.Values())
		return func(row int) error { return of(c.GetPhysicalIndex(row)) }
	}
	t, err := typeOfArrow(column.DataType())
	if err != nil {
		return func(row int) error { return a.other(column, row) }
	}
	keys, err := bloomarrow.Keys(column)
	var plain []byte
	return func(row int) error {
		if err != nil {
			return err
		}
		var valid bool
		plain, valid = keys.AppendKey(plain[:0], row)
		a.value(t.Type, plain, !valid)
		return nil
	}
}

// other appends a value of a type that Parquet does not have: a list, a struct, an interval.
func (a *arrowText) other(column arrow.Array, row int) error {
	if column.IsNull(row) {
		a.text("", true)
		return nil
	}
	if a.csv {
		a.text(column.ValueStr(row), false)
		return nil
	}
	value, err := json.Marshal(column.GetOneForMarshal(row))
	a.line = append(a.line, value...)
	return err
}
