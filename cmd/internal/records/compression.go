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

// openers open the content of a compressed file, by the name of its format. Other formats are not read.
var openers = map[string]func(io.Reader) (io.Reader, error){"gzip": openGzip, "zstd": openZstd}

// decompressed returns the content of an input, which need not be compressed.
func decompressed(name string, file *Text) (*Text, error) {
	format := file.compression()
	if format == "" {
		return file, nil
	}
	open, isRead := openers[format]
	if !isRead {
		return nil, errCompressed(name, format)
	}
	reader := decompressor{name: name, format: format}
	var err error
	if reader.in, err = open(file); err != nil {
		return nil, reader.explain(err)
	}
	content := NewText(reader)
	if inner := content.compression(); inner != "" {
		return nil, errCompressed(name, inner+" inside "+format)
	}
	return content, nil
}

// compression returns the name of the format of what is read, or nothing.
func (t *Text) compression() (name string) {
	t.Fill(func(head []byte) bool { _, undecided := filterfile.Compression(head); return !undecided })
	name, _ = filterfile.Compression(t.Head)
	return name
}

func errCompressed(name, format string) error {
	return fmt.Errorf("%s: this looks compressed (%s): decompress it first, or use --no-decompress to read it anyway", name, format)
}

// gzipMembers reads the members of a gzip file one after the other. As gzip does, it takes zero bytes
// after the last for padding, which package gzip refuses.
type gzipMembers struct {
	in     *bufio.Reader
	member *gzip.Reader
}

func openGzip(r io.Reader) (io.Reader, error) {
	g := &gzipMembers{bufio.NewReader(r), new(gzip.Reader)}
	return g, g.next()
}

// next begins a member.
func (g *gzipMembers) next() error {
	err := g.member.Reset(g.in)
	g.member.Multistream(false)
	return cutOff(err)
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.member.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil // it comes again
		}
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if next, err := g.in.Peek(1); err != nil {
			return 0, err
		} else if next[0] == 0 {
			return 0, onlyZeros(g.in)
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// onlyZeros reads all that is left, and returns io.EOF if it is zero bytes.
func onlyZeros(in *bufio.Reader) error {
	for {
		if b, err := in.ReadByte(); err != nil {
			return err
		} else if b != 0 {
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
