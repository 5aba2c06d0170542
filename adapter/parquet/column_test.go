package bloomparquet

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lanebloom/bloom"
)

// file is a file of filters at given places, for tests.
type file struct {
	bytes.Buffer
	chunks []Chunk
}

// add appends a filter of keys with a header. It returns the chunk.
func (f *file) add(t testing.TB, keys bloom.Keys, bitsPerKey int) *Chunk {
	t.Helper()
	if f.Len() == 0 {
		f.WriteString("PAR1")
	}
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: bitsPerKey}.NewFilter(keys)
	data, err := AppendFilter(nil, filter)
	if err != nil {
		t.Fatal(err)
	}
	f.chunks = append(f.chunks, Chunk{Rows: int64(keys.Len()), FilterOffset: int64(f.Len()), FilterLength: int64(len(data)), Pages: PlainPages})
	f.Write(data)
	return &f.chunks[len(f.chunks)-1]
}

func (f *file) open(t testing.TB, typ Type) *Column {
	t.Helper()
	return f.openWith(t, typ, bytes.NewReader(f.Bytes()))
}

func (f *file) openWith(t testing.TB, typ Type, input io.ReaderAt) *Column {
	t.Helper()
	c, err := Open(Meta{File: "file", Path: "k", Type: typ, Input: input, Size: int64(f.Len()), Chunks: f.chunks})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// failing is a file that cannot be read.
type failing struct{ error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.error }

// TestFilterErrors changes what a footer says of the first of two filters, and wants its reason.
// The second one stays readable, and the keys of both are found.
func TestFilterErrors(t *testing.T) {
	for name, test := range map[string]struct {
		change func(f *file, c *Chunk)
		want   error
	}{
		"as it is":               {func(*file, *Chunk) {}, nil},
		"no length":              {func(_ *file, c *Chunk) { c.FilterLength = 0 }, nil},
		"no filter":              {func(_ *file, c *Chunk) { c.FilterOffset = 0 }, ErrNoFilter},
		"encrypted":              {func(_ *file, c *Chunk) { c.Encrypted = true }, ErrEncrypted},
		"negative offset":        {func(_ *file, c *Chunk) { c.FilterOffset = -1 }, errTruncated},
		"offset at the end":      {func(f *file, c *Chunk) { c.FilterOffset = int64(f.Len()) }, errTruncated},
		"offset of the other":    {func(f *file, c *Chunk) { c.FilterOffset = f.chunks[1].FilterOffset }, errOverlap},
		"negative length":        {func(_ *file, c *Chunk) { c.FilterLength = -5 }, errTruncated},
		"length of a header":     {func(_ *file, c *Chunk) { c.FilterLength = 16 }, errSize},
		"length of less":         {func(_ *file, c *Chunk) { c.FilterLength = 14 }, errTruncated},
		"shorter":                {func(_ *file, c *Chunk) { c.FilterLength -= 32 }, errSize},
		"one byte shorter":       {func(_ *file, c *Chunk) { c.FilterLength-- }, errSize},
		"into the other":         {func(_ *file, c *Chunk) { c.FilterLength += 32 }, errTruncated},
		"over the end":           {func(f *file, c *Chunk) { c.FilterLength = int64(f.Len()) }, errTruncated},
		"offset past the header": {func(_ *file, c *Chunk) { c.FilterOffset++; c.FilterLength-- }, errHeader},
		"larger in the header":   {func(f *file, c *Chunk) { enlarge(f, c); c.FilterLength = 0 }, errTruncated},
		"larger than its length": {enlarge, errSize},
		"gzip": {func(f *file, c *Chunk) {
			copy(f.Bytes()[c.FilterOffset:], appendHeader(nil, 4096))
			f.Bytes()[c.FilterOffset+3+9] = 0x2c
		}, errCompression},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(file)
			first, second := make([]uint64, 3000), make([]uint64, 3000)
			for i := range first {
				first[i], second[i] = uint64(i), uint64(i+10000)
			}
			f.add(t, bloom.Integers(first), 12)
			f.add(t, bloom.Integers(second), 12)
			test.change(f, &f.chunks[0])
			c := f.open(t, Type{Physical: Int64})
			for range 2 { // reading, and then from memory
				if _, err := c.Filter(0); !errors.Is(err, test.want) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				_, err := c.Filter(1)
				if other := errors.Is(test.want, errOverlap); errors.Is(err, errOverlap) != other || !other && err != nil {
					t.Errorf("the other filter: %v", err)
				}
				keys, err := KeysOf(c.Type(), append(first, second...))
				if err != nil {
					t.Fatal(err)
				}
				m, err := rowGroups(keys, c)
				if err != nil {
					t.Fatal(err)
				}
				if group := m[0]; !errors.Is(group.Err, test.want) || test.want != nil && group.Count != 6000 || test.want == nil && group.Count > 4000 {
					t.Errorf("%d keys may be in the first row group: %v", group.Count, group.Err)
				}
				for i := range 6000 {
					if !mayContain(m[i/3000], i) {
						t.Fatalf("key %d is missing", i)
					}
				}
				c.Load()
			}
		})
	}
}

// enlarge makes the header say more than there is.
func enlarge(f *file, c *Chunk) {
	header, numBytes, err := parseHeader(f.Bytes()[c.FilterOffset:])
	if err != nil {
		panic(err)
	}
	if copy(f.Bytes()[c.FilterOffset:], appendHeader(nil, numBytes+32)) != header {
		panic("the header has another length")
	}
}

// TestClaims wants a header's claim of 2 GiB to allocate nothing.
func TestClaims(t *testing.T) {
	f := new(file)
	f.WriteString("PAR1")
	f.Write(appendHeader(nil, 1<<31-32))
	f.Write(make([]byte, 1000))
	f.chunks = []Chunk{{FilterOffset: 4, Pages: PlainPages}, {FilterOffset: 4, FilterLength: 1<<31 - 32, Pages: PlainPages}, {FilterOffset: 5, FilterLength: 1<<31 + 4, Pages: PlainPages}}
	c := f.open(t, Type{Physical: Int64})
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range f.chunks {
				if _, err := c.Filter(i); err == nil {
					b.Fatal("no error")
				}
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 10000 {
		t.Errorf("%d bytes allocated for a file of %d", allocated, f.Len())
	}
}

// TestReadErrors wants the errors of a file that cannot be read, or that is shorter than it was.
func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		input func(data []byte) io.ReaderAt
		want  error
	}{
		"broken":  {func([]byte) io.ReaderAt { return failing{broken} }, broken},
		"shorter": {func(data []byte) io.ReaderAt { return bytes.NewReader(data[:len(data)-1]) }, errTruncated},
		"empty":   {func([]byte) io.ReaderAt { return failing{io.EOF} }, errTruncated},
		"silent":  {func([]byte) io.ReaderAt { return failing{nil} }, io.ErrNoProgress},
		"timeout": {func([]byte) io.ReaderAt { return failing{iotest.ErrTimeout} }, iotest.ErrTimeout},
	} {
		for _, length := range []bool{true, false} {
			f := new(file)
			chunk := f.add(t, bloom.Strings([]string{"a", "b"}), 10)
			if !length {
				chunk.FilterLength = 0
			}
			if _, err := f.openWith(t, Type{Physical: ByteArray}, test.input(f.Bytes())).Filter(0); !errors.Is(err, test.want) {
				t.Errorf("%s: error %v, want %v", name, err, test.want)
			}
		}
	}
}

// TestAligned reads filters to where no block lies in two cache lines.
func TestAligned(t *testing.T) {
	var memory buffer
	for _, n := range []int{0, 1, 63, 64, 5000, 100, 70000} {
		for at := range 32 {
			if n < at {
				continue
			}
			data := memory.aligned(n, at)
			if len(data) != n || cap(data) != n {
				t.Fatalf("%d bytes, %d with room", len(data), cap(data))
			}
			if n > at && addressOf(data[at:])%64 != 0 {
				t.Fatalf("byte %d is not at the start of a line", at)
			}
		}
	}
}

// FuzzColumn wants any bytes and any places of filters to be filters or errors of this package. All
// filters together have no more bytes than the file.
func FuzzColumn(f *testing.F) {
	two := new(file)
	for i := range uint64(2) {
		two.add(f, bloom.Integers([]uint64{i}), 10)
	}
	first, second := two.chunks[0], two.chunks[1]
	f.Add(two.Bytes(), first.FilterOffset, first.FilterLength, second.FilterOffset, second.FilterLength)
	f.Add(two.Bytes(), first.FilterOffset, int64(0), second.FilterOffset, int64(0))
	f.Add(two.Bytes(), second.FilterOffset, int64(0), first.FilterOffset, int64(1)<<40)
	f.Add(two.Bytes(), int64(-1)<<63, int64(1)<<62, int64(1)<<62, int64(1)<<62)
	reasons := []error{ErrNoFilter, ErrFilter}
	f.Fuzz(func(t *testing.T, data []byte, offset1, length1, offset2, length2 int64) {
		c, err := Open(Meta{Type: Type{Physical: Int64}, Input: bytes.NewReader(data), Size: int64(len(data)),
			Chunks: []Chunk{{FilterOffset: offset1, FilterLength: length1, Pages: PlainPages}, {FilterOffset: offset2, FilterLength: length2, Pages: PlainPages}}})
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i := range c.Len() {
			filter, err := c.Filter(i)
			if err == nil {
				from, to := filter.BitRange()
				total += to - from
			} else if !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
				t.Fatalf("untyped error %v", err)
			}
		}
		if total > len(data) {
			t.Fatalf("filters of %d bytes in a file of %d", total, len(data))
		}
	})
}

// sparse is a file of zeros, except the bytes at one offset.
type sparse struct {
	at   int64
	data []byte
}

func (s sparse) ReadAt(p []byte, offset int64) (int, error) {
	clear(p)
	if offset <= s.at && s.at-offset < int64(len(p)) {
		copy(p[s.at-offset:], s.data)
	} else if past := offset - s.at; past > 0 && past < int64(len(s.data)) {
		copy(p, s.data[past:])
	}
	return len(p), nil
}

// TestLargeFiles reads filters beyond 2^32, and wants sizes that an int of 32 bits does not hold to be
// errors: by the header, by the footer, in small files and in large ones.
func TestLargeFiles(t *testing.T) {
	const far, largest = 1 << 33, 1<<31 - 32
	type claim struct {
		numBytes             int
		offset, size, length int64
		want                 error
	}
	claims := map[string]claim{
		"far":                         {64, far, 1 << 40, 0, nil},
		"far, of a length":            {64, far, 1 << 40, int64(len(appendHeader(nil, 64))) + 64, nil},
		"the largest in a small file": {largest, 10, 1000, 0, errTruncated},
		"the largest, almost whole":   {largest, far, far + largest, 0, errTruncated},
		"another length":              {largest, far, 1 << 40, 100, errSize},
		"a length of 2^31":            {64, far, 1 << 40, 1 << 31, errSize},
		"a length of 2^32 and more":   {64, far, 1 << 40, 1<<32 + int64(len(appendHeader(nil, 64))) + 64, errSize},
		"a length of 2^39":            {64, far, 1 << 40, 1 << 39, errSize},
		"a length beyond all":         {64, far, math.MaxInt64, math.MaxInt64 - far, errSize},
	}
	if bits.UintSize == 32 { // where memory does not hold it
		claims["the largest, whole"] = claim{largest, far, 1 << 40, 0, errSize}
	}
	for name, test := range claims {
		c, err := Open(Meta{Type: texts, Input: sparse{test.offset, appendHeader(nil, test.numBytes)}, Size: test.size,
			Chunks: []Chunk{{FilterOffset: test.offset, FilterLength: test.length, Pages: PlainPages}}})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = c.Filter(0)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%s: %d MiB", name, allocated>>20)
		}
	}
}

// TestSetBounds wants the bounds of each type that can be relied on, with the column_orders of a
// footer and without.
func TestSetBounds(t *testing.T) {
	low, high, deprecatedLow, deprecatedHigh := []byte("low"), []byte("high"), []byte("LOW"), []byte("HIGH")
	value := Statistics{MinValue: low, MaxValue: high}
	deprecated := Statistics{Min: deprecatedLow, Max: deprecatedHigh}
	both := Statistics{low, high, deprecatedLow, deprecatedHigh}
	fromValue := Chunk{Min: low, Max: high}
	fromDeprecated := Chunk{Min: deprecatedLow, Max: deprecatedHigh}
	unordered := Chunk{Unordered: true}
	for _, order := range orders {
		signed := false
		switch order.typ.Logical {
		case Plain, Int, Date, Time, Timestamp, Decimal:
			signed = order.typ.Physical == Int32 || order.typ.Physical == Int64
		}
		ifSigned := unordered
		if signed {
			ifSigned = fromDeprecated
		}
		for _, test := range []struct {
			name    string
			of      Statistics
			ordered bool
			want    Chunk
		}{
			{"nothing", Statistics{}, true, Chunk{}},
			{"nothing without an order", Statistics{}, false, Chunk{}},
			{"values", value, true, fromValue},
			{"values without an order", value, false, unordered},
			{"deprecated", deprecated, true, ifSigned},
			{"deprecated without an order", deprecated, false, ifSigned},
			{"both", both, true, fromValue},
			{"both without an order", both, false, ifSigned},
			{"a maximum", Statistics{MaxValue: high}, true, Chunk{Max: high}},
			{"a maximum without an order", Statistics{MaxValue: high}, false, unordered},
		} {
			got := Chunk{Min: []byte("old"), Unordered: true}
			got.SetBounds(order.typ, test.of, test.ordered)
			if !bytes.Equal(got.Min, test.want.Min) || !bytes.Equal(got.Max, test.want.Max) || got.Unordered != test.want.Unordered {
				t.Errorf("%v, %s: %q to %q, unordered %v", order.typ, test.name, got.Min, got.Max, got.Unordered)
			}
		}
	}
}

// TestNoOrder wants the reason of a row group without a filter: its bounds, if they are of no use.
func TestNoOrder(t *testing.T) {
	for _, test := range []struct {
		chunk Chunk
		want  error
	}{
		{Chunk{Rows: 1}, ErrNoFilter}, {Chunk{Rows: 1, Unordered: true}, ErrNoOrder}, {Chunk{Rows: 1, Unordered: true, FilterOffset: 1000, Pages: PlainPages}, errTruncated},
	} {
		f := &file{chunks: []Chunk{test.chunk}}
		f.WriteString("PAR1")
		c := f.open(t, Type{Physical: ByteArray})
		k, err := KeysOf(c.Type(), []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m, err := rowGroups(k, c)
			if err != nil {
				t.Fatal(err)
			}
			got := m[0]
			unordered := errors.Is(test.want, ErrNoOrder)
			if !errors.Is(got.Err, test.want) || got.Count != 2 || errors.Is(got.Err, ErrNoOrder) != unordered {
				t.Errorf("%+v: %d keys, %v", test.chunk, got.Count, got.Err)
			}
			if unordered && !errors.Is(got.Err, ErrNoFilter) {
				t.Errorf("%v is no ErrNoFilter", got.Err)
			}
			c.Load()
		}
	}
}

// TestNoColumnError wants the columns of a file in the message, however many there are.
func TestNoColumnError(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = "c"
	}
	for _, test := range []struct {
		columns []string
		want    string
	}{
		{nil, `parquet: no column "Id": the file has none`},
		{[]string{"id", "a b"}, `parquet: no column "Id": the file has "id", "a b"`},
		{many, `parquet: no column "Id": the file has "c"` + strings.Repeat(`, "c"`, 39) + " and 960 more"},
	} {
		if got := (&NoColumnError{"Id", test.columns}).Error(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// TestColumnBounds wants the bounds that exclude keys, and no others.
func TestColumnBounds(t *testing.T) {
	one, two := []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}
	for _, test := range []struct {
		typ   Type
		chunk Chunk
		want  bool
	}{
		{Type{Physical: Int32}, Chunk{Min: one, Max: two}, true},
		{Type{Physical: Int32}, Chunk{Max: two}, true},
		{Type{Physical: Int32}, Chunk{}, false},
		{Type{Physical: Int32}, Chunk{Min: two, Max: one}, false},
		{Type{Physical: Int64}, Chunk{Min: one, Max: two}, false},
		{Type{Physical: Float}, Chunk{Min: one, Max: two}, false},
		{Type{Physical: ByteArray}, Chunk{Min: one, Max: two}, true},
	} {
		f := &file{chunks: []Chunk{test.chunk}}
		low, high, ok := f.open(t, test.typ).Bounds(0)
		if ok != test.want || !bytes.Equal(low, test.chunk.Min) || !bytes.Equal(high, test.chunk.Max) {
			t.Errorf("%v: %x to %x, %v, want %v", test.typ, low, high, ok, test.want)
		}
	}
}
