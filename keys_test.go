package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/lanebloom/bloom/internal/golden"
)

// layouts lists every column layout for the same keys. A layout of fixed width takes only
// keys of that width.
var layouts = slices.Concat([]layoutTest{
	{"Bytes", 0, func(_ testing.TB, keys [][]byte) Keys { return Bytes(keys) }},
	{"Strings", 0, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]string, len(keys))
		for i, key := range keys {
			column[i] = string(key)
		}
		return Strings(column)
	}},
	{"Offsets", 0, func(t testing.TB, keys [][]byte) Keys {
		data, offsets := concatenate[int32](keys)
		return must(t)(Offsets(data, offsets))
	}},
	{"Offsets of 64 bits", 0, func(t testing.TB, keys [][]byte) Keys {
		data, offsets := concatenate[int64](keys)
		return must(t)(Offsets(data, offsets))
	}},
	{"Views", 0, func(t testing.TB, keys [][]byte) Keys {
		headers, buffers := viewsOf(keys)
		return must(t)(Views(headers, buffers, nil, 0))
	}},
	{"uint32", 4, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]uint32, len(keys))
		for i, key := range keys {
			column[i] = binary.LittleEndian.Uint32(key)
		}
		return Integers(column)
	}},
	{"uint64", 8, func(_ testing.TB, keys [][]byte) Keys {
		column := make([]uint64, len(keys))
		for i, key := range keys {
			column[i] = binary.LittleEndian.Uint64(key)
		}
		return Integers(column)
	}},
	{"named Bytes", 0, func(_ testing.TB, keys [][]byte) Keys { return Bytes(namedOf[namedBytes](keys)) }},
	{"named Strings", 0, func(_ testing.TB, keys [][]byte) Keys { return Strings(namedOf[namedString](keys)) }},
	{"int8", 1, func(_ testing.TB, keys [][]byte) Keys {
		return Integers(integers(keys, func(b []byte) int8 { return int8(b[0]) }))
	}},
	{"uint16", 2, func(_ testing.TB, keys [][]byte) Keys { return Integers(integers(keys, binary.LittleEndian.Uint16)) }},
	{"Duration", 8, func(_ testing.TB, keys [][]byte) Keys {
		return Integers(integers(keys, func(b []byte) time.Duration { return time.Duration(binary.LittleEndian.Uint64(b)) }))
	}},
	{"FixedWidth", 1, fixedWidthOf}, {"FixedWidth", 3, fixedWidthOf}, {"FixedWidth", 4, fixedWidthOf},
	{"FixedWidth", 8, fixedWidthOf}, {"FixedWidth", 16, fixedWidthOf}, {"FixedWidth", 21, fixedWidthOf},
}, hashedLayouts())

type (
	namedBytes  []byte
	namedString string
)

// namedOf converts keys to a type with a name.
func namedOf[N namedBytes | namedString](keys [][]byte) []N {
	column := make([]N, len(keys))
	for i, key := range keys {
		column[i] = N(key)
	}
	return column
}

// integers reads integers from their bytes.
func integers[I any](keys [][]byte, read func([]byte) I) []I {
	column := make([]I, len(keys))
	for i, key := range keys {
		column[i] = read(key)
	}
	return column
}

type layoutTest struct {
	name   string
	width  int // of the keys it takes, 0 for any
	column func(t testing.TB, keys [][]byte) Keys
}

// hashedLayouts lists a column of hashes for every hash, made by the reference.
func hashedLayouts() (list []layoutTest) {
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		list = append(list, layoutTest{"hashed by " + s.String(), 0, func(_ testing.TB, keys [][]byte) Keys {
			hashed := make([]Hash, len(keys))
			for i, key := range keys {
				hashed[i] = referenceHash(s, key)
			}
			return columnOfHashes(s, hashed)
		}})
	}
	return list
}

func fixedWidthOf(t testing.TB, keys [][]byte) Keys {
	if len(keys) == 0 {
		return must(t)(FixedWidth(nil, 1))
	}
	return must(t)(FixedWidth(slices.Concat(keys...), len(keys[0])))
}

// concatenate returns keys in Arrow's layout, with bytes ahead of the first
// and after the last.
func concatenate[E int32 | int64](keys [][]byte) (data []byte, offsets []E) {
	data = []byte("ahead")
	offsets = []E{5}
	for _, key := range keys {
		data = append(data, key...)
		offsets = append(offsets, E(len(data)))
	}
	return append(data, "after"...), offsets
}

// viewsOf returns keys in the layout of Arrow's views, with three buffers of different lengths.
func viewsOf(keys [][]byte) (headers []byte, buffers [][]byte) {
	buffers = [][]byte{[]byte("ahead"), nil, {1}}
	for i, key := range keys {
		header := binary.NativeEndian.AppendUint32(nil, uint32(len(key)))
		if b := i % len(buffers); len(key) > inlineBytes {
			header = append(header, key[:4]...)
			header = binary.NativeEndian.AppendUint32(header, uint32(b))
			header = binary.NativeEndian.AppendUint32(header, uint32(len(buffers[b])))
			buffers[b] = append(buffers[b], key...)
		} else {
			header = append(header, key...)
		}
		headers = append(headers, header...)
		headers = append(headers, make([]byte, len(viewHeader{})-len(header))...)
	}
	return headers, buffers
}

// TestKernelViews compares each kernel's check of views, and the strings that it makes of them, with Go's: of
// columns with null rows, whose headers have any bytes, and with damaged headers.
func TestKernelViews(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(91, 92))
	strings, refused := 0, 0
	for range 5000 {
		keys := make([][]byte, 1+random.IntN(100))
		for i := range keys {
			keys[i] = make([]byte, random.IntN(30))
			for j := range keys[i] {
				keys[i][j] = byte(random.Uint32())
			}
		}
		headers, buffers := viewsOf(keys)
		k := columnOf(stringViews, unsafe.Slice((*viewHeader)(unsafe.Pointer(&headers[0])), len(keys)))
		k.buffers, k.width = unsafe.SliceData(buffers), len(buffers)
		if random.IntN(2) == 0 {
			k.validity, k.bit0 = make([]byte, len(keys)/8+9), uint(random.IntN(8))
			for i := range k.validity {
				k.validity[i] = byte(random.Uint32() | random.Uint32())
			}
			for i := range keys {
				if k.valid(i, 1) == 0 {
					binary.NativeEndian.PutUint64(headers[16*i:], random.Uint64())
					binary.NativeEndian.PutUint64(headers[16*i+8:], random.Uint64())
				}
			}
		}
		if random.IntN(4) == 0 {
			headers[random.IntN(len(headers))] = byte(random.Uint32())
		}
		want := k.checkViews(Generic)
		if want != nil {
			refused++
		}
		for _, kernel := range proven() {
			if err := k.checkViews(kernel); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Fatalf("kernel %v, %d views: %v, want %v", kernel, k.n, err, want)
			}
			if want != nil {
				continue
			}
			got := make([]string, k.n+1)
			got[k.n] = "after"
			done := k.viewStrings(kernel, 0, k.n, &got[0])
			strings += done
			for i, key := range got[:done] {
				if want := k.viewKey(i, k.valid(i, 1) != 0); key != want {
					t.Fatalf("kernel %v: view %d of %d is %q, want %q", kernel, i, k.n, key, want)
				}
			}
			if got[k.n] != "after" {
				t.Fatalf("kernel %v writes after %d strings", kernel, k.n)
			}
		}
	}
	if refused == 0 || strings == 0 && slices.Contains(kernels, AVX512) {
		t.Errorf("%d columns are refused, and %d strings are compared", refused, strings)
	}
}

// TestKernelViewsOutside has views past the last buffer, and past the first 2^31 bytes of the largest buffer, which
// only exists as a header.
func TestKernelViewsOutside(t *testing.T) {
	huge := struct {
		data         *byte
		length, room int
	}{new(byte), math.MaxInt, math.MaxInt}
	all := [][]byte{make([]byte, 100), *(*[]byte)(unsafe.Pointer(&huge)), make([]byte, 100)}
	for name, view := range map[string][]byte{
		"next buffer": viewAt(13, 2, 0), "last offset": viewAt(13, 1, math.MaxInt32), "negative offset": viewAt(13, 1, math.MinInt32), "negative length": viewAt(-13, 1, 0),
	} {
		for _, others := range [][]byte{viewAt(13, 0, 87), viewAt(12, 0, 87)} { // in a buffer, and inline
			headers := slices.Repeat(others, 8)
			copy(headers[7*16:], view)
			k := columnOf(stringViews, unsafe.Slice((*viewHeader)(unsafe.Pointer(&headers[0])), 8))
			k.buffers, k.width = &all[0], 2
			for _, kernel := range proven() {
				if err := k.checkViews(kernel); (err != nil) != (name != "last offset" || math.MaxInt == math.MaxInt32) {
					t.Errorf("kernel %v, %s after %x: %v", kernel, name, others, err)
				}
			}
		}
	}
}

// TestIntegersOfWords wants 8 bytes for int and uint, which have 4 on some machines.
func TestIntegersOfWords(t *testing.T) {
	type id uint
	signed, unsigned := []int{-1, 0, 7, math.MinInt32, math.MaxInt32}, []uint{0, 7, math.MaxUint32}
	for name, c := range map[string][2]Keys{
		"int":        {Integers(signed), Integers([]int64{-1, 0, 7, math.MinInt32, math.MaxInt32})},
		"uint":       {Integers(unsigned), Integers([]uint64{0, 7, math.MaxUint32})},
		"named uint": {Integers([]id{0, 7, math.MaxUint32}), Integers([]uint64{0, 7, math.MaxUint32})},
	} {
		for i := range c[1].Len() {
			got, _ := c[0].AppendKey(nil, i)
			if want, _ := c[1].AppendKey(nil, i); !bytes.Equal(got, want) || len(got) != 8 {
				t.Errorf("key %d of a column of %s is %x, want %x", i, name, got, want)
			}
		}
		filter := Policy{Default, 100}.NewFilter(c[0])
		if n := filter.MayContainBatch(c[1], make([]uint64, 1)); n != c[1].Len() {
			t.Errorf("%d keys of a column of %s are found", n, name)
		}
	}
	if narrow := Integers([]int32{-1}); narrow.layout != uint32s {
		t.Error("an int32 has not 4 bytes")
	}
	if n := testing.AllocsPerRun(10, func() { sink += Integers(unsigned).Len() }); bits.UintSize == 64 && n != 0 {
		t.Errorf("a column of uint allocates %v times", n)
	}
}

// TestKernelLayouts queries and builds with every column layout, whole, sliced, and
// with null rows.
func TestKernelLayouts(t *testing.T) {
	t.Parallel()
	for i, layout := range layouts {
		t.Run(fmt.Sprintf("%s/width=%d", layout.name, layout.width), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, uint64(i)))
			for _, n := range []int{0, 1, 64, 65, 2*windowKeys + 7} {
				keys := make([][]byte, n)
				for i := range keys {
					keys[i] = golden.Mixed.Key(i)
					if layout.width > 0 {
						keys[i] = make([]byte, layout.width)
						for j := range keys[i] {
							keys[i][j] = byte(random.Uint32())
						}
					}
				}
				column := layout.column(t, keys)
				if column.Len() != n {
					t.Fatalf("Len() = %d of %d keys", column.Len(), n)
				}
				checkColumn(t, column, keys, nil)
				for range 5 / oneOf(5) {
					i := random.IntN(n + 1)
					j := i + random.IntN(n-i+1)
					checkColumn(t, column.Slice(i, j), keys[i:j], nil)
				}
				checkValidity(t, random, column, keys)
			}
		})
	}
}

// checkValidity gives a column random nulls, one run of them, and a bit offset.
func checkValidity(t *testing.T, random *rand.Rand, column Keys, keys [][]byte) {
	t.Helper()
	for i, offset := range []int{0, 1, 7, 8, 63, 64, 100} {
		if (i+len(keys))%oneOf(2, 4) != 0 {
			continue // each with every second number of keys
		}
		bitmap := make([]byte, (offset+len(keys)+7)/8)
		for i := range bitmap {
			bitmap[i] = byte(random.Uint32())
		}
		if offset%2 != 0 { // few keys
			for i := range bitmap {
				bitmap[i] = 1 << random.IntN(8) * byte(random.IntN(40)/39)
			}
		}
		run := random.IntN(len(bitmap) + 1)
		clear(bitmap[run:min(run+30, len(bitmap))])
		valid := make([]bool, len(keys))
		for i := range valid {
			valid[i] = bitmap[(offset+i)/8]>>((offset+i)%8)&1 != 0
		}
		with := must(t)(column.WithValidity(bitmap, offset))
		checkColumn(t, with, keys, valid)
		i := random.IntN(len(keys) + 1)
		j := i + random.IntN(len(keys)-i+1)
		checkColumn(t, with.Slice(i, j), keys[i:j], valid[i:j])
		for format := range Format(len(formats)) {
			if column.hashed == noScheme || column.hashed == format.scheme() {
				checkColumn(t, with.Hashed(format).Slice(i, j), keys[i:j], valid[i:j])
			}
		}
	}
}

// checkColumn queries and builds with a column. A nil valid is no bitmap.
func checkColumn(t *testing.T, column Keys, keys [][]byte, valid []bool) {
	t.Helper()
	var present [][]byte
	for i, key := range keys {
		if valid == nil || valid[i] {
			present = append(present, key)
		}
	}
	for format := range Format(len(formats)) {
		if (int(format)+len(keys))%oneOf(1, 2) != 0 {
			continue
		}
		if column.hashed == noScheme || column.hashed == format.scheme() {
			checkColumnAs(t, Policy{format, 10}, column, keys, present, valid)
		}
	}
}

func checkColumnAs(t *testing.T, p Policy, column Keys, keys, present [][]byte, valid []bool) {
	t.Helper()
	if got, want := p.AppendFilter(nil, column), create(p.Format, present, p.BitsPerKey); !slices.Equal(got, want) {
		t.Fatalf("%v: AppendFilter of %d keys differs from the reference", p.Format, len(keys))
	}
	b := p.NewBuilder()
	b.AddBatch(column)
	if b.Len() != len(present) {
		t.Fatalf("Builder took %d of %d keys", b.Len(), len(present))
	}
	// Every second key, so that there are hits and misses.
	var known [][]byte
	for i := 0; i < len(keys); i += 2 {
		known = append(known, keys[i])
	}
	encoded := p.AppendFilter(nil, Bytes(known))
	want := make([]bool, len(keys))
	for i, key := range keys {
		want[i] = (valid == nil || valid[i]) && Reference(p.Format, encoded, key)
	}
	for _, kernel := range proven() {
		checkBatch(t, onKernel(t, mustOpen(t, p.Format, encoded), kernel), column, want)
	}
}

// eachLayout returns a column of the keys in every layout of keys of any width.
func eachLayout(t *testing.T, keys [][]byte) (columns []Keys) {
	for _, l := range layouts {
		if l.width != 0 {
			continue
		}
		column := l.column(t, keys)
		is := func(k Keys) bool { return k.layout == column.layout } // named Bytes are like Bytes
		if column.hashed == noScheme && !slices.ContainsFunc(columns, is) {
			columns = append(columns, column)
		}
	}
	return columns
}

// TestAppendKey wants the bytes of each row of a column in each layout, and of a slice of it with null rows.
func TestAppendKey(t *testing.T) {
	for _, l := range layouts {
		all := golden.Mixed.Range(0, 200)
		for i := range all {
			if l.width > 0 {
				all[i] = append(make([]byte, l.width), all[i]...)[:l.width]
				all[i][0] = byte(i)
			}
		}
		column := l.column(t, all)
		bitmap := make([]byte, 26)
		for i := range bitmap {
			bitmap[i] = byte(0x5a * i)
		}
		nulls := must(t)(column.WithValidity(bitmap, 3)).Slice(10, 190)
		for i, want := range all {
			got, ok := column.AppendKey([]byte("before"), i)
			if column.hashed != noScheme {
				want = nil
			}
			if ok != (column.hashed == noScheme) || string(got) != "before"+string(want) {
				t.Fatalf("%s: row %d is %q (%v), want %q", l.name, i, got, ok, want)
			}
			if i < 10 || i >= 190 {
				continue
			}
			valid := ok && bitmap[(i+3)/8]>>((i+3)%8)&1 != 0
			if !valid {
				want = nil
			}
			if got, ok := nulls.AppendKey(nil, i-10); ok != valid || !bytes.Equal(got, want) {
				t.Fatalf("%s: row %d with null rows is %q (%v), want %q (%v)", l.name, i, got, ok, want, valid)
			}
		}
		for _, row := range []int{-1, 180} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: there is no row %d", l.name, row)
					}
				}()
				nulls.AppendKey(nil, row)
			}()
		}
	}
}

// TestKeysOnStack tests columns whose keys and headers lie on a goroutine's stack. At some
// depths the stack grows, and so moves, when a kernel is called.
func TestKeysOnStack(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		encoded := Policy{format, 20}.AppendFilter(nil, Bytes(golden.Mixed.Range(0, 100)))
		eachKernel(t, format, encoded, func(t *testing.T, f *Filter) {
			if allocations := testing.AllocsPerRun(10, func() { testOnStack(f, 0) }); allocations != 0 {
				t.Fatalf("the keys are not on the stack: %v allocations", allocations)
			}
			var wait waitGroup
			for depth := range 60 {
				wait.Go(func() {
					if wrong := testOnStack(f, depth); wrong != 0 {
						t.Errorf("depth %d: %d wrong answers", depth, wrong)
					}
				})
			}
			wait.Wait()
		})
	})
}

// testOnStack tests keys on the stack, some calls deeper, and returns the number of wrong
// answers.
func testOnStack(f *Filter, depth int) (wrong int) {
	var memory [40][11]byte
	var keys [40][]byte
	for i := range keys {
		binary.LittleEndian.PutUint64(memory[i][:], uint64(depth)<<32+uint64(i))
		keys[i] = memory[i][:3+i%9]
	}
	var hits [1]uint64
	f.MayContainBatch(Bytes(keys[:]), hits[:])
	for i, key := range keys {
		if Reference(f.format, f.data, key) != (hits[0]>>i&1 != 0) || f.MayContain(key) != (hits[0]>>i&1 != 0) {
			wrong++
		}
	}
	if depth > 0 {
		wrong += testOnStack(f, depth-1)
	}
	return wrong
}

// TestBatchesAtOnce runs batches of several goroutines, in windows. Some windows were held when a batch
// panicked: a caller has changed offsets that Offsets had checked.
func TestBatchesAtOnce(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		keys := golden.Mixed.Range(0, 600)
		s := mustSet(t, Policy{format, 10}, len(keys))
		s.AddBatch(Bytes(keys[:200]))
		want := make([]uint64, len(keys)/64+1)
		s.MayContainBatch(Bytes(keys), want)
		f, err := mustOpen(t, format, s.Bytes()).WithKernel(Generic)
		if err != nil {
			t.Fatal(err)
		}
		var wait waitGroup
		for range 4 {
			wait.Go(func() {
				offsets := make([]int32, 101)
				column := must(t)(Offsets(nil, offsets))
				offsets[100] = 1
				for range 20 {
					func() {
						defer func() {
							if recover() == nil {
								t.Error("offsets past the data")
							}
						}()
						f.MayContainBatch(column, make([]uint64, 2))
					}()
					hits := make([]uint64, len(want))
					if s.MayContainBatch(Bytes(keys), hits); !slices.Equal(hits, want) {
						t.Error("another goroutine's hits")
					}
				}
			})
		}
		wait.Wait()
	})
}
