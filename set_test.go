package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// TestNew fills sets of Default to their capacity and measures their rates.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, keys := range []int{0, 1, 1000, 50_000} {
		s, err := New(keys, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range max(keys, 1) {
			s.AddUint64(random.Uint64())
		}
		if got := s.Stats().FalsePositiveRate; s.Format() != Default || keys > 0 && got > 0.011 {
			t.Errorf("a set of %v for %d keys has a rate of %v with them", s.Format(), keys, got)
		}
	}
	for _, c := range []struct {
		keys int
		rate float64
		want error
	}{{-1, 0.01, ErrCapacity}, {10, 0, ErrRate}, {10, 1, ErrRate}, {10, math.NaN(), ErrRate}, {10, 1e-300, ErrRate}} {
		if s, err := New(c.keys, c.rate); s != nil || !errors.Is(err, c.want) {
			t.Errorf("New(%d, %v) = %v, %v, want %v", c.keys, c.rate, s, err, c.want)
		}
	}
}

// TestSetOperations compares Clone, Equal and Clear with what they do to the bytes
// of the reference.
func TestSetOperations(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		keys := golden.Mixed.Range(0, 300)
		set := func(keys [][]byte) *Set {
			s := mustSet(t, p, 300)
			s.AddBatch(Bytes(keys))
			return s
		}
		s, empty := set(keys), mustSet(t, p, 300).AppendFilter(nil)
		clone := s.Clone()
		if !clone.Equal(s) || !s.Equal(set(keys)) || s.Equal(set(keys[:299])) || s.Equal(mustSet(t, p, 400)) {
			t.Error("Equal is wrong")
		}
		eachFormat(t, func(t *testing.T, other Format) { // 32 keys of 8 bits: two formats have the same bits
			if got := mustSet(t, Policy{format, 8}, 32).Equal(mustSet(t, Policy{other, 8}, 32)); got != (other == format) {
				t.Errorf("Equal of sets of the formats %v and %v: %v", format, other, got)
			}
		})
		clone.AddString("another")
		live := s.Filter()
		if s.Equal(clone) || s.MayContainString("another") || !clone.MayContainString("another") {
			t.Error("a clone is no copy")
		}
		if kernel := clone.kernel; kernel != s.kernel {
			t.Errorf("the clone runs on kernel %v", kernel)
		}
		s.Clear()
		if !bytes.Equal(s.data, empty) || live.MayContain(keys[0]) || !clone.MayContain(keys[0]) {
			t.Error("Clear leaves a key, or clears the clone")
		}
	})
}

// TestIntersect compares the bits with those that both sets have.
func TestIntersect(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{1, 9, 40, 300} {
			p := Policy{format, 10}
			a, b := mustSet(t, p, n), mustSet(t, p, n)
			a.AddBatch(Bytes(golden.Mixed.Range(0, n)))
			b.AddBatch(Bytes(golden.Mixed.Range(n/3, n/3+n)))
			array, _ := a.encoded()
			others, _ := b.encoded()
			want := slices.Clone(array)
			for i := range want {
				want[i] &= others[i]
			}
			if err := a.Intersect(b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(array, want) {
				t.Errorf("the intersection of sets of %d keys has the bits %x, want %x", n, array, want)
			}
			common := Bytes(golden.Mixed.Range(n/3, n))
			if found := a.MayContainBatch(common, make([]uint64, n/64+1)); found != common.Len() {
				t.Errorf("%d of %d common keys are found", found, common.Len())
			}
			if _, known := a.KeyCount(); known {
				t.Error("the number of keys of an intersection is known")
			}
		}
	})
}

// adder is what both kinds of sets have to tell which keys are new.
type adder interface {
	TestAndAdd(key []byte) bool
	TestAndAddString(key string) bool
	TestAndAddUint64(key uint64) bool
	TestAndAddHash(h Hash) bool
	TestAndAddBatch(keys Keys, hits []uint64) int
	MayContain(key []byte) bool
}

// probeAndAdd adds key i by one of the functions for a single key.
func probeAndAdd(s adder, f Format, i int, key []byte) bool {
	switch {
	case i%3 == 0:
		return s.TestAndAddHash(f.Hash(key))
	case len(key) == 8:
		return s.TestAndAddUint64(binary.LittleEndian.Uint64(key))
	case i%3 == 1:
		return s.TestAndAddString(string(key))
	}
	return s.TestAndAdd(key)
}

// adders are the two kinds of sets that tell which keys are new.
func adders(t testing.TB, p Policy, capacity int, kernel Kernel) map[string]adder {
	t.Helper()
	s, err := mustSet(t, p, capacity).WithKernel(kernel)
	if err != nil || s.kernel != kernel {
		t.Fatal(err)
	}
	a := mustAtomicSet(t, p, capacity)
	a.view.setKernel(kernel)
	return map[string]adder{"Set": s, "AtomicSet": a}
}

// TestKernelTestAndAddBatch compares the hits in columns with those that the reference finds, key
// by key. Rows repeat within a column and in the columns after it. The set is as full as its
// capacity lets it be, so that some new keys are false positives.
func TestKernelTestAndAddBatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(51, 52))
	columns := make([][][]byte, 0, 16)
	valid := make([][]byte, 0, 16)
	for _, n := range []int{0, 1, 3, leastHashes, leastHashes + 1, 63, 64, 65, 300, 16, windowKeys128 + 1, 2 * windowKeys, 2*windowKeys + 7, 700, windowKeys + 1} {
		column := make([][]byte, n)
		for i := range column {
			column[i] = golden.Mixed.Key(random.IntN(2500))
		}
		bitmap := make([]byte, n/8+1)
		for i := range bitmap {
			bitmap[i] = byte(random.Uint32() | random.Uint32())
		}
		columns, valid = append(columns, column), append(valid, bitmap)
	}
	last := len(columns) - 2 // windows of one row end these two: it is known when they come again
	columns, valid = append(columns, columns[last:]...), append(valid, valid[last:]...)
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 3}
		model := slices.Clone(mustSet(t, p, 1500).data) // changed by the reference alone
		var want [][]uint64
		for c, column := range columns {
			hits := make([]uint64, (len(column)+63)/64)
			for i, key := range column {
				switch {
				case valid[c][i/8]>>(i%8)&1 == 0:
				case Reference(format, model, key):
					hits[i/64] |= 1 << (i % 64)
				default:
					addByReference(t, format, model, key)
				}
			}
			want = append(want, hits)
		}
		for _, kernel := range kernels {
			for _, hashed := range []bool{false, true} {
				for name, s := range adders(t, p, 1500, kernel) {
					t.Run(fmt.Sprintf("%s/kernel=%v/hashed=%v", name, kernel, hashed), func(t *testing.T) {
						for c, column := range columns {
							keys := must(t)(Bytes(column).WithValidity(valid[c], 0))
							if hashed {
								keys = keys.Hashed(format)
							}
							const canary = 0xdeadbeefdeadbeef
							got := slices.Repeat([]uint64{canary}, len(want[c])+1)
							if n := s.TestAndAddBatch(keys, got); !slices.Equal(got[:len(want[c])], want[c]) || n != int(onesCount64(want[c])) || got[len(want[c])] != canary {
								t.Fatalf("column %d of %d rows: %d rows\n%x were there, want\n%x", c, len(column), n, got, want[c])
							}
						}
					})
				}
			}
			for name, s := range adders(t, p, 1500, kernel) {
				for c, column := range columns {
					for i, key := range column {
						if valid[c][i/8]>>(i%8)&1 == 0 {
							continue
						}
						if got, old := probeAndAdd(s, format, i, key), want[c][i/64]>>(i%64)&1 != 0; got != old || !s.MayContain(key) {
							t.Fatalf("%s: column %d: TestAndAdd of row %d = %v", name, c, i, got)
						}
					}
				}
			}
		}
	})
}

// TestTestAndAddBatchOfShares adds a stream to sets of any capacity, by columns with other shares of new keys, so
// that windows are tested first and not tested. It compares each row with the reference.
func TestTestAndAddBatchOfShares(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(53, 54))
	rounds := 6
	if !whole() {
		rounds = 2
	}
	eachFormat(t, func(t *testing.T, format Format) {
		for range rounds {
			p, capacity := Policy{format, 2 + random.IntN(19)}, 1+random.IntN(3000)
			var sets []*Set
			for _, kernel := range kernels {
				s, err := mustSet(t, p, capacity).WithKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				sets = append(sets, s)
			}
			model := slices.Clone(sets[0].data)
			next := 0
			for _, percent := range []int{100, 0, 1, 5, 25, 50, 100, 5} {
				rows := make([][]byte, random.IntN(2*windowKeys))
				for i := range rows {
					if random.IntN(100) < percent {
						next++
						rows[i] = golden.Mixed.Key(next)
					} else {
						rows[i] = golden.Mixed.Key(random.IntN(next + 1))
					}
				}
				column, valid := Bytes(rows), slices.Repeat([]byte{0xff}, len(rows)/8+1)
				if random.IntN(2) == 0 {
					for i := range valid {
						valid[i] = byte(random.Uint32() | random.Uint32())
					}
					column = must(t)(column.WithValidity(valid, 0))
				}
				want := make([]uint64, (len(rows)+63)/64)
				for i, key := range rows {
					switch {
					case valid[i/8]>>(i%8)&1 == 0:
					case Reference(format, model, key):
						want[i/64] |= 1 << (i % 64)
					default:
						addByReference(t, format, model, key)
					}
				}
				got := make([]uint64, len(want))
				for _, s := range sets {
					if n := s.TestAndAddBatch(column, got); !slices.Equal(got, want) || n != int(onesCount64(want)) || !bytes.Equal(s.data, model) {
						t.Fatalf("kernel %v, %d bits a key, capacity %d, %d rows, %d %% new: right bits: %v; %d rows\n%x were there, want\n%x",
							s.kernel, p.BitsPerKey, capacity, len(rows), percent, bytes.Equal(s.data, model), n, got, want)
					}
				}
			}
		}
	})
}

func onesCount64(words []uint64) (n uint64) {
	for _, w := range words {
		for ; w != 0; w &= w - 1 {
			n++
		}
	}
	return n
}

func TestSet(t *testing.T) {
	eachFormat(t, testSet)
}

func testSet(t *testing.T, f Format) {
	s := mustSet(t, Policy{f, 10}, 1000)
	live := s.Filter()
	if s.MayContainString("a") || live.MayContainString("a") {
		t.Error("the empty set holds a key")
	}
	s.AddString("a")
	if !s.MayContain([]byte("a")) || !live.MayContainHash(f.Hash([]byte("a"))) {
		t.Error("an added key is missing")
	}
	encoded := s.AppendFilter([]byte("prefix"))
	if string(encoded[:6]) != "prefix" || !bytes.Equal(live.AppendFilter(nil), encoded[6:]) {
		t.Fatalf("AppendFilter: %q", encoded)
	}
	reopened, err := OpenSet(f, encoded[6:])
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
	generic, err := s.WithKernel(Generic)
	if err != nil || generic.kernel != Generic {
		t.Fatalf("WithKernel: %v", err)
	}
	generic.AddBatch(Strings([]string{"c", "d"}))
	if !s.MayContainString("c") || !s.MayContainString("d") {
		t.Error("a set with another kernel does not share the bits")
	}
}

// TestKeyCount counts keys that are added in every way, to all views of a set.
func TestKeyCount(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		s := mustSet(t, Policy{format, 10}, 10)
		f := s.Filter()
		other, err := s.WithKernel(Generic)
		if err != nil {
			t.Fatal(err)
		}
		s.AddString("a")
		other.Add([]byte("a"))
		s.AddBatch(must(t)(Strings([]string{"b", "c", "d"}).WithValidity([]byte{0b101}, 0)))
		check := func(s interface{ KeyCount() (uint64, bool) }, want uint64, known bool) {
			t.Helper()
			if n, ok := s.KeyCount(); n != want || ok != known {
				t.Errorf("KeyCount() = %d, %v; want %d, %v", n, ok, want, known)
			}
		}
		check(s, 4, true)
		check(f, 4, true)
		check(other, 4, true)
		if err := s.Merge(other); err != nil { // with itself
			t.Fatal(err)
		}
		check(f, 8, true)
		clone := s.Clone()
		clone.AddUint64(7)
		clone.AddHash(format.Hash(nil))
		clone.TestAndAdd([]byte("a")) // a duplicate
		clone.TestAndAddBatch(must(t)(Strings([]string{"b", "x", "x"}).WithValidity([]byte{0b101}, 0)), make([]uint64, 1))
		check(clone, 13, true)
		check(f, 8, true)
		clone.Clear()
		clone.AddString("y")
		check(clone, 1, true)
		check(Policy{format, 10}.NewFilter(must(t)(Strings([]string{"b", "x", "x"}).WithValidity([]byte{0b101}, 0))), 2, true)
		check(mustAtomicSet(t, Policy{format, 10}, 10).Snapshot(), 0, false)
		opened, err := OpenSet(format, s.data)
		if err != nil {
			t.Fatal(err)
		}
		opened.AddString("e")
		check(opened, 0, false)
		cleared := opened.Clone()
		cleared.Clear()
		check(cleared, 0, true)
		check(mustOpen(t, format, s.data), 0, false)
		if err := s.Merge(opened); err != nil {
			t.Fatal(err)
		}
		check(f, 0, false)
		b := Policy{format, 10}.NewBuilder()
		check(b.Filter(), 0, true)
		b.AddBatch(Strings([]string{"a", "b"}))
		check(b.Filter(), 2, true)
	})
}

// TestLargestKeyCounts adds to sets of files that claim more keys than there can be: then the number is not
// known, in memory and in the file of the set.
func TestLargestKeyCounts(t *testing.T) {
	for claimed, want := range map[uint64]uint64{7: 8, mostKeys - 2: mostKeys - 1, mostKeys - 1: 0, mostKeys: 0, unknownKeys - 1: 0} {
		file := plainFile(t, RocksDB, claimed, Policy{RocksDB, 10}.AppendFilter(nil, Strings([]string{"apple"})))
		if f, err := OpenBinary(file); err != nil {
			t.Fatal(err)
		} else if _, known := f.KeyCount(); known != (claimed < mostKeys) {
			t.Errorf("a filter of %d keys: known: %v", claimed, known)
		}
		one := mustSet(t, Policy{RocksDB, 10}, 1)
		one.AddString("pear")
		for name, add := range map[string]func(*Set){
			"AddString": func(s *Set) { s.AddString("pear") },
			"AddBatch":  func(s *Set) { s.AddBatch(Strings([]string{"pear"})) },
			"Merge": func(s *Set) {
				if err := s.Merge(one); err != nil {
					t.Error(err)
				}
			},
		} {
			var s, again Set
			if err := s.UnmarshalBinary(file); err != nil {
				t.Fatal(err)
			}
			add(&s)
			after, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if err := again.UnmarshalBinary(after); err != nil {
				t.Fatal(err)
			}
			for _, v := range []*Set{&s, &again} {
				if n, known := v.KeyCount(); n != want || known != (want != 0) {
					t.Errorf("%s to %d keys: %d, %v", name, claimed, n, known)
				}
			}
		}
	}
}

// foldable are the formats whose sets can be halved.
var foldable = []Format{LevelDB, Nori, NoriCrate, Parquet, RocksDB, BitsAndBlooms, Guava}

// smaller returns the encoding of an empty filter with 1/2^times of the bits of s, as the reference
// reads it.
func smaller(t *testing.T, s *Set, times int) []byte {
	t.Helper()
	from, to := s.bitRange()
	n := uint64(to-from) * 8 >> times
	data := slices.Concat(s.data[:from], make([]byte, n/8), s.data[to:])
	switch s.format {
	case Nori:
		binary.LittleEndian.PutUint64(data, n)
	case NoriCrate:
		binary.LittleEndian.PutUint64(data[4:], n)
	case BitsAndBlooms:
		binary.BigEndian.PutUint64(data, n)
		binary.BigEndian.PutUint64(data[16:], n)
	case Guava:
		binary.BigEndian.PutUint32(data[2:], uint32(n/64))
	}
	return data
}

// TestFoldableSizes wants an even number of units, at least 8, for every number of keys, so that every such set can be halved.
func TestFoldableSizes(t *testing.T) {
	for _, format := range foldable {
		for keys := range 500 {
			s, err := Policy{format, 10}.NewFoldable(keys)
			if err != nil {
				t.Fatal(err)
			}
			_, shape := s.encoded()
			if unit := schemes[s.scheme].unit; shape.Bits%(2*unit) != 0 || shape.Bits < 8*unit {
				t.Errorf("%v: %d keys have %d bits, in units of %d", format, keys, shape.Bits, unit)
			}
		}
	}
}

// TestFold compares folded sets, bit for bit, with small ones to which the reference adds the same
// keys. A folded set holds the rate, and one that is halved once more does not.
func TestFold(t *testing.T) {
	for _, format := range foldable {
		for _, bitsPerKey := range []int{4, 10, 17} {
			for i, n := range []int{0, 1, 60, 1000, 7000} {
				if (i+bitsPerKey)%oneOf(1, 3) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("format=%v/bits=%d/n=%d", format, bitsPerKey, n), func(t *testing.T) {
					t.Parallel()
					const rate = 0.02
					p := Policy{format, bitsPerKey}
					s, err := p.NewFoldable(10_000)
					if err != nil {
						t.Fatal(err)
					}
					_, before := s.encoded()
					if fixed, _, _ := p.Size(10_000); before.Bits < fixed || before.Bits > fixed+fixed/8+512 {
						t.Errorf("%d bits; a set of fixed size has %d", before.Bits, fixed)
					}
					unfolded := s.Clone()
					random := rand.New(rand.NewPCG(uint64(n), 1))
					keys := make([]uint64, n)
					for i := range keys {
						keys[i] = random.Uint64()
					}
					s.AddBatch(Integers(keys))
					old := s.Filter()
					times, err := s.Fold(rate)
					if err != nil {
						t.Fatal(err)
					}
					want := smaller(t, unfolded, times)
					for _, key := range keys {
						addByReference(t, format, want, binary.LittleEndian.AppendUint64(nil, key))
					}
					if !bytes.Equal(s.data, want) {
						t.Errorf("folded %d times, the set differs from a small one", times)
					}
					if count, known := s.KeyCount(); count != uint64(n) || !known {
						t.Errorf("KeyCount() = %d, %v", count, known)
					}
					_, folded := s.encoded()
					bits, k := folded.Bits, folded.Probes
					if times > 0 && format.FalsePositiveRate(n, bits, k) > 1.1*rate {
						t.Errorf("%d keys in %d bits: %v", n, bits, format.FalsePositiveRate(n, bits, k))
					}
					if unit := schemes[s.scheme].unit; bits%(2*unit) == 0 && format.FalsePositiveRate(n, bits/2, k) < 0.9*rate {
						t.Errorf("%d keys in %d bits: half would do", n, bits)
					}
					s.AddUint64(1) // a folded set is one like any other
					if want := s.MayContainUint64(1); !want || s.Filter().MayContainBatch(Integers(append(keys, 1)), make([]uint64, n/64+1)) != n+1 {
						t.Error("the folded set loses a key")
					}
					if count, _ := old.KeyCount(); times > 0 && count != uint64(n) {
						t.Errorf("the view of the old bits counts %d keys", count)
					}
				})
			}
		}
	}
}

// TestFoldOften halves sets of NewFoldable for few keys until nothing is left to halve, and then once more.
func TestFoldOften(t *testing.T) {
	t.Parallel()
	const rate = 0.999
	for _, format := range foldable {
		for _, bitsPerKey := range []int{1, 10, 16} {
			for n := 0; n < 3000; n += oneOf(2) + oneOf(4)*n/4 {
				p := Policy{format, bitsPerKey}
				s, err := p.NewFoldable(n)
				if err != nil {
					t.Fatal(err)
				}
				fixed, _, _ := p.Size(n)
				unit := schemes[s.scheme].unit
				if bits := s.bytes() * 8; bits < fixed || bits > max(fixed+fixed/8+unit, 8*unit) {
					t.Fatalf("%v for %d keys: %d bits, a set of fixed size has %d", p, n, bits, fixed)
				}
				s.AddUint64(7)
				times, err := s.Fold(rate)
				if times < 1 || err != nil || !s.MayContainUint64(7) {
					t.Fatalf("%v for %d keys: Fold = %d, %v", p, n, times, err)
				}
				for again := 1; again > 0; { // fewer bits may look like fewer keys
					if again, err = s.Fold(rate); err != nil || again > 10 {
						t.Fatalf("%v for %d keys: Fold = %d, %v at %d bits", p, n, again, err, s.bytes()*8)
					}
				}
			}
		}
	}
}

// TestResize compares headers that are rewritten for another number of bits with those of filters of that size.
func TestResize(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		if schemes[format.scheme()].unit == 0 {
			return // its filters are never halved
		}
		large, small := Policy{format, 10}.AppendFilter(nil, Integers(make([]uint64, 3000))), Policy{format, 10}.AppendFilter(nil, Integers(make([]uint64, 1500)))
		to := mustOpen(t, format, small)
		from, end := to.BitRange()
		_, shape := to.encoded()
		before, after := mustOpen(t, format, large).BitRange()
		got := slices.Concat(large[:before], small[from:end], large[after:])
		format.encoding().Resize(got, shape.Bits)
		if !bytes.Equal(got, small) {
			t.Errorf("the frame is %x and %x, want %x and %x", got[:from], got[end:], small[:from], small[end:])
		}
	})
}

// TestFoldRule compares how often Parquet's sets are halved with the rule of arrow-rs (pull request
// 9628) and of Arrow C++ (50008): by the mean fill of the blocks. That rule leaves out that some blocks
// are fuller than others, so it halves a set once more at times, and then misses the rate.
func TestFoldRule(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(61, 62))
	more := 0
	for range 60 {
		n, rate := 1+random.IntN(20_000), 0.001+0.05*random.Float64()
		s, err := Policy{Parquet, 12}.NewFoldable(20_000)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			s.AddUint64(random.Uint64())
		}
		stats, theirs := s.Stats(), 0
		fill := float64(stats.SetBits) / float64(stats.Bits)
		for size := s.N; size%2 == 0; size /= 2 {
			fill = 1 - (1-fill)*(1-fill) // of two blocks as one
			if math.Pow(fill, 8) > rate {
				break
			}
			theirs++
		}
		ours, err := s.Fold(rate)
		if err != nil || ours > theirs || ours < theirs-1 {
			t.Errorf("%d keys at %v: halved %d times, by arrow-rs's rule %d: %v", n, rate, ours, theirs, err)
		}
		if ours < theirs {
			more++
		}
	}
	if more > 15 {
		t.Errorf("arrow-rs's rule halves %d of 60 sets once more", more)
	}
}

// TestFoldErrors checks that what cannot be halved does not change.
func TestFoldErrors(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		odd := mustSet(t, Policy{format, 8}, 32*9) // 9 lines, 9 blocks, 288 bytes
		if format == LevelDB || format == Nori || format == NoriCrate || format == BitsAndBlooms || format == Guava {
			odd = mustSet(t, Policy{format, 8}, 65)
		}
		if format == NoriCrate {
			odd = mustSet(t, Policy{format, 1}, 1) // a power of two: one bit
		}
		odd.AddString("key")
		before := odd.Clone()
		for _, rate := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
			if n, err := odd.Fold(rate); n != 0 || !errors.Is(err, ErrRate) || !odd.Equal(before) {
				t.Errorf("Fold(%v) = %d, %v", rate, n, err)
			}
		}
		want := error(nil)
		if !slices.Contains(foldable, format) {
			want = ErrShape
		}
		if n, err := odd.Fold(0.99); n != 0 || !errors.Is(err, want) || !odd.Equal(before) {
			t.Errorf("Fold of an odd size = %d, %v", n, err)
		}
		for maxKeys, want := range map[int]error{-1: ErrCapacity, math.MaxInt: ErrCapacity} {
			if _, err := (Policy{format, 10}).NewFoldable(maxKeys); !errors.Is(err, want) {
				t.Errorf("NewFoldable(%d): %v", maxKeys, err)
			}
		}
		if !slices.Contains(foldable, format) {
			if _, err := (Policy{format, 10}).NewFoldable(10); !errors.Is(err, ErrShape) {
				t.Errorf("NewFoldable: %v", err)
			}
		}
		full := mustSet(t, Policy{format, 8}, 32*8)
		for i := range 32 * 8 {
			full.AddUint64(uint64(i))
		}
		if n, err := full.Fold(0.001); slices.Contains(foldable, format) && (n != 0 || err != nil) {
			t.Errorf("Fold of a full set = %d, %v", n, err)
		}
	})
	if n, err := new(Set).Fold(0.5); n != 0 || err != nil {
		t.Errorf("Fold of the zero Set = %d, %v", n, err)
	}
	if _, err := (Policy{Format: 99}).NewFoldable(1); !errors.Is(err, ErrFormat) {
		t.Errorf("NewFoldable of no format: %v", err)
	}
}
