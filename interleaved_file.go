package bloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// The file of interleaved filters is a header, the slices, and then what each filter has beside its bits. So a reader of
// a slice needs the header alone. docs/file-format.md describes it byte by byte.

// InterleavedMagic is the byte sequence at the start of every file of interleaved filters. Like [FileMagic],
// it reveals some kinds of transfer damage.
const InterleavedMagic = "\x89BLI\r\n\x1a\n"

const (
	interleavedVersion = 1
	interleavedSummed  = 152     // bytes before the header's checksum
	interleavedHeader  = 160     // bytes of the header
	interleavedStart   = 4 << 10 // where WriteTo puts slice 0
	interleavedAfter   = 8       // zero bytes after the slices
)

// sections are where the parts of a file lie.
type sections struct {
	start    uint64 // slice 0
	table    uint64 // bytes of the table, or 0 if there is none
	metadata uint64 // bytes of the caller's
	sum      uint64 // XXH64 of both
	seed     uint32 // of the checksums of slices: the lower half of the header's
}

// slicesEnd returns where the slices end.
func (x *interleaving) slicesEnd(p *sections) uint64 { return p.start + x.depth*uint64(x.stride) }

// header returns the header, and sets the seed.
func (x *interleaving) header(p *sections) []byte {
	le := binary.LittleEndian
	dst := le.AppendUint64([]byte(InterleavedMagic), interleavedVersion)
	var name [fileText]byte
	copy(name[:], x.empty.format.String())
	dst = append(dst, name[:]...)
	for _, n := range []uint64{uint64(x.filters), uint64(x.room), x.bits, uint64(x.empty.K), uint64(x.stride), p.start} {
		dst = le.AppendUint64(dst, n)
	}
	var kind [mostKeyKind]byte
	copy(kind[:], x.empty.kind)
	dst = append(dst, kind[:]...)
	table := x.slicesEnd(p) + interleavedAfter
	for _, part := range [][2]uint64{{table, p.table}, {table + p.table, p.metadata}} {
		if part[1] == 0 {
			part[0] = 0
		}
		dst = le.AppendUint64(le.AppendUint64(dst, part[0]), part[1])
	}
	dst = le.AppendUint64(dst, p.sum)
	sum := xxhash.Sum64(dst)
	p.seed = uint32(sum)
	return le.AppendUint64(dst, sum)
}

// parseHeader reads the header of a file of size bytes from its first bytes.
func (x *interleaving) parseHeader(data []byte, size uint64) (p sections, err error) {
	le := binary.LittleEndian
	switch {
	case !bytes.HasPrefix(data, []byte(InterleavedMagic)):
		return p, fmt.Errorf("%w: the bytes are not a file of interleaved filters: its first bytes are missing", ErrEncoding)
	case len(data) < interleavedHeader:
		return p, errInHeader(data)
	}
	if version := le.Uint64(data[8:]); version != interleavedVersion {
		return p, fmt.Errorf("%w: the file has version %d, but this library reads version %d", ErrEncoding, version, interleavedVersion)
	}
	sum := xxhash.Sum64(data[:interleavedSummed])
	if le.Uint64(data[interleavedSummed:]) != sum {
		return p, fmt.Errorf("%w: the checksum of the file's header is wrong", ErrEncoding)
	}
	format, err := ParseFormat(string(bytes.TrimRight(data[16:][:fileText], "\x00")))
	if err != nil {
		return p, err
	}
	var n [6]uint64
	for i := range n {
		n[i] = le.Uint64(data[32+8*i:])
	}
	filters, room, depth, probes, stride := n[0], n[1], formats[format].scheme.depth(n[2]), n[3], n[4]
	p = sections{start: n[5], table: le.Uint64(data[120:]), metadata: le.Uint64(data[136:]), sum: le.Uint64(data[144:]), seed: uint32(sum)}
	high, all := bits.Mul64(depth, stride)
	after := size - p.start - all - interleavedAfter // what the parts after the slices take
	switch {
	case filters > room || filters > mostFilters || room > mostBytes || stride > math.MaxInt || stride%8 != 0 || (room+7)/8+sliceSum > stride:
		return p, fmt.Errorf("%w: the file's header has %d filters, room for %d, and slices of %d bytes", ErrEncoding, filters, room, stride)
	case p.start < interleavedHeader || p.start%fileBoundary != 0 || p.start > size || high != 0 || all > size-p.start || after > size:
		return p, fmt.Errorf("%w: the file of %d bytes has no room for %d slices of %d bytes at byte %d", ErrEncoding, size, depth, stride, p.start)
	case p.table > after || p.metadata != after-p.table || p.table != 0 && p.table/16 < filters || p.table != 0 && p.table-16*filters < 8:
		return p, fmt.Errorf("%w: %d bytes after the slices are not a table of %d and %d bytes of metadata", ErrEncoding, after, p.table, p.metadata)
	case probes > math.MaxInt32:
		return p, fmt.Errorf("%w: the file's header has %d probes", ErrEncoding, probes)
	}
	kind := KeyKind(bytes.TrimRight(data[80:][:mostKeyKind], "\x00"))
	if !kind.valid() {
		return p, fmt.Errorf("%w: the file's header has %q for the kind of the keys", ErrEncoding, kind)
	}
	*x = interleaving{bits: n[2], depth: depth, filters: int(filters), room: int(room), stride: int(stride)}
	if x.empty, err = format.emptyView(shape{Bits: n[2], Probes: int(probes)}); err != nil {
		return p, err
	}
	x.empty.kind = kind
	if again := x.header(&p); !bytes.Equal(again, data[:interleavedHeader]) {
		return p, fmt.Errorf("%w: the file's header contradicts itself", ErrEncoding)
	}
	return p, nil
}

// appendTable appends the table of n filters.
func (c *Labels) appendTable(dst []byte, n int) []byte {
	for i := range n {
		keys, known := c.KeyCount(i)
		if !known {
			keys = unknownKeys
		}
		dst = binary.LittleEndian.AppendUint64(dst, keys)
	}
	end := uint64(0)
	for i := range n {
		dst = binary.LittleEndian.AppendUint64(dst, end)
		end += uint64(len(c.Label(i)))
	}
	dst = binary.LittleEndian.AppendUint64(dst, end)
	for _, label := range c.labels {
		dst = append(dst, label...)
	}
	return dst
}

// parse reads the table of n filters, and the metadata, from the bytes after the slices.
func (c *Labels) parse(data []byte, n int, p *sections) error {
	zeros, data := data[:interleavedAfter], data[interleavedAfter:]
	if slices.Max(zeros) != 0 {
		return fmt.Errorf("%w: the bytes after the file's slices are not zero", ErrEncoding)
	}
	if xxhash.Sum64(data) != p.sum {
		return fmt.Errorf("%w: the checksum of the file's table is wrong", ErrEncoding)
	}
	table, metadata := data[:p.table], data[p.table:]
	*c = Labels{metadata: metadata}
	if len(table) == 0 {
		return nil
	}
	c.keys = make([]uint64, n)
	for i := range c.keys {
		c.keys[i] = binary.LittleEndian.Uint64(table[8*i:])
	}
	ends, labels := table[8*n:][:8*n+8], string(table[16*n+8:])
	from := binary.LittleEndian.Uint64(ends)
	if last := binary.LittleEndian.Uint64(ends[8*n:]); from != 0 || last != uint64(len(labels)) {
		return fmt.Errorf("%w: labels %d to %d of %d bytes", ErrEncoding, from, last, len(labels))
	}
	if len(labels) > 0 {
		c.labels = make([]string, n)
	}
	for i := range c.labels {
		to := binary.LittleEndian.Uint64(ends[8*i+8:])
		if to < from || to > uint64(len(labels)) {
			return fmt.Errorf("%w: label %d ends at byte %d, and begins at %d of %d", ErrEncoding, i, to, from, len(labels))
		}
		c.labels[i], from = labels[from:to], to
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOfSlice returns the checksum of slice p without its last bytes, which hold it. A slice of another number or file has another.
func sumOfSlice(seed uint32, p uint64, slice []byte) uint32 {
	var before [12]byte
	binary.LittleEndian.PutUint32(before[:], seed)
	binary.LittleEndian.PutUint64(before[4:], p)
	return crc32.Update(crc32.Checksum(before[:], castagnoli), castagnoli, slice[:len(slice)-sliceSum])
}

// checkSlice compares the checksum of slice p with that at its end.
func checkSlice(seed uint32, p uint64, slice []byte) error {
	if sumOfSlice(seed, p, slice) != binary.LittleEndian.Uint32(slice[len(slice)-sliceSum:]) {
		return fmt.Errorf("%w: the checksum of slice %d is wrong", ErrEncoding, p)
	}
	return nil
}

// WriteTo writes all filters as one file, which [OpenInterleaved] and [OpenInterleavedFile] can read. The
// file contains a header, the bit slices, the numbers of keys, the labels and the metadata. The header
// contains the length of the file, so readers detect a truncated file. WriteTo writes the slices in parts of
// up to 1 MiB, or one at a time if a slice is larger. Then a single call of w.Write writes the numbers of
// keys, the labels and the metadata.
func (x *Interleaved) WriteTo(w io.Writer) (int64, error) {
	return x.writeFile(w, &x.labels, func(p uint64, buffer []byte) error {
		copy(buffer, x.slices[p*uint64(x.stride):])
		return nil
	})
}

// writeFile is WriteTo for slices that read gives: whole ones from slice p on, as many as the buffer has room for.
func (x *interleaving) writeFile(w io.Writer, c *Labels, read func(p uint64, buffer []byte) error) (int64, error) {
	if x.empty.scheme == 0 {
		return 0, fmt.Errorf("%w: the zero Interleaved has no format to write", ErrFormat)
	}
	to := &counting{w: w}
	after := append(c.appendTable(nil, x.filters), c.metadata...)
	at := sections{
		start: interleavedStart, table: uint64(len(after) - len(c.metadata)), metadata: uint64(len(c.metadata)), sum: xxhash.Sum64(after),
	}
	if _, err := to.Write(append(x.header(&at), make([]byte, interleavedStart-interleavedHeader)...)); err != nil {
		return to.n, err
	}
	some := uint64(max(fileAtOnce/x.stride, 1))
	buffer := make([]byte, min(some, x.depth)*uint64(x.stride))
	for p := uint64(0); p < x.depth; {
		buffer = buffer[:min(some, x.depth-p)*uint64(x.stride)]
		if err := read(p, buffer); err != nil {
			return to.n, err
		}
		for slice := range slices.Chunk(buffer, x.stride) {
			binary.LittleEndian.PutUint32(slice[x.stride-sliceSum:], sumOfSlice(at.seed, p, slice))
			p++
		}
		if _, err := to.Write(buffer); err != nil {
			return to.n, err
		}
	}
	_, err := to.Write(append(make([]byte, interleavedAfter), after...))
	return to.n, err
}

// OpenInterleaved returns the filters in data, which must be the contents of a file of interleaved filters.
// It does not copy the bit slices, so data can be a large file mapped into memory. It verifies the header,
// the numbers of keys, the labels, the metadata, and the zero bytes between them. It does not verify the
// slices, so damaged slices give wrong answers. To check each slice before it is used, call
// [OpenInterleavedFile] with a [bytes.Reader]. The bytes must not change while the result is in use. The
// first call to Put copies the slices, so Put does not modify data.
//
// The error is [ErrEncoding] if the bytes are damaged or are not a complete file, and [ErrFormat] if this
// library does not know the format.
func OpenInterleaved(data []byte) (*Interleaved, error) {
	x := &Interleaved{shared: true}
	p, err := x.parseHeader(data, uint64(len(data)))
	if err != nil {
		return nil, err
	}
	if slices.Max(data[interleavedHeader:p.start]) != 0 { // a multiple of 64, so that there are some
		return nil, fmt.Errorf("%w: the bytes between the file's header and its slices are not zero", ErrEncoding)
	}
	end := x.slicesEnd(&p)
	x.slices, x.seed = data[p.start:end:end], p.seed
	if err := x.labels.parse(data[end:], x.filters, &p); err != nil {
		return nil, err
	}
	return x, nil
}
