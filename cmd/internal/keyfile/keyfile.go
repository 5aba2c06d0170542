// Package keyfile opens the inputs of keys for the commands. It decompresses them, and warns of what looks like
// part of a key and is not meant to be.
package keyfile

import (
	"bytes"
	"io"

	"github.com/lanebloom/bloom"
)

// Options say how to take the bytes of an input.
type Options struct {
	Delimiter    byte // ends a key: a newline, or NUL
	CRLF         bool // a carriage return before the delimiter and a byte-order mark are no part of a key
	NoDecompress bool // take the bytes as they are, also if they look compressed
}

// Open returns the text of an input, which has a name for messages. warn is called with what the keys
// seem to hold and should not.
func (o Options) Open(name string, in io.Reader, warn func(text string)) (*Text, error) {
	text := NewText(in)
	if !o.NoDecompress {
		var err error
		if text, err = decompressed(name, text); err != nil {
			return nil, err
		}
	}
	text.Fill(func(head []byte) bool { return bytes.IndexByte(head, o.Delimiter) >= 0 })
	const utf8Mark = "\xef\xbb\xbf"
	switch {
	case bytes.HasPrefix(text.Head, []byte(bloom.FileMagic)):
		warn("this is a filter, not keys")
	case bytes.HasPrefix(text.Head, []byte(utf8Mark)) && o.CRLF:
		text.Head = text.Head[len(utf8Mark):]
	case bytes.HasPrefix(text.Head, []byte(utf8Mark)):
		warn("the first key begins with a UTF-8 byte-order mark; --crlf removes it")
	case bytes.HasPrefix(text.Head, []byte("\xff\xfe")), bytes.HasPrefix(text.Head, []byte("\xfe\xff")):
		warn("this looks like UTF-16; its keys are not the bytes of the same keys in UTF-8")
	}
	if o.Delimiter == '\n' && !o.CRLF && looksCRLF(text.Head) {
		warn("the keys end with a carriage return (CRLF); --crlf removes it")
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

// Text is an input of which the start was read ahead. It keeps an error for who reads on: to
// ask a terminal again would wait for a second end of the input.
type Text struct {
	Head []byte // what was read ahead and is not yet taken
	Err  error  // after Head
	in   io.Reader
}

// NewText returns an input of which nothing was read ahead.
func NewText(in io.Reader) *Text { return &Text{Head: make([]byte, 0, 64<<10), in: in} }

// Fill reads until the start is enough, the buffer is full, or the input ends.
func (t *Text) Fill(enough func(head []byte) bool) {
	for t.Err == nil && len(t.Head) < cap(t.Head) && !enough(t.Head) {
		n, err := t.in.Read(t.Head[len(t.Head):cap(t.Head)])
		t.Head, t.Err = t.Head[:len(t.Head)+n], err
	}
}

func (t *Text) Read(b []byte) (int, error) {
	if len(t.Head) > 0 {
		n := copy(b, t.Head)
		t.Head = t.Head[n:]
		return n, nil
	}
	if t.Err != nil {
		return 0, t.Err
	}
	return t.in.Read(b)
}
