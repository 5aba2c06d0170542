package bloom

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/reference"
)

// vectorsRocksDB are filters that librocksdb 7.8.3 wrote.
var vectorsRocksDB = []vector{
	{nil, "ff00060000"},
	{[]string{"hello", "world"}, "00000001004100000000000002000002000200008000000000000000000000000000000000000000020800000000400000000000000040000000080000000000ff00060000"},
}

// oddRocksDB are filters with bytes after the lines that no policy writes. TestRocksDBReader of
// compare asks librocksdb about the same ones.
func oddRocksDB() (odd []oddFilter) {
	add := func(name string, array []byte, end string, is verdict) {
		odd = append(odd, oddFilter{name, append(bytes.Clone(array), end...), is})
	}
	line, full := bytes.Repeat([]byte{0xf7}, 64), bytes.Repeat([]byte{0xff}, 128)
	for n := range 6 {
		add("short", nil, "\xff\x00\x06\x00\x00"[:n], justFilter)
	}
	for k := range 32 {
		is := filterAndSet
		if k < 1 || k > encoding.MaxProbes {
			is = justFilter // reserved: yes to every key
		}
		for _, array := range [][]byte{line, full, slices.Concat(line, make([]byte, 64), full)} {
			add("probes", array, "\xff\x00"+string(rune(k))+"\x00\x00", is)
		}
	}
	add("an implementation that is reserved", line, "\xff\x01\x06\x00\x00", justFilter)
	add("a size of lines that is reserved", line, "\xff\x00\x26\x00\x00", justFilter)
	add("a byte that is reserved", line, "\xff\x00\x06\x01\x00", justFilter)
	add("the other byte that is reserved", line, "\xff\x00\x06\x00\x01", justFilter)
	add("yes to every key", []byte{0}, "\x00\x00\x00\x00\x00", justFilter)
	add("yes to every key, and a line", line, "\x00\x01\x00\x00\x00", justFilter)
	add("less than a line", line[:63], "\xff\x00\x06\x00\x00", noFilter)
	add("more than a line", full[:65], "\xff\x00\x06\x00\x00", noFilter)
	add("the older format", line, "\x06\x01\x00\x00\x00", noFilter)
	add("Ribbon", line, "\xfe\x00\x06\x00\x00", noFilter)
	add("an unknown marker", line, "\xfd\x00\x06\x00\x00", noFilter)
	add("the last marker", line, "\x80\x00\x06\x00\x00", noFilter)
	return odd
}

// TestOtherFilters opens RocksDB's filters of another kind. The error says which kind.
func TestOtherFilters(t *testing.T) {
	line := make([]byte, 64)
	for _, c := range []struct {
		format Format
		end    string
		want   string
	}{
		{RocksDB, "\x06\x01\x00\x00\x00", "open it as pebble"},
		{RocksDB, "\xfe\x00\x00\x00\x00", "Ribbon"},
		{RocksDB, "\xf0\x00\x00\x00\x00", "marker 0xf0"},
		{Pebble, "\xff\x00\x06\x00\x00", "open it as rocksdb"},
		{Pebble, "\xfe\x00\x00\x00\x00", "Ribbon"},
		{Pebble, "\xf0\x00\x00\x00\x00", "marker 0xf0"},
	} {
		if _, err := Open(c.format, append(line, c.end...)); !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%v, …%x): %v", c.format, c.end, err)
		}
	}
}

var testRocksDB = schemeTest{
	hash: schemeRocksDB, unit: 512, most: 512 * encoding.RocksDBMostLines,
	bit: func(h Hash, i int, n uint64) uint64 {
		h2 := uint32(h.h1 >> 32)
		for range i {
			h2 *= 0x9e3779b9
		}
		return 512*((h.h1&0xffffffff)*(n/512)>>32) + uint64(h2>>23)
	},
	edges: func(n uint64) (edges []Hash) { // around the first hashes of lines
		lines := n / 512
		for _, line := range []uint64{0, 1, lines / 2, lines - 1} {
			for d := range uint64(3) {
				lower := ((line<<32+lines-1)/lines + d - 1) & 0xffffffff
				for _, upper := range []uint64{0, 1, 1 << 31, 1<<32 - 1, 1<<23 - 1, 1 << 23} {
					edges = append(edges, Hash{h1: upper<<32 | lower})
				}
			}
		}
		return edges
	},
}

// vectorsXXPH3 are hashes by rocksdb::Hash64 of librocksdb 7.8.3: keys of every kind of
// length.
func vectorsXXPH3() []hashVector {
	vectors := []hashVector{{"68656c6c6f", 0xa0bbc238c97657b5, 0}, {"e299a5", 0x2a2502e569902509, 0}}
	for _, v := range []struct {
		n int
		h uint64
	}{
		{0, 0x5342c3010fe1dd04}, {1, 0xc913a720a2324df4}, {2, 0xb9288618c99ba934}, {3, 0xde32ac8f69f4b73c},
		{4, 0xff35613476ae9a03}, {7, 0xfacfb9b5fd4cee95}, {8, 0x947ddf8db1ca3ad8}, {9, 0x8929c606eb3a4974},
		{15, 0xc07187c4bf124afe}, {16, 0xbf4c178e47b9a16f}, {17, 0x7242eea94069ad41}, {32, 0x05f1def1546ac04f},
		{33, 0x45985dfd415434ca}, {64, 0x37bb232db8554f0b}, {65, 0x2d67ce72f3e9c074}, {96, 0xb40e7d8301c304b4},
		{97, 0x3419e13a5b2b563d}, {128, 0x974002977a889842}, {129, 0xa42357f78552e68a}, {144, 0x8b2df8a7f7a42239},
		{239, 0x2e22317080081149}, {240, 0xa3694e8ea8e74c15}, {241, 0x9f80c279d25fc9fa}, {255, 0xa6cab7e249ed0345},
		{256, 0xa1ed726098adc9b5}, {1023, 0x530c785445fa28ab}, {1024, 0x0205e48bf11a7810}, {1025, 0x4c7d7a3ba6b12c58},
		{1087, 0xbb4a79f5ab8e7a10}, {1088, 0x287eee51352538cf}, {2048, 0x45058f497a391698}, {3000, 0x04edadb222c99368},
	} {
		key := make([]byte, v.n)
		for i := range key {
			key[i] = byte(131*i + 7*(i>>8) + 1)
		}
		vectors = append(vectors, hashVector{hex.EncodeToString(key), v.h, 0})
	}
	return vectors
}

// createRocksDB is FastLocalBloomBitsBuilder. It takes keys with equal hashes, one after the other,
// as two keys; RocksDB's builder skips the second.
func createRocksDB(keys [][]byte, bitsPerKey int) []byte {
	millibits := 1000 * min(max(bitsPerKey, 1), 100)
	numProbes := 0
	switch {
	case millibits <= 2080:
		numProbes = 1
	case millibits <= 3580:
		numProbes = 2
	case millibits <= 5100:
		numProbes = 3
	case millibits <= 6640:
		numProbes = 4
	case millibits <= 8300:
		numProbes = 5
	case millibits <= 10070:
		numProbes = 6
	case millibits <= 11720:
		numProbes = 7
	case millibits <= 14001:
		numProbes = 8
	case millibits <= 16050:
		numProbes = 9
	case millibits <= 18300:
		numProbes = 10
	case millibits <= 22001:
		numProbes = 11
	case millibits <= 25501:
		numProbes = 12
	case millibits > 50000:
		numProbes = 24
	default:
		numProbes = (millibits-1)/2000 - 1
	}
	length := (uint64(len(keys))*uint64(millibits) + 7999) / 8000
	length = (min(length, 0xffffffc0) + 63) / 64 * 64
	filter := make([]byte, length, length+5)
	for _, key := range keys {
		h := reference.XXPH3(key)
		line := filter[64*(uint64(uint32(h))*(length/64)>>32):][:64]
		h2 := uint32(h >> 32)
		for range numProbes {
			bit := h2 >> (32 - 9)
			line[bit/8] |= 1 << (bit % 8)
			h2 *= 0x9e3779b9
		}
	}
	return append(filter, 0xff, 0, byte(numProbes), 0, 0)
}
