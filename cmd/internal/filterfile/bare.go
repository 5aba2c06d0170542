package filterfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lanebloom/bloom"
)

// knowledge is what the commands know of a format, beside what the library does.
type knowledge struct {
	format  bloom.Format
	is      func(data []byte) bool // whether bare bytes contain this format; nil if no bytes do
	program string                 // that writes the format, if users know it better than the format's name
}

// known has all formats. Bare bytes of some contain their format: their header or trailer has the numbers that their length asks for.
// To LevelDB's format any bytes are a filter, and to Parquet's any whole blocks.
var known = []knowledge{
	{bloom.BitsAndBlooms, isBitsAndBlooms, "github.com/bits-and-blooms/bloom"},
	{bloom.Guava, isGuava, "Guava's BloomFilter"},
	{bloom.Nori, isNori, ""},
	{bloom.NoriCrate, isNoriCrate, ""},
	{bloom.RocksDB, isRocksDB, ""},
	{bloom.Pebble, isPebble, ""},
	{bloom.LevelDB, nil, ""},
	{bloom.Parquet, nil, ""},
}

func knownOf(f bloom.Format) knowledge {
	return known[slices.IndexFunc(known, func(k knowledge) bool { return k.format == f })]
}

// FormatsInBytes returns the formats that bare bytes contain, so that no user has to name them.
func FormatsInBytes() (formats []bloom.Format) {
	for _, k := range known {
		if k.is != nil {
			formats = append(formats, k.format)
		}
	}
	slices.Sort(formats)
	return formats
}

// formatsOf returns the formats that these bare bytes contain.
func formatsOf(data []byte) (formats []bloom.Format) {
	for _, k := range known {
		if k.is != nil && k.is(data) {
			formats = append(formats, k.format)
		}
	}
	return formats
}

// openUnnamed opens bare bytes whose format nobody named.
func openUnnamed(data []byte) (f Filter, err error) {
	formats := formatsOf(data)
	switch len(formats) {
	case 0:
		return f, errors.New("these are bare bytes, which do not contain their format: name the format with --format")
	case 1:
		return OpenBare(formats[0], data)
	}
	return f, fmt.Errorf("these may be bare bytes of %v or of %v: name the format with --format", formats[0], formats[1])
}

// checkFormat returns an error if bare bytes contain another format than f.
func checkFormat(f bloom.Format, data []byte) error {
	formats := formatsOf(data)
	if len(formats) == 0 && f == bloom.LevelDB && isParquet(data) {
		formats = []bloom.Format{bloom.Parquet}
	}
	if len(formats) == 0 || slices.Contains(formats, f) {
		return nil
	}
	contained := knownOf(formats[0])
	if contained.program == "" && knownOf(f).is != nil {
		return nil // opening the bytes tells
	}
	return &StrangeError{fmt.Sprintf("like a filter of %s, not of %v", cmp.Or(contained.program, formats[0].String()), f), "choose its format"}
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

// isNori reports whether data is a filter of nori-sstable with the header of its documentation, and isNoriCrate with the header of its
// code. A filter without bits is zeros, which any file may have.
func isNori(data []byte) bool      { return isWritten(bloom.Nori, data) }
func isNoriCrate(data []byte) bool { return isWritten(bloom.NoriCrate, data) }

func isWritten(f bloom.Format, data []byte) bool {
	filter, err := OpenBare(bloom.Nori, data) // reads both
	if err != nil || filter.Written() != f {
		return false
	}
	from, to := filter.BitRange()
	return from < to
}

const (
	trailer    = 5 // bytes, of RocksDB and of Pebble
	line       = 64
	mostProbes = 30
)

// isRocksDB reports whether data has the trailer of RocksDB's filters since format_version 5: a marker, the number of an
// implementation, the probes, and two zeros. Lines stand before it.
func isRocksDB(data []byte) bool {
	lines := len(data) - trailer
	if lines < 0 || lines%line != 0 {
		return false
	}
	end := data[lines:]
	return end[0] == 0xff && end[1] == 0 && end[2] > 0 && end[2] <= mostProbes && end[3] == 0 && end[4] == 0
}

// isPebble reports whether data has the trailer of Pebble's filters and of RocksDB's older ones: the probes, and the number
// of lines before it, little-endian.
func isPebble(data []byte) bool {
	lines := len(data) - trailer
	if lines <= 0 || lines%line != 0 {
		return false
	}
	end := data[lines:]
	return end[0] > 0 && end[0] <= mostProbes && uint64(binary.LittleEndian.Uint32(end[1:])) == uint64(lines)/line
}

// isParquet reports whether data is blocks of Parquet that LevelDB never writes.
func isParquet(data []byte) bool {
	const block = 32
	return len(data) > 0 && len(data)%block == 0 && !levelDBProbes(data[len(data)-1])
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
		return fmt.Sprintf("a LevelDB filter has %d bits or more, but this one has %d", leastBits, 8*len(array))
	case !levelDBProbes(probes):
		return fmt.Sprintf("the last byte, %d, is not a number of probes that LevelDB writes, so every key is a hit", probes)
	}
	ones := 0
	for _, b := range array {
		ones += bits.OnesCount8(b)
	}
	if fill := float64(ones) / float64(8*len(array)); fill > mostFill {
		return fmt.Sprintf("%.3g %% of the bits are set: the filter has more keys than planned, or is not a %v filter", 100*fill, o.Format())
	}
	return ""
}
