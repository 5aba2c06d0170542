package main

import (
	"fmt"
	"math/rand/v2"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
)

// kind is keys of some lengths, and the floors for them.
type kind struct {
	name              string
	shortest, longest int

	oneAbsent, onePresent float64                     // a test of one key
	column                map[bloom.Kernel][2]float64 // of a column: absent, present
	oneAdded              float64
	columnAdded           map[bloom.Kernel]float64
}

var kinds = []kind{
	{"16 bytes", 16, 16, 2.2, 1.5, short, 1.5, map[bloom.Kernel]float64{bloom.AVX512: 6, bloom.Generic: 1.6}},
	{"8 bytes", 8, 8, 2.2, 1.5, short, 1.5, added},
	{"8 to 32 bytes", 8, 32, 1.5, 1.5, map[bloom.Kernel][2]float64{bloom.AVX512: {4.5, 4.5}, bloom.Generic: {1.6, 1.6}}, 1.5, added},
	{"36 bytes", 36, 36, 1.35, 1.35, map[bloom.Kernel][2]float64{bloom.AVX512: {3.8, 3.8}, bloom.Generic: {1.4, 1.4}}, 1.5, added},
}

var (
	short = map[bloom.Kernel][2]float64{bloom.AVX512: {9, 6}, bloom.AVX2: {3.8, 3.8}, bloom.Generic: {3.3, 1.9}}
	added = map[bloom.Kernel]float64{bloom.AVX512: 3.5, bloom.Generic: 1.6}
)

var sizes = []int{10_000, 1_000_000}

// random returns n random keys, one after the other in memory.
func (k kind) random(random *rand.Rand, n int) [][]byte {
	keys, data := make([][]byte, n), make([]byte, 0, n*k.longest+8)
	for i := range keys {
		from := len(data)
		to := from + k.shortest + random.IntN(k.longest-k.shortest+1)
		for len(data) < to {
			data = append(data, byte(random.Uint32()))
		}
		keys[i] = data[from:to:to]
	}
	return keys
}

const asked, window = 1 << 17, 1 << 14 // keys to ask for, and those of a round

// keys prints what a test of a key takes, in a filter that bits-and-blooms has decoded and in one that this library has
// opened.
func keys(t *table) error {
	t.head("keys; in the filter; asked; way", "bits-and-blooms", "here", "times as fast", "least times", "floor")
	for _, kind := range kinds {
		for _, n := range sizes {
			n = t.size(n)
			random := rand.New(rand.NewPCG(9, uint64(n)))
			known := kind.random(random, n)
			theirs := bitsbloom.NewWithEstimates(uint(n), 0.01)
			for _, key := range known {
				theirs.Add(key)
			}
			encoded, _ := theirs.MarshalBinary() // to memory
			filter, err := bloom.Open(bloom.BitsAndBlooms, encoded)
			if err != nil {
				return err
			}
			present := make([][]byte, asked)
			for i, at := range random.Perm(max(n, asked))[:asked] {
				present[i] = known[at%n]
			}
			for which, pool := range [][][]byte{kind.random(random, asked), together(present)} {
				name := fmt.Sprintf("%s; %d; %s; ", kind.name, n, [2]string{"absent", "present"}[which])
				if err := test(t, name, which, kind, theirs, filter, pool); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// together returns copies of the keys, one after the other in memory.
func together(keys [][]byte) [][]byte {
	var data []byte
	for _, key := range keys {
		data = append(data, key...)
	}
	copies := make([][]byte, len(keys))
	for i, key := range keys {
		copies[i], data = data[:len(key):len(key)], data[len(key):]
	}
	return copies
}

// column returns keys that lie one after the other in memory as a column.
func (k kind) columnOf(keys [][]byte) (bloom.Keys, error) {
	var data []byte
	offsets := []int32{0}
	for _, key := range keys {
		data = append(data, key...)
		offsets = append(offsets, int32(len(data)))
	}
	if k.shortest == k.longest {
		return bloom.FixedWidth(data, k.longest)
	}
	return bloom.Offsets(data, offsets)
}

// test prints the rows of one filter and one pool of keys.
func test(t *table, name string, which int, kind kind, theirs *bitsbloom.BloomFilter, filter *bloom.Filter, pool [][]byte) error {
	at := func(round int) int { return round * window % len(pool) }
	ways := []*way{
		{name: "bits-and-blooms", run: func(round int) (passed int) {
			for _, key := range pool[at(round):][:window] {
				passed += count(theirs.Test(key))
			}
			return passed
		}},
		{name: "one key", floor: [2]float64{kind.oneAbsent, kind.onePresent}[which], run: func(round int) (passed int) {
			for _, key := range pool[at(round):][:window] {
				passed += count(filter.MayContain(key))
			}
			return passed
		}},
	}
	column, err := kind.columnOf(pool)
	if err != nil {
		return err
	}
	hits := make([]uint64, window/64)
	for _, kernel := range bloom.Kernels() {
		view, err := filter.WithKernel(kernel)
		if err != nil {
			return err
		}
		ways = append(ways, &way{name: "column, " + kernel.String(), floor: kind.column[kernel][which], run: func(round int) int {
			return view.MayContainBatch(column.Slice(at(round), at(round)+window), hits)
		}})
	}
	if err := race(t.rounds, window, ways); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, w := range ways[1:] {
		t.row(name+w.name, ways[0], w)
	}
	return nil
}

// adds prints what it takes to add a key.
func adds(t *table) error {
	t.head("keys; number; way", "bits-and-blooms", "here", "times as fast", "least times", "floor")
	for _, kind := range kinds {
		for _, n := range sizes {
			n = t.size(n)
			random := rand.New(rand.NewPCG(10, uint64(n)))
			known := kind.random(random, n)
			column, err := kind.columnOf(known)
			if err != nil {
				return err
			}
			theirs := bitsbloom.NewWithEstimates(uint(n), 0.01)
			encoded, _ := theirs.MarshalBinary() // to memory
			set, err := bloom.OpenSet(bloom.BitsAndBlooms, encoded)
			if err != nil {
				return err
			}
			ways := []*way{
				{name: "bits-and-blooms", ready: func() { theirs.ClearAll() }, run: func(int) int {
					for _, key := range known {
						theirs.Add(key)
					}
					return 0
				}},
				{name: "one key", floor: kind.oneAdded, ready: set.Clear, run: func(int) int {
					for _, key := range known {
						set.Add(key)
					}
					return 0
				}},
			}
			for _, kernel := range bloom.Kernels() {
				view, err := set.WithKernel(kernel)
				if err != nil {
					return err
				}
				ways = append(ways, &way{name: "column, " + kernel.String(), floor: kind.columnAdded[kernel], ready: set.Clear, run: func(int) int {
					view.AddBatch(column)
					return 0
				}})
			}
			if err := race(t.rounds/5+1, n, ways); err != nil {
				return err
			}
			if encoded, _ = theirs.MarshalBinary(); string(encoded) != string(set.Bytes()) {
				return fmt.Errorf("%s: the filters of %d keys differ", kind.name, n)
			}
			for _, w := range ways[1:] {
				t.row(fmt.Sprintf("%s; %d; %s", kind.name, n, w.name), ways[0], w)
			}
		}
	}
	return nil
}
