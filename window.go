package bloom

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
)

// hash writes the hash of every row to h. Those of null rows mean nothing.
func (k *Keys) hash(kind scheme, kernel Kernel, h *hashes) {
	if k.isGathered() {
		k.hashGathered(kind, kernel, h)
	} else {
		k.hashRows(kind, kernel, h) // null rows, too: to leave them out takes longer
	}
}

// hashKeys writes the hashes of those rows of a window that are not null to h, and cuts h behind them. It has room
// for as many hashes as there are rows.
func (k *Keys) hashKeys(kind scheme, kernel Kernel, h *hashes) {
	if k.validity == nil {
		k.hash(kind, kernel, h)
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
		all.hash(kind, kernel, h)
	case keys < k.n/fewKeys:
		k.hashFew(kind, h, valid[:])
	case k.isGathered():
		k.gatherValid(kind, kernel, h, valid[:])
	default:
		k.hashRows(kind, kernel, h)
		h.pack(kernel, valid[:])
	}
	*h = h.slice(0, keys)
}

// hashFew writes the hashes of the valid rows to the start of h.
func (k *Keys) hashFew(kind scheme, h *hashes, valid []uint64) {
	n := 0
	for i, word := range valid {
		for ; word != 0; word &= word - 1 {
			h.set(n, k.hashRow(kind, 64*i+bits.TrailingZeros64(word)))
			n++
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

// hashRows is hash for rows that can all be read, null rows included. Kernels hash whole vectors of up to 16
// keys, and may stop before a long key: Go hashes the keys that they leave.
func (k *Keys) hashRows(kind scheme, kernel Kernel, h *hashes) {
	if k.hashed != noScheme {
		k.copyHashes(h)
		return
	}
	if kind == schemePebble && k.wholeWords() {
		kind = schemeLevelDB
	}
	n := h.len()
	done, ok := k.hashAssembly(kind, kernel, h)
	if !ok || done == 0 && n <= 16 {
		k.hashGeneric(kind, h)
		return
	}
	byGo := 16
	for done < n {
		rest, hashed := k.slice(done, n), h.slice(done, n)
		more, _ := rest.hashAssembly(kind, kernel, &hashed)
		if more > 0 {
			byGo = 16
		} else {
			more = min(n-done, byGo)
			byGo *= 2 // most keys are too long: do not ask for each 16
			hashed = hashed.slice(0, more)
			rest.hashGeneric(kind, &hashed)
		}
		done += more
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

// hashAssembly is hashRows in assembly. It hashes some of the first rows, perhaps none, and
// returns their number. It returns false if the kernel has no assembly for these rows, or if they are
// too few. By AVX2, Go hashes keys of bytes for Nori and Parquet, and most of them for Guava and bits-and-blooms.
func (k *Keys) hashAssembly(kind scheme, kernel Kernel, h *hashes) (done int, ok bool) {
	n, left := h.len(), 0
	layout, rows, stride, data := k.assemblyRows()
	integers := layout == uint32s || layout == uint64s
	if n < kind.leastKeys(kernel, integers) {
		return 0, false
	}
	if kind == schemeBitsAndBlooms || kind == schemeGuava {
		return murmurAssembly(kernel, layout, rows, stride, data, h)
	}
	if kernel == AVX512 && !integers {
		if layout == noLayout {
			return 0, false
		}
		done = hashByRows(kind, rows, stride, data, n, h)
		return done, done > 0
	}
	if kernel == AVX2 && kind == schemeRocksDB && !integers && !foursXXPH3.has(rows, stride, n) {
		return 0, false // Go takes less time for such keys
	}
	switch kind {
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
func hashByRows(kind scheme, rows *byte, stride int, data *byte, n int, h *hashes) (done int) {
	left := 0
	switch kind {
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

// rowLengths says which windows of keys AVX2 hashes four at a time: keys of least to most bytes, and of one length only from equal
// bytes on.
type rowLengths struct{ equal, least, most int }

// has reports whether n keys, at least 16, have such lengths. It asks three of them for their lengths, and
// one in fewKeys if these differ.
func (l rowLengths) has(rows *byte, stride, n int) bool {
	first, middle, last := rowLength(rows, stride, 0), rowLength(rows, stride, n/2), rowLength(rows, stride, n-1)
	longest, shortest := max(first, middle, last), min(first, middle, last)
	if longest == shortest {
		return l.equal <= first && first <= l.most
	}
	for i := fewKeys; i < n && l.least <= shortest && longest <= l.most; i += fewKeys {
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

// leastKeys returns the number of keys, integers or others, from which on the kernel hashes them: those of a vector or a group.
func (h scheme) leastKeys(kernel Kernel, integers bool) int {
	switch {
	case kernel == AVX512 || kernel == AVX2 && schemes[h].words != one32:
		return 16
	case kernel == AVX2 && !integers:
		return 32
	}
	return 8
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

// words is the number and the size of the words of a hash.
type words uint8

const (
	noWords words = iota
	one32         // a word of 32 bits
	one64         // a word of 64 bits
	two64         // two words of 64 bits
	four64        // four words of 64 bits
)

// bits returns how many bits the words have.
func (w words) bits() int {
	return [...]int{noWords: 0, one32: 32, one64: 64, two64: 128, four64: 256}[w]
}

// Hash is a key's hash. It serves every filter whose format has the same hash: hash a
// key once to query many filters. No filter tells keys apart whose hashes are equal by ==.
type Hash struct {
	// A hash of one or two words has hashMark in h3 and its kind in h4, and 0 in h2 if it has one word. There is
	// no field for the kind: the compiler keeps a struct of more than four fields or 32 bytes on the stack, and
	// then the queries of every format take up to 2.9 times as long.
	h1, h2, h3, h4 uint64
}

// hashMark tells hashes of one or two words from those of four. Nobody can choose a key whose third word is this
// one, because each process has another.
var hashMark = rand.Uint64() | 1

// shortHash returns a hash of one or two words.
func shortHash(h1, h2 uint64, kind scheme) Hash { return Hash{h1, h2, hashMark, uint64(kind)} }

func (f scheme) twoWords(h1, h2 uint64) Hash { return shortHash(h1, h2, f) }
func fourWords(h1, h2, h3, h4 uint64) Hash   { return Hash{h1, h2, h3, h4} }

// hash128 is the two words of a hash.
type hash128 struct{ h1, h2 uint64 }

// scheme returns whose hash it is: noScheme for the zero Hash.
func (h Hash) scheme() scheme {
	switch {
	case h.h3 == hashMark && h.h4 < uint64(len(schemes)):
		return scheme(h.h4)
	case h == Hash{}:
		return noScheme
	}
	return schemeBitsAndBlooms // the only one of four words
}

// Words returns the words of the hash in their order, and 0 for those that it does not have. A hash of 32 bits
// is one word.
func (h Hash) Words() [4]uint64 {
	switch schemes[h.scheme()].words {
	case one32, one64, two64:
		return [4]uint64{h.h1, h.h2}
	}
	return [4]uint64{h.h1, h.h2, h.h3, h.h4}
}

// hashes are the hashes of some keys, in slices for the words of their kind: h32, or h1,
// or h1 and h2, or h1 to h4. It is passed by reference, because a copy for each step would cost small
// batches as much as the rest does.
type hashes struct {
	h32            []uint32
	h1, h2, h3, h4 []uint64
}

// window has room for the hashes of a window of keys, and for the numbers of their bits. A buffer on the stack
// would be cleared for each column, which takes as long as to test a hundred keys. Go's allocator puts an object
// of this size at the start of a cache line: a vector that crosses the end of a line takes twice as long to store.
type window struct {
	memory [4 * windowKeys]uint64
	places [windowPlaces]uint32
}

var windows = sync.Pool{New: func() any { return new(window) }}

// takeWindow returns a window, with whatever its last user wrote to it. Whoever is done with it calls giveBack,
// but not after a panic: then nobody has it.
func takeWindow() *window { return windows.Get().(*window) }

func (w *window) giveBack() { windows.Put(w) }

// hashes returns room for the hashes of n keys, or of a window of them.
func (w *window) hashes(words words, n int) hashes {
	n = min(n, windowKeys)
	switch words {
	case one32:
		return hashes{h32: unsafe.Slice((*uint32)(unsafe.Pointer(&w.memory)), windowKeys)[:n]}
	case one64:
		return hashes{h1: w.memory[:n]}
	case two64:
		n = min(n, windowKeys128)
		return hashes{h1: w.memory[:n], h2: w.memory[windowKeys128:][:n]}
	case four64:
		n = min(n, windowKeys128)
		return hashes{
			h1: w.memory[:n], h2: w.memory[windowKeys128:][:n],
			h3: w.memory[windowKeys:][:n], h4: w.memory[windowKeys+windowKeys128:][:n],
		}
	}
	panic("bloom: no such hash")
}

func (h *hashes) len() int { return len(h.h32) + len(h.h1) }

// slice returns hashes i to j-1.
func (h *hashes) slice(i, j int) (s hashes) {
	if h.h32 != nil {
		return hashes{h32: h.h32[i:j]}
	}
	s.h1 = h.h1[i:j]
	if h.h2 != nil {
		s.h2 = h.h2[i:j]
	}
	if h.h3 != nil {
		s.h3, s.h4 = h.h3[i:j], h.h4[i:j]
	}
	return s
}

// at returns hash i, of the given kind.
func (h *hashes) at(i int, kind scheme) Hash {
	switch schemes[kind].words {
	case one32:
		return shortHash(uint64(h.h32[i]), 0, kind)
	case one64:
		return shortHash(h.h1[i], 0, kind)
	case four64:
		return h.at256(i)
	}
	return shortHash(h.h1[i], h.h2[i], kind)
}

// set writes hash i.
func (h *hashes) set(i int, hash Hash) {
	if h.h32 != nil {
		h.h32[i] = uint32(hash.h1)
		return
	}
	h.h1[i] = hash.h1
	if h.h2 != nil {
		h.h2[i] = hash.h2
	}
	if h.h3 != nil {
		h.h3[i], h.h4[i] = hash.h3, hash.h4
	}
}

// at256 and set256 are at and set for hashes of four words.

func (h *hashes) at256(i int) Hash { return Hash{h.h1[i], h.h2[i], h.h3[i], h.h4[i]} }

func (h *hashes) set256(i int, hash Hash) {
	h.h1[i], h.h2[i], h.h3[i], h.h4[i] = hash.h1, hash.h2, hash.h3, hash.h4
}
