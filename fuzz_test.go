package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
)

// FuzzOpen takes any bytes as a filter.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(nil), []byte("hello"))
	f.Add([]byte{6}, []byte("hello"))
	f.Add([]byte{0xff, 0}, []byte("hello"))
	f.Add([]byte{0xff, 31}, []byte(""))
	f.Add(fromHex("1400000000000000070000000a0000008888a8"), []byte("hello"))
	for _, test := range formatTests {
		for _, v := range test.vectors {
			f.Add(fromHex(v.want), []byte("hello"))
		}
		for _, odd := range test.odd[:min(20, len(test.odd))] {
			f.Add(odd.data, []byte("\xe2\x99\xa5"))
		}
	}
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
				eachKernel(t, format, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
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

// FuzzFile takes any bytes as a file. Corrected checksums let more of them be one. Every way
// to read must tell the same, and a filter that is read writes the same bytes, but for numbers of keys that no filter has.
func FuzzFile(f *testing.F) {
	for format := range Format(len(formats)) {
		f.Add(testFile(format), false)
		f.Add(testFile(format)[:130], true)
		odds := formatTests[format].odd
		for _, odd := range odds[:min(12, len(odds))] {
			if odd.is != noFilter {
				f.Add(plainFile(f, format, 3, odd.data), true)
			}
		}
	}
	f.Add([]byte(FileMagic), false)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed && len(data) >= fileFields {
			data = bytes.Clone(data)
			seal(data)
		}
		verified, opened := VerifyBinary(data), new(Filter)
		if f, err := OpenBinary(data); err == nil {
			opened = f
		} else if verified == nil {
			t.Fatalf("OpenBinary: %v for a file that VerifyBinary accepts", err)
		}
		for _, way := range fileReaders {
			var f Filter
			var s Set
			err := way.read(&f, data)
			setErr := way.read(&s, data)
			for _, err := range []error{err, setErr, verified} {
				if err != nil && !errors.Is(err, ErrEncoding) && !errors.Is(err, ErrFormat) && (!errors.Is(err, io.EOF) || len(data) > 0) {
					t.Fatalf("%s: error %v", way.name, err)
				}
			}
			if (err == nil) != (verified == nil) || err != nil && setErr == nil {
				t.Fatalf("%s: error %v, for a set %v, VerifyBinary: %v", way.name, err, setErr, verified)
			}
			if err != nil {
				continue
			}
			if !bytes.Equal(f.data, opened.data) || f.Format() != opened.Format() {
				t.Fatalf("%s: another filter than OpenBinary's", way.name)
			}
			if again, err := f.MarshalBinary(); err != nil || !bytes.Equal(again, asWritten(data)) {
				t.Fatalf("%s: %v, and the file is written as\n%x", way.name, err, again)
			}
		}
	})
}

// asWritten returns the bytes of a file as this library writes them: a number of keys that no filter has is not known.
func asWritten(file []byte) []byte {
	const at = 32 // of the number
	if binary.LittleEndian.Uint64(file[at:]) < mostKeys {
		return file
	}
	file = bytes.Clone(file)
	binary.LittleEndian.PutUint64(file[at:], unknownKeys)
	seal(file)
	return file
}

// FuzzKernelKeys makes columns from any bytes. The result must be an error, or a column with the
// same rows that a plain reader finds.
func FuzzKernelKeys(f *testing.F) {
	f.Add([]byte("hello world"), []byte{0, 0, 0, 0, 5, 0, 0, 0, 11, 0, 0, 0}, 1, []byte{0xff}, 0)
	f.Add([]byte("hello world"), []byte{0, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0}, 11, []byte{0x55, 0x01}, 3)
	f.Add([]byte("hello world"), []byte{0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0}, -1, []byte(nil), math.MaxInt)
	views := slices.Concat(viewAt(13, 1, 2), viewAt(3, 0, 0), viewAt(20, 0, 0), viewAt(-1, 0, 0))
	f.Add(make([]byte, 40), views[:48], 8, []byte(nil), 0)
	f.Add(make([]byte, 40), views, 8, []byte{7}, 0)
	f.Add(make([]byte, 40), views, 8, []byte{0xff}, 1)
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
		column, err = Offsets(data, offsets64)
		check(column, err, rows)

		headers, buffers := rawOffsets[:len(rawOffsets)/16*16], [][]byte{data[:len(data)/2], data[len(data)/2:]}
		column, err = Views(headers, buffers, nil, 0)
		rows, whole := plainViews(headers, buffers, nil)
		if !whole {
			rows = nil
		}
		check(column, err, rows)
		if n := len(headers) / 16; offset >= 0 && offset <= 8*len(validity)-n && validity != nil {
			valid := make([]bool, n)
			for i := range valid {
				valid[i] = validity[(offset+i)/8]>>((offset+i)%8)&1 != 0
			}
			column, err = Views(headers, buffers, validity, offset)
			if rows, whole = plainViews(headers, buffers, valid); whole != (err == nil) {
				t.Fatalf("Views with null rows: %v", err)
			} else if whole {
				checkColumn(t, column, rows, valid)
			}
		}
	})
}

// plainViews reads views one by one, those of null rows as nil. It reports whether each of the
// others is within its buffer. A nil valid has no null rows.
func plainViews(headers []byte, buffers [][]byte, valid []bool) (rows [][]byte, ok bool) {
	rows = [][]byte{}
	for i := 0; i < len(headers); i += 16 {
		word := func(j int) int64 { return int64(int32(binary.NativeEndian.Uint32(headers[i+j:]))) }
		length, buffer, at := word(0), word(8), word(12)
		var key []byte
		if valid == nil || valid[i/16] {
			switch {
			case 0 <= length && length <= 12:
				key = headers[i+4:][:length]
			case length < 0 || buffer < 0 || buffer >= int64(len(buffers)) || at < 0 || at+length > int64(len(buffers[buffer])):
				return nil, false
			default:
				key = buffers[buffer][at : at+length]
			}
		}
		rows = append(rows, key)
	}
	return rows, true
}

// FuzzKernels probes any bits for any hashes, those given and then pseudorandom ones: each
// kernel of a scheme against its letter. Some of the last bits may lie beyond the array.
func FuzzKernels(f *testing.F) {
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		f.Add(byte(s), []byte{0}, byte(0), byte(1), make([]byte, 16), uint16(0))
		f.Add(byte(s), fromHex("0140000104104000"), byte(0), byte(6), []byte("\x4e\x96\x95\xf7\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), uint16(windowKeys))
		f.Add(byte(s), fromHex("8888a8a2"), byte(3), byte(7), []byte("\xff\xff\xff\xff\xff\xff\xff\xffaaaaaaaa"), uint16(windowKeys))
		f.Add(byte(s), []byte{0xff, 0xfe, 0xff, 0x7f, 0xff}, byte(7), byte(30), make([]byte, 16*70), uint16(windowKeys+100))
	}
	f.Fuzz(func(t *testing.T, number byte, data []byte, beyond, k byte, words []byte, more uint16) {
		s := noScheme + 1 + scheme(number)%scheme(len(schemes)-1)
		test := schemeTests[s]
		n := (8*uint64(len(data)) - min(uint64(beyond%8), 8*uint64(len(data)))) / test.unit * test.unit
		if n == 0 {
			return
		}
		data = append(data, make([]byte, s.bytesOf(n))...)[:max(len(data), s.bytesOf(n))]
		random := rand.New(rand.NewPCG(uint64(k), uint64(more)))
		hashed := test.hashesOf(random, int(more%(2*windowKeys)), n)
		for ; len(words) >= 16; words = words[16:] {
			h1, h2 := binary.LittleEndian.Uint64(words), binary.LittleEndian.Uint64(words[8:])
			h := hashOf(test.hash, [4]uint64{h1, h2, h2 + 1, h1})
			switch schemes[test.hash].words {
			case one32:
				h.h1, h.h2 = h.h1&math.MaxUint32, 0
			case one64:
				h.h2 = 0
			}
			hashed = append(hashed, h)
		}
		checkScheme(t, s, data, n, test.probes(1 + int(k)%encoding.MaxProbes)[0], hashed, []int{len(hashed), len(hashed) / 2})
	})
}

// FuzzBuild builds filters of any keys in every way. A key in the input is a byte for its
// length, and then its bytes.
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
			checkWays(t, p, keys, create(format, keys, bitsPerKey))
		}
	})
}
