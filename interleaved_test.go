package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/memory"
)

// alwaysYes has a filter of each format that answers yes to every key without testing bits, and neverYes one that
// answers no.
var (
	alwaysYes = map[Format]string{LevelDB: "00ff1f", RocksDB: "000000000000", Pebble: "000000000000",
		BitsAndBlooms: "0000000000000001000000000000000000000000000000400000000000000000"}
	neverYes = map[Format]string{LevelDB: "06", RocksDB: "ff00060000", Pebble: "0000000000", Nori: "00000000000000000600000008000000",
		BitsAndBlooms: "000000000000000100000000000000070000000000000000"}
)

// filtersOfShape returns filters of the shape of NewInterleaved(_, maxKeys), with keys below 4·maxKeys.
func filtersOfShape(t testing.TB, random *rand.Rand, p Policy, maxKeys, count int) []*Filter {
	t.Helper()
	filters := make([]*Filter, count)
	for i := range filters {
		if odd := alwaysYes[p.Format]; i%31 == 7 && odd != "" {
			filters[i] = mustOpen(t, p.Format, fromHex(odd))
			continue
		}
		if odd := neverYes[p.Format]; i%31 == 8 && odd != "" {
			filters[i] = mustOpen(t, p.Format, fromHex(odd))
			continue
		}
		s, err := p.NewFoldable(maxKeys)
		if errors.Is(err, ErrShape) {
			s, err = p.NewSet(maxKeys)
		}
		if err != nil {
			t.Fatal(err)
		}
		keys := make([]uint64, random.IntN(2*maxKeys))
		for i := range keys {
			keys[i] = random.Uint64N(4 * uint64(maxKeys))
		}
		s.AddBatch(Integers(keys))
		filters[i] = s.Filter()
	}
	return filters
}

// interleave puts filters in, in pieces that begin and end at any number.
func interleave(t testing.TB, random *rand.Rand, p Policy, maxKeys int, filters []*Filter) *Interleaved {
	t.Helper()
	x, err := p.NewInterleaved(len(filters), maxKeys)
	if err != nil {
		t.Fatal(err)
	}
	for first := 0; first < len(filters); {
		n := min(1+random.IntN(700), len(filters)-first)
		if err := x.Put(first, filters[first:first+n]...); err != nil {
			t.Fatal(err)
		}
		first += n
	}
	return x
}

// onKernels runs a subtest for every kernel.
func (x *Interleaved) onKernels(t *testing.T, run func(t *testing.T, x *Interleaved)) {
	t.Helper()
	for _, kernel := range proven() {
		t.Run("kernel="+kernel.String(), func(t *testing.T) {
			y := *x
			y.empty.setKernel(kernel)
			run(t, &y)
		})
	}
}

// asked is what a Group and interleaved filters answer.
type asked interface {
	Len() int
	MayContain(key []byte, hits []uint64) int
	MayContainHash(h Hash, hits []uint64) int
	MayContainBatch(keys Keys, hits []uint64) int
}

// ask returns what a question writes to the given number of words, and its number of hits, and wants no other word written.
func ask(t *testing.T, words int, question func(hits []uint64) int) ([]uint64, int) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	hits := slices.Repeat([]uint64{canary}, words+2)
	n := question(hits[1:])
	if hits[0] != canary || hits[words+1] != canary {
		t.Fatalf("wrote outside of hits: %x", hits)
	}
	return hits[1 : words+1], n
}

// keysAlone is how many keys checkAlike asks for one by one.
const keysAlone = 50

// checkAlike wants the same answers of two.
func checkAlike(t *testing.T, got, want asked, format Format, keys Keys) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d filters, want %d", got.Len(), want.Len())
	}
	same := func(name string, words int, question func(a asked, hits []uint64) int) {
		t.Helper()
		hits, n := ask(t, words, func(hits []uint64) int { return question(got, hits) })
		wanted, m := ask(t, words, func(hits []uint64) int { return question(want, hits) })
		if n != m || !slices.Equal(hits, wanted) {
			t.Fatalf("%s of %d filters: %d hits %x, want %d %x", name, got.Len(), n, hits, m, wanted)
		}
	}
	words := (got.Len() + 63) / 64
	for i := range min(keys.Len(), keysAlone) {
		h := keys.hashRow(format.scheme(), i)
		same("MayContainHash", words, func(a asked, hits []uint64) int { return a.MayContainHash(h, hits) })
		if key, ok := keys.AppendKey(nil, i); ok {
			same("MayContain", words, func(a asked, hits []uint64) int { return a.MayContain(key, hits) })
		}
	}
	same("MayContainBatch", (keys.Len()+63)/64*got.Len(), func(a asked, hits []uint64) int { return a.MayContainBatch(keys, hits) })
}

// TestKernelInterleaved compares interleaved filters with a group of them.
func TestKernelInterleaved(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(71, 72))
	counts := []int{0, 1, 31, 32, 33, 64, 100, 300, 577, 1100}
	if !whole() {
		counts = []int{1, 33, 300, 577}
	}
	eachFormat(t, func(t *testing.T, format Format) {
		for i, count := range counts {
			if (i+int(format))%2 != 0 {
				continue // each count with every second format, and the other way round
			}
			p, maxKeys := Policy{format, []int{2, 10, 25}[i%3]}, 1+random.IntN(150)
			filters := filtersOfShape(t, random, p, maxKeys, count)
			group, err := NewGroup(filters)
			if err != nil {
				t.Fatal(err)
			}
			keys := make([]uint64, 1100)
			for i := range keys {
				keys[i] = random.Uint64N(8 * uint64(maxKeys))
			}
			validity := randomBits(random, uint64(8*len(keys)), 0.5)
			interleave(t, random, p, maxKeys, filters).onKernels(t, func(t *testing.T, x *Interleaved) {
				for j, n := range []int{0, 1, 63, 64, 65, 511, 513, len(keys)} {
					if (i+j)%oneOf(2, 4) != 0 {
						continue
					}
					column := Integers(keys[:n])
					checkAlike(t, x, group, format, column)
					checkAlike(t, x, group, format, column.Hashed(format))
					column = must(t)(column.WithValidity(validity, 5))
					checkAlike(t, x, group, format, column)
					checkHits(t, x, column)
				}
			})
		}
	})
}

// checkHits compares the hits key by key with those of MayContainHash.
func checkHits(t *testing.T, x *Interleaved, keys Keys) {
	t.Helper()
	next, want := 0, make([]uint64, (x.Len()+63)/64)
	hitless := func(i int) bool {
		return keys.valid(i, 1) == 0 || x.MayContainHash(keys.hashRow(x.empty.scheme, i), want) == 0
	}
	for i, hits := range x.Hits(keys) {
		for ; next < i; next++ {
			if !hitless(next) {
				t.Fatalf("Hits leaves out row %d", next)
			}
		}
		if hitless(i) || !slices.Equal(hits, want) {
			t.Fatalf("row %d: hits %x, want %x", i, hits, want)
		}
		next++
	}
	for ; next < keys.Len(); next++ {
		if !hitless(next) {
			t.Fatalf("Hits leaves out row %d", next)
		}
	}
	for range x.Hits(keys) {
		break
	}
}

// TestPut puts filters into any places, over others and past the last, and takes all of them back.
func TestPut(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		random := rand.New(rand.NewPCG(73, 74))
		p := Policy{format, 7}
		const maxKeys, count = 40, 300
		filters := filtersOfShape(t, random, p, maxKeys, 900)
		x, err := p.NewInterleaved(count, maxKeys)
		if err != nil {
			t.Fatal(err)
		}
		if x.Len() != count || x.room < count || x.Empty().Format() != format || x.Metadata() != nil || x.Label(3) != "" {
			t.Fatalf("Len %d, Room %d, %v", x.Len(), x.room, x.Empty().Format())
		}
		want := make([]*Filter, x.room)
		put := func(first int, some []*Filter) {
			if err := x.Put(first, some...); err != nil {
				t.Fatal(err)
			}
			copy(want[first:], some)
		}
		for range 12 {
			n := random.IntN(200)
			from := random.IntN(len(filters) - n)
			put(random.IntN(count-n+1), filters[from:from+n])
		}
		x.SetLabel(2, "two")
		if put(x.room, nil); x.Len() != count {
			t.Fatalf("%d filters after Put of none", x.Len())
		}
		put(x.room-1, filters[:1])
		if x.Len() != x.room || x.Label(2) != "two" || x.Label(x.room-1) != "" {
			t.Fatalf("Len %d, Room %d, labels %q", x.Len(), x.room, x.labels.labels)
		}
		for i, f := range want {
			got := x.Filter(i)
			if f == nil {
				if n, known := got.KeyCount(); n != 0 || !known || onesCount(got.Bytes()[:8]) > 64 || got.setBits() != 0 {
					t.Fatalf("filter %d: %d keys in one that was not put in", i, n)
				}
				continue
			}
			checkTaken(t, got, f)
		}
	})
}

// checkTaken compares a filter that was taken out with that put in.
func checkTaken(t *testing.T, got, want *Filter) {
	t.Helper()
	array, s := got.encoded()
	wanted, put := want.encoded()
	switch {
	case put.Bits == 0:
		wanted = make([]byte, len(array))
	case put.Probes == 0:
		wanted = bytes.Repeat([]byte{0xff}, len(array))
		if odd := got.scheme.depth(s.Bits) % 8; odd != 0 {
			wanted[len(array)-1] = 1<<odd - 1
		}
	case s != put:
		t.Fatalf("shape %v, want %v", s, put)
	}
	if !bytes.Equal(array, wanted) {
		t.Fatalf("bits %x, want %x", array, wanted)
	}
	n, known := got.KeyCount()
	if m, knew := want.KeyCount(); n != m || known != knew {
		t.Fatalf("%d keys %v, want %d %v", n, known, m, knew)
	}
}

// TestPutFolds puts in filters of more bits, and wants what a set of the same keys has.
func TestPutFolds(t *testing.T) {
	for _, format := range foldable {
		for times := range 4 {
			p := Policy{format, 10}
			x, err := p.NewInterleaved(1, 100)
			if err != nil {
				t.Fatal(err)
			}
			large, err := p.NewFoldable(100 << times)
			if err != nil {
				t.Fatal(err)
			}
			small, err := p.NewFoldable(100)
			if err != nil {
				t.Fatal(err)
			}
			for key := range uint64(150) {
				large.AddUint64(key)
				small.AddUint64(key)
			}
			if err := x.Put(0, large.Filter()); err != nil {
				t.Fatalf("%v, %d bits into %d: %v", format, large.bytes()*8, x.bits, err)
			}
			checkTaken(t, x.Filter(0), small.Filter())
		}
	}
}

// TestInterleavedLike makes room for filters of given shapes, such as those of an engine.
func TestInterleavedLike(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format Format) {
		var filters []*Filter
		for i := range 70 {
			keys := make([]uint64, 320)
			for j := range keys {
				keys[j] = uint64(1000*i + j)
			}
			filters = append(filters, Policy{format, 9}.NewFilter(Integers(keys)))
		}
		like, err := filters[0].WithKeyKind(KindText)
		if err != nil {
			t.Fatal(err)
		}
		x, err := NewInterleaved(onKernel(t, like, Generic), len(filters))
		if err != nil {
			t.Fatal(err)
		}
		s, empty := filters[0].Stats(), x.Empty()
		if e := empty.Stats(); e.Bits != s.Bits || e.Probes != s.Probes || e.SetBits != 0 || empty.KeyKind() != KindText || empty.Kernel() != Generic {
			t.Errorf("%+v for %+v; kind %q, kernel %v", e, s, empty.KeyKind(), empty.Kernel())
		}
		if n, known := empty.KeyCount(); n != 0 || !known {
			t.Errorf("Empty has %d keys, %v", n, known)
		}
		if err := x.Put(0, filters...); err != nil {
			t.Fatal(err)
		}
		group, err := NewGroup(filters)
		if err != nil {
			t.Fatal(err)
		}
		keys := make([]uint64, 500)
		for i := range keys {
			keys[i] = uint64(i * 100)
		}
		checkAlike(t, x, group, format, Integers(keys))
	})
}

// TestInterleavedLastWord puts in filters whose last word has bits that no key has.
func TestInterleavedLastWord(t *testing.T) {
	for m := uint64(1); m < 200; m += 7 {
		s, err := BitsAndBlooms.NewSet(m, 3)
		if err != nil {
			t.Fatal(err)
		}
		s.AddBatch(Bytes(golden.Decimals.Range(0, 20)))
		x, err := NewInterleaved(s.Filter(), 70)
		if err == nil {
			err = x.Put(65, s.Filter())
		}
		if err != nil {
			t.Fatal(err)
		}
		checkTaken(t, x.Filter(65), s.Filter())
		if n := x.Filter(64).setBits(); n != 0 {
			t.Errorf("%d bits of a filter without keys are set", n)
		}
	}
}

// TestInterleavedErrors wants the error of each mistake, and nothing changed.
func TestInterleavedErrors(t *testing.T) {
	p := Policy{RocksDB, 10}
	x, err := p.NewInterleaved(100, 1000)
	if err != nil {
		t.Fatal(err)
	}
	x.empty.kind = KindText
	good := filtersOfShape(t, rand.New(rand.NewPCG(1, 1)), p, 1000, 1)[0]
	numbers, err := good.WithKeyKind("INT64")
	if err != nil {
		t.Fatal(err)
	}
	set := func(p Policy, keys int) *Filter { return mustSet(t, p, keys).Filter() }
	for name, test := range map[string]struct {
		first  int
		filter *Filter
		want   error
	}{
		"nil":                  {0, nil, ErrShape},
		"the zero Filter":      {0, new(Filter), ErrShape},
		"another format":       {0, set(Policy{Parquet, 10}, 1000), ErrShape},
		"a smaller one":        {0, set(p, 1), ErrShape},
		"no multiple":          {0, set(p, 1500), ErrShape},
		"other probes":         {0, set(Policy{RocksDB, 20}, 1000), ErrShape},
		"another kind of keys": {0, numbers, ErrKind},
		"before the first":     {-1, good, ErrCapacity},
		"after the last":       {x.room - 1, good, ErrCapacity},
		"far after the last":   {math.MaxInt, good, ErrCapacity},
	} {
		if err := x.Put(test.first, good, test.filter); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if x.Len() != 100 || onesCount(x.slices) != 0 || slices.Max(x.labels.keys) != 0 {
		t.Error("an error changes something")
	}
	lines := func(n byte) *Filter { // of 256 bytes together
		return mustOpen(t, Pebble, slices.Concat(make([]byte, 256), []byte{5, n, 0, 0, 0}))
	}
	for name, call := range map[string]struct {
		want error
		try  func() error
	}{
		"no format":       {ErrFormat, func() error { _, err := Policy{99, 10}.NewInterleaved(1, 1); return err }},
		"fewer than none": {ErrCapacity, func() error { _, err := p.NewInterleaved(-1, 1); return err }},
		"too many":        {ErrCapacity, func() error { _, err := p.NewInterleaved(math.MaxInt, 1); return err }},
		"too large":       {ErrCapacity, func() error { _, err := p.NewInterleaved(1<<29, 1<<16); return err }},
		"negative keys":   {ErrCapacity, func() error { _, err := p.NewInterleaved(1, -1); return err }},
		"the zero Filter": {ErrShape, func() error { _, err := NewInterleaved(new(Filter), 1); return err }},
		"no bits":         {ErrShape, func() error { _, err := NewInterleaved(mustOpen(t, LevelDB, nil), 1); return err }},
		"always yes":      {ErrShape, func() error { _, err := NewInterleaved(mustOpen(t, LevelDB, []byte{1, 2, 0}), 1); return err }},
		"few bits stored": {ErrShape, func() error {
			_, err := NewInterleaved(mustOpen(t, BitsAndBlooms, bitsAndBlooms(1<<43, 3, 64, 1)), 1)
			return err
		}},
		"long lines": {ErrShape, func() error { _, err := NewInterleaved(lines(2), 1); return err }},
		"long lines among others": {ErrShape, func() error {
			x, err := NewInterleaved(lines(4), 1)
			if err != nil {
				return err
			}
			return x.Put(0, lines(2))
		}},
		"too many of some": {ErrCapacity, func() error { _, err := NewInterleaved(good, mostBytes); return err }},
		"too many counts": {ErrCapacity, func() error { // of keys: the filters, of a bit each, are few bytes
			tiny, err := Nori.NewSet(1, 1)
			if err != nil {
				return err
			}
			_, err = NewInterleaved(tiny.Filter(), mostBytes/8+1)
			return err
		}},
	} {
		if err := call.try(); !errors.Is(err, call.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	zero := new(Interleaved)
	if zero.Len() != 0 || zero.room != 0 || zero.MayContain(nil, nil) != 0 || zero.MayContainHash(Hash{}, nil) != 0 ||
		zero.MayContainBatch(Integers([]int{1}), nil) != 0 || !errors.Is(zero.Put(0, good), ErrCapacity) || zero.Put(0) != nil {
		t.Error("the zero Interleaved holds a filter")
	}
	for i := range zero.Hits(Integers([]int{1})) {
		t.Errorf("the zero Interleaved holds key %d", i)
	}
	for name, call := range map[string]func(){
		"another hash":             func() { x.MayContainHash(Parquet.Hash(nil), make([]uint64, 2)) },
		"the zero Hash":            func() { x.MayContainHash(Hash{}, make([]uint64, 2)) },
		"hits too short":           func() { x.MayContain(nil, make([]uint64, 1, 2)) },
		"hits of a batch":          func() { x.MayContainBatch(Integers(make([]uint64, 65)), make([]uint64, 199, 200)) },
		"no keys of other hashes":  func() { x.MayContainBatch(Parquet.Hashes64(nil), nil) },
		"a column of other hashes": func() { x.MayContainBatch(Parquet.Hashes64(make([]uint64, 1)), make([]uint64, 100)) },
		"Hits of other hashes":     func() { x.Hits(Parquet.Hashes64(make([]uint64, 1))) },
		"no such filter":           func() { x.Filter(100) },
		"no filter -1":             func() { x.Filter(-1) },
		"no such label":            func() { x.SetLabel(100, "") },
	} {
		if panicOf(call) == "" {
			t.Errorf("%s: no panic", name)
		}
	}
}

// TestKernelTranspose compares transpose with its definition, at all places of a line.
func TestKernelTranspose(t *testing.T) {
	for _, kernel := range proven() {
		var x interleaving
		x.empty.kernel = kernel
		for first := range 8 {
			var words, want [80]uint64
			for i := range words {
				words[i] = rand.Uint64()
			}
			want = words
			clear(want[first:][:64])
			for i, word := range words[first:][:64] {
				for j := range 64 {
					want[first+j] |= word >> j & 1 << i
				}
			}
			if x.transpose((*[64]uint64)(words[first:])); words != want {
				t.Errorf("kernel %v, from word %d: %x, want %x", kernel, first, words, want)
			}
		}
	}
}

// TestInterleavedByReference compares with the plain reading of each format.
func TestInterleavedByReference(t *testing.T) {
	random := rand.New(rand.NewPCG(75, 76))
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 6}
		filters := filtersOfShape(t, random, p, 30, 130)
		x := interleave(t, random, p, 30, filters)
		hits := make([]uint64, 3)
		for value := range uint64(200) {
			key := binary.LittleEndian.AppendUint64(nil, value)
			n := x.MayContain(key, hits)
			if n != bits.OnesCount64(hits[0])+bits.OnesCount64(hits[1])+bits.OnesCount64(hits[2]) {
				t.Fatalf("%d hits in %x", n, hits)
			}
			for i, f := range filters {
				if got := hits[i/64]>>(i%64)&1 == 1; got != Reference(format, f.Bytes(), key) {
					t.Fatalf("filter %d, key %d: %v", i, value, got)
				}
			}
		}
	})
}

var pairs = flag.Int("pairs", 0, "at least so many pairs of a key and a filter in TestKernelInterleavedPairs")

// TestKernelInterleavedPairs compares interleaved filters in memory, and in a file, with a group of them: random shapes, numbers of
// filters, keys and kernels, up to a number of pairs of a key and a filter.
func TestKernelInterleavedPairs(t *testing.T) {
	t.Parallel()
	if *pairs == 0 {
		*pairs = 2_000_000 / oneOf(10)
	}
	random, done := rand.New(rand.NewPCG(79, 80)), 0
	for done < *pairs {
		for _, format := range Formats() {
			p, maxKeys := Policy{format, 1 + random.IntN(30)}, 1+random.IntN(300)
			filters := filtersOfShape(t, random, p, maxKeys, 1+random.IntN(1000/oneOf(1, 4)))
			x := interleave(t, random, p, maxKeys, filters)
			file := fileOf(t, x)
			keys := make([]uint64, 1+random.IntN(1000/oneOf(1, 2)))
			for i := range keys {
				keys[i] = random.Uint64N(8 * uint64(maxKeys))
			}
			column := Integers(keys)
			for _, kernel := range proven() {
				for i, f := range filters { // filters in which keys set no bits have no kernel
					var err error
					if filters[i], err = f.WithKernel(kernel); err != nil {
						t.Fatal(err)
					}
				}
				group, err := NewGroup(filters)
				if err != nil {
					t.Fatal(err)
				}
				rows, err := OpenInterleavedFile(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					t.Fatal(err)
				}
				rows.Gap = random.Int64N(1 << 16)
				x.empty.setKernel(kernel)
				rows.empty.setKernel(kernel)
				for first := 0; first < column.n; first += keysAlone {
					checkAlike(t, x, group, format, column.slice(first, min(first+keysAlone, column.n)))
				}
				checkAlike(t, x, group, format, column)
				checkHits(t, x, column)
				checkAlike(t, sure{rows, t}, group, format, column)
				done += len(filters) * len(keys)
			}
		}
	}
	t.Logf("%d pairs", done)
}

// TestKernelInterleavedFar asks slices that are so large that those of the next key are requested, with rows that are null.
func TestKernelInterleavedFar(t *testing.T) {
	random := rand.New(rand.NewPCG(95, 96))
	for _, format := range []Format{RocksDB, Parquet, BitsAndBlooms} {
		p := Policy{format, 10}
		filters := filtersOfShape(t, random, p, 500, 100)
		all := slices.Concat(slices.Repeat([][]*Filter{filters}, 68)...)
		group, err := NewGroup(all)
		if err != nil {
			t.Fatal(err)
		}
		x := interleave(t, random, p, 500, all)
		if len(x.slices) < farBytes || x.stride < sliceLines*memory.CacheLine {
			t.Fatalf("%d bytes of slices of %d", len(x.slices), x.stride)
		}
		keys := make([]uint64, 130)
		for i := range keys {
			keys[i] = random.Uint64N(4000)
		}
		column := must(t)(Integers(keys).WithValidity(randomBits(random, 200, 0.7), 3))
		x.onKernels(t, func(t *testing.T, x *Interleaved) {
			checkAlike(t, x, group, format, column)
			checkHits(t, x, column)
		})
	}
}
