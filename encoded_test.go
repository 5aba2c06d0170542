package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/keyhash"
)

// encodedFilters returns filters of a format of many shapes, and all odd ones, refused ones among them.
func encodedFilters(format Format) (filters [][]byte) {
	for _, bitsPerKey := range []int{1, 3, 7, 10, 20, 45} {
		for _, n := range []int{0, 1, 2, 9, 33, 400} {
			filters = append(filters, Policy{format, bitsPerKey}.AppendFilter(nil, Bytes(golden.Mixed.Range(0, n))))
		}
	}
	for _, odd := range formatTests[format].odd {
		filters = append(filters, odd.data)
	}
	return filters
}

// TestEncodedQueries tests keys in encoded filters, and compares the answers with the reference's, which are yes for bytes that are
// no filter.
func TestEncodedQueries(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(0, 60/oneOf(1, 3))
	eachFormat(t, func(t *testing.T, format Format) {
		filters := encodedFilters(format)
		for _, key := range keys {
			h := format.Hash(key)
			for _, filter := range filters {
				may := Reference(format, filter, key)
				if format.MayContainHash(filter, h) != may || format.MayContain(filter, key) != may || (Policy{Format: format}).MayContain(filter, key) != may {
					t.Fatalf("%x may be in %.100x by MayContainHash: %v; want %v", key, filter, format.MayContainHash(filter, h), may)
				}
			}
		}
	})
}

// TestEncodedAdditions adds keys to encoded filters and compares the bytes, and what it says of new keys, with the
// reference's. Where OpenSet takes no keys, it is an error and changes nothing.
func TestEncodedAdditions(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(30, 60)
	eachFormat(t, func(t *testing.T, format Format) {
		for _, filter := range encodedFilters(format) {
			got, want := slices.Clone(filter), slices.Clone(filter)
			_, wantErr := OpenSet(format, filter)
			for _, key := range keys {
				wantNew := wantErr == nil && !Reference(format, want, key)
				if wantErr == nil {
					addByReference(t, format, want, key)
				}
				isNew, err := format.AddHash(got, format.Hash(key))
				if isNew != wantNew || (err == nil) != (wantErr == nil) || err != nil && !errors.Is(err, ErrEncoding) || !bytes.Equal(got, want) {
					t.Fatalf("AddHash of %x to %.100x: %v, %v; want %v, %v", key, filter, isNew, err, wantNew, wantErr)
				}
			}
		}
	})
	if slices.Contains(allZeros, 1) || !bytes.Equal(allOnes, bytes.Repeat([]byte{0xff}, 64)) {
		t.Error("keys were added to what stands for filters without bits")
	}
}

// TestNoBytes asks no bytes for a key. They are the filter of no keys where the engine reads them so, and else no filter.
func TestNoBytes(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		isFilter := format == RocksDB || format == LevelDB || format == Pebble
		_, err := Open(format, nil)
		for name, may := range map[string]bool{
			"MayContain":     format.MayContain(nil, []byte("key")),
			"MayContainHash": format.MayContainHash(nil, format.Hash([]byte("key"))),
			"Reference":      Reference(format, nil, []byte("key")),
		} {
			if may == isFilter || (err == nil) != isFilter {
				t.Errorf("%s: %v; Open: %v", name, may, err)
			}
		}
	})
}

// TestEncodedMisuse wants panics that say what is wrong, and no allocation otherwise.
func TestEncodedMisuse(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		filter := Policy{format, 10}.AppendFilter(nil, Strings([]string{"key"}))
		h, key := format.Hash([]byte("key")), []byte("key")
		eachFormat(t, func(t *testing.T, other Format) {
			h := other.Hash([]byte("key"))
			for name, call := range map[string]func(){
				"MayContainHash": func() { format.MayContainHash(filter, h) },
				"AddHash":        func() { _, _ = format.AddHash(filter, h) },
			} {
				if got := panicOf(call); (got == "") != (format.scheme() == other.scheme()) || got != "" && !strings.Contains(got, schemes[format.scheme()].hash) {
					t.Errorf("%s: panic %q", name, got)
				}
			}
		})
		for want, call := range map[string]func(){
			"bloom: Format(99) is not a format": func() { Format(99).MayContainHash(filter, h) },
			"bloom: Format(99) is not ":         func() { Format(99).HashUint64(1) },
			"bloom: the key was hashed by":      func() { format.MayContainHash(filter, Hash{}) },
		} {
			if got := panicOf(call); !strings.HasPrefix(got, want) {
				t.Errorf("panic %q, want %q", got, want)
			}
		}
		if _, err := Format(99).AddHash(filter, h); !errors.Is(err, ErrFormat) {
			t.Errorf("AddHash of no format: %v", err)
		}
		for name, call := range map[string]func(){
			"MayContain":     func() { format.MayContain(filter, key) },
			"MayContainHash": func() { format.MayContainHash(filter, h) },
			"AddHash":        func() { _, _ = format.AddHash(filter, h) },
		} {
			if n := testing.AllocsPerRun(10, call); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}

// TestChosenHashes takes keys whose hash of four words ends as somebody has chosen: with the number of another hash,
// as the hashes of one and two words do. A filter of four words answers for them. No key ends with the mark before
// the number, because nobody knows it.
func TestChosenHashes(t *testing.T) {
	set, err := Policy{BitsAndBlooms, 10}.NewSet(10)
	if err != nil {
		t.Fatal(err)
	}
	group, err := NewGroup([]*Filter{set.Filter()})
	if err != nil {
		t.Fatal(err)
	}
	for kind := range uint64(len(schemes)) {
		key := murmurKey(3, kind)
		h := BitsAndBlooms.Hash(key)
		if h.h3 != 3 || h.h4 != kind {
			t.Fatalf("%x has the hash %x, which does not end with 3 and %d", key, h, kind)
		}
		for name, call := range map[string]func(){
			"Set.MayContainHash":    func() { set.MayContainHash(h) },
			"Set.AddHash":           func() { set.AddHash(h) },
			"Group.MayContainHash":  func() { group.MayContainHash(h, make([]uint64, 1)) },
			"Format.MayContainHash": func() { BitsAndBlooms.MayContainHash(set.Bytes(), h) },
			"Format.AddHash":        func() { _, _ = BitsAndBlooms.AddHash(set.Bytes(), h) },
			"Builder.AddHash":       func() { Policy{BitsAndBlooms, 10}.NewBuilder().AddHash(h) },
		} {
			if got := panicOf(call); got != "" {
				t.Errorf("%s of %v: panic %q", name, h, got)
			}
		}
		if !set.MayContain(key) {
			t.Errorf("%x is lost", key)
		}
	}
	if hashMark == 0 || hashMark == BitsAndBlooms.Hash(nil).h3 {
		t.Errorf("the mark of short hashes is %x", hashMark)
	}
}

// murmurKey returns the key of 16 bytes whose hash ends with two words: all steps of a digest can be taken back.
func murmurKey(h3, h4 uint64) []byte {
	inverse := func(odd uint64) uint64 { // modulo 2^64
		x := odd
		for range 5 {
			x *= 2 - odd*x
		}
		return x
	}
	unmix := func(x uint64) uint64 {
		x = (x ^ x>>33) * inverse(0xc4ceb9fe1a85ec53)
		x = (x ^ x>>33) * inverse(0xff51afd7ed558ccd)
		return x ^ x>>33
	}
	h4 -= h3
	h3 -= h4
	h3, h4 = unmix(h3), unmix(h4)
	h4 -= h3
	h3 -= h4
	h1, h2 := h3^17^keyhash.MurmurLowOfOne, h4^17
	low := bits.RotateLeft64((h1-0x52dce729)*inverse(5), -27)
	high := bits.RotateLeft64((h2-0x38495ab5)*inverse(5)-h1, -31)
	key := binary.LittleEndian.AppendUint64(nil, bits.RotateLeft64(low*inverse(keyhash.MurmurC2), -31)*inverse(keyhash.MurmurC1))
	return binary.LittleEndian.AppendUint64(key, bits.RotateLeft64(high*inverse(keyhash.MurmurC1), -33)*inverse(keyhash.MurmurC2))
}

func TestSmallRemainder(t *testing.T) {
	for n := uint64(1); n < reciprocalBelow; n++ {
		last := math.MaxUint64 / n * n
		for _, h := range []uint64{0, n - 1, n, last - n, last - 1, last, math.MaxUint64} {
			if got := smallRemainder(h, n, math.MaxUint64/n); got != h%n {
				t.Fatalf("%d mod %d: got %d, want %d", h, n, got, h%n)
			}
		}
	}
}
