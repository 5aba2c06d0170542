package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
)

type sizeCommand struct {
	Keys       *keyCount `placeholder:"N" help:"Number of keys, such as 250000, 1e8 or 100M."`
	BitsPerKey *int      `placeholder:"N" help:"Bits per key, 1 to 10000."`
	Rate       *rate     `placeholder:"P" help:"False-positive rate, such as 0.01 or 1%: at most this."`
	Memory     *byteSize `placeholder:"SIZE" help:"Memory of the bits, such as 64MiB: at most this."`
	JSON       bool      `name:"json" help:"Print JSON."`
}

// Help is what bloom size --help says, too.
func (*sizeCommand) Help() string {
	return `Give two of the four numbers: the other two follow, for each format.
Keys that are not given are the most for which the others hold; bits per key that are not given are the fewest for a rate, and the most for a memory.
The rate is the expected one of keys whose hashes are random. bloom inspect measures the rate of a filter.`
}

// keyCount is a number of keys.
type keyCount int

// UnmarshalText reads a number with commas, an exponent or a prefix: 250,000, 1e8, 100M.
func (c *keyCount) UnmarshalText(text []byte) error {
	digits := strings.ReplaceAll(string(text), ",", "")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		var unit string
		if n, unit, err = humanize.ParseSI(digits); unit != "" {
			err = errors.New("unknown unit")
		}
	}
	if err != nil || n != math.Trunc(n) || n < 1 || n > mostKeys {
		return fmt.Errorf("a number of keys is whole, 1 to %.1g, such as 250000, 1e8 or 100M, not %q", float64(mostKeys), text)
	}
	*c = keyCount(n)
	return nil
}

// byteSize is a number of bytes.
type byteSize uint64

func (b *byteSize) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n == 0 {
		return fmt.Errorf("a memory is a number of bytes such as 64MiB, not %q", text)
	}
	*b = byteSize(n)
	return nil
}

// The most bytes of bits of the library's filters, and the most keys that they have use for.
const (
	mostMemory = 1 << (30 + 10*(math.MaxUint>>63))
	mostKeys   = 1 << (30 + 13*(math.MaxUint>>63))
)

// filterSize is a row of the results: a filter, or why there is none.
type filterSize struct {
	Format     string   `json:"format"`
	Keys       *int     `json:"keys"` // null if any number
	BitsPerKey int      `json:"bits_per_key,omitempty"`
	Probes     int      `json:"probes,omitempty"`
	Rate       *float64 `json:"rate,omitempty"`
	Memory     *uint64  `json:"memory"` // bytes; null if any number of keys
	Error      string   `json:"error,omitempty"`
}

func (c *sizeCommand) Run(s *streams) error {
	if err := c.check(); err != nil {
		return err
	}
	sizes := c.sizes()
	if err := c.print(s, sizes); err != nil {
		return err
	}
	if !slices.ContainsFunc(sizes, func(size filterSize) bool { return size.Error == "" }) {
		return errors.New("no format has such a filter")
	}
	return nil
}

// sizes returns the row of every format.
func (c *sizeCommand) sizes() (sizes []filterSize) {
	for _, f := range formats {
		sizes = append(sizes, c.size(f))
	}
	return sizes
}

func (c *sizeCommand) check() error {
	given := 0
	for _, isGiven := range []bool{c.Keys != nil, c.BitsPerKey != nil, c.Rate != nil, c.Memory != nil} {
		if isGiven {
			given++
		}
	}
	if given != 2 {
		return fmt.Errorf("give two of --keys, --bits-per-key, --rate and --memory, not %d", given)
	}
	if c.Rate != nil && !(*c.Rate > 0 && *c.Rate < 1) {
		return fmt.Errorf("--rate: %v is not between 0 and 1", *c.Rate)
	}
	if c.BitsPerKey != nil {
		return checkBitsPerKey(*c.BitsPerKey)
	}
	return nil
}

func (c *sizeCommand) print(s *streams, sizes []filterSize) error {
	if c.JSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Sizes []filterSize `json:"sizes"`
		}{sizes})
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "format\tkeys\tbits per key\trate\tmemory")
	for _, size := range sizes {
		if size.Error != "" {
			fmt.Fprintf(w, "%s\tnone: %s\n", size.Format, size.Error)
			continue
		}
		keys, memory := "any number", "grows with the keys"
		if size.Keys != nil {
			keys, memory = humanize.Comma(int64(*size.Keys)), sizeWords(int(*size.Memory))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3g %%\t%s\n", size.Format, keys, size.BitsPerKey, 100**size.Rate, memory)
	}
	return w.Flush()
}

// size returns the row of a format.
func (c *sizeCommand) size(f bloom.Format) filterSize {
	size := filterSize{Format: f.String()}
	keys, bitsPerKey, err := c.solve(f)
	if err != nil {
		size.Error = fromLibrary(err).Error()
		return size
	}
	policy := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}
	rate := policy.FalsePositiveRate(keys)
	size.BitsPerKey, size.Rate = bitsPerKey, &rate
	_, size.Probes, _ = bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.Size(1) // no error: it is small
	if c.Keys == nil && c.Memory == nil && keys == mostKeys/bitsPerKey {
		return size // the rate sets no limit
	}
	memory := bytesOf(f, keys, bitsPerKey)
	if memory > mostMemory {
		return filterSize{Format: size.Format, Error: "the filter would be too large"}
	}
	size.Keys, size.Memory = &keys, &memory
	return size
}

// solve returns the number of keys and of bits per key. The rate and the memory follow.
func (c *sizeCommand) solve(f bloom.Format) (keys, bitsPerKey int, err error) {
	if c.Keys != nil {
		keys = int(*c.Keys)
	}
	if c.BitsPerKey != nil {
		bitsPerKey = *c.BitsPerKey
	}
	bitsFor := func(keys int) (int, error) {
		policy, err := bloom.PolicyFor(f, keys, float64(*c.Rate))
		return max(policy.BitsPerKey, 1), err
	}
	switch {
	case c.Keys != nil && c.Rate != nil:
		bitsPerKey, err = bitsFor(keys)
	case c.Keys != nil && c.Memory != nil:
		bitsPerKey = most(mostBitsPerKey, func(b int) bool { return bytesOf(f, keys, b) <= uint64(*c.Memory) })
	case c.BitsPerKey != nil && c.Rate != nil:
		keys = mostKeysFor(f, bitsPerKey, float64(*c.Rate))
	case c.BitsPerKey != nil && c.Memory != nil:
		keys = most(mostKeys/bitsPerKey, func(n int) bool { return bytesOf(f, n, bitsPerKey) <= uint64(*c.Memory) })
	case c.Rate != nil && c.Memory != nil:
		keys = most(mostKeys, func(n int) bool {
			if f != bloom.LevelDB {
				b, err := bitsFor(n)
				return err == nil && bytesOf(f, n, b) <= uint64(*c.Memory)
			}
			// A rate takes milliseconds, so it is that of the most bits that there is room for.
			b := most(mostBitsPerKey, func(b int) bool { return bytesOf(f, n, b) <= uint64(*c.Memory) })
			return b > 0 && bloom.Policy{Format: f, BitsPerKey: b}.FalsePositiveRate(n) <= float64(*c.Rate)
		})
		bitsPerKey, err = bitsFor(keys)
	}
	switch {
	case err == nil && keys == 0:
		err = errors.New("not even one key is within the limits")
	case err == nil && bitsPerKey == 0:
		err = errors.New("not even one bit per key is within the limit")
	}
	return keys, bitsPerKey, err
}

// mostKeysFor returns the most keys that have at most the rate at so many bits per key. Filters
// of fewer than 1,000 keys have higher rates than larger ones. They count only if no larger one
// has the rate.
func mostKeysFor(f bloom.Format, bitsPerKey int, rate float64) int {
	const few = 1000
	highestRate := highestRates(f, bitsPerKey, few)
	if highestRate(few) <= rate {
		return few - 1 + most(mostKeys/bitsPerKey-few+1, func(n int) bool {
			return bytesOf(f, few-1+n, bitsPerKey) <= mostMemory && highestRate(few-1+n) <= rate
		})
	}
	for n := few - 1; n > 0; n-- {
		if (bloom.Policy{Format: f, BitsPerKey: bitsPerKey}).FalsePositiveRate(n) <= rate {
			return n
		}
	}
	return 0
}

// most returns the largest number of 1 to high that is small enough, or 0. Every number below
// one that is small enough must be so.
func most(high int, isSmallEnough func(int) bool) int {
	return sort.Search(high, func(i int) bool { return !isSmallEnough(i + 1) })
}
