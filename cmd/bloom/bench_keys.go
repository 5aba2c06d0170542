package main

import (
	"bytes"
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
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// queries is the number of keys that a round tests. It is so large that a branch predictor
// can't learn the keys from round to round.
const queries = 1 << 16

// keySource gives bench its filters and keys.
type keySource interface {
	name() string // of the keys, in a table
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
	strings []string   // the same, if it is one of strings
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
	keys = together(keys)
	filter, err := bloom.Open(built.format, built.encoded)
	if err != nil {
		return nil, err
	}
	column, err := source.column(keys)
	if err != nil {
		return nil, err
	}
	w := &workload{builtFilter: built, filter: filter, percent: percent, keys: keys, column: column}
	if r, ok := source.(randomSource); ok {
		switch r.kind() {
		case integers:
			w.numbers = numbersOf(keys)
		case texts:
			w.strings = stringsOf(keys)
		}
	}
	return w, nil
}

// sources returns the kinds of keys that the flags ask for.
func (b *benchCommand) sources(s *cli.Streams, format bloom.Format) ([]keySource, error) {
	if b.Input != "" {
		source, err := readKeys(s, string(b.Input), b.keysFlags, format)
		return []keySource{source}, err
	}
	random, err := b.randomSources(format, "16KiB", "1MiB", "8MiB")
	var sources []keySource
	for _, source := range random {
		sources = append(sources, source)
	}
	return sources, err
}

// randomSources returns the kinds of random keys, with filters of some sizes unless the flag names others.
func (b *benchCommand) randomSources(format bloom.Format, usual ...string) (sources []randomSource, err error) {
	sizes, err := b.filterSizes(usual...)
	if err != nil {
		return nil, err
	}
	lengths := b.Keys
	if lengths == nil {
		lengths = []string{"8", "8-32"}
	}
	for _, text := range lengths {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 4 || to < from || to > 1024 {
			return nil, fmt.Errorf("--keys takes lengths of 4 to 1024 bytes, or ranges such as 8-32, not %q", text)
		}
		sources = append(sources, randomSource{format, from, to, sizes})
	}
	if len(sources) == 0 {
		return nil, errors.New("--keys names no length")
	}
	return sources, nil
}

// wordsOfSources describes all keys.
func wordsOfSources(sources []keySource) string {
	var words []string
	for _, source := range sources {
		words = append(words, source.words())
	}
	return strings.Join(words, "; ")
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

// kind is how keys lie in memory.
type kind int

const (
	integers kind = iota // []uint64
	fixed                // one after the other
	texts                // []string
)

func (r randomSource) kind() kind {
	switch {
	case r.from < r.to:
		return texts
	case r.from == 8:
		return integers
	}
	return fixed
}

func (r randomSource) name() string {
	switch r.kind() {
	case integers:
		return "uint64"
	case texts:
		return fmt.Sprintf("%d-%d B", r.from, r.to)
	}
	return fmt.Sprintf("%d B", r.from)
}

func (r randomSource) words() string {
	switch r.kind() {
	case integers:
		return "random, of 8 bytes, in a []uint64"
	case texts:
		return fmt.Sprintf("random, of %d to %d bytes, in a []string", r.from, r.to)
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
		return nil, filterfile.WithoutPrefix(err)
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
	switch r.kind() {
	case integers:
		return bloom.Integers(numbersOf(keys)), nil
	case texts:
		return bloom.Strings(stringsOf(keys)), nil
	}
	return bloom.FixedWidth(slices.Concat(keys...), r.from)
}

func stringsOf(keys [][]byte) []string {
	all := make([]string, len(keys))
	text := string(bytes.Join(keys, nil)) // one after the other, as the keys are
	for i, key := range keys {
		all[i], text = text[:len(key)], text[len(key):]
	}
	return all
}

// together returns copies of the keys, one after the other in memory.
func together(keys [][]byte) [][]byte {
	copies, data := make([][]byte, len(keys)), slices.Concat(keys...)
	for i, key := range keys {
		copies[i], data = data[:len(key):len(key)], data[len(key):]
	}
	return copies
}

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
	file   string
	halves [2][][]byte // absent and known
}

// readKeys reads all keys of a file into memory. The bytes of a key decide its half, so a key
// that comes twice is not in both halves.
func readKeys(s *cli.Streams, name string, flags keysFlags, format bloom.Format) (keySource, error) {
	source := &inputSource{format: format, file: name}
	err := flags.read(s, name, func(int) {}, func(in *records.Input) error {
		return in.Work(func(*records.Chunk) {}, func(c *records.Chunk) error {
			var memory []byte
			for _, key := range c.Keys {
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

func (*inputSource) name() string { return "input" }

func (i *inputSource) words() string {
	known, absent := len(i.halves[1]), len(i.halves[0])
	return fmt.Sprintf("%s of %s: %s in the filter, %s not, in a [][]byte",
		humanize.Comma(int64(known+absent)), show.Name(i.file), humanize.Comma(int64(known)), humanize.Comma(int64(absent)))
}

func (i *inputSource) sizes() []int { return []int{0} } // the keys decide

func (i *inputSource) filter(_, bitsPerKey int) (*builtFilter, error) {
	set, err := bloom.Policy{Format: i.format, BitsPerKey: bitsPerKey}.NewSet(len(i.halves[1]))
	if err != nil {
		return nil, filterfile.WithoutPrefix(err)
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
