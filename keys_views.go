package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
)

// viewHeader is a row of Arrow's string and binary views.
type viewHeader [16]byte

// inlineBytes is the length of the longest key that its header holds.
const inlineBytes = 12

// Views returns a column in the layout of Arrow's string view and binary view arrays. Each row
// has a header of 16 bytes. The numbers in it are 32-bit integers in the byte order of this
// machine:
//
//	bytes 0-3    the length of the key
//	bytes 4-15   a key of up to 12 bytes
//
//	bytes 4-7    of a longer key, its first 4 bytes, which Views does not look at
//	bytes 8-11   which one of buffers holds the key
//	bytes 12-15  the offset of its first byte in that buffer
//
// The bitmap and its offset are those of [Keys.WithValidity]. A nil bitmap means that no row
// is null. A header of a null row may have any bytes.
//
// If a key is not within its buffer, if the headers are not a whole number of rows, or if the
// bitmap is too short, the error is [ErrKeys].
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

// words returns the integers of a header. Those of the buffer have a meaning only if the key
// is longer than inlineBytes.
func (h *viewHeader) words() (length, buffer, at int32) {
	word := func(i int) int32 { return int32(binary.NativeEndian.Uint32(h[i:])) }
	return word(0), word(8), word(12)
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

// isGathered reports whether the keys are gathered into strings before they are hashed: views,
// and null rows that may refer to memory that is not there.
func (k *Keys) isGathered() bool {
	return k.layout == stringViews || k.validity != nil && (k.layout == byteSlices || k.layout == strs)
}

// hashGathered is hash for a column that isGathered. It gathers and hashes 64 rows at a time, or more views.
// It has no function for rows, because rows that are written through a pointer escape: callers' keys could
// not be on the stack.
func (k *Keys) hashGathered(kind scheme, kernel Kernel, h *hashes) {
	switch {
	case k.layout != stringViews:
	case k.n > 64:
		hashViews[[viewKeys]string](k, kind, kernel, h)
		return
	default: // to clear the buffer of more would cost more than to hash so few views
		hashViews[[64]string](k, kind, kernel, h)
		return
	}
	var rows [64]string // "" for null rows
	for i := 0; i < k.n; i += len(rows) {
		n := min(len(rows), k.n-i)
		valid := k.valid(i, n)
		switch k.layout {
		case byteSlices:
			for j, key := range elements[[]byte](k, k.n)[i : i+n] {
				rows[j%len(rows)] = unsafe.String(unsafe.SliceData(key), len(key)&-int(valid>>j&1))
			}
		case strs:
			for j, key := range elements[string](k, k.n)[i : i+n] {
				rows[j%len(rows)] = key[:len(key)&-int(valid>>j&1)]
			}
		}
		part, hashed := Strings(rows[:n]), h.slice(i, i+n)
		part.hashRows(kind, kernel, &hashed)
	}
}

// hashViews is hashGathered for views, as many at a time as an R has room for. Its loop for columns without null
// rows calls nothing, and reads the second half of a header only if it must: viewKey takes 1.5 times as long.
func hashViews[R [64]string | [256]string](k *Keys, kind scheme, kernel Kernel, h *hashes) {
	var rows R
	buffers := unsafe.Slice(k.buffers, k.width)
	for i := 0; i < k.n; i += len(rows) {
		n := min(len(rows), k.n-i)
		done := k.viewStrings(kernel, i, n, &rows[0])
		if k.validity == nil {
			headers := unsafe.Slice((*viewHeader)(unsafe.Add(k.column, i*len(viewHeader{}))), n)
			for j := uint(done); j < uint(n); j++ {
				header := &headers[j]
				length := binary.NativeEndian.Uint32(header[:])
				key := unsafe.Pointer(&header[4])
				if length > inlineBytes {
					buffer := buffers[binary.NativeEndian.Uint32(header[8:])]
					key = unsafe.Add(unsafe.Pointer(unsafe.SliceData(buffer)), binary.NativeEndian.Uint32(header[12:]))
				}
				rows[j%uint(len(rows))] = unsafe.String((*byte)(key), length)
			}
			done = n
		}
		for done < n {
			some := min(64, n-done)
			valid := k.valid(i+done, some)
			for range some {
				rows[done%len(rows)] = k.viewKey(i+done, valid&1 != 0)
				valid >>= 1
				done++
			}
		}
		part, hashed := Strings(unsafe.Slice(&rows[0], n)), h.slice(i, i+n)
		part.hashRows(kind, kernel, &hashed)
	}
}

// viewStrings writes the keys of the first of n views from row i on as strings, those of null rows empty, and
// returns how many it wrote.
func (k *Keys) viewStrings(kernel Kernel, i, n int, rows *string) (done int) {
	for done < n&^7 {
		some := min(64, n&^7-done)
		views, to := unsafe.Add(k.column, (i+done)*len(viewHeader{})), unsafe.Add(unsafe.Pointer(rows), done*int(unsafe.Sizeof("")))
		if !viewStrings(kernel, (*byte)(views), (*byte)(unsafe.Pointer(k.buffers)), k.valid(i+done, some), some, (*string)(to)) {
			return 0
		}
		done += some
	}
	return done
}

// gatherValid writes the hashes of the valid rows to the start of h. It is hashGathered without
// the null rows.
func (k *Keys) gatherValid(kind scheme, kernel Kernel, h *hashes, valid []uint64) {
	var rows [128]string
	n, done := 0, 0
	for i := 0; i < k.n; i += 64 {
		switch word := valid[i/64]; k.layout {
		case byteSlices:
			for keys := elements[[]byte](k, k.n); word != 0; word &= word - 1 {
				key := keys[i+bits.TrailingZeros64(word)]
				rows[n%len(rows)] = unsafe.String(unsafe.SliceData(key), len(key))
				n++
			}
		case strs:
			for keys := elements[string](k, k.n); word != 0; word &= word - 1 {
				rows[n%len(rows)] = keys[i+bits.TrailingZeros64(word)]
				n++
			}
		case stringViews:
			for ; word != 0; word &= word - 1 {
				rows[n%len(rows)] = k.viewKey(i+bits.TrailingZeros64(word), true)
				n++
			}
		}
		for last := i+64 >= k.n; n >= 64 || last && n > 0; {
			some := min(n, 64)
			part, hashed := Strings(rows[:some]), h.slice(done, done+some)
			part.hashRows(kind, kernel, &hashed)
			copy(rows[:], rows[some:n])
			n, done = n-some, done+some
		}
	}
}
