package bloom

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

func mustOpen(t testing.TB, encoded []byte) *Filter {
	t.Helper()
	return mustOpenAs(t, LevelDB, encoded)
}

func mustOpenAs(t testing.TB, format Format, encoded []byte) *Filter {
	t.Helper()
	f, err := Open(format, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fromHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// hashVectors holds the vectors of LevelDB's util/hash_test.cc, with the seed
// of its filter, and keys of every tail length.
var hashVectors = []struct {
	key  string
	hash uint32
}{
	{"", 0xbc9f1d34},
	{"62", 0xef1345c4},
	{"c397", 0x5b663814},
	{"e299a5", 0x323c078f}, // 530174ee if the bytes are taken as signed
	{"e180b932", 0xed21633a},
	{"80", 0x365ee853},
	{"68656c6c6f", 0xf795964e},
}

func TestHash(t *testing.T) {
	for _, v := range hashVectors {
		key := fromHex(v.key)
		if got := referenceHash32(key); got != v.hash {
			t.Errorf("referenceHash32(%s) = %08x, want %08x", v.key, got, v.hash)
		}
		if got := LevelDB.Hash(key); got != (Hash{h1: uint64(v.hash)}) {
			t.Errorf("Hash(%s) = %08x, want %08x", v.key, got.h1, v.hash)
		}
	}
	for n := range 300 {
		key := slices.Concat(golden.Mixed.Range(0, 131)...)[n : 2*n]
		if got, want := hash32(key), referenceHash32(key); got != want {
			t.Errorf("hash of %d bytes = %08x, want %08x", n, got, want)
		}
		if got, want := hash32String(string(key)), referenceHash32(key); got != want {
			t.Errorf("hash of a string of %d bytes = %08x, want %08x", n, got, want)
		}
	}
	for _, v := range []uint64{0, 1, 0x80, 0xffffffff, 1 << 32, math.MaxUint64, 0x8899aabbccddeeff} {
		if got, want := hash32Uint64(v), referenceHash32(binary.LittleEndian.AppendUint64(nil, v)); got != want {
			t.Errorf("hash32Uint64(%x) = %08x, want %08x", v, got, want)
		}
		if got, want := hash32Uint32(uint32(v)), referenceHash32(binary.LittleEndian.AppendUint32(nil, uint32(v))); got != want {
			t.Errorf("hash32Uint32(%x) = %08x, want %08x", uint32(v), got, want)
		}
	}
}

// referenceCreate builds a filter by the letter of its format.
func referenceCreate(p Policy, keys [][]byte) []byte {
	if p.Format == LevelDB {
		return referenceCreateLevelDB(keys, p.BitsPerKey)
	}
	return referenceCreateNori(p.Format, keys, p.BitsPerKey)
}

// eachFormat runs a subtest for every format.
func eachFormat(t *testing.T, run func(t *testing.T, f Format)) {
	for f := range Format(len(formats)) {
		t.Run("format="+f.String(), func(t *testing.T) { run(t, f) })
	}
}

// ways lists every way to build a filter. Their bytes must be the same.
var ways = []struct {
	name  string
	build func(t testing.TB, p Policy, keys [][]byte) []byte
}{
	{"reference", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		return referenceCreate(p, keys)
	}},
	{"Policy.AppendFilter", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		return p.AppendFilter(nil, Bytes(keys))
	}},
	{"Policy.AppendFilter Hashed", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		return p.AppendFilter(nil, Bytes(keys).Hashed(p.Format))
	}},
	{"Builder.Add", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		b := p.NewBuilder()
		b.AddString("forgotten")
		b.Reset()
		for i, key := range keys {
			if i%2 == 0 {
				b.Add(key)
			} else {
				b.AddString(string(key))
			}
		}
		return b.AppendFilter(nil)
	}},
	{"Builder.AddBatch", func(t testing.TB, p Policy, keys [][]byte) []byte {
		b := p.NewBuilder()
		b.AddBatch(Bytes(keys))
		if b.Len() != len(keys) {
			t.Errorf("Builder.Len() = %d after %d keys", b.Len(), len(keys))
		}
		return b.AppendFilter(nil)
	}},
	{"Set.Add", func(t testing.TB, p Policy, keys [][]byte) []byte {
		s, err := p.NewSet(len(keys))
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			if i%2 == 0 {
				s.Add(key)
			} else {
				s.AddString(string(key))
			}
		}
		encoded, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}},
	{"Set.AddBatch and Merge", func(t testing.TB, p Policy, keys [][]byte) []byte {
		var sets [2]*Set
		for i := range sets {
			s, err := p.NewSet(len(keys))
			if err != nil {
				t.Fatal(err)
			}
			half := len(keys) / 2
			s.AddBatch(Bytes(keys).Slice(i*half, half+i*(len(keys)-half)))
			sets[i] = s
		}
		if err := sets[0].Merge(sets[1]); err != nil {
			t.Fatal(err)
		}
		encoded, err := sets[0].AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}},
}

func TestVectors(t *testing.T) {
	for _, v := range []struct {
		keys []string
		want string
	}{
		{nil, "000000000000000006"},
		{[]string{""}, "080004000200118006"},
		{[]string{"hello"}, "014000010410400006"},
		{[]string{"hello", "world"}, "114000414410401006"},
		{[]string{"\x80"}, "048008000100024006"},
	} {
		var keys [][]byte
		for _, key := range v.keys {
			keys = append(keys, []byte(key))
		}
		for _, way := range ways {
			if got := way.build(t, Policy{BitsPerKey: 10}, keys); hex.EncodeToString(got) != v.want {
				t.Errorf("%s of %q = %x, want %s", way.name, v.keys, got, v.want)
			}
		}
	}
}

// TestGolden compares with the filters of testdata, which the storage engines wrote
// or their documentation says, and with their answers.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[Format]int{}
	for _, name := range files {
		file, err := golden.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range file.Filters {
			format, err := ParseFormat(g.Format)
			if err != nil {
				t.Fatal(err)
			}
			numbers[format]++
			t.Run(fmt.Sprintf("format=%v/%s=%d/bits=%d", format, g.Keys, g.N, g.BitsPerKey), func(t *testing.T) {
				checkGolden(t, format, g)
			})
		}
	}
	eachFormat(t, func(t *testing.T, f Format) {
		if numbers[f] < 180 {
			t.Errorf("only %d golden filters", numbers[f])
		}
	})
}

func checkGolden(t *testing.T, format Format, g golden.Filter) {
	keys := g.Keys.Range(0, g.N)
	for _, way := range ways {
		if format != LevelDB && g.N == 0 && way.name[:3] == "Set" {
			continue // a set has room for a key
		}
		if got := way.build(t, Policy{format, g.BitsPerKey}, keys); !bytes.Equal(got, g.Encoded) {
			t.Errorf("%s differs from the golden filter", way.name)
		}
	}
	absent := g.Keys.Range(g.N, g.N+golden.Searched)
	eachKernelOf(t, format, g.Encoded, func(t *testing.T, f *Filter) {
		var yes []int
		for _, i := range f.AppendHits(nil, Bytes(absent)) {
			yes = append(yes, g.N+int(i))
		}
		if got := yes[:min(len(yes), 10)]; !slices.Equal(got, g.FalsePositives) {
			t.Errorf("first false positives %v, want %v", got, g.FalsePositives)
		}
	})
}

// LevelDB's util/bloom_test.cc, re-expressed.

func TestLevelDBEmptyFilter(t *testing.T) {
	f := mustOpen(t, Policy{BitsPerKey: 10}.AppendFilter(nil, Keys{}))
	if f.MayContainString("hello") || f.MayContainString("world") {
		t.Error("the empty filter holds a key")
	}
}

func TestLevelDBSmall(t *testing.T) {
	f := mustOpen(t, Policy{BitsPerKey: 10}.AppendFilter(nil, Strings([]string{"hello", "world"})))
	for key, want := range map[string]bool{"hello": true, "world": true, "x": false, "foo": false} {
		if f.MayContainString(key) != want {
			t.Errorf("MayContain(%q) = %v", key, !want)
		}
	}
}

func TestLevelDBVaryingLengths(t *testing.T) {
	nextLength := func(n int) int {
		switch {
		case n < 10:
			return n + 1
		case n < 100:
			return n + 10
		case n < 1000:
			return n + 100
		}
		return n + 1000
	}
	mediocre, good := 0, 0
	for n := 1; n <= 10000; n = nextLength(n) {
		encoded := Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(golden.Integers.Range(0, n)))
		if len(encoded) > n*10/8+40 {
			t.Errorf("%d keys: filter of %d bytes", n, len(encoded))
		}
		f := mustOpen(t, encoded)
		for i := range n {
			if !f.MayContain(golden.Integers.Key(i)) {
				t.Fatalf("%d keys: key %d is missing", n, i)
			}
		}
		yes := 0
		for i := range 10000 {
			if f.MayContain(golden.Integers.Key(i + 1000000000)) {
				yes++
			}
		}
		rate := float64(yes) / 10000
		if rate > 0.02 {
			t.Errorf("%d keys: false-positive rate %.4f", n, rate)
		}
		if rate > 0.0125 {
			mediocre++
		} else {
			good++
		}
	}
	if mediocre > good/5 {
		t.Errorf("%d filters above 1.25 %%, %d below", mediocre, good)
	}
}

// TestOddFilters asks filters that no policy writes: every byte string is one
// to LevelDB.
func TestOddFilters(t *testing.T) {
	filters := [][]byte{nil, {}, {0}, {6}, {0xff}}
	for k := range 256 {
		filters = append(filters,
			[]byte{0, byte(k)}, []byte{0xff, byte(k)}, []byte{0x55, 0xaa, 0xff, byte(k)},
			append(bytes.Repeat([]byte{0xf7}, 100), byte(k)))
	}
	keys := golden.Mixed.Range(0, 200)
	for _, encoded := range filters {
		for _, key := range keys {
			want := Reference(LevelDB, encoded, key)
			if got := (Policy{}).MayContain(encoded, key); got != want {
				t.Fatalf("Policy.MayContain(%x, %x) = %v", encoded, key, got)
			}
		}
		eachKernel(t, encoded, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
	}
}

func TestErrors(t *testing.T) {
	const unknown = Format(200)
	set := func(p Policy, capacity int) *Set {
		s, err := p.NewSet(capacity)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name string
		want error
		try  func() error
	}{
		{"Open", ErrFormat, func() error { _, err := Open(unknown, nil); return err }},
		{"OpenSet", ErrFormat, func() error { _, err := OpenSet(unknown, nil); return err }},
		{"OpenSet nothing", ErrEncoding, func() error { _, err := OpenSet(LevelDB, nil); return err }},
		{"OpenSet one byte", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{6}); return err }},
		{"OpenSet no probes", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{1, 2, 0}); return err }},
		{"OpenSet reserved", ErrEncoding, func() error { _, err := OpenSet(LevelDB, []byte{1, 2, 31}); return err }},
		{"ParseFormat", ErrFormat, func() error { _, err := ParseFormat("bloom"); return err }},
		{"PolicyFor format", ErrFormat, func() error { _, err := PolicyFor(unknown, 1, 0.01); return err }},
		{"PolicyFor capacity", ErrCapacity, func() error { _, err := PolicyFor(LevelDB, -1, 0.01); return err }},
		{"PolicyFor rate 0", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, 0); return err }},
		{"PolicyFor rate 1", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, 1); return err }},
		{"PolicyFor rate NaN", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1, math.NaN()); return err }},
		{"PolicyFor floor", ErrRate, func() error { _, err := PolicyFor(LevelDB, 1<<20, 0.0001); return err }},
		{"NewSet format", ErrFormat, func() error { _, err := Policy{Format: unknown}.NewSet(1); return err }},
		{"NewSet negative", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 10}.NewSet(-1); return err }},
		{"NewSet too large", ErrCapacity, func() error { _, err := Policy{BitsPerKey: math.MaxInt}.NewSet(math.MaxInt); return err }},
		{"NewSet just too large", ErrCapacity, func() error { _, err := Policy{BitsPerKey: 8}.NewSet(math.MaxInt); return err }},
		{"Merge size", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 100).Merge(set(Policy{BitsPerKey: 10}, 200)) }},
		{"Merge probes", ErrShape, func() error { return set(Policy{BitsPerKey: 10}, 1).Merge(set(Policy{BitsPerKey: 20}, 1)) }},
		{"FixedWidth 0", ErrKeys, func() error { _, err := FixedWidth(nil, 0); return err }},
		{"FixedWidth uneven", ErrKeys, func() error { _, err := FixedWidth(make([]byte, 7), 2); return err }},
		{"Offsets negative", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{-1, 2}); return err }},
		{"Offsets decreasing", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{0, 3, 2}); return err }},
		{"Offsets outside", ErrKeys, func() error { _, err := Offsets(make([]byte, 9), []int32{0, 10}); return err }},
		{"Offsets64 outside", ErrKeys, func() error { _, err := Offsets64(make([]byte, 9), []int64{0, math.MaxInt64}); return err }},
		{"WithValidity short", ErrKeys, func() error { _, err := Uint32s(make([]uint32, 9)).WithValidity(make([]byte, 1), 0); return err }},
		{"WithValidity offset", ErrKeys, func() error { _, err := Uint32s(make([]uint32, 9)).WithValidity(make([]byte, 2), 8); return err }},
		{"WithValidity negative", ErrKeys, func() error { _, err := Uint32s(nil).WithValidity(nil, -1); return err }},
		{"WithValidity overflow", ErrKeys, func() error { _, err := Uint32s(make([]uint32, 9)).WithValidity(nil, math.MaxInt); return err }},
		{"WithKernel", ErrKernel, func() error { _, err := mustOpen(t, nil).WithKernel(Kernel(200)); return err }},
	} {
		if err := c.try(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestProgrammingErrors lists all that panics.
func TestProgrammingErrors(t *testing.T) {
	f := mustOpen(t, nil)
	for name, try := range map[string]func(){
		"hits too short":  func() { f.MayContainBatch(Uint32s(make([]uint32, 65)), make([]uint64, 1)) },
		"Slice past rows": func() { Uint32s(make([]uint32, 3)).Slice(0, 4) },
		"Slice backwards": func() { Uint32s(make([]uint32, 3)).Slice(2, 1) },
		"Slice negative":  func() { Uint32s(make([]uint32, 3)).Slice(-1, 1) },
		"unknown format":  func() { Policy{Format: 200}.NewBuilder() },
		"filter too large": func() {
			Policy{BitsPerKey: math.MaxInt}.AppendFilter(nil, Uint32s(make([]uint32, 1000)))
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			try()
		}()
	}
}

func TestNames(t *testing.T) {
	if got := (Policy{}).Name(); got != "leveldb.BuiltinBloomFilter2" {
		t.Errorf("Name() = %q", got)
	}
	for i := range formats {
		f := Format(i)
		if got, err := ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %v, %v", f, got, err)
		}
	}
	for _, k := range Kernels() {
		if k.String() == Kernel(200).String() {
			t.Errorf("kernel %d has no name", k)
		}
	}
	if got := Kernels(); got[len(got)-1] != Generic {
		t.Errorf("Kernels() = %v: Generic is not the last", got)
	}
}

// TestAppendFilterKeepsDst appends to a slice with something in it, and with
// old bytes in its spare capacity.
func TestAppendFilterKeepsDst(t *testing.T) {
	want := Policy{BitsPerKey: 10}.AppendFilter(nil, Strings([]string{"hello", "world"}))
	dirty := bytes.Repeat([]byte{0xff}, 100)
	got := Policy{BitsPerKey: 10}.AppendFilter(dirty[:7], Strings([]string{"hello", "world"}))
	if !bytes.Equal(got[:7], dirty[:7]) || !bytes.Equal(got[7:], want) {
		t.Errorf("appended %x, want %x", got, want)
	}
	if !bytes.Equal(dirty[len(got):], bytes.Repeat([]byte{0xff}, 100-len(got))) {
		t.Error("bytes past the filter were written")
	}
	builder := Policy{BitsPerKey: 10}.NewBuilder()
	builder.AddString("hello")
	builder.AddString("world")
	if got := builder.AppendFilter([]byte("ab")); !bytes.Equal(got, append([]byte("ab"), want...)) {
		t.Errorf("builder appended %x", got)
	}
}

func TestPolicyFor(t *testing.T) {
	// The textbook's sizes: -ln p / (ln 2)^2 bits per key.
	for _, c := range []struct {
		capacity int
		rate     float64
		bits, k  int
	}{
		{500000, 0.001, 15, 10}, // 7,188,793 bits: 14.4 per key
		{1000, 0.01, 10, 6},     // 9.6
		{1 << 20, 0.01, 10, 6},
	} {
		p, err := PolicyFor(LevelDB, c.capacity, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		if p.BitsPerKey != c.bits || probesLevelDB(p.BitsPerKey) != c.k {
			t.Errorf("PolicyFor(%d, %v) = %d bits, %d probes, want %d, %d", c.capacity, c.rate, p.BitsPerKey, probesLevelDB(p.BitsPerKey), c.bits, c.k)
		}
	}
	for _, capacity := range []int{0, 1, 2, 10, 1000, 123456, 1 << 24} {
		for _, rate := range []float64{0.9, 0.5, 0.1, 0.01, 0.005} {
			p, err := PolicyFor(LevelDB, capacity, rate)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.FalsePositiveRate(capacity); got > rate {
				t.Errorf("PolicyFor(%d, %v) has rate %v", capacity, rate, got)
			}
			for fewer := range p.BitsPerKey {
				if got := (Policy{BitsPerKey: fewer}).FalsePositiveRate(capacity); got <= rate {
					t.Errorf("PolicyFor(%d, %v) = %d bits per key, but %d hold the rate", capacity, rate, p.BitsPerKey, fewer)
				}
			}
		}
	}
	// 1 % of 2^32 hashes are some 43 million.
	if _, err := PolicyFor(LevelDB, 43_000_000, 0.01); err != nil {
		t.Errorf("43 M keys at 1 %%: %v", err)
	}
	if _, err := PolicyFor(LevelDB, 44_000_000, 0.01); !errors.Is(err, ErrRate) {
		t.Errorf("44 M keys at 1 %%: error %v", err)
	}
}

// TestFalsePositiveRate builds filters small enough for the formula to hold,
// and one of a size at which the hash's third probe makes it too low.
func TestFalsePositiveRate(t *testing.T) {
	for _, c := range []struct {
		n, bits   int
		low, high float64 // measured / expected
	}{{1000, 5, 0.9, 1.1}, {1000, 10, 0.9, 1.15}, {5000, 10, 0.9, 1.15}, {100000, 10, 1.2, 1.8}} {
		random := rand.New(rand.NewPCG(1, 2))
		column := func(n int) Keys {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = random.Uint64()
			}
			return Uint64s(keys)
		}
		p := Policy{BitsPerKey: c.bits}
		f := mustOpen(t, p.AppendFilter(nil, column(c.n)))
		const absent = 1 << 20
		measured := float64(f.MayContainBatch(column(absent), make([]uint64, absent/64))) / absent
		if got := measured / p.FalsePositiveRate(c.n); got < c.low || got > c.high {
			t.Errorf("%d keys at %d bits: measured %.5f is %.2f times what is expected", c.n, c.bits, measured, got)
		}
		if got := measured / f.Stats().FalsePositiveRate; got < 0.95 || got > 1.05 {
			t.Errorf("%d keys at %d bits: measured %.5f is %.2f times what Stats says", c.n, c.bits, measured, got)
		}
	}
}

func TestStats(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for _, p := range []Policy{{BitsPerKey: 1}, {BitsPerKey: 3}, {BitsPerKey: 10}, {BitsPerKey: 20}} {
		for _, n := range []int{0, 10, 1000, 30000, 100000, 1000000} {
			hashes := make([]uint32, n)
			for i := range hashes {
				hashes[i] = random.Uint32()
			}
			encoded := p.AppendFilter(nil, Hashes32(hashes))
			s := mustOpen(t, encoded).Stats()
			if s.Bits != uint64(8*(len(encoded)-1)) || s.Probes != int(encoded[len(encoded)-1]) {
				t.Errorf("%+v of %d keys: %+v", p, n, s)
			}
			if n >= 1000 && math.Abs(s.Keys/float64(n)-1) > 0.05 || n == 0 && s.Keys > 1e-6 {
				t.Errorf("%+v: estimate of %.0f keys for %d", p, s.Keys, n)
			}
		}
	}
	for _, c := range []struct {
		encoded []byte
		want    Stats
	}{
		{nil, Stats{}},
		{[]byte{7}, Stats{}},
		{[]byte{7, 0}, Stats{Bits: 8, SetBits: 3, Keys: math.Inf(1), FalsePositiveRate: 1}},
		{[]byte{7, 31}, Stats{Bits: 8, SetBits: 3, Keys: math.Inf(1), FalsePositiveRate: 1}},
		{[]byte{0xff, 0xff, 4}, Stats{Bits: 16, SetBits: 16, Probes: 4, Keys: math.Inf(1), FalsePositiveRate: 1}},
	} {
		if got := mustOpen(t, c.encoded).Stats(); got != c.want {
			t.Errorf("Stats of %x = %+v, want %+v", c.encoded, got, c.want)
		}
	}
}

func TestSet(t *testing.T) {
	s, err := Policy{BitsPerKey: 10}.NewSet(1000)
	if err != nil {
		t.Fatal(err)
	}
	live := s.Filter()
	if s.MayContainString("a") || live.MayContainString("a") {
		t.Error("the empty set holds a key")
	}
	s.AddString("a")
	if !s.MayContain([]byte("a")) || !live.MayContainHash(LevelDB.Hash([]byte("a"))) {
		t.Error("an added key is missing")
	}
	encoded, err := s.AppendBinary([]byte("prefix"))
	if err != nil || string(encoded[:6]) != "prefix" {
		t.Fatalf("AppendBinary: %q, %v", encoded[:6], err)
	}
	reopened, err := OpenSet(LevelDB, encoded[6:])
	if err != nil {
		t.Fatal(err)
	}
	reopened.AddString("b")
	if s.MayContainString("b") || !reopened.MayContainString("a") || !reopened.MayContainString("b") {
		t.Error("an opened set is not a copy")
	}
	if err := s.Merge(reopened); err != nil || !s.MayContainString("b") {
		t.Errorf("Merge: %v", err)
	}
	if err := s.Merge(s); err != nil {
		t.Errorf("Merge with itself: %v", err)
	}
}

// TestConcurrentQueries is for the race detector.
func TestConcurrentQueries(t *testing.T) {
	keys := golden.Mixed.Range(0, 3000)
	f := mustOpen(t, Policy{BitsPerKey: 10}.AppendFilter(nil, Bytes(keys)))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			hits := make([]uint64, len(keys)/64+1)
			if got := f.MayContainBatch(Bytes(keys), hits); got != len(keys) {
				t.Errorf("%d hits of %d keys", got, len(keys))
			}
			for _, key := range keys {
				if !f.MayContain(key) {
					t.Errorf("key %x is missing", key)
				}
			}
		})
	}
	group.Wait()
}

func TestAllocations(t *testing.T) {
	eachFormat(t, testAllocations)
}

func testAllocations(t *testing.T, format Format) {
	keys := golden.Mixed.Range(0, 1000)
	policy := Policy{format, 10}
	encoded := policy.AppendFilter(nil, Bytes(keys))
	f := mustOpenAs(t, format, encoded)
	s, err := policy.NewSet(1000)
	if err != nil {
		t.Fatal(err)
	}
	builder := policy.NewBuilder()
	builder.AddBatch(Bytes(keys))
	column, err := Bytes(keys).WithValidity(bytes.Repeat([]byte{0xb7}, 125), 0)
	if err != nil {
		t.Fatal(err)
	}
	key, text := keys[99], string(keys[99])
	hash := format.Hash(key)
	hits := make([]uint64, 16)
	positions := make([]uint32, 0, 1000)
	for name, run := range map[string]func(){
		"MayContain":        func() { f.MayContain(key) },
		"MayContainString":  func() { f.MayContainString(text) },
		"MayContainUint64":  func() { f.MayContainUint64(7) },
		"MayContainHash":    func() { f.MayContainHash(hash) },
		"Format.Hash":       func() { format.Hash(key) },
		"Policy.MayContain": func() { policy.MayContain(encoded, key) },
		"MayContainBatch":   func() { f.MayContainBatch(column, hits) },
		"AppendHits":        func() { positions = f.AppendHits(positions[:0], column) },
		"Set.Add":           func() { s.Add(key) },
		"Set.AddBatch":      func() { s.AddBatch(column) },
		"Set.MayContain":    func() { s.MayContainString(text) },
		"Builder":           func() { builder.Reset(); builder.Add(key); builder.AddString(text); builder.AddBatch(column) },
		"AppendFilter":      func() { encoded = policy.AppendFilter(encoded[:0], column) },
	} {
		if n := testing.AllocsPerRun(10, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
