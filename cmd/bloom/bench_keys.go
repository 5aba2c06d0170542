package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
)

// queries is the number of keys that a round tests. It is so large that a branch predictor
// can't learn the keys from round to round.
const queries = 1 << 16

// keySource gives bench its filters and keys.
type keySource interface {
	words() string
	sizes() []int                                      // of the filters to build, in bytes
	filter(size, bitsPerKey int) (*builtFilter, error) // a filter of some size
	absent(random *rand.Rand, n int) [][]byte          // n keys that are in no filter
	column(keys [][]byte) (bloom.Keys, error)          // the keys in the layout that suits them
}

// builtFilter is a filter and some of the keys in it.
type builtFilter struct {
	format  bloom.Format
	encoded []byte
	known   [][]byte
}

// workload is a filter and the keys to test. A share of the keys is in the filter.
type workload struct {
	*builtFilter
	filter  *bloom.Filter
	percent int
	keys    [][]byte
	numbers []uint64   // the same, if the column is one of integers
	column  bloom.Keys // the same
}

func newWorkload(source keySource, built *builtFilter, percent int) (*workload, error) {
	random := rand.New(rand.NewPCG(uint64(len(built.encoded)), uint64(percent)))
	keys := source.absent(random, queries)
	for i := range keys {
		if random.IntN(100) < percent {
			keys[i] = built.known[random.IntN(len(built.known))]
		}
	}
	filter, err := bloom.Open(built.format, built.encoded)
	if err != nil {
		return nil, err
	}
	column, err := source.column(keys)
	if err != nil {
		return nil, err
	}
	w := &workload{builtFilter: built, filter: filter, percent: percent, keys: keys, column: column}
	if r, ok := source.(randomSource); ok && r.integers() {
		w.numbers = numbersOf(keys)
	}
	return w, nil
}

// source returns the keys that the flags ask for.
func (b *benchCommand) source(s *streams, format bloom.Format) (keySource, error) {
	if b.Input != "" {
		return readKeys(s, string(b.Input), b.keysFlags, format)
	}
	r := randomSource{format: format, from: 8, to: 8}
	if b.Keys != "" {
		first, last, isRange := strings.Cut(b.Keys, "-")
		if !isRange {
			last = first
		}
		var err1, err2 error
		r.from, err1 = strconv.Atoi(first)
		r.to, err2 = strconv.Atoi(last)
		if err1 != nil || err2 != nil || r.from < 4 || r.to < r.from || r.to > 1024 {
			return nil, fmt.Errorf("--keys takes a length of 4 to 1024 bytes, or a range such as 8-32, not %q", b.Keys)
		}
	}
	var err error
	r.bytes, err = b.filterSizes("16KiB", "256KiB", "1MiB", "8MiB", "64MiB")
	return r, err
}

// filterSizes returns the bytes of the filters that the flag names, or else of those by default.
func (b *benchCommand) filterSizes(usual ...string) (sizes []int, err error) {
	if b.Sizes != nil {
		usual = b.Sizes
	}
	for _, text := range usual {
		size, err := humanize.ParseBytes(text)
		if err != nil || size < 1<<10 || size > 1<<30 {
			return nil, fmt.Errorf("--sizes takes sizes from 1KiB to 1GiB, such as 16KiB,1MiB, not %q", text)
		}
		sizes = append(sizes, int(size))
	}
	return sizes, nil
}

// randomSource makes keys of random bytes and lengths.
type randomSource struct {
	format   bloom.Format
	from, to int // bytes of a key
	bytes    []int
}

func (r randomSource) words() string {
	if r.from < r.to {
		return fmt.Sprintf("random, of %d to %d bytes, in a [][]byte", r.from, r.to)
	}
	if r.integers() {
		return "random, of 8 bytes, in a []uint64"
	}
	return fmt.Sprintf("random, of %d bytes, one after the other", r.from)
}

func (r randomSource) sizes() []int { return r.bytes }

// keysFor returns how many keys a filter of some bytes is for.
func keysFor(size, bitsPerKey int) int { return max(1, int(uint64(size)*8/uint64(bitsPerKey))) }

// filter adds keys chunk by chunk: all keys of a large filter would take more memory than the
// filter.
func (r randomSource) filter(size, bitsPerKey int) (*builtFilter, error) {
	n := keysFor(size, bitsPerKey)
	set, err := bloom.Policy{Format: r.format, BitsPerKey: bitsPerKey}.NewSet(n)
	if err != nil {
		return nil, fromLibrary(err)
	}
	random := rand.New(rand.NewPCG(uint64(size), 1))
	var known [][]byte
	for rest := n; rest > 0; {
		keys := r.absent(random, min(rest, 1<<20))
		column, err := r.column(keys)
		if err != nil {
			return nil, err
		}
		set.AddBatch(column)
		known = append(known, keys[:min(len(keys), queries-len(known))]...)
		rest -= len(keys)
	}
	return &builtFilter{r.format, set.Bytes(), known}, nil
}

func (r randomSource) absent(random *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	data := make([]byte, 0, n*r.to+8)
	for i := range keys {
		from, length := len(data), r.from
		if r.from < r.to {
			length += random.IntN(r.to - r.from + 1)
		}
		for len(data) < from+length {
			data = binary.LittleEndian.AppendUint64(data, random.Uint64())
		}
		data = data[:from+length]
		keys[i] = data[from:len(data):len(data)]
	}
	return keys
}

func (r randomSource) column(keys [][]byte) (bloom.Keys, error) {
	if r.integers() {
		return bloom.Integers(numbersOf(keys)), nil
	}
	if r.from == r.to {
		return bloom.FixedWidth(slices.Concat(keys...), r.from)
	}
	return bloom.Bytes(keys), nil
}

// integers says whether the keys are a column of integers.
func (r randomSource) integers() bool { return r.from == 8 && r.to == 8 }

func numbersOf(keys [][]byte) []uint64 {
	numbers := make([]uint64, len(keys))
	for i, key := range keys {
		numbers[i] = binary.LittleEndian.Uint64(key)
	}
	return numbers
}

// inputSource has the keys of a file: half of them are in the filter.
type inputSource struct {
	format bloom.Format
	name   string
	halves [2][][]byte // absent and known
}

// readKeys reads all keys of a file into memory. The bytes of a key decide its half, so a key
// that comes twice is not in both halves.
func readKeys(s *streams, name string, flags keysFlags, format bloom.Format) (keySource, error) {
	source := &inputSource{format: format, name: name}
	err := flags.read(s, name, func(int) {}, func(in *input) error {
		return in.work(func(*chunk) {}, func(c *chunk) error {
			var memory []byte
			for _, key := range c.keys {
				from := len(memory)
				memory = append(memory, key...)
				half := crc32.ChecksumIEEE(key) & 1
				source.halves[half] = append(source.halves[half], memory[from:len(memory):len(memory)])
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if len(source.halves[0]) == 0 || len(source.halves[1]) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.New("too few different keys: some must be in the filter and others must not"))
	}
	return source, nil
}

func (i *inputSource) words() string {
	known, absent := len(i.halves[1]), len(i.halves[0])
	return fmt.Sprintf("%s of %s: %s in the filter, %s not, in a [][]byte",
		humanize.Comma(int64(known+absent)), shown(i.name), humanize.Comma(int64(known)), humanize.Comma(int64(absent)))
}

func (i *inputSource) sizes() []int { return []int{0} } // the keys decide

func (i *inputSource) filter(_, bitsPerKey int) (*builtFilter, error) {
	set, err := bloom.Policy{Format: i.format, BitsPerKey: bitsPerKey}.NewSet(len(i.halves[1]))
	if err != nil {
		return nil, fromLibrary(err)
	}
	set.AddBatch(bloom.Bytes(i.halves[1]))
	return &builtFilter{i.format, set.Bytes(), i.halves[1]}, nil
}

func (i *inputSource) absent(random *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for j := range keys {
		keys[j] = i.halves[0][random.IntN(len(i.halves[0]))]
	}
	return keys
}

func (i *inputSource) column(keys [][]byte) (bloom.Keys, error) { return bloom.Bytes(keys), nil }
