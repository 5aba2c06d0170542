//go:build unix

package bloom

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/guard"
)

// TestKernelFewKeys tests and adds columns of every number of keys up to two vectors, the last of which kernels fill up, in all
// layouts. Each key ends, or begins, at an inaccessible page, or is longer than kernels hash; null rows may lie there.
func TestKernelFewKeys(t *testing.T) {
	t.Parallel()
	const most = 2*vectorKeys + 1
	random := rand.New(rand.NewPCG(81, 82))
	pages := make([][]byte, most)
	for i := range pages {
		pages[i] = guard.Buffer(t, os.Getpagesize())
		for j := range pages[i] {
			pages[i][j] = byte(random.Uint32())
		}
	}
	long := bytes.Repeat([]byte("long"), longKey/4+5)
	integers := guard.Buffer(t, 8*most)
	for n := 1; n <= most; n++ {
		for range 2 * oneOf(2, 1) {
			keys := fewKeys(random, pages[:n], long)
			words := elementsAtEnd[uint64](integers, n)
			texts, numbers := make([]string, n), make([][]byte, n)
			for i, key := range keys {
				texts[i] = unsafe.String(unsafe.SliceData(key), len(key))
				words[i] = random.Uint64N(2 * most) // some are equal
				numbers[i] = binary.LittleEndian.AppendUint64(nil, words[i])
			}
			checkFewKeys(t, random, keys, Strings(texts), Bytes(keys), viewsApart(t, keys))
			checkFewKeys(t, random, numbers, Integers(words), must(t)(FixedWidth(integers[len(integers)-8*n:], 8)))
		}
	}
}

// fewKeys returns a key of each page, of up to 40 bytes or now and then of up to a page, and seldom a long one.
func fewKeys(random *rand.Rand, pages [][]byte, long []byte) [][]byte {
	keys := make([][]byte, len(pages))
	for i, page := range pages {
		n := random.IntN(41)
		switch random.IntN(40) {
		case 0:
			n = random.IntN(len(page) + 1)
		case 1:
			keys[i] = long[random.IntN(8):]
			continue
		}
		keys[i] = page[len(page)-n:]
		if random.IntN(2) == 0 {
			keys[i] = page[:n:n]
		}
		if i > 0 && random.IntN(8) == 0 {
			keys[i] = keys[i-1]
		}
	}
	return keys
}

// checkFewKeys compares what each kernel finds and adds of columns of the same keys, whole and with null rows, with the reference.
func checkFewKeys(t *testing.T, random *rand.Rand, keys [][]byte, columns ...Keys) {
	t.Helper()
	bitmap, valid := randomNulls(random, 5, len(keys))
	for f := range Format(len(formats)) {
		encoded := create(f, keys[:len(keys)/2], 10)
		want, wantNulls := make([]bool, len(keys)), make([]bool, len(keys))
		for i, key := range keys {
			want[i] = Reference(f, encoded, key)
			wantNulls[i] = want[i] && valid[i]
		}
		for _, kernel := range proven() {
			filter := onKernel(t, mustOpen(t, f, encoded), kernel)
			for _, column := range columns {
				nulls := must(t)(column.WithValidity(bitmap, 5))
				checkBatch(t, filter, column, want)
				checkBatch(t, filter, nulls, wantNulls)
				checkFewAdds(t, f, kernel, keys, nil, column)
				checkFewAdds(t, f, kernel, keys, valid, nulls)
			}
		}
	}
}

// checkFewAdds adds the first keys of a column and then all, and wants the bits and the answers of the reference. A nil valid is
// no bitmap.
func checkFewAdds(t *testing.T, f Format, kernel Kernel, keys [][]byte, valid []bool, column Keys) {
	t.Helper()
	added, found := mustSet(t, Policy{f, 10}, 30), mustSet(t, Policy{f, 10}, 30)
	added.setKernel(kernel)
	found.setKernel(kernel)
	plain := bytes.Clone(added.data)
	hits, want := []uint64{^uint64(0)}, uint64(0)
	for i, key := range keys {
		if valid == nil || valid[i] {
			if Reference(f, plain, key) {
				want |= 1 << i
			}
			addByReference(t, f, plain, key)
		}
	}
	added.AddBatch(column)
	if found.TestAndAddBatch(column, hits); hits[0] != want {
		t.Fatalf("%v, kernel %v, layout %d: TestAndAddBatch of %d keys: %x, want %x", f, kernel, column.layout, len(keys), hits, want)
	}
	if !slices.Equal(added.data, plain) || !slices.Equal(found.data, plain) {
		t.Fatalf("%v, kernel %v, layout %d: %d keys: other bits", f, kernel, column.layout, len(keys))
	}
}
