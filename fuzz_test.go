package bloom

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzOpen takes any bytes as a filter.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(nil), []byte("hello"))
	f.Add([]byte{6}, []byte("hello"))
	f.Add([]byte{0xff, 0}, []byte("hello"))
	f.Add([]byte{0xff, 31}, []byte(""))
	f.Add(fromHex("014000010410400006"), []byte("hello"))
	f.Add(fromHex("0700000020000000000000008888a8a2"), []byte("hello"))
	f.Add(fromHex("1400000000000000070000000a0000008888a8"), []byte("hello"))
	f.Fuzz(func(t *testing.T, encoded, key []byte) {
		for format := range Format(len(formats)) {
			if got := (Policy{Format: format}).MayContain(encoded, key); got != Reference(format, encoded, key) {
				t.Errorf("%v: Policy.MayContain = %v", format, got)
			}
		}
		// The key, and what is left of it when its start is cut off.
		var keys [][]byte
		for i := range min(len(key), 16) + 1 {
			keys = append(keys, key[i:])
		}
		for format := range Format(len(formats)) {
			if _, err := Open(format, encoded); err == nil {
				eachKernelOf(t, format, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
			} else if !errors.Is(err, ErrEncoding) {
				t.Errorf("%v: Open: %v", format, err)
			}
			s, err := OpenSet(format, encoded)
			if err != nil {
				if !errors.Is(err, ErrEncoding) {
					t.Errorf("%v: OpenSet: %v", format, err)
				}
				continue
			}
			s.Add(key)
			if !s.MayContain(key) {
				t.Errorf("%v: a set does not hold the key just added", format)
			}
		}
	})
}

// FuzzKeys makes columns of any bytes. Each is an error or a column whose rows
// are those that a careful reader finds.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("hello world"), []byte{0, 0, 0, 0, 5, 0, 0, 0, 11, 0, 0, 0}, 1, []byte{0xff}, 0)
	f.Add([]byte("hello world"), []byte{0, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0}, 11, []byte{0x55, 0x01}, 3)
	f.Add([]byte("hello world"), []byte{0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0}, -1, []byte(nil), math.MaxInt)
	f.Fuzz(func(t *testing.T, data, rawOffsets []byte, width int, validity []byte, offset int) {
		check := func(column Keys, err error, rows [][]byte) {
			if (err == nil) != (rows != nil) || err != nil && !errors.Is(err, ErrKeys) {
				t.Fatalf("error %v for %d rows", err, len(rows))
			}
			if err != nil {
				return
			}
			checkColumn(t, column, rows, nil)
			with, err := column.WithValidity(validity, offset)
			if fits := offset >= 0 && offset <= 8*len(validity)-len(rows); fits != (err == nil) {
				t.Fatalf("WithValidity of %d bytes at %d for %d rows: %v", len(validity), offset, len(rows), err)
			}
			if err != nil {
				return
			}
			valid := make([]bool, len(rows))
			for i := range valid {
				valid[i] = validity[(offset+i)/8]>>((offset+i)%8)&1 != 0
			}
			checkColumn(t, with, rows, valid)
		}

		column, err := FixedWidth(data, width)
		var rows [][]byte
		if width > 0 && len(data)%width == 0 {
			rows = [][]byte{}
			for i := 0; i < len(data); i += width {
				rows = append(rows, data[i:i+width])
			}
		}
		check(column, err, rows)

		var offsets32 []int32
		var offsets64 []int64
		for b := rawOffsets; len(b) >= 4; b = b[4:] {
			offsets32 = append(offsets32, int32(binary.LittleEndian.Uint32(b)))
			offsets64 = append(offsets64, int64(int32(binary.LittleEndian.Uint32(b))))
		}
		rows = [][]byte{}
		for i, to := range offsets64 {
			if from := offsets64[max(0, i-1)]; from < 0 || from > to || to > int64(len(data)) {
				rows = nil
				break
			} else if i > 0 {
				rows = append(rows, data[from:to])
			}
		}
		column, err = Offsets(data, offsets32)
		check(column, err, rows)
		column, err = Offsets64(data, offsets64)
		check(column, err, rows)
	})
}

// FuzzKernels probes any bits for any hashes, those given and then pseudorandom
// ones: each kernel against the reference.
func FuzzKernels(f *testing.F) {
	f.Add([]byte{0}, byte(1), []byte{0, 0, 0, 0}, uint16(0))
	f.Add(fromHex("0140000104104000"), byte(6), []byte{0x4e, 0x96, 0x95, 0xf7, 0xff, 0xff, 0xff, 0xff}, uint16(window))
	f.Add([]byte{0xff, 0xfe, 0xff, 0x7f, 0xff}, byte(30), make([]byte, 4*70), uint16(window+100))
	f.Fuzz(func(t *testing.T, bits []byte, k byte, hashes []byte, more uint16) {
		encoded := slices.Concat(bits, []byte{k})
		var column []uint32
		for ; len(hashes) >= 4; hashes = hashes[4:] {
			column = append(column, binary.LittleEndian.Uint32(hashes))
		}
		random := rand.New(rand.NewPCG(uint64(k), uint64(more)))
		for range more % (2 * window) {
			column = append(column, random.Uint32())
		}
		want := make([]bool, len(column))
		for i, h := range column {
			want[i] = referenceLevelDB(encoded, binary.LittleEndian.AppendUint32(nil, keyOf(h)))
		}
		eachKernel(t, encoded, func(t *testing.T, f *Filter) { checkBatch(t, f, Hashes32(column), want) })
	})
}

// FuzzKernels64 is FuzzKernels for the walk of two 64-bit hashes. Of the last byte of
// bits, some may lie beyond the filter.
func FuzzKernels64(f *testing.F) {
	f.Add([]byte{0}, byte(0), byte(1), make([]byte, 16), uint16(0))
	f.Add(fromHex("8888a8a2"), byte(3), byte(7), []byte("\xff\xff\xff\xff\xff\xff\xff\xffaaaaaaaa"), uint16(window))
	f.Add([]byte{0xff, 0xfe, 0xff, 0x7f, 0xff}, byte(7), byte(30), make([]byte, 16*70), uint16(window+100))
	f.Fuzz(func(t *testing.T, bits []byte, beyond, k byte, hashed []byte, more uint16) {
		if len(bits) == 0 {
			return
		}
		n := 8*uint64(len(bits)) - uint64(beyond%8)
		probes := 1 + uint32(k)%maxProbes
		var column []Hash
		for ; len(hashed) >= 16; hashed = hashed[16:] {
			column = append(column, Hash{binary.LittleEndian.Uint64(hashed), binary.LittleEndian.Uint64(hashed[8:])})
		}
		random := rand.New(rand.NewPCG(uint64(k), uint64(more)))
		for range more % (2 * window) {
			column = append(column, Hash{random.Uint64(), random.Uint64()})
		}
		want := make([]bool, len(column))
		for i, h := range column {
			want[i] = true
			for range probes {
				bit := h.h1 % n
				want[i] = want[i] && bits[bit/8]>>(bit%8)&1 != 0
				h.h1 += h.h2
			}
		}
		encoded := append(header(Nori, n, probes), bits...)
		eachKernelOf(t, Nori, encoded, func(t *testing.T, f *Filter) { checkBatch(t, f, columnOf(hashes64, column), want) })
	})
}

// FuzzBuild builds in every way from any keys: each a byte of length and as
// many bytes.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("\x05hello\x05world"), 10)
	f.Add([]byte("\x00\x00\x01\x80\x02\xff\xfe"), 0)
	f.Add([]byte(nil), -3)
	f.Fuzz(func(t *testing.T, data []byte, bitsPerKey int) {
		bitsPerKey %= 200
		var keys [][]byte
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			keys = append(keys, data[1:1+n])
			data = data[1+n:]
		}
		for format := range Format(len(formats)) {
			p := Policy{format, bitsPerKey}
			want := referenceCreate(p, keys)
			for _, way := range ways {
				if len(keys) == 0 && format.isWide() && strings.HasPrefix(way.name, "Set") {
					continue // a set has room for a key
				}
				if got := way.build(t, p, keys); string(got) != string(want) {
					t.Errorf("%v: %s = %x, want %x", format, way.name, got, want)
				}
			}
		}
	})
}
