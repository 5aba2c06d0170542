package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
)

// saved is what Filter and Set have to write files.
type saved interface {
	AppendBinary(dst []byte) ([]byte, error)
	MarshalBinary() ([]byte, error)
	io.WriterTo
}

// loaded is what they have to read files.
type loaded interface {
	UnmarshalBinary(data []byte) error
	io.ReaderFrom
	KeyCount() (uint64, bool)
	AppendFilter(dst []byte) []byte
}

// fileWriters and fileReaders list every way to write and to read a file.
var fileWriters = []struct {
	name  string
	write func(s saved) ([]byte, error)
}{
	{"MarshalBinary", saved.MarshalBinary},
	{"AppendBinary", func(s saved) ([]byte, error) {
		data, err := s.AppendBinary([]byte("before"))
		return bytes.TrimPrefix(data, []byte("before")), err
	}},
	{"WriteTo", func(s saved) ([]byte, error) {
		var buffer bytes.Buffer
		n, err := s.WriteTo(&buffer)
		if n != int64(buffer.Len()) {
			err = fmt.Errorf("WriteTo returns %d after %d bytes", n, buffer.Len())
		}
		return buffer.Bytes(), err
	}},
}

type fileReader struct {
	name string
	read func(l loaded, data []byte) error
}

var fileReaders = []fileReader{
	{"UnmarshalBinary", loaded.UnmarshalBinary},
	{"ReadFrom", func(l loaded, data []byte) error { return readFrom(l, bytes.NewReader(data), len(data)) }},
	{"ReadFrom by bytes", func(l loaded, data []byte) error {
		return readFrom(l, iotest.OneByteReader(bytes.NewReader(data)), len(data))
	}},
}

func readFrom(l loaded, r io.Reader, size int) error {
	n, err := l.ReadFrom(r)
	if err == nil && n != int64(size) {
		err = fmt.Errorf("%w: ReadFrom read %d bytes of %d", ErrEncoding, n, size)
	}
	return err
}

// plainFile writes a file by the letter of docs/file-format.md.
func plainFile(t testing.TB, format Format, keys uint64, encoded []byte) []byte {
	t.Helper()
	var s encoding.Filter
	if err := format.encoding().Parse(encoded, &s); err != nil {
		t.Fatal(err)
	}
	before := 0 // of LevelDB
	switch format {
	case Nori, NoriCrate:
		before = len(encoded) - int((s.Bits+7)/8)
	case BitsAndBlooms:
		before = 24
	case Guava:
		before = 6
	}
	start := 128 - before
	if before > 16 {
		start = 192 - before
	}
	file := make([]byte, start, start+len(encoded))
	copy(file, "\x89BLM\r\n\x1a\n")
	file[8] = 1
	file[12] = byte(start)
	copy(file[16:32], format.String())
	binary.LittleEndian.PutUint64(file[32:], keys)
	binary.LittleEndian.PutUint64(file[40:], uint64(len(encoded)))
	binary.LittleEndian.PutUint64(file[48:], s.Bits)
	binary.LittleEndian.PutUint64(file[56:], uint64(s.Probes))
	file = append(file, encoded...)
	seal(file)
	return file
}

// seal corrects the checksums of a file.
func seal(file []byte) {
	start := min(uint64(binary.LittleEndian.Uint32(file[12:])), uint64(len(file)))
	binary.LittleEndian.PutUint64(file[64:], xxhash.Sum64(file[start:]))
	summed := append(bytes.Clone(file[:72]), bytes.TrimRight(file[80:min(112, len(file))], "\x00")...)
	binary.LittleEndian.PutUint64(file[72:], xxhash.Sum64(summed))
}

// TestFile writes filters and sets in every way and reads them in every way.
func TestFile(t *testing.T) {
	t.Parallel()
	all := golden.Mixed.Range(0, 20000)
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{0, 1, 7, 100, 20000} {
			for _, bitsPerKey := range []int{1, 10, 43} {
				keys := all[:n]
				p := Policy{format, bitsPerKey}
				builder := p.NewBuilder()
				builder.AddBatch(Bytes(keys))
				f := builder.Filter()
				encoded := f.AppendFilter(nil)
				checkFile(t, f, new(Filter), plainFile(t, format, uint64(n), encoded), encoded)
				checkFile(t, mustOpen(t, format, encoded), new(Filter), plainFile(t, format, math.MaxUint64, encoded), encoded)
				s := mustSet(t, p, n)
				s.AddBatch(Bytes(keys))
				encoded = s.AppendFilter(nil)
				want := plainFile(t, format, uint64(n), encoded)
				checkFile(t, s, new(Set), want, encoded)
				checkFile(t, s.Filter(), new(Filter), want, encoded)
			}
		}
		empty := Policy{format, 10}.NewFilter(Keys{})
		file, err := empty.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		_, want := OpenSet(format, empty.data)
		var s Set
		if err := s.UnmarshalBinary(file); (err == nil) != (want == nil) || err != nil && !errors.Is(err, ErrEncoding) {
			t.Errorf("the filter of no keys is read as a set: %v, and opened: %v", err, want)
		} else if n, _ := s.KeyCount(); n != 0 || s.MayContain(nil) || err == nil && !bytes.Equal(s.data, empty.data) {
			t.Errorf("the filter of no keys is read as the set %v", &s)
		}
		for _, odd := range formatTests[format].odd {
			if odd.is != noFilter {
				checkFile(t, mustOpen(t, format, odd.data), new(Filter), plainFile(t, format, math.MaxUint64, odd.data), odd.data)
			}
		}
	})
}

// checkFile writes s and reads the file into l.
func checkFile(t *testing.T, s saved, l loaded, want, encoded []byte) {
	t.Helper()
	for _, way := range fileWriters {
		if got, err := way.write(s); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v; the file is\n%.300x, want\n%.300x", way.name, err, got, want)
		}
	}
	keys, known := s.(loaded).KeyCount()
	for _, way := range fileReaders {
		data := bytes.Clone(want)
		if err := way.read(l, data); err != nil {
			t.Fatalf("%s: %v; the file is\n%.300x", way.name, err, want)
		}
		clear(data)
		if n, ok := l.KeyCount(); !bytes.Equal(l.AppendFilter(nil), encoded) || n != keys || ok != known {
			t.Fatalf("%s: %d keys (%v) and the filter\n%.300x, want %d (%v) and\n%.300x", way.name, n, ok, l.AppendFilter(nil), keys, known, encoded)
		}
	}
	data := slices.Concat(want)
	f, err := OpenBinary(data)
	if err != nil || VerifyBinary(data) != nil {
		t.Fatalf("OpenBinary: %v, VerifyBinary: %v", err, VerifyBinary(data))
	}
	if !bytes.Equal(f.data, encoded) || len(encoded) > 0 && unsafe.SliceData(f.data) != &data[len(data)-len(encoded)] {
		t.Fatal("OpenBinary gives other bytes, or a copy")
	}
	first := 128
	if f.format == BitsAndBlooms {
		first = 192
	}
	if bits, _ := f.encoded(); len(bits) > 0 && &bits[0] != &data[first] {
		t.Fatalf("the bits do not begin at byte %d", first)
	}
	checkFilter(t, f, golden.Mixed.Range(0, 20))
}

var updateFiles = flag.Bool("update", false, "write testdata/file and testdata/interleaved anew")

// TestFileGolden pins the file of each format.
func TestFileGolden(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		keys := golden.Decimals.Range(0, 100)
		builder := Policy{format, 10}.NewBuilder()
		builder.AddBatch(Bytes(keys))
		got, err := builder.Filter().MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", "file", format.String()+".bloom")
		if *updateFiles {
			if err := os.WriteFile(name, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the file is\n%x, want\n%x", got, want)
		}
		f, err := OpenBinary(want)
		if err != nil {
			t.Fatal(err)
		}
		if n, known := f.KeyCount(); f.Format() != format || n != 100 || !known || f.MayContainBatch(Bytes(keys), make([]uint64, 2)) != 100 {
			t.Errorf("the golden file is of %v, with %d keys", f.Format(), n)
		}
	})
}

// TestFileStart wants the bits at the first boundary that leaves room, and old files where they were.
func TestFileStart(t *testing.T) {
	for before := range 1000 {
		start := int(startOf(before))
		if bits := start + before; start < fileFields || start > mostStart || bits%64 != 0 || bits < fileLeast {
			t.Errorf("%d bytes before the bits: the filter begins at %d, its bits at %d", before, start, bits)
		}
	}
	for before, want := range map[int]uint32{0: 128, 12: 116, 16: 112, 24: 168} {
		if got := startOf(before); got != want {
			t.Errorf("%d bytes before the bits: the filter begins at %d, want %d", before, got, want)
		}
	}
}

// TestLaterStart refuses a file whose filter begins one byte later than it must.
func TestLaterStart(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		file := testFile(format)
		var h fileHeader
		if err := h.parse(file); err != nil {
			t.Fatal(err)
		}
		encoded := file[h.start:]
		h.start++
		checkRefused(t, append(h.append(nil), encoded...), ErrEncoding)
	})
}

// TestFileOfTallHeader writes and reads files of the format with the longest header, and damages them.
func TestFileOfTallHeader(t *testing.T) {
	for words := 2; words < 5000; words *= 3 {
		encoded := bitsAndBlooms(64*uint64(words), 7, 64*uint64(words), words)
		file, _ := mustOpen(t, BitsAndBlooms, encoded).MarshalBinary()
		const start = 168
		if at := binary.LittleEndian.Uint32(file[12:]); at != start || !bytes.Equal(file[start:], encoded) {
			t.Fatalf("the filter of %d bytes begins at byte %d of %d, want %d", len(encoded), at, len(file), start)
		}
		for _, way := range fileReaders {
			var f Filter
			var s Set
			if err := errors.Join(way.read(&f, file), way.read(&s, file)); err != nil || !bytes.Equal(f.data, encoded) || !bytes.Equal(s.data, encoded) {
				t.Fatalf("%s of %d bytes: %v", way.name, len(file), err)
			}
		}
		for n := 0; n < min(len(file), 300); n++ {
			data := file[:n:n]
			if _, err := OpenBinary(data); !errors.Is(err, ErrEncoding) || VerifyBinary(data) == nil {
				t.Fatalf("OpenBinary of %d bytes: %v", n, err)
			}
			if _, err := new(Filter).ReadFrom(bytes.NewReader(data)); n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("ReadFrom of %d bytes: %v", n, err)
			}
		}
		for at := range start { // the checksum covers the fields, and the bytes after them are zero
			data := bytes.Clone(file)
			if data[at] ^= 1; VerifyBinary(data) == nil {
				t.Fatalf("byte %d of the header is not verified", at)
			}
		}
	}
}

// TestFileInDocs compares the file that docs/file-format.md shows.
func TestFileInDocs(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("docs", "file-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(hex.Dump(kindFile(t, LevelDB, KindText))) {
		if !strings.Contains(string(docs), "    "+line) {
			t.Errorf("docs/file-format.md lacks the line\n%s", line)
		}
	}
	eachFormat(t, func(t *testing.T, format Format) {
		if name := "| `" + format.String() + "` |"; !strings.Contains(string(docs), name) {
			t.Errorf("docs/file-format.md lacks the start of %v", format)
		}
	})
}

// testFile is a small file of a format.
func testFile(format Format) []byte {
	builder := Policy{format, 10}.NewBuilder()
	builder.AddBatch(Bytes(golden.Decimals.Range(0, 10)))
	data, _ := builder.Filter().MarshalBinary()
	return data
}

// checkRefused reads bytes that are no file in every way. What it reads into must not change.
func checkRefused(t *testing.T, data []byte, want error) {
	t.Helper()
	f, s := Policy{}.NewBuilder().Filter(), mustSet(t, Policy{}, 1)
	s.AddString("key")
	for _, l := range []loaded{f, s} {
		before := l.AppendFilter(nil)
		for _, way := range fileReaders {
			if err := way.read(l, data); !errors.Is(err, want) {
				t.Fatalf("%s into a %T: error %v for the bytes\n%.300x", way.name, l, err, data)
			}
			if !bytes.Equal(l.AppendFilter(nil), before) {
				t.Fatalf("%s: a %T changed", way.name, l)
			}
		}
	}
	if err := VerifyBinary(data); !errors.Is(err, want) {
		t.Fatalf("VerifyBinary: error %v for the bytes\n%.300x", err, data)
	}
}

// TestFileDamaged damages every byte of files. Reading finds all damage; opening finds the
// damage that is not in the filter.
func TestFileDamaged(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		file := testFile(format)
		start := int(file[12])
		for i := range file {
			for _, mask := range []byte{1, 0x10, 0x80, 0xff} {
				data := bytes.Clone(file)
				data[i] ^= mask
				checkRefused(t, data, ErrEncoding)
				if f, err := OpenBinary(data); err != nil && !errors.Is(err, ErrEncoding) || err == nil && i < start {
					t.Fatalf("OpenBinary with byte %d changed: %v, %v", i, f, err)
				}
			}
		}
	})
}

// TestFileTruncated cuts files at every byte, and adds a byte.
func TestFileTruncated(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		file := testFile(format)
		for n := 1; n < len(file); n++ {
			data := file[:n:n]
			checkRefused(t, data, ErrEncoding)
			if _, err := OpenBinary(data); !errors.Is(err, ErrEncoding) {
				t.Fatalf("OpenBinary of %d bytes of %d: %v", n, len(file), err)
			}
			read, err := new(Filter).ReadFrom(bytes.NewReader(data))
			if !errors.Is(err, io.ErrUnexpectedEOF) || read != int64(n) {
				t.Fatalf("ReadFrom of %d bytes of %d: %d, %v", n, len(file), read, err)
			}
		}
		longer := append(bytes.Clone(file), 0)
		if err := new(Filter).UnmarshalBinary(longer); !errors.Is(err, ErrEncoding) {
			t.Errorf("UnmarshalBinary of a byte too many: %v", err)
		}
		if _, err := OpenBinary(longer); !errors.Is(err, ErrEncoding) {
			t.Errorf("OpenBinary of a byte too many: %v", err)
		}
	})
	if _, err := OpenBinary(nil); !errors.Is(err, ErrEncoding) {
		t.Errorf("OpenBinary of no bytes: %v", err)
	}
	if n, err := new(Set).ReadFrom(strings.NewReader("")); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadFrom of no bytes: %d, %v", n, err)
	}
}

// TestFileHostile has headers whose checksum is right and which lie.
func TestFileHostile(t *testing.T) {
	t.Parallel()
	word := func(at int, change func(uint64) uint64) func(data []byte) {
		return func(data []byte) {
			binary.LittleEndian.PutUint64(data[at:], change(binary.LittleEndian.Uint64(data[at:])))
		}
	}
	is := func(v uint64) func(uint64) uint64 { return func(uint64) uint64 { return v } }
	add := func(v uint64) func(uint64) uint64 { return func(w uint64) uint64 { return w + v } }
	start := func(v uint32) func(data []byte) {
		return func(data []byte) { binary.LittleEndian.PutUint32(data[12:], v) }
	}
	text := func(s string) func(data []byte) {
		return func(data []byte) { clear(data[16:32]); copy(data[16:32], s) }
	}
	for name, c := range map[string]struct {
		change func(data []byte)
		want   error
	}{
		"version 0":          {func(data []byte) { data[8] = 0 }, ErrEncoding},
		"version 2":          {func(data []byte) { data[8] = 2 }, ErrEncoding},
		"version 2^24 + 1":   {func(data []byte) { data[11] = 1 }, ErrEncoding},
		"no format":          {text(""), ErrFormat},
		"another format":     {text("ribbon"), ErrFormat},
		"capital format":     {text("LevelDB"), ErrFormat},
		"format with a rest": {text("leveldb\x00more"), ErrFormat},
		"format not ended":   {text("leveldb........."), ErrFormat},
		"start 0":            {start(0), ErrEncoding},
		"start 79":           {start(79), ErrEncoding},
		"start 80":           {start(80), ErrEncoding},
		"start 129":          {start(129), ErrEncoding},
		"start 2^32 - 1":     {start(math.MaxUint32), ErrEncoding},
		"start and size":     {func(data []byte) { data[40] += data[12] - 79; data[12] = 79 }, ErrEncoding},
		"start - 1":          {func(data []byte) { data[12]--; data[40]++ }, ErrEncoding},
		"size 0":             {word(40, is(0)), ErrEncoding},
		"size + 1":           {word(40, add(1)), ErrEncoding},
		"size - 1":           {word(40, add(math.MaxUint64)), ErrEncoding},
		"size 2^40":          {word(40, is(1<<40)), ErrEncoding},
		"size 2^63 - 1":      {word(40, is(math.MaxInt64)), ErrEncoding},
		"size 2^63 - 127":    {word(40, is(math.MaxInt64-126)), ErrEncoding},
		"size 2^64 - 1":      {word(40, is(math.MaxUint64)), ErrEncoding},
		"size 2^64 - 128":    {word(40, is(math.MaxUint64-127)), ErrEncoding},
		"bits + 1":           {word(48, add(1)), ErrEncoding},
		"bits 0":             {word(48, is(0)), ErrEncoding},
		"probes + 1":         {word(56, add(1)), ErrEncoding},
		"probes + 2^32":      {word(56, add(1<<32)), ErrEncoding},
		"probes 2^64 - 1":    {word(56, is(math.MaxUint64)), ErrEncoding},
		"other probes":       {func(data []byte) { data[127], data[len(data)-1] = data[127]^1, data[len(data)-1]^1 }, ErrEncoding},
	} {
		eachFormat(t, func(t *testing.T, format Format) {
			data := testFile(format)
			if c.change(data); name == "other probes" && format != LevelDB {
				return
			}
			seal(data)
			checkRefused(t, data, c.want)
			if _, err := OpenBinary(data); !errors.Is(err, c.want) {
				t.Errorf("%s: OpenBinary: %v", name, err)
			}
		})
	}
	eachFormat(t, func(t *testing.T, format Format) {
		moved := slices.Delete(testFile(format), fileFields, fileFields+1)
		moved[12]-- // a filter that begins, and so has its bits, a byte too early
		seal(moved)
		checkRefused(t, moved, ErrEncoding)
		for at := fileKind; at < int(testFile(format)[12]); at++ { // no character, nor zero
			data := testFile(format)
			data[at] = 1
			seal(data)
			checkRefused(t, data, ErrEncoding)
		}
		for at := fileKind + 1; at < fileFields; at++ { // a kind that begins or goes on with zero
			data := testFile(format)
			data[at] = 'k'
			seal(data)
			checkRefused(t, data, ErrEncoding)
		}
		eachFormat(t, func(t *testing.T, other Format) {
			data := testFile(format)
			if text(other.String())(data); other == format || format == NoriCrate && other == Nori {
				return // Nori reads the bytes of NoriCrate
			}
			seal(data)
			checkRefused(t, data, ErrEncoding)
		})
	})
}

// TestFileMessages reads what people may take for a file.
func TestFileMessages(t *testing.T) {
	file := testFile(LevelDB)
	stripped := bytes.Clone(file)
	stripped[0] &= 0x7f
	damaged := bytes.Clone(file)
	damaged[len(damaged)-10] ^= 1
	newer := bytes.Clone(file)
	newer[8] = 2
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"text":               {[]byte("hello\nworld\n"), "not a file of a filter"},
		"long text":          {bytes.Repeat([]byte("hello\n"), 100), "not a file of a filter"},
		"bare bytes":         {Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Strings([]string{"a"})), "not a file of a filter"},
		"LF for CRLF":        {bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")), "transfer as text"},
		"CRLF for LF":        {bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")), "transfer as text"},
		"seven bits":         {stripped, "transfer as text"},
		"another version":    {newer, "has version 2"},
		"half":               {file[:len(file)/2], "the file ends after"},
		"damaged":            {damaged, "the checksum of the file's filter is wrong"},
		"two files in a row": {slices.Concat(file, file), "and its header claims"},
	} {
		if err := VerifyBinary(c.data); err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "bloom:") != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadFromMemory has headers that claim far more bytes than follow.
func TestReadFromMemory(t *testing.T) {
	for _, size := range []uint64{1 << 20, 1 << 29, 1 << 40, 1 << 62} {
		data := slices.Concat(testFile(LevelDB)[:128], make([]byte, 10))
		binary.LittleEndian.PutUint64(data[40:], size)
		binary.LittleEndian.PutUint64(data[48:], 8*(size-1))
		seal(data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := new(Filter).ReadFrom(bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrEncoding) || got > 4*fileLeastRead {
			t.Errorf("a claim of %d bytes: %d bytes allocated, %v", size, got, err)
		}
	}
	// What is allocated for a filter that is there.
	s := mustSet(t, Policy{Format: LevelDB, BitsPerKey: 8}, 1<<20)
	data, _ := s.MarshalBinary()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := new(Filter).ReadFrom(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 5*uint64(len(data)) { // the race detector's slices.Grow takes twice what others take
		t.Errorf("%d bytes allocated to read %d", got, len(data))
	}
}

// TestFilesInAStream reads files of all formats from one stream, which has more bytes after
// them and may fail anywhere.
func TestFilesInAStream(t *testing.T) {
	var stream bytes.Buffer
	var want [][]byte
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{0, 1, 1000} {
			f := mustOpen(t, format, Policy{format, 10}.AppendFilter(nil, Bytes(golden.Mixed.Range(0, n))))
			if _, err := f.WriteTo(&stream); err != nil {
				t.Fatal(err)
			}
			want = append(want, f.data)
		}
	})
	data := stream.Bytes()
	r := strings.NewReader(string(data) + "the end")
	for _, w := range want {
		var f Filter
		if _, err := f.ReadFrom(r); err != nil || !bytes.Equal(f.data, w) {
			t.Fatalf("ReadFrom: %v, %.100x, want %.100x", err, f.data, w)
		}
	}
	if r.Len() != len("the end") {
		t.Errorf("%d bytes are left after the files", r.Len())
	}
	broken := errors.New("broken")
	for _, size := range []int{0, 1, 127, 128, 129, 140} {
		f := *mustOpen(t, LevelDB, want[0])
		n, err := f.ReadFrom(io.MultiReader(bytes.NewReader(testFile(Nori)[:size]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || n != int64(size) || !bytes.Equal(f.data, want[0]) {
			t.Errorf("a reader that fails after %d bytes: %d, %v", size, n, err)
		}
	}
}

// limitedWriter takes n bytes, and keeps what it was given.
type limitedWriter struct {
	n     int
	err   error
	parts [][]byte
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	w.parts = append(w.parts, p)
	if len(p) > w.n {
		n := w.n
		w.n = 0
		return n, w.err
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriteTo(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustSet(t, Policy{format, 10}, 100)
		want, _ := s.MarshalBinary()
		w := &limitedWriter{n: len(want)}
		if n, err := s.WriteTo(w); n != int64(len(want)) || err != nil || !bytes.Equal(slices.Concat(w.parts...), want) {
			t.Errorf("WriteTo = %d, %v", n, err)
		}
		if unsafe.SliceData(w.parts[len(w.parts)-1]) != unsafe.SliceData(s.data) {
			t.Error("WriteTo copies the filter")
		}
		full := errors.New("full")
		for size := range want {
			for _, err := range []error{full, nil} {
				w := &limitedWriter{n: size, err: err}
				if n, got := s.WriteTo(w); n != int64(size) || got == nil || err != nil && !errors.Is(got, full) {
					t.Fatalf("WriteTo a writer of %d bytes: %d, %v", size, n, got)
				}
			}
		}
	})
}

// TestBytes wants the bytes that were opened, and those of a set, and no copies.
func TestBytes(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, odd := range formatTests[format].odd {
			if odd.is == noFilter {
				continue
			}
			data := append(slices.Clone(odd.data), 1)[:len(odd.data)]
			if got := mustOpen(t, format, data).Bytes(); unsafe.SliceData(got) != unsafe.SliceData(data) || !bytes.Equal(got, odd.data) || cap(got) != len(got) {
				t.Fatalf("%s: Bytes() = %x with a capacity of %d, want %x", odd.name, got, cap(got), odd.data)
			}
		}
		s := mustSet(t, Policy{format, 10}, 10)
		before := s.Bytes()
		s.AddString("key")
		if !bytes.Equal(before, s.AppendFilter(nil)) {
			t.Error("Bytes() of a set is a copy")
		}
	})
	if len(new(Set).Bytes())+len(new(Filter).Bytes()) != 0 {
		t.Error("zero values have bytes")
	}
}

// TestZeroFile writes and reads zero values.
func TestZeroFile(t *testing.T) {
	t.Parallel()
	want := plainFile(t, Default, 0, nil)
	checkFile(t, new(Filter), new(Filter), want, nil)
	checkFile(t, new(Set), mustSet(t, Policy{}, 1), want, nil)
	s := mustSet(t, Policy{Nori, 10}, 1)
	if err := s.UnmarshalBinary(want); err != nil || s.scheme != 0 || s.MayContain(nil) {
		t.Errorf("the zero Set is read as %v, %v", s, err)
	}
	// Filters that are no sets. The zero Set has a file without keys and bytes, whatever its format.
	eachFormat(t, func(t *testing.T, format Format) {
		for _, odd := range formatTests[format].odd {
			if odd.is != justFilter {
				continue
			}
			for _, keys := range []uint64{0, 1, math.MaxUint64} {
				file := plainFile(t, format, keys, odd.data)
				if keys == 0 && len(odd.data) == 0 {
					if s := mustSet(t, Policy{format, 10}, 1); s.UnmarshalBinary(file) != nil || s.scheme != 0 || s.format != 0 {
						t.Errorf("a file of %v without keys and bytes is read as %v", format, s)
					}
					continue
				}
				text := base64.StdEncoding.AppendEncode(nil, file)
				for _, way := range append(fileReaders, fileReader{"UnmarshalText", func(l loaded, _ []byte) error { return l.(*Set).UnmarshalText(text) }}) {
					s := mustSet(t, Policy{format, 10}, 1)
					if err := way.read(s, file); !errors.Is(err, ErrEncoding) || s.scheme == 0 || s.format != format {
						t.Errorf("%s for %d keys is read as a set by %s: %v", odd.name, keys, way.name, err)
					}
				}
			}
		}
	})
}

// TestKeyCountOfFile adds to a set that was read from a file.
func TestKeyCountOfFile(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		var s Set
		for _, want := range []uint64{0, 10, 11} {
			if n, known := s.KeyCount(); n != want || !known {
				t.Errorf("KeyCount() = %d, %v; want %d", n, known, want)
			}
			if want > 0 {
				s.AddString("another")
			} else if err := s.UnmarshalBinary(testFile(format)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestFileAllocations(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		file := testFile(format)
		f, err := OpenBinary(file)
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 0, len(file))
		for name, c := range map[string]struct {
			most float64
			run  func()
		}{
			"AppendBinary": {0, func() { buffer, _ = f.AppendBinary(buffer[:0]) }},
			"AppendFilter": {0, func() { buffer = f.AppendFilter(buffer[:0]) }},
			"WriteTo":      {1, func() { _, _ = f.WriteTo(io.Discard) }},
			"OpenBinary":   {3, func() { _, _ = OpenBinary(file) }},
		} {
			if n := testing.AllocsPerRun(10, c.run); n > c.most {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}

// kinds has names of all lengths.
var kinds = []KeyKind{KindUnknown, KindText, "k", "INT64 (TIMESTAMP MICROS LOCAL)", KeyKind(strings.Repeat("~", 32))}

// kindFile is a small file of keys of a kind.
func kindFile(t testing.TB, format Format, kind KeyKind) []byte {
	t.Helper()
	builder := Policy{format, 10}.NewBuilder()
	builder.AddBatch(Strings([]string{"hello", "world"}))
	if err := builder.SetKeyKind(kind); err != nil || builder.KeyKind() != kind {
		t.Fatal(builder.KeyKind(), err)
	}
	data, err := builder.Filter().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKeyKind writes filters of keys of a kind in every way, and reads them in every way.
func TestKeyKind(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, kind := range kinds {
			f, err := Policy{format, 10}.NewFilter(Strings([]string{"hello", "world"})).WithKeyKind(kind)
			if err != nil {
				t.Fatal(err)
			}
			want := plainFile(t, format, 2, f.AppendFilter(nil))
			copy(want[80:], kind)
			seal(want)
			checkFile(t, f, new(Filter), want, f.AppendFilter(nil))
			if got := kindFile(t, format, kind); !bytes.Equal(got, want) {
				t.Fatalf("a builder's filter of %q has the file\n%x, want\n%x", kind, got, want)
			}
			read, set := new(Filter), new(Set)
			for l, got := range map[loaded]func() KeyKind{read: read.KeyKind, set: set.KeyKind} {
				for _, way := range fileReaders {
					if err := way.read(l, want); err != nil || got() != kind {
						t.Errorf("%s into a %T: %v, of %q, want %q", way.name, l, err, got(), kind)
					}
				}
			}
			if f, err := OpenBinary(want); err != nil || f.KeyKind() != kind {
				t.Errorf("OpenBinary: %v", err)
			}
		}
	})
	zero, err := new(Filter).WithKeyKind(KindText)
	if err != nil {
		t.Fatal(err)
	}
	file, err := zero.MarshalBinary()
	var s Set
	if err := errors.Join(err, s.UnmarshalBinary(file)); err != nil || s.KeyKind() != KindText || s.scheme != 0 {
		t.Errorf("the zero Filter of text is read as the set %v: %v", &s, err)
	}
}

// TestKeyKindDamaged damages the kind in a file.
func TestKeyKindDamaged(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		for _, kind := range kinds[1:] {
			for at := fileKind; at < fileFields; at++ {
				for _, b := range []byte{0, 1, ' ', 'x', 0xff} {
					if data := kindFile(t, format, kind); data[at] != b {
						data[at] = b
						checkRefused(t, data, ErrEncoding)
					}
				}
			}
		}
	})
}

// TestKeyKindOfSets merges sets of keys of all kinds.
func TestKeyKindOfSets(t *testing.T) {
	for _, kind := range kinds {
		for _, other := range kinds {
			var s, o Set
			if err := errors.Join(s.UnmarshalBinary(kindFile(t, Default, kind)), o.UnmarshalBinary(kindFile(t, Default, other))); err != nil {
				t.Fatal(err)
			}
			s.Clear()
			before := s.Clone()
			both := s.Clone()
			err := s.Merge(&o)
			if got := both.Intersect(&o); (got == nil) != (err == nil) || both.Filter().KeyKind() != s.Filter().KeyKind() {
				t.Errorf("%q and %q: Intersect: %v, of %q", kind, other, got, both.Filter().KeyKind())
			}
			switch {
			case kind == KindUnknown || other == KindUnknown:
				if err != nil || s.Filter().KeyKind() != KindUnknown || !s.Equal(&o) {
					t.Errorf("%q and %q: %v, of %q", kind, other, err, s.Filter().KeyKind())
				}
			case kind == other:
				if err != nil || s.Filter().KeyKind() != kind || !s.Equal(&o) {
					t.Errorf("%q: %v, of %q", kind, err, s.Filter().KeyKind())
				}
			default:
				if !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), string(kind)+" and "+string(other)) || s.Filter().KeyKind() != kind || !s.Equal(before) {
					t.Errorf("%q and %q: %v, of %q", kind, other, err, s.Filter().KeyKind())
				}
			}
		}
	}
}

// TestKeyKindNames has names that a file cannot hold.
func TestKeyKindNames(t *testing.T) {
	for _, kind := range []KeyKind{KeyKind(strings.Repeat("k", 33)), "a\x00b", "\n", "é", "\xff", KeyKind(strings.Repeat("k", 1<<20))} {
		if f, err := new(Filter).WithKeyKind(kind); !errors.Is(err, ErrKind) || f != nil || len(err.Error()) > 300 {
			t.Errorf("WithKeyKind: %v", err)
		}
		b := Policy{}.NewBuilder()
		if err := b.SetKeyKind(kind); !errors.Is(err, ErrKind) || b.Filter().KeyKind() != KindUnknown {
			t.Errorf("SetKeyKind: %v", err)
		}
	}
}

// TestKeyKindGolden pins the file of a filter of text.
func TestKeyKindGolden(t *testing.T) {
	name, got := filepath.Join("testdata", "file", "text.bloom"), kindFile(t, LevelDB, KindText)
	if *updateFiles {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is\n%x, want\n%x: %v", got, want, err)
	}
}
