package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Input is an input that is being read.
type Input struct {
	Header    []byte   // the first record as it was, if it is a header
	Names     []string // the fields of the header
	Fields    int      // of every record of CSV, and of the header
	Delimiter byte     // of records

	name   string
	warn   func(text string)
	text   io.Reader // the records after the header
	head   []byte    // how the input begins
	layout layout
}

// Check returns why the options make no sense, or nil.
func (o Options) Check() error {
	_, err := o.layout()
	return err
}

// Open begins to read an input, which has a name for messages: decompressed, and with CRLF or CSV without a byte-order
// mark. warn is called with warnings about it.
func (o Options) Open(name string, in io.Reader, warn func(text string)) (*Input, error) {
	layout, err := o.layout()
	if err != nil {
		return nil, err
	}
	options := textOptions{Delimiter: layout.delimiter, CRLF: layout.crlf, Text: o.text, AsIs: o.NoDecompress}
	text, err := options.Open(show.Name(name), in, warn)
	if err != nil {
		return nil, err
	}
	if o.Guess {
		text.Fill(func(head []byte) bool { return layout.firstEnd(bytes.TrimLeft(head, " \t\r\n")) > 0 })
		if layout, err = o.guessed(text.Head).layout(); err != nil {
			return nil, err
		}
	}
	i := &Input{name: name, warn: warn, text: text, head: bytes.Clone(text.Head[:min(len(text.Head), 4<<10)]), Delimiter: layout.delimiter}
	if i.Header, err = layout.takeHeader(text); err != nil {
		return nil, i.named(err)
	}
	i.layout, i.Names, i.Fields = layout, layout.names, layout.columns
	return i, nil
}

// Work divides the input into chunks, works on them on all cores, and finishes them one by one in the order of the
// input: see pipeline. Then it warns of the records that had no key.
func (i *Input) Work(work func(*Chunk), finish func(*Chunk) error) error {
	err := pipeline(i.text, &i.layout, work, finish)
	if text := i.layout.skipped.warning(i.layout.missing); text != "" {
		i.warn(text)
	}
	return i.named(err)
}

// named returns an error of a line with the name of the input.
func (i *Input) named(err error) error {
	if at := (*lineError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: %w", show.Name(i.name), at)
	}
	return err
}

// Meant returns the flags with which the first line has several fields, if it has one, or nothing.
func (i *Input) Meant() string {
	line, _, _ := bytes.Cut(i.head, []byte{i.Delimiter})
	isField := i.layout.kind == fieldsOfLines && bytes.IndexByte(line, i.layout.comma) < 0
	if i.layout.kind == wholeLines || isField {
		return i.layout.meant(line)
	}
	return ""
}

// Sample returns the keys of the first records, without those that an expression would find.
func (i *Input) Sample() [][]byte {
	if i.layout.match != nil {
		return nil
	}
	piece, r := newChunk(0), i.layout
	piece.data = i.head[:bytes.LastIndexByte(i.head, r.delimiter)+1]
	r.split(piece)
	return piece.Keys
}
