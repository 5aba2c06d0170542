package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// emptyFile returns a file without pages whose footer has two row groups of two columns. The second column of
// the second row group is encrypted, or its pages are in another file.
func emptyFile(t *testing.T, last string) []byte {
	t.Helper()
	chunk := "\x3c\x00\x00" // empty metadata
	data := []byte("PAR1some pages")
	footer := "\x49\x2c" + "\x19\x2c" + chunk + chunk + "\x00" + "\x19\x2c" + chunk + last + "\x00" + "\x00"
	data = append(data, footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

func filterFor(t *testing.T, keys ...uint64) *bloom.Filter {
	t.Helper()
	filter, err := Sizing{Rate: 0.01}.Filter(bloom.Integers(keys))
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// TestEmbedder adds filters to a file and reads them.
func TestEmbedder(t *testing.T) {
	old := emptyFile(t, "\x3c\x00\x00")
	var out bytes.Buffer
	e, err := NewEmbedder(&out, bytes.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	if has, err := e.HasFilter(1, 0); has || err != nil || out.Len() > 0 {
		t.Fatalf("a filter: %v, %v; %d bytes are written", has, err, out.Len())
	}
	if err := errors.Join(e.Add(1, 0, filterFor(t, 1, 2, 3)), e.Add(0, 1, filterFor(t)), e.Close()); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	if e.Size() != int64(len(data)) || !bytes.HasPrefix(data, []byte("PAR1some pages")) {
		t.Errorf("%d bytes, of which Size says %d: %q", len(data), e.Size(), data)
	}
	dry, err := NewEmbedder(io.Discard, bytes.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dry.Add(1, 0, filterFor(t, 1, 2, 3)), dry.Add(0, 1, filterFor(t)), dry.Close()); err != nil || dry.Size() != e.Size() {
		t.Errorf("without writing: %d bytes, want %d: %v", dry.Size(), e.Size(), err)
	}
	again, err := NewEmbedder(io.Discard, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		if has, err := again.HasFilter(at[0], at[1]); has != (at[0] != at[1]) || err != nil {
			t.Errorf("row group %d, column %d: %v, %v", at[0], at[1], has, err)
		}
	}
	for _, p := range e.added {
		column, err := Open(Meta{Type: Type{Physical: Int64}, Input: bytes.NewReader(data), Size: int64(len(data)), Chunks: []Chunk{{FilterOffset: p.offset, FilterLength: p.length, Pages: PlainPages}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := column.Filter(0); err != nil {
			t.Errorf("the filter at byte %d: %v", p.offset, err)
		}
	}
}

// fullDisk fails after a number of bytes.
type fullDisk struct{ left int }

var errFull = errors.New("disk full")

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestEmbedderErrors wants an error of every kind of file that gets no filters, and of every write that fails.
func TestEmbedderErrors(t *testing.T) {
	good := emptyFile(t, "\x3c\x00\x00")
	for name, test := range map[string]struct {
		data []byte
		err  error
	}{
		"encrypted footer": {append(good[:len(good)-4:len(good)-4], "PARE"...), ErrEncrypted},
		"no magic":         {append(good[:len(good)-4:len(good)-4], "PAR2"...), ErrFooter},
		"short":            {good[len(good)-8:], ErrFooter},
		"empty":            {nil, ErrFooter},
		"long footer":      {append(binary.LittleEndian.AppendUint32(good[:len(good)-8:len(good)-8], 1000), "PAR1"...), ErrFooter},
	} {
		if _, err := NewEmbedder(io.Discard, bytes.NewReader(test.data)); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", name, err, test.err)
		}
	}
	for name, test := range map[string]struct {
		chunk string
		err   error
	}{
		"encrypted":    {"\x3c\x00\x5c\x00\x00", ErrEncrypted},
		"another file": {"\x18\x01f\x2c\x00\x00", ErrChunk},
		"no path":      {"\x18\x00\x2c\x00\x00", nil},
		"no metadata":  {"\x00", ErrFooter},
	} {
		e, err := NewEmbedder(io.Discard, bytes.NewReader(emptyFile(t, test.chunk)))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(1, 1, filterFor(t)); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", name, err, test.err)
		}
	}
	e, err := NewEmbedder(io.Discard, bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 2}} {
		if err := e.Add(at[0], at[1], filterFor(t)); !errors.Is(err, ErrChunk) {
			t.Errorf("row group %d, column %d: %v", at[0], at[1], err)
		}
	}
	if err := e.Add(0, 0, bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}.NewFilter(bloom.Integers([]uint64{1}))); !errors.Is(err, errSize) {
		t.Errorf("a filter of RocksDB: %v", err)
	}
	if err := errors.Join(e.Add(0, 0, filterFor(t)), e.Close()); err != nil {
		t.Fatal(err)
	}
	for n := range e.Size() {
		e, err := NewEmbedder(&fullDisk{int(n)}, bytes.NewReader(good))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Add(0, 0, filterFor(t)), e.Close()); !errors.Is(err, errFull) {
			t.Fatalf("room for %d bytes: %v", n, err)
		}
	}
}

// TestEmbedderShort wants an error if the file lost bytes after its footer was read.
func TestEmbedderShort(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, emptyFile(t, "\x3c\x00\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out bytes.Buffer
	e, err := NewEmbedder(&out, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 5); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); !errors.Is(err, ErrFooter) {
		t.Errorf("error %v", err)
	}
}

// TestSizingOfMany makes filters for very many small chunks: to size one takes no longer than to fill it. The
// quickest one tells, beside any load.
func TestSizingOfMany(t *testing.T) {
	keys, quickest := bloom.Integers(make([]uint64, 100)), time.Hour
	for range 1000 {
		start := time.Now()
		if _, err := (Sizing{Rate: 0.01}).Filter(keys); err != nil {
			t.Fatal(err)
		}
		quickest = min(quickest, time.Since(start))
	}
	if quickest > 2*time.Millisecond { // 0.1 ms where it was 11
		t.Errorf("a filter took %v", quickest)
	}
}

// TestSizing wants filters to keep their rate without being larger than that takes, however often a key comes.
func TestSizing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 25, 100, 1000, 30_000, 200_000} {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = random.Uint64()
		}
		for _, rate := range []float64{0.2, 0.01, 0.0001} {
			for _, anySize := range []bool{false, true} {
				columns := []bloom.Keys{bloom.Integers(keys)}
				if n%2 == 1 {
					columns = append(columns, columns...)
				}
				filter, err := Sizing{rate, anySize}.Filter(append(columns, bloom.Integers(keys))...)
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range keys {
					if !filter.MayContainUint64(key) {
						t.Fatalf("%d keys: one is not there", n)
					}
				}
				has, size := filter.Stats().FalsePositiveRate, len(filter.Bytes())
				if n >= 1000 && has > rate*1.05 {
					t.Errorf("%d keys, rate %v: %v", n, rate, has)
				}
				if !anySize && bits.OnesCount(uint(size)) != 1 {
					t.Errorf("%d keys, rate %v: %d bytes are no power of two", n, rate, size)
				}
				smaller := size / 2
				if anySize {
					smaller = size * 49 / 50
				}
				if n >= 1000 && bloom.Parquet.FalsePositiveRate(n, uint64(8*smaller), 8) < rate {
					t.Errorf("%d keys, rate %v: %d bytes, and %d do", n, rate, size, smaller)
				}
			}
		}
	}
	for _, rate := range []float64{0, 1, -1, math.NaN()} {
		if _, err := (Sizing{Rate: rate}).Filter(); !errors.Is(err, bloom.ErrRate) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	if _, err := (Sizing{Rate: 0.01}).blocks(1_000_000_000); !errors.Is(err, ErrTooMany) {
		t.Errorf("a billion keys: %v", err)
	}
}
