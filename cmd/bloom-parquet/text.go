package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
)

// textWriter appends values to lines of CSV or JSON.
type textWriter struct {
	csv  bool
	line []byte
}

// value appends a value of a type, PLAIN bytes without a length, or a null.
func (w *textWriter) value(t bloomparquet.Type, plain []byte, null bool) {
	switch {
	case null:
		w.text("", true)
	case t.Physical == bloomparquet.Boolean && len(plain) == 1:
		w.bare([]string{"false", "true"}[plain[0]&1])
	default:
		switch text := t.Text(plain); {
		case isNumber(t) && json.Valid([]byte(text)): // NaN is none
			w.bare(text)
		case !w.csv && !utf8.ValidString(text):
			w.text("0x"+hex.EncodeToString(plain), false)
		default:
			w.text(text, false)
		}
	}
}

// isNumber reports whether values are numbers.
func isNumber(t bloomparquet.Type) bool {
	switch t.Logical {
	case bloomparquet.Plain:
		return t.Physical == bloomparquet.Int32 || t.Physical == bloomparquet.Int64 || isFloat(t)
	case bloomparquet.Int, bloomparquet.Uint, bloomparquet.Decimal, bloomparquet.Float16:
		return true
	}
	return isFloat(t)
}

func (w *textWriter) bare(text string) { w.line = append(w.line, text...) }

// text appends a text, in quotes where the format has them.
func (w *textWriter) text(text string, null bool) {
	switch {
	case w.csv && null:
	case w.csv && (text == "" || strings.ContainsAny(text, "\",\r\n")):
		w.line = append(append(append(w.line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
	case w.csv:
		w.bare(text)
	case null:
		w.bare("null")
	default:
		var quoted bytes.Buffer
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(text) // no error: it is a string
		w.line = append(w.line, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
	}
}

// header writes the names of the columns, if the format has a line for them.
func (w *textWriter) header(out io.Writer, names []string) error {
	if !w.csv {
		return nil
	}
	w.line = w.line[:0]
	for i, name := range names {
		w.separate(i, name)
		w.text(name, false)
	}
	return w.end(out)
}

// separate begins column i of a row.
func (w *textWriter) separate(i int, name string) {
	switch {
	case i > 0:
		w.bare(",")
	case !w.csv:
		w.bare("{")
	}
	if !w.csv {
		w.text(name, false)
		w.bare(":")
	}
}

// end ends a row. If a CSV row would be an empty line, it writes "" instead, because readers of CSV skip empty lines. This
// happens if a file has one column and the value is null.
func (w *textWriter) end(out io.Writer) error {
	switch {
	case !w.csv:
		w.bare("}")
	case len(w.line) == 0:
		w.bare(`""`)
	}
	_, err := out.Write(append(w.line, '\n'))
	w.line = w.line[:0]
	return err
}

// textSink prints rows of Parquet files.
type textSink struct {
	out *bufio.Writer
	csv bool
	of  []bloomparquet.Type // the leaves
}

// textRows appends rows of a row group to a text.
type textRows struct {
	textWriter
	root   *node
	leaves []leaf
}

// partOfText is how many bytes of text are handed on together.
const partOfText = 1 << 16

// leaf is a column without others below it, and its values of some rows.
type leaf struct {
	typ    bloomparquet.Type
	values []parquet.Value
	next   int
}

// node is a column, which may have others below it.
type node struct {
	*parquet.Column
	children []*node
	leaves   [2]int // below it, from and to
	// A list, or a map, has one repeated child. isList says that of it, and isItem says of the child that
	// it is no more than a wrapping of its only child.
	isList, isItem bool
}

// newTextSink prints the rows of files with the columns of one.
func newTextSink(out *bufio.Writer, file *parquetFile, csv bool) (*textSink, error) {
	s := &textSink{out: out, csv: csv}
	var names []string
	for i, path := range file.Schema().Columns() {
		names = append(names, strings.Join(path, "."))
		if csv && file.repeated(i) {
			return nil, fmt.Errorf("column %s is repeated, and CSV has no lists: use --as=jsonl", names[i])
		}
		column, err := parquetgo.OpenAt(file.File, i)
		if err != nil {
			return nil, errors.New(withoutPrefix(err))
		}
		s.of = append(s.of, column.Type())
	}
	return s, (&textWriter{csv: csv}).header(out, names)
}

// newTree returns the columns of a file.
func newTree(file *parquetFile) *node {
	leaves := 0
	return newNode(file.Root(), &leaves)
}

func newNode(c *parquet.Column, leaves *int) *node {
	n := &node{Column: c, leaves: [2]int{*leaves, 0}}
	if c.Leaf() {
		*leaves++
	}
	for _, child := range c.Columns() {
		n.children = append(n.children, newNode(child, leaves))
	}
	n.leaves[1] = *leaves
	if !c.Leaf() && len(n.children) == 1 && n.children[0].Repeated() {
		if logical := c.Type().LogicalType(); logical != nil {
			switch logical.Value.(type) {
			case *format.ListType:
				n.isList, n.children[0].isItem = true, len(n.children[0].children) == 1
			case *format.MapType:
				n.isList = true
			}
		}
	}
	return n
}

func (s *textSink) take(g *rowGroup, keep []bool, then handOn) (err error) {
	ends, rows := windows(keep)
	t := &textRows{textWriter: textWriter{csv: s.csv}, root: newTree(g.parquetFile)}
	var columns []*columnReader
	defer func() {
		for _, c := range columns {
			err = errors.Join(err, c.close())
		}
	}()
	for i := range g.RowGroups()[g.group].ColumnChunks() {
		columns = append(columns, newColumnReader(g, i, keep, nil))
		t.leaves = append(t.leaves, leaf{typ: s.of[i]})
	}
	var text bytes.Buffer
	window := make([]*keptValues, len(columns))
	for _, end := range ends {
		for i, c := range columns {
			if window[i], err = c.read(end); err != nil {
				return fmt.Errorf("column %s: %w", strings.Join(c.path, "."), err)
			}
			t.leaves[i].values, t.leaves[i].next = window[i].values, 0
		}
		for range min(rows, rowsAtOnce) {
			if err := t.row(&text); err != nil {
				return err
			}
			rows--
			if text.Len() < partOfText {
				continue
			}
			if err := s.print(&text, then); err != nil {
				return err
			}
		}
		for _, values := range window {
			values.release()
		}
	}
	return s.print(&text, then)
}

// print hands on a text to be printed, and forgets it.
func (s *textSink) print(text *bytes.Buffer, then handOn) error {
	data := bytes.Clone(text.Bytes())
	text.Reset()
	return then(func() error {
		_, _ = s.out.Write(data)
		if err := s.out.Flush(); err != nil { // who reads the rows waits for them; an error of Write comes here, too
			return &printError{err}
		}
		return nil
	})
}

// printError is an error of the output, not of the file that is read.
type printError struct{ error }

func (e *printError) Unwrap() error { return e.error }

func (s *textSink) close() error { return nil }

// row prints the next row.
func (s *textRows) row(out *bytes.Buffer) error {
	if s.csv {
		for i := range s.leaves {
			s.separate(i, "")
			s.leaf(i)
		}
	} else {
		s.fields(s.root)
	}
	return s.end(out)
}

// fields appends the fields of a group except the bracket that ends it.
func (s *textRows) fields(n *node) {
	for i, child := range n.children {
		s.separate(i, child.Name())
		s.node(child)
	}
	if len(n.children) == 0 {
		s.bare("{")
	}
}

// node appends the values of a column in the current row, or in the current item of a list.
func (s *textRows) node(n *node) {
	// A value says up to which column its path exists.
	there := s.peek(n).DefinitionLevel() >= n.MaxDefinitionLevel()
	switch {
	case n.Repeated():
		s.bare("[")
		for more := there; more; {
			s.item(n)
			if more = s.continues(n); more {
				s.bare(",")
			}
		}
		if !there {
			s.skip(n)
		}
		s.bare("]")
	case !there:
		s.skip(n)
		s.bare("null")
	default:
		s.item(n)
	}
}

// item appends a value of a column that is there.
func (s *textRows) item(n *node) {
	switch {
	case n.Leaf():
		s.leaf(n.leaves[0])
	case n.isList, n.isItem:
		s.node(n.children[0])
	default:
		s.fields(n)
		s.bare("}")
	}
}

// leaf appends the next value of a leaf.
func (s *textRows) leaf(i int) {
	l := &s.leaves[i]
	v := l.values[l.next]
	l.next++
	var plain []byte
	if !v.IsNull() {
		plain = v.AppendBytes(nil)
	}
	s.value(l.typ, plain, v.IsNull())
}

// peek returns the next value below a column. There is one even for what is not there.
func (s *textRows) peek(n *node) parquet.Value {
	l := &s.leaves[n.leaves[0]]
	return l.values[l.next]
}

// continues reports whether the next value is one of the list that a repeated column is.
func (s *textRows) continues(n *node) bool {
	l := &s.leaves[n.leaves[0]]
	return l.next < len(l.values) && l.values[l.next].RepetitionLevel() == n.MaxRepetitionLevel()
}

// skip goes on behind a column that is not there.
func (s *textRows) skip(n *node) {
	for i := n.leaves[0]; i < n.leaves[1]; i++ {
		s.leaves[i].next++
	}
}
