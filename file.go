package bloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom/internal/memory"
)

// A file is a header and then the encoded filter. The header says what the bytes are. The
// bits begin at a cache line, so that a file mapped into memory needs no copy.
// docs/file-format.md describes the file byte by byte.

// FileMagic is the byte sequence at the start of every filter file. No valid UTF-8 text begins with these
// bytes. Like the PNG signature, these bytes change if a transfer clears the high bit of each byte or converts
// line endings, so the damage is detected.
const FileMagic = "\x89BLM\r\n\x1a\n"

const (
	fileVersion   = 1
	fileText      = 16                            // bytes for the name of the format
	fileSummed    = 72                            // bytes before the header's checksum
	fileKind      = 80                            // where the kind of the keys begins
	fileFields    = fileKind + mostKeyKind        // bytes that the fields of the header take
	fileBoundary  = 64                            // the bits begin at a multiple of it
	fileLeast     = 128                           // bytes of the smallest file
	mostStart     = fileFields + fileBoundary - 1 // where an encoded filter begins at most
	fileLeastRead = 64 << 10                      // bytes that ReadFrom reads at least after the header, unless the file ends
	unknownKeys   = math.MaxUint64                // the number of keys in the header if it is not known
)

// fileHeader is what the header of a file says.
type fileHeader struct {
	start  uint32 // where the encoded filter begins
	format Format
	keys   uint64
	size   uint64 // of the encoded filter, in bytes
	shape  shape
	sum    uint64 // XXH64 of the encoded filter
	kind   KeyKind
}

// fileHeader returns the header of the filter's file. It reads the whole filter.
func (v *view) fileHeader() fileHeader {
	keys, known := v.KeyCount()
	if !known {
		keys = unknownKeys
	}
	_, s := v.encoded()
	return fileHeader{v.fileStart(), v.format, keys, uint64(len(v.data)), s, xxhash.Sum64(v.data), v.kind}
}

// fileStart returns where the encoded filter begins in its file.
func (v *view) fileStart() uint32 {
	from, _ := v.bitRange()
	return startOf(from)
}

// startOf returns where an encoded filter begins in its file, by the bytes that it has before its bits: the bits
// begin at the first boundary that leaves room for the fields and these bytes.
func startOf(before int) uint32 {
	bits := (fileFields + before + fileBoundary - 1) / fileBoundary * fileBoundary
	return uint32(bits - before)
}

// append appends the header, and the zero bytes between it and the encoded filter.
func (h *fileHeader) append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, FileMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, fileVersion)
	dst = binary.LittleEndian.AppendUint32(dst, h.start)
	var text [fileText]byte
	copy(text[:], h.format.String())
	dst = append(dst, text[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.keys)
	dst = binary.LittleEndian.AppendUint64(dst, h.size)
	dst = binary.LittleEndian.AppendUint64(dst, h.shape.Bits)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.shape.Probes))
	dst = binary.LittleEndian.AppendUint64(dst, h.sum)
	dst = binary.LittleEndian.AppendUint64(dst, headerSum(dst[from:], h.kind))
	var rest [mostStart - fileKind]byte
	copy(rest[:], h.kind)
	return append(dst, rest[:h.start-fileKind]...)
}

// headerSum returns the checksum of a header: of the bytes before it and of the kind of the keys,
// which comes after it.
func headerSum(header []byte, kind KeyKind) uint64 {
	var summed [fileSummed + mostKeyKind]byte
	n := copy(summed[:], header[:fileSummed])
	n += copy(summed[n:], kind)
	return xxhash.Sum64(summed[:n])
}

// parse reads the header from the first bytes of a file, fileLeast or more. It does not check whether
// the header fits the filter; openFile does.
func (h *fileHeader) parse(data []byte) (err error) {
	if !bytes.HasPrefix(data, []byte(FileMagic)) {
		return noMagic(data)
	}
	if len(data) < fileLeast {
		return errInHeader(data)
	}
	if version := binary.LittleEndian.Uint32(data[8:]); version != fileVersion {
		return fmt.Errorf("%w: the file has version %d, but this library reads version %d", ErrEncoding, version, fileVersion)
	}
	h.kind = KeyKind(bytes.TrimRight(data[fileKind:fileFields], "\x00"))
	if sum := binary.LittleEndian.Uint64(data[fileSummed:]); sum != headerSum(data, h.kind) {
		return fmt.Errorf("%w: the checksum of the file's header is wrong", ErrEncoding)
	}
	if h.format, err = ParseFormat(string(bytes.TrimRight(data[16:][:fileText], "\x00"))); err != nil {
		return err
	}
	h.start = binary.LittleEndian.Uint32(data[12:])
	h.keys = binary.LittleEndian.Uint64(data[32:])
	h.size = binary.LittleEndian.Uint64(data[40:])
	h.shape.Bits = binary.LittleEndian.Uint64(data[48:])
	probes := binary.LittleEndian.Uint64(data[56:])
	h.shape.Probes = int(min(probes, math.MaxInt32)) // no filter has more
	h.sum = binary.LittleEndian.Uint64(data[64:])
	if h.start < fileFields || h.start > mostStart || h.size > math.MaxInt-mostStart {
		return fmt.Errorf("%w: the file's header claims a filter of %d bytes at byte %d", ErrEncoding, h.size, h.start)
	}
	if between := data[fileFields:min(int(h.start), len(data))]; slices.ContainsFunc(between, func(b byte) bool { return b != 0 }) {
		return fmt.Errorf("%w: the bytes between the file's header and the filter are not zero", ErrEncoding)
	}
	if !h.kind.valid() {
		return fmt.Errorf("%w: the file's header has %q for the kind of the keys", ErrEncoding, h.kind)
	}
	return nil
}

func errInHeader(data []byte) error {
	return fmt.Errorf("%w: the file ends after %d bytes, in its header", ErrEncoding, len(data))
}

// noMagic returns the error for bytes that do not begin with the magic.
func noMagic(data []byte) error {
	if len(data) >= 4 && data[0]&0x7f == FileMagic[0]&0x7f && string(data[1:4]) == FileMagic[1:4] {
		return fmt.Errorf("%w: the file was damaged by a transfer as text", ErrEncoding)
	}
	return fmt.Errorf("%w: the bytes are not a file of a filter: its first bytes are missing", ErrEncoding)
}

// openFile returns a view of the filter in a file, and the header of the file. It reads the
// header, and what the format has before and after the bits.
func openFile(data []byte) (v view, h fileHeader, err error) {
	if err = h.parse(data); err != nil {
		return v, h, err
	}
	if len(data) < int(h.start) {
		return v, h, errInHeader(data)
	}
	if have := uint64(len(data)) - uint64(h.start); have != h.size {
		return v, h, fmt.Errorf("%w: the file has %d bytes of a filter, and its header claims %d", ErrEncoding, have, h.size)
	}
	if v, err = openView(h.format, data[h.start:]); err != nil {
		return v, h, err
	}
	if _, s := v.encoded(); s != h.shape {
		return v, h, fmt.Errorf("%w: the filter has %d bits and %d probes, but the file's header claims %d and %d",
			ErrEncoding, s.Bits, s.Probes, h.shape.Bits, h.shape.Probes)
	}
	if start := v.fileStart(); start != h.start {
		return v, h, fmt.Errorf("%w: the filter begins at byte %d of the file, but must begin at byte %d", ErrEncoding, h.start, start)
	}
	v.count, v.kind = &keyCount{n: h.keys, unknown: h.keys == unknownKeys}, h.kind
	return v, h, nil
}

// verifyFile is openFile, and also compares the checksum of the filter.
func verifyFile(data []byte) (view, error) {
	v, h, err := openFile(data)
	if err == nil && xxhash.Sum64(v.data) != h.sum {
		err = fmt.Errorf("%w: the checksum of the file's filter is wrong", ErrEncoding)
	}
	return v, err
}

// OpenBinary returns a view of the filter in data, which must be the contents of a filter file. The header of
// the file specifies the format. OpenBinary copies nothing, verifies the header, and does not read the bits,
// so data can be a large file mapped into memory. To verify the bits as well, call [VerifyBinary].
//
// The error is [ErrEncoding] if data is not a complete filter file, or if the header is damaged. It is
// [ErrFormat] if this library does not know the format.
func OpenBinary(data []byte) (*Filter, error) {
	v, _, err := openFile(data)
	if err != nil {
		return nil, err
	}
	return &Filter{v}, nil
}

// VerifyBinary reads all bytes of a filter file and returns an error if they are damaged. The error is
// [ErrEncoding] if data is not a complete file, or if a checksum is wrong. It is [ErrFormat] if this library
// does not know the format.
func VerifyBinary(data []byte) error {
	_, err := verifyFile(data)
	return err
}

// AppendBinary encodes the filter as a filter file, appends the file to dst, and returns the extended slice.
// The error is always nil.
func (v *view) AppendBinary(dst []byte) ([]byte, error) {
	v = v.still()
	h := v.fileHeader()
	dst = slices.Grow(dst, int(h.start)+len(v.data))
	return append(h.append(dst), v.data...), nil
}

// The receivers of MarshalBinary, MarshalText and String are values. For a Filter that is a field of a value, JSON
// does not find the methods of a pointer: it would write an empty object, without an error.

// MarshalBinary encodes the filter as a filter file. The error is always nil.
func (v view) MarshalBinary() ([]byte, error) { return v.AppendBinary(nil) }

// WriteTo writes the filter as a filter file. It copies the bits only if they belong to an [AtomicSet]. It
// reads the bits twice: once to compute the checksum in the header, and once to write them.
func (v *view) WriteTo(w io.Writer) (int64, error) {
	v = v.still()
	h, to := v.fileHeader(), counting{w: w}
	_, err := to.Write(h.append(make([]byte, 0, mostStart)))
	if err == nil {
		_, err = to.Write(v.data)
	}
	return to.n, err
}

// counting counts the bytes that are written, and turns a short write into an error.
type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(data []byte) (int, error) {
	n, err := c.w.Write(data)
	c.n += int64(n)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return n, err
}

// UnmarshalBinary decodes the filter file in data into f. It verifies the checksums and copies the bytes. The
// error is [ErrEncoding] if the bytes are damaged or are not a complete file, and [ErrFormat] if this library
// does not know the format. On error, f does not change.
func (f *Filter) UnmarshalBinary(data []byte) error {
	v, err := verifyFile(append(memory.Extend(nil, len(data))[:0], data...))
	return f.take(v, err)
}

// ReadFrom reads the next filter file from r into f and verifies the file's checksums. It reads no bytes
// beyond the end of the file, so a stream can contain several files in a row. It allocates memory for the
// bytes that it has received, not for the size that the header claims.
//
// The error is [io.EOF] if r is already at its end, [ErrEncoding] if the file is damaged, [ErrFormat] if this
// library does not know the format, or an error from r. If r ends inside the file, the error wraps both
// [io.ErrUnexpectedEOF] and [ErrEncoding]. On error, f does not change.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	v, n, err := readFile(r)
	return n, f.take(v, err)
}

// take makes f the filter that was read, if there is no error.
func (f *Filter) take(v view, err error) error {
	if err == nil {
		f.view = v
	}
	return err
}

// UnmarshalBinary decodes the filter file in data into s. It verifies the checksums and copies the bytes. The
// error is [ErrEncoding] if the bytes are damaged or are not a complete file, or if no keys can be added to
// the filter (see [OpenSet]). It is [ErrFormat] if this library does not know the format. On error, s does
// not change.
func (s *Set) UnmarshalBinary(data []byte) error {
	v, err := verifyFile(append(memory.Extend(nil, len(data))[:0], data...))
	return s.take(v, err)
}

// ReadFrom reads the next filter file from r into s and verifies the file's checksums. It reads no bytes
// beyond the end of the file.
//
// The error is [io.EOF] if r is already at its end, [ErrEncoding] if the file is damaged or if no keys can be
// added to its filter (see [OpenSet]), [ErrFormat] if this library does not know the format, or an error from
// r. On error, s does not change.
func (s *Set) ReadFrom(r io.Reader) (int64, error) {
	v, n, err := readFile(r)
	return n, s.take(v, err)
}

// take makes s the set that was read, if there is no error. A file without keys and bytes, such as that
// of the zero Set, makes it the zero Set.
func (s *Set) take(v view, err error) error {
	if err == nil && v.count.n >= mostKeys {
		v.count = &keyCount{unknown: true}
	}
	if err == nil && len(v.data) == 0 && *v.count == (keyCount{}) {
		v = view{kind: v.kind}
	} else if err == nil {
		err = v.checkSet()
	}
	if err == nil {
		s.view = v
	}
	return err
}

// readFile reads a file. It returns the view of its filter, and the number of bytes that it
// read.
func readFile(r io.Reader) (v view, n int64, err error) {
	data, err := readMore(r, nil, fileLeast)
	if len(data) == 0 {
		return v, 0, err
	}
	var h fileHeader
	if err == nil {
		err = h.parse(data)
	}
	for end := int(h.start) + int(h.size); err == nil && len(data) < end; {
		data, err = readMore(r, data, min(end-len(data), max(len(data), fileLeastRead)))
	}
	switch {
	case err == nil:
		v, err = verifyFile(data)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		_, _, err = openFile(data) // its error tells what is missing
		err = fmt.Errorf("%w: %w", err, io.ErrUnexpectedEOF)
	}
	return v, int64(len(data)), err
}

// readMore returns a new buffer with data and the next n bytes of r, or with fewer bytes and
// an error.
func readMore(r io.Reader, data []byte, n int) ([]byte, error) {
	longer := memory.Extend(nil, len(data)+n)
	copy(longer, data)
	n, err := io.ReadFull(r, longer[len(data):])
	return longer[:len(data)+n], err
}
