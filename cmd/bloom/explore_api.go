package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/filterfile"
)

// The limits of explore. They keep filters small enough to look at.
const (
	maxKeys       = 5000
	maxKeyBytes   = 256
	maxBitsPerKey = 32
	maxProbes     = 30
	maxArray      = 1 << 20        // bytes of bits
	maxFile       = maxArray + 256 // with what is around the bits
	maxCurveKeys  = 1e9            // more than a filter of maxArray bytes has any use for

	// maxPositions bounds the bits that an answer lists for all of its keys. Filters
	// that are made here stay within it, whatever is chosen. A file may have more
	// probes: then it is fewer keys that are taken at a time.
	maxPositions = maxKeys * maxProbes
)

// formatsAnswer tells the page the formats to choose from, and the limits.
type formatsAnswer struct {
	Formats []formatInfo   `json:"formats"`
	Limits  map[string]int `json:"limits"`
	Kernel  string         `json:"kernel"` // that tests random keys
}

type formatInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"` // as stored in tables

	// The numbers that lead from a key to its bits, and how, in words.
	Numbers []numberInfo `json:"numbers"`
	Rule    string       `json:"rule"`

	ChoosesProbes bool `json:"chooses_probes"` // whether a filter can have another number of probes than the format's own
}

type numberInfo struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

func newFormatInfo(f bloom.Format) formatInfo {
	set, err := bloom.Policy{Format: f, BitsPerKey: 10}.NewSet(1)
	if err != nil {
		panic(err) // there is memory for one key
	}
	walk := set.Explain(nil)
	info := formatInfo{ID: f.String(), Name: f.Name(), Rule: walk.Rule, ChoosesProbes: choosesProbes(f)}
	for _, n := range walk.Numbers {
		info.Numbers = append(info.Numbers, numberInfo{n.Name, n.Meaning})
	}
	return info
}

func listFormats() formatsAnswer {
	a := formatsAnswer{
		Limits: map[string]int{
			"keys": maxKeys, "key_bytes": maxKeyBytes, "bits_per_key": maxBitsPerKey, "probes": maxProbes, "array": maxArray, "file": maxFile,
		},
		Kernel: bloom.Kernels()[0].String(),
	}
	for _, f := range formats {
		a.Formats = append(a.Formats, newFormatInfo(f))
	}
	return a
}

// filterRequest asks for a filter: an empty one of a size, or the one in a file, with keys
// added. The format is that of a new filter and of bare bytes. A file that says its format has
// that.
type filterRequest struct {
	Format     string  `json:"format"`
	Capacity   int     `json:"capacity"` // expected keys
	BitsPerKey int     `json:"bits_per_key"`
	Probes     int     `json:"probes"` // 0: the format's own for these bits per key
	File       []byte  `json:"file"`   // instead of the three above
	Keys       keyList `json:"keys"`
}

// filterAnswer is a filter, and the description of its bytes.
type filterAnswer struct {
	Format        string    `json:"format"`
	IsFile        bool      `json:"is_file"` // whether the file said its format
	Name          string    `json:"name"`
	Encoded       []byte    `json:"encoded"` // bare
	Parts         []part    `json:"parts"`
	Bits          uint64    `json:"bits"`
	SetBits       uint64    `json:"set_bits"`
	Probes        int       `json:"probes"`
	Keys          []keyWalk `json:"keys"`           // each once
	KeyCount      *uint64   `json:"key_count"`      // as the file says, and those added; null if nothing says it
	EstimatedKeys *float64  `json:"estimated_keys"` // null if unlimited
	Expected      float64   `json:"expected"`       // false-positive rate of so many keys
	Observed      float64   `json:"observed"`       // share of random absent keys that pass
	Samples       int       `json:"samples"`        // how many they are
	Curve         *curve    `json:"curve"`          // null if there is nothing to draw
}

// curve says for which number of keys the page draws the rate over bits per key. /api/curve has
// its points, which take LevelDB's format longer than all the rest.
type curve struct {
	Keys   int        `json:"keys"`
	Probes int        `json:"probes"` // 0: the format's own
	Chosen ratePoint  `json:"chosen"` // the filter with that many keys
	Now    *ratePoint `json:"now"`    // with the keys it has, as observed
}

// curveRequest asks for the points of a curve.
type curveRequest struct {
	Format string `json:"format"`
	Keys   int    `json:"keys"`
	Probes int    `json:"probes"` // 0: the format's own
}

type curveAnswer struct {
	Points []ratePoint `json:"points"` // at 1 to maxBitsPerKey bits per key
}

// keyWalk is a key and its bits.
type keyWalk struct {
	Key       string   `json:"key"`
	Numbers   []string `json:"numbers"` // in hexadecimal digits, in the order of the format
	Positions []uint64 `json:"positions"`
}

// walker is a filter or a set.
type walker interface {
	Explain(key []byte) bloom.Explanation
}

// checkPositions refuses keys that have more bits together than an answer lists. All
// keys of a filter have the same number.
func checkPositions(f walker, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	probes := len(f.Explain(nil).Positions)
	if len(keys)*probes <= maxPositions {
		return nil
	}
	return fmt.Errorf("%d keys of %d probes have more bits than the %d that are shown here: take %d keys or fewer",
		len(keys), probes, maxPositions, maxPositions/probes)
}

func newKeyWalk(f walker, key string) keyWalk {
	w := f.Explain([]byte(key))
	k := keyWalk{Key: key, Positions: w.Positions}
	for _, n := range w.Numbers {
		k.Numbers = append(k.Numbers, fmt.Sprintf("%0*x", (n.Bits+3)/4, n.Value))
	}
	if k.Positions == nil {
		k.Positions = []uint64{}
	}
	return k
}

// makeFilter answers /api/filter.
func makeFilter(q filterRequest) (a filterAnswer, err error) {
	format, keys, err := formatAndKeys(q.Format, q.Keys)
	if err != nil {
		return a, err
	}
	var data []byte
	if q.File == nil {
		data, err = empty(format, q)
	} else {
		var o filterfile.Filter
		if o, err = openSmall(format, q.File); err == nil {
			format, data, a.IsFile = o.Format(), o.Bare, o.IsFile
			if n, known := o.KeyCount(); known && o.IsFile {
				n += uint64(len(keys))
				a.KeyCount = &n
			}
		}
	}
	if err != nil {
		return a, err
	}
	if data, err = addKeys(format, data, keys); err != nil {
		return a, err
	}
	filter, err := bloom.Open(format, data)
	if err != nil {
		return a, fromLibrary(err)
	}
	a.describe(filter, data)
	a.Keys = make([]keyWalk, len(keys))
	for i, key := range keys {
		a.Keys[i] = newKeyWalk(filter, key)
	}
	switch {
	case q.File == nil:
		a.setRates(format, float64(len(keys)), q.Capacity, q.Probes, float64(q.BitsPerKey))
	case a.KeyCount != nil:
		a.setRatesOfFile(format, float64(*a.KeyCount))
	case a.EstimatedKeys == nil: // every key may be in it
		a.Expected = 1
	default:
		a.setRatesOfFile(format, math.Round(*a.EstimatedKeys))
	}
	return a, nil
}

// empty returns the encoding of an empty filter as asked for.
func empty(f bloom.Format, q filterRequest) ([]byte, error) {
	if err := cmp.Or(
		within("the number of expected keys", q.Capacity, 1, maxKeys),
		within("the number of bits per key", q.BitsPerKey, 1, maxBitsPerKey),
		withinProbes(q.Probes),
	); err != nil {
		return nil, err
	}
	set, err := bloom.Policy{Format: f, BitsPerKey: q.BitsPerKey}.NewSet(q.Capacity)
	if err != nil {
		return nil, fromLibrary(err)
	}
	data := set.AppendFilter(nil)
	if q.Probes > 0 {
		return data, setProbes(f, set, data, q.Probes)
	}
	return data, nil
}

// addKeys returns an encoded filter with keys added.
func addKeys(f bloom.Format, data []byte, keys []string) ([]byte, error) {
	if len(keys) == 0 {
		return data, nil
	}
	set, err := bloom.OpenSet(f, data)
	if err != nil {
		return nil, fmt.Errorf("no key can be added: %w", fromLibrary(err))
	}
	if err := checkPositions(set, keys); err != nil {
		return nil, err
	}
	set.AddBatch(bloom.Strings(keys))
	return set.AppendFilter(nil), nil
}

// keyList is the keys of a request.
type keyList []string

// UnmarshalJSON reads no more keys than are needed to see that they are too many: in
// memory a key takes many times the three bytes that it takes in a request.
func (l *keyList) UnmarshalJSON(data []byte) error {
	*l = nil
	if string(data) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return errors.New("keys is no list")
	}
	for decoder.More() && len(*l) <= maxKeys {
		var key string
		if err := decoder.Decode(&key); err != nil {
			return fmt.Errorf("a key is no text: %w", err)
		}
		*l = append(*l, key)
	}
	return nil
}

// unique returns every key once.
func (l keyList) unique() ([]string, error) {
	if len(l) > maxKeys {
		return nil, fmt.Errorf("there are more than the %d keys that are taken here", maxKeys)
	}
	seen := make(map[string]bool, len(l))
	unique := l[:0]
	for _, key := range l {
		if len(key) > maxKeyBytes {
			return nil, fmt.Errorf("a key has %d bytes, more than the limit of %d: %.30q…", len(key), maxKeyBytes, key)
		}
		if !seen[key] {
			seen[key] = true
			unique = append(unique, key)
		}
	}
	return unique, nil
}

// formatAndKeys reads what all requests have in common, and returns every key once.
func formatAndKeys(name string, list keyList) (format bloom.Format, keys []string, err error) {
	if format, err = bloom.ParseFormat(shortenQuote(name)); err != nil {
		return 0, nil, fromLibrary(err)
	}
	keys, err = list.unique()
	return format, keys, err
}

// openSmall returns the filter in a file that the page can show.
func openSmall(f bloom.Format, file []byte) (filterfile.Filter, error) {
	o, err := filterfile.Recognise(f, file)
	if strange := (*filterfile.StrangeError)(nil); errors.As(err, &strange) {
		err = fmt.Errorf("%w: %sinsist with bloom inspect --raw", err, strange.Remedy)
	}
	if err == nil && tooLarge(o) {
		err = fmt.Errorf("the filter's bits are larger than %d bytes, the most that this page shows; bloom inspect takes any size", maxArray)
	}
	return o, err
}

// tooLarge reports whether a filter has more bits than the page shows. What is around them does not
// count.
func tooLarge(f interface{ BitRange() (from, to int) }) bool {
	from, to := f.BitRange()
	return to-from > maxArray
}

// describe fills in the description of the bytes of a filter.
func (a *filterAnswer) describe(filter *bloom.Filter, data []byte) {
	stats := filter.Stats()
	a.Format, a.Name = filter.Format().String(), filter.Format().Name()
	a.Encoded = data
	a.Parts = append([]part{}, partsOf(filter.Format(), filter, data)...)
	a.Bits, a.SetBits, a.Probes = stats.Bits, stats.SetBits, stats.Probes
	a.Observed, a.Samples = observedRate(filter, stats.Probes)
	if !stats.KeysUnknown {
		a.EstimatedKeys = &stats.Keys
	}
}

// setRatesOfFile fills in the expected rates of a file of n keys. There is no curve of more keys than
// curvePoints takes.
func (a *filterAnswer) setRatesOfFile(f bloom.Format, n float64) {
	capacity := 0
	if n <= maxCurveKeys {
		capacity = int(n)
	}
	a.setRates(f, min(n, math.MaxInt32), capacity, 0, float64(a.Bits)/max(n, 1))
}

// setRates fills in the expected rates: for the n keys that the filter has, and for its
// capacity at the given bits per key.
func (a *filterAnswer) setRates(f bloom.Format, n float64, capacity, probes int, bitsPerKey float64) {
	if a.Bits == 0 || a.Probes == 0 {
		return
	}
	a.Expected = f.FalsePositiveRate(int(math.Round(n)), a.Bits, a.Probes)
	if capacity == 0 {
		return
	}
	a.Curve = &curve{
		Keys:   capacity,
		Probes: probes,
		Chosen: ratePoint{bitsPerKey, f.FalsePositiveRate(capacity, a.Bits, a.Probes)},
	}
	if n > 0 {
		a.Curve.Now = &ratePoint{float64(a.Bits) / n, a.Observed}
	}
}

// curvePoints answers /api/curve.
func curvePoints(q curveRequest) (a curveAnswer, err error) {
	format, err := bloom.ParseFormat(shortenQuote(q.Format))
	if err != nil {
		return a, fromLibrary(err)
	}
	if err := cmp.Or(within("the number of keys", q.Keys, 1, maxCurveKeys), withinProbes(q.Probes)); err != nil {
		return a, err
	}
	if q.Probes > 0 && !choosesProbes(format) {
		return a, fmt.Errorf("filters of %v have their own number of probes, and no other can be chosen", format)
	}
	a.Points = rateCurve(format, q.Keys, q.Probes, maxBitsPerKey)
	return a, nil
}

// within refuses a value out of its bounds.
func within(what string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s must be between %d and %d, and is %d", what, low, high, value)
	}
	return nil
}

func withinProbes(k int) error {
	if k == 0 { // the format's own
		return nil
	}
	return within("the number of probes, if it is not the format's own,", k, 1, maxProbes)
}

// samples is the number of random keys that give the observed rate, for up to maxProbes
// probes a key. For a rate of 1 % its relative error is 2 %.
const samples = 1 << 18

// randomKeys is a column of absent keys. A key has 16 random bytes, so nobody has added it.
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

// observedRate returns the share of random keys that pass, and how many they are: of
// more probes than maxProbes fewer, so that all take the same time.
func observedRate(filter *bloom.Filter, probes int) (rate float64, n int) {
	n = samples
	if probes > maxProbes {
		n = samples * maxProbes / probes &^ 63
	}
	hits := make([]uint64, n/64)
	return float64(filter.MayContainBatch(randomKeys().Slice(0, n), hits)) / float64(n), n
}

// testRequest asks for a test of keys with a filter.
type testRequest struct {
	Format  string  `json:"format"`
	Encoded []byte  `json:"encoded"`
	Keys    keyList `json:"keys"`
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
	format, keys, err := formatAndKeys(q.Format, q.Keys)
	if err != nil {
		return a, err
	}
	if len(keys) == 0 {
		return a, errors.New("there is no key to test")
	}
	filter, err := bloom.Open(format, q.Encoded)
	if err != nil {
		return a, fromLibrary(err)
	}
	if tooLarge(filter) {
		return a, fmt.Errorf("the filter's bits are larger than %d bytes", maxArray)
	}
	if err := checkPositions(filter, keys); err != nil {
		return a, err
	}
	for _, key := range keys {
		a.Results = append(a.Results, testResult{newKeyWalk(filter, key), filter.MayContainString(key)})
	}
	return a, nil
}

// sizeRequest has two of the four numbers of a filter: the answer has the others, for each format.
type sizeRequest struct {
	Keys       *keyCount `json:"keys"`
	BitsPerKey *int      `json:"bits_per_key"`
	Rate       *rate     `json:"rate"`
	Memory     *byteSize `json:"memory"`
}

type sizeAnswer struct {
	Sizes []filterSize `json:"sizes"`
}

// calculate answers /api/size as bloom size does.
func calculate(q sizeRequest) (a sizeAnswer, err error) {
	c := sizeCommand{Keys: q.Keys, BitsPerKey: q.BitsPerKey, Rate: q.Rate, Memory: q.Memory}
	if err := c.check(); err != nil {
		return a, errors.New(strings.ReplaceAll(err.Error(), "--", "")) // the page has no flags
	}
	a.Sizes = c.sizes()
	return a, nil
}
