//go:build unix

package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/guard"
)

// TestKeysAtPageEnd hashes keys of every length and alignment that end where
// an inaccessible page begins, in every layout.
func TestKeysAtPageEnd(t *testing.T) {
	const room = 130 + 16
	buffer := guard.Buffer(t, 2*room)
	copy(buffer, golden.Mixed.Key(130))
	copy(buffer[room:], golden.Mixed.Key(130))
	known := golden.Mixed.Range(0, 1000)
	eachKernel(t, Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(known)), func(t *testing.T, f *Filter) {
		for length := range 131 {
			for gap := range 16 { // moves the start and, but for gap 0, the end
				from, to := len(buffer)-length-gap, len(buffer)-gap
				key := buffer[from:to:to]
				checkFilter(t, f, [][]byte{key, key, known[length]})
				want := referenceLevelDB(f.data, key)
				for _, column := range []Keys{
					Strings([]string{unsafe.String(unsafe.SliceData(key), length)}),
					must(t)(Offsets(buffer[:to:to], []int32{int32(from), int32(to)})),
					must(t)(Offsets64(buffer[:to:to], []int64{int64(from), int64(to)})),
				} {
					checkBatch(t, f, column, []bool{want})
				}
				if length > 0 {
					checkBatch(t, f, must(t)(FixedWidth(key, length)), []bool{want})
				}
			}
		}
	})
}

// TestVectorsOfKeysAtPageEnds hashes vectors of keys of mixed lengths, each of
// which ends, or begins, at an inaccessible page of its own.
func TestVectorsOfKeysAtPageEnds(t *testing.T) {
	const rows = 37
	random := rand.New(rand.NewPCG(25, 26))
	pages := make([][]byte, rows)
	for i := range pages {
		pages[i] = guard.Buffer(t, os.Getpagesize())
		for j := range pages[i] {
			pages[i][j] = byte(random.Uint32())
		}
	}
	keys, names := make([][]byte, rows), make([]string, rows)
	for longest := range 301 {
		for i, page := range pages {
			n := random.IntN(longest + 1)
			if i%2 == 0 {
				n = max(0, longest-random.IntN(6)) // alike, with all tails
			}
			keys[i] = page[len(page)-n:]
			if random.IntN(2) == 0 {
				keys[i] = page[:n:n]
			}
			names[i] = unsafe.String(unsafe.SliceData(keys[i]), n)
		}
		checkHashes(t, Bytes(keys), keys)
		checkHashes(t, Strings(names), keys)
		column := guard.Buffer(t, 2*os.Getpagesize())
		copy(column, pages[longest%rows])
		n := min(len(column), longest*rows)
		checkOffsets(t, random, column[len(column)-n:])
		checkOffsets(t, random, column[:n])
		if longest > 0 {
			checkFixed(t, column[len(column)-n/longest*longest:], longest)
			checkFixed(t, column[:n/longest*longest], longest)
		}
	}
}

// checkOffsets divides data into keys at random.
func checkOffsets(t *testing.T, random *rand.Rand, data []byte) {
	t.Helper()
	short, long := []int32{0}, []int64{0}
	var keys [][]byte
	for from := 0; from < len(data); {
		n := min(random.IntN(2*len(data)/30+8), len(data)-from)
		keys = append(keys, data[from:from+n])
		from += n
		short, long = append(short, int32(from)), append(long, int64(from))
	}
	checkHashes(t, must(t)(Offsets(data, short)), keys)
	checkHashes(t, must(t)(Offsets64(data, long)), keys)
}

func checkFixed(t *testing.T, data []byte, width int) {
	t.Helper()
	var keys [][]byte
	for i := 0; i < len(data); i += width {
		keys = append(keys, data[i:i+width])
	}
	checkHashes(t, must(t)(FixedWidth(data, width)), keys)
}

// TestColumnsAtPageEnd reads columns of fixed width that end where an
// inaccessible page begins, or a few bytes before, and so start anywhere.
func TestColumnsAtPageEnd(t *testing.T) {
	const rows = 200
	buffer := guard.Buffer(t, 8*rows+8)
	copy(buffer, golden.Mixed.Key(8*rows))
	encoded := Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(golden.Integers.Range(0, 1000)))
	eachKernel(t, encoded, func(t *testing.T, f *Filter) {
		for n := range rows {
			for _, width := range []int{4, 8} {
				gap := n % 8
				data := buffer[len(buffer)-gap-n*width:][: n*width : n*width]
				want := make([]bool, n)
				for i := range want {
					want[i] = referenceLevelDB(f.data, data[i*width:(i+1)*width])
				}
				checkBatch(t, f, must(t)(FixedWidth(data, width)), want)
			}
			end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(buffer)), len(buffer))
			for _, column := range []Keys{
				Uint32s(unsafe.Slice((*uint32)(unsafe.Add(end, -4*n)), n)),
				Uint64s(unsafe.Slice((*uint64)(unsafe.Add(end, -8*n)), n)),
				Hashes32(unsafe.Slice((*uint32)(unsafe.Add(end, -4*n)), n)),
			} {
				f.MayContainBatch(column, make([]uint64, 4))
			}
		}
	})
}

// TestFiltersAtPageEnd probes filters of every size and alignment that end
// where an inaccessible page begins and are themselves read-only.
func TestFiltersAtPageEnd(t *testing.T) {
	keys := golden.Mixed.Range(0, 300)
	page := os.Getpagesize()
	for size := 1; size <= 200; size++ {
		buffer := guard.Buffer(t, page)
		encoded := buffer[page-size-1:]
		copy(encoded, referenceCreateLevelDB(keys[:200], 10))
		encoded[size] = byte(size % 33)
		guard.ReadOnly(t, buffer)
		eachKernel(t, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
	}
	for size := 1; size <= 200; size++ {
		for _, format := range []Format{Nori, NoriCrate} {
			buffer := guard.Buffer(t, page)
			header := header(format, 8*uint64(size)-uint64(size%8), uint32(1+size%30))
			encoded := buffer[page-size-len(header):]
			copy(encoded[copy(encoded, header):], golden.Mixed.Key(130))
			guard.ReadOnly(t, buffer)
			eachKernelOf(t, format, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
		}
	}
}

// TestBuildAtPageEnd sets bits of filters of every size that end where an
// inaccessible page begins.
func TestBuildAtPageEnd(t *testing.T) {
	keys := make([]uint64, 100)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	for size := 1; size <= 70; size++ {
		want := addOneByOne(size, 6, keys)
		eachFastest(t, func(t *testing.T) {
			buffer := guard.Buffer(t, size)
			scheme{double32: newDouble32(buffer, 6)}.addDirectly(Uint64s(keys))
			if !bytes.Equal(buffer, want) {
				t.Fatalf("%d bytes: wrong bits", size)
			}
		})
	}
}

// TestHugeFilters probes filters around 2^32 bits, past which a hash does not
// reach: there the ports of LevelDB to Go divide by zero. At the last size the
// reciprocal of the whole length would give a wrong index for large hashes.
func TestHugeFilters(t *testing.T) {
	const reach = 1 << 29 // bytes
	const inexact = 3<<28 - 6
	buffer := guard.Buffer(t, inexact+1)
	keys := golden.Decimals.Range(0, 1500)
	for h := range uint32(1500) {
		keys = append(keys, binary.LittleEndian.AppendUint32(nil, keyOf(math.MaxUint32-h)))
	}
	for _, size := range []int{reach - 1, reach, reach + 1, inexact} {
		t.Run(fmt.Sprintf("bytes=%d", size), func(t *testing.T) {
			encoded := buffer[:size+1]
			encoded[size] = 6
			eachBit := func(set func(b *byte, mask byte)) {
				for i := 0; i < len(keys); i += 2 {
					h := referenceHash32(keys[i])
					delta := h>>17 | h<<15
					for range 6 {
						bit := uint64(h) % (8 * uint64(size))
						set(&encoded[bit/8], 1<<(bit%8))
						h += delta
					}
				}
			}
			eachBit(func(b *byte, mask byte) { *b |= mask })
			defer eachBit(func(b *byte, _ byte) { *b = 0 })
			defer func() { encoded[size] = 0 }()
			eachKernel(t, encoded, func(t *testing.T, f *Filter) {
				for i := 0; i < len(keys); i += 2 {
					if !f.MayContain(keys[i]) {
						t.Fatalf("key %d is missing", i)
					}
				}
				checkFilter(t, f, keys)
			})
		})
	}
}
