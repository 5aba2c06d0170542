package encoding

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func eachFormat(t *testing.T, test func(t *testing.T, f Format)) {
	for f := range Format(len(rows)) {
		t.Run(f.String(), func(t *testing.T) { test(t, f) })
	}
}

// empty returns a filter of a shape, without keys.
func empty(f Format, s Shape, bitsPerKey int) []byte {
	before, after := f.Around()
	bits := int(bytesOf(s.Bits))
	if f == BitsAndBlooms {
		bits = (bits + 7) &^ 7
	}
	encoded := make([]byte, before+bits+after)
	f.Put(encoded, s, bitsPerKey)
	return encoded
}

// TestParse reads the shape of filters that were written, where their bits lie, and that of headers of another size.
func TestParse(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		for n := range 200 {
			for _, bitsPerKey := range []int{-1, 0, 1, 2, 10, 16, 50, 101} {
				s, ok := f.Shape(n, bitsPerKey)
				if !ok || s.Bits < uint64(n*min(max(bitsPerKey, 0), 100)) || s.Probes < 1 {
					t.Fatalf("%d keys at %d bits: %+v, %v", n, bitsPerKey, s, ok)
				}
				encoded := empty(f, s, bitsPerKey)
				var got Filter
				err := f.Parse(encoded, &got)
				before, after := f.Around()
				if s.Bits > 0 && (err != nil || got.Shape != s || got.All || got.StoresFewer || got.Doublings != 0) {
					t.Fatalf("%d keys at %d bits: %+v, %v, want %+v", n, bitsPerKey, got, err, s)
				}
				if end := len(encoded) - after; s.Bits > 0 && (got.From != before || got.To != end) {
					t.Fatalf("%d keys at %d bits: bits from byte %d to %d, want %d to %d", n, bitsPerKey, got.From, got.To, before, end)
				}
				if err != nil || uint64(got.To-got.From) < bytesOf(got.Bits) {
					t.Fatalf("%d keys at %d bits: %+v, %v", n, bitsPerKey, got, err)
				}
			}
		}
	})
}

// TestParseAnything wants bits inside the bytes, or Err: of damaged filters, and of every length.
func TestParseAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	eachFormat(t, func(t *testing.T, f Format) {
		s, _ := f.Shape(100, 10)
		whole := empty(f, s, 10)
		for range 20000 {
			data := slices.Clone(whole)[:random.IntN(len(whole)+1)]
			for range random.IntN(4) {
				if len(data) > 0 {
					at := random.IntN(len(data))
					if random.IntN(2) == 0 {
						at = len(data) - 1 - at%min(len(data), 6)
					} else {
						at %= 24
					}
					data[min(at, len(data)-1)] = byte(random.Uint32())
				}
			}
			var got Filter
			err := f.Parse(data, &got)
			switch {
			case err != nil:
				if !errors.Is(err, Err) {
					t.Fatalf("%x: %v", data, err)
				}
			case got.From < 0 || got.From > got.To || got.To > len(data) || got.Probes < 0:
				t.Fatalf("%x: %+v", data, got)
			case got.Bits > 0 && !got.All && !got.StoresFewer && uint64(got.To-got.From) < bytesOf(got.Bits):
				t.Fatalf("%x: %d bytes of %d bits", data, got.To-got.From, got.Bits)
			}
		}
	})
}

// TestShapeLimits looks for the last filter that a format has, and for one that no format has.
func TestShapeLimits(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		if _, ok := f.Shape(math.MaxInt, math.MaxInt); ok {
			t.Error("a filter of the most bits")
		}
		bits, probes := f.Size(math.MaxInt, math.MaxInt)
		if bits < float64(rows[f].most)/512 || probes < ParquetProbes {
			t.Errorf("the largest size has %g bits and %d probes", bits, probes)
		}
		const perKey = 64
		n := int(min(rows[f].most/perKey, math.MaxInt/2))
		if s, ok := f.Shape(n, perKey); !ok || float64(s.Bits) != first(f.Size(n, perKey)) {
			t.Errorf("%d keys: %+v, %v", n, s, ok)
		}
		if s, ok := f.Shape(n+1, perKey); ok && n < math.MaxInt/2 {
			t.Errorf("%d keys: %+v", n+1, s)
		}
	})
}

func first(x float64, _ int) float64 { return x }

// TestSizes has sizes that a formula is wrong about.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		f             Format
		n, bitsPerKey int
		bits          float64
		probes        int
	}{
		{LevelDB, 7, 9, 64, 6}, {LevelDB, 10, 7, 72, 4}, {LevelDB, 100, 1000, 100000, 30},
		{Nori, 100, 10, 1000, 7}, {Nori, 0, 10, 0, 7},
		{NoriCrate, 100, 10, 1024, 7}, {NoriCrate, 1025, 1, 2048, 1}, {NoriCrate, 1024, 1, 1024, 1}, {NoriCrate, 1, 1, 1, 1}, {NoriCrate, 0, 10, 0, 7},
		{NoriCrate, 9, 123, 2048, 86}, {NoriCrate, 1, 1 << 20, 1 << 20, MaxProbesCrate},
		{Parquet, 0, 10, 256, 8}, {Parquet, 26, 10, 512, 8}, {Parquet, math.MaxInt, math.MaxInt, 256 * MaxBlocks, 8},
		{RocksDB, 0, 10, 0, 6}, {RocksDB, 52, 10, 1024, 6}, {RocksDB, 1, 101, 512, 24}, {RocksDB, math.MaxInt, math.MaxInt, 512 * RocksDBMostLines, 24},
		{Pebble, 0, 10, 0, 6}, {Pebble, 52, 10, 1536, 6}, {Pebble, math.MaxInt, math.MaxInt, 8*PebbleMostBytes - 512, 30},
		{BitsAndBlooms, 0, 10, 0, 7}, {BitsAndBlooms, 3, 7, 21, 5}, {BitsAndBlooms, 1, 1 << 20, 1 << 20, MaxProbesBitsAndBlooms},
		{Guava, 0, 10, 64, 7}, {Guava, 0, 1000, 384, 255}, {Guava, 7, 10, 128, 7},
	} {
		if bits, probes := c.f.Size(c.n, c.bitsPerKey); bits != c.bits || probes != c.probes {
			t.Errorf("%v: %d keys at %d bits: %g bits, %d probes; want %g, %d", c.f, c.n, c.bitsPerKey, bits, probes, c.bits, c.probes)
		}
	}
}

// TestHeaders reads headers that no policy writes.
func TestHeaders(t *testing.T) {
	zeros := make([]byte, 64)
	for _, c := range []struct {
		name string
		f    Format
		data []byte
		want Filter
	}{
		{"no bytes", LevelDB, nil, Filter{}},
		{"reserved probes", LevelDB, []byte{1, 2, 31}, Filter{To: 2, Shape: Shape{Bits: 16}, All: true}},
		{"no lines", RocksDB, zeros[:5], Filter{}},
		{"a mark for yes", RocksDB, zeros[:6], Filter{To: 1, Shape: Shape{Bits: 8}, All: true}},
		{"a reserved byte", RocksDB, []byte{9, 0xff, 0, 6, 1, 0}, Filter{To: 1, Shape: Shape{Bits: 8}, All: true}},
		{"no probes", Pebble, zeros[:6], Filter{To: 1, Shape: Shape{Bits: 8}, All: true}},
		{"long lines", Pebble, append(slices.Repeat(zeros, 4), 6, 1, 0, 0, 0), Filter{To: 256, Shape: Shape{Bits: 2048, Probes: 6}, Doublings: 2}},
		{"the other header", Nori, []byte{3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 7, 1}, Filter{From: 12, To: 14, Shape: Shape{Bits: 9, Probes: 3}}},
		{"twelve zeros", NoriCrate, zeros[:12], Filter{From: 12, To: 12, Shape: Shape{Probes: 1}}},
		{"more stored than reached", BitsAndBlooms, blooms(60, 3, 190, 4), Filter{From: 24, To: 32, Shape: Shape{Bits: 60, Probes: 3}}},
		{"fewer stored", BitsAndBlooms, blooms(190, 3, 65, 2), Filter{From: 24, To: 40, Shape: Shape{Bits: 190, Probes: 3}, StoresFewer: true}},
		{"no probes", BitsAndBlooms, blooms(190, 0, 0, 1), Filter{From: 24, To: 24, All: true}},
		{"none stored", BitsAndBlooms, blooms(190, 2, 0, 1), Filter{From: 24, To: 24, Shape: Shape{Probes: 2}}},
		{"bytes after the words", Guava, append([]byte{1, 9, 0, 0, 0, 1}, zeros...), Filter{From: 6, To: 14, Shape: Shape{Bits: 64, Probes: 9}}},
	} {
		var got Filter
		if err := c.f.Parse(c.data, &got); err != nil || got != c.want {
			t.Errorf("%v, %s: %+v, %v; want %+v", c.f, c.name, got, err, c.want)
		}
	}
}

func blooms(m, k, length uint64, words int) (data []byte) {
	for _, x := range []uint64{m, k, length} {
		data = binary.BigEndian.AppendUint64(data, x)
	}
	return append(data, make([]byte, 8*words)...)
}

// TestLargestPebble parses a filter of the most bytes, and refuses one of a line more: RocksDB and Pebble would test other bits of it.
func TestLargestPebble(t *testing.T) {
	memory := make([]byte, PebbleMostBytes+64+Trailer) // the system gives what is touched
	for n, want := range map[int]error{PebbleMostBytes: nil, PebbleMostBytes + 64: Err} {
		data := memory[:n+Trailer]
		data[n] = 6
		binary.LittleEndian.PutUint32(data[n+1:], uint32(n/64))
		var e Filter
		if err := Pebble.Parse(data, &e); !errors.Is(err, want) || err == nil && e.Bits != 8*uint64(n) {
			t.Errorf("%d bytes: %v, %d bits", n, err, e.Bits)
		}
		clear(data[n:])
	}
}
