package bloom

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// InterleavedFile queries the interleaved filters of a file without loading the file into memory. The file
// can be on a disk, or on a server that supports HTTP range requests. Queries verify the checksum of every
// slice that they use.
//
// In formats with blocks or lines, the query for a key takes one read if the slices of a block or line occupy
// at most 64 KiB of the file. In the other formats, the query takes one read if all slices together occupy at
// most 64 KiB. Otherwise, the query takes one read for each probe. A larger Gap means fewer but larger reads.
//
// An InterleavedFile is safe for concurrent use if its [io.ReaderAt] is safe for concurrent use, for example
// an [os.File].
type InterleavedFile struct {
	unstored

	// Gap is the maximum distance in bytes between two slices that are read together. For a disk with a
	// latency of 100 µs and a throughput of 1 GB/s, 100 KB is a good value. For an object store, Gap can be 1
	// MB. Do not change Gap while a goroutine uses the InterleavedFile.
	Gap int64

	interleaving
	sections sections
	r        io.ReaderAt
	buffers  sync.Pool // of *[]byte
}

// batchMemory is the most bytes of answers and wanted slices that a batch collects at a time, unless 512 keys have more.
const batchMemory = 64 << 20

// OpenInterleavedFile returns an [InterleavedFile] that reads from r. The parameter size is the size of the
// file in bytes. OpenInterleavedFile itself reads only the header.
//
// The error is [ErrEncoding] if the header is damaged or does not match the size, [ErrFormat] if this library
// does not know the format, or an error from r.
func OpenInterleavedFile(r io.ReaderAt, size int64) (*InterleavedFile, error) {
	header := make([]byte, min(max(size, 0), interleavedHeader))
	if err := readAt(r, header, 0); err != nil {
		return nil, err
	}
	x := &InterleavedFile{r: r}
	var err error
	if x.sections, err = x.parseHeader(header, uint64(max(size, 0))); err != nil {
		return nil, err
	}
	if _, span := bits.Mul64(x.region(), uint64(x.stride)); span <= regionAtOnce { // no overflow: the file has them
		x.Gap = regionAtOnce
	}
	return x, nil
}

// readAt fills a buffer from an offset on. A file that ends before is malformed.
func readAt(r io.ReaderAt, buffer []byte, offset int64) error {
	n, err := r.ReadAt(buffer, offset)
	switch {
	case n == len(buffer):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file ends at byte %d: %w", ErrEncoding, offset+int64(n), io.ErrUnexpectedEOF)
	}
	return err
}

// region returns in how many bits, from a multiple of their number on, those of a key lie.
func (x *interleaving) region() uint64 {
	if f := &schemes[x.empty.scheme]; f.line {
		return f.word // emptyView makes lines of 64 bytes
	}
	return x.depth
}

// fileRange is a part of a file.
type fileRange struct{ offset, length int64 }

// plan returns the slices of a hash, in order, and where they lie.
func (x *InterleavedFile) plan(h Hash) (slots []uint64, ranges []fileRange) {
	if !x.empty.scheme.made(h) {
		x.empty.otherHash(h)
	}
	slots = make([]uint64, x.empty.K)
	x.empty.probes(h, 0, slots)
	slices.Sort(slots)
	for _, p := range slots {
		ranges = x.extend(ranges, p, x.Gap)
	}
	return slots, ranges
}

// offset returns where a slice lies.
func (x *InterleavedFile) offset(p uint64) int64 { return int64(x.sections.start + p*uint64(x.stride)) }

// extend adds slice p to ranges of slices before it. It lengthens the last range if the gap to it is small enough.
func (x *InterleavedFile) extend(ranges []fileRange, p uint64, gap int64) []fileRange {
	at, stride := x.offset(p), int64(x.stride)
	if n := len(ranges); n > 0 && at-ranges[n-1].offset-ranges[n-1].length <= max(gap, 0) {
		ranges[n-1].length = at + stride - ranges[n-1].offset
		return ranges
	}
	return append(ranges, fileRange{at, stride})
}

// test leaves the AND of slices in hits. data has the bytes of the ranges that they lie in.
func (x *InterleavedFile) test(slots []uint64, ranges []fileRange, data [][]byte, hits []uint64) (int, error) {
	if len(hits) == 0 {
		return 0, nil
	}
	var from [8]*byte
	used := 0
	for _, p := range slots {
		for x.offset(p) >= ranges[0].offset+ranges[0].length {
			ranges, data = ranges[1:], data[1:]
		}
		slice := data[0][x.offset(p)-ranges[0].offset:][:x.stride]
		if err := checkSlice(x.sections.seed, p, slice); err != nil {
			return 0, err
		}
		fill(from[used:], &slice[0])
		if used++; used == len(from) {
			x.and8(hits, &from)
			fill(from[:], (*byte)(unsafe.Pointer(&hits[0])))
			used = 1
		}
	}
	return x.finish(hits, x.and8(hits, &from)), nil
}

// fill sets all of to, so that fewer than 8 slices can be ANDed.
func fill(to []*byte, slice *byte) {
	for i := range to {
		to[i] = slice
	}
}

// MayContain tests a key in every filter and returns the number of hits. The layout of hits is the same as in
// [Interleaved.MayContain]. The errors are the same as those of [InterleavedFile.MayContainHash].
func (x *InterleavedFile) MayContain(key []byte, hits []uint64) (int, error) {
	return x.MayContainHash(x.empty.scheme.hashKey(unsafe.Pointer(unsafe.SliceData(key)), len(key)), hits)
}

// MayContainHash is like [InterleavedFile.MayContain] for the key whose [Hash] is h. The error is
// [ErrEncoding] if a slice is damaged, [ErrCapacity] if Gap makes the query read more than 1 TiB (1 GiB on
// 32-bit systems), or an error from the [io.ReaderAt]. On error, the hits are meaningless.
func (x *InterleavedFile) MayContainHash(h Hash, hits []uint64) (int, error) {
	hits = x.words(h, hits)
	slots, ranges := x.plan(h)
	size := int64(0)
	for _, r := range ranges {
		size += r.length
	}
	buffer, err := x.buffer(size)
	if err != nil {
		return 0, err
	}
	defer x.buffers.Put(buffer)
	data, rest := make([][]byte, len(ranges)), *buffer
	for i, r := range ranges {
		data[i], rest = rest[:r.length], rest[r.length:]
		if err := readAt(x.r, data[i], r.offset); err != nil {
			return 0, err
		}
	}
	return x.test(slots, ranges, data, hits)
}

// buffer returns a buffer of size bytes, which goes back to buffers. The error is ErrCapacity if that is more than an
// allocation of this library may be.
func (x *InterleavedFile) buffer(size int64) (*[]byte, error) {
	if err := checkAllocation(size); err != nil {
		return nil, err
	}
	buffer, ok := x.buffers.Get().(*[]byte)
	if !ok || int64(cap(*buffer)) < size {
		buffer = new([]byte)
		*buffer = make([]byte, size)
	}
	*buffer = (*buffer)[:size]
	return buffer, nil
}

// checkAllocation returns ErrCapacity if size bytes are more than this library allocates at once.
func checkAllocation(size int64) error {
	if uint64(size) > mostBytes {
		return fmt.Errorf("%w: %d bytes of the file are needed in memory at once, more than %d", ErrCapacity, size, uint64(mostBytes))
	}
	return nil
}

// MayContainBatch tests every key of a column in every filter and returns the number of hits. The layout of
// hits is the same as in [Interleaved.MayContainBatch]. MayContainBatch reads the slices in file order, and
// reads each slice only once for all keys. A single read covers slices that are close to each other. For each
// key, MayContainBatch needs one bit of memory per filter and 16 bytes per probe. It allocates up to 64 MiB,
// or the memory for 512 keys if that is more. If the column needs more memory than this, MayContainBatch
// divides it into parts, and reads the slices again for each part. It returns the same errors as
// [InterleavedFile.MayContainHash].
func (x *InterleavedFile) MayContainBatch(keys Keys, hits []uint64) (int, error) {
	perKey := (x.filters+63)/64*8 + x.empty.K*int(unsafe.Sizeof(wanted{}))
	window := max(batchMemory/max(perKey, 1), columnsAtOnce) &^ 63
	return x.eachWindow(keys, hits, window, x.andRows)
}

// wanted is a slice that a key needs.
type wanted struct {
	p   uint64
	key int
}

// andRows is the test of eachWindow.
func (x *InterleavedFile) andRows(k *Keys, rows []uint64) (total int, err error) {
	columns := (x.filters + 63) / 64
	probes := make([]uint64, x.empty.K)
	all := make([]wanted, 0, k.n*len(probes))
	for i := range k.n {
		if k.valid(i, 1) == 0 {
			continue
		}
		x.empty.probes(k.hashRow(k.hashed, i), 0, probes)
		for _, p := range probes {
			all = append(all, wanted{p, i})
		}
		for w := range columns {
			rows[i*columns+w] = ^uint64(0)
		}
	}
	slices.SortFunc(all, func(a, b wanted) int { return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.key, b.key)) })
	for len(all) > 0 {
		var read []fileRange
		n := 0
		for n < len(all) && x.offset(all[n].p)+int64(x.stride)-x.offset(all[0].p) <= max(fileAtOnce, int64(x.stride)) {
			if read = x.extend(read, all[n].p, max(x.Gap, batchGap)); len(read) > 1 {
				break
			}
			n++
		}
		if err := x.andRead(read[0], all[:n], rows); err != nil {
			return 0, err
		}
		all = all[n:]
	}
	for i := range k.n {
		if columns > 0 && k.valid(i, 1) != 0 {
			row, n := rows[i*columns:][:columns], 0
			for _, word := range row {
				n += bits.OnesCount64(word)
			}
			total += x.finish(row, n)
		}
	}
	return total, nil
}

// andRead reads a range, and ANDs each slice in it with the rows that want it.
func (x *InterleavedFile) andRead(r fileRange, all []wanted, rows []uint64) error {
	buffer, err := x.buffer(r.length)
	if err != nil {
		return err
	}
	defer x.buffers.Put(buffer)
	if err := readAt(x.r, *buffer, r.offset); err != nil {
		return err
	}
	columns := (x.filters + 63) / 64
	for i, want := range all {
		slice := (*buffer)[x.offset(want.p)-r.offset:][:x.stride]
		if i == 0 || all[i-1].p != want.p {
			if err := checkSlice(x.sections.seed, want.p, slice); err != nil {
				return err
			}
		}
		row := rows[want.key*columns:][:columns]
		for w := range row {
			row[w] &= nativeWord(unsafe.Pointer(&slice[0]), w)
		}
	}
	return nil
}

// Labels reads the labels, the numbers of keys and the metadata from the file, and verifies their checksum.
// The error is [ErrEncoding] if the data is damaged, or an error from the [io.ReaderAt].
func (x *InterleavedFile) Labels() (*Labels, error) {
	size := interleavedAfter + x.sections.table + x.sections.metadata
	if err := checkAllocation(int64(size)); err != nil {
		return nil, err
	}
	data, c := make([]byte, size), new(Labels)
	if err := readAt(x.r, data, int64(x.slicesEnd(&x.sections))); err != nil {
		return nil, err
	}
	return c, c.parse(data, x.filters, &x.sections)
}
