package keyfile

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var newlines = Options{Delimiter: '\n'}

// TestText reads compressed and other keys in odd pieces, to the end of the file.
func TestText(t *testing.T) {
	lines := bytes.Repeat([]byte("a key\nanother\n\n"), 20_000)
	packed := map[string][]byte{"plain": lines, "starts as gzip": append([]byte("\x1f\x8b\n"), lines...), "": nil}
	for name, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var file bytes.Buffer
		w, err := open(&file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(lines)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		packed[name] = file.Bytes()
	}
	for name, file := range packed {
		want := lines
		if name == "" || name == "starts as gzip" {
			want = file
		}
		for pieces, reader := range map[string]func(io.Reader) io.Reader{
			"whole":         func(r io.Reader) io.Reader { return r },
			"one byte":      iotest.OneByteReader,
			"half":          iotest.HalfReader,
			"data with EOF": iotest.DataErrReader,
		} {
			in := bytes.NewReader(file)
			text, err := newlines.Open(name, reader(in), func(text string) { t.Errorf("%s: %s", name, text) })
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(text)
			if err != nil || !bytes.Equal(got, want) || in.Len() > 0 {
				t.Errorf("%s, %s: %d bytes, %v, and %d of the file not read; want %d bytes", name, pieces, len(got), err, in.Len(), len(want))
			}
		}
	}
}

// TestTextWaits wants a line as soon as it is there, and an end that is not asked for again:
// a person at a terminal would have to end the input twice.
func TestTextWaits(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write([]byte("a"))
		_, _ = w.Write([]byte("\n"))
	}()
	text, err := newlines.Open("pipe", r, nil)
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	if n, err := text.Read(line); err != nil || string(line[:n]) != "a\n" {
		t.Errorf("the line is %q, %v", line[:n], err)
	}
	r.Close()

	ends := 0
	terminal := readerFunc(func([]byte) (int, error) { ends++; return 0, io.EOF })
	if text, err = newlines.Open("terminal", terminal, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(text); len(got) != 0 || err != nil || ends != 1 {
		t.Errorf("%q, %v after %d ends", got, err, ends)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
