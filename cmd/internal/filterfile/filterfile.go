// Package filterfile opens the files of filters for the commands. It refuses bytes that look like
// something else than a filter.
package filterfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
)

// MostBitsPerKey bounds a number of bits per key, so that memory is within what the keys take. No format
// needs more: LevelDB's and nori-sstable's documented filters do not improve beyond 44.
const MostBitsPerKey = 10000

// Filter is a filter that was read.
type Filter struct {
	*bloom.Filter
	IsFile bool // whether they came with the header of a file
}

// Options say how to take the bytes of a file.
type Options struct {
	Format bloom.Format // of bare bytes, if Asked
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
	switch {
	case o.Raw && o.Asked:
		f, err = OpenBare(o.Format, data)
	case o.Raw:
		f, err = openUnnamed(data)
	case o.Asked:
		f, err = Recognise(o.Format, data)
	case looksLikeFile(data):
		f, err = openFile(data)
	default:
		if err = checkKind(data); err == nil {
			f, err = openUnnamed(data)
		}
	}
	if strange := (*StrangeError)(nil); errors.As(err, &strange) {
		remedy := "use --raw to read it anyway"
		if strange.Remedy != "" {
			remedy = strange.Remedy + ", or " + remedy
		}
		return f, fmt.Errorf("%s: %w: %s", path, err, remedy)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	if o.Asked && f.IsFile && !f.is(o.Format) {
		return f, fmt.Errorf("%s: the file has a filter of the format %v, but --format is %v", path, f.Written(), o.Format)
	}
	return f, nil
}

// CheckKeys returns an error if the keys of the filter of a path are of another kind than the keys
// here. Of bare bytes and old files the kind is not known.
func (f Filter) CheckKeys(path, here string, kind bloom.KeyKind) error {
	if has := f.KeyKind(); has != bloom.KindUnknown && kind != bloom.KindUnknown && has != kind {
		return fmt.Errorf("%s: the filter has keys of the kind %s, but %s of the kind %s", path, has, here, kind)
	}
	return nil
}

// Recognise returns the filter in a file, or in bare bytes of the given format. The error is a
// StrangeError if the bytes look like something else.
func Recognise(f bloom.Format, data []byte) (Filter, error) {
	if looksLikeFile(data) {
		return openFile(data)
	}
	if err := checkKind(data); err != nil {
		return Filter{}, err
	}
	if err := checkFormat(f, data); err != nil {
		return Filter{}, err
	}
	return OpenBare(f, data)
}

// OpenBare takes bytes as a bare filter of a format, whatever they look like.
func OpenBare(f bloom.Format, data []byte) (Filter, error) {
	filter, err := bloom.Open(f, data)
	return Filter{Filter: filter}, WithoutPrefix(err)
}

// openFile verifies the checksums of a file, and returns its filter.
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

// looksLikeFile reports whether data begins as a file does, or nearly so: a transfer as text moves the bytes behind the first
// four, and other damage changes some. The library says what is wrong. Taken as bare bytes, a damaged file would answer no.
func looksLikeFile(data []byte) bool {
	const name, most = 4, 3 // bytes before the line ends; bytes that are changed
	if len(data) < name || Kind(data) != "" {
		return false
	}
	if data[0]&0x7f == bloom.FileMagic[0]&0x7f && string(data[1:name]) == bloom.FileMagic[1:name] {
		return true
	}
	same := 0
	for i, b := range data[:min(len(data), len(bloom.FileMagic))] {
		if b == bloom.FileMagic[i] {
			same++
		}
	}
	return same >= len(bloom.FileMagic)-most
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

// Advice returns what who chooses a format should know of it, or nothing.
func Advice(format bloom.Format) string {
	if format.HashBits() > 32 {
		return ""
	}
	return fmt.Sprintf("the format %v has 32-bit hashes, so absent keys that are numbered like the keys may be false positives far more often than other keys (bloom inspect --absent measures the rate); if no storage engine reads the filter, choose --format %v", format, bloom.Default)
}
