package answers

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// The limits of the page.
const (
	maxKeys       = 5000 // that are typed
	maxKeyBytes   = 256
	maxCapacity   = 10_000_000
	maxNumbered   = 1_000_000
	maxBitsPerKey = 32
	maxProbes     = 30
	maxArray      = 1 << 30 // bytes of bits
	maxCurveKeys  = 1e9

	// maxPositions bounds the bits that an answer lists for all of its keys. Filters
	// that are made here stay within it, whatever is chosen. A file may have more
	// probes: then it is fewer keys that are taken at a time.
	maxPositions = maxKeys * maxProbes
)

// aboutAnswer tells the page the formats to choose from, and the limits.
type aboutAnswer struct {
	Formats  []formatInfo   `json:"formats"`
	Default  string         `json:"default"` // the format to take if no engine reads the filter
	Patterns []string       `json:"patterns"`
	Limits   map[string]int `json:"limits"`
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
	walk := set.Filter().Explain(nil)
	info := formatInfo{ID: f.String(), Name: f.Name(), Rule: walk.Rule, ChoosesProbes: choosesProbes(f)}
	for _, n := range walk.Numbers {
		info.Numbers = append(info.Numbers, numberInfo{n.Name, n.Meaning})
	}
	return info
}

func (*Desk) about(struct{}, []byte) (a aboutAnswer, _ []byte, _ error) {
	a.Default, a.Patterns = bloom.Default.String(), patterns
	a.Limits = map[string]int{"capacity": maxCapacity, "numbered": maxNumbered, "bits_per_key": maxBitsPerKey, "probes": maxProbes, "array": maxArray}
	for _, f := range bloom.Formats() {
		a.Formats = append(a.Formats, newFormatInfo(f))
	}
	return a, nil, nil
}

// first returns the file that the page shows first, or null.
func (d *Desk) first(struct{}, []byte) (*Given, []byte, error) {
	if d.given == nil {
		return nil, nil, nil
	}
	return d.given, d.given.Bytes, nil
}

// filterQuestion asks for a filter, after keys have been added to it. The filter is a new one of a given size, or the one in
// a file. Format is the format of a new filter or of bare bytes. The header of a filter file contains the format.
type filterQuestion struct {
	Format     string `json:"format"`
	Capacity   int    `json:"capacity"` // expected keys
	BitsPerKey int    `json:"bits_per_key"`
	Probes     int    `json:"probes"` // 0: the format's own for these bits per key

	// Instead of the three above: a file comes with the question, or is here, as an answer named it.
	HasFile bool   `json:"has_file"`
	File    string `json:"file"`

	Numbered numbered `json:"numbered"`
	Keys     keyList  `json:"keys"`
}

// filterAnswer is a filter, and the description of its bytes. Its data are the bare bytes, unless they
// are in the file.
type filterAnswer struct {
	ID   string `json:"id"`   // for further questions
	File string `json:"file"` // that of the file, if there is one

	Format        string    `json:"format"`
	IsFile        bool      `json:"is_file"` // whether the file said its format
	Name          string    `json:"name"`
	InFile        *span     `json:"in_file"` // where the bare bytes are in the file; null if the answer brings them
	Parts         []part    `json:"parts"`
	Bits          uint64    `json:"bits"`
	Reached       uint64    `json:"reached"` // of the bits, those that keys have
	Columns       uint64    `json:"columns"` // of the picture
	SetBits       uint64    `json:"set_bits"`
	Probes        int       `json:"probes"`
	Keys          []keyWalk `json:"keys"`           // those typed, each once
	KeyCount      *uint64   `json:"key_count"`      // as the file says, and those added; null if nothing says it
	EstimatedKeys *float64  `json:"estimated_keys"` // null if unlimited
	Expected      float64   `json:"expected"`       // false-positive rate of this number of keys
	Observed      float64   `json:"observed"`       // that of this filter: the share of random hashes that pass
	Curve         *curve    `json:"curve"`          // null if there is nothing to draw
}

type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// curve says for which number of keys the page draws the rate over bits per key. Another question asks for its points, because they
// take longer than all the rest in LevelDB's format.
type curve struct {
	Keys   int        `json:"keys"`
	Probes int        `json:"probes"` // 0: the format's own
	Chosen RatePoint  `json:"chosen"` // the filter with that many keys
	Now    *RatePoint `json:"now"`    // with the keys it has, as observed
}

// keyWalk is a key and its bits.
type keyWalk struct {
	Key       string   `json:"key"`
	Numbers   []string `json:"numbers"` // in hexadecimal digits, in the order of the format
	Positions []uint64 `json:"positions"`
}

// filter answers with a filter.
func (d *Desk) filter(q filterQuestion, file []byte) (a filterAnswer, data []byte, err error) {
	format, keys, err := formatAndKeys(q.Format, q.Keys)
	if err != nil {
		return a, nil, err
	}
	if err := q.Numbered.check(); err != nil {
		return a, nil, err
	}
	k, err := d.begin(format, q, file)
	if err != nil {
		return a, nil, err
	}
	added := uint64(len(keys) + q.Numbered.Count)
	isNew := q.File == "" && !q.HasFile
	if !isNew {
		a.File, a.IsFile = k.id, k.IsFile
		if n, known := k.KeyCount(); known && k.IsFile && n <= math.MaxUint64-added {
			n += added
			a.KeyCount = &n
		}
	}
	if added > 0 {
		if k, err = d.withKeys(k, keys, q.Numbered); err != nil {
			return a, nil, err
		}
	}
	if data = k.Bytes(); !isNew && added == 0 {
		from := len(k.file) - len(k.Bytes())
		a.InFile, data = &span{from, len(k.file)}, nil
	}
	a.ID = k.id
	a.describe(k)
	a.Keys = make([]keyWalk, len(keys))
	for i, key := range keys {
		a.Keys[i] = newKeyWalk(k, key)
	}
	switch {
	case isNew:
		a.setRates(k.Format(), float64(added), q.Capacity, q.Probes, float64(q.BitsPerKey))
	case a.KeyCount != nil:
		a.setRatesOfFile(k.Format(), float64(*a.KeyCount))
	case a.EstimatedKeys == nil: // every key may be in it
		a.Expected = 1
	default:
		a.setRatesOfFile(k.Format(), math.Round(*a.EstimatedKeys))
	}
	return a, data, nil
}

// begin returns the filter to which keys are added.
func (d *Desk) begin(format bloom.Format, q filterQuestion, file []byte) (k kept, err error) {
	switch {
	case q.HasFile:
		f, err := OpenFile(format, file)
		if err != nil {
			return k, err
		}
		return d.shelf.put(file, f), nil
	case q.File != "":
		if k, err = d.shelf.get(q.File); err == nil && !k.IsFile && k.Format() != format {
			return d.begin(format, filterQuestion{HasFile: true}, k.file)
		}
		return k, err
	}
	f, err := empty(format, q)
	if err != nil || len(q.Keys)+q.Numbered.Count > 0 {
		return kept{Filter: f}, err
	}
	return d.shelf.put(f.Bytes(), f), nil
}

// empty returns an empty filter as asked for.
func empty(f bloom.Format, q filterQuestion) (o filterfile.Filter, err error) {
	if err := cmp.Or(
		within("the number of expected keys", q.Capacity, 1, maxCapacity),
		within("the number of bits per key", q.BitsPerKey, 1, maxBitsPerKey),
		withinProbes(q.Probes),
	); err != nil {
		return o, err
	}
	set, err := bloom.Policy{Format: f, BitsPerKey: q.BitsPerKey}.NewSet(q.Capacity)
	if err != nil {
		return o, fromLibrary(err)
	}
	data := set.AppendFilter(nil)
	if q.Probes > 0 {
		if err := setProbes(f, set.Filter(), data, q.Probes); err != nil {
			return o, err
		}
	}
	return filterfile.OpenBare(f, data)
}

// withKeys returns a filter with keys added.
func (d *Desk) withKeys(k kept, keys []string, n numbered) (kept, error) {
	set, err := bloom.OpenSet(k.Format(), k.Bytes())
	if err != nil {
		return k, fmt.Errorf("no key can be added: %w", fromLibrary(err))
	}
	if err := checkPositions(k, keys); err != nil {
		return k, err
	}
	set.AddBatch(bloom.Strings(keys))
	n.columns(true, func(keys []string) { set.AddBatch(bloom.Strings(keys)) })
	data := set.Bytes()
	f, err := filterfile.OpenBare(k.Format(), data)
	if err != nil {
		return k, err
	}
	return d.shelf.put(data, f), nil
}

// checkPositions returns an error if the answer for the keys would list more than maxPositions bits. All
// keys of a filter have the same number of bits.
func checkPositions(f kept, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	probes := len(f.Explain(nil).Positions)
	if len(keys)*probes <= maxPositions {
		return nil
	}
	return fmt.Errorf("%d keys of %d probes have more bits than the %d that are shown here: choose %d keys or fewer",
		len(keys), probes, maxPositions, maxPositions/probes)
}

func newKeyWalk(f kept, key string) keyWalk {
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

// formatAndKeys parses the name of a format and a list of keys, and returns every key once.
func formatAndKeys(name string, list keyList) (format bloom.Format, keys []string, err error) {
	if format, err = bloom.ParseFormat(show.Short(name)); err != nil {
		return 0, nil, fromLibrary(err)
	}
	keys, err = list.unique()
	return format, keys, err
}

// OpenFile returns the filter in a file that the page can show.
func OpenFile(f bloom.Format, file []byte) (filterfile.Filter, error) {
	o, err := filterfile.Recognise(f, file)
	if strange := (*filterfile.StrangeError)(nil); errors.As(err, &strange) && strange.Remedy != "" {
		return o, fmt.Errorf("%w: %s", err, strange.Remedy)
	}
	if err != nil {
		return o, err
	}
	if from, to := o.BitRange(); to-from > maxArray { // what is around them does not count
		return o, fmt.Errorf("the filter's bits are larger than %d bytes, the most that this page shows; bloom inspect accepts any size", maxArray)
	}
	return o, nil
}

// describe fills in the description of the bytes of a filter.
func (a *filterAnswer) describe(k kept) {
	stats := k.Stats()
	a.Format, a.Name = k.Format().String(), k.Format().Name()
	a.Parts = append([]part{}, partsOf(k.Format(), k.Filter.Filter, k.Bytes())...)
	a.Reached, a.SetBits, a.Probes = stats.Bits, stats.SetBits, stats.Probes
	a.Bits = DrawnBits(k.Filter.Filter, stats.Bits)
	a.Columns = PictureOf(a.Bits).Columns
	a.Observed = k.MeasureRate()
	if !stats.KeysUnknown {
		a.EstimatedKeys = &stats.Keys
	}
}

// DrawnBits returns how many bits of a filter are drawn; bits is the number in its header. A
// bits-and-blooms filter may store a different number of bits, because it stores whole words and may store fewer words. All
// bits that it stores are drawn.
func DrawnBits(f *bloom.Filter, bits uint64) uint64 {
	if from, to := f.BitRange(); f.Format() == bloom.BitsAndBlooms {
		return 8 * uint64(to-from)
	}
	return bits
}

// setRatesOfFile fills in the expected rates of a file of n keys. If n is more than maxCurveKeys, there is no curve.
func (a *filterAnswer) setRatesOfFile(f bloom.Format, n float64) {
	capacity := 0
	if n <= maxCurveKeys {
		capacity = int(n)
	}
	a.setRates(f, min(n, math.MaxInt32), capacity, 0, float64(a.Reached)/max(n, 1))
}

// setRates fills in the expected rates: for the n keys that the filter has, and for its
// capacity at the given bits per key.
func (a *filterAnswer) setRates(f bloom.Format, n float64, capacity, probes int, bitsPerKey float64) {
	if a.Reached == 0 || a.Probes == 0 {
		return
	}
	a.Expected = f.FalsePositiveRate(int(math.Round(n)), a.Reached, a.Probes)
	if capacity == 0 {
		return
	}
	chosen := a.Expected
	if capacity != int(n) {
		chosen = f.FalsePositiveRate(capacity, a.Reached, a.Probes)
	}
	a.Curve = &curve{Keys: capacity, Probes: probes, Chosen: RatePoint{bitsPerKey, chosen}}
	if n > 0 {
		a.Curve.Now = &RatePoint{float64(a.Reached) / n, a.Observed}
	}
}

// curveQuestion asks for the points of a curve over bits per key, up to a largest number of bits.
type curveQuestion struct {
	Format string `json:"format"`
	Keys   int    `json:"keys"`
	Probes int    `json:"probes"` // 0: the format's own
	First  int    `json:"first"`
	Last   int    `json:"last"`
}

type curveAnswer struct {
	Points []RatePoint `json:"points"`
}

// curve answers with points.
func (*Desk) curve(q curveQuestion, _ []byte) (a curveAnswer, _ []byte, err error) {
	format, err := bloom.ParseFormat(show.Short(q.Format))
	if err != nil {
		return a, nil, fromLibrary(err)
	}
	if err := cmp.Or(
		within("the number of keys", q.Keys, 1, maxCurveKeys),
		withinProbes(q.Probes),
		within("the last number of bits per key", q.Last, 1, maxBitsPerKey),
		within("the first number of bits per key", q.First, 1, q.Last),
	); err != nil {
		return a, nil, err
	}
	if q.Probes > 0 && !choosesProbes(format) {
		return a, nil, errOwnProbes(format)
	}
	a.Points = RateCurve(format, q.Keys, q.Probes, q.First, q.Last)
	return a, nil, nil
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

// testQuestion asks for a test of keys with a filter.
type testQuestion struct {
	Filter string  `json:"filter"`
	Keys   keyList `json:"keys"`
}

type testAnswer struct {
	Results []testResult `json:"results"`
}

type testResult struct {
	keyWalk
	MayContain bool `json:"may_contain"`
}

// test answers whether keys may be in a filter.
func (d *Desk) test(q testQuestion, _ []byte) (a testAnswer, _ []byte, err error) {
	keys, err := q.Keys.unique()
	if err != nil {
		return a, nil, err
	}
	if len(keys) == 0 {
		return a, nil, errors.New("there is no key to test")
	}
	k, err := d.shelf.get(q.Filter)
	if err != nil {
		return a, nil, err
	}
	if err := checkPositions(k, keys); err != nil {
		return a, nil, err
	}
	for _, key := range keys {
		a.Results = append(a.Results, testResult{newKeyWalk(k, key), k.MayContainString(key)})
	}
	return a, nil, nil
}

type sizesAnswer struct {
	Sizes []Size `json:"sizes"`
}

// sizes answers as bloom size does.
func (*Desk) sizes(q SizeQuestion, _ []byte) (a sizesAnswer, _ []byte, err error) {
	if err := q.Check(""); err != nil {
		return a, nil, err
	}
	a.Sizes = q.Sizes()
	return a, nil, nil
}
