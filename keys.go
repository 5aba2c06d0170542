package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// Keys is a column of keys in the layout its owner already has. It copies nothing and
// refers to the owner's memory. The zero Keys is an empty column.
//
// The memory must not change while the Keys are in use. The constructors check offsets, views
// and bitmaps once, and the kernels, which are assembly, rely on that. If an offset or a view
// changes after the check, they may read outside of the data, which can end the program.
type Keys struct {
	unstored

	layout layout
	hashed scheme         // which hash a column of hashes has, or noScheme
	n      int            // rows
	width  int            // of a key in bytes, fixedWidth; the number of buffers, stringViews
	column unsafe.Pointer // the first of n elements, or of n+1 offsets
	data   []byte         // what the elements point into, fixedWidth and offsets only

	validity []byte  // Arrow's validity bitmap, or nil if every row is a key
	bit0     uint    // the bit of row 0 in validity
	buffers  *[]byte // the first buffer, stringViews only
}

// layout says what column points to.
type layout uint8

const (
	byteSlices layout = 0 // [n][]byte
	strs       layout = 3 // [n]string

	// The numbers of these are the widths of the integers: Integers relies on it.
	uint8s  layout = 1 // [n]uint8
	uint16s layout = 2 // [n]uint16
	uint32s layout = 4 // [n]uint32
	uint64s layout = 8 // [n]uint64
)

const (
	fixedWidth  = uint64s + 1 + iota // nothing: key i is data[i*width : (i+1)*width]
	offsets32                        // [n+1]int32: key i is data[column[i]:column[i+1]]
	offsets64                        // [n+1]int64
	stringViews                      // [n]viewHeader: key i is in its header or in one of the buffers
	hashes32                         // [n]uint32: hashes of one 32-bit word
	hashes64                         // [n]uint64: hashes of one 64-bit word
	hashes128                        // [n]hash128: hashes of two 64-bit words
	hashes256                        // [n]Hash: hashes of four 64-bit words
	noLayout                         // assemblyRows returns it for rows that kernels do not hash
)

func columnOf[E any](l layout, s []E) Keys {
	return Keys{layout: l, n: len(s), column: unsafe.Pointer(unsafe.SliceData(s))}
}

// elements returns n elements of the column.
func elements[E any](k *Keys, n int) []E { return unsafe.Slice((*E)(k.column), n) }

// Bytes returns a column of byte slices.
func Bytes[B ~[]byte](keys []B) Keys { return columnOf(byteSlices, keys) }

// Strings returns a column of strings.
func Strings[S ~string](keys []S) Keys { return columnOf(strs, keys) }

// Integers returns a column of integers. Each key is the 1, 2, 4 or 8 little-endian bytes of
// its width; those of a negative integer are its two's complement. So an []int64 and a []uint64
// with the same bits are the same column. int and uint have 8 bytes on every machine; where their own width is
// 4, the column is a copy.
func Integers[I ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](keys []I) Keys {
	if bits.UintSize < 64 && isWord[I]() {
		return widened(keys)
	}
	return columnOf(layout(unsafe.Sizeof(I(0))), keys)
}

// isWord reports whether I is int or uint, or has one of them as its underlying type.
func isWord[I any]() bool {
	kind := reflect.TypeFor[I]().Kind()
	return kind == reflect.Int || kind == reflect.Uint
}

// widened returns the column of the integers in 64 bits each.
func widened[I ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](keys []I) Keys {
	wide := make([]uint64, len(keys))
	for i, key := range keys {
		wide[i] = uint64(key)
	}
	return columnOf(uint64s, wide)
}

// bigEndian reports whether this machine stores the upper byte of a word first.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// isNarrow reports whether the rows are integers of 1 or 2 bytes. They have no more than 65,536 values, so
// portable Go has no loop of its own for them.
func (k *Keys) isNarrow() bool { return k.layout == uint8s || k.layout == uint16s }

// Hashes32 returns a column of keys whose 32-bit hashes under f the owner has already, as
// Badger has those of [LevelDB]. The column serves filters of every format with the same hash; with any other filter, queries
// and additions panic. Hashes32 itself panics for a format whose hash is not a word of 32
// bits.
func (f Format) Hashes32(hashes []uint32) Keys {
	return f.columnOfHashes(one32, columnOf(hashes32, hashes))
}

// Hashes64 is [Format.Hashes32] for formats whose hash is a word of 64 bits.
func (f Format) Hashes64(hashes []uint64) Keys {
	return f.columnOfHashes(one64, columnOf(hashes64, hashes))
}

func (f Format) columnOfHashes(w words, k Keys) Keys {
	k.hashed = f.hash()
	if schemes[k.hashed].words != w {
		panic(fmt.Sprintf("bloom: hashes of %d bits for the format %v, which has %s", w.bits(), f, schemes[k.hashed].hash))
	}
	return k
}

// mustServe panics if the column has hashes of another kind than the format's. Every function
// that takes a column calls it first, so that it panics on the goroutine of its caller.
func (k *Keys) mustServe(f Format) {
	if k.hashed != noScheme && k.hashed != f.hash() {
		panic(fmt.Sprintf("bloom: the column was hashed by %s, but the format %v uses %s", schemes[k.hashed].hash, f, schemes[f.hash()].hash))
	}
}

// FixedWidth returns the column of len(data)/width keys that lie one after the other in
// data. If width is under 1 or does not divide len(data), the error is [ErrKeys].
func FixedWidth(data []byte, width int) (Keys, error) {
	if width < 1 {
		return Keys{}, fmt.Errorf("%w: keys of width %d", ErrKeys, width)
	}
	if len(data)%width != 0 {
		return Keys{}, fmt.Errorf("%w: %d bytes are not a whole number of keys of width %d", ErrKeys, len(data), width)
	}
	return Keys{layout: fixedWidth, n: len(data) / width, width: width, data: data}, nil
}

// Offsets returns a column in the layout of Arrow's binary and string arrays, with offsets of 32
// bits, and of its large binary and large string arrays, with offsets of 64 bits: key i is
// data[offsets[i]:offsets[i+1]]. There is one more offset than keys. Without offsets the
// column is empty. If offsets decrease or point outside data, the error is [ErrKeys].
func Offsets[O int32 | int64](data []byte, offsets []O) (Keys, error) {
	if len(offsets) == 0 {
		return Keys{}, nil
	}
	last := O(0)
	for i, offset := range offsets {
		if offset < last {
			return Keys{}, fmt.Errorf("%w: offset %d is %d, below %d", ErrKeys, i, offset, last)
		}
		last = offset
	}
	if int64(last) > int64(len(data)) {
		return Keys{}, fmt.Errorf("%w: last offset is %d, past the %d bytes of data", ErrKeys, last, len(data))
	}
	l := offsets32
	if unsafe.Sizeof(last) == 8 {
		l = offsets64
	}
	k := columnOf(l, offsets)
	k.n--
	k.data = data
	return k, nil
}

// WithValidity returns the same column with Arrow's validity bitmap: row i is
// a key if bit offset+i of bitmap is set, least significant bit first, and
// null if not. A null row is never a hit and adds no key. What a null row holds makes no
// difference: its byte slice, string or view may refer to anything, and its offsets must be
// within the data, as those of all rows.
//
// If the bitmap is too short or offset is negative, the error is [ErrKeys]. It also is if a
// row of [Views] that was null and now is a key is not within its buffer.
func (k Keys) WithValidity(bitmap []byte, offset int) (Keys, error) {
	if offset < 0 {
		return Keys{}, fmt.Errorf("%w: validity bitmap at offset %d", ErrKeys, offset)
	}
	if need := uint64(offset) + uint64(k.n); need > 8*uint64(len(bitmap)) {
		return Keys{}, fmt.Errorf("%w: validity bitmap of %d bits for rows up to %d", ErrKeys, 8*uint64(len(bitmap)), need)
	}
	// The bitmap begins at the byte with row 0, so that bit0 plus a row can't overflow.
	k.validity, k.bit0 = bitmap[offset/8:], uint(offset%8)
	if k.layout == stringViews {
		if err := k.checkViews(kernels[0]); err != nil {
			return Keys{}, err
		}
	}
	return k, nil
}

// Len returns the number of rows, null rows included.
func (k Keys) Len() int { return k.n }

// Slice returns rows i to j-1. It panics, as slicing does, if they are not rows of k.
func (k Keys) Slice(i, j int) Keys {
	if i < 0 || i > j || j > k.n {
		panic(fmt.Sprintf("bloom: rows [%d:%d] of a column of %d", i, j, k.n))
	}
	return k.slice(i, j)
}

func (k *Keys) slice(i, j int) Keys {
	s := *k
	s.n = j - i
	s.bit0 += uint(i)
	if k.layout == fixedWidth {
		s.data = k.data[i*k.width : j*k.width]
	} else if i < j {
		s.column = unsafe.Add(k.column, uintptr(i)*elementSize[k.layout])
	}
	return s
}

var elementSize = [...]uintptr{
	byteSlices:  unsafe.Sizeof([]byte(nil)),
	strs:        unsafe.Sizeof(""),
	uint8s:      1,
	uint16s:     2,
	uint32s:     4,
	uint64s:     8,
	offsets32:   4,
	offsets64:   8,
	stringViews: unsafe.Sizeof(viewHeader{}),
	hashes32:    4,
	hashes64:    8,
	hashes128:   unsafe.Sizeof(hash128{}),
	hashes256:   unsafe.Sizeof(Hash{}),
}

// AppendKey appends the bytes of the key in a row to dst: a filter's hits can be looked up in a set of
// the keys. It returns false for a null row and for a column of hashes, whose keys it does not have. It
// panics, as an index does, if there is no such row.
func (k Keys) AppendKey(dst []byte, row int) ([]byte, bool) {
	k = k.Slice(row, row+1)
	var integer [8]byte
	key, ok := k.first(&integer)
	return append(dst, key...), ok
}

// first returns the first key of a column, or false as AppendKey does. It copies an integer alone.
func (k *Keys) first(integer *[8]byte) ([]byte, bool) {
	if k.hashed != noScheme || k.valid(0, 1) == 0 {
		return nil, false
	}
	return k.row(0, integer), true
}

// row returns the key of a row, which is not null, of a column of no hashes.
func (k *Keys) row(i int, integer *[8]byte) []byte {
	from, to := i*k.width, (i+1)*k.width
	switch k.layout {
	case byteSlices:
		return elements[[]byte](k, k.n)[i]
	case strs:
		key := elements[string](k, k.n)[i]
		return unsafe.Slice(unsafe.StringData(key), len(key))
	case uint8s:
		return append(integer[:0], elements[uint8](k, k.n)[i])
	case uint16s:
		return binary.LittleEndian.AppendUint16(integer[:0], elements[uint16](k, k.n)[i])
	case uint32s:
		return binary.LittleEndian.AppendUint32(integer[:0], elements[uint32](k, k.n)[i])
	case uint64s:
		return binary.LittleEndian.AppendUint64(integer[:0], elements[uint64](k, k.n)[i])
	case stringViews:
		key := k.viewKey(i, true)
		return unsafe.Slice(unsafe.StringData(key), len(key))
	case offsets32:
		offsets := elements[int32](k, k.n+1)
		from, to = int(offsets[i]), int(offsets[i+1])
	case offsets64:
		offsets := elements[int64](k, k.n+1)
		from, to = int(offsets[i]), int(offsets[i+1])
	}
	return k.data[from:to]
}

// hashRow returns the hash of one row.
func (k *Keys) hashRow(kind scheme, i int) Hash {
	from, to := 0, 0
	switch k.layout {
	case byteSlices:
		key := elements[[]byte](k, k.n)[i]
		return kind.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	case strs:
		key := elements[string](k, k.n)[i]
		return kind.hashKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	case uint8s:
		return kind.hashKey(unsafe.Pointer(&elements[uint8](k, k.n)[i]), 1)
	case uint16s:
		var key [2]byte
		binary.LittleEndian.PutUint16(key[:], elements[uint16](k, k.n)[i])
		return kind.hashKey(unsafe.Pointer(&key), len(key))
	case uint32s:
		var key [4]byte
		binary.LittleEndian.PutUint32(key[:], elements[uint32](k, k.n)[i])
		return kind.hashKey(unsafe.Pointer(&key), len(key))
	case uint64s:
		return kind.hashUint64(elements[uint64](k, k.n)[i])
	case fixedWidth:
		from, to = i*k.width, (i+1)*k.width
	case offsets32:
		offsets := elements[int32](k, k.n+1)
		from, to = int(offsets[i]), int(offsets[i+1])
	case offsets64:
		offsets := elements[int64](k, k.n+1)
		from, to = int(offsets[i]), int(offsets[i+1])
	case stringViews:
		key := k.viewKey(i, true)
		return kind.hashKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	case hashes32:
		return shortHash(uint64(elements[uint32](k, k.n)[i]), 0, kind)
	case hashes64:
		return shortHash(elements[uint64](k, k.n)[i], 0, kind)
	case hashes128:
		h := elements[hash128](k, k.n)[i]
		return shortHash(h.h1, h.h2, kind)
	case hashes256:
		return elements[Hash](k, k.n)[i]
	}
	key := k.data[from:to]
	return kind.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// Hashed hashes every row once, under f, and returns the column of hashes, with the same null
// rows. The column serves filters of every format with the same hash; with any other filter,
// queries and additions panic. Hashed itself panics if k is a column of other hashes.
func (k Keys) Hashed(f Format) Keys { return k.hashedBy(kernels[0], f) }

func (k *Keys) hashedBy(kernel Kernel, f Format) Keys {
	k.mustServe(f)
	kind := f.hash()
	return k.hashedTo(make([]uint64, (k.n*schemes[kind].words.bits()+63)/64), kind, kernel)
}

// hashedTo is Hashed, with the hashes in memory, which must have room for them.
func (k *Keys) hashedTo(memory []uint64, kind scheme, kernel Kernel) (h Keys) {
	switch p := unsafe.Pointer(unsafe.SliceData(memory)); schemes[kind].words {
	case one32:
		words := unsafe.Slice((*uint32)(p), k.n)
		k.hashWindows(kind, kernel, func(i, j int) hashes { return hashes{h32: words[i:j]} })
		h = columnOf(hashes32, words)
	case one64:
		k.hashWindows(kind, kernel, func(i, j int) hashes { return hashes{h1: memory[i:j]} })
		h = columnOf(hashes64, memory[:k.n])
	case two64:
		words := unsafe.Slice((*hash128)(p), k.n)
		k.eachWindow(kind, kernel, true, func(first int, h hashes) {
			for i, h1 := range h.h1 {
				words[first+i] = hash128{h1, h.h2[i]}
			}
		})
		h = columnOf(hashes128, words)
	case four64:
		words := unsafe.Slice((*Hash)(p), k.n)
		k.eachWindow(kind, kernel, true, func(first int, h hashes) {
			for i := range h.len() {
				words[first+i] = h.at256(i)
			}
		})
		h = columnOf(hashes256, words)
	}
	h.hashed, h.validity, h.bit0 = kind, k.validity, k.bit0
	return h
}

// hashWindows hashes a window of rows at a time. room(i, j) returns the memory for the hashes
// of rows i to j-1.
func (k *Keys) hashWindows(kind scheme, kernel Kernel, room func(i, j int) hashes) {
	for i := 0; i < k.n; i += windowKeys {
		part := k.slice(i, min(i+windowKeys, k.n))
		h := room(i, i+part.n)
		part.hash(kind, kernel, &h)
	}
}

// eachWindow hashes a window of rows at a time, and calls visit with the number of its first row and its hashes: without
// those of null rows, or with hashes for them that mean nothing.
func (k *Keys) eachWindow(kind scheme, kernel Kernel, withNulls bool, visit func(first int, h hashes)) {
	w := takeWindow()
	room := w.hashes(schemes[kind].words, k.n)
	for i := 0; i < k.n; i += room.len() {
		part := k.slice(i, min(i+room.len(), k.n))
		h := room.slice(0, part.n)
		if withNulls {
			part.hash(kind, kernel, &h)
		} else {
			part.hashKeys(kind, kernel, &h)
		}
		visit(i, h)
	}
	w.giveBack()
}

// valid returns the validity of rows i to i+n-1, n ≤ 64, as the low n bits of a word.
func (k *Keys) valid(i, n int) (word uint64) {
	if k.validity == nil {
		return ^uint64(0) >> (64 - n)
	}
	bit := k.bit0 + uint(i)
	bitmap, shift := k.validity[bit/8:], bit%8
	if len(bitmap) > 8 { // shifts by 64 give 0
		word = binary.LittleEndian.Uint64(bitmap)>>shift | uint64(bitmap[8])<<(64-shift)
	} else {
		for j, b := range bitmap {
			word |= uint64(b) << (8 * j)
		}
		word >>= shift
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
