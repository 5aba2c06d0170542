package main

import (
	"runtime"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// distinct counts different keys by a hash of 64 bits, in parts by the highest bits of the hash. A format's hash
// of 32 bits would take many different keys for equal ones, and their filter would not have the size that an
// engine gives it.
type distinct [256][]uint64

// idsOf appends the hashes of keys.
func idsOf(ids []uint64, keys [][]byte) []uint64 {
	for _, key := range keys {
		ids = append(ids, xxhash.Sum64(key))
	}
	return ids
}

func (d *distinct) add(ids []uint64) {
	for _, id := range ids {
		part := &d[id>>56]
		*part = append(*part, id)
	}
}

// count returns the number of different keys, and forgets them.
func (d *distinct) count() (n int) {
	var counts [len(d)]int
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(d); i += workers {
				slices.Sort(d[i])
				counts[i], d[i] = len(slices.Compact(d[i])), nil
			}
		})
	}
	group.Wait()
	for _, count := range counts {
		n += count
	}
	return n
}
