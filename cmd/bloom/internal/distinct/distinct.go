// Package distinct counts different keys.
package distinct

import (
	"hash/maphash"
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// Keys counts different keys by a hash of 64 bits, in parts by the highest bits of the hash. A format's hash
// of 32 bits would take many different keys for equal ones, and their filter would not have the size that an
// engine gives it.
type Keys [256][]uint64

// seed is another one in each process: nobody can choose keys whose hashes meet in one place of a table.
var seed = maphash.MakeSeed()

// IDs appends the hashes of keys.
func IDs(ids []uint64, keys [][]byte) []uint64 {
	for _, key := range keys {
		ids = append(ids, maphash.Bytes(seed, key))
	}
	return ids
}

// Add adds the hashes of keys.
func (d *Keys) Add(ids []uint64) {
	for _, id := range ids {
		part := &d[id>>56]
		*part = append(*part, id)
	}
}

// Count returns the number of different keys, and forgets them.
func (d *Keys) Count() (n int) {
	var counts [len(d)]int
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			var table []uint64
			for i := worker; i < len(d); i += workers {
				table = slices.Grow(table[:0], tableFor(len(d[i])))[:tableFor(len(d[i]))]
				counts[i], d[i] = countIn(table, d[i]), nil
			}
		})
	}
	group.Wait()
	for _, count := range counts {
		n += count
	}
	return n
}

// tableFor returns the size of a table of n hashes of one part: a power of two. Half of it stays free.
func tableFor(n int) int { return 2 << bits.Len(uint(n)) }

// countIn counts different hashes in a table with linear probing: the bits below those of the part say where one
// belongs. A part fits a cache: that takes less time than sorting.
func countIn(table, ids []uint64) (n int) {
	clear(table)
	shift, zero := 64-bits.TrailingZeros(uint(len(table))), 0
	for _, id := range ids {
		if id == 0 { // a free place
			zero = 1
			continue
		}
		place := id << 8 >> shift
		for table[place] != 0 && table[place] != id {
			place = (place + 1) & uint64(len(table)-1)
		}
		if table[place] == 0 {
			table[place] = id
			n++
		}
	}
	return n + zero
}
