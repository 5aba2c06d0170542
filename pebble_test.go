package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/lanebloom/bloom/internal/reference"
)

// vectorsPebble are filters that Pebble and librocksdb 7.8.3 both wrote, except that the latter
// wrote 0600000000 for no keys.
var vectorsPebble = []vector{
	{nil, "0000000000"},
	{[]string{"hello", "world"}, "000000010000000000400040000000001000000000000000000000000000001000000000040000000100000000004000000000000010000001000000440000000601000000"},
}

// oddPebble are filters with numbers of probes and of lines that no policy writes.
func oddPebble() (odd []oddFilter) {
	add := func(name string, array []byte, k byte, lines uint32, is verdict) {
		odd = append(odd, oddFilter{name, binary.LittleEndian.AppendUint32(append(bytes.Clone(array), k), lines), is})
	}
	for n := range 5 {
		odd = append(odd, oddFilter{"short", make([]byte, n), justFilter})
	}
	add("no lines, as RocksDB writes it", nil, 6, 0, justFilter)
	add("no lines, and a number of them", nil, 6, 1, justFilter)
	lines := bytes.Repeat([]byte{0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff}, 77)[:768]
	for _, k := range []byte{1, 2, 6, 29, 30, 31, 64, 126, 127} {
		for i, line := range []int{64, 128, 256} {
			add(fmt.Sprintf("%d probes in lines of %d bytes", k, line), lines, k, uint32(768/line), filterAndSet)
			add(fmt.Sprintf("%d probes in a line of %d bytes", k, line), lines[:line], k, 1, filterAndSet)
			if i > 0 {
				add("no whole line", lines[:line], k, 3, noFilter)
			}
		}
	}
	add("no probes", lines, 0, 12, justFilter)
	add("no probes and no whole line", lines[:65], 0, 1, justFilter)
	add("no probes and less than a line", lines[:8], 0, 1, justFilter)
	add("bits, but no lines", lines, 6, 0, noFilter)
	add("lines of 32 bytes", lines, 6, 24, noFilter)
	add("lines of 512 bytes", lines[:512], 6, 1, noFilter)
	add("one byte too many", lines[:65], 6, 1, noFilter)
	add("one byte too few", lines[:63], 6, 1, noFilter)
	add("4 billion lines", lines, 6, math.MaxUint32, noFilter)
	add("FastLocalBloom", lines, 0xff, 0x0600, noFilter)
	add("Ribbon", lines, 0xfe, 12, noFilter)
	add("an unknown marker", lines, 0x80, 12, noFilter)
	return odd
}

var testPebble = schemeTest{
	hash: schemePebble, unit: 512, most: 512 * math.MaxUint32,
	bit: func(h Hash, i int, n uint64) uint64 {
		h32 := uint32(h.h1)
		return 512*(uint64(h32)%(n/512)) + uint64(h32+uint32(i)*(h32>>17|h32<<15))%512
	},
	edges: func(n uint64) (edges []Hash) {
		for _, h := range edges64(n/512, math.MaxUint32) {
			edges = append(edges, Hash{h1: h & math.MaxUint32})
		}
		return edges
	},
}

// TestRateOfLines measures rates of numbers of lines with which many sets of bits in a line are the same.
func TestRateOfLines(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{4097, 8193, 10083, 10085} {
		n := lines * 512 / 20
		p := Policy{Pebble, 20}
		expected, measured := p.FalsePositiveRate(n), measureRate(p, n, 1<<19)
		noise := 4 / math.Sqrt(expected*(1<<19))
		if ratio := measured / expected; ratio < 0.95-noise || ratio > 1.05+noise {
			t.Errorf("%d lines: measured %.5f is %.3f times what is expected", lines, measured, ratio)
		}
	}
}

// TestMergeOfLines merges sets of as many bits and probes, but in lines of other lengths.
func TestMergeOfLines(t *testing.T) {
	long, short := make([]byte, 1024+5), make([]byte, 1024+5)
	long[1024], long[1025] = 6, 8
	short[1024], short[1025] = 6, 16
	to, err := OpenSet(Pebble, long)
	if err != nil {
		t.Fatal(err)
	}
	from, err := OpenSet(Pebble, short)
	if err != nil {
		t.Fatal(err)
	}
	from.AddString("hello")
	if err := to.Merge(from); err == nil {
		t.Error("no error")
	}
	to.AddString("hello")
	same, _ := OpenSet(Pebble, long)
	if err := same.Merge(to); err != nil || !same.MayContainString("hello") {
		t.Errorf("Merge of sets with equal lines: %v", err)
	}
}

// createPebble is tableFilterWriter.Finish of Pebble. It takes keys with equal hashes, one after the
// other, as two keys; Pebble's writer skips the second.
func createPebble(keys [][]byte, bitsPerKey int) []byte {
	bitsPerKey = max(bitsPerKey, 1)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), 30)
	lines := (len(keys)*bitsPerKey + 511) / 512
	if lines == 0 {
		return make([]byte, 5)
	}
	if lines%2 == 0 {
		lines++
	}
	filter := make([]byte, 64*lines, 64*lines+5)
	for _, key := range keys {
		h := reference.SignedHash32(key)
		delta := h>>17 | h<<15
		line := filter[64*uint64(h%uint32(lines)):][:64]
		for range k {
			bit := h % 512
			line[bit/8] |= 1 << (bit % 8)
			h += delta
		}
	}
	return binary.LittleEndian.AppendUint32(append(filter, byte(k)), uint32(lines))
}
