package filterfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lanebloom/bloom"
)

// StrangeError is the error of bare bytes that look like something else than a filter of the
// format. Remedy is what may help besides --raw.
type StrangeError struct{ Looks, Remedy string }

func (e *StrangeError) Error() string { return "this looks " + e.Looks }

// kinds are files of other kinds, and how they begin: by four bytes or more, for a filter may begin
// with any.
var kinds = []struct{ name, magic string }{
	{"interleaved filters", bloom.InterleavedMagic},
	{"a window of filters", "\x89BLW\r\n\x1a\n"},
	{"a Parquet file", "PAR1"},
	{"an encrypted Parquet file", "PARE"},
	{"an Arrow IPC file", "ARROW1"},
	{"a Feather file (version 1)", "FEA1"},
	{"a program (ELF)", "\x7fELF"},
	{"a program (Mach-O)", "\xcf\xfa\xed\xfe"},
	{"a program (WebAssembly)", "\x00asm"},
	{"a program (Windows)", "MZ\x90\x00"},
	{"a SQLite database", "SQLite format 3\x00"},
	{"a PNG picture", "\x89PNG\r\n"},
	{"a JPEG picture", "\xff\xd8\xff\xe0"},
	{"a JPEG picture", "\xff\xd8\xff\xe1"},
	{"a GIF picture", "GIF8"},
	{"a PDF document", "%PDF-"},
	{"an Avro file", "Obj\x01"},
	{"an HDF5 file", "\x89HDF\r\n"},
	{"a Redis dump", "REDIS0"},
	{"a serialized Java object", "\xac\xed\x00\x05"},
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

// checkKind returns an error if bare bytes look like no single filter of any format.
func checkKind(data []byte) error {
	if len(data) == 0 {
		return &StrangeError{"empty: a file of 0 bytes is not a filter", ""}
	}
	if name, _ := Compression(data); name != "" {
		return &StrangeError{fmt.Sprintf("compressed (%s)", name), "decompress it first"}
	}
	if program := foreign(data); program != "" {
		return &StrangeError{fmt.Sprintf("like a filter of %s, whose format is not supported", program), ""}
	}
	if kind := Kind(data); kind != "" {
		return &StrangeError{fmt.Sprintf("like %s, not like a filter", kind), ""}
	}
	if table := TableOf(data); table != "" {
		return &StrangeError{fmt.Sprintf("like %s, not like a filter from a table", table), "see its filters with bloom tables"}
	}
	if n, ok := FilterBlock(data); ok && len(formatsOf(data)) == 0 { // a small filter may be both
		return &StrangeError{fmt.Sprintf("like a filter block of a LevelDB table, with %s filters, not like one filter", withCommas(n)), ""}
	}
	if isText(data) {
		return &StrangeError{"like text, not like a filter", ""}
	}
	return nil
}

func withCommas(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// tables are how files of sorted tables end.
var tables = []struct{ name, magic string }{
	{"a table of LevelDB", "\x57\xfb\x80\x8b\x24\x75\x47\xdb"},
	{"a table of RocksDB", "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"},
	{"a table of Pebble", "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"},
}

// TableOf returns what table data is, as in "a table of RocksDB", or nothing. Tables of old RocksDB end as
// LevelDB's do.
func TableOf(data []byte) string {
	for _, table := range tables {
		if bytes.HasSuffix(data, []byte(table.magic)) {
			return table.name
		}
	}
	return ""
}

// FilterBlock returns how many filters there are in the block that the metaindex of a table of LevelDB calls filter.NAME:
// one for each 2^lg bytes of the table. The block has the filters, where each of them begins, where these places begin,
// and lg, which a filter would have for its number of probes.
func FilterBlock(data []byte) (n int, ok bool) {
	const word, least, most = 4, 1, 30 // lg is 11 in LevelDB
	if len(data) < word+1 || data[len(data)-1] < least || data[len(data)-1] > most {
		return 0, false
	}
	end := len(data) - word - 1
	start := binary.LittleEndian.Uint32(data[end:])
	if uint64(start) > uint64(end) || (end-int(start))%word != 0 {
		return 0, false
	}
	before := uint32(0)
	for at := int(start); at < end; at += word {
		place := binary.LittleEndian.Uint32(data[at:])
		if place < before || place > start || n == 0 && place != 0 {
			return 0, false
		}
		before = place
		n++
	}
	return n, n > 0 && start > 0
}

// foreign returns the name of the other program that wrote a filter with such a header and length, or nothing.
func foreign(data []byte) string {
	little, big := binary.LittleEndian, binary.BigEndian
	const words = 8 // bytes of a word
	switch n := uint64(len(data)); {
	case bytes.HasPrefix(data, []byte("\x00\x00\x00\x00\x00\x00\x00\x00v02\n")):
		return "github.com/holiman/bloomfilter"
	case bytes.HasPrefix(data, []byte("blobloom\x00")):
		return "github.com/greatroar/blobloom"
	case n >= 48 && little.Uint64(data) == 1 && isDCSO(data):
		return "github.com/DCSO/bloom"
	case n > 12 && big.Uint32(data) == 1 && n-12 == words*uint64(big.Uint32(data[8:])):
		return "Apache Spark"
	case n > 16 && big.Uint32(data) == 2 && n-16 == words*uint64(big.Uint32(data[12:])):
		return "Apache Spark"
	case n > 32 && big.Uint32(data) > 0 && big.Uint32(data) <= 20 && n-8 == words*uint64(big.Uint32(data[4:])): // a block of Parquet may begin so
		return "Apache Cassandra"
	}
	return ""
}

// isDCSO reports whether the numbers of a header fit together: the rate, the probes, and the bits, which are stored.
func isDCSO(data []byte) bool {
	little := binary.LittleEndian
	rate, probes, bits := math.Float64frombits(little.Uint64(data[16:])), little.Uint64(data[24:]), little.Uint64(data[32:])
	return rate > 0 && rate < 1 && probes > 0 && probes <= 1024 && bits > 0 && bits/64 <= uint64(len(data))/8
}

// isText reports whether all of data is characters that are seen, tabs and line ends, after a byte-order mark or none.
// Filters of LevelDB with 9, 10 or 13 probes end in a tab or a line end. Of those with up to three keys, some 2 in 100 look
// like text; larger ones hardly ever do.
func isText(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return len(data) > 0 && utf8.Valid(data) &&
		bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\n\r", r) }) < 0
}
