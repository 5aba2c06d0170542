package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

// seenKeys tells keys that come for the first time from those that came before. Nobody knows how many keys there
// will be, so it is a row of sets: the last one takes keys until it has as many as its share of the rate allows,
// and then a larger one follows. A key came before if one of the sets may hold it. So at most the sum of the
// sets' rates is taken for old: whether their errors depend on each other does not matter.
type seenKeys struct {
	rate   float64   // the sum of the rates of the sets that this run makes, at most
	full   []seenSet // these take no more keys
	before float64   // the sum of their rates
	last   seenSet
	room   int // keys with which the last set still has its share

	added   int     // keys that came for the first time
	missing float64 // how many others did, too, and were taken for old: the expected number

	validity []byte
	found    []uint64
}

// seenSet is a set, its shape, and how many different keys it has.
type seenSet struct {
	*bloom.Set
	bits   uint64
	probes int
	keys   int
}

func (s *seenSet) rate() float64 { return s.Format().FalsePositiveRate(s.keys, s.bits, s.probes) }

const (
	firstRoom   = 1 << 16
	mostRoom    = 1 << 27
	equalShares = 12   // sets that get the same share of the rate
	keysAtOnce  = 4096 // keys that are added to one set: no set has room for fewer
)

// share returns the rate of a set. The shares of all sets, however many there are, sum up to the rate: after
// some equal ones, each is half of the one before.
func (k *seenKeys) share(set int) float64 {
	return math.Ldexp(k.rate/(equalShares+1), -max(0, set-equalShares+1))
}

// newSeenKeys returns a row of sets that begins with the one of a file, and one of the same shape for further keys, which take half
// of the rate that is left. Larger sets follow when it has no more room.
func newSeenKeys(rate float64, file, fresh seenSet) seenKeys {
	k := seenKeys{full: []seenSet{file}, before: file.rate(), last: fresh}
	k.rate = max(rate-k.before, rate/100) / 2 // a file has fewer keys than is said of it
	k.room = sort.Search(int(min(fresh.bits, math.MaxInt32)), func(keys int) bool {
		return fresh.Format().FalsePositiveRate(keys+1, fresh.bits, fresh.probes) > k.rate
	})
	return k
}

// grow begins a new set.
func (k *seenKeys) grow() (err error) {
	format := bloom.Default
	if k.last.Set != nil {
		format = k.last.Format()
		k.full = append(k.full, k.last)
		k.before += k.last.rate()
	}
	number := len(k.full)
	k.room = firstRoom << min(number, 11)
	policy, err := bloom.PolicyFor(format, k.room, k.share(number))
	if err != nil {
		return fmt.Errorf("--rate: after %d lines, no filter with a low enough rate can be added: %w", k.added, filterfile.WithoutPrefix(err))
	}
	k.last, err = newSeenSet(policy, k.room)
	return err
}

func newSeenSet(policy bloom.Policy, room int) (s seenSet, err error) {
	if s.bits, s.probes, err = policy.Size(room); err == nil {
		s.Set, err = policy.NewSet(room)
	}
	return s, filterfile.WithoutPrefix(err)
}

// add adds the keys of a column, and sets the bits in hits of those that may have come before.
func (k *seenKeys) add(keys bloom.Keys, hits []uint64) error {
	for i := 0; i < keys.Len(); i += keysAtOnce {
		part := keys.Slice(i, min(i+keysAtOnce, keys.Len()))
		if k.last.keys+part.Len() > k.room {
			if err := k.grow(); err != nil {
				return err
			}
		}
		if err := k.addPart(part, hits[i/64:]); err != nil {
			return err
		}
	}
	return nil
}

// addPart is add for keys that the last set has room for.
func (k *seenKeys) addPart(keys bloom.Keys, hits []uint64) (err error) {
	k.found = records.WordsFor(k.found, keys.Len())
	clear(k.found)
	old, left := 0, keys
	for _, set := range k.full {
		old += set.MayContainBatch(left, hits)
		for i := range k.found {
			k.found[i] |= hits[i]
		}
		if left, err = k.withoutFound(keys); err != nil {
			return err
		}
	}
	fresh := keys.Len() - old - k.last.TestAndAddBatch(left, hits)
	for i, word := range k.found {
		hits[i] |= word
	}
	if fresh > 0 {
		k.count(fresh)
	}
	return nil
}

// withoutFound returns a column in which the keys that were found are null.
func (k *seenKeys) withoutFound(keys bloom.Keys) (bloom.Keys, error) {
	k.validity = appendNot(k.validity[:0], k.found)
	return keys.WithValidity(k.validity, 0)
}

// appendNot appends the bytes of a validity bitmap in which the keys that hit are null.
func appendNot(to []byte, hits []uint64) []byte {
	for _, word := range hits {
		to = binary.LittleEndian.AppendUint64(to, ^word)
	}
	return to
}

// count counts new keys of the last set, and those that the sets are expected to have taken for old ones
// meanwhile. The rate is the one with all the new keys, so they are rather fewer.
func (k *seenKeys) count(fresh int) {
	k.last.keys += fresh
	k.added += fresh
	rate := min(k.before+k.last.rate(), 0.99)
	k.missing += float64(fresh) * rate / (1 - rate) // the new ones are a share of 1 - rate
}

// mayContain sets the bits in hits of the keys that may be in one of the sets.
func (k *seenKeys) mayContain(keys bloom.Keys, hits []uint64) {
	clear(hits)
	if k.last.Set == nil {
		return
	}
	k.found = records.WordsFor(k.found, keys.Len())
	for _, set := range append(k.full, k.last) {
		set.MayContainBatch(keys, k.found)
		for i, word := range k.found {
			hits[i] |= word
		}
	}
}

// rateTogether returns the rate of a set of all keys that has the shape of the first one.
func (k *seenKeys) rateTogether() float64 {
	all := k.full[0]
	for _, set := range append(k.full[1:], k.last) {
		all.keys += set.keys
	}
	return all.rate()
}
