package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// remote is a file that counts reads and their bytes.
type remote struct {
	r            io.ReaderAt
	reads, bytes int
}

func (r *remote) ReadAt(p []byte, offset int64) (int, error) {
	r.reads++
	r.bytes += len(p)
	return r.r.ReadAt(p, offset)
}

// cost returns the reads and bytes since the last call.
func (r *remote) cost() (reads, bytes int) {
	reads, bytes = r.reads, r.bytes
	r.reads, r.bytes = 0, 0
	return reads, bytes
}

// rowsOf returns the InterleavedFile of the file of x, and the file.
func rowsOf(t testing.TB, x *Interleaved) (*InterleavedFile, *remote) {
	t.Helper()
	file := fileOf(t, x)
	r := &remote{r: bytes.NewReader(file)}
	rows, err := OpenInterleavedFile(r, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if reads, bytes := r.cost(); reads != 1 || bytes != 160 {
		t.Fatalf("OpenInterleavedFile makes %d reads of %d bytes", reads, bytes)
	}
	return rows, r
}

// sure makes an error a failure of the test.
type sure struct {
	*InterleavedFile
	t *testing.T
}

func (s sure) want(n int, err error) int {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s sure) MayContain(key []byte, hits []uint64) int {
	return s.want(s.InterleavedFile.MayContain(key, hits))
}
func (s sure) MayContainHash(h Hash, hits []uint64) int {
	return s.want(s.InterleavedFile.MayContainHash(h, hits))
}
func (s sure) MayContainBatch(keys Keys, hits []uint64) int {
	return s.want(s.InterleavedFile.MayContainBatch(keys, hits))
}

// TestRowsOfFile compares the answers from a file with those from memory.
func TestRowsOfFile(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(83, 84))
	eachFormat(t, func(t *testing.T, format Format) {
		for _, c := range []struct{ filters, maxKeys, bitsPerKey int }{{1, 1, 10}, {33, 500, 10}, {300, 50, 30}, {1000, 3000, 14}, {0, 10, 10}} {
			if c.maxKeys > 500 && !whole() {
				continue
			}
			p := Policy{format, c.bitsPerKey}
			filters := filtersOfShape(t, random, p, c.maxKeys, min(c.filters, 300))
			x := interleave(t, random, p, c.maxKeys, slices.Repeat(filters, max(c.filters/300, 1)))
			file := fileOf(t, x)
			rows, err := OpenInterleavedFile(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			keys := make([]uint64, 200)
			for i := range keys {
				keys[i] = random.Uint64N(5 * uint64(c.maxKeys))
			}
			column := must(t)(Integers(keys).WithValidity(randomBits(random, 256, 0.7), 1))
			for _, gap := range []int64{-1, 0, 1000, 1 << 40} {
				rows.Gap = gap
				checkAlike(t, sure{rows, t}, x, format, Integers(keys))
				checkAlike(t, sure{rows, t}, x, format, column)
			}
		}
	})
}

// TestRowsReads counts reads and bytes: one read for a region of at most 64 KiB, else one for each probe, and each slice once
// for a batch.
func TestRowsReads(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(85, 86))
	for _, c := range []struct {
		format           Format
		filters, maxKeys int
		reads            int // of a key at most
	}{
		{Parquet, 100, 1000, 1}, {Parquet, 3000, 1000, 8}, {RocksDB, 900, 2000, 1}, {RocksDB, 1100, 200, 6},
		{LevelDB, 20, 50, 1}, {LevelDB, 100, 1000, 6}, {Pebble, 3000, 100, 6}, {BitsAndBlooms, 500, 400, 7},
	} {
		p := Policy{c.format, 10}
		x := interleave(t, random, p, c.maxKeys, filtersOfShape(t, random, p, c.maxKeys, c.filters))
		rows, r := rowsOf(t, x)
		want, hits := make([]uint64, (c.filters+63)/64), make([]uint64, (c.filters+63)/64)
		several := false
		for i := range 20 {
			h := c.format.Hash(fmt.Appendf(nil, "key %d", i))
			x.MayContainHash(h, want)
			if _, err := rows.MayContainHash(h, hits); err != nil || !slices.Equal(hits, want) {
				t.Fatalf("%v: %v", c.format, err)
			}
			reads, size := r.cost()
			most := c.reads * x.stride
			if c.reads == 1 {
				most = 64 << 10
			}
			if several = several || reads == c.reads; reads > c.reads || size > most {
				t.Errorf("%v: %d reads of %d bytes, %d reads of %d bytes at most", c.format, reads, size, c.reads, most)
			}
			gap := rows.Gap
			var costs [2][2]int
			for i, gap := range []int64{0, -100} {
				rows.Gap = gap
				if _, err := rows.MayContainHash(h, hits); err != nil || !slices.Equal(hits, want) {
					t.Fatalf("%v, gap %d: %v", c.format, gap, err)
				}
				costs[i][0], costs[i][1] = r.cost()
			}
			if rows.Gap = gap; costs[0] != costs[1] {
				t.Errorf("%v: a negative gap is not like 0: reads and bytes %v", c.format, costs)
			}
		}
		if !several {
			t.Errorf("%v: no key takes %d reads", c.format, c.reads)
		}
		keys := make([]uint64, 3000)
		for i := range keys {
			keys[i] = random.Uint64N(1000)
		}
		batch := make([]uint64, (len(keys)+63)/64*c.filters)
		if _, err := rows.MayContainBatch(Integers(keys), batch); err != nil {
			t.Fatal(err)
		}
		if reads, size := r.cost(); size > len(x.slices) || reads > len(x.slices)/fileAtOnce*2+2*int(x.depth)*x.stride/batchGap+2 {
			t.Errorf("%v: a batch makes %d reads of %d bytes, of %d", c.format, reads, size, len(x.slices))
		}
	}
}

// ordered wants offsets that do not decrease, and no byte twice.
type ordered struct {
	t    *testing.T
	r    io.ReaderAt
	next int64
}

func (o *ordered) ReadAt(p []byte, offset int64) (int, error) {
	if offset < o.next {
		o.t.Errorf("a read at byte %d after one up to %d", offset, o.next)
	}
	o.next = offset + int64(len(p))
	return o.r.ReadAt(p, offset)
}

// TestRowsOrder wants a batch to read in the order of the file.
func TestRowsOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(87, 88))
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		x := interleave(t, random, p, 2000, filtersOfShape(t, random, p, 2000, 300))
		file := fileOf(t, x)
		rows, err := OpenInterleavedFile(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		rows.r = &ordered{t: t, r: rows.r}
		keys := golden.Decimals.Range(0, 30)
		hits, want := make([]uint64, 300), make([]uint64, 300)
		if _, err := rows.MayContainBatch(Bytes(keys), hits); err != nil {
			t.Fatal(err)
		}
		if x.MayContainBatch(Bytes(keys), want); !slices.Equal(hits, want) {
			t.Error("other hits")
		}
	})
}

// TestRowsColumns reads what a file has beside the bits.
func TestRowsColumns(t *testing.T) {
	x, _ := interleavedExample(t, RocksDB)
	rows, r := rowsOf(t, x)
	c, err := rows.Labels()
	if err != nil {
		t.Fatal(err)
	}
	if reads, _ := r.cost(); reads != 1 || !slices.Equal(c.keys, x.labels.keys) || c.Label(2) != "last" || string(c.Metadata()) != "metadata" || rows.Empty().KeyKind() != KindText {
		t.Errorf("%d reads: %+v", reads, c)
	}
	if s := rows.Empty().Stats(); s.Bits != x.bits || s.Probes != x.empty.K || rows.Len() != 3 || rows.room != 32 || rows.Empty().Format() != RocksDB {
		t.Errorf("%+v, %d filters", s, rows.Len())
	}
}

// TestInterleavedFields wants no field of filters that users could set.
func TestInterleavedFields(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[Interleaved](), reflect.TypeFor[Labels]()} {
		for i := range of.NumField() {
			if field := of.Field(i); field.IsExported() {
				t.Errorf("%v has the field %s", of, field.Name)
			}
		}
	}
}

// vast is a file of a header and zeros.
type vast []byte

func (header vast) ReadAt(p []byte, offset int64) (int, error) {
	clear(p)
	if offset < int64(len(header)) {
		copy(p, header[offset:])
	}
	return len(p), nil
}

// TestRowsCapacity asks files for more than fits into memory, on systems of 32 and of 64 bits.
func TestRowsCapacity(t *testing.T) {
	f := Policy{LevelDB, 10}.NewFilter(Integers(make([]uint64, 100)))
	x, err := NewInterleaved(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		stride, gap int64
		table       uint64
	}{
		"slices that a gap joins": {mostBytes >> 4, math.MaxInt64, 0},
		"all slices of a key":     {mostBytes >> 1, 0, 0},
		"a slice":                 {math.MaxInt >> (math.MaxUint >> 63 * 13) &^ 7, 0, 0},
		"the table":               {8, 0, mostBytes + 16},
	} {
		x.stride = int(test.stride)
		p := sections{start: interleavedStart, table: test.table}
		header := x.header(&p)
		rows, err := OpenInterleavedFile(vast(header), int64(x.slicesEnd(&p)+interleavedAfter+test.table))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows.Gap = test.gap
		var hits [1]uint64
		_, err = rows.MayContain([]byte("key"), hits[:])
		switch name {
		case "the table":
			_, err = rows.Labels()
		case "a slice":
			_, err = rows.MayContainBatch(Integers([]int{1}), hits[:])
		}
		if !errors.Is(err, ErrCapacity) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing fails from a number of reads on.
type failing struct {
	r    io.ReaderAt
	left int
}

func (f *failing) ReadAt(p []byte, offset int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return f.r.ReadAt(p, offset)
}

// TestRowsErrors reads files that are damaged, cut off or fail.
func TestRowsErrors(t *testing.T) {
	t.Parallel()
	x, _ := interleavedExample(t, LevelDB)
	file := fileOf(t, x)
	want, end := interleavedAnswers(t, x), int(x.slicesEnd(&sections{start: interleavedStart})) // of the slices
	ask := func(r io.ReaderAt, size int64) (string, error) {
		rows, err := OpenInterleavedFile(r, size)
		if err != nil {
			return "", err
		}
		rows.Gap = 0
		keys := Bytes(golden.Decimals.Range(0, 40))
		words := (rows.Len() + 63) / 64
		hits := make([]uint64, words*40)
		for i := range keys.Len() {
			key, _ := keys.AppendKey(nil, i)
			if _, err := rows.MayContain(key, hits[words*i:]); err != nil {
				return "", err
			}
		}
		if _, err := rows.MayContainBatch(keys, make([]uint64, rows.Len())); err != nil {
			return "", err
		}
		c, err := rows.Labels()
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%x %v %q %q %q", hits, c.keys, c.labels, c.metadata, rows.Empty().KeyKind()), nil
	}
	if got, err := ask(bytes.NewReader(file), int64(len(file))); got != want || err != nil {
		t.Fatalf("%s, want %s: %v", got, want, err)
	}
	for i := 0; i < len(file); i += oneOf(3) {
		file[i] ^= 0x10
		if got, err := ask(bytes.NewReader(file), int64(len(file))); err == nil && (got != want || i >= end) || err != nil && !errors.Is(err, ErrEncoding) {
			t.Fatalf("byte %d: %v", i, err)
		}
		file[i] ^= 0x10
		if _, err := OpenInterleavedFile(bytes.NewReader(file[:i]), int64(i)); !errors.Is(err, ErrEncoding) {
			t.Fatalf("%d bytes: %v", i, err)
		}
		// The file became shorter, and the caller does not know.
		if got, err := ask(bytes.NewReader(file[:i]), int64(len(file))); err == nil && got != want || err != nil && !errors.Is(err, ErrEncoding) {
			t.Fatalf("%d bytes of %d: %v", i, len(file), err)
		}
	}
	// A batch checks all slices of its keys, too.
	rows, err := OpenInterleavedFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	damaged, hits := 0, make([]uint64, rows.Len())
	for p := range rows.depth {
		file[rows.offset(p)] ^= 0x80
		if _, err := rows.MayContainBatch(Bytes(golden.Decimals.Range(0, 1)), hits); errors.Is(err, ErrEncoding) {
			damaged++
		}
		file[rows.offset(p)] ^= 0x80
	}
	if places := slices.Compact(slices.Sorted(slices.Values(rows.Empty().Explain(golden.Decimals.Range(0, 1)[0]).Positions))); damaged != len(places) {
		t.Errorf("%d slices are checked for a key of %d places", damaged, len(places))
	}
	for n := 0; ; n++ {
		_, err := ask(&failing{bytes.NewReader(file), n}, int64(len(file)))
		if err == nil {
			break
		}
		if !errors.Is(err, io.ErrClosedPipe) || n > 1000 {
			t.Fatalf("after %d reads: %v", n, err)
		}
	}
	for _, size := range []int64{-1, 0, 159, int64(len(file)) + 1, 1 << 62} {
		if _, err := OpenInterleavedFile(bytes.NewReader(file), size); !errors.Is(err, ErrEncoding) {
			t.Errorf("of %d bytes: %v", size, err)
		}
	}
	for name, call := range map[string]func(){
		"another hash":   func() { _, _ = rows.MayContainHash(Parquet.Hash(nil), make([]uint64, 1)) },
		"hits too short": func() { _, _ = rows.MayContain(nil, nil) },
		"another column": func() { _, _ = rows.MayContainBatch(Parquet.Hashes64(make([]uint64, 1)), make([]uint64, 3)) },
	} {
		if message := panicOf(call); !strings.HasPrefix(message, "bloom: ") {
			t.Errorf("%s: panic %q", name, message)
		}
	}
}

// TestRowsShared asks from several goroutines.
func TestRowsShared(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(89, 90))
	x := interleave(t, random, Policy{}, 500, filtersOfShape(t, random, Policy{}, 500, 2000))
	file := fileOf(t, x)
	rows, err := OpenInterleavedFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			hits, want := make([]uint64, 32), make([]uint64, 32)
			for i := range 100 {
				h := Default.Hash([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0})
				x.MayContainHash(h, want)
				if _, err := rows.MayContainHash(h, hits); err != nil || !slices.Equal(hits, want) {
					t.Errorf("key %d: %v", i, err)
				}
			}
		}()
	}
	all.Wait()
}
