package main

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

// chance tells whether no more keys are found than absent keys would be. Then the keys may be fields of the
// lines that were looked up.
type chance struct {
	keys, found int
	name, meant string // the first stream whose keys look like lines of fields, and the flags for those

	sample       [][]byte // the first keys of the first stream
	sampleStream string
}

// look takes the name of a stream, and how it begins.
func (c *chance) look(name string, in *records.Input) {
	if c.sampleStream == "" {
		c.sample, c.sampleStream = in.Sample(), name
	}
	if c.meant == "" {
		c.name, c.meant = name, in.Meant()
	}
}

// add counts the keys of a chunk.
func (c *chance) add(from *records.Chunk) {
	c.keys += len(from.Keys)
	for _, word := range from.Hits {
		c.found += bits.OnesCount64(word)
	}
}

// warn prints a warning if the hits are hardly more than the false positives to expect, and the keys seem to be parts of the lines.
func (c *chance) warn(s *cli.Streams, filter *bloom.Filter) {
	const fewest = 10
	if c.keys < fewest {
		return
	}
	rate := filter.MeasureRate()
	expected := rate * float64(c.keys)
	if rate >= 0.5 || float64(c.found) > 1.25*expected+3*math.Sqrt(expected) {
		return
	}
	found := fmt.Sprintf("%.2g %% of the lines are hits, and so are %.2g %% of absent keys", 100*float64(c.found)/float64(c.keys), 100*rate)
	if expression := c.inside(filter, rate); expression != "" {
		s.Warn(c.sampleStream, fmt.Sprintf("%s: the keys seem to be inside the lines: find them with --match '%s'", found, expression))
	} else if c.meant != "" {
		s.Warn(c.name, fmt.Sprintf("%s: if the key is a field of a line, name the field with %s -f FIELD", found, c.meant))
	}
}

// word is a part of a text that may be a key, and beforeWord what stands before it: a name between two characters.
var (
	word       = regexp.MustCompile(`[/=:?&]([\w-]+)`)
	beforeWord = regexp.MustCompile(`[/?&]?\w{0,20}[/=:?&]$`)
)

// inside returns an expression for keys that are inside of the sampled keys, after the same context, or nothing.
func (c *chance) inside(filter *bloom.Filter, rate float64) string {
	words, hits := 0, map[string]int{}
	for _, key := range c.sample {
		for _, at := range word.FindAllSubmatchIndex(key, -1) {
			if words++; filter.MayContain(key[at[2]:at[3]]) {
				hits[string(beforeWord.Find(key[max(0, at[2]-22):at[2]]))]++
			}
		}
	}
	best := ""
	for before, n := range hits {
		if n > hits[best] || n == hits[best] && before < best {
			best = before
		}
	}
	if expected := rate * float64(words); float64(hits[best]) < 2+expected+5*math.Sqrt(expected) {
		return ""
	}
	return regexp.QuoteMeta(best) + `([\w-]+)`
}
