// Package filterfile opens the files of filters for the commands. It refuses bytes that look like
// something else than a filter.
package filterfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lanebloom/bloom"
)

// Filter is a filter that was read.
type Filter struct {
	*bloom.Filter
	IsFile bool // whether they came with the header of a file
}

// Options say how to take the bytes of a file.
type Options struct {
	Format bloom.Format // of bare bytes
	Asked  bool         // whether the user named the format: a file that says another is an error then
	Raw    bool         // whether to take the bytes as a bare filter, whatever they look like
}

// Read returns the filter in a file that read reads. The doubt is what no writer of the format would write,
// or nothing.
func (o Options) Read(path string, read func(path string) ([]byte, error)) (f Filter, doubt string, err error) {
	data, err := read(path)
	if err != nil {
		return f, "", err
	}
	if f, err = o.Open(path, data); err != nil || o.Raw {
		return f, "", err
	}
	return f, f.doubt(), nil
}

// Open returns the filter in the bytes of the file of a path.
func (o Options) Open(path string, data []byte) (f Filter, err error) {
	if o.Raw {
		f, err = OpenBare(o.Format, data)
	} else {
		f, err = Recognise(o.Format, data)
	}
	if strange := (*StrangeError)(nil); errors.As(err, &strange) {
		remedy := "insist with --raw"
		if strange.Remedy != "" {
			remedy = strange.Remedy + ", or " + remedy
		}
		return f, fmt.Errorf("%s: %w: %s", path, err, remedy)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	if o.Asked && f.IsFile && !f.is(o.Format) {
		return f, fmt.Errorf("%s: the file holds a filter of %v, and --format says %v", path, f.Written(), o.Format)
	}
	return f, nil
}

// CheckKeys returns an error if the keys of the filter of a path are of another kind than the keys
// here. Of bare bytes and old files the kind is not known.
func (f Filter) CheckKeys(path, here string, kind bloom.KeyKind) error {
	if has := f.KeyKind(); has != bloom.KeysUnknown && kind != bloom.KeysUnknown && has != kind {
		return fmt.Errorf("%s: the filter has keys of the kind %s, and %s of the kind %s", path, has, here, kind)
	}
	return nil
}

// Recognise returns the filter in a file, or in bare bytes of the given format. The error is a
// StrangeError if the bytes look like something else.
func Recognise(f bloom.Format, data []byte) (Filter, error) {
	if looksLikeFile(data) {
		return openFile(data)
	}
	if err := checkBare(f, data); err != nil {
		return Filter{}, err
	}
	return OpenBare(f, data)
}

// OpenBare takes bytes as a bare filter of a format, whatever they look like.
func OpenBare(f bloom.Format, data []byte) (Filter, error) {
	filter, err := bloom.Open(f, data)
	return Filter{Filter: filter}, WithoutPrefix(err)
}

// openFile returns the filter in a file, of which it verifies the checksums.
func openFile(data []byte) (o Filter, err error) {
	if err := bloom.VerifyBinary(data); err != nil {
		return o, WithoutPrefix(err)
	}
	filter, err := bloom.OpenBinary(data)
	if err != nil {
		return o, WithoutPrefix(err)
	}
	return Filter{filter, true}, nil
}

// looksLikeFile reports whether data begins as a file does, or as one does that a transfer as
// text has damaged: the library says which.
func looksLikeFile(data []byte) bool {
	const name = 4 // bytes before the line ends
	return len(data) >= name && data[0]&0x7f == bloom.FileMagic[0]&0x7f && string(data[1:name]) == bloom.FileMagic[1:name]
}

const crateHeader = 12 // bytes of the header of nori-crate; that of nori has 16

// Written returns the format in which the filter was written. Opened as nori, it may be either
// of nori-sstable's formats.
func (o Filter) Written() bloom.Format {
	if from, _ := o.BitRange(); o.Format() == bloom.Nori && from == crateHeader {
		return bloom.NoriCrate
	}
	return o.Format()
}

// is reports whether the filter is of a format. nori names both of nori-sstable's.
func (o Filter) is(f bloom.Format) bool {
	return f == o.Written() || f == o.Format() || f == bloom.Nori && o.Written() == bloom.NoriCrate
}

// StrangeError is the error of bare bytes that look like something else than a filter of the
// format. Remedy is what may help besides --raw.
type StrangeError struct{ Looks, Remedy string }

func (e *StrangeError) Error() string { return "this looks " + e.Looks }

// kinds are files of other kinds, and how they begin: by four bytes or more, for a filter may begin
// with any.
var kinds = []struct{ name, magic string }{
	{"a Parquet file", "PAR1"},
	{"an encrypted Parquet file", "PARE"},
	{"a file of Arrow IPC", "ARROW1"},
	{"a file of Feather, version 1", "FEA1"},
	{"a program (ELF)", "\x7fELF"},
	{"a program (Mach-O)", "\xcf\xfa\xed\xfe"},
	{"a program (WebAssembly)", "\x00asm"},
	{"a program (Windows)", "MZ\x90\x00"},
	{"a database of SQLite", "SQLite format 3\x00"},
	{"a PNG picture", "\x89PNG\r\n"},
	{"a JPEG picture", "\xff\xd8\xff\xe0"},
	{"a JPEG picture", "\xff\xd8\xff\xe1"},
	{"a GIF picture", "GIF8"},
	{"a PDF document", "%PDF-"},
	{"an Avro file", "Obj\x01"},
	{"a file of HDF5", "\x89HDF\r\n"},
}

// Kind returns what file of another kind begins as data does, such as "a Parquet file", or nothing. A text
// may begin as some do.
func Kind(data []byte) string {
	for _, kind := range kinds {
		if bytes.HasPrefix(data, []byte(kind.magic)) {
			return kind.name
		}
	}
	return ""
}

// checkBare returns an error if bare bytes look like something else than a filter of a format.
// To LevelDB's format any bytes are a filter, and to Parquet's any whole blocks.
func checkBare(f bloom.Format, data []byte) error {
	if name, _ := Compression(data); name != "" {
		return &StrangeError{fmt.Sprintf("compressed (%s)", name), "decompress it first"}
	}
	if kind := Kind(data); kind != "" {
		return &StrangeError{fmt.Sprintf("like %s, not like a filter", kind), ""}
	}
	const table = "\x57\xfb\x80\x8b\x24\x75\x47\xdb" // ends a file of LevelDB
	if bytes.HasSuffix(data, []byte(table)) {
		return &StrangeError{"like a table of LevelDB, not like a filter of one", ""}
	}
	if isText(data) {
		return &StrangeError{"like text, not like a filter", ""}
	}
	if f != bloom.BitsAndBlooms && isBitsAndBlooms(data) {
		return &StrangeError{fmt.Sprintf("like a filter of github.com/bits-and-blooms/bloom, not of %v", f), "choose its format"}
	}
	if f != bloom.Guava && isGuava(data) {
		return &StrangeError{fmt.Sprintf("like a filter of Guava's BloomFilter, not of %v", f), "choose its format"}
	}
	switch f {
	case bloom.Nori, bloom.NoriCrate, bloom.BitsAndBlooms, bloom.Guava:
		return nil // their header has to fit
	}
	const block = 32
	if f == bloom.LevelDB && len(data)%block == 0 && len(data) > 0 && !levelDBProbes(data[len(data)-1]) {
		return &StrangeError{fmt.Sprintf("like a filter of %v, not of %v", bloom.Parquet, f), "choose its format"}
	}
	if filter, err := OpenBare(bloom.Nori, data); err == nil {
		return &StrangeError{fmt.Sprintf("like a filter of %v, not of %v", filter.Written(), f), "choose its format"}
	}
	return nil
}

// isBitsAndBlooms reports whether data has the header of github.com/bits-and-blooms/bloom and the size that
// the header says: the bits that keys are spread over, the probes, and the bits that are stored, which are
// as many or fill whole words, each as 8 bytes, big-endian.
func isBitsAndBlooms(data []byte) bool {
	const header, mostProbes = 24, 1 << 10 // a rate of 1e-300 takes 997
	if len(data) < header {
		return false
	}
	bits, probes, stored := binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:]), binary.BigEndian.Uint64(data[16:])
	return bits > 0 && probes > 0 && probes <= mostProbes && (stored == bits || stored%64 == 0) &&
		(len(data)-header)%8 == 0 && uint64(len(data)-header)/8 == stored/64+min(stored%64, 1)
}

// isGuava reports whether data has the header of Guava's BloomFilter and the size that it says: the strategy, 0 or 1,
// the probes, and the number of words of 8 bytes, big-endian.
func isGuava(data []byte) bool {
	const header = 6
	if len(data) <= header || data[0] > 1 || data[1] == 0 {
		return false
	}
	return uint64(len(data)-header) == 8*uint64(binary.BigEndian.Uint32(data[2:]))
}

// isText reports whether all of data is characters that are seen, tabs and line ends, after a
// byte-order mark or none. Filters of
// LevelDB with 9, 10 or 13 probes end in one of those, and a few of them look like text: of those
// of up to three keys 2 in 100, and none of some twenty keys was found.
func isText(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return len(data) > 0 && utf8.Valid(data) &&
		bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\n\r", r) }) < 0
}

// levelDBProbes reports whether LevelDB ends filters with such a byte, the number of probes.
func levelDBProbes(last byte) bool { return last > 0 && last <= 30 }

// doubt returns what no writer of LevelDB's bare filters would write, or nothing. The other
// formats and files say enough of themselves.
func (o Filter) doubt() string {
	if o.IsFile || o.Format() != bloom.LevelDB || len(o.Bytes()) == 0 {
		return ""
	}
	const leastBits, mostFill = 64, 0.75 // with a bit per key, 63 % are set
	array, probes := o.Bytes()[:len(o.Bytes())-1], o.Bytes()[len(o.Bytes())-1]
	switch {
	case 8*len(array) < leastBits:
		return fmt.Sprintf("LevelDB's filters have %d bits or more, and this has %d", leastBits, 8*len(array))
	case !levelDBProbes(probes):
		return fmt.Sprintf("the last byte, %d, is no number of probes of LevelDB's: every key passes", probes)
	}
	ones := 0
	for _, b := range array {
		ones += bits.OnesCount8(b)
	}
	if fill := float64(ones) / float64(8*len(array)); fill > mostFill {
		return fmt.Sprintf("%.3g %% of the bits are set: it has more keys than it was made for, or is no filter of %v", 100*fill, o.Format())
	}
	return ""
}

// WithoutPrefix returns an error of the library without its prefix: a command prints its own.
func WithoutPrefix(err error) error {
	if err == nil {
		return nil
	}
	return libraryError{err}
}

type libraryError struct{ error }

func (e libraryError) Error() string { return strings.TrimPrefix(e.error.Error(), "bloom: ") }
func (e libraryError) Unwrap() error { return e.error }
