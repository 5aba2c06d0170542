package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/golden"
)

// interleavedExample returns small interleaved filters of 10, 20 and 0 keys, with all that a file has.
func interleavedExample(t testing.TB, format Format) (x *Interleaved, filters []*Filter) {
	t.Helper()
	like := Policy{format, 10}.NewFilter(Bytes(golden.Decimals.Range(0, 10)))
	_, s := like.encoded()
	x, err := NewInterleaved(like, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []Keys{Bytes(golden.Decimals.Range(0, 10)), Bytes(golden.Decimals.Range(5, 25)), {}} {
		v, err := format.emptyView(s)
		if err != nil {
			t.Fatal(err)
		}
		v.count = new(keyCount)
		set := &Set{v}
		set.AddBatch(keys)
		filters = append(filters, set.Filter())
	}
	if err := x.Put(0, filters...); err != nil {
		t.Fatal(err)
	}
	x.empty.kind = KindText
	x.SetLabel(0, "first")
	x.SetLabel(2, "last")
	x.SetMetadata([]byte("metadata"))
	return x, filters
}

// fileOf returns what WriteTo writes.
func fileOf(t testing.TB, x *Interleaved) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if n, err := x.WriteTo(&buffer); err != nil || n != int64(buffer.Len()) {
		t.Fatalf("WriteTo: %d of %d bytes, %v", n, buffer.Len(), err)
	}
	return buffer.Bytes()
}

// plainInterleaved writes a file of few filters by the letter of docs/file-format.md.
func plainInterleaved(filters []*Filter, keys []uint64, labels []string, kind, metadata string) []byte {
	_, s := filters[0].encoded()
	le, m := binary.LittleEndian, uint64(len(filters))
	const stride, start = 8, 4096
	depth := s.Bits
	if filters[0].Format() == BitsAndBlooms {
		depth = (s.Bits + 63) / 64 * 64
	}
	after := make([]byte, 0)
	for _, n := range keys {
		after = le.AppendUint64(after, n)
	}
	end := uint64(0)
	for _, label := range append(labels, "") {
		after = le.AppendUint64(after, end)
		end += uint64(len(label))
	}
	for _, label := range labels {
		after = append(after, label...)
	}
	table := uint64(len(after))
	after = append(after, metadata...)
	at := start + depth*stride + 8

	file := make([]byte, at, at+uint64(len(after)))
	copy(file, "\x89BLI\r\n\x1a\n")
	file[8] = 1
	copy(file[16:], filters[0].Format().String())
	for i, n := range []uint64{m, 8 * (stride - 4), s.Bits, uint64(s.Probes), stride, start} {
		le.PutUint64(file[32+8*i:], n)
	}
	copy(file[80:], kind)
	for i, n := range []uint64{at, table, at + table, uint64(len(metadata)), xxhash.Sum64(after)} {
		le.PutUint64(file[112+8*i:], n)
	}
	le.PutUint64(file[152:], xxhash.Sum64(file[:152]))
	for p := range depth {
		slice := file[start+p*stride:][:stride]
		for i, f := range filters {
			array, _ := f.encoded()
			slice[i/8] |= array[p/8] >> (p % 8) & 1 << (i % 8)
		}
		summed := append(bytes.Clone(file[152:156]), le.AppendUint64(nil, p)...)
		le.PutUint32(slice[4:], crc32.Checksum(append(summed, slice[:4]...), crc32.MakeTable(crc32.Castagnoli)))
	}
	return append(file, after...)
}

// TestInterleavedFile writes files as the document has them, and reads them.
func TestInterleavedFile(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		x, filters := interleavedExample(t, format)
		file := fileOf(t, x)
		want := plainInterleaved(filters, []uint64{10, 20, 0}, []string{"first", "", "last"}, "text", "metadata")
		if !bytes.Equal(file, want) {
			t.Fatalf("the file has %d bytes\n%.400x, want %d\n%.400x", len(file), file, len(want), want)
		}
		before := bytes.Clone(file)
		y, err := OpenInterleaved(file)
		if err != nil {
			t.Fatal(err)
		}
		checkOpened(t, y, x)
		if &y.slices[0] != &file[4096] {
			t.Error("the slices are a copy")
		}
		if err := y.Put(31, filters[0]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, before) {
			t.Error("Put changes the bytes of a file")
		}
		y.SetLabel(31, "more")
		z, err := OpenInterleaved(fileOf(t, y))
		if err != nil {
			t.Fatal(err)
		}
		checkOpened(t, z, y)
		checkTaken(t, z.Filter(31), filters[0])
	})
}

// checkSlices reads the slices of an opened file, as InterleavedFile does.
func checkSlices(x *Interleaved) error {
	for p := range x.depth {
		if err := checkSlice(x.seed, p, x.slices[p*uint64(x.stride):][:x.stride]); err != nil {
			return err
		}
	}
	return nil
}

// checkOpened wants filters that were read to be those that were written.
func checkOpened(t *testing.T, got, want *Interleaved) {
	t.Helper()
	if err := checkSlices(got); err != nil {
		t.Fatal(err)
	}
	if got.empty.kind != want.empty.kind || got.empty.format != want.empty.format || got.room != want.room || !bytes.Equal(got.labels.metadata, want.labels.metadata) {
		t.Errorf("%v of %q with room for %d, metadata %q", got.empty.format, got.empty.kind, got.room, got.labels.metadata)
	}
	for i := range want.Len() {
		if got.Label(i) != want.Label(i) {
			t.Errorf("label %d: %q, want %q", i, got.Label(i), want.Label(i))
		}
		checkTaken(t, got.Filter(i), want.Filter(i))
	}
	checkAlike(t, got, want, want.empty.format, Bytes(golden.Decimals.Range(0, 200)))
}

// TestInterleavedFiles writes and reads files of many sizes: numbers of filters at the ends of words, slices that WriteTo
// writes in pieces, and no labels.
func TestInterleavedFiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(81, 82))
	for _, c := range []struct{ filters, keys int }{{0, 10}, {1, 0}, {31, 10}, {32, 10}, {33, 10}, {64, 1}, {96, 3}, {97, 3}, {8160, 4}, {8161, 4}, {33000, 2}, {100, 2000}} {
		for _, p := range []Policy{{RocksDB, 10}, {LevelDB, 13}} {
			x := interleave(t, random, p, c.keys, filtersOfShape(t, random, p, max(c.keys, 1), min(c.filters, 200)))
			if c.filters > 200 {
				var err error
				if x, err = p.NewInterleaved(c.filters, c.keys); err != nil {
					t.Fatal(err)
				}
				for _, first := range []int{0, c.filters - 200} {
					if err := x.Put(first, filtersOfShape(t, random, p, c.keys, 200)...); err != nil {
						t.Fatal(err)
					}
				}
			}
			y, err := OpenInterleaved(fileOf(t, x))
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSlices(y); err != nil {
				t.Fatal(err)
			}
			checkAlike(t, y, x, p.Format, Integers([]uint64{0, 1, 2, 3, 77, 1 << 40}))
			if !slices.Equal(y.labels.keys, x.labels.keys) || y.labels.labels != nil {
				t.Errorf("%d filters: keys %v, labels %q", c.filters, y.labels.keys, y.labels.labels)
			}
		}
	}
}

// TestInterleavedGolden pins the file of each format.
func TestInterleavedGolden(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		x, _ := interleavedExample(t, format)
		path := filepath.Join("testdata", "interleaved", format.String()+".interleaved")
		if *updateFiles {
			if err := os.WriteFile(path, fileOf(t, x), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fileOf(t, x), want) {
			t.Errorf("the file is not that of %s", path)
		}
		y, err := OpenInterleaved(want)
		if err != nil {
			t.Fatal(err)
		}
		checkOpened(t, y, x)
	})
}

// interleavedAnswers is what a file says about some keys: hits, numbers of keys, labels, metadata and kind.
func interleavedAnswers(t testing.TB, x *Interleaved) string {
	t.Helper()
	keys := Bytes(golden.Decimals.Range(0, 40))
	hits := make([]uint64, (x.Len()+63)/64*40)
	for i := range keys.Len() {
		key, _ := keys.AppendKey(nil, i)
		x.MayContain(key, hits[(x.Len()+63)/64*i:])
	}
	return fmt.Sprintf("%x %v %q %q %q", hits, x.labels.keys, x.labels.labels, x.Metadata(), x.empty.kind)
}

// TestInterleavedDamaged flips every byte of files, and cuts them at every length.
func TestInterleavedDamaged(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{LevelDB, Parquet, Nori, BitsAndBlooms}[:4/oneOf(2, 4)] {
		x, _ := interleavedExample(t, format)
		file := fileOf(t, x)
		for i := range file {
			for _, mask := range []byte{1, 0x80, 0xff} {
				file[i] ^= mask
				y, err := OpenInterleaved(file)
				if err == nil {
					err = checkSlices(y)
				}
				if !errors.Is(err, ErrEncoding) {
					t.Fatalf("byte %d of %d xor %x: %v", i, len(file), mask, err)
				}
				file[i] ^= mask
			}
			if _, err := OpenInterleaved(file[:i:i]); !errors.Is(err, ErrEncoding) {
				t.Fatalf("the first %d bytes of %d: %v", i, len(file), err)
			}
		}
		if _, err := OpenInterleaved(append(file, 0)); !errors.Is(err, ErrEncoding) {
			t.Errorf("a byte too many: %v", err)
		}
		// Slices that changed places, and one of a file with another header.
		moved := bytes.Clone(file)
		copy(moved[4096:4104], file[4104:])
		copy(moved[4104:4112], file[4096:])
		x.SetLabel(0, "other")
		other := fileOf(t, x)
		copy(other[4096:4104], file[4096:])
		for what, data := range map[string][]byte{"moved": moved, "of another file": other} {
			if y, err := OpenInterleaved(data); err != nil || !errors.Is(checkSlices(y), ErrEncoding) {
				t.Errorf("a slice %s: %v", what, err)
			}
		}
	}
}

// sealInterleaved corrects the checksums of a file after a change of its header or of what follows the slices.
func sealInterleaved(file []byte) {
	le := binary.LittleEndian
	size, metadata := le.Uint64(file[120:]), le.Uint64(file[136:])
	if n := size + metadata; n >= size && n <= uint64(len(file)) {
		le.PutUint64(file[144:], xxhash.Sum64(file[uint64(len(file))-n:]))
	}
	le.PutUint64(file[152:], xxhash.Sum64(file[:152]))
}

// TestInterleavedHostile has headers and tables whose checksums are right and which lie. Nothing is allocated by what they claim.
func TestInterleavedHostile(t *testing.T) {
	x, _ := interleavedExample(t, LevelDB)
	file := fileOf(t, x)
	table := int(binary.LittleEndian.Uint64(file[112:]))
	values := []uint64{0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 103, 1 << 29, 1 << 31, 1 << 32, 1 << 40, 1<<60 + 3, 1 << 61, 1 << 62, 1 << 63, 1<<64 - 8, 1<<64 - 1}
	fields := []int{8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 120, 128, 136}
	for at := table; at < len(file)-8; at += 8 {
		fields = append(fields, at)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tries := 0
	for _, at := range fields {
		for _, value := range append(values, uint64(len(file)), uint64(table), uint64(len(file)-table)) {
			for _, add := range []uint64{0, binary.LittleEndian.Uint64(file[at:])} {
				data := bytes.Clone(file)
				binary.LittleEndian.PutUint64(data[at:], value+add)
				sealInterleaved(data)
				tries++
				y, err := OpenInterleaved(data)
				if err != nil {
					if !errors.Is(err, ErrEncoding) && !errors.Is(err, ErrFormat) {
						t.Fatalf("%d at byte %d: %v", value+add, at, err)
					}
					continue
				}
				hits := make([]uint64, (y.Len()+63)/64)
				y.MayContain([]byte("key"), hits)
				if y.Len() > 0 {
					y.Filter(y.Len() - 1)
				}
			}
		}
	}
	runtime.ReadMemStats(&after)
	if mean := (after.TotalAlloc - before.TotalAlloc) / uint64(tries); mean > 8*uint64(len(file)) {
		t.Errorf("%d bytes allocated for a file of %d", mean, len(file))
	}
}

// TestInterleavedOffsets has headers that say where the table and the metadata lie, and are wrong: they follow the slices.
func TestInterleavedOffsets(t *testing.T) {
	x, _ := interleavedExample(t, LevelDB)
	x.SetMetadata([]byte("metadata"))
	file := fileOf(t, x)
	for _, at := range []int{112, 128} {
		data := bytes.Clone(file)
		data[at]++
		sealInterleaved(data)
		if _, err := OpenInterleaved(data); !errors.Is(err, ErrEncoding) {
			t.Errorf("byte %d of the header: %v", at, err)
		}
	}
}

// TestInterleavedLies has headers in which one number is wrong, and all others fit it.
func TestInterleavedLies(t *testing.T) {
	x, _ := interleavedExample(t, LevelDB)
	for name, change := range map[string]func(y *interleaving, p *sections, after *[]byte){
		"nothing":               func(*interleaving, *sections, *[]byte) {},
		"filters":               func(y *interleaving, _ *sections, _ *[]byte) { y.filters = 33 },
		"room":                  func(y *interleaving, _ *sections, _ *[]byte) { y.room = 33 },
		"stride":                func(y *interleaving, _ *sections, _ *[]byte) { y.stride = 12 },
		"no room for a sum":     func(y *interleaving, _ *sections, _ *[]byte) { y.filters, y.room, y.stride = 0, 0, 0 },
		"start":                 func(_ *interleaving, p *sections, _ *[]byte) { p.start += 32 },
		"start in the header":   func(_ *interleaving, p *sections, _ *[]byte) { p.start = 128 },
		"bits":                  func(y *interleaving, _ *sections, _ *[]byte) { y.bits-- },
		"no bits":               func(y *interleaving, _ *sections, _ *[]byte) { y.bits = 0 },
		"probes":                func(y *interleaving, _ *sections, _ *[]byte) { y.empty.K = 31 },
		"no probes":             func(y *interleaving, _ *sections, _ *[]byte) { y.empty.K = 0 },
		"kind":                  func(y *interleaving, _ *sections, _ *[]byte) { y.empty.kind = "\n" },
		"the first label":       func(_ *interleaving, _ *sections, after *[]byte) { (*after)[8*x.Len()] = 1 },
		"the last label":        func(_ *interleaving, _ *sections, after *[]byte) { (*after)[8*2*x.Len()]-- },
		"an end before the end": func(_ *interleaving, p *sections, after *[]byte) { *after, p.table, p.metadata = nil, 0, 1<<64-4 },
	} {
		y, p := x.interleaving, sections{start: interleavedStart}
		after := append(x.labels.appendTable(nil, x.filters), x.Metadata()...)
		p.table, p.metadata = uint64(len(after)-len(x.Metadata())), uint64(len(x.Metadata()))
		change(&y, &p, &after)
		if name == "filters" {
			after = append(y.emptyTable(), x.Metadata()...)
			p.table = uint64(len(after) - len(x.Metadata()))
		}
		p.sum = xxhash.Sum64(after)
		data := append(y.header(&p), make([]byte, y.slicesEnd(&p)+interleavedAfter-interleavedHeader)...)
		if data = append(data, after...); p.metadata > 1<<63 {
			data = data[:len(data)-4]
		}
		if _, err := OpenInterleaved(data); (err == nil) != (name == "nothing") || err != nil && !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// emptyTable returns the table of filters without keys and labels.
func (x *interleaving) emptyTable() []byte {
	return (&Labels{keys: make([]uint64, x.filters)}).appendTable(nil, x.filters)
}

// TestInterleavedWriteTo writes to a writer that fails after each number of bytes.
func TestInterleavedWriteTo(t *testing.T) {
	x, _ := interleavedExample(t, LevelDB)
	size := len(fileOf(t, x))
	for n := 0; n < size; n += 1 + n/7 {
		for _, err := range []error{io.ErrClosedPipe, nil} {
			if got, err := x.WriteTo(&limitedWriter{n: n, err: err}); err == nil || got != int64(n) {
				t.Fatalf("after %d bytes of %d: %d, %v", n, size, got, err)
			}
		}
	}
	if n, err := new(Interleaved).WriteTo(new(bytes.Buffer)); n != 0 || !errors.Is(err, ErrFormat) {
		t.Errorf("the zero Interleaved: %d, %v", n, err)
	}
}

// TestPutAfterRoom puts a filter behind free columns of a file that, against the format, have bits. They hold no key.
func TestPutAfterRoom(t *testing.T) {
	x, filters := interleavedExample(t, LevelDB)
	file := fileOf(t, x)
	slots := file[interleavedStart:][:int(x.depth)*x.stride]
	seed := binary.LittleEndian.Uint32(file[interleavedSummed:])
	for p := range x.depth {
		slice := slots[p*uint64(x.stride):][:x.stride]
		slice[1] = 0xff // filters 8 to 15
		binary.LittleEndian.PutUint32(slice[x.stride-sliceSum:], sumOfSlice(seed, p, slice))
	}
	y, err := OpenInterleaved(file)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(file)
	if err := y.Put(12, filters[0]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, before) {
		t.Error("Put writes to the file")
	}
	for i := 3; i < 12; i++ {
		if n := y.Filter(i).setBits(); n != 0 {
			t.Errorf("filter %d, which nobody put in, has %d bits", i, n)
		}
	}
	checkTaken(t, y.Filter(12), filters[0])
}

// TestBitsPastFilters sets each bit of all slices, with their checksums: those past the last filter are no filter's, for queries and
// for Put.
func TestBitsPastFilters(t *testing.T) {
	for _, filters := range []int{0, 1, 3, 8, 9, 31, 32, 33} {
		x, err := Policy{LevelDB, 10}.NewInterleaved(filters, 10)
		if err != nil {
			t.Fatal(err)
		}
		file := fileOf(t, x)
		seed := binary.LittleEndian.Uint32(file[interleavedSummed:])
		for bit := range x.room {
			data := bytes.Clone(file)
			for p := range x.depth {
				slice := data[interleavedStart+int(p)*x.stride:][:x.stride]
				slice[bit/8] = 1 << (bit % 8)
				binary.LittleEndian.PutUint32(slice[x.stride-sliceSum:], sumOfSlice(seed, p, slice))
			}
			y, err := OpenInterleaved(data)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := OpenInterleavedFile(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			want, hits := 0, make([]uint64, 2)
			if bit < filters {
				want = 1
			}
			fromFile, err := rows.MayContain([]byte("key"), hits)
			if inMemory := y.MayContain([]byte("key"), hits); err != nil || inMemory != want || fromFile != want {
				t.Errorf("bit %d of %d filters: %d and %d filters may have a key, want %d; %v", bit, filters, inMemory, fromFile, want, err)
			}
			if y.room == filters {
				continue
			}
			if err := y.Put(y.room-1, mustOpen(t, LevelDB, nil)); err != nil {
				t.Fatal(err)
			}
			if n := y.MayContain([]byte("key"), hits); n != want {
				t.Errorf("bit %d of %d filters: %d filters may have a key after Put, want %d", bit, filters, n, want)
			}
		}
	}
}

// TestInterleavedBuilder compares the file of a builder with that of filters in memory, for numbers of filters at the ends of blocks.
func TestInterleavedBuilder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	random := rand.New(rand.NewPCG(93, 94))
	for i, format := range []Format{RocksDB, Nori, Parquet} {
		p := Policy{format, 10}
		filters := filtersOfShape(t, random, p, 40, 1600)
		for j, count := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 1599} {
			if (i+j)%oneOf(3) != 0 {
				continue // each number with one format
			}
			b, err := newInterleavedBuilder(filters[0], 0) // of blocks of 512 filters
			if err != nil {
				t.Fatal(err)
			}
			x, err := NewInterleaved(filters[0], count)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Put(0, filters[:count]...); err != nil {
				t.Fatal(err)
			}
			for i, f := range filters[:count] {
				if i == count/3 { // a file of the filters so far
					if _, err := b.WriteTo(io.Discard); err != nil {
						t.Fatal(err)
					}
				}
				label := fmt.Sprint("label ", i)
				x.SetLabel(i, label)
				if err := b.Add(f, label); err != nil {
					t.Fatal(err)
				}
			}
			x.SetMetadata([]byte("metadata"))
			b.SetMetadata(x.labels.metadata)
			done := int64(0)
			b.Progress = func(written, size int64) {
				if written <= done || written > size || size != int64(len(x.slices)) {
					t.Errorf("%d bytes of %d after %d", written, size, done)
				}
				done = written
			}
			path := filepath.Join(t.TempDir(), "filters")
			if err := b.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, fileOf(t, x)) || b.all.filters != count || done != int64(len(x.slices)) {
				t.Fatalf("%v: another file of %d filters", format, count)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 && runtime.GOOS != "windows" {
				t.Errorf("if the process were killed, %v would stay: %v", left, err)
			}
			var again bytes.Buffer
			b.Progress = nil
			if n, err := b.WriteTo(&again); err != nil || n != int64(len(got)) || !bytes.Equal(again.Bytes(), got) {
				t.Errorf("written again, another file: %v", err)
			}
			if err := errors.Join(b.Add(filters[0], ""), b.Close(), b.Close()); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 && count > 0 && left[0].Name()[:5] == "bloom" {
				t.Errorf("%v stays: %v", left, err)
			}
		}
	}
}

// TestInterleavedBuilderErrors wants errors for what cannot be added or written, and no file.
func TestInterleavedBuilderErrors(t *testing.T) {
	f := Policy{BitsPerKey: 10}.NewFilter(Integers(make([]uint64, 100)))
	b, err := NewInterleavedBuilder(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Filter{nil, new(Filter), Policy{Parquet, 10}.NewFilter(Keys{}), Policy{BitsPerKey: 10}.NewFilter(Integers([]int{1}))} {
		if err := b.Add(other, "other"); !errors.Is(err, ErrShape) || b.all.filters != 0 {
			t.Errorf("Add: %v", err)
		}
	}
	if _, err := NewInterleavedBuilder(new(Filter)); !errors.Is(err, ErrShape) {
		t.Errorf("the zero Filter: %v", err)
	}
	dir := t.TempDir()
	if err := b.WriteFile(filepath.Join(dir, "none", "filters")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.WriteFile(filepath.Join(dir, "folder")); err == nil {
		t.Error("a folder is replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v stays", left)
	}
}
