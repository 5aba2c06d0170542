//go:build unix

package bloom

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/guard"
	"github.com/lanebloom/bloom/internal/reference"
)

// appendedHashes returns what AppendHashes32 or AppendHashes64 of the format appends by a kernel, after checking that what dst
// has before stays and that nothing is written after.
func appendedHashes(t testing.TB, f Format, kernel Kernel, keys Keys) []uint64 {
	t.Helper()
	const canary = 0xdeadbeef
	switch schemes[f.scheme()].words {
	case one32:
		room := slices.Repeat([]uint32{canary}, keys.Len()+3)
		got := f.appendHashes32(kernel, room[:1:len(room)-1], &keys)
		checkAppended(t, f, kernel, keys, room, got, canary)
		wide := make([]uint64, keys.Len())
		for i, h := range got[1:] {
			wide[i] = uint64(h)
		}
		return wide
	default:
		room := slices.Repeat([]uint64{canary}, keys.Len()+3)
		got := f.appendHashes64(kernel, room[:1:len(room)-1], &keys)
		checkAppended(t, f, kernel, keys, room, got, canary)
		return got[1:]
	}
}

func checkAppended[E uint32 | uint64](t testing.TB, f Format, kernel Kernel, keys Keys, room, got []E, canary E) {
	t.Helper()
	if len(got) != 1+keys.Len() || &got[0] != &room[0] || got[0] != canary || room[len(room)-2] != canary || room[len(room)-1] != canary {
		t.Fatalf("%v, kernel %v, layout %d: %d hashes of %d keys, between %x and %x",
			f, kernel, keys.layout, len(got)-1, keys.Len(), got[0], room[len(room)-2:])
	}
}

// eachAppend runs a subtest for each format whose hash is one word.
func eachAppend(t *testing.T, run func(t *testing.T, f Format)) {
	eachFormat(t, func(t *testing.T, f Format) {
		if words := schemes[f.scheme()].words; words == one32 || words == one64 {
			run(t, f)
		}
	})
}

// TestKernelAppendHashes compares the hashes of columns in every layout, whole, sliced and with null rows, with the reference, by
// every kernel.
func TestKernelAppendHashes(t *testing.T) {
	t.Parallel()
	for at, layout := range layouts {
		t.Run(fmt.Sprintf("%s/width=%d", layout.name, layout.width), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(71, uint64(at)))
			for _, n := range []int{0, 1, 5, 15, 16, 17, 31, 64, 65, 200, windowKeys + 1, 2*windowKeys + 7} {
				if n > 200 && (at+n)%oneOf(1, 3) != 0 {
					continue
				}
				keys := make([][]byte, n)
				for i := range keys {
					keys[i] = golden.Mixed.Key(i)
					if layout.width > 0 {
						keys[i] = make([]byte, layout.width)
						for j := range keys[i] {
							keys[i][j] = byte(random.Uint32())
						}
					}
				}
				column := layout.column(t, keys)
				checkAppendHashes(t, column, keys, nil)
				i := random.IntN(n + 1)
				j := i + random.IntN(n-i+1)
				checkAppendHashes(t, column.Slice(i, j), keys[i:j], nil)
				for _, offset := range []int{0, 5, 64} {
					bitmap, valid := randomNulls(random, offset, n)
					nulls := must(t)(column.WithValidity(bitmap, offset))
					checkAppendHashes(t, nulls, keys, valid)
					checkAppendHashes(t, nulls.Slice(i, j), keys[i:j], valid[i:j])
				}
			}
		})
	}
}

// randomNulls returns a bitmap of n rows from the given bit on; few, half or most rows are null.
func randomNulls(random *rand.Rand, offset, n int) (bitmap []byte, valid []bool) {
	bitmap, valid = make([]byte, (offset+n)/8+1), make([]bool, n)
	share := 1 + random.IntN(50)
	for i := range valid {
		if valid[i] = random.IntN(50) < share; valid[i] {
			bitmap[(offset+i)/8] |= 1 << ((offset + i) % 8)
		}
	}
	return bitmap, valid
}

// checkAppendHashes compares what each kernel appends with the reference. A nil valid is no bitmap.
func checkAppendHashes(t testing.TB, column Keys, keys [][]byte, valid []bool) {
	t.Helper()
	for f := range Format(len(formats)) {
		s := f.scheme()
		if words := schemes[s].words; words != one32 && words != one64 || column.hashed != noScheme && column.hashed != s {
			continue
		}
		want := make([]uint64, len(keys))
		for i, key := range keys {
			if valid == nil || valid[i] {
				want[i] = referenceWords(s, key)[0]
			}
		}
		for _, kernel := range proven() {
			for i, got := range appendedHashes(t, f, kernel, column) {
				if got != want[i] {
					t.Fatalf("%v, kernel %v, layout %d, key %d of %d, %d bytes: %x, want %x", f, kernel, column.layout, i, len(keys), len(keys[i]), got, want[i])
				}
			}
		}
	}
}

// TestKernelAppendHashesOfLengths compares the hashes of keys of every length up to 1,100 bytes with the packages that others use:
// cespare/xxhash for Parquet, and the letter of LevelDB and RocksDB for the other formats.
func TestKernelAppendHashesOfLengths(t *testing.T) {
	t.Parallel()
	const rows = 33
	data := slices.Concat(golden.Mixed.Range(0, 200)...)
	of := map[Format]func(key []byte) uint64{
		Parquet: xxhash.Sum64, RocksDB: reference.XXPH3,
		LevelDB: func(key []byte) uint64 { return uint64(reference.Hash32(key)) },
		Pebble:  func(key []byte) uint64 { return uint64(reference.SignedHash32(key)) },
	}
	eachAppend(t, func(t *testing.T, f Format) {
		t.Parallel()
		for length := range 1101 {
			texts, mixed := make([]string, rows), make([]string, rows)
			for i := range texts {
				texts[i] = string(data[7*i+length:][:length])
				mixed[i] = texts[i][:length-length*(i%3)/3]
			}
			for _, column := range [][]string{texts, mixed} {
				for _, kernel := range proven() {
					for i, got := range appendedHashes(t, f, kernel, Strings(column)) {
						if want := of[f]([]byte(column[i])); got != want {
							t.Fatalf("kernel %v, key %d, %d bytes: %x, want %x", kernel, i, len(column[i]), got, want)
						}
					}
				}
			}
		}
	})
}

// TestKernelAppendHashesAtPageEnd hashes columns that end where an inaccessible page begins, into memory that does.
func TestKernelAppendHashesAtPageEnd(t *testing.T) {
	t.Parallel()
	const most, width = 130, 21
	from, to := guard.Buffer(t, most*width), guard.Buffer(t, 8*most)
	copy(from, slices.Concat(golden.Mixed.Range(0, 200)...))
	eachAppend(t, func(t *testing.T, f Format) {
		for n := range most {
			for _, size := range []int{4, 8, 16, width} {
				data := from[len(from)-n*size:]
				texts, lasts := make([]string, n), make([]string, n)
				for i := range texts {
					texts[i] = unsafe.String(unsafe.SliceData(data[i*size:]), size)
					lasts[i] = unsafe.String(unsafe.SliceData(data[len(data)-size:]), size)
				}
				for _, column := range []Keys{must(t)(FixedWidth(data, size)), Strings(texts), Strings(lasts)} {
					for _, kernel := range proven() {
						checkAtPageEnd(t, f, kernel, column, to)
					}
				}
			}
		}
	})
}

// checkAtPageEnd appends hashes to the end of memory.
func checkAtPageEnd(t *testing.T, f Format, kernel Kernel, column Keys, memory []byte) {
	t.Helper()
	want := appendedHashes(t, f, Generic, column)
	if schemes[f.scheme()].words == one32 {
		room := elementsAtEnd[uint32](memory, column.n)
		for i, got := range f.appendHashes32(kernel, room[:0:len(room)], &column) {
			if uint64(got) != want[i] {
				t.Fatalf("%v, kernel %v, key %d of %d: %x, want %x", f, kernel, i, column.n, got, want[i])
			}
		}
		return
	}
	room := elementsAtEnd[uint64](memory, column.n)
	if got := f.appendHashes64(kernel, room[:0:len(room)], &column); !slices.Equal(got, want) {
		t.Fatalf("%v, kernel %v, %d keys: %x, want %x", f, kernel, column.n, got, want)
	}
}

// TestAppendHashesAnswer makes a column of the appended hashes: it answers as [Keys.Hashed] does, and as the keys do.
func TestAppendHashesAnswer(t *testing.T) {
	const rows = windowKeys + 70
	keys := Bytes(golden.Mixed.Range(0, rows))
	random := rand.New(rand.NewPCG(72, 73))
	bitmap, _ := randomNulls(random, 3, rows)
	nulls := must(t)(keys.WithValidity(bitmap, 3))
	eachAppend(t, func(t *testing.T, f Format) {
		column := func(keys Keys) Keys {
			if schemes[f.scheme()].words == one32 {
				return f.Hashes32(f.AppendHashes32(nil, keys))
			}
			return f.Hashes64(f.AppendHashes64(nil, keys))
		}
		filter := Policy{f, 10}.NewFilter(keys.Slice(0, rows/2))
		for name, c := range map[string]struct{ keys, hashed Keys }{
			"keys": {keys, column(keys)}, "null rows": {nulls, must(t)(column(nulls).WithValidity(bitmap, 3))},
		} {
			var want, hashed, got [rows/64 + 1]uint64
			filter.MayContainBatch(c.keys, want[:])
			filter.MayContainBatch(c.keys.Hashed(f), hashed[:])
			filter.MayContainBatch(c.hashed, got[:])
			if got != want || hashed != want {
				t.Errorf("%s: the column of hashes answers otherwise", name)
			}
			if found := bits.OnesCount64(got[0]); name == "keys" && found != 64 {
				t.Errorf("%d of the first 64 keys are found", found)
			}
		}
		dst := column(keys)
		if n := testing.AllocsPerRun(20, func() {
			if dst.layout == hashes32 {
				f.AppendHashes32(elements[uint32](&dst, rows)[:0], nulls)
			} else {
				f.AppendHashes64(elements[uint64](&dst, rows)[:0], nulls)
			}
		}); n != 0 {
			t.Errorf("%v allocations where dst has room", n)
		}
	})
}

// TestAppendHashesOfOthers wants a panic for a format whose hash has other words, and for a column of other hashes.
func TestAppendHashesOfOthers(t *testing.T) {
	keys := Strings([]string{"a", "b"})
	eachFormat(t, func(t *testing.T, f Format) {
		w := schemes[f.scheme()].words
		for of, call := range map[hashWords]func(k Keys){
			one32: func(k Keys) { f.AppendHashes32(nil, k) }, one64: func(k Keys) { f.AppendHashes64(nil, k) },
		} {
			if got := panicOf(func() { call(keys) }); (got == "") != (w == of) || got != "" && !strings.Contains(got, schemes[f.scheme()].hash) {
				t.Errorf("%d bits: panic %q", of.bits(), got)
			}
			if w != of {
				continue
			}
			for other := range Format(len(formats)) {
				if got := panicOf(func() { call(keys.Hashed(other)) }); (got == "") != (f.scheme() == other.scheme()) {
					t.Errorf("%d bits, a column hashed for %v: panic %q", of.bits(), other, got)
				}
			}
		}
	})
}

// FuzzAppendHashes hashes any keys, some null, in all layouts. A key in the input is a byte for its length,
// and then its bytes.
func FuzzAppendHashes(f *testing.F) {
	f.Add([]byte("\x05hello\x05world"), []byte{1}, byte(0))
	f.Add([]byte("\x00\x00\x01\x80\x02\xff\xfe"), []byte(nil), byte(3))
	f.Add([]byte(strings.Repeat("\x10sixteen bytes ok", 40)), []byte("\xff\xfe\xff\x00\xff\x11"), byte(7))
	f.Fuzz(func(t *testing.T, data, bitmap []byte, offset byte) {
		var keys [][]byte
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			keys = append(keys, data[1:1+n])
			data = data[1+n:]
		}
		from := int(offset % 65)
		bitmap = append(bitmap, make([]byte, (from+len(keys))/8+1)...)
		valid := make([]bool, len(keys))
		for i := range valid {
			valid[i] = bitmap[(from+i)/8]>>((from+i)%8)&1 != 0
		}
		for _, l := range layouts {
			if l.width != 0 || strings.HasPrefix(l.name, "hashed") {
				continue
			}
			column := l.column(t, keys)
			checkAppendHashes(t, column, keys, nil)
			checkAppendHashes(t, must(t)(column.WithValidity(bitmap, from)), keys, valid)
		}
	})
}
