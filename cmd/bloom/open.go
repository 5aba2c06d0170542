package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/outputfile"
)

// filterFlags say how the commands read a filter.
type filterFlags struct {
	Format *string `placeholder:"NAME" help:"Format of a bare filter: ${formats} (leveldb). A file that says its format must agree."`
	Raw    bool    `help:"Take the bytes as a bare filter, whatever they look like."`
}

// filterHelp is the part of the help that the commands that read a filter share.
const filterHelp = `The files of bloom build are recognised by their first bytes, and their checksums are verified.
Other files are the bare bytes of a storage engine, in the format that --format names. Bytes that look like text, like a compressed file or like a filter of another format are refused unless --raw insists.
`

// openedFilter is a filter that was read.
type openedFilter struct {
	*bloom.Filter
	bare   []byte // its bytes in its format
	isFile bool   // whether they came with the header of a file
}

// openFilter reads a filter. It warns of bare bytes that no writer of the format writes.
func (f filterFlags) openFilter(s *streams, path string) (o openedFilter, err error) {
	data, err := outputfile.Read(path)
	if err != nil {
		return o, err
	}
	if o, err = f.open(path, data); err != nil {
		return o, err
	}
	if doubt := o.doubt(); doubt != "" && !f.Raw {
		s.warn(path, doubt)
	}
	return o, nil
}

// open returns the filter in the bytes of a file.
func (f filterFlags) open(path string, data []byte) (o openedFilter, err error) {
	asked := bloom.LevelDB
	if f.Format != nil {
		if asked, err = chosenFormat(*f.Format); err != nil {
			return o, err
		}
	}
	if f.Raw {
		o, err = openBare(asked, data)
	} else {
		o, err = recognise(asked, data)
	}
	if strange := (*strangeError)(nil); errors.As(err, &strange) {
		return o, fmt.Errorf("%s: %w: %sinsist with --raw", path, err, strange.remedy)
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w", path, err)
	}
	if f.Format != nil && o.isFile && !o.is(asked) {
		return o, fmt.Errorf("%s: the file holds a filter of %v, and --format says %v", path, o.written(), asked)
	}
	return o, nil
}

// recognise returns the filter in a file, or in bare bytes of the given format. The error is a
// strangeError if the bytes look like something else.
func recognise(f bloom.Format, data []byte) (openedFilter, error) {
	if looksLikeFile(data) {
		return openFile(data)
	}
	if err := checkBare(f, data); err != nil {
		return openedFilter{}, err
	}
	return openBare(f, data)
}

func openBare(f bloom.Format, data []byte) (openedFilter, error) {
	filter, err := bloom.Open(f, data)
	return openedFilter{Filter: filter, bare: data}, fromLibrary(err)
}

// openFile returns the filter in a file, of which it verifies the checksums.
func openFile(data []byte) (o openedFilter, err error) {
	if err := bloom.VerifyFile(data); err != nil {
		return o, fromLibrary(err)
	}
	filter, err := bloom.OpenFile(data)
	if err != nil {
		return o, fromLibrary(err)
	}
	const start = 12 // where the header says where the bare bytes begin
	return openedFilter{filter, data[binary.LittleEndian.Uint32(data[start:]):], true}, nil
}

// looksLikeFile reports whether data begins as a file does, or as one does that a transfer as
// text has damaged: the library says which.
func looksLikeFile(data []byte) bool {
	const name = 4 // bytes before the line ends
	return len(data) >= name && data[0]&0x7f == bloom.FileMagic[0]&0x7f && string(data[1:name]) == bloom.FileMagic[1:name]
}

const crateHeader = 12 // bytes of the header of nori-crate; that of nori has 16

// written returns the format in which the filter was written. Opened as nori, it may be either
// of nori-sstable's formats.
func (o openedFilter) written() bloom.Format {
	if from, _ := o.BitRange(); o.Format() == bloom.Nori && from == crateHeader {
		return bloom.NoriCrate
	}
	return o.Format()
}

// is reports whether the filter is of a format. nori names both of nori-sstable's.
func (o openedFilter) is(f bloom.Format) bool {
	return f == o.written() || f == o.Format() || f == bloom.Nori && o.written() == bloom.NoriCrate
}

// strangeError is the error of bare bytes that look like something else than a filter of the
// format. The remedy is what may help besides --raw.
type strangeError struct{ looks, remedy string }

func (e *strangeError) Error() string { return "this looks " + e.looks }

// checkBare returns an error if bare bytes look like something else than a filter of a format.
// To LevelDB's format any bytes are a filter, and to Parquet's any whole blocks.
func checkBare(f bloom.Format, data []byte) error {
	if found, _ := findCompression(data); found != nil {
		return &strangeError{fmt.Sprintf("compressed (%s)", found.name), "decompress it first, or "}
	}
	if isText(data) {
		return &strangeError{"like text, not like a filter", ""}
	}
	if f == bloom.Nori || f == bloom.NoriCrate {
		return nil // their header has to fit
	}
	if filter, err := openBare(bloom.Nori, data); err == nil {
		return &strangeError{fmt.Sprintf("like a filter of %v, not of %v", filter.written(), f), "choose its format, or "}
	}
	return nil
}

// isText reports whether all of data is characters that are seen, tabs and line ends. Filters of
// LevelDB with 9, 10 or 13 probes end in one of those, and a few of them look like text: of those
// of up to three keys 2 in 100, and none of some twenty keys was found.
func isText(data []byte) bool {
	return len(data) > 0 && utf8.Valid(data) &&
		bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\n\r", r) }) < 0
}

// doubt returns what no writer of LevelDB's bare filters would write, or nothing. The other
// formats and files say enough of themselves.
func (o openedFilter) doubt() string {
	if o.isFile || o.Format() != bloom.LevelDB || len(o.bare) == 0 {
		return ""
	}
	const leastBits, mostProbes, mostFill = 64, 30, 0.75 // with a bit per key, 63 % are set
	array, probes := o.bare[:len(o.bare)-1], o.bare[len(o.bare)-1]
	switch {
	case 8*len(array) < leastBits:
		return fmt.Sprintf("LevelDB's filters have %d bits or more, and this has %d", leastBits, 8*len(array))
	case probes == 0 || probes > mostProbes:
		return fmt.Sprintf("the last byte, %d, is no number of probes of LevelDB's: every key passes", probes)
	}
	if fill := density(array, 1)[0]; fill > mostFill {
		return fmt.Sprintf("%.3g %% of the bits are set: it has more keys than it was made for, or is no filter of %v", 100*fill, o.Format())
	}
	return ""
}
