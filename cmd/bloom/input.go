package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/keyfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// keysFlags say how the commands read keys.
type keysFlags struct {
	Null     bool `short:"0" xor:"null" help:"Keys end with a NUL byte, not a newline."`
	NullData bool `short:"z" xor:"null-data" help:"The same as --null, by grep's name."`
	CRLF     bool `name:"crlf" xor:"null,null-data" help:"A carriage return before the newline is not part of the key, and a byte-order mark is not part of the first key."`

	MaxRecord    cli.ByteSize `placeholder:"SIZE" help:"Refuse a line or record of more bytes than this (64MiB)."`
	NoDecompress bool         `help:"Take the bytes of keys as they are, also if they look compressed or like no keys."`

	tableFlags

	prints bool // whether the command prints records
}

// inputsHelp is the part of the help that the commands that read keys share.
const inputsHelp = `A key is the bytes of a line. Files compressed with gzip or zstd are decompressed, whatever their names; other compressed files are refused, and so are filters, Parquet files, archives and UTF-16.
A warning says when keys seem to hold more than is meant: carriage returns, a byte-order mark, or NUL bytes.
A line or a record of more bytes than --max-record says is an error; memory grows with the longest.
` + tableHelp

// input is an input that is being read.
type input struct {
	text    io.Reader // the records after the header
	records records
	head    []byte // how the input begins
	header  []byte // as it was; empty if there is none
}

// work divides the input into chunks, works on them, and finishes them in order: see pipeline.
func (i *input) work(work func(*chunk), finish func(*chunk) error) error {
	return pipeline(i.text, &i.records, work, finish)
}

// read calls work with an input: decompressed, and with --crlf or --csv without a byte-order
// mark. The name "-" is standard input. progress is told of bytes of the file.
func (f keysFlags) read(s *cli.Streams, name string, progress func(int), work func(*input) error) error {
	records, err := f.records()
	if err != nil {
		return err
	}
	file := s.In
	if name != "-" {
		if file, err = os.Open(name); err != nil {
			return err
		}
		defer file.Close()
	}
	options := keyfile.Options{Delimiter: records.delimiter, CRLF: records.crlf, AsIs: f.NoDecompress}
	text, err := options.Open(show.Name(name), counted{file, progress}, func(text string) { s.Warn(name, text) })
	if err != nil {
		return err
	}
	in := &input{text: text, records: records, head: bytes.Clone(text.Head[:min(len(text.Head), 4<<10)])}
	if in.header, err = in.records.takeHeader(text); err == nil {
		err = work(in)
		in.records.skipped.warn(s, name, &in.records)
	}
	if at := (*lineError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: %w", show.Name(name), at)
	}
	return err
}

// counted tells progress of the bytes that are read.
type counted struct {
	io.Reader
	progress func(int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.progress(n)
	return n, err
}
