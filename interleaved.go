package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
)

// Interleaved stores many filters of one shape and queries them together. Filters of one shape have the same
// format, number of bits and number of probes. An Interleaved stores bit 0 of all filters, then bit 1 of all
// filters, and so on. Bit slice p consists of bit p of every filter. A key maps to the same k bits in every
// filter, so the AND of these k bit slices answers a query for all filters. A query loads one bit for each
// filter and probe, whereas a [Group] loads a cache line for each filter. For about 64 filters or more, an
// Interleaved is many times as fast as a Group. For fewer filters, or for filters of different sizes, use a
// Group.
//
// The bits of each filter are spread over all slices, so storing a single filter with [Interleaved.Put] takes
// about 100 times as long as copying the bytes of the filter. Storing 64 filters with one call takes little
// longer than storing one.
//
// An Interleaved is safe for concurrent queries while no goroutine changes it. The zero Interleaved has no
// filters and no room for filters.
type Interleaved struct {
	unstored // as text: WriteTo writes the file
	interleaving
	labels Labels
	slices []byte
	shared bool   // the slices are the caller's bytes, which Put does not write to
	seed   uint32 // of the checksums in shared slices
}

// interleaving is the shape of the filters, and where their bits lie.
type interleaving struct {
	empty   view   // a filter of the shape, without keys
	bits    uint64 // of a filter
	depth   uint64 // the number of slices: as many as bits, but for BitsAndBlooms a multiple of 64
	filters int
	room    int // filters that a slice has room for
	stride  int // bytes from slice to slice: a multiple of 8
}

// Labels holds the metadata of a file of interleaved filters, and the label and the number of keys of each
// filter. Filters are numbered from 0.
type Labels struct {
	unstored

	keys     []uint64 // of each filter, or unknownKeys; nil if none is known
	labels   []string // nil if there is none
	metadata []byte
}

// KeyCount returns the number of keys in filter i, and whether this number is known (see [Filter.KeyCount]).
func (x *Interleaved) KeyCount(i int) (n uint64, known bool) { return x.labels.KeyCount(i) }

// Label returns the label of filter i, or an empty string if the filter has no label.
func (x *Interleaved) Label(i int) string { return x.labels.Label(i) }

// Metadata returns the metadata that was set with [Interleaved.SetMetadata] or read from a file. Do not
// modify it.
func (x *Interleaved) Metadata() []byte { return x.labels.metadata }

// KeyCount returns the number of keys in filter i, and whether this number is known (see [Filter.KeyCount]).
func (c *Labels) KeyCount(i int) (n uint64, known bool) {
	if c.keys == nil || c.keys[i] == unknownKeys {
		return 0, false
	}
	return c.keys[i], true
}

// Label returns the label of filter i, or an empty string if the filter has no label.
func (c *Labels) Label(i int) string {
	if c.labels == nil {
		return ""
	}
	return c.labels[i]
}

// Metadata returns the metadata of the file. Do not modify it.
func (c *Labels) Metadata() []byte { return c.metadata }

// NewInterleaved returns an [Interleaved] with the given number of filters, all empty. The filters have the
// shape of a set that [Policy.NewFoldable] returns for maxKeys. [Interleaved.Put] can fold some larger
// filters to this shape. For example, it can fold the filter of a set that NewFoldable returned for 2, 4 or 8
// times maxKeys at the same number of bits per key, unless the filter is very small. [Pebble] filters, which
// cannot be folded, have the shape of a set that [Policy.NewSet] returns for maxKeys. The kind of the keys is
// unknown. To copy the kind from an example filter, use the function [NewInterleaved].
//
// The error is [ErrFormat] if the format is unknown. It is [ErrCapacity] if filters or maxKeys is negative,
// or if one filter would be larger than the format allows. It is also ErrCapacity if filters is more than
// 2^37, or if the bit slices would need more than 2^40 bytes. Where int has 32 bits, these limits are 2^27
// and 2^30.
func (p Policy) NewInterleaved(filters, maxKeys int) (*Interleaved, error) {
	s, err := p.NewFoldable(maxKeys)
	if errors.Is(err, ErrShape) {
		s, err = p.NewSet(maxKeys)
	}
	if err != nil {
		return nil, err
	}
	return s.newInterleaved(filters)
}

// NewInterleaved returns an [Interleaved] with the given number of filters, all empty. The first argument is
// an example filter. The new filters have the shape, the kernel and the kind of keys of the example, but do
// not include the example itself.
//
// The error is [ErrShape] if the example answers without testing bits, or if this library does not build
// filters of its shape. For example, this library does not build filters with the longer lines that some
// versions of RocksDB wrote, or [BitsAndBlooms] filters whose probes reach beyond the stored bits. The error
// is [ErrCapacity] if filters is negative or more than 2^37, or if the bit slices would need more than 2^40
// bytes. Where int has 32 bits, these limits are 2^27 and 2^30.
func NewInterleaved(like *Filter, filters int) (*Interleaved, error) {
	_, s := like.encoded()
	var empty view
	err := ErrShape
	if like.scheme != 0 && !like.storesFewer() { // the header of one that does can claim any number of bits
		empty, err = like.format.emptyView(s)
	}
	if err != nil || empty.N != like.N {
		return nil, fmt.Errorf("%w: filters of %v with %d bits and %d probes cannot be interleaved", ErrShape, like.format, s.Bits, s.Probes)
	}
	empty.kind = like.kind
	empty.setKernel(like.kernel)
	return empty.newInterleaved(filters)
}

// mostFilters is the largest number of filters: their numbers of keys take mostBytes.
const mostFilters = mostBytes / 8

// newInterleaved returns room for filters of the shape of v, which is empty.
func (v *view) newInterleaved(filters int) (*Interleaved, error) {
	_, s := v.encoded()
	x := &Interleaved{interleaving: interleaving{empty: *v, bits: s.Bits, depth: v.scheme.depth(s.Bits), filters: filters}}
	x.empty.count = nil
	if filters < 0 || filters > mostFilters {
		return nil, fmt.Errorf("%w: %d filters", ErrCapacity, filters)
	}
	x.stride = strideOf(filters)
	x.room = 8 * (x.stride - sliceSum)
	hi, size := bits.Mul64(x.depth, uint64(x.stride))
	if hi != 0 || size > mostBytes {
		return nil, fmt.Errorf("%w: %d filters of %d bits", ErrCapacity, filters, x.bits)
	}
	x.slices = memory.Aligned(0, int(size))
	x.labels.keys = make([]uint64, filters)
	return x, nil
}

// depth returns the number of slices of filters of the given bits, a few more than 2^63 at most. Bits in words of 64 are numbered by
// words, so the last word counts whole.
func (s scheme) depth(bits uint64) uint64 {
	if word := schemes[s].word; word > 8 {
		return (bits-1)/word*word + word
	}
	return bits
}

// sliceSum is the number of bytes at the end of each slice that are its checksum in a file.
const sliceSum = 4

// strideOf returns the bytes from slice to slice that a number of filters needs at least. Slices of a multiple of 4 KiB would
// share the few sets of a cache that such addresses have.
func strideOf(filters int) int {
	n := (filters+7)/8 + sliceSum
	if n <= 1024 {
		return (n + 7) &^ 7
	}
	if n = (n + 63) &^ 63; n%4096 == 0 {
		n += 64
	}
	return n
}

// Len returns the number of filters.
func (x *interleaving) Len() int { return x.filters }

// Empty returns an empty filter with the same shape and kind of keys as the filters of x.
func (x *interleaving) Empty() *Filter {
	f := &Filter{x.empty}
	f.count = new(keyCount)
	return f
}

// SetLabel sets the label of filter i, such as the name of a file. It panics if there is no filter i.
func (x *Interleaved) SetLabel(i int, label string) {
	if x.labels.labels == nil {
		x.labels.labels = make([]string, x.filters)
	}
	x.labels.labels[i] = label
}

// SetMetadata sets the metadata that [Interleaved.WriteTo] writes to the file. The metadata can be any bytes.
// SetMetadata does not copy data.
func (x *Interleaved) SetMetadata(data []byte) { x.labels.metadata = data }

// Put stores the given filters at positions first, first+1 and so on. It can replace existing filters and
// add new filters after the last one. There is room for at least as many filters as x was created for. If
// first is greater than x.Len(), the filters in between are empty. Put copies the bits, so later changes to
// a set have no effect on x. A call without filters changes nothing.
//
// Put folds a filter that is larger than the filters of x (see [Set.Fold]). It also accepts a filter for
// which every key is a hit, and a filter for which no key is a hit. In x, these filters still give the same
// answers. Put stores the number of keys of each filter, but no label. To set a label, call
// [Interleaved.SetLabel].
//
// The error is [ErrShape] if a filter is nil, or differs from the filters of x in its hash function, in the
// bits that a hash selects, or in its number of probes. It is also ErrShape if the number of bits in a filter
// is not a multiple of the number of bits in each filter of x. The error is [ErrKind] if the keys of a filter
// are known to be of a different kind, and [ErrCapacity] if there is no room. On error, x does not change.
func (x *Interleaved) Put(first int, filters ...*Filter) error {
	if room := min(x.room, mostFilters); first < 0 || first > room-len(filters) {
		return fmt.Errorf("%w: %d filters at number %d, where there is room for %d in all", ErrCapacity, len(filters), first, room)
	}
	if len(filters) == 0 {
		return nil
	}
	kind := x.empty.kind
	for i, f := range filters {
		if err := x.checkFilter(f); err != nil {
			return fmt.Errorf("filter %d: %w", i, err)
		}
		if _, err := kind.and(f.kind); err != nil {
			return fmt.Errorf("filter %d: %w", i, err)
		}
	}
	x.grow(first + len(filters))
	for i, f := range filters {
		keys, known := f.KeyCount()
		if !known {
			keys = unknownKeys
		}
		x.labels.keys[first+i] = keys
	}
	for len(filters) > 0 {
		n := min(len(filters), columnsAtOnce-first%64)
		x.put(first, filters[:n])
		first, filters = first+n, filters[n:]
	}
	return nil
}

// checkFilter returns ErrShape if a filter cannot be put in.
func (x *interleaving) checkFilter(f *Filter) error {
	if f == nil || f.scheme == 0 {
		return fmt.Errorf("%w: it has no format", ErrShape)
	}
	_, s := f.encoded()
	switch {
	case f.storesFewer():
		return fmt.Errorf("%w: it stores fewer than its %d bits", ErrShape, s.Bits)
	case f.scheme != x.empty.scheme:
		return fmt.Errorf("%w: it has the format %v, and the others have %v", ErrShape, f.format, x.empty.format)
	case s.Bits == 0 || s.Probes == 0: // it answers without testing bits
		return nil
	case s.Probes == x.empty.K && (s.Bits == x.bits && f.N == x.empty.N || x.folds(s.Bits)):
		return nil
	}
	return fmt.Errorf("%w: it has %d bits and %d probes, and the others have %d bits and %d probes", ErrShape, s.Bits, s.Probes, x.bits, x.empty.K)
}

// folds reports whether filters of the given bits can be folded to the filters here.
func (x *interleaving) folds(bits uint64) bool {
	unit := schemes[x.empty.scheme].unit
	return unit != 0 && x.bits%unit == 0 && bits%x.bits == 0
}

// grow makes room for the slices and labels of more filters, in memory that may be written to.
func (x *Interleaved) grow(filters int) {
	if x.shared {
		from := x.slices
		x.slices, x.shared = memory.Aligned(0, len(from)), false
		for at := 0; at < len(from); at += x.stride { // without the bits that a file may have past the last filter
			to := x.slices[at:][:(x.filters+7)/8]
			copy(to, from[at:])
			if odd := x.filters % 8; odd != 0 {
				to[x.filters/8] &= 1<<odd - 1
			}
		}
	}
	more := max(filters-x.filters, 0)
	c := &x.labels
	if c.keys == nil {
		c.keys = slices.Repeat([]uint64{unknownKeys}, x.filters)
	}
	c.keys = append(c.keys, make([]uint64, more)...)
	if c.labels != nil {
		c.labels = append(c.labels, make([]string, more)...)
	}
	x.filters += more
}

// put is Put for filters whose slices are in at most columnsAtOnce/64 words.
func (x *Interleaved) put(first int, filters []*Filter) {
	var columns [columnsAtOnce][]byte // nil for those that stay
	for i, f := range filters {
		columns[first%64+i] = x.columnOf(f)
	}
	words := (first%64 + len(filters) + 63) / 64
	var masks [columnsAtOnce / 64]uint64
	for i := range filters {
		masks[(first%64+i)/64] |= 1 << ((first + i) % 64)
	}
	size := (int(x.depth) + 7) / 8
	var tile [64]uint64
	for at := 0; at < size; at += 8 {
		rows := min(64, int(x.depth)-8*at)
		to := x.slices[8*at*x.stride:][first/64*8:]
		for w := range words {
			gather(&tile, columns[64*w:], at)
			x.transpose(&tile)
			for i := range rows {
				word := to[i*x.stride+8*w:]
				if masks[w] == ^uint64(0) {
					binary.LittleEndian.PutUint64(word, tile[i])
				} else {
					binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)&^masks[w]|tile[i])
				}
			}
		}
	}
}

// columnOf returns the bits of a filter that checkFilter has accepted: its own, or as many of those here.
func (x *interleaving) columnOf(f *Filter) []byte {
	array, s := f.still().encoded()
	none, _ := x.empty.encoded()
	switch {
	case s.Bits == 0:
		return none
	case s.Probes == 0:
		return slices.Repeat([]byte{0xff}, len(none))
	case s.Bits == x.bits:
		return array
	}
	folded := make([]byte, len(none))
	x.empty.scheme.fold(folded, array)
	return folded
}

// gather loads the word at a byte of each of 64 columns. A column may be nil, or end inside the word.
func gather(tile *[64]uint64, columns [][]byte, at int) {
	for i, column := range columns[:64] {
		switch {
		case len(column) >= at+8:
			tile[i] = binary.LittleEndian.Uint64(column[at:])
		case len(column) > at:
			var last [8]byte
			copy(last[:], column[at:])
			tile[i] = binary.LittleEndian.Uint64(last[:])
		default:
			tile[i] = 0
		}
	}
}

// transpose swaps bit j of word i with bit i of word j, for all i and j.
func (x *interleaving) transpose(tile *[64]uint64) {
	if !transposeTile(x.empty.kernel, &tile[0]) {
		transposeGeneric(tile)
	}
}

// transposeGeneric is transpose in portable Go. It swaps halves of the tile, then halves of these, and so on; two such steps at a
// time, of four words.
func transposeGeneric(tile *[64]uint64) {
	for i := range 16 {
		a, b, c, d := tile[i], tile[i+16], tile[i+32], tile[i+48]
		a, c = exchange(a, c, 32, 1<<32-1)
		b, d = exchange(b, d, 32, 1<<32-1)
		a, b = exchange(a, b, 16, 0x0000ffff0000ffff)
		c, d = exchange(c, d, 16, 0x0000ffff0000ffff)
		tile[i], tile[i+16], tile[i+32], tile[i+48] = a, b, c, d
	}
	for i := range 16 {
		part := (*[13]uint64)(tile[i/4*16+i%4:])
		a, b, c, d := part[0], part[4], part[8], part[12]
		a, c = exchange(a, c, 8, 0x00ff00ff00ff00ff)
		b, d = exchange(b, d, 8, 0x00ff00ff00ff00ff)
		a, b = exchange(a, b, 4, 0x0f0f0f0f0f0f0f0f)
		c, d = exchange(c, d, 4, 0x0f0f0f0f0f0f0f0f)
		part[0], part[4], part[8], part[12] = a, b, c, d
	}
	for i := 0; i < 64; i += 4 {
		part := (*[4]uint64)(tile[i:])
		a, b, c, d := part[0], part[1], part[2], part[3]
		a, c = exchange(a, c, 2, 0x3333333333333333)
		b, d = exchange(b, d, 2, 0x3333333333333333)
		a, b = exchange(a, b, 1, 0x5555555555555555)
		c, d = exchange(c, d, 1, 0x5555555555555555)
		part[0], part[1], part[2], part[3] = a, b, c, d
	}
}

// exchange swaps the bits of a that are n places above those of mask with the bits of mask of b. It is inlined, with constants.
//
//gcassert:inline
func exchange(a, b uint64, n uint, mask uint64) (uint64, uint64) {
	swap := (a>>n ^ b) & mask
	return a ^ swap<<n, b ^ swap
}

// Filter returns a copy of filter i. It panics if there is no filter i.
func (x *Interleaved) Filter(i int) *Filter {
	if uint(i) >= uint(x.filters) {
		panic(fmt.Sprintf("bloom: filter %d of %d", i, x.filters))
	}
	v := x.empty
	v.data = slices.Clone(v.data)
	v.Array, _ = v.format.decode(v.data) // no error: it was opened
	v.setKernel(v.kernel)
	keys, known := x.KeyCount(i)
	v.count = &keyCount{n: keys, unknown: !known}
	column, _ := v.encoded()
	var tile [64]uint64
	for p := 0; p < int(x.depth) && p/8 < len(column); p += 64 {
		from, rows := x.slices[p*x.stride:][i/64*8:], min(64, int(x.depth)-p)
		for j := range rows {
			tile[j] = binary.LittleEndian.Uint64(from[j*x.stride:])
		}
		clear(tile[rows:])
		x.transpose(&tile)
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], tile[i%64])
		copy(column[p/8:], bytes[:])
	}
	return &Filter{v}
}

// MayContain tests a key in every filter and returns the number of hits. It sets bit i%64 of hits[i/64] if
// filter i may contain the key, and clears it otherwise. MayContain writes the first (x.Len()+63)/64 words of
// hits, and clears the bits past the last filter. It panics if hits is too short.
func (x *Interleaved) MayContain(key []byte, hits []uint64) int {
	h := Hash{}
	if x.empty.scheme != 0 {
		h = x.empty.scheme.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
	return x.MayContainHash(h, hits)
}

// MayContainHash is like [Interleaved.MayContain] for the key whose [Hash] is h. It panics if h was not
// computed with the hash function of the filters.
func (x *Interleaved) MayContainHash(h Hash, hits []uint64) int {
	if hits = x.words(h, hits); len(hits) == 0 {
		return 0
	}
	return x.and(h, hits)
}

// words returns the words of hits that the answer for a hash takes. It panics if there are too few, or if the hash is another
// format's.
func (x *interleaving) words(h Hash, hits []uint64) []uint64 {
	words := (x.filters + 63) / 64
	if len(hits) < words {
		panic(fmt.Sprintf("bloom: %d words for the bits of %d filters, which need %d: (x.Len()+63)/64", len(hits), x.filters, words))
	}
	if x.empty.scheme != 0 && !x.empty.scheme.made(h) {
		x.empty.otherHash(h)
	}
	return hits[:words]
}

// and leaves the AND of the slices of a hash in hits, at least a word, and returns the number of set bits.
func (x *Interleaved) and(h Hash, hits []uint64) int {
	var from [8]*byte
	x.locate(h, &from)
	total := x.and8(hits, &from)
	for done := len(from); done < x.empty.K; done += len(from) - 1 { // 7 more, and hits
		from[0] = (*byte)(unsafe.Pointer(&hits[0]))
		x.locateFrom(done, h, from[1:])
		total = x.and8(hits, &from)
	}
	return x.finish(hits, total)
}

// locate sets from to the first 8 slices of a hash. If there are fewer, the last is repeated.
func (x *Interleaved) locate(h Hash, from *[8]*byte) {
	base, stride := unsafe.Pointer(unsafe.SliceData(x.slices)), uint64(x.stride)
	switch x.empty.scheme {
	case schemeParquet: // one by one: Go would copy an array by loads of two addresses, which wait for their stores
		block, low := unsafe.Add(base, 256*(*probes.Parquet)(&x.empty.Array).Block(h.h1)*stride), uint32(h.h1)
		from[0] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt0>>27)))
		from[1] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt1>>27+32)))
		from[2] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt2>>27+64)))
		from[3] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt3>>27+96)))
		from[4] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt4>>27+128)))
		from[5] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt5>>27+160)))
		from[6] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt6>>27+192)))
		from[7] = (*byte)(unsafe.Add(block, stride*uint64(low*probes.ParquetSalt7>>27+224)))
	case schemeRocksDB:
		const (
			mul2 = probes.RocksDBMul * probes.RocksDBMul & math.MaxUint32
			mul3 = probes.RocksDBMul * mul2 & math.MaxUint32
			mul4 = probes.RocksDBMul * mul3 & math.MaxUint32
			mul5 = probes.RocksDBMul * mul4 & math.MaxUint32
			mul6 = probes.RocksDBMul * mul5 & math.MaxUint32
			mul7 = probes.RocksDBMul * mul6 & math.MaxUint32
		)
		line, bit := unsafe.Add(base, 512*(*probes.RocksDB)(&x.empty.Array).Line(h.h1)*stride), uint32(h.h1>>32)
		from[0] = (*byte)(unsafe.Add(line, stride*uint64(bit>>23)))
		from[1] = (*byte)(unsafe.Add(line, stride*uint64(bit*probes.RocksDBMul>>23)))
		from[2] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul2>>23)))
		from[3] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul3>>23)))
		from[4] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul4>>23)))
		from[5] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul5>>23)))
		from[6] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul6>>23)))
		from[7] = (*byte)(unsafe.Add(line, stride*uint64(bit*mul7>>23)))
		for i := x.empty.K; i < len(from); i++ {
			from[i] = from[0]
		}
	default:
		x.locateFrom(0, h, from[:])
	}
}

// locateFrom sets to, of at most 8, to the slices of a hash from a probe on. If there are fewer, the last is repeated.
func (x *Interleaved) locateFrom(probe int, h Hash, to []*byte) {
	var at [8]uint64
	n := min(len(to), x.empty.K-probe)
	x.empty.probes(h, probe, at[:n])
	for i := range to {
		to[i] = &x.slices[at[min(i, n-1)]*uint64(x.stride)]
	}
}

// request requests the first lines of the slices of a row, if there is such a row. All of them are read soon. Near slices, and
// short ones, are not worth it.
func (x *Interleaved) request(k *Keys, i int) {
	if i >= k.n || len(x.slices) < farBytes || x.stride < sliceLines*memory.CacheLine || k.valid(i, 1) == 0 {
		return
	}
	var from [8]*byte
	x.locate(k.hashRow(k.hashed, i), &from)
	requestSlices(x.empty.kernel, &from[0])
}

// and8 leaves the AND of 8 slices, one of them perhaps hits, in hits, and returns the number of set bits. The bytes of hits are
// then in the order of those of slices, whatever the machine.
func (x *interleaving) and8(hits []uint64, from *[8]*byte) (total int) {
	total, ok := andSlices(x.empty.kernel, &hits[0], &from[0], len(hits))
	if !ok {
		total = and8Generic(hits, from)
	}
	return total
}

// and8Generic is and8 in portable Go.
func and8Generic(hits []uint64, from *[8]*byte) (total int) {
	p0, p1, p2, p3 := unsafe.Pointer(from[0]), unsafe.Pointer(from[1]), unsafe.Pointer(from[2]), unsafe.Pointer(from[3])
	p4, p5, p6, p7 := unsafe.Pointer(from[4]), unsafe.Pointer(from[5]), unsafe.Pointer(from[6]), unsafe.Pointer(from[7])
	for i := range hits {
		word := nativeWord(p0, i) & nativeWord(p1, i) & nativeWord(p2, i) & nativeWord(p3, i) &
			nativeWord(p4, i) & nativeWord(p5, i) & nativeWord(p6, i) & nativeWord(p7, i)
		hits[i] = word
		total += bits.OnesCount64(word)
	}
	return total
}

// nativeWord returns word i of a slice, in the machine's order of bytes.
func nativeWord(slice unsafe.Pointer, i int) uint64 {
	return binary.NativeEndian.Uint64((*[8]byte)(unsafe.Add(slice, 8*i))[:])
}

// finish turns what and8 left, with total set bits, into words. It clears the bits past the last filter, and returns the
// number of the others.
func (x *interleaving) finish(hits []uint64, total int) int {
	if bigEndian {
		for i, word := range hits {
			hits[i] = bits.ReverseBytes64(word)
		}
	}
	if odd := x.filters % 64; odd != 0 {
		last := &hits[len(hits)-1]
		total -= bits.OnesCount64(*last >> odd)
		*last &= 1<<odd - 1
	}
	return total
}

// MayContainBatch tests every key of a column in every filter and returns the number of hits. The hits of
// filter i are in hits[i*w:(i+1)*w], where w is (keys.Len()+63)/64 (see [Group.MayContainBatch]).
// [Interleaved.Hits] reports the same hits, one key at a time, and is faster.
//
// MayContainBatch allocates up to 64 bytes for each filter. It panics if hits is too short, or if keys is a
// column of hashes from a hash function that the filters do not use.
func (x *Interleaved) MayContainBatch(keys Keys, hits []uint64) int {
	n, _ := x.eachWindow(keys, hits, columnsAtOnce, x.andRows)
	return n
}

// eachWindow is MayContainBatch. It hashes and tests a window of keys at a time, a multiple of 64: test writes the answer
// for each hash that is valid to its row, and returns the number of set bits. The other rows are zeros.
func (x *interleaving) eachWindow(keys Keys, hits []uint64, window int, test func(k *Keys, rows []uint64) (int, error)) (total int, err error) {
	words, columns := (keys.n+63)/64, (x.filters+63)/64
	if all := uint64(words) * uint64(x.filters); uint64(len(hits)) < all { // an int of 32 bits would overflow
		panic(fmt.Sprintf("bloom: %d words for the bits of %d keys in %d filters, which need %d: x.Len()*((keys.Len()+63)/64)",
			len(hits), keys.n, x.filters, all))
	}
	if x.empty.scheme == 0 {
		return 0, nil
	}
	keys.mustServe(x.empty.format)
	rows := make([]uint64, min(window, 64*words)*columns)
	var tile [64]uint64
	for first := 0; first < keys.n; first += window {
		part := keys.slice(first, min(first+window, keys.n))
		part = part.hashedBy(x.empty.kernel, x.empty.format)
		clear(rows)
		n, err := test(&part, rows)
		if err != nil {
			return 0, err
		}
		total += n
		for c := range columns {
			for i := 0; i < part.n; i += 64 {
				for j := range tile {
					tile[j] = rows[(i+j)*columns+c]
				}
				x.transpose(&tile)
				to := hits[64*c*words+(first+i)/64:]
				for j := range min(64, x.filters-64*c) {
					to[j*words] = tile[j]
				}
			}
		}
	}
	return total, nil
}

// andRows is the test of eachWindow.
func (x *Interleaved) andRows(k *Keys, rows []uint64) (total int, err error) {
	columns := (x.filters + 63) / 64
	for i := range k.n {
		if columns > 0 && k.valid(i, 1) != 0 {
			x.request(k, i+1)
			total += x.and(k.hashRow(k.hashed, i), rows[i*columns:][:columns])
		}
	}
	return total, nil
}

// Hits returns an iterator over the rows of a column and the hits of each row. The hits have the same layout
// as in [Interleaved.MayContain]. The iterator skips rows without hits. The slice of hits is valid only until
// the next iteration. For many keys, Hits is the fastest method.
//
// Hits panics if keys is a column of hashes from a hash function that the filters do not use.
func (x *Interleaved) Hits(keys Keys) iter.Seq2[int, []uint64] {
	if x.empty.scheme != 0 {
		keys.mustServe(x.empty.format)
	}
	return func(yield func(int, []uint64) bool) {
		hits := make([]uint64, (x.filters+63)/64)
		for first := 0; first < keys.n && x.filters > 0; first += windowKeys {
			part := keys.slice(first, min(first+windowKeys, keys.n))
			part = part.hashedBy(x.empty.kernel, x.empty.format)
			for i := range part.n {
				x.request(&part, i+1)
				if part.valid(i, 1) != 0 && x.and(part.hashRow(part.hashed, i), hits) > 0 && !yield(first+i, hits) {
					return
				}
			}
		}
	}
}
