package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/probes"
)

// formatTests tells what the tests have to know of a format: a new one is a line here and a
// folder of testdata.
var formatTests = [...]struct {
	mostProbes int    // that a filter may have
	least      int    // bits per key that a policy counts with
	mostPerKey int    // if a policy counts with no more
	mostBits   uint64 // if there is a limit below that of all formats
	vectors    []vector
	odd        []oddFilter
	create     func(keys [][]byte, bitsPerKey int) []byte // as plainly as the reference reads
}{
	RocksDB: {24, 1, encoding.RocksDBMostPerKey, 0, vectorsRocksDB, oddRocksDB(), createRocksDB},
	LevelDB: {encoding.MaxProbes, 0, 0, 0, vectorsLevelDB, oddLevelDB(), createLevelDB},
	Pebble:  {encoding.MaxProbes, 1, 0, 8*encoding.PebbleMostBytes - 512, vectorsPebble, oddPebble(), createPebble},
	Parquet: {encoding.ParquetProbes, 1, 0, 256 * encoding.MaxBlocks, vectorsParquet, oddParquet, createParquet},
	Nori: {encoding.MaxProbes, 1, 0, 0, vectorsNori, slices.Concat(oddNori, oddNoriCrate), func(keys [][]byte, bitsPerKey int) []byte {
		return createNori(keys, bitsPerKey, false)
	}},
	NoriCrate: {encoding.MaxProbes, 1, 0, 0, vectorsNoriCrate, oddNoriCrate, func(keys [][]byte, bitsPerKey int) []byte {
		return createNori(keys, bitsPerKey, true)
	}},

	BitsAndBlooms: {encoding.MaxProbes, 1, 0, 0, vectorsBitsAndBlooms, oddBitsAndBlooms, createBitsAndBlooms},
	Guava:         {encoding.MaxProbes, 1, 0, 0, vectorsGuava, oddGuava, createGuava},
}

// vector is a filter at 10 bits per key, in hexadecimal digits.
type vector struct {
	keys []string
	want string
}

// oddFilter is bytes that no policy writes.
type oddFilter struct {
	name string
	data []byte
	is   verdict
}

// verdict says what some bytes are.
type verdict int

const (
	noFilter   verdict = iota // Open refuses them
	justFilter                // OpenSet refuses them: they have no bits to set
	filterAndSet
)

// checkArms names each switch over schemes that has no arm for the scheme of a format: where an arm is missing, the switch panics, or
// finds no key. The filter is the reference's, and has one key.
func checkArms(t *testing.T, f Format, key []byte) {
	t.Helper()
	s, integer := f.scheme(), binary.LittleEndian.Uint64(key)
	at, short := unsafe.Pointer(unsafe.SliceData(key)), key[:5]
	shortAt := unsafe.Pointer(unsafe.SliceData(short))
	filter := mustOpen(t, f, create(f, [][]byte{key, short}, 10))
	generic, array := &onKernel(t, filter, Generic).prober, filter.Array
	empty := func() *prober {
		s := &prober{Array: mustSet(t, Policy{f, 10}, 2).Array, scheme: s}
		s.setKernel(Generic)
		return s
	}
	h, room := referenceHash(s, key), hashesOfLength(s, 1)
	room.set(0, h)
	for name, has := range map[string]func() bool{
		"hashKey":     func() bool { return s.hashKey(at, len(key)) == h },
		"hashUint64":  func() bool { return s.hashUint64(integer) == h },
		"Format.Hash": func() bool { return f.Hash(key) == h },
		"hashGeneric": func() bool {
			k, h := Bytes([][]byte{key}), hashesOfLength(s, 1)
			k.hashGeneric(s, &h)
			return h.at(0, s) == room.at(0, s)
		},
		"hasKey":           func() bool { return generic.hasKey(shortAt, len(short)) },
		"mayContainUint64": func() bool { return mayContainUint64(&generic.Base, integer) },
		"mayContainHash":   func() bool { return mayContainHash(&generic.Base, h.h1, h.h2, h.h3, h.h4) },
		"addKey":           func() bool { return empty().addKey(shortAt, len(short)) },
		"addUint64Generic": func() bool { return addUint64Generic(&empty().Base, integer) },
		"addHash":          func() bool { return empty().addHash(h) },
		"probes":           func() bool { generic.probes(h, 0, make([]uint64, generic.K)); return true },
		"test":             func() bool { var hits [1]uint64; generic.test(&room, hits[:], false); return hits[0] == 1 },
		"setLines": func() bool {
			s := empty()
			return !s.setsLines() || func() bool { s.setLines(&room); return s.probeHash(h) }()
		},
		"place":    func() bool { return generic.place(&room, make([]uint32, generic.K)) == 1 },
		"testPart": func() bool { return s.testPart(Generic, &groupPart{arrays: []probes.Array{array}}, h) == 1 },
		"derive": func() bool {
			s := prober{Array: array, scheme: s}
			s.derive()
			return schemes[s.scheme].line && s.scheme != schemePebble || s.divisor != [2]uint64{} || s.full != fullDivisor{}
		},
	} {
		ok := false
		if panicked := panicOf(func() { ok = has() }); panicked != "" || !ok {
			t.Errorf("%s has no arm for the scheme %v, or a wrong one; %s", name, s, panicked)
		}
	}
	if f.MayContain(filter.data, []byte("absent, as the reference has it")) && !Reference(f, filter.data, []byte("absent, as the reference has it")) {
		t.Errorf("Format.mayContain has no arm for %v, or a wrong one", f)
	}
}

// TestSwitches runs every switch over formats and schemes for every format. It names the arms that are missing, and fails where a hash
// lacks a kernel.
func TestSwitches(t *testing.T) {
	t.Parallel()
	if len(formatTests) != len(formats) {
		t.Fatalf("%d formats are tested, there are %d", len(formatTests), len(formats))
	}
	key, other := []byte("8 bytes!"), []byte("another key")
	keys := golden.Mixed.Range(0, leastHashes+20) // more than are tested one by one
	keys[0] = key
	eachFormat(t, func(t *testing.T, f Format) {
		if f.Name() == "" || f.String() == "" || f.scheme().String() == "" || formats[f].scheme.String() == "" {
			t.Fatalf("the table lacks something: %+v", formats[f])
		}
		if checkArms(t, f, key); t.Failed() {
			return // the rest would fail, too, in words that say less
		}
		if takes, has := schemes[formats[f].scheme].words, schemes[f.scheme()].words; takes != has {
			t.Fatalf("the scheme has hashes of %d bits, and not of %d", takes.bits(), has.bits())
		}
		p := Policy{f, 10}
		for _, n := range []int{1, len(keys)} {
			keys := keys[:n]
			want := create(f, keys, 10)
			for name, column := range map[string]Keys{"Bytes": Bytes(keys), "Hashed": Bytes(keys).Hashed(f)} {
				if !bytes.Equal(p.AppendFilter(nil, column), want) {
					t.Errorf("%s: AppendFilter of %d keys differs from the reference", name, n)
				}
				b, single := p.NewBuilder(), p.NewBuilder()
				b.AddBatch(column)
				for _, key := range keys {
					single.Add(key)
				}
				if !bytes.Equal(b.AppendFilter(nil), want) || !bytes.Equal(single.AppendFilter(nil), want) {
					t.Errorf("%s: a Builder's filter of %d keys differs from the reference", name, n)
				}
				eachKernel(t, f, want, func(t *testing.T, f *Filter) {
					checkFilter(t, f, append([][]byte{other}, keys...))
					checkBatch(t, f, column, slices.Repeat([]bool{true}, n))
				})
			}
		}
		filter := mustOpen(t, f, create(f, [][]byte{key}, 10))
		if s := filter.Stats(); s.Keys < 0.5 || s.Keys > 2 || len(filter.Explain(key).Positions) != s.Probes {
			t.Errorf("Stats() = %+v for one key, which Explain explains as %+v", s, filter.Explain(key))
		}
		for _, kernel := range kernels[:len(kernels)-1] {
			integers, room := Integers(make([]uint64, 64)), hashesOfLength(f.scheme(), 64)
			if _, has := integers.hashAssembly(f.scheme(), kernel, &room); has != slices.Contains(schemes[f.scheme()].kernels, kernel) {
				t.Errorf("the kernel %v hashes integers: %v", kernel, has)
			}
		}
		h := f.Hash(key)
		if h != referenceHash(f.scheme(), key) || h != f.HashUint64(binary.LittleEndian.Uint64(key)) {
			t.Errorf("Hash() = %v", h)
		}
		if serves := panicOf(func() { f.HashFrom(h.h1) }) == ""; serves != (schemes[f.scheme()].words < two64) {
			t.Errorf("HashFrom serves: %v", serves)
		}
		s := mustSet(t, p, 1)
		s.Add(key)
		large := prober{Array: s.Array, scheme: s.scheme, kernel: Generic}
		large.addEach(Bytes([][]byte{other})) // as for filters of more than 2^32 bits
		if !s.MayContain(key) || !s.MayContain(other) {
			t.Error("a key is missing")
		}
		if rate := p.FalsePositiveRate(1000); rate < 0.0003 || rate > 0.02 {
			t.Errorf("a rate of %v is expected", rate)
		}
	})
}

// ways lists every way to build a filter. Their bytes must be the same.
var ways = []struct {
	name  string
	build func(t testing.TB, p Policy, keys [][]byte) []byte
}{
	{"reference", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		return create(p.Format, keys, p.BitsPerKey)
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
			switch {
			case len(key) == 8:
				b.AddUint64(binary.LittleEndian.Uint64(key))
			case i%3 == 0:
				b.Add(key)
			case i%3 == 1:
				b.AddString(string(key))
			default:
				b.AddHash(p.Format.Hash(key))
			}
		}
		return b.AppendFilter(nil)
	}},
	{"Policy.NewFilter", func(_ testing.TB, p Policy, keys [][]byte) []byte {
		return p.NewFilter(Bytes(keys)).AppendFilter(nil)
	}},
	{"Set.AddHash, AddUint64, TestAndAdd and Clone", func(t testing.TB, p Policy, keys [][]byte) []byte {
		s := mustSet(t, p, len(keys))
		s.AddString("forgotten")
		s.Clear()
		for i, key := range keys {
			switch {
			case len(key) == 8:
				s.AddUint64(binary.LittleEndian.Uint64(key))
			case i%2 == 0:
				s.AddHash(p.Format.Hash(key))
			default:
				s.TestAndAdd(key)
			}
		}
		return s.Clone().AppendFilter(nil)
	}},
	{"Set.TestAndAddBatch", func(t testing.TB, p Policy, keys [][]byte) []byte {
		s := mustSet(t, p, len(keys))
		s.TestAndAddBatch(Bytes(keys), make([]uint64, (len(keys)+63)/64))
		return s.AppendFilter(nil)
	}},
	{"AtomicSet, key by key", func(t testing.TB, p Policy, keys [][]byte) []byte {
		s := mustAtomicSet(t, p, len(keys))
		for i, key := range keys {
			switch {
			case len(key) == 8:
				s.AddUint64(binary.LittleEndian.Uint64(key))
			case i%4 == 0:
				s.AddHash(p.Format.Hash(key))
			case i%4 == 1:
				s.TestAndAdd(key)
			case i%4 == 2:
				s.Add(key)
			default:
				s.AddString(string(key))
			}
		}
		return s.Snapshot().AppendFilter(nil)
	}},
	{"AtomicSet, batches and Merge", func(t testing.TB, p Policy, keys [][]byte) []byte {
		s, half := mustAtomicSet(t, p, len(keys)), len(keys)/2
		s.AddBatch(Bytes(keys[:half]))
		s.TestAndAddBatch(Bytes(keys[half:]), make([]uint64, (len(keys)+63)/64))
		other := mustAtomicSet(t, p, len(keys))
		if err := other.Merge(s.Snapshot()); err != nil {
			t.Fatal(err)
		}
		return other.Snapshot().AppendFilter(nil)
	}},
	{"Builder on each kernel", func(t testing.TB, p Policy, keys [][]byte) (encoded []byte) {
		for _, k := range kernels {
			b := p.NewBuilder()
			b.kernel = k
			b.AddBatch(Bytes(keys))
			if got := b.AppendFilter(nil); encoded != nil && !bytes.Equal(got, encoded) {
				t.Fatalf("kernel %v builds another filter", k)
			} else {
				encoded = got
			}
		}
		return encoded
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
		s := mustSet(t, p, len(keys))
		for i, key := range keys {
			if i%2 == 0 {
				s.Add(key)
			} else {
				s.AddString(string(key))
			}
		}
		return s.AppendFilter(nil)
	}},
	{"Set.AddBatch and Merge", func(t testing.TB, p Policy, keys [][]byte) []byte {
		var sets [2]*Set
		for i := range sets {
			sets[i] = mustSet(t, p, len(keys))
			half := len(keys) / 2
			sets[i].AddBatch(Bytes(keys).Slice(i*half, half+i*(len(keys)-half)))
		}
		if err := sets[0].Merge(sets[1]); err != nil {
			t.Fatal(err)
		}
		return sets[0].AppendFilter(nil)
	}},
}

// checkWays builds a filter in every way and compares it with the bytes wanted.
func checkWays(t *testing.T, p Policy, keys [][]byte, want []byte) {
	t.Helper()
	s, _ := p.Format.encoding().Shape(0, p.BitsPerKey)
	for _, way := range ways {
		if len(keys) == 0 && s.Bits == 0 && strings.Contains(way.name, "Set") {
			continue // a set has room for a key
		}
		if got := way.build(t, p, keys); !bytes.Equal(got, want) {
			t.Fatalf("%s: %v of %d keys at %d bits is %.40x, want %.40x", way.name, p.Format, len(keys), p.BitsPerKey, got, want)
		}
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		for _, v := range formatTests[f].vectors {
			var keys [][]byte
			for _, key := range v.keys {
				keys = append(keys, []byte(key))
			}
			checkWays(t, Policy{f, 10}, keys, fromHex(v.want))
		}
	})
}

// TestKernelGolden compares bytes and answers with the filters in testdata. A storage engine wrote
// them, or a program that follows its documentation.
func TestKernelGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/golden*.json")
	if err != nil {
		t.Fatal(err)
	}
	numbers, keys := map[Format]int{}, map[golden.Kind][][]byte{}
	for _, name := range files {
		file, err := golden.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range file.Filters {
			format, err := ParseFormat(g.Format)
			if err != nil {
				t.Fatal(err)
			}
			numbers[format]++
			if i%oneOf(29) != 0 {
				continue // an emulated CPU is slow, and reads these like the others
			}
			known := keys[g.Keys]
			for len(known) < g.N+golden.Searched {
				known = append(known, g.Keys.Key(len(known)))
			}
			keys[g.Keys] = known
			t.Run(fmt.Sprintf("format=%v/%s=%d/bits=%d", format, g.Keys, g.N, g.BitsPerKey), func(t *testing.T) {
				checkGolden(t, format, g, known[:g.N], known[g.N:][:golden.Searched])
			})
		}
	}
	eachFormat(t, func(t *testing.T, f Format) {
		if numbers[f] < 180 {
			t.Errorf("only %d golden filters", numbers[f])
		}
	})
}

func checkGolden(t *testing.T, format Format, g golden.Filter, keys, absent [][]byte) {
	checkWays(t, Policy{format, g.BitsPerKey}, keys, g.Encoded)
	eachKernel(t, format, g.Encoded, func(t *testing.T, f *Filter) {
		var yes []int
		for _, i := range f.AppendHits(nil, Bytes(absent)) {
			yes = append(yes, g.N+int(i))
		}
		if got := yes[:min(len(yes), 10)]; !slices.Equal(got, g.FalsePositives) {
			t.Errorf("first false positives %v, want %v", got, g.FalsePositives)
		}
	})
}

// TestWays builds filters of every format in every way, and queries them in every way.
func TestWays(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		for bitsPerKey := -1; bitsPerKey < 130; bitsPerKey++ { // every number of probes
			keys := golden.Mixed.Range(0, 60)
			got, want := Policy{format, bitsPerKey}.AppendFilter(nil, Bytes(keys)), create(format, keys, bitsPerKey)
			if !bytes.Equal(got, want) {
				t.Errorf("%d bits per key: the filter differs from the reference", bitsPerKey)
			}
		}
		for _, n := range []int{1, 2, 3, 7, 64, 100, 1500} {
			if n > windowKeys && !whole() {
				continue // TestKernelGolden has as many
			}
			for i, bitsPerKey := range []int{-1, 0, 1, 2, 7, 8, 10, 20, 43, 44, 50, 100} {
				if (i+n)%oneOf(1, 2) != 0 {
					continue
				}
				keys := golden.Mixed.Range(0, n)
				p := Policy{format, bitsPerKey}
				want := create(format, keys, bitsPerKey)
				checkWays(t, p, keys, want)
				eachKernel(t, format, want, func(t *testing.T, f *Filter) {
					checkFilter(t, f, golden.Mixed.Range(n/2, n/2+300))
				})
				for _, key := range keys {
					if !p.MayContain(want, key) {
						t.Fatalf("%d keys at %d bits: a key is missing", n, bitsPerKey)
					}
				}
			}
		}
	})
}

// TestOddFilters opens bytes that no policy writes. Keys asked for are answered as the
// reference does, whatever the bytes.
func TestOddFilters(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(0, 100)
	eachFormat(t, func(t *testing.T, format Format) {
		for i, odd := range formatTests[format].odd {
			keys := keys[:len(keys)/oneOf(1, 3)]
			for _, key := range keys {
				if got := (Policy{Format: format}).MayContain(odd.data, key); got != Reference(format, odd.data, key) || odd.is == noFilter && !got {
					t.Fatalf("%s: Policy.MayContain(%x) = %v", odd.name, key, got)
				}
			}
			_, err := Open(format, odd.data)
			if (odd.is != noFilter) != (err == nil) || err != nil && !errors.Is(err, ErrEncoding) {
				t.Fatalf("%s: Open: %v", odd.name, err)
			}
			if _, err := OpenSet(format, odd.data); (odd.is == filterAndSet) != (err == nil) || err != nil && !errors.Is(err, ErrEncoding) {
				t.Fatalf("%s: OpenSet: %v", odd.name, err)
			}
			if odd.is != noFilter {
				eachKernel(t, format, odd.data, func(t *testing.T, f *Filter) { checkFilter(t, f, keys) })
				if odd.is == filterAndSet {
					checkOddSet(t, format, odd, keys[:30])
				}
				// Each takes up to a million samples. The steps pick all four sorts of LevelDB's.
				if i%29 == 0 && whole() || i%87 == 0 {
					checkOddStats(t, mustOpen(t, format, odd.data))
				}
			}
		}
	})
}

// checkOddSet adds keys to a copy of the filter in every way. The reference says which bits
// they set.
func checkOddSet(t *testing.T, format Format, odd oddFilter, keys [][]byte) {
	t.Helper()
	opened, err := OpenSet(format, odd.data)
	if err != nil {
		t.Fatal(err)
	}
	want := opened.Clone()
	for _, key := range keys {
		addByReference(t, format, want.data, key)
	}
	for name, add := range map[string]func(s *Set){
		"Add": func(s *Set) {
			for _, key := range keys {
				s.Add(key)
			}
		},
		"AddBatch":        func(s *Set) { s.AddBatch(Bytes(keys)) },
		"TestAndAddBatch": func(s *Set) { s.TestAndAddBatch(Bytes(keys), make([]uint64, 1)) },
		"addByRegion":     func(s *Set) { s.addByRegion(Bytes(keys), 2) },
		"atomic": func(s *Set) {
			s.atomic = true
			s.addColumn(Bytes(keys))
		},
		"atomic, key by key": func(s *Set) {
			s.atomic = true
			s.addEach(Bytes(keys))
		},
		"Merge": func(s *Set) {
			if err := s.Merge(want); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s := opened.Clone()
		if add(s); !s.Equal(want) {
			t.Fatalf("%s to %q of %x: %x, want %x", name, odd.name, odd.data, s.data, want.data)
		}
	}
}

func checkOddStats(t *testing.T, f *Filter) {
	t.Helper()
	bits, shape := f.encoded()
	s := f.Stats()
	if s.Bits != shape.Bits || s.SetBits > min(onesCount(bits), shape.Bits) || (s.Bits == 0) != (s.SetBits == 0 && s.Probes == 0 && s.Keys == 0) && s.SetBits > 0 {
		t.Fatalf("Stats of %x: %+v", f.data, s)
	}
	switch {
	case s.Bits == 0 || s.SetBits == 0 && s.Probes > 0:
		if s.Keys > 1e-9 || s.FalsePositiveRate != 0 {
			t.Fatalf("Stats of %x, which holds nothing: %+v", f.data, s)
		}
	case s.Probes == 0 || s.SetBits == 8*uint64(len(bits)):
		if !s.KeysUnknown || s.Keys != 0 || s.FalsePositiveRate != 1 {
			t.Fatalf("Stats of %x, which may hold every key: %+v", f.data, s)
		}
	}
}

// TestHashBits wants the widths of the engines' hashes.
func TestHashBits(t *testing.T) {
	want := map[Format]int{RocksDB: 64, LevelDB: 32, Pebble: 32, Parquet: 64, Nori: 128, NoriCrate: 128, BitsAndBlooms: 256, Guava: 128}
	eachFormat(t, func(t *testing.T, f Format) {
		if got := f.HashBits(); got != want[f] {
			t.Errorf("a hash has %d bits, want %d", got, want[f])
		}
	})
}

func TestNames(t *testing.T) {
	if got := (Policy{}).Name(); got != Default.Name() {
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
