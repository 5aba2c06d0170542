package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

// loki has a filter for the values of a column in each row of an index. A query asks all rows for one value.
func (c *comparison) loki() error {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct{ values, rows int }{{100, 4096}, {1000, 1024}, {10_000, 256}, {100_000, 64}} {
		rows := make([][]byte, shape.rows)
		for row := range rows {
			n := c.size(shape.values + row%64*shape.values/500) // the sizes differ a little, as cardinalities do
			filter := bitsbloom.NewWithEstimates(uint(n), 1.0/128)
			for i := range n {
				filter.AddString(fmt.Sprintf("pod-%d-%d", row, i))
			}
			rows[row], _ = filter.MarshalBinary() // to memory
		}
		values := make([]string, c.rounds+1)
		for i := range values {
			values[i] = fmt.Sprintf("pod-%x", random.Uint64())
		}
		for _, warm := range []bool{true, false} { // is all that the answers need in the caches, or only what other values need?
			what := "Loki, rows of " + kilobytes(len(rows[0]))
			if warm {
				what += ", in the caches"
			}
			err := c.compare(what, len(rows), warm,
				func(round int) int { return lokiBefore(rows, values[round]) },
				func(round int) int { return lokiAfter(rows, values[round]) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func kilobytes(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%s KB", race.Digits(float64(n)/1000))
}

// tempo has blocks, and objects of 100 KiB for the filter of each. A query asks all blocks for one trace.
func (c *comparison) tempo() error {
	const blocks, shards, shardBytes, rate = 32, 3, 100 << 10, 0.01
	random := rand.New(rand.NewPCG(3, 4))
	stored := make([]block, blocks)
	for i := range stored {
		traces := c.size(shards * shardBytes * 8 / 10)
		_, k := bitsbloom.EstimateParameters(uint(traces), rate)
		filters := make([]*bitsbloom.BloomFilter, shards)
		for shard := range filters {
			filters[shard] = bitsbloom.New(shardBytes*8, k)
		}
		for range traces {
			id := newID(random)
			filters[shardOf(id, shards)].Add(id)
		}
		for _, filter := range filters {
			object, _ := filter.MarshalBinary() // to memory
			stored[i] = append(stored[i], object)
		}
	}
	ids := make([][]byte, c.rounds+1)
	for i := range ids {
		ids[i] = newID(random)
	}
	ask := func(check func(block, []byte) (bool, error)) func(round int) int {
		return func(round int) (found int) {
			for _, block := range stored {
				yes, err := check(block, ids[round])
				if err != nil {
					panic(err) // the filters are whole
				}
				found += oneIf(yes)
			}
			return found
		}
	}
	return c.compare("Tempo, objects of 100 KiB", blocks, false, ask(tempoBefore), ask(tempoAfter))
}

// weaviate has a file with the filter of each segment. It opens all at the start, and asks all for a key.
func (c *comparison) weaviate() error {
	const segments, rate, asked = 16, 0.001, 4096
	keys := c.size(100_000)
	folder, err := os.MkdirTemp("", "bitsandblooms")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	random := rand.New(rand.NewPCG(5, 6))
	paths := make([]string, segments)
	for i := range paths {
		filter := bitsbloom.NewWithEstimates(uint(keys), rate)
		for range keys {
			filter.Add(newID(random))
		}
		encoded, _ := filter.MarshalBinary() // to memory
		paths[i] = filepath.Join(folder, fmt.Sprintf("segment-%d.bloom", i))
		data := append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(encoded)), encoded...)
		if err := os.WriteFile(paths[i], data, 0o600); err != nil {
			return err
		}
	}
	before := make([]*bitsbloom.BloomFilter, segments)
	after := make([]*bloom.Filter, segments)
	open := func(open func(i int) error) func(int) int {
		return func(int) int {
			for i := range paths {
				if err := open(i); err != nil {
					panic(err) // the files are whole
				}
			}
			return 0
		}
	}
	err = c.compare("Weaviate, a segment opened", segments, false,
		open(func(i int) (err error) { before[i], err = weaviateBefore(paths[i]); return err }),
		open(func(i int) (err error) { after[i], err = weaviateAfter(paths[i]); return err }))
	if err != nil {
		return err
	}
	group, err := bloom.NewGroup(after)
	if err != nil {
		return err
	}
	known := make([][]byte, asked)
	for i := range known {
		known[i] = newID(random)
	}
	hits := make([]uint64, 1)
	return c.compare("Weaviate, a key in 16 segments", asked, false,
		func(int) (found int) {
			for _, key := range known {
				found += segmentsBefore(before, key)
			}
			return found
		},
		func(int) (found int) {
			for _, key := range known {
				found += segmentsAfter(group, key, hits)
			}
			return found
		})
}

// spice has a filter of 120 bytes in each request, in which every dispatch records a key.
func (c *comparison) spice() error {
	const dispatches = 4096
	random := rand.New(rand.NewPCG(7, 8))
	filter := bitsbloom.NewWithEstimates(50, 0.001)
	for i := range 10 {
		filter.AddString(fmt.Sprint("resource:", i, "#relation@subject"))
	}
	traversal, _ := filter.MarshalBinary() // to memory
	keys := make([]string, dispatches)
	for i := range keys {
		keys[i] = fmt.Sprintf("document:%d#viewer@user:%d", random.IntN(1e6), random.IntN(1e4))
	}
	dispatch := func(record func([]byte, string) (bool, []byte, error)) func(int) int {
		return func(int) (sum int) {
			for _, key := range keys {
				loop, next, err := record(traversal, key)
				if err != nil {
					panic(err) // the filter is whole
				}
				sum += oneIf(loop) + int(next[30]) + int(next[100])
			}
			return sum
		}
	}
	return c.compare(fmt.Sprintf("SpiceDB, a dispatch with %d B", len(traversal)), dispatches, false, dispatch(spiceBefore), dispatch(spiceAfter))
}

// newID returns 16 random bytes.
func newID(random *rand.Rand) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, random.Uint64()), random.Uint64())
}
