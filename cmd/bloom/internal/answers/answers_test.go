package answers

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// ask asks a desk a question, and returns the answer and the data.
func ask[A any](t *testing.T, d *Desk, name string, question any, file []byte) (a A, data []byte) {
	t.Helper()
	answer, data, err := d.Answer(name, text(t, question), file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return a, data
}

// text returns a question as it is asked: a text as it is, and all else in JSON.
func text(t testing.TB, question any) []byte {
	t.Helper()
	if text, ok := question.(string); ok {
		return []byte(text)
	}
	data, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFilter adds keys to filters of every format and some shapes, and compares what is said of them with
// their bytes.
func TestFilter(t *testing.T) {
	d := NewDesk(nil)
	keys := []string{"hello", "world", "", "hello", "schlüssel", strings.Repeat("k", maxKeyBytes)}
	for _, format := range bloom.Formats() {
		for _, shape := range []struct{ capacity, bitsPerKey, probes int }{
			{1, 1, 0}, {5, 10, 0}, {5, 10, 1}, {5, 10, 30}, {maxKeys, maxBitsPerKey, 0},
		} {
			if shape.probes > 0 && !choosesProbes(format) {
				continue // TestRefuses
			}
			t.Run(fmt.Sprintf("%v/%v", format, shape), func(t *testing.T) {
				f, data := ask[filterAnswer](t, d, "filter", filterQuestion{
					Format: format.String(), Capacity: shape.capacity, BitsPerKey: shape.bitsPerKey, Probes: shape.probes, Keys: keys,
				}, nil)
				if len(f.Keys) != 5 {
					t.Errorf("%d keys, want 5 without the duplicate", len(f.Keys))
				}
				filter, err := bloom.Open(format, data)
				if err != nil {
					t.Fatal(err)
				}
				stats := filter.Stats()
				if f.Reached != stats.Bits || f.Bits < f.Reached || f.Bits > f.Reached+63 || f.SetBits != stats.SetBits || f.Probes != stats.Probes || f.Observed != filter.MeasureRate() {
					t.Errorf("%+v, want %+v", f, stats)
				}
				if shape.probes > 0 && f.Probes != shape.probes {
					t.Errorf("%d probes, want %d", f.Probes, shape.probes)
				}
				b := shape.bitsPerKey
				c, _ := ask[curveAnswer](t, d, "curve", curveQuestion{format.String(), shape.capacity, shape.probes, b, b}, nil)
				if f.Curve == nil || f.Curve.Keys != shape.capacity || f.Curve.Probes != shape.probes || len(c.Points) != 1 ||
					math.Abs(c.Points[0].Rate/f.Curve.Chosen.Rate-1) > 0.05 {
					t.Errorf("curve %+v, %+v", f.Curve, c)
				}
				checkTest(t, d, f, filter, data, append(slices.Clone(keys), "absent", "also absent"))

				// As a file, the same filter is the same, and takes more keys.
				file, none := ask[filterAnswer](t, d, "filter", filterQuestion{Format: format.String(), HasFile: true}, data)
				if none != nil || *file.InFile != (span{0, len(data)}) || file.SetBits != f.SetBits || file.Observed != f.Observed {
					t.Errorf("as a file: %+v, want %+v", file, f)
				}
				_, more := ask[filterAnswer](t, d, "filter", filterQuestion{Format: format.String(), File: file.File, Keys: []string{"more"}}, nil)
				if !bloom.Reference(format, more, []byte("more")) || !bloom.Reference(format, more, []byte("hello")) {
					t.Error("a key is missing after one was added to a file")
				}
			})
		}
	}
}

// checkTest tests keys, and compares the answers with the bits.
func checkTest(t *testing.T, d *Desk, f filterAnswer, filter *bloom.Filter, data []byte, keys []string) {
	t.Helper()
	answer, _ := ask[testAnswer](t, d, "test", testQuestion{f.ID, keys}, nil)
	if len(answer.Results) != 7 {
		t.Fatalf("%d results, want 7", len(answer.Results))
	}
	from, to := filter.BitRange()
	array := data[from:to]
	for _, r := range answer.Results {
		missing := slices.ContainsFunc(r.Positions, func(bit uint64) bool { return array[bit/8]>>(bit%8)&1 == 0 })
		if r.MayContain == missing || len(r.Positions) != f.Probes {
			t.Errorf("%q: %+v, but bits are missing: %v", r.Key, r, missing)
		}
		if want := bloom.Reference(filter.Format(), data, []byte(r.Key)); r.MayContain != want {
			t.Errorf("%q: %v, the reference says %v", r.Key, r.MayContain, want)
		}
	}
}

// fileOf returns a set of keys, in a file of bloom build.
func fileOf(t *testing.T, format bloom.Format, keys ...string) (set *bloom.Set, file []byte) {
	t.Helper()
	set, err := bloom.Policy{Format: format, BitsPerKey: 10}.NewSet(max(len(keys), 40))
	if err != nil {
		t.Fatal(err)
	}
	set.AddBatch(bloom.Strings(keys))
	if file, err = set.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	return set, file
}

// TestFile opens the files of bloom build. They say their format, whatever is chosen on the page, and the
// answer says where their bare bytes are.
func TestFile(t *testing.T) {
	d := NewDesk(nil)
	for _, format := range bloom.Formats() {
		for _, chosen := range bloom.Formats() {
			t.Run(fmt.Sprint(format, " as ", chosen), func(t *testing.T) {
				set, file := fileOf(t, format, "hello")
				question := filterQuestion{Format: chosen.String(), HasFile: true}
				f, data := ask[filterAnswer](t, d, "filter", question, file)
				if f.Format != format.String() || !f.IsFile || data != nil || !bytes.Equal(file[f.InFile.From:f.InFile.To], set.AppendFilter(nil)) {
					t.Errorf("%+v of %x; want %x of %v", f, file, set.AppendFilter(nil), format)
				}
				set.AddString("more")
				_, data = ask[filterAnswer](t, d, "filter", filterQuestion{Format: chosen.String(), File: f.File, Keys: []string{"more"}}, nil)
				if !bytes.Equal(data, set.AppendFilter(nil)) {
					t.Errorf("with a key, the filter is %x, want %x", data, set.AppendFilter(nil))
				}
				damaged := slices.Clone(file)
				damaged[len(file)-20] ^= 1 // in the bits
				if _, _, err := d.Answer("filter", text(t, question), damaged); err == nil || !strings.Contains(err.Error(), "checksum") {
					t.Errorf("the error of a damaged file is %v", err)
				}
			})
		}
	}
}

// TestFileOfAnotherFormat opens bare bytes once more when another format is chosen.
func TestFileOfAnotherFormat(t *testing.T) {
	d := NewDesk(nil)
	data := append(bytes.Repeat([]byte{0xaa}, 63), 6)
	first, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: "leveldb", HasFile: true}, data)
	second, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: "parquet", File: first.File}, nil)
	if first.Bits != 8*63 || second.Bits != 8*64 || second.Format != "parquet" {
		t.Errorf("%d bits, and then %d of %s", first.Bits, second.Bits, second.Format)
	}
}

// TestKeyCount wants the number of keys that a file says, and none where nothing says it.
func TestKeyCount(t *testing.T) {
	d := NewDesk(nil)
	for _, format := range bloom.Formats() {
		set, file := fileOf(t, format, manyKeys(1000, 0, "")...)
		for _, added := range [][]string{nil, {"a", "b", "b"}} {
			want := uint64(1000 + len(added)/3*2)
			f, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: format.String(), HasFile: true, Keys: added}, file)
			if f.KeyCount == nil || *f.KeyCount != want {
				t.Errorf("%v: the file has %v keys, want %d", format, f.KeyCount, want)
			}
			if rate := format.FalsePositiveRate(int(want), f.Reached, f.Probes); f.Expected != rate {
				t.Errorf("%v: a rate of %v is expected, want %v", format, f.Expected, rate)
			}
			if f.Curve == nil || f.Curve.Keys != int(want) {
				t.Errorf("%v: the curve is %+v, want one of %d keys", format, f.Curve, want)
			}
			bare, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: format.String(), HasFile: true, Keys: added}, set.AppendFilter(nil))
			if bare.KeyCount != nil {
				t.Errorf("%v: bare bytes have %v keys", format, *bare.KeyCount)
			}
		}
	}
	// More keys than a filter has any use for: a filter merged with itself counts its keys twice.
	set, _ := fileOf(t, bloom.LevelDB, "a")
	for range 60 {
		if err := set.Merge(set); err != nil {
			t.Fatal(err)
		}
	}
	file, err := set.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	f, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: "leveldb", HasFile: true}, file)
	if f.KeyCount == nil || *f.KeyCount != 1<<60 || f.Expected != 1 || f.Curve != nil {
		t.Errorf("%v keys, a rate of %v, a curve %+v", f.KeyCount, f.Expected, f.Curve)
	}
}

// TestOdd opens files of filters that answer no to every key, or yes to every key.
func TestOdd(t *testing.T) {
	d := NewDesk(nil)
	for name, c := range map[string]struct {
		file     []byte
		observed float64
	}{
		"one byte": {[]byte{6}, 0},
		"reserved": {[]byte{0, 0, 31}, 1},
		"full":     {[]byte{255, 255, 6}, 1},
		"no key":   {make([]byte, 9), 1}, // k is 0
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: "leveldb", HasFile: true}, c.file)
			if f.Observed != c.observed || f.Expected != c.observed || f.Curve != nil {
				t.Errorf("observed %v, expected %v, curve %v, want %v", f.Observed, f.Expected, f.Curve, c.observed)
			}
			answer, _ := ask[testAnswer](t, d, "test", testQuestion{f.ID, []string{"key"}}, nil)
			if got := answer.Results[0].MayContain; got != (c.observed == 1) {
				t.Errorf("may contain a key: %v", got)
			}
		})
	}
}

// TestNumbered adds numbered keys, and asks which of those that are absent pass: the answer is what a loop
// over both finds.
func TestNumbered(t *testing.T) {
	d := NewDesk(nil)
	for _, pattern := range patterns {
		for _, format := range []bloom.Format{bloom.LevelDB, bloom.Default} {
			n := numbered{pattern, 30_000}
			f, data := ask[filterAnswer](t, d, "filter", filterQuestion{Format: format.String(), Capacity: n.Count, BitsPerKey: 10, Numbered: n}, nil)
			var added, absent []string
			n.columns(true, func(keys []string) { added = append(added, keys...) })
			n.columns(false, func(keys []string) { absent = append(absent, keys...) })
			want := bloom.Policy{Format: format, BitsPerKey: 10}.AppendFilter(nil, bloom.Strings(added))
			if !bytes.Equal(data, want) {
				t.Fatalf("%v: the filter of %s is not the library's", format, pattern)
			}
			if both := append(slices.Clone(added), absent...); len(both) != 2*n.Count || len(slices.Compact(slices.Sorted(slices.Values(both)))) != 2*n.Count {
				t.Fatalf("%s: keys are added and absent at once", pattern)
			}
			hashes := map[bloom.Hash]bool{}
			for _, key := range added {
				hashes[format.Hash([]byte(key))] = true
			}
			passed, equal := 0, 0
			for _, key := range absent {
				if bloom.Reference(format, data, []byte(key)) {
					passed++
					if hashes[format.Hash([]byte(key))] {
						equal++
					}
				}
			}
			a, heat := ask[passingAnswer](t, d, "passing", passingQuestion{f.ID, n}, nil)
			if a.Tested != n.Count || a.Passed != passed || a.Equal != equal || !slices.Contains(absent, a.Example) {
				t.Errorf("%v of %s: %+v, want %d that pass and %d with an added hash", format, pattern, a, passed, equal)
			}
			sum := 0
			for at := 0; at < len(heat); at += 4 {
				sum += int(binary.LittleEndian.Uint32(heat[at:]))
			}
			if len(heat) != 4*a.Cells*a.Cells || sum != f.Probes*passed {
				t.Errorf("%v of %s: the heat has %d probes in %d bytes, want %d", format, pattern, sum, len(heat), f.Probes*passed)
			}
		}
	}
	// Without numbers, random keys pass as often as random hashes do.
	f, _ := ask[filterAnswer](t, d, "filter", filterQuestion{Format: "leveldb", Capacity: 1000, BitsPerKey: 10, Keys: manyKeys(1000, 0, "")}, nil)
	a, _ := ask[passingAnswer](t, d, "passing", passingQuestion{Filter: f.ID}, nil)
	if rate := float64(a.Passed) / float64(a.Tested); a.Tested != randomTested || math.Abs(rate/f.Observed-1) > 0.15 {
		t.Errorf("%v of %d random keys pass, and of random hashes %v", rate, a.Tested, f.Observed)
	}
}

// TestPicture wants every bit in the picture once, and no picture much wider than high.
func TestPicture(t *testing.T) {
	for size, want := range map[uint64]Picture{
		0: {0, 1, 0}, 1: {1, 1, 1}, 104: {104, 16, 7}, 1000: {1000, 32, 32}, 1 << 20: {1 << 20, 1 << 10, 1 << 10}, 1<<29 - 8: {1<<29 - 8, 1 << 15, 1 << 14},
	} {
		if got := PictureOf(size); got != want || got.Columns*got.Rows < size {
			t.Errorf("the picture of %d bits is %+v, want %+v", size, got, want)
		}
	}
	heat := make([]uint32, 4)
	PictureOf(16).count(heat, 2, []uint64{0, 1, 3, 4, 15}) // four rows of four
	if want := []uint32{3, 1, 0, 1}; !slices.Equal(heat, want) {
		t.Errorf("the heat is %v, want %v", heat, want)
	}
}

// TestSizesAnswer asks for the sizes that bloom size calculates, also of 10^8 keys.
func TestSizesAnswer(t *testing.T) {
	d := NewDesk(nil)
	keys, rate, bits := int(1e8), 0.01, 10
	for question, want := range map[string]SizeQuestion{
		`{"keys":100000000,"bits_per_key":10}`: {Keys: &keys, BitsPerKey: &bits},
		`{"keys":100000000,"rate":0.01}`:       {Keys: &keys, Rate: &rate},
	} {
		answer, _, err := d.Answer("sizes", []byte(question), nil)
		if err != nil || string(answer) != string(toJSON(sizesAnswer{want.Sizes()})) {
			t.Errorf("%s: %s, %v", question, answer, err)
		}
	}
}

// TestRefuses asks bad questions. The error must name what is wrong.
func TestRefuses(t *testing.T) {
	d := NewDesk(nil)
	many := manyKeys(maxKeys+1, 0, "")
	shape := filterQuestion{Format: "leveldb", Capacity: 10, BitsPerKey: 10}
	with := func(change func(*filterQuestion)) filterQuestion {
		q := shape
		change(&q)
		return q
	}
	file := filterQuestion{Format: "leveldb", HasFile: true}
	for name, c := range map[string]struct {
		name     string
		question any
		file     []byte
		words    string
	}{
		"format":         {"filter", with(func(q *filterQuestion) { q.Format = "cuckoo" }), nil, `unknown format "cuckoo"`},
		"no keys":        {"filter", with(func(q *filterQuestion) { q.Capacity = 0 }), nil, "expected keys must be between 1 and 10000000, and is 0"},
		"many expected":  {"filter", with(func(q *filterQuestion) { q.Capacity = math.MaxInt }), nil, "expected keys must be"},
		"bits":           {"filter", with(func(q *filterQuestion) { q.BitsPerKey = 33 }), nil, "bits per key must be between 1 and 32"},
		"probes":         {"filter", with(func(q *filterQuestion) { q.Probes = 31 }), nil, "probes, if it is not the format's own, must be between 1 and 30"},
		"own probes":     {"filter", with(func(q *filterQuestion) { q.Format, q.Probes = "parquet", 3 }), nil, "cannot be chosen"},
		"many keys":      {"filter", with(func(q *filterQuestion) { q.Keys = many }), nil, "more keys than the limit of 5000"},
		"long key":       {"filter", with(func(q *filterQuestion) { q.Keys = []string{"a", strings.Repeat("b", 257)} }), nil, "a key has 257 bytes, more than the limit of 256: \"bbb"},
		"many numbers":   {"filter", with(func(q *filterQuestion) { q.Numbered = numbered{patterns[0], maxNumbered + 1} }), nil, "numbered keys must be between 0 and 1000000"},
		"pattern":        {"filter", with(func(q *filterQuestion) { q.Numbered = numbered{"%s%s%s", 1} }), nil, "is not a pattern"},
		"text":           {"filter", file, []byte("hello\nworld\n"), "this looks like text, not like a filter"},
		"compressed":     {"filter", file, []byte("\x1f\x8b\x08\x00\x00\x06"), "this looks compressed (gzip): decompress it first"},
		"other library":  {"filter", file, []byte("\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x40\xc4\x20\x14\x24\x00\x00\x04\x14"), "this looks like a filter of github.com/bits-and-blooms/bloom, not of leveldb"},
		"other format":   {"filter", file, crateFile(6, 8, 0xaa), "this looks like a filter of nori-crate, not of leveldb: choose its format"},
		"no bytes":       {"filter", filterQuestion{Format: "leveldb", HasFile: true}, []byte{}, "a file of 0 bytes is not a filter"},
		"no bits to set": {"filter", filterQuestion{Format: "leveldb", HasFile: true, Keys: []string{"a"}}, []byte{6}, "no key can be added"},
		"file gone":      {"filter", filterQuestion{Format: "leveldb", File: "x"}, nil, "no longer here"},
		"filter gone":    {"test", testQuestion{"x", []string{"a"}}, nil, "no longer here"},
		"no key to test": {"test", testQuestion{}, nil, "no key to test"},
		"keys to test":   {"test", testQuestion{"", many}, nil, "more keys than the limit of 5000"},
		"nothing passes": {"passing", passingQuestion{Filter: "x"}, nil, "no longer here"},
		"unknown field":  {"filter", map[string]int{"size": 3}, nil, `unknown field "size"`},
		"wrong type":     {"filter", map[string]string{"capacity": "ten"}, nil, "not understood"},
		"half":           {"filter", `{"format":"leveldb"`, nil, "not understood"},
		"more":           {"filter", `{"format":"leveldb"}}`, nil, "more after its end"},
		"list":           {"filter", "[]", nil, "not understood"},
		"nothing":        {"filter", "", nil, "not understood"},
		"a long one":     {"filter", `{"keys":["` + strings.Repeat(`","`, mostQuestion/3) + `"]}`, nil, "it has more than "},
		"curve's format": {"curve", curveQuestion{"cuckoo", 1, 0, 1, 1}, nil, `unknown format "cuckoo"`},
		"curve's keys":   {"curve", curveQuestion{"leveldb", maxCurveKeys + 1, 0, 1, 1}, nil, "keys must be between 1 and 1000000000, and is 1000000001"},
		"curve of none":  {"curve", curveQuestion{"leveldb", 0, 0, 1, 1}, nil, "keys must be between 1"},
		"curve's probes": {"curve", curveQuestion{"leveldb", 1, 31, 1, 1}, nil, "must be between 1 and 30"},
		"own probes too": {"curve", curveQuestion{"parquet", 1, 3, 1, 1}, nil, "cannot be chosen"},
		"curve's end":    {"curve", curveQuestion{"leveldb", 1, 0, 1, 33}, nil, "last number of bits per key must be between 1 and 32"},
		"curve's start":  {"curve", curveQuestion{"leveldb", 1, 0, 5, 4}, nil, "first number of bits per key must be between 1 and 4"},
		"one number":     {"sizes", `{"keys":100000000}`, nil, "give two of keys, bits-per-key, rate and memory, not 1"},
		"no rate":        {"sizes", `{"keys":100000000,"rate":0}`, nil, "rate: 0 is not between 0 and 1"},
		"no bits":        {"sizes", `{"keys":100000000,"bits_per_key":0}`, nil, "bits-per-key must be at least 1"},
		"few keys":       {"sizes", `{"keys":0,"bits_per_key":1}`, nil, "keys must be at least 1"},
		"no memory":      {"sizes", `{"memory":0,"bits_per_key":1}`, nil, "memory must be at least 1 byte"},
		"no question":    {"remove", shape, nil, `there is no question "remove"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := d.Answer(c.name, text(t, c.question), c.file)
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("the error is %v, want %q", err, c.words)
			}
			if strings.Contains(err.Error(), "--") {
				t.Errorf("the error names a flag, and the page has none: %v", err)
			}
			var refusal struct {
				Error string
				Gone  bool
			}
			if err := json.Unmarshal(Refuse(err).JSON(), &refusal); err != nil || refusal.Gone != (c.words == "no longer here") {
				t.Errorf("%+v, %v", refusal, err)
			}
		})
	}
}

// TestShelf keeps the filters that were used last, as many as there is room for, and always the last.
func TestShelf(t *testing.T) {
	var s shelf
	put := func(size int) string { return s.put(make([]byte, size), kept{}.Filter).id }
	has := func(id string) bool { _, err := s.get(id); return err == nil }
	large := put(mostKept + 1)
	if !has(large) {
		t.Error("the last filter is gone")
	}
	first := put(mostKept / 2)
	if has(large) {
		t.Error("more is kept than there is room for")
	}
	second := put(mostKept / 4)
	if !has(first) || !has(second) { // the second is now the last used
		t.Error("filters are gone for which there is room")
	}
	if has(first); put(mostKept/2) == "" || !has(first) || has(second) {
		t.Error("the filter that was used least recently is not the one that is gone")
	}
	for range 100 {
		put(1)
	}
	if len(s.kept) != 16 {
		t.Errorf("%d filters are kept", len(s.kept))
	}
}

// crateFile is a filter of the format NoriCrate with all of its bits set or clear. Its header
// may ask for up to 4,096 probes, whatever the size.
func crateFile(probes, bytes int, fill byte) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(probes))
	data = binary.LittleEndian.AppendUint64(data, 8*uint64(bytes))
	return append(data, slices.Repeat([]byte{fill}, bytes)...)
}

// manyKeys returns n different keys, each of them padded to a length.
func manyKeys(n, length int, pad string) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
		keys[i] += strings.Repeat(pad, max(0, length-len(keys[i])))
	}
	return keys
}

// The bounds of an answer, by the bytes of the question with its file. A filter of the largest capacity, and
// the bits of its keys, come on top. Most is allocated for a question that is one unknown name, which
// encoding/json quotes. With the race detector, pools give memory back at random.
func mostAnswer(question int) int    { return 2*question + 2<<20 }
func mostAllocated(question int) int { return 40*question + 24<<20 }

// TestBounds measures the size of answers, and the memory that they take, for questions made to be
// expensive. All that is allocated is more than what is in use at any time.
func TestBounds(t *testing.T) {
	file := func(keys []string) filterQuestion {
		return filterQuestion{Format: "nori-crate", HasFile: true, Keys: keys}
	}
	short := manyKeys(maxKeys, 0, "")
	const large = 4 << 20
	for name, c := range map[string]struct {
		name     string
		question any // or a text as it is
		file     []byte
		words    string // of the answer or of the error
	}{
		"add to many probes": {"filter", file(short), crateFile(4096, 8, 0), "5000 keys of 4096 probes have more bits than the 150000 that are shown here: choose 36 keys or fewer"},
		"one too many":       {"filter", file(short[:37]), crateFile(4096, 8, 0), "37 keys of 4096 probes"},
		"most probes":        {"filter", file(short[:36]), crateFile(4096, large, 0), `"probes":4096`},
		"most keys":          {"filter", filterQuestion{Format: "nori-crate", Capacity: maxKeys, BitsPerKey: maxBitsPerKey, Probes: maxProbes, Keys: short}, nil, `"probes":30`},
		"curve":              {"curve", curveQuestion{"leveldb", maxCurveKeys, maxProbes, 32, 32}, nil, `"points"`},
		"long keys":          {"filter", `{"format":"leveldb","capacity":1,"bits_per_key":1,"keys":["` + strings.Join(manyKeys(maxKeys, maxKeyBytes, "<"), `","`) + `"]}`, nil, `"key":"4999<`},
		"large file":         {"filter", filterQuestion{Format: "leveldb", HasFile: true}, append(make([]byte, large-1), 6), `"in_file"`},
		"empty keys":         {"test", `{"keys":[""` + strings.Repeat(`,""`, large/3) + "]}", nil, "more keys than the limit of 5000"},
		"long format":        {"filter", filterQuestion{Format: strings.Repeat("\x7f", large)}, nil, `unknown format "\x7f`},
		"long field":         {"test", `{"` + strings.Repeat("\x7f", large) + `":0}`, nil, `unknown field "\x7f`},
		"long key":           {"test", testQuestion{"", []string{strings.Repeat("\x7f", large)}}, nil, "more than the limit of 256"},
		"long pattern":       {"filter", filterQuestion{Format: "leveldb", Numbered: numbered{strings.Repeat("\x7f", large), 1}}, nil, "is not a pattern"},
		"long name":          {strings.Repeat("x", 10_000), "{}", nil, "no question"},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDesk(nil)
			question := text(t, c.question)
			asked := len(question) + len(c.file)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			answer, data, err := d.Answer(c.name, question, c.file)
			if err != nil {
				answer = Refuse(err).JSON()
			}
			runtime.ReadMemStats(&after)
			allocated := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("question %d, answer %d and %d, allocated %d", asked, len(answer), len(data), allocated)
			words := strings.ReplaceAll(strings.ReplaceAll(string(answer), `\\`, `\`), `\"`, `"`)
			if !strings.Contains(words, c.words) {
				t.Errorf("%.300s, want %q", answer, c.words)
			}
			if n := len(answer) + len(data); n > mostAnswer(asked) || err != nil && n > 8<<10 {
				t.Errorf("the answer to %d bytes has %d", asked, n)
			}
			if allocated > mostAllocated(asked) {
				t.Errorf("a question of %d bytes allocates %d, want at most %d", asked, allocated, mostAllocated(asked))
			}
		})
	}
}

// FuzzExplore asks any question. The answer is what it offers, or an error in words, and not much larger
// than the question.
func FuzzExplore(f *testing.F) {
	names := slices.Sorted(maps.Keys(answerers))
	seeds := map[string][]struct {
		question any
		file     []byte
	}{
		"about": {{"{}", nil}},
		"given": {{"{}", nil}},
		"filter": {
			{filterQuestion{Format: "leveldb", Capacity: 10, BitsPerKey: 10, Probes: 3, Keys: []string{"a", "b"}}, nil},
			{filterQuestion{Format: "leveldb", HasFile: true, Keys: []string{"a"}}, []byte{1, 64, 6}},
			{filterQuestion{Format: "nori", Capacity: maxKeys, BitsPerKey: maxBitsPerKey, Probes: maxProbes}, nil},
			{filterQuestion{Format: "nori-crate", HasFile: true}, crateFile(4096, 1, 255)},
			{filterQuestion{Format: "nori-crate", HasFile: true, Keys: manyKeys(36, 0, "")}, crateFile(4096, 8, 0)},
			{`{"keys":["","",""],"keys":null}`, nil},
		},
		"test":    {{testQuestion{"x", []string{"a", "", "a"}}, nil}, {`{"filter":"x","keys":[1]}`, nil}},
		"passing": {{passingQuestion{"x", numbered{patterns[0], 10}}, nil}},
		"curve":   {{curveQuestion{"nori", 1000, 0, 1, 32}, nil}, {`{"format":"nori","keys":1e99}`, nil}},
		"sizes":   {{`{"keys":100000000,"rate":0.01}`, nil}, {`{"bits_per_key":10,"memory":67108864}`, nil}, {`{"keys":1}`, nil}},
	}
	for i, name := range names {
		if len(seeds[name]) == 0 {
			f.Fatalf("no seed for %q", name)
		}
		for _, seed := range seeds[name] {
			f.Add(uint8(i), text(f, seed.question), seed.file)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, question, file []byte) {
		name := names[int(which)%len(names)]
		var size struct {
			Capacity int `json:"capacity"`
			Numbered numbered
		}
		if json.Unmarshal(question, &size) == nil && (size.Capacity > maxKeys || size.Numbered.Count > maxKeys) {
			t.Skip("takes long")
		}
		d := NewDesk(nil)
		answer, data, err := d.Answer(name, question, file)
		if err != nil {
			answer = Refuse(err).JSON()
		}
		if n := len(answer) + len(data); n > mostAnswer(len(question)+len(file)) {
			t.Errorf("%s answers %d bytes with %d", name, len(question)+len(file), n)
		}
		if !json.Valid(answer) || err != nil && err.Error() == "" {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
	})
}
