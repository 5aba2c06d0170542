package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

// collisions looks for equal hashes in formats whose hash has 32 bits: it makes absent keys that are like
// those of the filter, and measures how many of them pass. Filters of 64-bit hashes tell which are absent.
type collisions struct {
	pending *bloom.Builder
	known   []*bloom.Filter // of all keys but the pending
	sample  [][]byte        // every stride-th key
	stride  int
	seen    int // keys
	most    int // keys that are looked at, if not 0: of more, none are kept
}

const (
	knownKeys  = 1 << 20 // of a filter
	sampleKeys = 1 << 15 // at most
	triedKeys  = 1 << 17 // keys that are made
	fewestKeys = 10_000  // of a filter that is looked at: rates of small ones vary

	fewestAbsent = 1 << 10 // keys that make a rate
)

// add takes keys of the filter.
func (c *collisions) add(keys [][]byte, format bloom.Format) {
	if format.HashBits() > 32 {
		return
	}
	if c.most > 0 && c.seen+len(keys) > c.most {
		*c = collisions{seen: c.most, most: c.most}
		return
	}
	if c.pending == nil {
		c.pending, c.stride = bloom.Policy{Format: bloom.Default, BitsPerKey: 16}.NewBuilder(), 1
	}
	c.pending.AddBatch(bloom.Bytes(keys))
	if c.pending.Len() >= knownKeys {
		c.known = append(c.known, c.pending.Filter())
		c.pending.Reset()
	}
	first := -c.seen % c.stride
	if first < 0 {
		first += c.stride
	}
	for i := first; i < len(keys); i += c.stride {
		const longest = 1 << 10 // longer keys are no numbers
		c.sample = append(c.sample, bytes.Clone(keys[i][:min(len(keys[i]), longest)]))
	}
	c.seen += len(keys)
	for len(c.sample) > sampleKeys {
		half := c.sample[:0]
		for i := 0; i < len(c.sample); i += 2 {
			half = append(half, c.sample[i])
		}
		c.sample, c.stride = half, 2*c.stride
	}
}

// warn warns if more absent keys like those of a filter pass than the filter's size explains. The surplus
// have the hash of a key.
func (c *collisions) warn(s *streams, filter *bloom.Filter, expected float64, n int) {
	if c.pending == nil || n < fewestKeys {
		return
	}
	absent := c.absent()
	if len(absent) < fewestAbsent {
		return
	}
	hits := filter.MayContainBatch(bloom.Bytes(absent), make([]uint64, (len(absent)+63)/64))
	rate := float64(hits) / float64(len(absent))
	equal := (rate - expected) / (1 - expected)
	if hits >= 30 && equal > 0.75*expected { // expected rates may be too low by 43 %
		fmt.Fprintf(s.err, "bloom: warning: some %.2g %% of absent keys such as %s pass, not %.2g %%: the format %v gives %.2g %% of them the hash of a key, and a larger filter does not help; if no storage engine reads the filter, take --format %v\n",
			100*rate, answers.Shorten(strconv.Quote(string(absent[0]))), 100*expected, filter.Format(), 100*equal, bloom.Default)
	}
}

// absent returns keys that are like those of the filter and not in it: between them if many are missing
// there, or else those that follow.
func (c *collisions) absent() [][]byte {
	c.known = append(c.known, c.pending.Filter())
	random := rand.New(rand.NewPCG(1, 2))
	between := c.between(random)
	many := len(between) / 8
	if absent := c.unknown(between); len(absent) > max(many, fewestAbsent) {
		return absent
	}
	return c.unknown(c.following(random))
}

// between returns keys that begin as one of the sample and end as another of the same length.
func (c *collisions) between(random *rand.Rand) (keys [][]byte) {
	for range 4 * triedKeys {
		a, b := c.sample[random.IntN(len(c.sample))], c.sample[random.IntN(len(c.sample))]
		at := random.IntN(len(a) + 1)
		if len(a) != len(b) || bytes.Equal(a[:at], b[:at]) || bytes.Equal(a[at:], b[at:]) {
			continue // this would be one of the two
		}
		if keys = append(keys, append(bytes.Clone(a[:at]), b[at:]...)); len(keys) == triedKeys {
			break
		}
	}
	return keys
}

// unknown returns those of some keys that are not in the filter.
func (c *collisions) unknown(keys [][]byte) [][]byte {
	for _, filter := range c.known {
		hits := make([]uint64, (len(keys)+63)/64)
		filter.MayContainBatch(bloom.Bytes(keys), hits)
		rest := keys[:0]
		for i, key := range keys {
			if hits[i/64]>>(i%64)&1 == 0 {
				rest = append(rest, key)
			}
		}
		keys = rest
	}
	return keys
}

// following returns keys whose number is one of those that follow the numbers of the sample: three times as
// many as there are from its lowest to its highest. There are none if the keys have no numbers.
func (c *collisions) following(random *rand.Rand) (keys [][]byte) {
	numbers := c.numbers()
	if len(numbers) == 0 {
		return nil
	}
	low, high, width := numbers[0].value, uint64(0), numbers[0].to-numbers[0].from
	for _, n := range numbers {
		low, high, width = min(low, n.value), max(high, n.value), min(width, n.to-n.from)
	}
	for range triedKeys {
		n := numbers[random.IntN(len(numbers))]
		value := high + 1 + random.Uint64N(3*(high-low+1))
		key := fmt.Appendf(bytes.Clone(n.key[:n.from]), "%0*d", width, value)
		keys = append(keys, append(key, n.key[n.to:]...))
	}
	return keys
}

// numberedKey is a key and its number.
type numberedKey struct {
	key      []byte
	from, to int // of the digits
	value    uint64
}

// numbers returns the keys of the sample that have numbers: the longest runs of digits.
func (c *collisions) numbers() (list []numberedKey) {
	for _, key := range c.sample {
		n := numberedKey{key: key}
		for i := 0; i < len(key); i++ {
			from := i
			for i < len(key) && key[i] >= '0' && key[i] <= '9' {
				i++
			}
			if i > from && i-from >= n.to-n.from {
				n.from, n.to = from, i
			}
		}
		value, err := strconv.ParseUint(string(key[n.from:n.to]), 10, 60)
		if n.value = value; err == nil {
			list = append(list, n)
		}
	}
	return list
}
