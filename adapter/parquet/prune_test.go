package bloomparquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom"
)

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// orders are types, each with a plain comparison of its values. nil is a type without an order.
var orders = []struct {
	typ     Type
	compare func(a, b []byte) int
}{
	{Type{Physical: Int32}, integers(func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) })},
	{Type{Physical: Int32, Logical: Date}, integers(func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) })},
	{Type{Physical: Int32, Logical: Uint, Bits: 32}, integers(binary.LittleEndian.Uint32)},
	{Type{Physical: Int32, Logical: Decimal, Precision: 9, Scale: 2}, integers(func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) })},
	{Type{Physical: Int64}, integers(func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })},
	{Type{Physical: Int64, Logical: Timestamp, Unit: Micros, UTC: true}, integers(func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })},
	{Type{Physical: Int64, Logical: Uint, Bits: 64}, integers(binary.LittleEndian.Uint64)},
	{Type{Physical: Float}, nil},
	{Type{Physical: Double}, nil},
	{Type{Physical: ByteArray}, slices.Compare[[]byte]},
	{Type{Physical: ByteArray, Logical: String}, slices.Compare[[]byte]},
	{Type{Physical: FixedLenByteArray, Width: 5}, slices.Compare[[]byte]},
	{Type{Physical: FixedLenByteArray, Width: 16, Logical: UUID}, slices.Compare[[]byte]},
	{Type{Physical: FixedLenByteArray, Width: 11, Logical: Decimal, Precision: 20}, compareTwosComplement},
	{Type{Physical: FixedLenByteArray, Width: 3, Logical: Decimal, Precision: 5}, compareTwosComplement},
	{Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}, nil},
	{Type{Physical: FixedLenByteArray, Width: 12, Logical: Interval}, nil},
	{Type{Physical: ByteArray, Logical: Decimal, Precision: 20}, nil},
	{Type{Physical: ByteArray, Logical: Other}, nil},
	{Type{Physical: Int96}, nil},
}

// integers compares numbers.
func integers[N int64 | uint32 | uint64](number func([]byte) N) func(a, b []byte) int {
	return func(a, b []byte) int { return cmp.Compare(number(a), number(b)) }
}

func compareTwosComplement(a, b []byte) int {
	number := func(b []byte) *big.Int {
		x := new(big.Int).SetBytes(b)
		if b[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return x
	}
	return number(a).Cmp(number(b))
}

// randomValue returns the bytes of a value: often a special one, or with a common start.
func randomValue(random *rand.Rand, t Type, start string) []byte {
	width := t.width()
	if width == 0 {
		width = random.IntN(12)
	}
	b := make([]byte, width)
	for i := range b {
		b[i] = [...]byte{0, 0xff, 0x80, 0x7f, byte(random.Uint32()), byte(random.Uint32())}[random.IntN(6)]
	}
	if t.width() == 0 {
		return append([]byte(start), b...)
	}
	copy(b, start)
	return b
}

// float returns a float as a number, and 1 for any other value.
func float(t Type, b []byte) float64 {
	switch t.Physical {
	case Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 1
}

// TestPrune compares the row groups of keys with the plain reading of filters and with comparisons of values, for
// every type: random keys, row groups of random values, with the bounds of the values, whole, cut off or missing.
func TestPrune(t *testing.T) {
	for _, order := range orders {
		t.Run(order.typ.String(), func(t *testing.T) {
			excluded := 0
			for seed := range uint64(40) {
				excluded += prunedByBounds(t, order.typ, order.compare, rand.New(rand.NewPCG(1, seed)))
			}
			if order.compare != nil && excluded == 0 {
				t.Error("bounds exclude nothing")
			}
			if order.compare == nil && excluded > 0 {
				t.Errorf("bounds exclude %d keys of a type without an order", excluded)
			}
		})
	}
}

// prunedByBounds checks a random file. It returns how many keys bounds alone excluded.
func prunedByBounds(t *testing.T, typ Type, compare func(a, b []byte) int, random *rand.Rand) (excluded int) {
	start := [...]string{"", "customer-", "aaa"}[random.IntN(3)]
	if typ.Logical != Plain && typ.Logical != String {
		start = ""
	}
	keys := make([][]byte, random.IntN(300))
	for i := range keys {
		keys[i] = randomValue(random, typ, start)
	}
	f := new(file)
	groups := make([][][]byte, 1+random.IntN(8))
	for g := range groups {
		for range 1 + random.IntN(20) {
			v := randomValue(random, typ, start)
			if len(keys) > 0 && random.IntN(3) == 0 {
				v = keys[random.IntN(len(keys))]
			}
			groups[g] = append(groups[g], v)
		}
		bits := 1 + random.IntN(12)
		chunk := f.add(t, bloom.Bytes(groups[g]), bits)
		if compare != nil && len(groups[g]) > 0 {
			chunk.Min, chunk.Max = slices.MinFunc(groups[g], compare), slices.MaxFunc(groups[g], compare)
		} else if len(groups[g]) > 0 {
			chunk.Min, chunk.Max = slices.MinFunc(groups[g], slices.Compare), slices.MaxFunc(groups[g], slices.Compare)
		}
		switch random.IntN(5) {
		case 0:
			chunk.Min = nil
		case 1:
			chunk.Max = nil
		case 2:
			if typ.width() == 0 { // cut off, as some writers do
				chunk.Min, chunk.Max = chunk.Min[:min(len(chunk.Min), 4)], chunk.Max[:min(len(chunk.Max), 4)]
			}
		}
		if random.IntN(6) == 0 {
			chunk.FilterOffset = 0
		}
	}
	c := f.open(t, typ)
	k, err := KeysOf(typ, keys)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rowGroups(k, c)
	if err != nil {
		t.Fatal(err)
	}
	for g, group := range m {
		chunk := c.meta.Chunks[g]
		if group.Index != g || group.Rows != int64(len(groups[g])) || group.Column != c {
			t.Fatalf("row group %d is described as %d with %d rows", g, group.Index, group.Rows)
		}
		filter := f.Bytes()[chunk.FilterOffset:][chunk.FilterLength%32 : max(chunk.FilterLength, chunk.FilterLength%32)]
		var listed []int
		for i := range group.Keys() {
			listed = append(listed, i)
		}
		count := 0
		for i, key := range keys {
			got := mayContain(group, i)
			if got != slices.Contains(listed, i) {
				t.Fatalf("key %d is not in the list as in the bits", i)
			}
			if got {
				count++
			}
			mayBe := chunk.FilterOffset == 0 || bloom.Reference(bloom.Parquet, filter, key)
			inGroup := slices.ContainsFunc(groups[g], func(v []byte) bool {
				return string(v) == string(key) || float(typ, v) == 0 && float(typ, key) == 0
			})
			outside := compare != nil && isOutside(key, chunk.Min, chunk.Max, compare)
			exact := typ.width() > 0 && typ.width() <= 8 // then different values have different ranks
			unsure := typ.Logical == Float16 || float(typ, key) == 0 || math.IsNaN(float(typ, key))
			switch {
			case inGroup && !got:
				t.Fatalf("%x is not in row group %d, which holds it: bounds %x to %x", key, g, chunk.Min, chunk.Max)
			case got && !mayBe && !unsure:
				t.Fatalf("%x is in row group %d, but not in the filter", key, g)
			case got && outside && exact:
				t.Fatalf("%x is in row group %d, but not between %x and %x", key, g, chunk.Min, chunk.Max)
			case !got && mayBe && !outside:
				t.Fatalf("%x is not in row group %d, but in the filter and between %x and %x", key, g, chunk.Min, chunk.Max)
			case !got && mayBe:
				excluded++
			}
		}
		if group.Count != count {
			t.Fatalf("%d keys are counted as %d", count, group.Count)
		}
	}
	return excluded
}

// isOutside reports whether bounds exclude a value, as the format defines them. What begins with
// a maximum is not taken to be above it.
func isOutside(key, low, high []byte, compare func(a, b []byte) int) bool {
	if len(low) > 0 && compare(key, low) < 0 {
		return true
	}
	return len(high) > 0 && compare(key, high) > 0
}

// TestBounds compares keys with bounds of a few kinds that must not be trusted, or that are
// easily mistaken.
func TestBounds(t *testing.T) {
	float := func(x float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)) }
	int32s := func(x uint32) []byte { return binary.LittleEndian.AppendUint32(nil, x) }
	text := func(s ...string) (b [][]byte) {
		for _, v := range s {
			b = append(b, []byte(v))
		}
		return b
	}
	for name, test := range map[string]struct {
		typ      Type
		keys     [][]byte
		low, top []byte
		want     string // a 1 for each key that may be in the row group
	}{
		"int32 is signed":             {Type{Physical: Int32}, [][]byte{int32s(1 << 31), int32s(0), int32s(5), int32s(6)}, int32s(0), int32s(5), "0110"},
		"uint32 is not":               {Type{Physical: Int32, Logical: Uint}, [][]byte{int32s(1 << 31), int32s(0), int32s(5), int32s(6)}, int32s(3), int32s(1 << 31), "1011"},
		"wrong way round":             {Type{Physical: Int32}, [][]byte{int32s(1), int32s(9)}, int32s(5), int32s(4), "11"},
		"wrong width":                 {Type{Physical: Int32}, [][]byte{int32s(1), int32s(9)}, float(5), int32s(8), "11"},
		"maximum only":                {Type{Physical: Int32}, [][]byte{int32s(1), int32s(9)}, nil, int32s(8), "10"},
		"minimum only":                {Type{Physical: Int32}, [][]byte{int32s(1), int32s(9)}, int32s(8), nil, "01"},
		"floats are not compared":     {Type{Physical: Double}, [][]byte{float(1), float(9), float(math.NaN())}, float(5), float(6), "111"},
		"cut maximum":                 {Type{Physical: ByteArray}, text("abc", "abcd", "abd", "aa"), []byte("abb"), []byte("abc"), "1100"},
		"cut maximum of the prefix":   {Type{Physical: ByteArray}, text("abcdef1", "abcdef2"), []byte("a"), []byte("abc"), "11"},
		"maximum below the prefix":    {Type{Physical: ByteArray}, text("abcdef1", "abcdef2"), []byte("a"), []byte("abb"), "00"},
		"minimum above the prefix":    {Type{Physical: ByteArray}, text("abcdef1", "abcdef2"), []byte("abd"), []byte("abz"), "00"},
		"minimum with the prefix":     {Type{Physical: ByteArray}, text("key-00000000001", "key-00000000002"), []byte("key-00000000002"), nil, "01"},
		"unsigned bytes":              {Type{Physical: ByteArray}, text("\x00", "\x7f", "\x80", "\xff"), []byte("\x7f"), []byte("\x80"), "0110"},
		"cut to be below the minimum": {Type{Physical: ByteArray}, text("abcd", "b"), []byte("abcc"), []byte("abc"), "10"},
		"eight equal bytes":           {Type{Physical: ByteArray}, text("x", "123456781", "123456783"), []byte("123456782"), nil, "111"},
		"decimals are signed": {Type{Physical: FixedLenByteArray, Width: 2, Logical: Decimal, Precision: 4},
			text("\xff\xff", "\x00\x00", "\x00\x01", "\x00\x03"), []byte("\x00\x00"), []byte("\x00\x02"), "0110"},
		"decimals of any width have no order":  {Type{Physical: ByteArray, Logical: Decimal, Precision: 4}, text("\xff", "\x05"), []byte("\x00"), []byte("\x02"), "11"},
		"floats of 16 bits are not compared":   {Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}, text("\x00\xbc", "\x00\x3c"), []byte("\x00\x00"), []byte("\x00\x3c"), "11"},
		"INT96 has no order":                   {Type{Physical: Int96}, text("aaaaaaaaaaaa", "zzzzzzzzzzzz"), []byte("bbbbbbbbbbbb"), []byte("cccccccccccc"), "11"},
		"logical types without a known order":  {Type{Physical: ByteArray, Logical: Other}, text("a", "z"), []byte("b"), []byte("c"), "11"},
		"bounds of fixed width that are short": {Type{Physical: FixedLenByteArray, Width: 4}, text("abcd", "abdz", "b\x00\x00\x00"), []byte("abd"), []byte("abd"), "010"},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(file)
			chunk := f.add(t, bloom.Bytes(test.keys), 20)
			chunk.Min, chunk.Max = test.low, test.top
			k, err := KeysOf(test.typ, test.keys)
			if err != nil {
				t.Fatal(err)
			}
			m, err := rowGroups(k, f.open(t, test.typ))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range test.keys {
				got += map[bool]string{true: "1", false: "0"}[mayContain(m[0], i)]
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestEmptyKey wants the empty key not to be excluded by a minimum, however many other keys are
// within the bounds, and the filter to exclude it nevertheless.
func TestEmptyKey(t *testing.T) {
	keys := [][]byte{nil}
	for i := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "key-%04d", i))
	}
	for name, test := range map[string]struct {
		low, top string
		within   int // keys but the empty one
	}{
		"all keys": {"key-0000", "key-9999", 1000}, "some keys": {"key-0400", "key-0799", 400},
		"few keys": {"key-0400", "key-0419", 20}, "no other key": {"x", "y", 0}, "the wrong way round": {"y", "x", 1000},
	} {
		for _, held := range []bool{true, false} {
			for _, filtered := range []bool{true, false} {
				f := new(file)
				values := keys
				if !held {
					values = keys[1:]
				}
				chunk := f.add(t, bloom.Bytes(values), 20)
				chunk.Min, chunk.Max = []byte(test.low), []byte(test.top)
				if !filtered {
					chunk.FilterOffset = 0
				}
				k, err := KeysOf(texts, keys)
				if err != nil {
					t.Fatal(err)
				}
				m, err := rowGroups(k, f.open(t, texts))
				if err != nil {
					t.Fatal(err)
				}
				group, want := m[0], held || !filtered
				if mayContain(group, 0) != want {
					t.Errorf("%s, held %v, filter %v: the empty key may be there: %v", name, held, filtered, !want)
				}
				if mayContain(group, 0) {
					group.Count--
				}
				if group.Count != test.within {
					t.Errorf("%s: %d other keys, want %d", name, group.Count, test.within)
				}
			}
		}
	}
}

// TestEqualFloats finds values that are equal to a key and have other bytes.
func TestEqualFloats(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xfff8000000000001)}
	for i, v := range values {
		f := new(file)
		f.add(t, bloom.Integers([]uint64{math.Float64bits(v)}), 30)
		k, err := KeysOf(Type{Physical: Double}, append(values, 1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		m, err := rowGroups(k, f.open(t, Type{Physical: Double}))
		if err != nil {
			t.Fatal(err)
		}
		if hits := m[0].Hits[0]; hits != 0b1111 {
			t.Errorf("value %d: hits %b", i, hits)
		}
	}
}

// TestFewWithin tests keys with only a few within the bounds, so that the batch leaves the others out: every
// number of them, at every place.
func TestFewWithin(t *testing.T) {
	const n = 1000
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i)
	}
	typ := Type{Physical: Int64}
	k, err := KeysOf(typ, values)
	if err != nil {
		t.Fatal(err)
	}
	f := new(file)
	f.add(t, bloom.Integers(values), 8)
	c := f.open(t, typ)
	c.Load()
	for from := 0; from < n; from += 37 {
		for to := from; to < n; to += 1 + (to-from)/8 {
			c.meta.Chunks[0].Min = binary.LittleEndian.AppendUint64(nil, uint64(from))
			c.meta.Chunks[0].Max = binary.LittleEndian.AppendUint64(nil, uint64(to))
			groups, err := k.Prune(c)
			if err != nil {
				t.Fatal(err)
			}
			for group := range groups {
				next := from
				for key := range group.Keys() {
					if key != next {
						t.Fatalf("bounds %d to %d: key %d after %d", from, to, key, next-1)
					}
					next++
				}
				if next != to+1 || group.Count != to+1-from {
					t.Fatalf("bounds %d to %d: %d keys, counted as %d", from, to, next-from, group.Count)
				}
			}
		}
	}
}

// TestColumns tests keys against several files, and stops in the middle.
func TestColumns(t *testing.T) {
	typ := Type{Physical: ByteArray, Logical: String}
	var columns []*Column
	for i := range 3 {
		f := new(file)
		for j := range i {
			f.add(t, bloom.Strings([]string{fmt.Sprint(i, j)}), 40)
		}
		c := f.open(t, Type{Physical: ByteArray, Logical: Logical(i)})
		c.meta.File = fmt.Sprint("file", i)
		columns = append(columns, c)
	}
	k, err := KeysOf(typ, []string{"1 0", "2 0", "2 1", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := rowGroups(k, columns...)
	if err != nil {
		t.Fatal(err)
	}
	if len(m) != 3 {
		t.Fatalf("%d row groups", len(m))
	}
	for key := range 4 {
		var names []string
		for _, group := range m {
			if mayContain(group, key) {
				names = append(names, fmt.Sprint(group.Column.Meta().File, " ", group.Index))
			}
		}
		want := [][]string{{"file1 0"}, {"file2 0"}, {"file2 1"}, nil}[key]
		if !slices.Equal(names, want) {
			t.Errorf("key %d may be in %q, want %q", key, names, want)
		}
	}
	groups, err := k.Prune(columns...)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		seen := 0
		for group := range groups {
			if seen++; group.Column == columns[2] {
				break
			}
		}
		if seen != 2 {
			t.Errorf("stopped after %d row groups", seen)
		}
	}
	for range m[0].Keys() {
		break
	}
	other, err := KeysOf(Type{Physical: Int64}, []int64{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rowGroups(other, columns...); !errors.Is(err, ErrType) {
		t.Errorf("keys of another type: %v", err)
	}
}

// TestGoroutines tests keys against one column in several goroutines: run it with the race detector.
func TestGoroutines(t *testing.T) {
	f := new(file)
	for i := range uint64(20) {
		f.add(t, bloom.Integers([]uint64{i, i + 1}), 20)
	}
	c := f.open(t, Type{Physical: Int64})
	k, err := KeysOf(c.Type(), []int64{3, 4, 5, 100})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			m, err := rowGroups(k, c)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				if mayContain(m[i], 0) != (i == 2 || i == 3) {
					t.Errorf("row group %d: hits %b", i, m[i].Hits)
				}
			}
		}()
	}
	group.Wait()
}

// TestPruneAllocates wants a pass over many row groups in memory to allocate no more than one
// over few.
func TestPruneAllocates(t *testing.T) {
	typ := Type{Physical: Int32}
	k, err := KeysOf(typ, []int32{1, 2, 3, 1000})
	if err != nil {
		t.Fatal(err)
	}
	allocations := func(n int) float64 {
		f := new(file)
		for range n {
			f.add(t, bloom.Integers([]uint32{1, 3}), 10)
		}
		c := f.open(t, typ)
		c.Load()
		return testing.AllocsPerRun(10, func() {
			groups, err := k.Prune(c)
			if err != nil {
				t.Fatal(err)
			}
			for group := range groups {
				if group.Count < 2 {
					t.Fatal("keys are missing")
				}
			}
		})
	}
	if few, many := allocations(1), allocations(100); few != many {
		t.Errorf("%v allocations for a row group, %v for 100", few, many)
	}
}

// TestCountWithin compares the count of the keys within a span with the bitmap of them.
func TestCountWithin(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		values := make([]string, random.IntN(200))
		for i := range values {
			values[i] = "abc"[:random.IntN(4)] + [...]string{"", "x", "\xff\xff\xff\xff\xff\xff\xff\xff"}[random.IntN(3)]
		}
		k, err := KeysOf(Type{Physical: ByteArray}, values)
		if err != nil {
			t.Fatal(err)
		}
		bound := func() uint64 {
			return [...]uint64{0, 1, random.Uint64(), math.MaxUint64 - 1, math.MaxUint64}[random.IntN(5)]
		}
		s := span{bound(), bound()}
		if got, want := k.countWithin(s), k.within(s, newScratch(k).within); got != want {
			t.Fatalf("%q within %x: %d, want %d", values, s, got, want)
		}
	}
}

// rowGroups returns what Prune yields, with hits of its own for each row group.
func rowGroups(k *Keys, columns ...*Column) (all []RowGroup, err error) {
	groups, err := k.Prune(columns...)
	if err != nil {
		return nil, err
	}
	for group := range groups {
		group.Hits, group.blocks = slices.Clone(group.Hits), slices.Clone(group.blocks)
		all = append(all, group)
	}
	return all, nil
}

// mayContain reports whether a key may be in a row group.
func mayContain(group RowGroup, key int) bool { return group.Hits[key/64]>>(key%64)&1 != 0 }
