package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/reference"
)

var vectorsBitsAndBlooms = []vector{
	{[]string{"hello", "world"}, "0000000000000014" + "0000000000000007" + "0000000000000014" + "000000000004577c"},
	{nil, "0000000000000001" + "0000000000000007" + "0000000000000000"},
}

// oddBitsAndBlooms are filters of FromWithM, whose numbers of bits differ, and damaged ones.
var oddBitsAndBlooms = []oddFilter{
	{"nothing", nil, noFilter},
	{"half a header", make([]byte, 23), noFilter},
	{"no bits", bitsAndBlooms(0, 7, 0, 0), noFilter},
	{"no bits and no probes", bitsAndBlooms(0, 0, 0, 0), noFilter},
	{"no bits, but a word", bitsAndBlooms(0, 7, 64, 1), noFilter},
	{"none stored", bitsAndBlooms(1000, 7, 0, 0), justFilter},
	{"no probes", bitsAndBlooms(64, 0, 64, 1), justFilter},
	{"one bit", bitsAndBlooms(1, 1, 1, 1), filterAndSet},
	{"as many bits as are stored", bitsAndBlooms(600, 5, 600, 10), filterAndSet},
	{"a word", bitsAndBlooms(64, 3, 64, 1), filterAndSet},
	{"256 bits", bitsAndBlooms(256, 2, 256, 4), filterAndSet},
	{"257 bits", bitsAndBlooms(257, 2, 257, 5), filterAndSet},
	{"no probes of many bits", bitsAndBlooms(6000, 0, 6000, 94), justFilter},
	{"one probe of many bits", bitsAndBlooms(6000, 1, 6000, 94), filterAndSet},
	{"two probes of many bits", bitsAndBlooms(6000, 2, 6000, 94), filterAndSet},
	{"fewer of many bits are stored", bitsAndBlooms(6000, 5, 5990, 94), justFilter},
	{"more are stored, in one word", bitsAndBlooms(60, 3, 64, 1), filterAndSet},
	{"more are stored", bitsAndBlooms(600, 4, 1024, 16), filterAndSet},
	{"fewer are stored, in one word", bitsAndBlooms(64, 4, 50, 1), justFilter},
	{"fewer are stored", bitsAndBlooms(1500, 4, 1344, 21), justFilter},
	{"a word for all bits", bitsAndBlooms(math.MaxUint64, 1, 64, 1), justFilter},
	{"bytes after the words", append(bitsAndBlooms(600, 5, 600, 10), "and more"...), filterAndSet},
	{"a word is missing", bitsAndBlooms(600, 5, 600, 9), noFilter},
	{"a byte is missing", bitsAndBlooms(600, 5, 600, 10)[:24+79], noFilter},
	{"all bits", bitsAndBlooms(math.MaxUint64, 7, math.MaxUint64, 4), noFilter},
	{"31 probes", bitsAndBlooms(600, 31, 600, 10), filterAndSet},
	{"most probes", bitsAndBlooms(600, encoding.MaxProbesBitsAndBlooms, 600, 10), filterAndSet},
	{"too many probes", bitsAndBlooms(600, encoding.MaxProbesBitsAndBlooms+1, 600, 10), noFilter},
	{"all probes", bitsAndBlooms(600, math.MaxUint64, 600, 10), noFilter},
	{"little-endian", bitsAndBlooms(600<<40, 5<<56, 600<<40, 10), noFilter},
}

// bitsAndBlooms returns a filter of the given words with nearly all bits set.
func bitsAndBlooms(m, k, length uint64, words int) (data []byte) {
	for _, number := range []uint64{m, k, length} {
		data = binary.BigEndian.AppendUint64(data, number)
	}
	return append(data, bytes.Repeat([]byte{0xff, 0xff, 0xfe, 0xff, 0xff, 0x7f, 0xff, 0xff}, words)...)
}

var testBitsAndBlooms = schemeTest{
	hash: schemeBitsAndBlooms, unit: 1, most: 1 << 62,
	bit: func(h Hash, i int, n uint64) uint64 {
		return reference.Location([4]uint64{h.h1, h.h2, h.h3, h.h4}, uint64(i))%n ^ 56
	},
	edges: func(n uint64) (edges []Hash) {
		words := edges64(n, math.MaxUint64)
		for i, h := range words {
			step := words[len(words)-1-i]
			edges = append(edges, [...]Hash{
				{h, step, 0, 0},
				{h, h, h, step},
				{h - 2*step, h - step, h, step},   // probes 1 and 2
				{h - 4*step, h - 3*step, step, h}, // probes 3 and 4
			}[i%4])
		}
		return edges
	},
}

// TestNewSetOfShape makes sets of the shapes of policies, and of shapes that no filter of a format has.
func TestNewSetOfShape(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{1, 7, 100, 1000} {
			want := mustSet(t, Policy{format, 10}, n)
			bits, k, err := Policy{format, 10}.Size(n)
			if err != nil {
				t.Fatal(err)
			}
			s, err := format.NewSet(bits, k)
			if err != nil || format != Nori && !bytes.Equal(s.data, want.data) { // Nori's header has bits per key, too
				t.Fatalf("NewSet(%d, %d): %v", bits, k, err)
			}
			if s.AddString("key"); !s.MayContainString("key") {
				t.Error("a key is missing")
			}
			if n, known := s.KeyCount(); n != 1 || !known {
				t.Errorf("%d keys (%v)", n, known)
			}
		}
		for _, c := range []struct {
			bits uint64
			k    int
			want error
		}{
			{0, 7, ErrShape}, {512, 0, ErrShape}, {512, -1, ErrShape}, {512, 1 << 20, ErrShape}, {math.MaxUint64, 7, ErrCapacity},
		} {
			if _, err := format.NewSet(c.bits, c.k); !errors.Is(err, c.want) {
				t.Errorf("NewSet(%d, %d): %v", c.bits, c.k, err)
			}
		}
	})
	for _, c := range []struct {
		format Format
		bits   uint64
	}{{RocksDB, 513}, {RocksDB, 520}, {Parquet, 128}, {Pebble, 513}, {LevelDB, 7}, {NoriCrate, 8<<40 + 1}} {
		if _, err := c.format.NewSet(c.bits, 8); err == nil {
			t.Errorf("%v has a filter of %d bits", c.format, c.bits)
		}
	}
	if _, err := Format(99).NewSet(64, 7); !errors.Is(err, ErrFormat) {
		t.Errorf("NewSet of no format: %v", err)
	}
}

// createBitsAndBlooms is New(m, k) of bits-and-blooms, and then Add of every key.
func createBitsAndBlooms(keys [][]byte, bitsPerKey int) []byte {
	m, k := uint64(len(keys)*max(bitsPerKey, 1)), uint64(math.Ceil(math.Ln2*float64(max(bitsPerKey, 1))))
	length := m
	m, k = max(m, 1), min(k, encoding.MaxProbesBitsAndBlooms)
	words := make([]uint64, (length+63)/64)
	for _, key := range keys {
		h := reference.Murmur3x2(key)
		for i := range k {
			b := reference.Location(h, i) % m
			words[b/64] |= 1 << (b % 64)
		}
	}
	filter := binary.BigEndian.AppendUint64(nil, m)
	filter = binary.BigEndian.AppendUint64(filter, k)
	filter = binary.BigEndian.AppendUint64(filter, length)
	for _, word := range words {
		filter = binary.BigEndian.AppendUint64(filter, word)
	}
	return filter
}
