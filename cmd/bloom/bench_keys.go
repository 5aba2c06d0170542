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
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// queries is the number of keys that a round tests. It is so large that a branch predictor
// can't learn the keys from round to round.
const queries = 1 << 16

// keySource gives bench its filters and keys: those of a file, or random ones.
type keySource struct {
	format bloom.Format
	layout keyLayout
	name   string // of the keys, in a table
	words  string // and in a sentence
	sizes  []int  // of the filters to build, in bytes; one of 0 if the keys decide

	from, to int         // bytes of a random key
	halves   [2][][]byte // the keys of a file: absent ones, and those of the filter
}

// keyLayout is how keys lie in memory.
type keyLayout int

const (
	separate keyLayout = iota // [][]byte
	integers                  // []uint64
	fixed                     // one after the other
	texts                     // []string
)

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

func newWorkload(source *keySource, built *builtFilter, percent int) (*workload, error) {
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
	switch source.layout {
	case integers:
		w.numbers = numbersOf(keys)
	case texts:
		w.strings = stringsOf(keys)
	}
	return w, nil
}

// sources returns the kinds of keys that the flags ask for.
func (b *benchCommand) sources(s *cli.Streams, format bloom.Format) ([]*keySource, error) {
	if b.Input != "" {
		source, err := b.readKeys(s, format)
		return []*keySource{source}, err
	}
	return b.randomSources(format, "16KiB", "1MiB", "8MiB")
}

// randomSources returns the kinds of random keys, with filters of some sizes unless the flag names others.
func (b *benchCommand) randomSources(format bloom.Format, usual ...string) (sources []*keySource, err error) {
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
			return nil, fmt.Errorf("--keys accepts lengths of 4 to 1024 bytes, or ranges such as 8-32, not %q", text)
		}
		sources = append(sources, newRandomSource(format, from, to, sizes))
	}
	if len(sources) == 0 {
		return nil, errors.New("--keys needs a length")
	}
	return sources, nil
}

// newRandomSource makes keys of random bytes and lengths.
func newRandomSource(format bloom.Format, from, to int, sizes []int) *keySource {
	k := &keySource{format: format, from: from, to: to, sizes: sizes}
	switch {
	case from < to:
		k.layout, k.name = texts, fmt.Sprintf("%d-%d B", from, to)
		k.words = fmt.Sprintf("random, of %d to %d bytes, in a []string", from, to)
	case from == 8:
		k.layout, k.name, k.words = integers, "uint64", "random, of 8 bytes, in a []uint64"
	default:
		k.layout, k.name = fixed, fmt.Sprintf("%d B", from)
		k.words = fmt.Sprintf("random, of %d bytes, one after the other", from)
	}
	return k
}

// readKeys reads all keys of the file into memory. The bytes of a key decide its half, so a key that comes twice is not
// in both halves.
func (b *benchCommand) readKeys(s *cli.Streams, format bloom.Format) (*keySource, error) {
	keys, err := b.allKeys(s, b.Input)
	if err != nil {
		return nil, err
	}
	k := &keySource{format: format, name: "input", sizes: []int{0}}
	for _, key := range keys {
		half := &k.halves[crc32.ChecksumIEEE(key)&1]
		*half = append(*half, key)
	}
	absent, known := len(k.halves[0]), len(k.halves[1])
	if absent == 0 || known == 0 {
		return nil, fmt.Errorf("%s: too few different keys: some must be in the filter and some must not", b.Input)
	}
	k.words = fmt.Sprintf("%s of %s: %s in the filter, %s not, in a [][]byte",
		humanize.Comma(int64(known+absent)), show.Name(b.Input), humanize.Comma(int64(known)), humanize.Comma(int64(absent)))
	return k, nil
}

// filterSizes returns the bytes of the filters that the flag names, or else of those by default.
func (b *benchCommand) filterSizes(usual ...string) (sizes []int, err error) {
	if b.Sizes != nil {
		usual = b.Sizes
	}
	for _, text := range usual {
		size, err := humanize.ParseBytes(text)
		if err != nil || size < 1<<10 || size > 1<<30 {
			return nil, fmt.Errorf("--sizes accepts sizes from 1KiB to 1GiB, such as 16KiB,1MiB, not %q", text)
		}
		sizes = append(sizes, int(size))
	}
	return sizes, nil
}

// keysFor returns how many keys a filter of some bytes is for.
func keysFor(size, bitsPerKey int) int { return max(1, int(uint64(size)*8/uint64(bitsPerKey))) }

// filter builds a filter of some size. It adds random keys chunk by chunk: all keys of a large filter would take more
// memory than the filter.
func (k *keySource) filter(size, bitsPerKey int) (*builtFilter, error) {
	known := k.halves[1]
	n := len(known)
	if n == 0 {
		n = keysFor(size, bitsPerKey)
	}
	set, err := bloom.Policy{Format: k.format, BitsPerKey: bitsPerKey}.NewSet(n)
	if err != nil {
		return nil, filterfile.WithoutPrefix(err)
	}
	if len(known) > 0 {
		set.AddBatch(bloom.Bytes(known))
		return &builtFilter{k.format, set.Bytes(), known}, nil
	}
	random := rand.New(rand.NewPCG(uint64(size), 1))
	for rest := n; rest > 0; {
		keys := k.absent(random, min(rest, 1<<20))
		column, err := k.column(keys)
		if err != nil {
			return nil, err
		}
		set.AddBatch(column)
		known = append(known, keys[:min(len(keys), queries-len(known))]...)
		rest -= len(keys)
	}
	return &builtFilter{k.format, set.Bytes(), known}, nil
}

// absent returns n keys that are in no filter.
func (k *keySource) absent(random *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	data := make([]byte, 0, n*k.to+8)
	for i := range keys {
		if absent := k.halves[0]; len(absent) > 0 {
			keys[i] = absent[random.IntN(len(absent))]
			continue
		}
		from, length := len(data), k.from
		if k.from < k.to {
			length += random.IntN(k.to - k.from + 1)
		}
		for len(data) < from+length {
			data = binary.LittleEndian.AppendUint64(data, random.Uint64())
		}
		data = data[:from+length]
		keys[i] = data[from:len(data):len(data)]
	}
	return keys
}

// column returns keys in their layout.
func (k *keySource) column(keys [][]byte) (bloom.Keys, error) {
	switch k.layout {
	case integers:
		return bloom.Integers(numbersOf(keys)), nil
	case fixed:
		return bloom.FixedWidth(slices.Concat(keys...), k.from)
	case texts:
		return bloom.Strings(stringsOf(keys)), nil
	}
	return bloom.Bytes(keys), nil
}

func stringsOf(keys [][]byte) []string {
	all := make([]string, len(keys))
	text := string(bytes.Join(keys, nil)) // one after the other, as the keys are
	for i, key := range keys {
		all[i], text = text[:len(key)], text[len(key):]
	}
	return all
}

func numbersOf(keys [][]byte) []uint64 {
	numbers := make([]uint64, len(keys))
	for i, key := range keys {
		numbers[i] = binary.LittleEndian.Uint64(key)
	}
	return numbers
}
