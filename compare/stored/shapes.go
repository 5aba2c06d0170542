package main

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
)

// programs prints what the programs take for a filter before and after.
func programs(t *table) error {
	t.head("", "before", "after", "times as fast", "least times", "floor", "allocations", "lines changed")
	for _, shape := range []func(*table) error{loki, tempo, weaviate, spice} {
		if err := shape(t); err != nil {
			return err
		}
	}
	return nil
}

// program prints a row of a program: what both do for so many filters a round, and the lines of source that the name
// tells.
func (t *table) program(what, source string, operations int, before, after *way) error {
	before.name, after.name = what+", before", what+", after"
	if err := race(t.rounds, operations, []*way{before, after}); err != nil {
		return err
	}
	allocations := func(w *way) string {
		return fmt.Sprintf("%.3g", testing.AllocsPerRun(10, func() { w.run(0) })/float64(operations))
	}
	t.row(what, before, after, allocations(before)+" → "+allocations(after), fmt.Sprint(changed(source)))
	return nil
}

//go:embed programs.go
var source string

// changed returns how many lines a function of programs.go whose name ends in After has, and its counterpart has not.
func changed(name string) (lines int) {
	body := func(name string) []string {
		_, text, _ := strings.Cut(source, "\nfunc "+name+"(")
		text, _, _ = strings.Cut(text, "\n}\n")
		return strings.Split(text, "\n")[1:]
	}
	before := body(name + "Before")
	for _, line := range body(name + "After") {
		if !slices.Contains(before, line) {
			lines++
		}
	}
	return lines
}

// count returns 1 for a yes.
func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// loki has a filter for the values of a column in each row of an index. A query asks all rows for one value.
func loki(t *table) error {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct {
		values, rows int
		floor        float64
	}{{100, 4096, 30}, {1000, 1024, 50}, {10_000, 256, 200}, {100_000, 64, 1000}} {
		rows := make([][]byte, shape.rows)
		for row := range rows {
			n := t.size(shape.values + row%64*shape.values/500) // the sizes differ a little, as cardinalities do
			filter := bitsbloom.NewWithEstimates(uint(n), 1.0/128)
			for i := range n {
				filter.AddString(fmt.Sprintf("pod-%d-%d", row, i))
			}
			rows[row], _ = filter.MarshalBinary() // to memory
		}
		values := make([]string, t.rounds+1)
		for i := range values {
			values[i] = fmt.Sprintf("pod-%x", random.Uint64())
		}
		for _, warm := range []bool{true, false} { // is all that the answers need in the caches, or only what other values need?
			what, floor := "Loki, rows of "+kilobytes(len(rows[0])), 0.0
			if warm {
				what, floor = what+", in the caches", shape.floor
			}
			err := t.program(what, "loki", len(rows),
				&way{run: func(round int) int { return lokiBefore(rows, values[round]) }, warm: warm},
				&way{run: func(round int) int { return lokiAfter(rows, values[round]) }, warm: warm, floor: floor})
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
	return fmt.Sprintf("%s KB", digits(float64(n)/1000))
}

// tempo has blocks, and objects of 100 KiB for the filter of each. A query asks all blocks for one trace.
func tempo(t *table) error {
	const blocks, shards, shardBytes, rate = 32, 3, 100 << 10, 0.01
	random := rand.New(rand.NewPCG(3, 4))
	stored := make([]block, blocks)
	for i := range stored {
		traces := t.size(shards * shardBytes * 8 / 10)
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
	ids := make([][]byte, t.rounds+1)
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
				found += count(yes)
			}
			return found
		}
	}
	return t.program("Tempo, objects of 100 KiB", "tempo", blocks, &way{run: ask(tempoBefore)}, &way{run: ask(tempoAfter)})
}

// weaviate has a file with the filter of each segment. It opens all at the start, and asks all for a key.
func weaviate(t *table) error {
	const segments, rate, asked = 16, 0.001, 4096
	keys := t.size(100_000)
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
	err = t.program("Weaviate, a segment opened", "weaviate", segments,
		&way{run: open(func(i int) (err error) { before[i], err = weaviateBefore(paths[i]); return err })},
		&way{run: open(func(i int) (err error) { after[i], err = weaviateAfter(paths[i]); return err })})
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
	return t.program("Weaviate, a key in 16 segments", "segments", asked,
		&way{run: func(int) (found int) {
			for _, key := range known {
				found += segmentsBefore(before, key)
			}
			return found
		}},
		&way{run: func(int) (found int) {
			for _, key := range known {
				found += segmentsAfter(group, key, hits)
			}
			return found
		}})
}

// spice has a filter of 120 bytes in each request, in which every dispatch records a key.
func spice(t *table) error {
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
				sum += count(loop) + int(next[30]) + int(next[100])
			}
			return sum
		}
	}
	return t.program(fmt.Sprintf("SpiceDB, a dispatch with %d B", len(traversal)), "spice", dispatches,
		&way{run: dispatch(spiceBefore)}, &way{run: dispatch(spiceAfter), floor: 6})
}

// newID returns 16 random bytes.
func newID(random *rand.Rand) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, random.Uint64()), random.Uint64())
}
