package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lanebloom/bloom"
)

// keysFlags say how the commands read keys.
type keysFlags struct {
	Null     bool `short:"0" xor:"null" help:"Keys end with a NUL byte, not a newline."`
	NullData bool `short:"z" xor:"null-data" help:"The same as --null, by grep's name."`
	CRLF     bool `name:"crlf" xor:"null,null-data" help:"A carriage return before the newline is not part of the key, and a byte-order mark is not part of the first key."`

	MaxRecord    byteSize `placeholder:"SIZE" help:"Refuse a line or record of more bytes than this (64MiB)."`
	NoDecompress bool     `help:"Take the bytes of keys as they are, also if they look compressed."`

	tableFlags

	prints bool // whether the command prints records
}

// inputsHelp is the part of the help that the commands that read keys share.
const inputsHelp = `A key is the bytes of a line. Files compressed with gzip or zstd are decompressed, whatever their names; other compressed files are refused.
A warning says when keys seem to hold more than is meant: carriage returns, or a byte-order mark.
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

// read calls work with an input: decompressed, and without a byte-order mark if --crlf or --csv
// says so. The name "-" is standard input. progress is told of bytes of the file.
func (f keysFlags) read(s *streams, name string, progress func(int), work func(*input) error) error {
	records, err := f.records()
	if err != nil {
		return err
	}
	file := s.in
	if name != "-" {
		if file, err = os.Open(name); err != nil {
			return err
		}
		defer file.Close()
	}
	text, err := f.text(s, name, counted{file, progress})
	if err != nil {
		return err
	}
	in := &input{text: text, records: records, head: bytes.Clone(text.head[:min(len(text.head), 4<<10)])}
	if in.header, err = in.records.takeHeader(text); err == nil {
		err = work(in)
		in.records.skipped.warn(s, name, &in.records)
	}
	if at := (*lineError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: %w", shown(name), at)
	}
	return err
}

// text returns the keys of an input. It warns of what looks like part of a key and is not meant
// to be.
func (f keysFlags) text(s *streams, name string, file io.Reader) (*peeked, error) {
	text := newPeeked(file)
	if !f.NoDecompress {
		var err error
		if text, err = decompressed(name, text); err != nil {
			return nil, err
		}
	}
	r, err := f.records()
	if err != nil {
		return nil, err
	}
	text.fill(func(head []byte) bool { return bytes.IndexByte(head, r.delimiter) >= 0 })
	const utf8Mark = "\xef\xbb\xbf"
	switch {
	case bytes.HasPrefix(text.head, []byte(bloom.FileMagic)):
		s.warn(name, "this is a filter, not keys")
	case bytes.HasPrefix(text.head, []byte(utf8Mark)) && r.crlf:
		text.head = text.head[len(utf8Mark):]
	case bytes.HasPrefix(text.head, []byte(utf8Mark)):
		s.warn(name, "the first key begins with a UTF-8 byte-order mark; --crlf removes it")
	case bytes.HasPrefix(text.head, []byte("\xff\xfe")), bytes.HasPrefix(text.head, []byte("\xfe\xff")):
		s.warn(name, "this looks like UTF-16; its keys are not the bytes of the same keys in UTF-8")
	}
	if r.delimiter == '\n' && !r.crlf && looksCRLF(text.head) {
		s.warn(name, "the keys end with a carriage return (CRLF); --crlf removes it")
	}
	return text, nil
}

// looksCRLF reports whether most of the first lines end with CRLF.
func looksCRLF(head []byte) bool {
	lines, crlf := 0, 0
	for lines < 16 {
		line, rest, found := bytes.Cut(head, []byte{'\n'})
		if !found {
			break
		}
		lines++
		if bytes.HasSuffix(line, []byte{'\r'}) {
			crlf++
		}
		head = rest
	}
	return 2*crlf > lines
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

// peeked is a reader of which the start was read ahead. It keeps an error for who reads on: to
// ask a terminal again would wait for a second end of the input.
type peeked struct {
	head []byte
	err  error
	in   io.Reader
}

func newPeeked(in io.Reader) *peeked { return &peeked{head: make([]byte, 0, 64<<10), in: in} }

// fill reads until the start is enough, the buffer is full, or the input ends.
func (p *peeked) fill(enough func(head []byte) bool) {
	for p.err == nil && len(p.head) < cap(p.head) && !enough(p.head) {
		n, err := p.in.Read(p.head[len(p.head):cap(p.head)])
		p.head, p.err = p.head[:len(p.head)+n], err
	}
}

func (p *peeked) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.in.Read(b)
}

// warn prints a warning about an input, which changes no status.
func (s *streams) warn(name, text string) {
	clearLine := "" // of a progress bar
	if isTerminal(s.err) {
		clearLine = "\r\x1b[K"
	}
	fmt.Fprintf(s.err, "%sbloom: warning: %s: %s\n", clearLine, shown(name), text)
}
