package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// tableSchema is the schema of the rows of several files: that of the first, in which a column is OPTIONAL
// that is so in any file. DuckDB writes all columns as OPTIONAL, and parquet-go those of Go's values as
// REQUIRED.
type tableSchema struct {
	first    *parquetFile
	optional map[string]bool // the paths of columns that are REQUIRED in some files and OPTIONAL in others
}

func newTableSchema(first *parquetFile) *tableSchema {
	return &tableSchema{first, map[string]bool{}}
}

// pathKey returns a path as tableSchema.optional has it: names may have dots.
func pathKey(path []string) string { return strings.Join(path, "\x00") }

// add adds the columns of a file. The error names a column that differs from that of the first file in more
// than being OPTIONAL.
func (t *tableSchema) add(file *parquetFile) error {
	return t.addFields(nil, t.first.Root(), file.Root())
}

func (t *tableSchema) addFields(path []string, first, other parquet.Node) error {
	wanted, fields := first.Fields(), other.Fields()
	for i := range max(len(wanted), len(fields)) {
		if i < len(wanted) && i < len(fields) && wanted[i].Name() == fields[i].Name() {
			if err := t.addField(append(path[:len(path):len(path)], wanted[i].Name()), wanted[i], fields[i]); err != nil {
				return err
			}
			continue
		}
		if missing := lacks(fields, wanted[min(i, len(wanted)):]); missing != nil {
			return fmt.Errorf("column %s is missing, but in %s it is %s", columnName(path, missing), t.first.name, typeText(missing))
		}
		if extra := lacks(wanted, fields[min(i, len(fields)):]); extra != nil {
			return fmt.Errorf("it has a column %s, %s, but %s has no such column", columnName(path, extra), typeText(extra), t.first.name)
		}
		return fmt.Errorf("column %s is in a different position than in %s", columnName(path, fields[i]), t.first.name)
	}
	return nil
}

func columnName(path []string, field parquet.Field) string {
	return strings.Join(append(path[:len(path):len(path)], field.Name()), ".")
}

// lacks returns the first of some fields that others have none of the name of, or nil.
func lacks(fields, of []parquet.Field) parquet.Field {
	for _, field := range of {
		if !slices.ContainsFunc(fields, func(f parquet.Field) bool { return f.Name() == field.Name() }) {
			return field
		}
	}
	return nil
}

// addField is add for one column, and those below it.
func (t *tableSchema) addField(path []string, first, other parquet.Field) error {
	if first.Leaf() != other.Leaf() || first.Repeated() != other.Repeated() || !sameType(first, other) {
		return fmt.Errorf("column %s is %s, but in %s it is %s", strings.Join(path, "."), typeText(other), t.first.name, typeText(first))
	}
	if first.Optional() != other.Optional() {
		t.optional[pathKey(path)] = true
	}
	if first.Leaf() {
		return nil
	}
	return t.addFields(path, first, other)
}

// sameType reports whether two columns have the same type.
func sameType(a, b parquet.Node) bool {
	if a.Leaf() {
		return parquet.EqualTypes(a.Type(), b.Type())
	}
	return reflect.DeepEqual(a.Type().LogicalType(), b.Type().LogicalType())
}

// typeText returns the type of a column for messages, such as BYTE_ARRAY (STRING).
func typeText(n parquet.Node) string {
	text, logical := "a group", n.Type().LogicalType()
	if n.Leaf() {
		text = n.Type().Kind().String()
		if n.Type().Kind() == parquet.FixedLenByteArray {
			text += fmt.Sprintf("[%d]", n.Type().Length())
		}
	}
	switch {
	case n.Leaf() && n.Type().Kind() < 0: // parquet-go's NULL
		text = n.Type().String()
	case n.Leaf() && (parquet.EqualTypes(n.Type(), parquet.Int32Type) || parquet.EqualTypes(n.Type(), parquet.Int64Type)): // parquet-go says INT of them, too
	case logical != nil && logical.Value != nil:
		text += fmt.Sprintf(" (%v)", logical)
	}
	if n.Repeated() {
		text = "REPEATED " + text
	}
	return text
}

// levels returns the definition level in the table of each definition level in a column of a file, or nil if
// they are the same.
func (t *tableSchema) levels(file *parquetFile, leaf int) (levels []int) {
	path, node := file.Schema().Columns()[leaf], file.Root()
	level, same := 0, true
	levels = []int{0}
	for i, name := range path {
		if node = node.Column(name); node == nil {
			return nil
		}
		switch {
		case !node.Required():
			level++
			levels = append(levels, level)
		case t.optional[pathKey(path[:i+1])]: // it is there wherever the column above it is
			level++
			levels[len(levels)-1], same = level, false
		}
	}
	if same {
		return nil
	}
	return levels
}

// writtenField is a field of a schema that was read, with an encoding that it can be written in. The footer
// lists the encodings of levels among those of values, and parquet-go v0.32.0 takes the first one if it is
// RLE or PLAIN (column.go:456).
type writtenField struct {
	parquet.Field
	path  []string
	table *tableSchema
}

// Fields returns the fields of a group.
func (f writtenField) Fields() []parquet.Field {
	fields := slices.Clone(f.Field.Fields())
	for i, field := range fields {
		fields[i] = writtenField{field, append(f.path[:len(f.path):len(f.path)], field.Name()), f.table}
	}
	return fields
}

// Optional and Required return what the table has, not the file.
func (f writtenField) Optional() bool { return f.Field.Optional() || f.table.optional[pathKey(f.path)] }
func (f writtenField) Required() bool { return f.Field.Required() && !f.Optional() }

// Encoding returns the encoding of the values. RLE is none of values but booleans.
func (f writtenField) Encoding() encoding.Encoding {
	e := f.Field.Encoding()
	if e != nil && e.Encoding() == format.RLE && f.Leaf() && f.Type().Kind() != parquet.Boolean {
		return &parquet.Plain
	}
	return e
}

// toWrite returns the schema for a file that is written. lost has the columns of a logical type that
// parquet-go does not write: v0.32.0 drops FLOAT16.
func (t *tableSchema) toWrite() (schema *parquet.Schema, lost []string) {
	elements := t.first.Metadata().Schema
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
	look(t.first.Root(), "")
	return parquet.NewSchema(t.first.Schema().Name(), writtenField{t.first.Root(), nil, t}), lost
}
