package bloom

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/reference"
)

// vectorsLevelDB are filters that LevelDB's util/bloom.cc wrote.
var vectorsLevelDB = []vector{
	{nil, "000000000000000006"},
	{[]string{""}, "080004000200118006"},
	{[]string{"hello"}, "014000010410400006"},
	{[]string{"hello", "world"}, "114000414410401006"},
	{[]string{"\x80"}, "048008000100024006"},
}

// The next three tests are the tests of LevelDB's util/bloom_test.cc, re-expressed.

func TestLevelDBEmptyFilter(t *testing.T) {
	f := mustOpen(t, LevelDB, Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Keys{}))
	if f.MayContainString("hello") || f.MayContainString("world") {
		t.Error("the empty filter holds a key")
	}
}

func TestLevelDBSmall(t *testing.T) {
	f := mustOpen(t, LevelDB, Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Strings([]string{"hello", "world"})))
	for key, want := range map[string]bool{"hello": true, "world": true, "x": false, "foo": false} {
		if f.MayContainString(key) != want {
			t.Errorf("MayContain(%q) = %v", key, !want)
		}
	}
}

func TestLevelDBVaryingLengths(t *testing.T) {
	t.Parallel()
	nextLength := func(n int) int {
		switch {
		case n < 10:
			return n + 1
		case n < 100:
			return n + 10
		case n < 1000:
			return n + 100
		}
		return n + 1000
	}
	mediocre, good := 0, 0
	for n := 1; n <= 10000; n = nextLength(n) {
		encoded := Policy{Format: LevelDB, BitsPerKey: 10}.AppendFilter(nil, Bytes(golden.Integers.Range(0, n)))
		if len(encoded) > n*10/8+40 {
			t.Errorf("%d keys: filter of %d bytes", n, len(encoded))
		}
		f := mustOpen(t, LevelDB, encoded)
		for i := range n {
			if !f.MayContain(golden.Integers.Key(i)) {
				t.Fatalf("%d keys: key %d is missing", n, i)
			}
		}
		yes := 0
		for i := range 10000 {
			if f.MayContain(golden.Integers.Key(i + 1000000000)) {
				yes++
			}
		}
		rate := float64(yes) / 10000
		if rate > 0.02 {
			t.Errorf("%d keys: false-positive rate %.4f", n, rate)
		}
		if rate > 0.0125 {
			mediocre++
		} else {
			good++
		}
	}
	if mediocre > good/5 {
		t.Errorf("%d filters above 1.25 %%, %d below", mediocre, good)
	}
}

// oddLevelDB are filters of every last byte: every byte string is one to LevelDB.
func oddLevelDB() (odd []oddFilter) {
	add := func(is verdict, data ...byte) {
		odd = append(odd, oddFilter{fmt.Sprintf("%.8x of %d bytes", data, len(data)), data, is})
	}
	add(justFilter)
	add(justFilter, 0)
	add(justFilter, 6)
	add(justFilter, 0xff)
	for k := range 256 {
		is := filterAndSet
		if k < 1 || k > encoding.MaxProbes {
			is = justFilter
		}
		add(is, 0, byte(k))
		add(is, 0xff, byte(k))
		add(is, 0x55, 0xaa, 0xff, byte(k))
		add(is, append(bytes.Repeat([]byte{0xf7}, 100), byte(k))...)
	}
	return odd
}

// createLevelDB is BloomFilterPolicy::CreateFilter.
func createLevelDB(keys [][]byte, bitsPerKey int) []byte {
	bitsPerKey = max(bitsPerKey, 0)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), 30)
	nBytes := (max(64, len(keys)*bitsPerKey) + 7) / 8
	nBits := uint64(nBytes) * 8
	filter := make([]byte, nBytes, nBytes+1)
	for _, key := range keys {
		h := reference.Hash32(key)
		delta := h>>17 | h<<15
		for range k {
			bit := uint64(h) % nBits
			filter[bit/8] |= 1 << (bit % 8)
			h += delta
		}
	}
	return append(filter, byte(k))
}
