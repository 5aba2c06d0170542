package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// writtenField is a field of a schema that was read, with an encoding that it can be written in. The footer lists the encodings of
// levels among those of values, and parquet-go v0.32.0 takes the first one if it is RLE or PLAIN (column.go:456).
type writtenField struct{ parquet.Field }

// Fields returns the fields of a group.
func (f writtenField) Fields() []parquet.Field {
	fields := slices.Clone(f.Field.Fields())
	for i, field := range fields {
		fields[i] = writtenField{field}
	}
	return fields
}

// Encoding returns the encoding of the values. RLE is none of values but booleans.
func (f writtenField) Encoding() encoding.Encoding {
	e := f.Field.Encoding()
	if e != nil && e.Encoding() == format.RLE && f.Leaf() && f.Type().Kind() != parquet.Boolean {
		return &parquet.Plain
	}
	return e
}

// schemaToWrite returns the schema of a file for one that is written. lost says which columns have a logical type that parquet-go
// does not write: v0.32.0 drops FLOAT16.
func (f *parquetFile) schemaToWrite() (schema *parquet.Schema, lost []string) {
	elements := f.Metadata().Schema
	var look func(c *parquet.Column, path string)
	look = func(c *parquet.Column, path string) {
		logical := elements[0].LogicalType.Value
		if elements = elements[1:]; logical != nil && c.Type().LogicalType() == nil {
			lost = append(lost, fmt.Sprintf("%s (%v)", path, logical))
		}
		for _, child := range c.Columns() {
			look(child, strings.TrimPrefix(path+"."+child.Name(), "."))
		}
	}
	look(f.Root(), "")
	return parquet.NewSchema(f.Schema().Name(), writtenField{f.Root()}), lost
}
