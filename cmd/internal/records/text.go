// Package records reads the keys in inputs of lines, fields, CSV and JSON. It decompresses them, refuses what is no file of
// keys, and warns of what looks like part of a key and is not meant to be.
package records

import (
	"bytes"
	"fmt"
	"io"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// textOptions say how to take the bytes of an input.
type textOptions struct {
	Delimiter byte // ends a key: a newline, or NUL
	CRLF      bool // a carriage return before the delimiter and a byte-order mark are no part of a key
	Text      bool // a key is text, without a byte-order mark
	AsIs      bool // --no-decompress: take the bytes as they are, whatever they look like
}

const utf8Mark = "\xef\xbb\xbf"

// An archive of tar has its magic behind the name of the first file.
const (
	tarAt    = 257
	tarMagic = "ustar"
)

// Open returns the text of an input, which has a name for messages. It refuses what is compressed in other formats
// than gzip and zstd, files of other kinds, and UTF-16. warn is called with what the keys seem to hold and
// should not.
func (o textOptions) Open(name string, in io.Reader, warn func(text string)) (*Text, error) {
	text := NewText(in)
	if !o.AsIs {
		var err error
		if text, err = decompressed(name, text); err != nil {
			return nil, err
		}
	}
	text.Fill(func(head []byte) bool { return bytes.IndexByte(head, o.Delimiter) >= 0 })
	if !o.AsIs {
		if why := o.refusal(text.Head); why != "" {
			return nil, fmt.Errorf("%s: %s, or use --no-decompress to read it anyway", name, why)
		}
	}
	switch marked := bytes.HasPrefix(text.Head, []byte(utf8Mark)); {
	case marked && (o.CRLF || o.Text):
		text.Head = text.Head[len(utf8Mark):]
	case marked:
		warn("the first key begins with a UTF-8 byte-order mark; --crlf removes it")
	}
	if text := o.doubt(text.Head); text != "" {
		warn(text)
	}
	return text, nil
}

// doubt returns what the lines of an input that begins with head seem to hold and should not, or nothing. Keys
// refuses NUL bytes itself.
func (o textOptions) doubt(head []byte) string {
	switch {
	case o.Delimiter != '\n':
		return ""
	case !o.CRLF && looksCRLF(head):
		return "the keys end with a carriage return (CRLF); --crlf removes it"
	case !o.AsIs && !o.Text && bytes.IndexByte(head, 0) >= 0:
		return "the first keys have NUL bytes, so this may not be UTF-8 text; --null reads keys that end with NUL"
	case !o.AsIs && bytes.Count(head, []byte{'\r'}) > 1 && bytes.IndexByte(head, '\n') < 0:
		return "the lines end with carriage returns only, so the file is one key: convert the line ends first"
	}
	return ""
}

// refusal says why an input that begins with head is no file of keys, and what helps, or nothing.
func (o textOptions) refusal(head []byte) string {
	kind, encoding := filterfile.Kind(head), o.encoding(head)
	isText := bytes.IndexFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }) < 0
	switch {
	case bytes.HasPrefix(head, []byte(bloom.FileMagic)):
		return "this is a filter, not keys: choose another file"
	case kind != "" && !isText:
		return "this looks like " + kind + ", not like keys: choose another file"
	case len(head) >= tarAt+len(tarMagic) && string(head[tarAt:][:len(tarMagic)]) == tarMagic:
		return "this looks like a tar archive, not like keys: tar -xO prints the files in it"
	case encoding != "":
		return "this looks like " + encoding + ", but keys must be UTF-8: convert it first"
	}
	return ""
}

// encoding returns the name of an encoding other than UTF-8 in which a text seems to be, or nothing. Without
// a byte-order mark, every other byte of a text in UTF-16 is NUL where its characters are ASCII.
func (o textOptions) encoding(head []byte) string {
	for _, mark := range []struct{ bytes, name string }{
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
	} {
		if bytes.HasPrefix(head, []byte(mark.bytes)) {
			return mark.name
		}
	}
	const fewest, most = 3, 64
	head = head[:min(len(head), most)]
	if o.Delimiter == 0 || len(head) < fewest {
		return ""
	}
	for first := range 2 {
		is := true
		for i, b := range head {
			is = is && (b == 0) == (i%2 == first)
		}
		if is {
			return "UTF-16"
		}
	}
	return ""
}

// looksCRLF reports whether most of the first lines end with CRLF.
func looksCRLF(head []byte) bool {
	const most = 16
	lines := bytes.SplitAfterN(head, []byte("\n"), most+1)
	lines = lines[:len(lines)-1] // the last has no end, or is all the rest
	crlf := 0
	for _, line := range lines {
		if bytes.HasSuffix(line, []byte("\r\n")) {
			crlf++
		}
	}
	return 2*crlf > len(lines)
}

// Text is an input whose start was read ahead. It keeps an error for the next read: a terminal that is read
// again waits for a second end of the input.
type Text struct {
	Head []byte // what was read ahead and is not yet taken
	Err  error  // after Head
	in   io.Reader
}

// NewText returns an input whose start was not read yet.
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
