package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// Keys is a column of keys in the memory layout that the caller already uses. It refers to the caller's memory
// and copies nothing. The zero Keys is an empty column.
//
// The memory must not change while the column is in use. The constructors check offsets, views and bitmaps
// once, and the assembly kernels rely on that check. If an offset or a view changes after the check, kernels
// may read outside the data, which can crash the process.
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

func columnOf[E any](l layout, s []E) Keys {
	return Keys{layout: l, n: len(s), column: unsafe.Pointer(unsafe.SliceData(s))}
}

// elements returns n elements of the column.
func elements[E any](k *Keys, n int) []E { return unsafe.Slice((*E)(k.column), n) }

// Bytes returns a column of byte slices.
func Bytes[B ~[]byte](keys []B) Keys { return columnOf(byteSlices, keys) }

// Strings returns a column of strings.
func Strings[S ~string](keys []S) Keys { return columnOf(strs, keys) }

// Integers returns a column of integers. Each key consists of the 1, 2, 4 or 8 bytes of an integer, in
// little-endian order and two's complement. So a []int64 and a []uint64 with the same bits give the same keys.
// Values of type int and uint are keys of 8 bytes on every machine. On machines where int has 4 bytes, the
// function Integers copies a []int or a []uint.
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

// isNarrow reports whether the rows are integers of 1 or 2 bytes. They have no more than 65,536 values, so
// portable Go has no loop of its own for them.
func (k *Keys) isNarrow() bool { return k.layout == uint8s || k.layout == uint16s }

// FixedWidth returns a column of keys of equal length. The parameter width is the length of a key in bytes.
// The keys lie one after the other in data, so the column has len(data)/width rows. If width is below 1 or
// does not divide len(data), the error is [ErrKeys].
func FixedWidth(data []byte, width int) (Keys, error) {
	if width < 1 {
		return Keys{}, fmt.Errorf("%w: keys of width %d", ErrKeys, width)
	}
	if len(data)%width != 0 {
		return Keys{}, fmt.Errorf("%w: %d bytes are not a whole number of keys of width %d", ErrKeys, len(data), width)
	}
	return Keys{layout: fixedWidth, n: len(data) / width, width: width, data: data}, nil
}

// Offsets returns a column in the layout of an Arrow array with offsets. The offsets have 32 bits in string
// and binary arrays, and 64 bits in large string and large binary arrays. Key i is
// data[offsets[i]:offsets[i+1]], so there is one more offset than there are keys. If there are no offsets,
// the column is empty. If offsets decrease or point outside data, the error is [ErrKeys].
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

// Views returns a column in the layout of Arrow's string view and binary view arrays. Each row has a header of
// 16 bytes. The numbers in a header are 32-bit integers in the byte order of this machine:
//
//	bytes 0-3    the length of the key
//	bytes 4-15   the key, if it has at most 12 bytes
//
//	bytes 4-7    the first 4 bytes of a longer key, which Views ignores
//	bytes 8-11   the number of the buffer that contains the longer key
//	bytes 12-15  the offset of its first byte in that buffer
//
// The parameters bitmap and offset mean the same as in [Keys.WithValidity]. If bitmap is nil, no row is null.
// The header of a null row may contain any bytes.
//
// The error is [ErrKeys] if a key is not within its buffer, if len(headers) is not a multiple of 16, or if
// the bitmap is too short.
func Views(headers []byte, buffers [][]byte, bitmap []byte, offset int) (Keys, error) {
	if len(headers)%len(viewHeader{}) != 0 {
		return Keys{}, fmt.Errorf("%w: %d bytes are not a whole number of headers", ErrKeys, len(headers))
	}
	k := columnOf(stringViews, unsafe.Slice((*viewHeader)(unsafe.Pointer(unsafe.SliceData(headers))), len(headers)/len(viewHeader{})))
	k.buffers, k.width = unsafe.SliceData(buffers), len(buffers)
	if bitmap != nil {
		return k.WithValidity(bitmap, offset)
	}
	return k, k.checkViews(kernels[0])
}

// checkViews returns ErrKeys if a key is not within its buffer.
func (k *Keys) checkViews(kernel Kernel) error {
	headers, buffers := elements[viewHeader](k, k.n), unsafe.Slice(k.buffers, k.width)
	for i := 0; i < k.n; i += 64 {
		n := min(64, k.n-i)
		rest := k.valid(i, n)
		if n >= 8 {
			if left, ok := fitViews(kernel, &headers[i][0], (*byte)(unsafe.Pointer(k.buffers)), rest, n&^7, len(buffers)); ok {
				fitting := n&^7 - left
				rest = rest >> fitting << fitting
			}
		}
		for ; rest != 0; rest &= rest - 1 {
			row := i + bits.TrailingZeros64(rest)
			length, buffer, at := headers[row].words()
			switch {
			case length < 0:
				return fmt.Errorf("%w: view %d has %d bytes", ErrKeys, row, length)
			case length <= inlineBytes:
			case buffer < 0 || int(buffer) >= len(buffers):
				return fmt.Errorf("%w: view %d is in buffer %d of %d", ErrKeys, row, buffer, len(buffers))
			case at < 0 || int64(at)+int64(length) > int64(len(buffers[buffer])):
				return fmt.Errorf("%w: view %d is %d bytes at offset %d, outside of the %d bytes of its buffer", ErrKeys, row, length, at, len(buffers[buffer]))
			}
		}
	}
	return nil
}

// viewKey returns key i of a column of views, or "" if it is null.
func (k *Keys) viewKey(i int, valid bool) string {
	header := (*viewHeader)(unsafe.Add(k.column, i*len(viewHeader{})))
	length, buffer, at := header.words()
	switch {
	case !valid:
		return ""
	case length <= inlineBytes:
		return unsafe.String(&header[4], length)
	}
	data := unsafe.SliceData(*(*[]byte)(unsafe.Add(unsafe.Pointer(k.buffers), uintptr(buffer)*unsafe.Sizeof([]byte(nil)))))
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(data), at)), length)
}

// WithValidity returns the same column with an Arrow validity bitmap. If bit offset+i of bitmap is clear, row
// i is null. Bits are numbered from the least significant bit of each byte. A null row is never a hit and
// adds no key. The byte slice, string or view of a null row may point to anything, but the offsets of a null
// row must be within the data.
//
// If the bitmap is too short or offset is negative, the error is [ErrKeys]. For a column of [Views], the error
// is also ErrKeys if a row that was null becomes valid but its key is not within its buffer.
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

// Len returns the number of rows, including null rows.
func (k Keys) Len() int { return k.n }

// Slice returns the column of rows i to j-1. It panics if i or j is out of range.
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

// AppendKey appends the bytes of the key in the given row to dst and returns the extended slice. Use it, for
// example, to look up the hits of a filter in an exact table. The second result is false if the row is null, or
// if k is a column of hashes, which does not contain the keys. AppendKey panics if there is no such row.
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
