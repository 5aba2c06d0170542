//go:build unix

package bloom

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/guard"
)

// TestKernelKeysAtPageEnd hashes keys of every length and alignment that end where
// an inaccessible page begins, in every layout.
func TestKernelKeysAtPageEnd(t *testing.T) {
	t.Parallel()
	const room = 130 + 16
	buffer, header := guard.Buffer(t, 2*room), guard.Buffer(t, len(viewHeader{}))
	copy(buffer, golden.Mixed.Key(130))
	copy(buffer[room:], golden.Mixed.Key(130))
	known := golden.Mixed.Range(0, 1000)
	eachFormatAndKernel(t, known, func(t *testing.T, f *Filter) {
		for length := range 131 {
			for gap := range 16 { // moves the start and, but for gap 0, the end
				if (length+gap)%oneOf(1, 3) != 0 {
					continue
				}
				from, to := len(buffer)-length-gap, len(buffer)-gap
				key := buffer[from:to:to]
				checkFilter(t, f, [][]byte{key, key, known[length]})
				want := Reference(f.format, f.data, key)
				for _, column := range []Keys{
					Strings([]string{unsafe.String(unsafe.SliceData(key), length)}),
					must(t)(Offsets(buffer[:to:to], []int32{int32(from), int32(to)})),
					must(t)(Offsets(buffer[:to:to], []int64{int64(from), int64(to)})),
					viewOf(t, header, key, buffer[:to:to], from),
				} {
					checkBatch(t, f, column, []bool{want})
				}
				if length > 0 {
					checkBatch(t, f, must(t)(FixedWidth(key, length)), []bool{want})
				}
			}
		}
	})
}

// viewOf writes the header of a view of the key that begins at byte from of a buffer, and
// returns its column.
func viewOf(t *testing.T, header, key, buffer []byte, from int) Keys {
	if len(key) > inlineBytes {
		copy(header, viewAt(int32(len(key)), 1, int32(from)))
	} else {
		clear(header)
		copy(header, viewAt(int32(len(key)), 0, 0)[:4])
		copy(header[4:], key)
	}
	return must(t)(Views(header, [][]byte{nil, buffer}, nil, 0))
}

// TestNullRowsAtNoMemory has null rows whose bytes can't be read, in the layouts that allow it.
func TestNullRowsAtNoMemory(t *testing.T) {
	const rows = 300
	page := guard.Buffer(t, os.Getpagesize())
	random := rand.New(rand.NewPCG(45, 46))
	known := golden.Mixed.Range(0, rows)
	keys, names := slices.Clone(known), make([]string, rows)
	headers, buffers := viewsOf(known)
	bitmap, valid := make([]byte, rows/8+1), make([]bool, rows)
	for i, key := range known {
		if valid[i] = random.IntN(10) != 0; valid[i] {
			bitmap[i/8] |= 1 << (i % 8)
			names[i] = string(key)
			continue
		}
		nowhere := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(page)), len(page)))
		keys[i], names[i] = unsafe.Slice(nowhere, 40), unsafe.String(nowhere, 40)
		copy(headers[16*i:], viewAt(random.Int32()*2+1, random.Int32()*2+1, random.Int32()*2+1))
	}
	for _, column := range []Keys{
		must(t)(Bytes(keys).WithValidity(bitmap, 0)),
		must(t)(Strings(names).WithValidity(bitmap, 0)),
		must(t)(Views(headers, buffers, bitmap, 0)),
	} {
		checkColumn(t, column, known, valid)
		checkColumn(t, column.Slice(100, 105), known[100:105], valid[100:105])
	}
}

// TestKernelPackAtPageEnd moves chosen words that end where an inaccessible page begins, as do the bits that choose them.
func TestKernelPackAtPageEnd(t *testing.T) {
	buffer, bitmap := guard.Buffer(t, 8*windowKeys), guard.Buffer(t, windowKeys/8)
	random := rand.New(rand.NewPCG(61, 62))
	for n := 0; n <= windowKeys; n += someSizes(n) {
		chosen := elementsAtEnd[uint64](bitmap, (n+63)/64)
		for i := range chosen {
			chosen[i] = [...]uint64{0, ^uint64(0), random.Uint64(), random.Uint64(), random.Uint64() | random.Uint64()}[random.IntN(5)]
		}
		for _, kernel := range proven() {
			checkPack(t, kernel, elementsAtEnd[uint32](buffer, n), chosen)
			checkPack(t, kernel, elementsAtEnd[uint64](buffer, n), chosen)
		}
	}
}

// elementsAtEnd returns the last n elements that a buffer has room for.
func elementsAtEnd[E any](buffer []byte, n int) []E {
	size := int(unsafe.Sizeof(*new(E)))
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(buffer[len(buffer)-n*size:]))), n)
}

func checkPack[E uint32 | uint64](t *testing.T, kernel Kernel, words []E, chosen []uint64) {
	t.Helper()
	var want []E
	for i := range words {
		words[i] = E(0x9e3779b97f4a7c15 * uint64(i+1))
		if chosen[i/64]>>(i%64)&1 != 0 {
			want = append(want, words[i])
		}
	}
	pack(kernel, words, chosen)
	if got := words[:len(want)]; !slices.Equal(got, want) {
		t.Fatalf("kernel %v: %d words of %d bytes, chosen by %x: %x, want %x", kernel, len(words), unsafe.Sizeof(*new(E)), chosen, got, want)
	}
}

// TestKernelVectorsOfKeysAtPageEnds hashes vectors of keys of mixed lengths. Each key ends, or
// begins, at its own inaccessible page.
func TestKernelVectorsOfKeysAtPageEnds(t *testing.T) {
	t.Parallel()
	const rows = 101
	random := rand.New(rand.NewPCG(25, 26))
	pages := make([][]byte, rows)
	for i := range pages {
		pages[i] = guard.Buffer(t, os.Getpagesize())
		for j := range pages[i] {
			pages[i][j] = byte(random.Uint32())
		}
	}
	keys, names := make([][]byte, rows), make([]string, rows)
	for longest := 0; longest <= 300; longest += someSizes(longest) {
		for i, page := range pages {
			n := random.IntN(longest + 1)
			if i%2 == 0 {
				n = max(0, longest-random.IntN(6)) // alike, with all tails
			}
			if longest%2 == 0 {
				n = max(n, min(8, longest)) // for a kernel that leaves shorter ones
			}
			keys[i] = page[len(page)-n:]
			if random.IntN(2) == 0 {
				keys[i] = page[:n:n]
			}
			names[i] = unsafe.String(unsafe.SliceData(keys[i]), n)
		}
		checkEachHash(t, keys, Bytes(keys), Strings(names), viewsApart(t, keys))
		column := guard.Buffer(t, 2*os.Getpagesize())
		copy(column, pages[longest%rows])
		n := min(len(column), longest*rows)
		checkOffsets(t, random, column[len(column)-n:])
		checkOffsets(t, random, column[:n])
		if longest > 0 {
			checkFixedWidth(t, column[len(column)-n/longest*longest:], longest)
			checkFixedWidth(t, column[:n/longest*longest], longest)
		}
	}
}

// viewsApart returns a column of views with a buffer for every key.
func viewsApart(t *testing.T, keys [][]byte) Keys {
	t.Helper()
	headers := guard.Buffer(t, len(keys)*len(viewHeader{}))
	for i, key := range keys {
		header := headers[i*len(viewHeader{}):]
		copy(header, viewAt(int32(len(key)), int32(i), 0))
		if len(key) <= inlineBytes {
			copy(header[4:], key)
		}
	}
	return must(t)(Views(headers, keys, nil, 0))
}

// TestKernelViewsAtPageEnd checks and hashes views whose headers end where an inaccessible page begins.
func TestKernelViewsAtPageEnd(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 140; n += someSizes(n) {
		keys := golden.Mixed.Range(n, 2*n)
		filled, buffers := viewsOf(keys)
		headers := guard.Buffer(t, len(filled))
		copy(headers, filled)
		views := must(t)(Views(headers, buffers, nil, 0))
		for _, kernel := range proven() {
			if err := views.checkViews(kernel); err != nil {
				t.Fatalf("kernel %v, %d views: %v", kernel, n, err)
			}
		}
		checkEachHash(t, keys, views)
	}
}

// checkOffsets divides data into keys at random.
func checkOffsets(t *testing.T, random *rand.Rand, data []byte) {
	t.Helper()
	short, long := []int32{0}, []int64{0}
	var keys [][]byte
	for from := 0; from < len(data); {
		n := min(random.IntN(2*len(data)/30+8), len(data)-from)
		keys = append(keys, data[from:from+n])
		from += n
		short, long = append(short, int32(from)), append(long, int64(from))
	}
	checkEachHash(t, keys, must(t)(Offsets(data, short)), must(t)(Offsets(data, long)))
}

// eachFormatAndKernel runs a subtest for every format and kernel with a filter of some keys.
func eachFormatAndKernel(t *testing.T, keys [][]byte, run func(t *testing.T, f *Filter)) {
	eachFormat(t, func(t *testing.T, format Format) {
		eachKernel(t, format, Policy{format, 10}.AppendFilter(nil, Bytes(keys)), run)
	})
}

// TestKernelColumnsAtPageEnd reads columns of fixed width that end where an
// inaccessible page begins, or a few bytes before, and so start anywhere.
func TestKernelColumnsAtPageEnd(t *testing.T) {
	t.Parallel()
	const rows = 200
	buffer := guard.Buffer(t, 32*rows+16)
	copy(buffer, golden.Mixed.Key(130))
	eachFormatAndKernel(t, golden.Integers.Range(0, 1000), func(t *testing.T, f *Filter) {
		for n := 0; n < rows; n += someSizes(n) {
			for _, width := range []int{4, 8, 16} {
				gap := n % 16
				data := buffer[len(buffer)-gap-n*width:][: n*width : n*width]
				want := make([]bool, n)
				for i := range want {
					want[i] = Reference(f.format, f.data, data[i*width:(i+1)*width])
				}
				checkBatch(t, f, must(t)(FixedWidth(data, width)), want)
			}
			end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(buffer)), len(buffer))
			hashed := columnOfHashes(f.format.scheme(), nil)
			hashed.n, hashed.column = n, unsafe.Add(end, -n*int(elementSize[hashed.layout]))
			for _, column := range []Keys{
				Integers(unsafe.Slice((*uint32)(unsafe.Add(end, -4*n)), n)),
				Integers(unsafe.Slice((*uint64)(unsafe.Add(end, -8*n)), n)),
				hashed,
			} {
				f.MayContainBatch(column, make([]uint64, 4))
			}
		}
	})
}

// someSizes returns the step to the next size that is tested: 1, or with -short and for more
// than three vectors, 13.
func someSizes(size int) int {
	if !whole() && size > 50 {
		return 13
	}
	return 1
}

// TestKernelFiltersAtPageEnd probes filters of every size and alignment that end
// where an inaccessible page begins and are themselves read-only.
func TestKernelFiltersAtPageEnd(t *testing.T) {
	t.Parallel()
	keys := golden.Mixed.Range(0, 300)
	page := os.Getpagesize()
	eachFormat(t, func(t *testing.T, format Format) {
		for size := 1; size <= 200; size += someSizes(size) {
			s, _ := format.encoding().Shape(size, 8) // about size bytes
			s.Probes = min(1+size%encoding.MaxProbes, max(s.Probes, formatTests[format].mostProbes))
			before, after := format.encoding().Around()
			size := formats[format].scheme.bytesOf(s.Bits)
			buffer := guard.Buffer(t, page)
			encoded := buffer[page-before-size-after:]
			copy(encoded[before:][:size], golden.Mixed.Key(130))
			format.encoding().Put(encoded, s, 8)
			guard.ReadOnly(t, buffer)
			eachKernel(t, format, encoded, func(t *testing.T, f *Filter) {
				spoilWindow()
				checkFilter(t, f, keys)
			})
		}
	})
}

// spoilWindow gives the next batch a window in which an earlier one left the largest numbers.
func spoilWindow() {
	w := takeWindow()
	for i := range w.memory {
		w.memory[i] = math.MaxUint64
	}
	for i := range w.places {
		w.places[i] = math.MaxUint32
	}
	w.giveBack()
}

// TestFileOfInaccessibleBits opens a file of 128 MiB whose bits cannot be read, but for those
// that share a page with what the format has around them.
func TestFileOfInaccessibleBits(t *testing.T) {
	page := os.Getpagesize()
	eachFormat(t, func(t *testing.T, format Format) {
		shape, _ := format.encoding().Shape(1<<27, 8)
		before, after := format.encoding().Around()
		h := fileHeader{startOf(before), format, 7, uint64(before + formats[format].scheme.bytesOf(shape.Bits) + after), shape, 0, KindUnknown}
		size := int(h.start) + int(h.size)
		mapping, err := syscall.Mmap(-1, 0, (size+page-1)/page*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Munmap(mapping); err != nil {
				t.Error(err)
			}
		}()
		for _, part := range [][]byte{mapping[:page], mapping[len(mapping)-page:]} {
			if err := syscall.Mprotect(part, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
				t.Fatal(err)
			}
		}
		copy(mapping, h.append(nil))
		format.encoding().Put(mapping[h.start:size], shape, 8)
		f, err := OpenBinary(mapping[:size])
		if err != nil {
			t.Fatal(err)
		}
		if n, known := f.KeyCount(); f.Format() != format || n != 7 || !known {
			t.Errorf("a file of %v, with %d keys", f.Format(), n)
		}
	})
}

// TestKernelLargeArrays finds what kernels and portable Go add to arrays of more bits than kernels count, or than
// a hash reaches, and touches hardly any of their memory. At the third size, the
// reciprocal of the whole length would give double32 a wrong index for large hashes.
func TestKernelLargeArrays(t *testing.T) {
	needs(t, space)
	t.Parallel()
	sizes := []uint64{1<<31 - 8, 1 << 31, 1<<31 + 8, 6<<30 - 48, 1<<32 - 8, 1 << 32, 1<<32 + 8, 1<<35 + 12344}
	if bits.UintSize < 64 {
		sizes = sizes[:3] // as large as its memory
	}
	memory := guard.Buffer(t, int((slices.Max(sizes)+63)/64*8)) // not Go's, which clears what it uses again
	random := rand.New(rand.NewPCG(41, 42))
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		for _, n := range sizes {
			if n = n / test.unit * test.unit; n > 2*test.most || n > 1<<33 && test.unit > 1 {
				continue // like the size before
			}
			data := memory[:s.bytesOf(n)]
			count := 1200 / oneOf(1, 5) // each probe touches a page
			hashed := test.hashesOf(random, count, min(n, test.most))
			for _, k := range slices.Concat(test.probes(6), test.probes(7)) { // probes go by two or three
				added := count / 2
				test.filter(s, kernels[0], data, n, k).addColumn(columnOfHashes(test.hash, hashed[:added/3]))
				f := test.filter(s, Generic, data, n, k)
				f.addColumn(columnOfHashes(test.hash, hashed[added/3:added*2/3]))
				f.atomic = true
				f.addColumn(columnOfHashes(test.hash, hashed[added*2/3:added]))
				for i, h := range hashed[:added] {
					if !test.has(data, h, n, k) {
						t.Fatalf("%d bits: hash %d is missing", n, i)
					}
				}
				checkScheme(t, s, data, n, k, hashed, []int{len(hashed), 16})
				for _, h := range hashed[:added] {
					for i := range k {
						data[test.bit(h, i, min(n, test.most))/8] = 0
					}
				}
			}
		}
	})
}

// TestKernelAddInOrder compares what each kernel adds in order, and which keys it finds to be new, with the
// letter of the scheme. Arrays of every size end where an inaccessible page begins; hashes repeat, near and far.
func TestKernelAddInOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(47, 48))
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		for size := 1; size <= 600; size += someSizes(size) {
			n := uint64(size) * max(test.unit, 8)
			if test.unit == 1 {
				n -= uint64(size % 8)
			}
			most := encoding.MaxProbes
			if random.IntN(2) == 0 {
				most = maxHasProbes // as many as kernels of lines take
			}
			k := test.probes(1 + random.IntN(most))[0]
			hashed := withRepeats(random, test.hashesOf(random, windowKeys, n))
			buffer := guard.Buffer(t, s.bytesOf(n))
			fill := randomBits(random, 8*uint64(len(buffer)), math.Pow(random.Float64(), 1/float64(k)))
			want := slices.Clone(fill)
			news := test.addInOrder(want, hashed, n, k)
			room := hashesOfLength(test.hash, windowKeys)
			for i, h := range hashed {
				room.set(i, h)
			}
			room = room.slice(0, len(hashed))
			for _, kernel := range proven() {
				s := &test.filter(s, kernel, buffer, n, k).prober
				for name, add := range addersInOrder(s, &room) {
					const canary = 0xdeadbeefdeadbeef
					got := slices.Repeat([]uint64{canary}, len(news)+1)
					copy(buffer, fill)
					if add(got); !slices.Equal(got[:len(news)], news) || got[len(news)] != canary || !bytes.Equal(buffer, want) {
						t.Fatalf("kernel %v, %s: %d bytes, %d probes, %d hashes: right bits: %v; new:\n%x, want\n%x",
							kernel, name, len(buffer), k, len(hashed), bytes.Equal(buffer, want), got, news)
					}
				}
			}
		}
	})
}

// withRepeats returns up to as many hashes as pool has. Half of them are new; the others repeat a key
// shortly before, or of any.
func withRepeats(random *rand.Rand, pool []Hash) []Hash {
	hashes := pool[:1:1]
	for i := range random.IntN(len(pool)) {
		if random.IntN(2) == 0 {
			hashes = append(hashes, pool[i+1])
			continue
		}
		distances := []int{0, 1, 7, random.IntN(i + 1)}
		hashes = append(hashes, hashes[max(0, i-distances[random.IntN(len(distances))])])
	}
	return hashes
}

// addInOrder sets the bits of hashes, one after the other, and returns which hashes were new.
func (test schemeTest) addInOrder(bits []byte, hashes []Hash, n uint64, k int) (news []uint64) {
	news = make([]uint64, (len(hashes)+63)/64)
	for i, h := range hashes {
		if !test.has(bits, h, n, k) {
			news[i/64] |= 1 << (i % 64)
		}
		for j := range k {
			bit := test.bit(h, j, n)
			bits[bit/8] |= 1 << (bit % 8)
		}
	}
	return news
}

// addersInOrder returns the ways to add hashes in their order: one by one, by a kernel, if it has assembly for that, and with requests
// for lines.
func addersInOrder(s *prober, h *hashes) map[string]func(added []uint64) {
	ways := map[string]func(added []uint64){"one by one": func(added []uint64) {
		for i := range (h.len() + 63) / 64 {
			added[i] = s.addChosen(h, 64*i, math.MaxUint64>>max(0, 64*i+64-h.len()))
		}
	}}
	must := func(added bool) {
		if !added {
			panic("no kernel")
		}
	}
	if s.kernel != Generic && (s.scheme == schemeParquet || s.scheme == schemeRocksDB && s.K <= maxHasProbes) {
		ways["by size"] = func(added []uint64) { must(s.addInOrder(h, added)) }
		ways["far"] = func(added []uint64) {
			far := *s
			far.far = true
			must(far.addInOrder(h, added))
		}
	}
	return ways
}

// TestKernelArraysAtPageEnd probes, and sets bits of, arrays of every size and number of bits
// that end where an inaccessible page begins.
func TestKernelArraysAtPageEnd(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(43, 44))
	eachScheme(t, func(t *testing.T, s scheme, test schemeTest) {
		for size := 1; size <= 600; size += someSizes(size) {
			n := uint64(size) * max(test.unit, 8)
			if test.unit == 1 {
				n -= uint64(size % 8)
			}
			hashed := test.hashesOf(random, 100, n)
			k := test.probes(1 + size%encoding.MaxProbes)[0]
			buffer := guard.Buffer(t, s.bytesOf(n))
			test.filter(s, kernels[0], buffer, n, k).addColumn(columnOfHashes(test.hash, hashed[:50]))
			checkScheme(t, s, buffer, n, k, hashed, []int{100})
		}
	})
}

// TestKernelSingleAdds adds keys one by one, in every way, to sets that end where an inaccessible page begins, with
// several numbers of probes. After each key, it compares the bits, and whether the key was new, with what the
// reference finds.
func TestKernelSingleAdds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(79, 80))
	keys := make([][]byte, 200)
	for i := range keys {
		keys[i] = make([]byte, []int{8, 8, random.IntN(40), 9 + random.IntN(24), 300}[i%5])
		for j := range keys[i] {
			keys[i][j] = byte(random.Uint32())
		}
		if i%3 == 0 && i > 0 {
			keys[i] = keys[random.IntN(i)]
		}
	}
	eachFormat(t, func(t *testing.T, format Format) {
		for _, bitsPerKey := range []int{1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 15, 20, 40} {
			empty := mustSet(t, Policy{format, bitsPerKey}, 120).data
			buffer := guard.Buffer(t, len(empty))
			for _, kernel := range proven() {
				data := buffer[len(buffer)-len(empty):]
				copy(data, empty)
				v, err := openView(format, data)
				if err != nil {
					t.Fatal(err)
				}
				v.setKernel(kernel)
				v.count = &keyCount{}
				s, model := &Set{v}, slices.Clone(empty)
				for i, key := range keys {
					isNew, want := false, !Reference(format, model, key)
					addByReference(t, format, model, key)
					switch way := random.IntN(4); {
					case way == 0 && len(key) == 8:
						isNew = !s.TestAndAddUint64(binary.LittleEndian.Uint64(key))
					case way == 0:
						isNew = !s.TestAndAddString(string(key))
					case way == 1:
						isNew = !s.TestAndAdd(key)
					default:
						isNew = want
						addOne(s, way, key)
					}
					if n, _ := s.KeyCount(); isNew != want || !bytes.Equal(data, model) || n != uint64(i)+1 {
						t.Fatalf("kernel %v, %d bits per key, key %d of %d bytes: new %v, want %v; %d keys; %x\n%x", kernel, bitsPerKey, i, len(key), isNew, want, n, data, model)
					}
				}
			}
		}
	})
}

// addOne adds a key by one of the functions that do not tell whether it was new.
func addOne(s *Set, way int, key []byte) {
	switch {
	case way == 2:
		s.AddHash(s.Format().Hash(key))
	case len(key) == 8:
		s.AddUint64(binary.LittleEndian.Uint64(key))
	case len(key)%2 == 0:
		s.AddString(string(key))
	default:
		s.Add(key)
	}
}

// TestKernelAndSlices compares and8 on every kernel with its definition, for arrays that end at inaccessible pages.
func TestKernelAndSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(91, 92))
	for n := 1; n < 40; n++ {
		var from [8]*byte
		want, total := slices.Repeat([]uint64{^uint64(0)}, n), 0
		for i := range from {
			buffer := guard.Buffer(t, 8*n)
			copy(buffer, randomBits(random, uint64(64*n), 0.9))
			from[i] = &buffer[0]
			for j := range want {
				want[j] &= binary.NativeEndian.Uint64(buffer[8*j:])
			}
		}
		for _, word := range want {
			total += bits.OnesCount64(word)
		}
		for _, kernel := range proven() {
			hits := unsafe.Slice((*uint64)(unsafe.Pointer(&guard.Buffer(t, 8*n)[0])), n)
			x := interleaving{empty: view{prober: prober{kernel: kernel}}}
			if got := x.and8(hits, &from); got != total || !slices.Equal(hits, want) {
				t.Fatalf("kernel %v, %d words: %d hits %x, want %d %x", kernel, n, got, hits, total, want)
			}
			others := from
			others[7] = (*byte)(unsafe.Pointer(&hits[0])) // hits can be one of them
			if got := x.and8(hits, &others); got != total || !slices.Equal(hits, want) {
				t.Fatalf("kernel %v, %d words and hits: %d hits", kernel, n, got)
			}
		}
	}
}

// TestKernelFewKeys tests and adds columns of every number of keys up to two vectors, in all layouts. Kernels
// fill the last vector up. Each key ends, or begins, at an inaccessible page, or is longer than kernels hash;
// null rows may lie there.
func TestKernelFewKeys(t *testing.T) {
	t.Parallel()
	const most = 2*vectorKeys + 1
	random := rand.New(rand.NewPCG(81, 82))
	pages := make([][]byte, most)
	for i := range pages {
		pages[i] = guard.Buffer(t, os.Getpagesize())
		for j := range pages[i] {
			pages[i][j] = byte(random.Uint32())
		}
	}
	long := bytes.Repeat([]byte("long"), longKey/4+5)
	integers, fixed := guard.Buffer(t, 8*most), guard.Buffer(t, 8*most)
	for n := 1; n <= most; n++ {
		for range 2 * oneOf(2, 1) {
			keys := fewKeys(random, pages[:n], long)
			words := elementsAtEnd[uint64](integers, n)
			texts, numbers := make([]string, n), make([][]byte, n)
			for i, key := range keys {
				texts[i] = unsafe.String(unsafe.SliceData(key), len(key))
				words[i] = random.Uint64N(2 * most) // some are equal
				numbers[i] = binary.LittleEndian.AppendUint64(nil, words[i])
			}
			checkFewKeys(t, random, keys, Strings(texts), Bytes(keys), viewsApart(t, keys))
			data := fixed[len(fixed)-8*n:]
			copy(data, slices.Concat(numbers...))
			checkFewKeys(t, random, numbers, Integers(words), must(t)(FixedWidth(data, 8)))
		}
	}
}

// fewKeys returns a key of each page, of up to 40 bytes or now and then of up to a page, and seldom a long one.
func fewKeys(random *rand.Rand, pages [][]byte, long []byte) [][]byte {
	keys := make([][]byte, len(pages))
	for i, page := range pages {
		n := random.IntN(41)
		switch random.IntN(40) {
		case 0:
			n = random.IntN(len(page) + 1)
		case 1:
			keys[i] = long[random.IntN(8):]
			continue
		}
		keys[i] = page[len(page)-n:]
		if random.IntN(2) == 0 {
			keys[i] = page[:n:n]
		}
		if i > 0 && random.IntN(8) == 0 {
			keys[i] = keys[i-1]
		}
	}
	return keys
}

// checkFewKeys compares what each kernel finds and adds of columns of the same keys, whole and with null rows, with the reference.
func checkFewKeys(t *testing.T, random *rand.Rand, keys [][]byte, columns ...Keys) {
	t.Helper()
	bitmap, valid := randomNulls(random, 5, len(keys))
	for f := range Format(len(formats)) {
		encoded := create(f, keys[:len(keys)/2], 10)
		want, wantNulls := make([]bool, len(keys)), make([]bool, len(keys))
		for i, key := range keys {
			want[i] = Reference(f, encoded, key)
			wantNulls[i] = want[i] && valid[i]
		}
		for _, kernel := range proven() {
			filter := onKernel(t, mustOpen(t, f, encoded), kernel)
			for _, column := range columns {
				nulls := must(t)(column.WithValidity(bitmap, 5))
				checkBatch(t, filter, column, want)
				checkBatch(t, filter, nulls, wantNulls)
				checkFewAdds(t, f, kernel, keys, nil, column)
				checkFewAdds(t, f, kernel, keys, valid, nulls)
			}
		}
	}
}

// checkFewAdds adds the first keys of a column and then all, and wants the bits and the answers of the reference. A nil valid is
// no bitmap.
func checkFewAdds(t *testing.T, f Format, kernel Kernel, keys [][]byte, valid []bool, column Keys) {
	t.Helper()
	added, found := mustSet(t, Policy{f, 10}, 30), mustSet(t, Policy{f, 10}, 30)
	added.setKernel(kernel)
	found.setKernel(kernel)
	plain := bytes.Clone(added.data)
	hits, want := []uint64{^uint64(0)}, uint64(0)
	for i, key := range keys {
		if valid == nil || valid[i] {
			if Reference(f, plain, key) {
				want |= 1 << i
			}
			addByReference(t, f, plain, key)
		}
	}
	added.AddBatch(column)
	if found.TestAndAddBatch(column, hits); hits[0] != want {
		t.Fatalf("%v, kernel %v, layout %d: TestAndAddBatch of %d keys: %x, want %x", f, kernel, column.layout, len(keys), hits, want)
	}
	if !slices.Equal(added.data, plain) || !slices.Equal(found.data, plain) {
		t.Fatalf("%v, kernel %v, layout %d: %d keys: other bits", f, kernel, column.layout, len(keys))
	}
}
