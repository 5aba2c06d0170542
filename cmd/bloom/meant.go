package main

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"regexp"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// separators are the characters that divide lines into fields, each with the flags that choose it.
var separators = []struct{ character, flags string }{
	{"\t", `-d '\t'`}, {",", "--csv"}, {";", "--csv -d ';'"}, {"|", "-d '|'"},
}

// meant returns the flags with which a line would have more fields than it has, or nothing.
func (r *records) meant(line []byte) string {
	if r.kind == membersOfJSON {
		return ""
	}
	if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")) {
		return "--jsonl"
	}
	if r.kind != wholeLines && bytes.IndexByte(line, r.comma) >= 0 {
		return r.meantQuotes(line)
	}
	for _, s := range separators {
		if bytes.Contains(line, []byte(s.character)) {
			return s.flags
		}
	}
	if r.kind == wholeLines && bytes.Count(line, []byte(" ")) > 1 {
		return "-d ' '"
	}
	return ""
}

// meantQuotes is meant for a line that has the character between fields.
func (r *records) meantQuotes(line []byte) string {
	if r.kind != fieldsOfLines || !bytes.HasPrefix(line, []byte(`"`)) && !bytes.Contains(line, []byte{r.comma, '"'}) {
		return ""
	}
	return "--csv"
}

func didYouMean(flags string) string {
	if flags == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", flags)
}

// chance tells whether no more keys are found than absent keys would be. Then the keys may be fields of the
// lines that were looked up.
type chance struct {
	keys, found int
	name, meant string // the first stream whose keys look like lines of fields, and the flags for those

	sample       []byte // the first lines of the first stream
	sampled      *records
	sampleStream string
}

// look takes the name and the first line of a stream, if it has one field at most.
func (c *chance) look(name string, r *records, head []byte) {
	if c.sampled == nil && r.match == nil {
		c.sample, c.sampled, c.sampleStream = head[:bytes.LastIndexByte(head, r.delimiter)+1], r, name
	}
	line, _, _ := bytes.Cut(head, []byte{r.delimiter})
	isField := r.kind == fieldsOfLines && bytes.IndexByte(line, r.comma) < 0
	if c.meant == "" && (r.kind == wholeLines || isField) {
		c.name, c.meant = name, r.meant(line)
	}
}

// add counts the keys of a chunk.
func (c *chance) add(from *chunk) {
	c.keys += len(from.keys)
	for _, word := range from.hits {
		c.found += bits.OnesCount64(word)
	}
}

// warn warns of lines that look like tables, of which no more pass than of absent keys.
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
	found := fmt.Sprintf("%.2g %% of the lines are found, and %.2g %% of absent keys are", 100*float64(c.found)/float64(c.keys), 100*rate)
	if expression := c.inside(filter, rate); expression != "" {
		s.Warn(c.sampleStream, fmt.Sprintf("%s: keys are inside of what was looked up: find them with --match '%s'", found, expression))
	} else if c.meant != "" {
		s.Warn(c.name, fmt.Sprintf("%s: if the key is a field of a line, name it with %s -f FIELD", found, c.meant))
	}
}

// word is a part of a text that may be a key, and beforeWord what stands before it: a name between two characters.
var (
	word       = regexp.MustCompile(`[/=:?&]([\w-]+)`)
	beforeWord = regexp.MustCompile(`[/?&]?\w{0,20}[/=:?&]$`)
)

// inside returns an expression for keys that are inside of the sampled keys, after the same context, or nothing.
func (c *chance) inside(filter *bloom.Filter, rate float64) string {
	if c.sampled == nil || len(c.sample) == 0 {
		return ""
	}
	piece := newChunk(0)
	piece.data = c.sample
	c.sampled.split(piece)
	words, hits := 0, map[string]int{}
	for _, key := range piece.keys {
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
