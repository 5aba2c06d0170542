package records

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lanebloom/bloom"
)

var newlines = textOptions{Delimiter: '\n'}

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

// TestOpen tells texts from files of other kinds and encodings.
func TestOpen(t *testing.T) {
	const warned = "warning"
	for _, test := range []struct{ in, want string }{ // a part of the error, or warned, or ""
		{"", ""}, {"a", ""}, {"a\n\x00b\n", warned}, {"\x00\n", warned}, {"M\xfcller\n", ""},
		{"яб\n", ""}, {"O\x04\n\x00", warned}, {"a\x00\x00\x00\n\x00\x00\x00", warned}, {"a\x00b\x00", "UTF-16"}, {"ab\x00cd\x00", warned},
		{"a\rb\r", warned}, {"a\rb\r\n", warned}, {"a\rb", ""}, {"a\rb\rc\nd\n", ""}, {"PARE\x15\x04", "an encrypted Parquet file"}, {"FEA1\x00", "a Feather file"},
		{"PAR1\nPAR2\n", ""}, {"GIF8", ""}, {"%PDF-1.7 \xe2\n", ""}, {"PAR1\x15\x04\n", "a Parquet file"}, {"PAR1\x15", "a Parquet file"},
		{"ARROW1\x00\x00", "an Arrow IPC file"}, {"SQLite format 3\x00\x10", "a SQLite database"}, {"%PDF-1.7\n%\x00", "a PDF document"},
		{"\x8alanebloom\n", ""}, {bloom.FileMagic + "\x01", "this is a filter"},
		{"\xff\xfea\x00\n\x00", "UTF-16"}, {"\xfe\xff\x00a\x00\n", "UTF-16"}, {"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"},
		{"a\x00b\x00\n\x00", "UTF-16"}, {"\x00a\x00b\x00\n", "UTF-16"}, {"\xef\xbb\xbfa\n", warned}, {"a\r\nb\r\n", warned},
		{"\xfd7zXZ\x00", "xz"}, {"\x1f\x8b\x08", "gzip"},
	} {
		said := ""
		_, err := newlines.Open("in", strings.NewReader(test.in), func(string) { said = warned })
		if err != nil {
			said = err.Error()
		}
		if (test.want == "") != (said == "") || !strings.Contains(said, test.want) {
			t.Errorf("%q: says %q, want %q", test.in, said, test.want)
		}
		asIs := textOptions{Delimiter: '\n', AsIs: true, CRLF: true}
		if text, err := asIs.Open("in", strings.NewReader(test.in), nil); err != nil {
			t.Errorf("%q as it is: %v", test.in, err)
		} else if got, _ := io.ReadAll(text); string(got) != strings.TrimPrefix(test.in, utf8Mark) {
			t.Errorf("%q as it is: %q", test.in, got)
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
