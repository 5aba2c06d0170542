package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/lanebloom/bloom"
)

// The bounds of what explore takes. What it shows is meant to be looked at.
const (
	maxKeys       = 5000
	maxKeyBytes   = 256
	maxBitsPerKey = 32
	maxProbes     = 30
	maxFile       = 1 << 20 // bytes
)

// formatsAnswer tells the page what there is to choose, and the bounds.
type formatsAnswer struct {
	Formats []formatInfo   `json:"formats"`
	Limits  map[string]int `json:"limits"`
	Kernel  string         `json:"kernel"` // that tests random keys
	Samples int            `json:"samples"`
}

type formatInfo struct {
	ID    string `json:"id"`
	Name  string `json:"name"` // as stored in tables
	Hash  string `json:"hash"`
	Delta string `json:"delta"`
}

func listFormats() formatsAnswer {
	a := formatsAnswer{
		Limits: map[string]int{
			"keys": maxKeys, "key_bytes": maxKeyBytes, "bits_per_key": maxBitsPerKey, "probes": maxProbes, "file": maxFile,
		},
		Kernel:  bloom.Kernels()[0].String(),
		Samples: samples,
	}
	for _, e := range encodings {
		a.Formats = append(a.Formats, formatInfo{e.format.String(), e.format.Name(), e.hash, e.delta})
	}
	return a
}

// filterRequest asks for a filter: an empty one of a size, or one that a file
// encodes, with keys added.
type filterRequest struct {
	Format     string   `json:"format"`
	Capacity   int      `json:"capacity"` // expected keys
	BitsPerKey int      `json:"bits_per_key"`
	Probes     int      `json:"probes"` // 0: the format's own for these bits per key
	File       []byte   `json:"file"`   // instead of the three above
	Keys       []string `json:"keys"`
}

// filterAnswer is a filter, and what its bytes say.
type filterAnswer struct {
	Name          string    `json:"name"`
	Encoded       []byte    `json:"encoded"`
	Parts         []part    `json:"parts"`
	Bits          uint64    `json:"bits"`
	SetBits       uint64    `json:"set_bits"`
	Probes        int       `json:"probes"`
	Keys          []keyWalk `json:"keys"`           // each once
	EstimatedKeys *float64  `json:"estimated_keys"` // null if unlimited
	Expected      float64   `json:"expected"`       // false-positive rate of the keys added or, in a file, estimated
	Observed      float64   `json:"observed"`       // share of random absent keys that pass
	Curve         *curve    `json:"curve"`          // null if there is nothing to draw
}

// curve is the rate over bits per key for a number of keys.
type curve struct {
	Keys   int         `json:"keys"`
	Probes int         `json:"probes"` // 0: the format's own
	Points []ratePoint `json:"points"`
	Chosen ratePoint   `json:"chosen"` // the filter with that many keys
	Now    *ratePoint  `json:"now"`    // with the keys it has, as observed
}

// keyWalk is a key and its bits.
type keyWalk struct {
	Key       string   `json:"key"`
	Hash      string   `json:"hash"` // hexadecimal
	Delta     string   `json:"delta"`
	HashBits  int      `json:"hash_bits"`
	Positions []uint64 `json:"positions"`
}

func newKeyWalk(f *bloom.Filter, key string) keyWalk {
	w := f.Walk([]byte(key))
	k := keyWalk{
		Key:       key,
		Hash:      fmt.Sprintf("%0*x", w.HashBits/4, w.Hash),
		Delta:     fmt.Sprintf("%0*x", w.HashBits/4, w.Delta),
		HashBits:  w.HashBits,
		Positions: w.Positions,
	}
	if k.Positions == nil {
		k.Positions = []uint64{}
	}
	return k
}

// makeFilter answers /api/filter.
func makeFilter(q filterRequest) (a filterAnswer, err error) {
	format, err := bloom.ParseFormat(q.Format)
	if err != nil {
		return a, err
	}
	keys, err := checkKeys(q.Keys)
	if err != nil {
		return a, err
	}
	e := encodingOf(format)
	data := q.File
	if data == nil {
		data, err = e.empty(q)
	} else if len(data) > maxFile {
		err = fmt.Errorf("the file is larger than %d bytes, the most that is shown here; bloom inspect takes any size", maxFile)
	}
	if err != nil {
		return a, err
	}
	if data, err = addKeys(format, data, keys); err != nil {
		return a, err
	}
	filter, err := bloom.Open(format, data)
	if err != nil {
		return a, err
	}
	a = describe(e, filter, data)
	a.Keys = make([]keyWalk, len(keys))
	for i, key := range keys {
		a.Keys[i] = newKeyWalk(filter, key)
	}
	switch {
	case q.File == nil:
		err = a.setRates(format, float64(len(keys)), q.Capacity, q.Probes, float64(q.BitsPerKey))
	case a.EstimatedKeys == nil: // every key may be in it
		a.Expected = 1
	default:
		n := math.Round(*a.EstimatedKeys)
		err = a.setRates(format, n, int(n), 0, float64(a.Bits)/max(n, 1))
	}
	return a, err
}

// empty returns the encoding of an empty filter as asked for.
func (e encoding) empty(q filterRequest) ([]byte, error) {
	for _, bound := range []struct {
		what             string
		value, low, high int
	}{
		{"the number of expected keys", q.Capacity, 1, maxKeys},
		{"the number of bits per key", q.BitsPerKey, 1, maxBitsPerKey},
		{"the number of probes, if it is not the format's own,", q.Probes, 0, maxProbes},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return nil, fmt.Errorf("%s must be between %d and %d, and is %d", bound.what, max(bound.low, 1), bound.high, bound.value)
		}
	}
	set, err := bloom.Policy{Format: e.format, BitsPerKey: q.BitsPerKey}.NewSet(q.Capacity)
	if err != nil {
		return nil, err
	}
	data, err := set.MarshalBinary()
	if q.Probes > 0 {
		e.setProbes(data, q.Probes)
	}
	return data, err
}

// addKeys returns an encoded filter with keys added.
func addKeys(f bloom.Format, data []byte, keys []string) ([]byte, error) {
	if len(keys) == 0 {
		return data, nil
	}
	set, err := bloom.OpenSet(f, data)
	if err != nil {
		return nil, fmt.Errorf("no key can be added: %w", err)
	}
	set.AddBatch(bloom.Strings(keys))
	return set.MarshalBinary()
}

// checkKeys returns the keys of a request, each once.
func checkKeys(keys []string) ([]string, error) {
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("%d keys are more than the %d that are taken here", len(keys), maxKeys)
	}
	seen := make(map[string]bool, len(keys))
	unique := keys[:0]
	for _, key := range keys {
		if len(key) > maxKeyBytes {
			return nil, fmt.Errorf("a key has %d bytes, more than the %d that are taken here: %.30q…", len(key), maxKeyBytes, key)
		}
		if !seen[key] {
			seen[key] = true
			unique = append(unique, key)
		}
	}
	return unique, nil
}

// describe tells what the bytes of a filter say.
func describe(e encoding, filter *bloom.Filter, data []byte) filterAnswer {
	stats := filter.Stats()
	a := filterAnswer{
		Name:     e.format.Name(),
		Encoded:  data,
		Parts:    append([]part{}, e.parts(data)...),
		Bits:     stats.Bits,
		SetBits:  stats.SetBits,
		Probes:   stats.Probes,
		Observed: observedRate(filter),
	}
	if !math.IsInf(stats.Keys, 1) {
		a.EstimatedKeys = &stats.Keys
	}
	return a
}

// setRates fills in what is expected: of n keys now, and of the capacity that
// the filter has that many bits per key for.
func (a *filterAnswer) setRates(f bloom.Format, n float64, capacity, probes int, bitsPerKey float64) error {
	if a.Bits == 0 || a.Probes == 0 {
		return nil
	}
	m := float64(a.Bits)
	a.Expected = expectedRate(f, n, m, a.Probes)
	if capacity == 0 {
		return nil
	}
	points, err := rateCurve(f, capacity, probes, maxBitsPerKey)
	if err != nil {
		return err
	}
	a.Curve = &curve{
		Keys:   capacity,
		Probes: probes,
		Points: points,
		Chosen: ratePoint{bitsPerKey, expectedRate(f, float64(capacity), m, a.Probes)},
	}
	if n > 0 {
		a.Curve.Now = &ratePoint{m / n, a.Observed}
	}
	return nil
}

// samples is how many random keys the observed rate is the share of. For a rate
// of 1 % its error is 2 % of that.
const samples = 1 << 18

// randomKeys is a column of absent keys: 16 random bytes, which no key of a
// person's is.
var randomKeys = sync.OnceValue(func() bloom.Keys {
	const width = 16
	data := make([]byte, samples*width)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	keys, err := bloom.FixedWidth(data, width)
	if err != nil {
		panic(err) // the width divides the data
	}
	return keys
})

func observedRate(filter *bloom.Filter) float64 {
	hits := make([]uint64, samples/64)
	return float64(filter.MayContainBatch(randomKeys(), hits)) / samples
}

// testRequest asks a filter for keys.
type testRequest struct {
	Format  string   `json:"format"`
	Encoded []byte   `json:"encoded"`
	Keys    []string `json:"keys"`
}

type testAnswer struct {
	Results []testResult `json:"results"`
}

type testResult struct {
	keyWalk
	MayContain bool `json:"may_contain"`
}

// testKeys answers /api/test.
func testKeys(q testRequest) (a testAnswer, err error) {
	format, err := bloom.ParseFormat(q.Format)
	if err != nil {
		return a, err
	}
	keys, err := checkKeys(q.Keys)
	if err != nil {
		return a, err
	}
	if len(keys) == 0 {
		return a, errors.New("there is no key to test")
	}
	if len(q.Encoded) > maxFile {
		return a, fmt.Errorf("the filter is larger than %d bytes", maxFile)
	}
	filter, err := bloom.Open(format, q.Encoded)
	if err != nil {
		return a, err
	}
	for _, key := range keys {
		a.Results = append(a.Results, testResult{newKeyWalk(filter, key), filter.MayContainString(key)})
	}
	return a, nil
}
