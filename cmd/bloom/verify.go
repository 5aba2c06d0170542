package main

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// verifier drops false positives: it looks for the keys that pass a filter among all keys. It
// gathers records until they take pendingMemory, and then reads the file of all keys once.
type verifier struct {
	*filterCommand
	flags  keysFlags // of the file of keys
	fewest uint64    // keys that it must have

	records []byte // in the order of the input
	pending []pendingRecord
	waiting []int          // for each key of the pending records, its place in found
	places  map[string]int // of a key in found
	found   []atomic.Bool
	memory  int
}

// pendingRecord is a record that its keys decide, or one without keys that is certainly printed.
type pendingRecord struct {
	end     int  // in records
	keys    int  // in waiting, where those of the record end that hit
	misses  bool // whether it has others
	certain bool
}

// pendingMemory is how many bytes the records and keys take, about, that wait for a
// reading of all keys.
const pendingMemory = 64 << 20

var verifyMemory = pendingMemory // a test sets it

func newVerifier(s *cli.Streams, f *filterCommand) (*verifier, error) {
	if info, err := s.Outputs().Stat(string(f.Verify)); err != nil {
		return nil, err
	} else if f.Verify == "-" || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--verify: %s may be read several times, so it must be a regular file", show.Name(f.Verify))
	}
	flags := f.keysFlags
	flags.tableFlags = tableFlags{} // the keys are lines
	return &verifier{filterCommand: f, flags: flags, places: map[string]int{}}, nil
}

// add takes the records of a chunk that may be printed: those that pass the filter or, if
// inverted, all.
func (v *verifier) add(s *cli.Streams, c *records.Chunk, delimiter byte) error {
	certain := c.Certain
	for i := range c.Len() {
		if !v.Invert && c.Chosen[i/64]>>(i%64)&1 == 0 {
			continue
		}
		p := pendingRecord{misses: v.wait(c, i), keys: len(v.waiting)}
		if p.certain = len(certain) > 0 && certain[0] == i; p.certain {
			certain = certain[1:]
		}
		before := len(v.records)
		if !v.Count {
			v.records = append(v.records, c.Record(i, delimiter)...)
		}
		p.end = len(v.records)
		v.pending = append(v.pending, p)
		v.memory += len(v.records) - before + 32
	}
	if v.memory < verifyMemory {
		return nil
	}
	return v.flush(s)
}

// wait lets those keys of a record wait that hit, and reports whether the record has other keys.
func (v *verifier) wait(c *records.Chunk, record int) (misses bool) {
	for i, end := c.KeysOf(record); i < end; i++ {
		if c.Hits[i/64]>>(i%64)&1 == 0 {
			misses = true
			continue
		}
		v.waiting = append(v.waiting, v.place(c.Keys[i]))
		v.memory += 8
	}
	return misses
}

// place returns the place of a key in found.
func (v *verifier) place(key []byte) int {
	place, known := v.places[string(key)]
	if !known {
		place = len(v.places)
		v.places[string(key)] = place
		v.memory += len(key) + 80
	}
	return place
}

// flush reads all keys, prints the records whose keys are among them or, if inverted, are not,
// and forgets all.
func (v *verifier) flush(s *cli.Streams) error {
	if len(v.pending) == 0 {
		return nil
	}
	if err := v.find(s); err != nil {
		return &verifyError{fmt.Errorf("--verify: %w", err)}
	}
	n, from, key, out := 0, 0, 0, v.records[:0] // no record moves beyond where one is still to be read
	for _, p := range v.pending {
		if v.has(v.waiting[key:p.keys], p.misses) != v.Invert || p.certain {
			out = append(out, v.records[from:p.end]...)
			n++
		}
		from, key = p.end, p.keys
	}
	err := v.print(s, out, n)
	v.records, v.pending, v.waiting, v.memory = v.records[:0], v.pending[:0], v.waiting[:0], 0
	clear(v.places)
	return err
}

// has reports whether some key of a record was found, or, with --all, every one. misses says that it has keys
// that the filter lacks.
func (v *verifier) has(places []int, misses bool) bool {
	isFound := func(place int) bool { return v.found[place].Load() }
	if v.All {
		return !misses && !slices.ContainsFunc(places, func(place int) bool { return !isFound(place) })
	}
	return slices.ContainsFunc(places, isFound)
}

// find reads the file of keys, and marks the pending keys that are in it.
func (v *verifier) find(s *cli.Streams) error {
	v.found = make([]atomic.Bool, len(v.places))
	n := uint64(0)
	err := v.flags.read(s, string(v.Verify), func(int) {}, func(in *records.Input) error {
		return in.Work(func(c *records.Chunk) {
			for _, key := range c.Keys {
				if place, known := v.places[string(key)]; known {
					v.found[place].Store(true)
				}
			}
		}, func(c *records.Chunk) error {
			n += uint64(len(c.Keys))
			return nil
		})
	})
	if err == nil && n < v.fewest {
		return fmt.Errorf("%s has %d keys, but the filter was built from %d: the file lacks some keys, unless keys were added twice; --force accepts the file", show.Name(v.Verify), n, v.fewest)
	}
	return err
}

// verifyError is an error of reading all keys. It ends the command.
type verifyError struct{ error }

func (e *verifyError) Unwrap() error { return e.error }
