package bloom

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Keys is a column of keys in the layout its owner already has. It copies
// nothing: it refers to the owner's memory, which must not change while the
// Keys are in use. The zero Keys is an empty column.
type Keys struct {
	layout layout
	n      int            // rows
	width  int            // of a key in bytes, fixedWidth only
	column unsafe.Pointer // the first of n elements, or of n+1 offsets
	data   []byte         // what the elements point into, fixedWidth and offsets only

	validity []byte // Arrow's validity bitmap, or nil if every row is a key
	bit0     int    // the bit of row 0 in validity
}

// layout says what column points to.
type layout uint8

const (
	byteSlices layout = iota // [n][]byte
	strs                     // [n]string
	uint32s                  // [n]uint32
	uint64s                  // [n]uint64
	fixedWidth               // nothing: key i is data[i*width : (i+1)*width]
	offsets32                // [n+1]int32: key i is data[column[i]:column[i+1]]
	offsets64                // [n+1]int64
	hashes32                 // [n]uint32, hash32 of each key
	hashes64                 // [n]Hash, hash64 of each key
)

func columnOf[E any](l layout, s []E) Keys {
	return Keys{layout: l, n: len(s), column: unsafe.Pointer(unsafe.SliceData(s))}
}

// elements returns n elements of the column.
func elements[E any](k *Keys, n int) []E { return unsafe.Slice((*E)(k.column), n) }

// Bytes returns a column of byte slices.
func Bytes(keys [][]byte) Keys { return columnOf(byteSlices, keys) }

// Strings returns a column of strings.
func Strings(keys []string) Keys { return columnOf(strs, keys) }

// Uint32s returns a column of integers. Each key is its 4 little-endian bytes.
func Uint32s(keys []uint32) Keys { return columnOf(uint32s, keys) }

// Uint64s returns a column of integers. Each key is its 8 little-endian bytes.
func Uint64s(keys []uint64) Keys { return columnOf(uint64s, keys) }

// Hashes32 returns a column of keys of which the owner has LevelDB's hashes,
// as Badger does. It serves filters of the format [LevelDB] alone: queries of other
// filters, and building them, panic.
func Hashes32(hashes []uint32) Keys { return columnOf(hashes32, hashes) }

// FixedWidth returns the column of len(data)/width keys that lie one after
// the other in data. A width under 1, or one that does not divide len(data),
// is [ErrKeys].
func FixedWidth(data []byte, width int) (Keys, error) {
	if width < 1 {
		return Keys{}, fmt.Errorf("%w: keys of width %d", ErrKeys, width)
	}
	if len(data)%width != 0 {
		return Keys{}, fmt.Errorf("%w: %d bytes are no whole number of keys of width %d", ErrKeys, len(data), width)
	}
	return Keys{layout: fixedWidth, n: len(data) / width, width: width, data: data}, nil
}

// Offsets returns a column in the layout of Arrow's binary and string arrays:
// key i is data[offsets[i]:offsets[i+1]], so there is one offset more than
// keys. No offsets at all are an empty column. Offsets that decrease or point
// outside data are [ErrKeys].
func Offsets(data []byte, offsets []int32) (Keys, error) {
	return offsetsOf(offsets32, data, offsets)
}

// Offsets64 is [Offsets] for the layout of Arrow's large binary and large
// string arrays.
func Offsets64(data []byte, offsets []int64) (Keys, error) {
	return offsetsOf(offsets64, data, offsets)
}

func offsetsOf[E int32 | int64](l layout, data []byte, offsets []E) (Keys, error) {
	if len(offsets) == 0 {
		return Keys{}, nil
	}
	last := E(0)
	for i, offset := range offsets {
		if offset < last {
			return Keys{}, fmt.Errorf("%w: offset %d is %d, below %d", ErrKeys, i, offset, last)
		}
		last = offset
	}
	if int64(last) > int64(len(data)) {
		return Keys{}, fmt.Errorf("%w: last offset is %d, past the %d bytes of data", ErrKeys, last, len(data))
	}
	k := columnOf(l, offsets)
	k.n--
	k.data = data
	return k, nil
}

// WithValidity returns the same column with Arrow's validity bitmap: row i is
// a key if bit offset+i of bitmap is set, least significant bit first, and
// null if not. A null row is not read, never hits and adds nothing. A bitmap
// that is too short, or a negative offset, is [ErrKeys].
func (k Keys) WithValidity(bitmap []byte, offset int) (Keys, error) {
	if offset < 0 {
		return Keys{}, fmt.Errorf("%w: validity bitmap at offset %d", ErrKeys, offset)
	}
	if need := uint64(offset) + uint64(k.n); need > 8*uint64(len(bitmap)) {
		return Keys{}, fmt.Errorf("%w: validity bitmap of %d bits for rows up to %d", ErrKeys, 8*uint64(len(bitmap)), need)
	}
	k.validity, k.bit0 = bitmap, offset
	return k, nil
}

// Len returns the number of rows, null rows included.
func (k Keys) Len() int { return k.n }

// Slice returns rows i to j-1, and panics as slicing does if they are not rows
// of k.
func (k Keys) Slice(i, j int) Keys {
	if i < 0 || i > j || j > k.n {
		panic(fmt.Sprintf("bloom: rows [%d:%d] of a column of %d", i, j, k.n))
	}
	return k.slice(i, j)
}

func (k *Keys) slice(i, j int) Keys {
	s := *k
	s.n = j - i
	s.bit0 += i
	if k.layout == fixedWidth {
		s.data = k.data[i*k.width : j*k.width]
	} else if i < j {
		s.column = unsafe.Add(k.column, uintptr(i)*elementSize[k.layout])
	}
	return s
}

var elementSize = [...]uintptr{
	byteSlices: unsafe.Sizeof([]byte(nil)),
	strs:       unsafe.Sizeof(""),
	uint32s:    4,
	uint64s:    8,
	offsets32:  4,
	offsets64:  8,
	hashes32:   4,
	hashes64:   unsafe.Sizeof(Hash{}),
}

// Hashed returns the column's hashes under f as a column, to probe many
// filters of f with at the cost of hashing once. It serves filters of the same hash
// alone, as [Hashes32] does.
func (k Keys) Hashed(f Format) Keys {
	_ = formats[f]
	var h Keys
	if f.isWide() {
		h = k.hashed64()
	} else {
		hashed := make([]uint32, k.n)
		for i := 0; i < k.n; i += window {
			part := k.slice(i, min(i+window, k.n))
			part.hash(kernels[0], &hashes{narrow: hashed[i:][:part.n]})
		}
		h = Hashes32(hashed)
	}
	h.validity, h.bit0 = k.validity, k.bit0
	return h
}

func (k *Keys) hashed64() Keys {
	hashed := make([]Hash, k.n)
	var h1, h2 [window]uint64
	for i := 0; i < k.n; i += window {
		part := k.slice(i, min(i+window, k.n))
		part.hash(kernels[0], &hashes{h1: h1[:part.n], h2: h2[:part.n]})
		for j := range part.n {
			hashed[i+j] = Hash{h1[j], h2[j]}
		}
	}
	return columnOf(hashes64, hashed)
}

// hash writes the hash of each row to h, which has as many elements. That of a null
// row is 0.
func (k *Keys) hash(kernel Kernel, h *hashes) {
	if k.validity == nil {
		k.hashRows(kernel, h)
		return
	}
	clear(h.narrow)
	clear(h.h1)
	clear(h.h2)
	for i, j := range k.runs {
		part, hashed := k.slice(i, j), h.slice(i, j)
		part.hashRows(kernel, &hashed)
	}
}

// runs yields the ranges of rows that are not null. The column must have a bitmap.
func (k *Keys) runs(yield func(i, j int) bool) {
	for i := 0; i < k.n; i += 64 {
		for rest := k.valid(i, min(64, k.n-i)); rest != 0; {
			from := bits.TrailingZeros64(rest)
			to := from + bits.TrailingZeros64(^(rest >> from))
			if !yield(i+from, i+to) {
				return
			}
			rest = rest >> to << to
		}
	}
}

// hashRows is hash of a column without null rows. Assembly makes vectors of 16
// hashes at most; it may leave any.
func (k *Keys) hashRows(kernel Kernel, h *hashes) {
	wide := h.narrow == nil
	if wide && k.layout == hashes32 || !wide && k.layout == hashes64 {
		panic("bloom: keys hashed for another format")
	}
	if k.layout == hashes32 || k.layout == hashes64 || !kernel.hashes(wide) {
		k.hashGeneric(h)
		return
	}
	n := h.len()
	if n == 0 {
		return
	}
	done := k.hashAssembly(kernel, h)
	if done == 0 && n <= 16 {
		k.hashGeneric(h)
		return
	}
	for done < n {
		rest, hashed := k.slice(done, n), h.slice(done, n)
		more := rest.hashAssembly(kernel, &hashed)
		if more == 0 {
			more = min(n-done, 16)
			hashed = hashed.slice(0, more)
			rest.hashGeneric(&hashed)
		}
		done += more
	}
}

// hashAssembly is hashRows in assembly for the first rows, and returns how many.
func (k *Keys) hashAssembly(kernel Kernel, h *hashes) int {
	if h.narrow == nil {
		return k.hash64Assembly(kernel, h.h1, h.h2)
	}
	return k.hash32Assembly(kernel, h.narrow)
}

// hashGeneric is hashRows in portable Go, for the first rows.
func (k *Keys) hashGeneric(h *hashes) {
	if h.narrow == nil {
		k.hash64Generic(h.h1, h.h2)
	} else {
		k.hash32Generic(h.narrow)
	}
}

func (k *Keys) hash32Generic(hashes []uint32) {
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(hashes)) {
			hashes[i] = hash32(key)
		}
	case strs:
		for i, key := range elements[string](k, len(hashes)) {
			hashes[i] = hash32String(key)
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(hashes)) {
			hashes[i] = hash32Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(hashes)) {
			hashes[i] = hash32Uint64(key)
		}
	case fixedWidth:
		for i := range hashes {
			hashes[i] = hash32(k.data[i*k.width : (i+1)*k.width])
		}
	case offsets32:
		hashBetween(hashes, k.data, elements[int32](k, len(hashes)+1))
	case offsets64:
		hashBetween(hashes, k.data, elements[int64](k, len(hashes)+1))
	case hashes32:
		copy(hashes, elements[uint32](k, len(hashes)))
	}
}

func hashBetween[E int32 | int64](hashes []uint32, data []byte, offsets []E) {
	for i := range hashes {
		hashes[i] = hash32(data[offsets[i]:offsets[i+1]])
	}
}

func (k *Keys) hash64Generic(h1, h2 []uint64) {
	h2 = h2[:len(h1)]
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, len(h1)) {
			h1[i], h2[i] = hash64(key).both()
		}
	case strs:
		for i, key := range elements[string](k, len(h1)) {
			h1[i], h2[i] = hash64String(key).both()
		}
	case uint32s:
		for i, key := range elements[uint32](k, len(h1)) {
			h1[i], h2[i] = hash64Uint32(key).both()
		}
	case uint64s:
		for i, key := range elements[uint64](k, len(h1)) {
			h1[i], h2[i] = hash64Uint64(key).both()
		}
	case fixedWidth:
		for i := range h1 {
			h1[i], h2[i] = hash64(k.data[i*k.width : (i+1)*k.width]).both()
		}
	case offsets32:
		hash64Between(h1, h2, k.data, elements[int32](k, len(h1)+1))
	case offsets64:
		hash64Between(h1, h2, k.data, elements[int64](k, len(h1)+1))
	case hashes64:
		for i, h := range elements[Hash](k, len(h1)) {
			h1[i], h2[i] = h.both()
		}
	}
}

func hash64Between[E int32 | int64](h1, h2 []uint64, data []byte, offsets []E) {
	for i := range h1 {
		h1[i], h2[i] = hash64(data[offsets[i]:offsets[i+1]]).both()
	}
}

func (h Hash) both() (h1, h2 uint64) { return h.h1, h.h2 }

// valid returns the validity of rows i to i+n-1, n ≤ 64, as the low n bits of
// a word. The column must have a bitmap.
func (k *Keys) valid(i, n int) (word uint64) {
	bit := k.bit0 + i
	for j, b := range k.validity[bit/8 : (uint(bit)+uint(n)+7)/8] {
		// Up to 9 bytes hold the bits; shifts by 64 and more give 0.
		if shift := 8*j - bit%8; shift >= 0 {
			word |= uint64(b) << shift
		} else {
			word |= uint64(b) >> -shift
		}
	}
	return word << (64 - n) >> (64 - n)
}

// nulls returns the number of null rows.
func (k *Keys) nulls() int {
	if k.validity == nil {
		return 0
	}
	keys := 0
	for i := 0; i < k.n; i += 64 {
		keys += bits.OnesCount64(k.valid(i, min(64, k.n-i)))
	}
	return k.n - keys
}
