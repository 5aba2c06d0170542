package bloom

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/reference"
)

var vectorsGuava = []vector{
	{[]string{"hello", "world"}, "010700000001" + "8010045049043044"},
	{nil, "010700000001" + "0000000000000000"},
}

// oddGuava are filters of other sizes, and damaged ones.
var oddGuava = []oddFilter{
	{"nothing", nil, noFilter},
	{"half a header", make([]byte, 5), noFilter},
	{"a header", guava(1, 5, 0, 0), noFilter},
	{"no probes", guava(1, 0, 1, 1), noFilter},
	{"MITZ_32", guava(0, 5, 1, 1), noFilter},
	{"another strategy", guava(2, 5, 1, 1), noFilter},
	{"a negative strategy", guava(255, 5, 1, 1), noFilter},
	{"a word", guava(1, 3, 1, 1), filterAndSet},
	{"four words", guava(1, 2, 4, 4), filterAndSet},
	{"five words", guava(1, 4, 5, 5), filterAndSet},
	{"one probe", guava(1, 1, 10, 10), filterAndSet},
	{"31 probes", guava(1, 31, 10, 10), filterAndSet},
	{"most probes", guava(1, 255, 10, 10), filterAndSet},
	{"bytes after the words", append(guava(1, 5, 10, 10), "and more"...), filterAndSet},
	{"a word is missing", guava(1, 5, 10, 9), noFilter},
	{"a byte is missing", guava(1, 5, 10, 10)[:6+79], noFilter},
	{"most words", guava(1, 5, math.MaxInt32, 4), noFilter},
	{"negative words", guava(1, 5, math.MaxUint32, 4), noFilter},
	{"little-endian", guava(1, 5, 10<<24, 10), noFilter},
}

// guava returns a filter of the given words with nearly all bits set.
func guava(strategy, k byte, longs uint32, words int) []byte {
	data := binary.BigEndian.AppendUint32([]byte{strategy, k}, longs)
	return append(data, bytes.Repeat([]byte{0xff, 0xff, 0xfe, 0xff, 0xff, 0x7f, 0xff, 0xff}, words)...)
}

var testGuava = schemeTest{
	hash: schemeGuava, unit: 64, most: 1 << 62,
	bit: func(h Hash, i int, n uint64) uint64 { return (h.h1+uint64(i)*h.h2)&math.MaxInt64%n ^ 56 },
	edges: func(n uint64) (edges []Hash) {
		words := edges64(n, math.MaxInt64)
		for i, h := range words {
			step := words[len(words)-1-i]
			edges = append(edges, Hash{h1: h, h2: step | 1<<63}, Hash{h1: h | 1<<63, h2: -h})
		}
		return edges
	},
}

// TestGuavaErrors wants errors that say what is wrong with a filter.
func TestGuavaErrors(t *testing.T) {
	for want, data := range map[string][]byte{
		"5 bytes are shorter than the header":                    make([]byte, 5),
		"strategy 0, MURMUR128_MITZ_32":                          guava(0, 5, 1, 1),
		"strategy -1, which is unknown":                          guava(255, 5, 1, 1),
		"says 0 probes":                                          guava(1, 0, 1, 1),
		"says -1 words of bits":                                  guava(1, 5, math.MaxUint32, 1),
		"says 0 words of bits":                                   guava(1, 5, 0, 1),
		"says 2147483647 words of bits, but only 8 bytes follow": guava(1, 5, math.MaxInt32, 1),
		"says 2 words of bits, but only 15 bytes follow":         guava(1, 5, 2, 2)[:6+15],
	} {
		if _, err := Open(Guava, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestGuavaRate is a test of Guava itself: a million even numbers as decimal strings, at 3 %.
func TestGuavaRate(t *testing.T) {
	t.Parallel()
	s, err := Guava.NewSet(7_298_496, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2_000_000; i += 2 {
		s.AddString(strconv.Itoa(i))
	}
	passed := 0
	for i := 0; i < 2_000_000; i++ {
		if s.MayContainString(strconv.Itoa(i)) {
			passed++
		}
	}
	if stats := s.Stats(); passed != 1_000_000+29_763 || stats.Bits != 7_298_496 {
		t.Errorf("%d pass in %d bits", passed, stats.Bits)
	}
}

// createGuava does what BloomFilter.create of Guava does for the rate that needs these bits per key, and puts
// every key.
func createGuava(keys [][]byte, bitsPerKey int) []byte {
	bitsPerKey = max(bitsPerKey, 1)
	words := make([]uint64, (len(keys)*bitsPerKey+63)/64)
	if len(keys) == 0 {
		words = make([]uint64, (min(bitsPerKey, 368)+63)/64)
	}
	k := byte(min(max(math.Round(math.Ln2*float64(bitsPerKey)), 1), 255))
	for _, key := range keys {
		h1, h2 := reference.Murmur3(key)
		for i := range uint64(k) {
			b := (h1 + i*h2) << 1 >> 1 % uint64(64*len(words))
			words[b/64] |= 1 << (b % 64)
		}
	}
	filter := binary.BigEndian.AppendUint32([]byte{1, k}, uint32(len(words)))
	for _, word := range words {
		filter = binary.BigEndian.AppendUint64(filter, word)
	}
	return filter
}
