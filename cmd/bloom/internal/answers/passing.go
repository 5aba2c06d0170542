package answers

import (
	"encoding/binary"
	"errors"

	"github.com/lanebloom/bloom"
)

// passingQuestion asks which absent keys are false positives of a filter, and where their bits are. The absent keys are the
// numbered keys that were left out or, if there are no numbered keys, random keys.
type passingQuestion struct {
	Filter   string   `json:"filter"`
	Numbered numbered `json:"numbered"`
}

type passingAnswer struct {
	Tested int `json:"tested"`
	Passed int `json:"passed"`

	// Equal is how many of the false positives have the hash of an added key. A filter of any size has these false positives.
	Equal   int    `json:"equal"`
	Example string `json:"example"` // a false positive

	// The data of the answer are Cells rows and columns of little-endian numbers of 32 bits. Each number is
	// how many probes of false positives test a bit in that part of the picture.
	Cells int `json:"cells"`
}

const (
	mostCells    = 64
	randomTested = 1 << 18
	mostExplain  = 1 << 16 // keys whose probes are counted; each takes a microsecond for a probe
)

// passing answers which absent keys are false positives.
func (d *Desk) passing(q passingQuestion, _ []byte) (a passingAnswer, data []byte, err error) {
	k, err := d.shelf.get(q.Filter)
	if err != nil {
		return a, nil, err
	}
	if err := q.Numbered.check(); err != nil {
		return a, nil, err
	}
	picture := PictureOf(DrawnBits(k.Filter.Filter, k.Stats().Bits))
	if picture.Bits == 0 {
		return a, nil, errors.New("the filter has no bits")
	}
	a.Cells = int(min(mostCells, picture.Columns))
	heat := make([]uint32, a.Cells*a.Cells)
	hashes := map[bloom.Hash]int{} // of those that pass
	room := mostExplain * maxProbes / max(len(k.Explain(nil).Positions), 1)
	look := func(keys []string) {
		a.Tested += len(keys)
		passes(k.Filter.Filter, keys, func(key string) {
			a.Passed++
			a.Example = key
			hashes[k.Format().HashString(key)]++
			if a.Passed <= room {
				picture.count(heat, a.Cells, k.Explain([]byte(key)).Positions)
			}
		})
	}
	if q.Numbered.Count > 0 {
		q.Numbered.columns(false, look)
		a.Equal = q.Numbered.withHashOf(k.Format(), hashes)
	} else {
		randomColumns(randomTested, look)
	}
	for _, n := range heat {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	return a, data, nil
}

// withHashOf returns how many of those that pass have the hash of an added key.
func (n numbered) withHashOf(f bloom.Format, passed map[bloom.Hash]int) (equal int) {
	n.columns(true, func(keys []string) {
		for _, key := range keys {
			h := f.HashString(key)
			equal += passed[h]
			delete(passed, h) // counted
		}
	})
	return equal
}
