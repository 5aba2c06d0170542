//go:build unix && !purego

package bloom

import (
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/guard"
)

// TestKernelNearLengthsAtPageEnds hashes vectors of keys whose lengths lie near each other, for the code that
// NEON has for 8 to 32 bytes, and beside its limits. Each key of the headers ends, or begins, at its own
// inaccessible page, and so do all keys between offsets. One key of each second column has 64 KiB.
func TestKernelNearLengthsAtPageEnds(t *testing.T) {
	const rows, far = 72, 64 << 10
	random := rand.New(rand.NewPCG(71, 72))
	pages := make([][]byte, rows)
	for i := range pages {
		pages[i] = guard.Buffer(t, os.Getpagesize())
		for j := range pages[i] {
			pages[i][j] = byte(random.Uint32())
		}
	}
	column := guard.Buffer(t, rows*40+far)
	for i := range column {
		column[i] = byte(random.Uint32())
	}
	for _, lengths := range [][2]int{{0, 3}, {0, 7}, {0, 12}, {4, 8}, {7, 32}, {8, 8}, {8, 15}, {8, 16}, {8, 23}, {8, 24}, {8, 31}, {8, 32}, {8, 33}, {15, 17}, {16, 16}, {16, 32}, {24, 32}, {31, 33}, {32, 32}, {36, 36}} {
		for round := range 8 {
			keys, names := make([][]byte, rows), make([]string, rows)
			size := 0
			for i, page := range pages {
				n := lengths[0] + random.IntN(lengths[1]-lengths[0]+1)
				keys[i] = page[len(page)-n:]
				if random.IntN(2) == 0 {
					keys[i] = page[:n:n]
				}
				if i == 8*(round/2)+3 && round%2 == 1 {
					keys[i] = column[len(column)-far:]
				}
				size += len(keys[i])
				names[i] = unsafe.String(unsafe.SliceData(keys[i]), len(keys[i]))
			}
			checkEachHash(t, keys, Bytes(keys), Strings(names), viewsApart(t, keys))
			for _, data := range [][]byte{column[:size:size], column[len(column)-size:]} {
				parts, short, long := make([][]byte, rows), []int32{0}, []int64{0}
				for i, key := range keys {
					from := int(long[i])
					parts[i] = data[from : from+len(key)]
					short, long = append(short, int32(from+len(key))), append(long, int64(from+len(key)))
				}
				checkEachHash(t, parts, must(t)(Offsets(data, short)), must(t)(Offsets(data, long)))
			}
		}
	}
}
