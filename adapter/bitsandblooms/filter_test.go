package bloom_test

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bits-and-blooms/bitset"
	theirs "github.com/bits-and-blooms/bloom/v3"
	"github.com/twmb/murmur3"

	lanebloom "github.com/lanebloom/bloom"
	bloom "github.com/lanebloom/bloom/adapter/bitsandblooms"
)

// pair is a filter of each library, to which the same is done.
type pair struct {
	ours  *bloom.BloomFilter
	their *theirs.BloomFilter
}

// newPair returns filters of New, of From, or of FromWithM with fewer or more bits than m.
func newPair(random *rand.Rand) pair {
	m, k := uint(1+random.IntN(3000)), uint(1+random.IntN(12))
	words := make([]uint64, 1+random.IntN(40))
	for i := range words {
		words[i] = random.Uint64() & random.Uint64() & random.Uint64()
	}
	switch random.IntN(4) {
	case 0:
		return pair{bloom.From(slices.Clone(words), k), theirs.From(slices.Clone(words), k)}
	case 1:
		k--
		return pair{bloom.FromWithM(slices.Clone(words), m, k), theirs.FromWithM(slices.Clone(words), m, k)}
	}
	return pair{bloom.New(m, k), theirs.New(m, k)}
}

// check wants both to have the same bytes and numbers, and the same answers for some keys.
func (p pair) check(t *testing.T, what string, keys [][]byte) {
	t.Helper()
	ours, err := p.ours.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	their, err := p.their.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, their) || !p.ours.BitSet().Equal(p.their.BitSet()) {
		t.Fatalf("%s: the bytes are\n%x, want\n%x", what, ours, their)
	}
	if p.ours.Cap() != p.their.Cap() || p.ours.K() != p.their.K() {
		t.Fatalf("%s: m %d, k %d, want %d, %d", what, p.ours.Cap(), p.ours.K(), p.their.Cap(), p.their.K())
	}
	p.checkAnswers(t, what, keys)
}

func (p pair) checkAnswers(t *testing.T, what string, keys [][]byte) {
	t.Helper()
	hits := make([]uint64, (len(keys)+63)/64)
	p.ours.TestBatch(lanebloom.Bytes(keys), hits)
	for i, key := range keys {
		want := p.their.Test(key)
		locations := bloom.Locations(key, p.ours.K())
		if p.ours.Test(key) != want || p.ours.TestString(string(key)) != want || p.ours.TestLocations(locations) != want ||
			hits[i/64]>>(i%64)&1 == 1 != want || p.ours.Filter().MayContain(key) != want {
			t.Fatalf("%s: key %x: want %v", what, key, want)
		}
		if !slices.Equal(locations, theirs.Locations(key, p.ours.K())) {
			t.Fatalf("%s: key %x has other locations", what, key)
		}
	}
}

// TestBesideTheirs does the same at random to filters of both libraries, and wants the same of them.
func TestBesideTheirs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		p := newPair(random)
		for range 12 {
			keys := make([][]byte, random.IntN(40))
			for i := range keys {
				keys[i] = binary.LittleEndian.AppendUint64(nil, random.Uint64())[:random.IntN(9)]
			}
			what := fmt.Sprintf("m %d, k %d, %d bits", p.ours.Cap(), p.ours.K(), p.ours.BitSet().Len())
			grows := p.ours.BitSet().Len() < p.ours.Cap()
			what += ", " + p.change(t, random, keys)
			if grows { // theirs has only some of the bits until all are needed
				p.checkAnswers(t, what, keys)
				break
			}
			p.check(t, what, keys)
		}
	}
}

// change does something to both, and returns what.
func (p *pair) change(t *testing.T, random *rand.Rand, keys [][]byte) string {
	t.Helper()
	ways := 9
	if p.ours.K() == 0 {
		ways-- // their copy of such a filter has a probe and no bits
	}
	switch what := random.IntN(ways); what {
	case 0:
		p.ours.AddBatch(lanebloom.Bytes(keys))
		for _, key := range keys {
			p.their.Add(key)
		}
		return "AddBatch"
	case 1, 2, 3, 4:
		adds := map[int][2]func(key []byte) bool{
			1: {p.ours.TestAndAdd, p.their.TestAndAdd},
			2: {p.ours.TestOrAdd, p.their.TestOrAdd},
			3: {func(key []byte) bool { return p.ours.TestAndAddString(string(key)) }, func(key []byte) bool { return p.their.TestAndAddString(string(key)) }},
			4: {func(key []byte) bool { return p.ours.TestOrAddString(string(key)) }, func(key []byte) bool { return p.their.TestOrAddString(string(key)) }},
		}
		for _, key := range keys {
			if got, want := adds[what][0](key), adds[what][1](key); got != want {
				t.Fatalf("key %x: way %d returns %v, want %v", key, what, got, want)
			}
		}
		return fmt.Sprint("way to add ", what)
	case 5:
		hits := make([]uint64, (len(keys)+63)/64)
		p.ours.TestAndAddBatch(lanebloom.Bytes(keys), hits)
		for i, key := range keys {
			if want := p.their.TestAndAdd(key); hits[i/64]>>(i%64)&1 == 1 != want {
				t.Fatalf("key %x: TestAndAddBatch returns %v", key, !want)
			}
		}
		return "TestAndAddBatch"
	case 6:
		m, k, length := p.ours.Cap(), p.ours.K(), p.ours.BitSet().Len()
		other := pair{bloom.New(m, k), theirs.New(m, k)}
		if k == 0 || length != m {
			words := make([]uint64, len(p.ours.BitSet().Words())+random.IntN(3))
			words[random.IntN(len(words))] = random.Uint64()
			other = pair{bloom.FromWithM(words, m, k), theirs.FromWithM(slices.Clone(words), m, k)}
		} else {
			for _, key := range keys {
				other.ours.Add(key)
				other.their.AddString(string(key))
			}
		}
		if got, want := p.ours.Merge(other.ours), p.their.Merge(other.their); got != nil || want != nil {
			t.Fatalf("Merge: %v, and theirs %v", got, want)
		}
		return "Merge"
	case 7:
		p.ours.ClearAll().Add(keys0(keys)).AddString("x")
		p.their.ClearAll().Add(keys0(keys)).AddString("x")
		return "ClearAll"
	}
	before := *p
	p.ours, p.their = p.ours.Copy(), p.their.Copy()
	if !p.ours.Equal(before.ours) {
		t.Fatal("a copy is not equal")
	}
	p.ours.Add([]byte("copy"))
	p.their.Add([]byte("copy"))
	before.checkAnswers(t, "what was copied", keys)
	return "Copy"
}

// keys0 returns the first key, or another.
func keys0(keys [][]byte) []byte {
	if len(keys) == 0 {
		return nil
	}
	return keys[0]
}

// TestEncodings wants each library to read what the other writes, in each way.
func TestEncodings(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	key := []byte("key")
	for range 200 {
		p := newPair(random)
		if p.ours.BitSet().Len() >= p.ours.Cap() {
			p.ours.Add(key)
			p.their.Add(key)
		}
		for name, pass := range map[string]func(from, to any) error{
			"binary": func(from, to any) error {
				data, err := from.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
				data = append(data, "more"...) // is ignored
				return errors.Join(err, to.(interface{ UnmarshalBinary([]byte) error }).UnmarshalBinary(data))
			},
			"stream": func(from, to any) error {
				var b bytes.Buffer
				n, err := from.(io.WriterTo).WriteTo(&b)
				b.WriteString("more")
				m, err2 := to.(io.ReaderFrom).ReadFrom(iotest.HalfReader(&b))
				if n != m || b.String() != "more" {
					t.Errorf("%d bytes written, %d read, %q left", n, m, b.String())
				}
				return errors.Join(err, err2)
			},
			"gob": func(from, to any) error {
				var b bytes.Buffer
				return errors.Join(gob.NewEncoder(&b).Encode(from), gob.NewDecoder(&b).Decode(to))
			},
			"JSON": func(from, to any) error {
				data, err := json.Marshal(from)
				return errors.Join(err, json.Unmarshal(data, to))
			},
		} {
			q := pair{new(bloom.BloomFilter), new(theirs.BloomFilter)}
			if err := errors.Join(pass(p.their, q.ours), pass(p.ours, q.their)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			q.check(t, name, [][]byte{key, []byte("other")})
			if !q.ours.Equal(p.ours) {
				t.Fatalf("%s: the filter is another", name)
			}
		}
		ours, err := json.Marshal(p.ours)
		their, err2 := json.Marshal(p.their)
		if !bytes.Equal(ours, their) || err != nil || err2 != nil {
			t.Fatalf("JSON %s, want %s; %v, %v", ours, their, err, err2)
		}
	}
}

// TestDamaged wants an error for bytes that are no filter, from each way to read, and that the filter stays as it was.
func TestDamaged(t *testing.T) {
	f := bloom.New(100, 3).AddString("key")
	before, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, number uint64) string {
		data := bytes.Clone(before)
		binary.BigEndian.PutUint64(data[at:], number)
		return string(data)
	}
	for name, data := range map[string]string{
		"nothing": "", "half a header": string(before[:12]), "no bits": string(before[:24]), "cut": string(before[:39]),
		"m is 0": with(0, 0), "m is large": with(0, 1<<40), "m has 64 bits": with(0, math.MaxUint64), "k is large": with(8, 4097), "k has 64 bits": with(8, 1<<63),
		"m is one too large": with(0, 100+1<<20+1), "length is large": with(16, 1<<40), "length has 64 bits": with(16, math.MaxUint64), "length is 2^63": with(16, 1<<63), "length has 44 bits": with(16, 1<<44), "one word too many": with(16, 129),
	} {
		errs := map[string]error{"UnmarshalBinary": f.UnmarshalBinary([]byte(data)), "GobDecode": f.GobDecode([]byte(data))}
		_, errs["ReadFrom"] = f.ReadFrom(strings.NewReader(data))
		errs["ReadFrom of a slow stream"] = func() error { _, err := f.ReadFrom(iotest.OneByteReader(strings.NewReader(data))); return err }()
		for way, err := range errs {
			if err == nil {
				t.Errorf("%s: %s takes it", name, way)
			}
			if data != "" && errors.Is(err, io.EOF) { // a loop would take it for the end of the stream
				t.Errorf("%s: %s returns %v", name, way, err)
			}
		}
	}
	for _, text := range []string{
		``, `{`, `{"m":1}`, `{"m":-1,"k":1,"b":"AAAAAAAAAAA="}`, `{"m":100,"k":3,"b":"AAAA"}`, `{"m":100,"k":3,"b":7}`,
		`{"m":100,"k":3,"b":"????"}`, `{"m":100,"k":5000,"b":"AAAAAAAAAAEAAAAAAAAAAA=="}`, `{"m":0,"k":3,"b":"AAAAAAAAAAEAAAAAAAAAAA=="}`,
	} {
		if err := f.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("UnmarshalJSON takes %s", text)
		}
	}
	if err := new(bloom.BloomFilter).UnmarshalBinary([]byte(with(0, 100+1<<20))); err != nil {
		t.Errorf("a filter that misses as many bits as one may: %v", err)
	}
	for _, text := range []string{"null", " null\n"} {
		if err := f.UnmarshalJSON([]byte(text)); err != nil {
			t.Errorf("null in JSON: %v", err)
		}
	}
	failure := errors.New("failure")
	if _, err := f.ReadFrom(iotest.TimeoutReader(iotest.ErrReader(failure))); !errors.Is(err, failure) {
		t.Errorf("the error of a stream becomes %v", err)
	}
	if _, err := f.ReadFrom(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Errorf("at its end, a stream gives %v", err)
	}
	if after, err := f.MarshalBinary(); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the filter has become %x, %v", after, err)
	}
}

// TestFrom wants bits in the slice of From that are set later, whatever sets them, and none once the filter has bits
// of its own.
func TestFrom(t *testing.T) {
	other := bloom.New(1024, 5).AddString("other")
	for name, change := range map[string]func(f *bloom.BloomFilter){
		"Add":       func(f *bloom.BloomFilter) { f.Add([]byte("key")) },
		"AddString": func(f *bloom.BloomFilter) { f.AddString("key") },
		"AddBatch":  func(f *bloom.BloomFilter) { f.AddBatch(lanebloom.Strings([]string{"a", "b"})) },
		"TestAndAddBatch": func(f *bloom.BloomFilter) {
			f.TestAndAddBatch(lanebloom.Strings([]string{"a", "b"}), make([]uint64, 1))
		},
		"AddBatch of a key": func(f *bloom.BloomFilter) { f.AddBatch(lanebloom.Strings([]string{"a key"})) },
		"AddBatch of hashes": func(f *bloom.BloomFilter) {
			f.AddBatch(lanebloom.Strings([]string{"a"}).Hashed(lanebloom.BitsAndBlooms))
		},
		"AddBatch of nulls": func(f *bloom.BloomFilter) {
			keys, err := lanebloom.Integers([]uint64{1, 2}).WithValidity([]byte{2}, 0)
			must(t, err)
			f.AddBatch(keys)
		},
		"TestAndAddBatch of a key": func(f *bloom.BloomFilter) {
			f.TestAndAddBatch(lanebloom.Strings([]string{"a"}), make([]uint64, 1))
		},
		"Merge":            func(f *bloom.BloomFilter) { must(t, f.Merge(other)) },
		"ClearAll and Add": func(f *bloom.BloomFilter) { f.ClearAll().AddString("key") },
	} {
		words := make([]uint64, 16)
		words[3] = 8
		f := bloom.From(words, 5)
		change(f)
		if !slices.Equal(words, f.BitSet().Words()) || slices.Max(words) <= 8 {
			t.Errorf("%s: the slice is %x, and the filter %x", name, words, f.BitSet().Words())
		}
		copied := slices.Clone(words)
		must(t, f.UnmarshalBinary(must1(t, bloom.New(10, 2).MarshalBinary)))
		f.AddString("key")
		if !slices.Equal(words, copied) {
			t.Errorf("%s: the slice gets the bits of another filter", name)
		}
	}
	words := make([]uint64, 1<<10)
	f := bloom.From(words, 4)
	words[77] = 1 // not by the filter
	f.AddBatch(lanebloom.Strings([]string{"a", "b"}))
	if words[77]&1 == 0 {
		t.Error("a short column makes the whole slice anew")
	}
	words = make([]uint64, 1)
	f = bloom.FromWithM(words, 1000, 4).AddString("key")
	if !f.TestString("key") || f.BitSet().Len() != 1000 {
		t.Errorf("a key is lost in %v", f.BitSet())
	}
}

// TestEqual compares filters of other m, k, bits and numbers of stored bits, each with each.
func TestEqual(t *testing.T) {
	var pairs []pair
	for _, words := range [][]uint64{{0, 0}, {0, 8}, {1}, {0, 0, 0}} {
		for _, m := range []uint{64, 100, 128} {
			for k := range uint(3) {
				pairs = append(pairs, pair{bloom.FromWithM(slices.Clone(words), m, k), theirs.FromWithM(slices.Clone(words), m, k)})
			}
		}
	}
	for _, m := range []uint{64, 100, 128} {
		pairs = append(pairs, pair{bloom.New(m, 2), theirs.New(m, 2)})
	}
	for i, a := range pairs {
		for j, b := range pairs {
			if got, want := a.ours.Equal(b.ours), a.their.Equal(b.their); got != want {
				t.Errorf("%d and %d are equal: %v, want %v", i, j, got, want)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must1[T any](t *testing.T, f func() (T, error)) T {
	t.Helper()
	x, err := f()
	must(t, err)
	return x
}

// TestZero wants filters of no bits to hold no key, to be written and read, and to take no key in silence.
func TestZero(t *testing.T) {
	for name, f := range map[string]*bloom.BloomFilter{"the zero filter": {}, "From(nil, 3)": bloom.From(nil, 3), "m is 0": bloom.FromWithM([]uint64{1}, 0, 3)} {
		g := new(bloom.BloomFilter)
		must(t, g.UnmarshalBinary(must1(t, f.MarshalBinary)))
		if _, err := f.MarshalJSON(); err == nil {
			t.Errorf("%s has JSON, which nobody reads", name)
		}
		for _, f := range []*bloom.BloomFilter{f, g, f.Copy(), f.ClearAll()} {
			hits := []uint64{1}
			if f.TestString("key") || f.TestLocations(bloom.Locations([]byte("key"), 3)) || f.TestBatch(lanebloom.Strings([]string{"key"}), hits) != 0 ||
				f.Cap() != 0 || f.BitSet().Len() != 0 || !f.Equal(g) || f.ApproximatedSize() != 0 {
				t.Errorf("%s holds something", name)
			}
			must(t, f.Merge(g))
		}
	}
	panics(t, "a zero filter takes a key", func() { bloom.From(nil, 3).AddString("key") })
	panics(t, "k is too large", func() { bloom.New(1, 4097) })
	if math.MaxUint>>63 != 0 { // 32 bits hold no m that is too large
		panics(t, "m is too large", func() { bloom.New(math.MaxUint, 1) })
	}
	if f := bloom.New(0, 0); f.Cap() != 1 || f.K() != 1 || !f.AddString("key").TestString("key") {
		t.Errorf("New(0, 0) has m %d, k %d", f.Cap(), f.K())
	}
	if f := bloom.NewWithEstimates(0, 0.01); f.Cap() != 1 || f.K() != 1 {
		t.Errorf("NewWithEstimates(0, 0.01) has m %d, k %d", f.Cap(), f.K())
	}
}

func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// TestEstimates wants the numbers of theirs.
func TestEstimates(t *testing.T) {
	for n := uint(1); n < math.MaxUint32/64; n = n*7/3 + 1 { // m is an uint of 32 bits, too
		for p := 0.9; p > 1e-12; p *= 0.37 {
			m, k := bloom.EstimateParameters(n, p)
			if wantM, wantK := theirs.EstimateParameters(n, p); m != wantM || k != wantK {
				t.Fatalf("%d keys, %g: m %d, k %d, want %d, %d", n, p, m, k, wantM, wantK)
			}
		}
	}
	for _, n := range []uint{0, 1, 1000, 20_000} {
		if got, want := bloom.EstimateFalsePositiveRate(10_000, 5, n), theirs.EstimateFalsePositiveRate(10_000, 5, n); got != want {
			t.Errorf("rate of %d keys: %g, want %g", n, got, want)
		}
	}
	ours, their := bloom.New(5000, 4), theirs.New(5000, 4)
	for i := range 3000 {
		if got, want := ours.ApproximatedSize(), their.ApproximatedSize(); got != want {
			t.Fatalf("size of %d keys: %d, want %d", i, got, want)
		}
		ours.AddString(fmt.Sprint(i))
		their.AddString(fmt.Sprint(i))
	}
	if n := bloom.From([]uint64{math.MaxUint64}, 1).ApproximatedSize(); n != math.MaxUint32 {
		t.Errorf("a full filter has %d keys", n)
	}
}

// TestLocations wants the numbers that the definition gives, with another murmur3.
func TestLocations(t *testing.T) {
	key := make([]byte, 100)
	for n := range key {
		key[n] = byte(7 * n)
		var h [4]uint64
		h[0], h[1] = murmur3.Sum128(key[:n])
		h[2], h[3] = murmur3.Sum128(append(bytes.Clone(key[:n]), 1))
		for i, got := range bloom.Locations(key[:n], 20) {
			i := uint64(i)
			if want := h[i%2] + i*h[2+((i+i%2)%4)/2]; got != want {
				t.Fatalf("%d bytes, probe %d: %x, want %x", n, i, got, want)
			}
		}
	}
}

// TestOrder wants the same bytes from a process that has changed those of bits-and-blooms.
func TestOrder(t *testing.T) {
	f := bloom.New(1000, 4).AddString("key")
	before, text := must1(t, f.MarshalBinary), must1(t, f.MarshalJSON)
	bitset.LittleEndian()
	defer bitset.BigEndian()
	if !bytes.Equal(must1(t, f.MarshalBinary), before) || !bytes.Equal(must1(t, f.MarshalJSON), text) || !f.TestString("key") {
		t.Error("bytes depend on bitset.LittleEndian")
	}
	must(t, f.UnmarshalBinary(before))
	if f.Cap() != 1000 || !f.TestString("key") {
		t.Error("what is read depends on bitset.LittleEndian")
	}
}

// TestAllocations wants none for keys.
func TestAllocations(t *testing.T) {
	f := bloom.New(1000, 4)
	key, text := []byte("a key of some length"), "a key of some length"
	if n := testing.AllocsPerRun(100, func() {
		f.Add(key).AddString(text)
		f.Test(key)
		f.TestString(text)
		f.TestAndAdd(key)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
