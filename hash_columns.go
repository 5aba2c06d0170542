package bloom

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// Hashed hashes every row once with the hash function of f. It returns a column of these hashes with the same
// null rows. You can use the returned column with every filter whose format uses the same hash function. With
// other filters, queries and additions panic. Hashed panics if k is a column of hashes from a hash function
// that f does not use.
func (k Keys) Hashed(f Format) Keys { return k.hashedBy(kernels[0], f) }

func (k *Keys) hashedBy(kernel Kernel, f Format) Keys {
	k.mustServe(f)
	s := f.scheme()
	return k.hashedTo(make([]uint64, (k.n*schemes[s].words.bits()+63)/64), s, kernel)
}

// hashedTo is Hashed, with the hashes in memory, which must have room for them.
func (k *Keys) hashedTo(memory []uint64, s scheme, kernel Kernel) (h Keys) {
	switch p := unsafe.Pointer(unsafe.SliceData(memory)); schemes[s].words {
	case one32:
		words := unsafe.Slice((*uint32)(p), k.n)
		k.hashWindows(s, kernel, func(i, j int) hashes { return hashes{h32: words[i:j]} })
		h = columnOf(hashes32, words)
	case one64:
		k.hashWindows(s, kernel, func(i, j int) hashes { return hashes{h1: memory[i:j]} })
		h = columnOf(hashes64, memory[:k.n])
	case two64:
		words := unsafe.Slice((*hash128)(p), k.n)
		k.eachWindow(s, kernel, true, func(first int, h hashes) {
			for i, h1 := range h.h1 {
				words[first+i] = hash128{h1, h.h2[i]}
			}
		})
		h = columnOf(hashes128, words)
	case four64:
		words := unsafe.Slice((*Hash)(p), k.n)
		k.eachWindow(s, kernel, true, func(first int, h hashes) {
			for i := range h.len() {
				words[first+i] = h.at256(i)
			}
		})
		h = columnOf(hashes256, words)
	}
	h.hashed, h.validity, h.bit0 = s, k.validity, k.bit0
	return h
}

// AppendHashes32 hashes every row of a column with the hash function of f. It appends the 32-bit hashes to
// dst and returns the extended slice. For a null row, it appends 0. Each hash equals the first word that
// [Hash.Words] returns for the key. To make a column from such hashes, use [Format.Hashes32]. The part of dst
// that AppendHashes32 writes must not overlap the memory of the keys.
//
// AppendHashes32 panics if f does not use 32-bit hashes, or if keys is a column of hashes from a hash
// function that f does not use.
func (f Format) AppendHashes32(dst []uint32, keys Keys) []uint32 {
	return f.appendHashes32(kernels[0], dst, &keys)
}

func (f Format) appendHashes32(kernel Kernel, dst []uint32, keys *Keys) []uint32 {
	s := f.schemeOf(one32)
	keys.mustServe(f)
	dst, to := extend(dst, keys.n)
	keys.hashWindows(s, kernel, func(i, j int) hashes { return hashes{h32: to[i:j]} })
	clearNulls(keys, to)
	return dst
}

// AppendHashes64 is like [Format.AppendHashes32] but for formats that use 64-bit hashes. The hash of
// [Parquet] is XXH64 with seed 0. The hash of [RocksDB] is XXPH3, which differs from XXH3.
func (f Format) AppendHashes64(dst []uint64, keys Keys) []uint64 {
	return f.appendHashes64(kernels[0], dst, &keys)
}

func (f Format) appendHashes64(kernel Kernel, dst []uint64, keys *Keys) []uint64 {
	s := f.schemeOf(one64)
	keys.mustServe(f)
	dst, to := extend(dst, keys.n)
	keys.hashWindows(s, kernel, func(i, j int) hashes { return hashes{h1: to[i:j]} })
	clearNulls(keys, to)
	return dst
}

// extend returns dst with room for n more elements, and these.
func extend[E any](dst []E, n int) (extended, added []E) {
	extended = slices.Grow(dst, n)[:len(dst)+n]
	return extended, extended[len(dst):]
}

// clearNulls sets the hashes of null rows to 0.
func clearNulls[E uint32 | uint64](k *Keys, hashes []E) {
	if k.validity == nil {
		return
	}
	for i := 0; i < k.n; i += 64 {
		n := min(64, k.n-i)
		for null := ^k.valid(i, n) << (64 - n) >> (64 - n); null != 0; null &= null - 1 {
			hashes[i+bits.TrailingZeros64(null)] = 0
		}
	}
}

// hashWindows hashes a window of rows at a time. room(i, j) returns the memory for the hashes
// of rows i to j-1.
func (k *Keys) hashWindows(s scheme, kernel Kernel, room func(i, j int) hashes) {
	for i := 0; i < k.n; i += windowKeys {
		part := k.slice(i, min(i+windowKeys, k.n))
		h := room(i, i+part.n)
		part.hash(s, kernel, &h)
	}
}

// eachWindow hashes a window of rows at a time, and calls visit with the number of its first row and its hashes: without
// those of null rows, or with hashes for them that mean nothing.
func (k *Keys) eachWindow(s scheme, kernel Kernel, withNulls bool, visit func(first int, h hashes)) {
	w := takeWindow()
	room := w.hashes(schemes[s].words, k.n)
	for i := 0; i < k.n; i += room.len() {
		part := k.slice(i, min(i+room.len(), k.n))
		h := room.slice(0, part.n)
		if withNulls {
			part.hash(s, kernel, &h)
		} else {
			part.hashKeys(s, kernel, &h)
		}
		visit(i, h)
	}
	w.giveBack()
}

// Hashes32 returns a column of keys, given the 32-bit hash of each key in format f. Use it if the hashes have
// already been computed. For example, Badger computes [LevelDB] hashes. You can use the column with every
// filter whose format uses the same hash function. With other filters, queries and additions panic. Hashes32
// panics if f does not use 32-bit hashes.
func (f Format) Hashes32(hashes []uint32) Keys {
	return f.columnOfHashes(one32, columnOf(hashes32, hashes))
}

// Hashes64 is like [Format.Hashes32] but for formats that use 64-bit hashes.
func (f Format) Hashes64(hashes []uint64) Keys {
	return f.columnOfHashes(one64, columnOf(hashes64, hashes))
}

func (f Format) columnOfHashes(w hashWords, k Keys) Keys {
	k.hashed = f.schemeOf(w)
	return k
}

// schemeOf returns the scheme of the format, and panics if its hash has other words.
func (f Format) schemeOf(w hashWords) scheme {
	s := f.scheme()
	if schemes[s].words != w {
		panic(fmt.Sprintf("bloom: hashes of %d bits for the format %v, which has %s", w.bits(), f, schemes[s].hash))
	}
	return s
}

// mustServe panics if the column has hashes of another kind than the format's. Every function
// that takes a column calls it first, so that it panics on the goroutine of its caller.
func (k *Keys) mustServe(f Format) {
	if k.hashed != noScheme && k.hashed != f.scheme() {
		panic(fmt.Sprintf("bloom: the column was hashed by %s, but the format %v uses %s", schemes[k.hashed].hash, f, schemes[f.scheme()].hash))
	}
}

// hash writes the hash of every row to h. Those of null rows mean nothing.
func (k *Keys) hash(s scheme, kernel Kernel, h *hashes) {
	if k.isGathered() {
		k.hashGathered(s, kernel, h)
	} else {
		k.hashRows(s, kernel, h) // null rows, too: to leave them out takes longer
	}
}

// hashKeys writes the hashes of those rows of a window that are not null to h, and cuts h behind them. It has room
// for as many hashes as there are rows.
func (k *Keys) hashKeys(s scheme, kernel Kernel, h *hashes) {
	if k.validity == nil {
		k.hash(s, kernel, h)
		return
	}
	var valid [windowKeys / 64]uint64
	keys := 0
	for i := 0; i < k.n; i += 64 {
		valid[i/64] = k.valid(i, min(64, k.n-i))
		keys += bits.OnesCount64(valid[i/64])
	}
	switch {
	case keys == k.n:
		all := *k
		all.validity = nil
		all.hash(s, kernel, h)
	case keys < k.n/sparseRows:
		k.hashSparse(s, h, valid[:])
	case k.isGathered():
		k.gatherValid(s, kernel, h, valid[:])
	default:
		k.hashRows(s, kernel, h)
		h.pack(kernel, valid[:])
	}
	*h = h.slice(0, keys)
}

// hashSparse writes the hashes of the valid rows to the start of h.
func (k *Keys) hashSparse(s scheme, h *hashes, valid []uint64) {
	n := 0
	for i, word := range valid {
		for ; word != 0; word &= word - 1 {
			h.set(n, k.hashRow(s, 64*i+bits.TrailingZeros64(word)))
			n++
		}
	}
}

// gatherValid writes the hashes of the valid rows to the start of h. It is hashGathered without
// the null rows.
func (k *Keys) gatherValid(s scheme, kernel Kernel, h *hashes, valid []uint64) {
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
			part.hashRows(s, kernel, &hashed)
			copy(rows[:], rows[some:n])
			n, done = n-some, done+some
		}
	}
}

// pack moves the hashes of the valid rows to the front.
func (h *hashes) pack(kernel Kernel, valid []uint64) {
	pack(kernel, h.h32, valid)
	for _, words := range [...][]uint64{h.h1, h.h2, h.h3, h.h4} {
		pack(kernel, words, valid)
	}
}

// pack moves the words of the valid rows to the front.
func pack[E uint32 | uint64](kernel Kernel, words []E, valid []uint64) {
	i, n := packVectors(kernel, words, valid)
	for ; i < len(words); i++ {
		words[n] = words[i]
		n += int(valid[i/64] >> (i % 64) & 1)
	}
}

// packVectors is pack in assembly, for some of the first words. It returns how many words it looked at,
// and how many are left of them.
func packVectors[E uint32 | uint64](kernel Kernel, words []E, valid []uint64) (done, left int) {
	done = len(words) &^ 15
	if done == 0 {
		return 0, 0
	}
	ok := false
	if p := unsafe.Pointer(&words[0]); unsafe.Sizeof(words[0]) == 4 {
		left, ok = pack32(kernel, (*uint32)(p), &valid[0], done)
	} else {
		left, ok = pack64(kernel, (*uint64)(p), &valid[0], done)
	}
	if !ok {
		return 0, 0
	}
	return done, left
}

// isGathered reports whether the keys are gathered into strings before they are hashed: views,
// and null rows that may refer to memory that is not there.
func (k *Keys) isGathered() bool {
	return k.layout == stringViews || k.validity != nil && (k.layout == byteSlices || k.layout == strs)
}

// hashGathered is hash for a column that isGathered. It gathers and hashes 64 rows at a time, or more views.
// It has no function for rows, because rows that are written through a pointer escape: callers' keys could
// not be on the stack.
func (k *Keys) hashGathered(s scheme, kernel Kernel, h *hashes) {
	switch {
	case k.layout != stringViews:
	case k.n > 64:
		hashViews[[viewKeys]string](k, s, kernel, h)
		return
	default: // to clear the buffer of more would cost more than to hash so few views
		hashViews[[64]string](k, s, kernel, h)
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
		part.hashRows(s, kernel, &hashed)
	}
}

// hashViews is hashGathered for views, as many at a time as an R has room for. Its loop for columns without null
// rows calls nothing, and reads the second half of a header only if it must: viewKey takes 1.5 times as long.
func hashViews[R [64]string | [256]string](k *Keys, s scheme, kernel Kernel, h *hashes) {
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
		part.hashRows(s, kernel, &hashed)
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
