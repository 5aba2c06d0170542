package bloom

import (
	"encoding/binary"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
)

// hashRows is hash for rows that can all be read, null rows included. Kernels hash whole vectors of up to 16
// keys, and may stop before a long key: Go hashes the keys that they leave.
func (k *Keys) hashRows(s scheme, kernel Kernel, h *hashes) {
	if k.hashed != noScheme {
		k.copyHashes(h)
		return
	}
	if s == schemePebble && k.haveWholeWords() {
		s = schemeLevelDB
	}
	n := h.len()
	done, ok := k.hashAssembly(s, kernel, h)
	if !ok || done == 0 && n <= 16 {
		k.hashInGo(s, h)
		return
	}
	byGo := 16
	for done < n {
		rest, hashed := k.slice(done, n), h.slice(done, n)
		more, _ := rest.hashAssembly(s, kernel, &hashed)
		if more > 0 {
			byGo = 16
		} else {
			more = min(n-done, byGo)
			byGo *= 2 // most keys are too long: do not ask for each 16
			hashed = hashed.slice(0, more)
			rest.hashInGo(s, &hashed)
		}
		done += more
	}
}

// hashFew is hash by a kernel for fewer keys than vectorKeys, which are to be tested, or added. Kernels hash whole vectors, so it
// fills one up with the last key. h has room for vectorKeys hashes. It returns false if hash needs less time, or must hash the keys.
func (k *Keys) hashFew(s scheme, kernel Kernel, h *hashes, add bool) bool {
	if kernel != AVX512 || k.validity != nil {
		return false
	}
	switch k.layout {
	case uint64s:
		switch schemes[s].words {
		case one32:
			return false
		case one64:
			if k.n < filledKeys {
				return false
			}
		}
		return k.hashFilledIntegers(s, h)
	case byteSlices, strs:
		switch {
		case schemes[s].words == one32:
			return !add && hashByRows(s, (*byte)(k.column), int(elementSize[k.layout]), nil, k.n, h) == k.n
		case s == schemeRocksDB && k.n < filledKeys:
			return false
		}
		return k.hashFilledStrings(s, h)
	}
	return false
}

// hashFilledIntegers is hashFew for integers of 64 bits.
func (k *Keys) hashFilledIntegers(s scheme, h *hashes) bool {
	var rows [vectorKeys]uint64
	copy(rows[:], elements[uint64](k, k.n))
	full := Keys{layout: uint64s, n: vectorKeys, column: unsafe.Pointer(&rows)}
	h.resize(vectorKeys)
	done, _ := full.hashAssembly(s, AVX512, h)
	h.resize(k.n)
	return done == vectorKeys
}

// hashFilledStrings is hashFew for strings and slices of bytes.
func (k *Keys) hashFilledStrings(s scheme, h *hashes) bool {
	var rows [vectorKeys]string
	size, last := elementSize[k.layout], ""
	for i := range k.n {
		p, n := keyAt(unsafe.Add(k.column, uintptr(i)*size))
		last = unsafe.String((*byte)(p), n)
		rows[i%vectorKeys] = last
	}
	for i := k.n; i < vectorKeys; i++ {
		rows[i] = last
	}
	full := Keys{layout: strs, n: vectorKeys, column: unsafe.Pointer(&rows)}
	h.resize(vectorKeys)
	done, _ := full.hashAssembly(s, AVX512, h)
	h.resize(k.n)
	return done == vectorKeys
}

// keyAt returns the address and the length of the key of a header. The headers of slices and of strings both
// begin with these two.
func keyAt(header unsafe.Pointer) (p unsafe.Pointer, n int) {
	key := *(*string)(header)
	return unsafe.Pointer(unsafe.StringData(key)), len(key)
}

// hashInGo is hashRows in portable Go, for as many rows as h has room for.
func (k *Keys) hashInGo(s scheme, h *hashes) {
	if !k.isNarrow() {
		k.hashGeneric(s, h)
		return
	}
	for i := range h.len() {
		h.set(i, k.hashRow(s, i))
	}
}

// hashRow returns the hash of one row.
func (k *Keys) hashRow(s scheme, i int) Hash {
	from, to := 0, 0
	switch k.layout {
	case byteSlices:
		key := elements[[]byte](k, k.n)[i]
		return s.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	case strs:
		key := elements[string](k, k.n)[i]
		return s.hashKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	case uint8s:
		return s.hashKey(unsafe.Pointer(&elements[uint8](k, k.n)[i]), 1)
	case uint16s:
		var key [2]byte
		binary.LittleEndian.PutUint16(key[:], elements[uint16](k, k.n)[i])
		return s.hashKey(unsafe.Pointer(&key), len(key))
	case uint32s:
		var key [4]byte
		binary.LittleEndian.PutUint32(key[:], elements[uint32](k, k.n)[i])
		return s.hashKey(unsafe.Pointer(&key), len(key))
	case uint64s:
		return s.hashUint64(elements[uint64](k, k.n)[i])
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
		return s.hashKey(unsafe.Pointer(unsafe.StringData(key)), len(key))
	case hashes32:
		return shortHash(uint64(elements[uint32](k, k.n)[i]), 0, s)
	case hashes64:
		return shortHash(elements[uint64](k, k.n)[i], 0, s)
	case hashes128:
		h := elements[hash128](k, k.n)[i]
		return shortHash(h.h1, h.h2, s)
	case hashes256:
		return elements[Hash](k, k.n)[i]
	}
	key := k.data[from:to]
	return s.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// haveWholeWords reports whether the layout says that every row is a multiple of 4 bytes long.
// Then hashRows takes LevelDB's hash, which is the same.
func (k *Keys) haveWholeWords() bool {
	return k.layout == uint32s || k.layout == uint64s || k.layout == fixedWidth && k.width%4 == 0
}

// copyHashes is hashRows for a column of hashes.
func (k *Keys) copyHashes(h *hashes) {
	switch k.layout {
	case hashes32:
		copy(h.h32, elements[uint32](k, len(h.h32)))
	case hashes64:
		copy(h.h1, elements[uint64](k, len(h.h1)))
	case hashes128:
		h1, h2 := h.h1, h.h2[:len(h.h1)]
		for i, pair := range elements[hash128](k, len(h1)) {
			h1[i], h2[i] = pair.h1, pair.h2
		}
	case hashes256:
		for i, hash := range elements[Hash](k, len(h.h1)) {
			h.set256(i, hash)
		}
	}
}

// ownHashes returns the hashes of a column of hashes of one 64-bit word, if kernels may read
// them where they are. Kernels read on to a multiple of 16 hashes. Otherwise it returns nil.
func (k *Keys) ownHashes() []uint64 {
	if k.layout != hashes64 || k.n%16 != 0 {
		return nil
	}
	return elements[uint64](k, k.n)
}

// hashAssembly is hashRows in assembly. It hashes some of the first rows, perhaps none, and
// returns their number. It returns false if the kernel has no assembly for these rows, or if they are
// too few. By AVX2, Go hashes keys of bytes for Nori and Parquet, and most of them for Guava and bits-and-blooms.
func (k *Keys) hashAssembly(s scheme, kernel Kernel, h *hashes) (done int, ok bool) {
	n, left := h.len(), 0
	layout, rows, stride, data := k.assemblyRows()
	integers := layout == uint32s || layout == uint64s
	if n < s.leastKeys(kernel, integers) {
		return 0, false
	}
	if s == schemeBitsAndBlooms || s == schemeGuava {
		return murmurAssembly(kernel, layout, rows, stride, data, h)
	}
	if kernel == AVX512 && !integers {
		if layout == noLayout {
			return 0, false
		}
		done = hashByRows(s, rows, stride, data, n, h)
		return done, done > 0
	}
	if kernel == AVX2 && s == schemeRocksDB && !integers && !foursXXPH3.has(rows, stride, n) {
		return 0, false // Go takes less time for such keys
	}
	switch s {
	case schemeLevelDB:
		left, ok = hash32(kernel, layout, rows, stride, data, n, &h.h32[0], keyhash.UnsignedBytes)
	case schemePebble:
		left, ok = hash32(kernel, layout, rows, stride, data, n, &h.h32[0], keyhash.SignedBytes)
	case schemeNori:
		_, _ = xxh64(kernel, layout, rows, stride, data, n, &h.h2[0], 1)
		left, ok = xxh64(kernel, layout, rows, stride, data, n, &h.h1[0], 0)
	case schemeParquet:
		left, ok = xxh64(kernel, layout, rows, stride, data, n, &h.h1[0], 0)
	case schemeRocksDB:
		left, ok = xxph3(kernel, layout, rows, stride, data, n, &h.h1[0])
	}
	if !ok {
		return 0, false
	}
	return n - left, true
}

// murmurAssembly is hashAssembly for both murmur hashes: AVX2 has them for integers and keys of 16 bytes.
func murmurAssembly(kernel Kernel, layout layout, rows *byte, stride int, data *byte, h *hashes) (done int, ok bool) {
	n, left := h.len(), 0
	switch {
	case layout == noLayout:
		return 0, false
	case layout == uint64s || stride == -16:
		left, ok = murmur(kernel, layout, rows, stride, data, n, h)
	default:
		if layout == uint32s {
			stride = -4 // keys of one width
		}
		left, ok = murmurRows(kernel, rows, stride, data, n, h)
	}
	if !ok {
		return 0, false
	}
	return n - left, true
}

// hashByRows hashes the first of n rows with AVX-512 and returns how many: it loads the bytes of each key and transposes them.
// LevelDB's hash ends at a key of rowsLimit bytes or more.
func hashByRows(s scheme, rows *byte, stride int, data *byte, n int, h *hashes) (done int) {
	left := 0
	switch s {
	case schemeLevelDB:
		left, _ = hash32Rows(AVX512, rows, stride, data, n, &h.h32[0], keyhash.UnsignedBytes)
	case schemePebble:
		left, _ = hash32Rows(AVX512, rows, stride, data, n, &h.h32[0], keyhash.SignedBytes)
	case schemeParquet:
		left, _ = xxh64Rows(AVX512, rows, stride, data, n, &h.h1[0], &h.h1[0])
	case schemeNori:
		left, _ = xxh64Rows(AVX512, rows, stride, data, n, &h.h1[0], &h.h2[0])
	case schemeRocksDB:
		left, _ = xxph3Rows(AVX512, rows, stride, data, n, &h.h1[0])
	default:
		return 0 // murmur has kernels of its own
	}
	return n - left
}

// assemblyRows returns the rows as kernels take them: their layout, the first one, and the data that
// offsets point into. The stride is the size of a header or of an offset. For keys of one width, rows is the
// first key, and the stride is -width. Keys of 4 or 8 bytes become integers. The layout is noLayout if Go must
// hash the rows, because the keys are long.
func (k *Keys) assemblyRows() (l layout, rows *byte, stride int, data *byte) {
	data = unsafe.SliceData(k.data)
	if k.isNarrow() { // no big-endian machine has kernels
		return fixedWidth, (*byte)(k.column), -int(elementSize[k.layout]), nil
	}
	if k.layout != fixedWidth {
		return k.layout, (*byte)(k.column), int(elementSize[k.layout]), data
	}
	l = fixedWidth
	switch {
	case k.width == 4:
		l = uint32s
	case k.width == 8:
		l = uint64s
	case k.width >= longKey:
		l = noLayout
	}
	return l, data, -k.width, nil
}

// leastKeys returns the number of keys, integers or others, from which on the kernel hashes them: those of a vector or a group.
func (s scheme) leastKeys(kernel Kernel, integers bool) int {
	switch {
	case kernel == AVX512 || kernel == AVX2 && schemes[s].words != one32:
		return 16
	case kernel == AVX2 && !integers:
		return 32
	}
	return 8
}

// rowLengths says which windows of keys AVX2 hashes four at a time: keys of least to most bytes, and of one length only from equal
// bytes on.
type rowLengths struct{ equal, least, most int }

// foursXXPH3 says which keys AVX2 hashes four at a time: the others take less time in Go.
var foursXXPH3 = rowLengths{equal: 17, least: 8, most: 128}

// has reports whether n keys, at least 16, have such lengths. It asks three of them for their lengths, and
// one in sparseRows if these differ.
func (l rowLengths) has(rows *byte, stride, n int) bool {
	first, middle, last := rowLength(rows, stride, 0), rowLength(rows, stride, n/2), rowLength(rows, stride, n-1)
	longest, shortest := max(first, middle, last), min(first, middle, last)
	if longest == shortest {
		return l.equal <= first && first <= l.most
	}
	for i := sparseRows; i < n && l.least <= shortest && longest <= l.most; i += sparseRows {
		length := rowLength(rows, stride, i)
		longest, shortest = max(longest, length), min(shortest, length)
	}
	return l.least <= shortest && longest <= l.most
}

// rowLength returns the number of bytes of a row, as assemblyRows describes the rows.
func rowLength(rows *byte, stride, i int) int {
	if stride < 0 {
		return -stride
	}
	switch p := unsafe.Add(unsafe.Pointer(rows), i*stride); stride {
	case int(elementSize[byteSlices]), int(elementSize[strs]):
		return len(*(*string)(p)) // a slice begins as a string does
	case int(elementSize[offsets32]):
		return int(*(*int32)(unsafe.Add(p, stride)) - *(*int32)(p))
	default:
		return int(*(*int64)(unsafe.Add(p, stride)) - *(*int64)(p))
	}
}
