package records

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// compression is a format of compressed files.
type compression struct {
	name string
	open func(io.Reader) (io.Reader, error) // nil if it is not read
}

// findCompression returns the format of a file that begins with head, or none. More bytes may
// decide if undecided.
func findCompression(head []byte) (found *compression, undecided bool) {
	name, undecided := filterfile.Compression(head)
	switch name {
	case "":
		return nil, undecided
	case "gzip":
		return &compression{name, openGzip}, false
	case "zstd":
		return &compression{name, openZstd}, false
	}
	return &compression{name, nil}, false
}

// decompressed returns the content of an input, which need not be compressed.
func decompressed(name string, file *Text) (*Text, error) {
	outer := file.compression()
	if outer == nil {
		return file, nil
	}
	if outer.open == nil {
		return nil, &compressedError{name, outer.name}
	}
	reader := decompressor{name: name, format: outer.name}
	in, err := outer.open(file)
	if err != nil {
		return nil, reader.explain(err)
	}
	reader.in = in
	content := NewText(reader)
	if inner := content.compression(); inner != nil {
		return nil, &compressedError{name, inner.name + " inside " + outer.name}
	}
	return content, nil
}

// compression returns the format of what is read, or nil.
func (t *Text) compression() *compression {
	t.Fill(func(head []byte) bool { _, undecided := findCompression(head); return !undecided })
	found, _ := findCompression(t.Head)
	return found
}

// compressedError is the error of a compressed file that is not read.
type compressedError struct{ name, format string }

func (e *compressedError) Error() string {
	return fmt.Sprintf("%s: this looks compressed (%s): decompress it first, or insist with --no-decompress", e.name, e.format)
}

// gzipMembers reads the members of a gzip file one after the other. As gzip does, it takes zero bytes
// after the last for padding.
type gzipMembers struct {
	in     *bufio.Reader
	member *gzip.Reader
}

func openGzip(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	member, err := gzip.NewReader(in)
	if err != nil {
		return nil, cutOff(err)
	}
	member.Multistream(false)
	return &gzipMembers{in, member}, nil
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.member.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // it comes again
			}
			return n, err
		}
		next, err := g.in.Peek(1)
		if err != nil {
			return 0, err
		}
		if next[0] == 0 {
			return 0, onlyZeros(g.in)
		}
		if err := g.member.Reset(g.in); err != nil {
			return 0, cutOff(err)
		}
		g.member.Multistream(false)
	}
}

// onlyZeros reads all that is left, and returns io.EOF if it is zero bytes.
func onlyZeros(in *bufio.Reader) error {
	for {
		switch b, err := in.ReadByte(); {
		case err != nil:
			return err
		case b != 0:
			return gzip.ErrHeader
		}
	}
}

// cutOff returns the error of a header that ends too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// openZstd starts no goroutines: they would have to be stopped when nobody reads on.
func openZstd(r io.Reader) (io.Reader, error) {
	const window = 128 << 20 // that of zstd's own command
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
}

// decompressor reads what a compressed file holds. Its errors name the file.
type decompressor struct {
	in           io.Reader
	name, format string
}

func (d decompressor) Read(p []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed: %v", p)
		}
		err = d.explain(err)
	}()
	return d.in.Read(p)
}

func (d decompressor) explain(err error) error {
	var path *fs.PathError // of the file itself, which has its name
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &path) {
		return err
	}
	return fmt.Errorf("%s: cannot decompress %s: %s", d.name, d.format, strings.TrimPrefix(err.Error(), d.format+": "))
}
