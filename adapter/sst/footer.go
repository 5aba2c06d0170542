package bloomsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The names of the engines, as returned by [Table.Engine].
const (
	LevelDB = "leveldb" // and goleveldb
	RocksDB = "rocksdb"
	Pebble  = "pebble"
	Badger  = "badger"
)

// footer is what the end of a table says.
type footer struct {
	engine    string
	version   int
	at        int64 // where it begins
	checksum  checksum
	base      uint32 // of the checksums of blocks, which depend on their place if it is not 0
	metaindex handle
	index     handle
}

// parseFooter reads the footer at the end of a file from the file's last bytes. It returns errNoMagic, or an error.
func parseFooter(tail []byte, size int64) (f footer, err error) {
	if len(tail) < leveldbSize {
		return f, errNoMagic
	}
	last := func(n int) []byte { return tail[len(tail)-min(n, len(tail)):] }
	magic := binary.LittleEndian.Uint64(last(magicSize))
	version := binary.LittleEndian.Uint32(last(magicSize + versionSize))
	var length int
	switch magic {
	case magicLevelDB:
		f.engine, f.checksum = LevelDB, sumCRC32C
		f.at = size - leveldbSize
		f.metaindex, f.index, err = twoHandles(last(leveldbSize))
		return f, err
	case magicRocksDB:
		f.engine, length = RocksDB, rocksdbSize
		if version == 0 || version > newestRocksDB {
			return f, fmt.Errorf("%w: format_version %d of RocksDB", ErrVersion, version)
		}
	case magicPebble:
		f.engine = Pebble
		switch {
		case version == 0 || version > newestPebble:
			return f, fmt.Errorf("%w: table format %d of Pebble", ErrVersion, version)
		case version == 7:
			length = largestSize
		case version == 6:
			length = checkedSize
		default:
			length = rocksdbSize
		}
	default:
		if name := others[magic]; name != "" {
			return f, fmt.Errorf("%w: %s", ErrTable, name)
		}
		return f, errNoMagic
	}
	if len(tail) < length {
		return f, fmt.Errorf("%w: the file has %d bytes, but a footer of %s %d has %d", ErrTable, size, f.engine, version, length)
	}
	f.version, f.at = int(version), size-int64(length)
	return f, f.parse(last(length))
}

// The last eight bytes of a table.
const (
	magicLevelDB = 0xdb4775248b80fb57
	magicRocksDB = 0x88e241b785f4cff7
	magicPebble  = 0xb3aa9ff0b3aa9ff0
)

// others are the magics of RocksDB's tables that have no filter blocks.
var others = map[uint64]string{
	0x8242229663bf9564: "a plain table of RocksDB",
	0x4f3418eb7a8f13b8: "a plain table of RocksDB",
	0x926789d0c5f17873: "a cuckoo table of RocksDB",
}

// errNoMagic says that a file does not end as the tables that end in a magic.
var errNoMagic = errors.New("no magic")

// Sizes in a footer.
const (
	magicSize   = 8
	versionSize = 4
	handlesSize = 40 // of two handles and what pads them
	leveldbSize = handlesSize + magicSize
	rocksdbSize = 1 + handlesSize + versionSize + magicSize
	checkedSize = rocksdbSize + 4 // of Pebble's format 6: with a checksum
	largestSize = checkedSize + 4 // of Pebble's format 7: and attributes
)

// The newest versions.
const (
	newestRocksDB = 7
	newestPebble  = 7
)

// parse reads a footer that begins with the type of the checksums.
func (f *footer) parse(data []byte) (err error) {
	f.checksum = checksum(data[0])
	if f.checksum > sumXXH3 {
		return fmt.Errorf("%w: checksum type %d", ErrVersion, data[0])
	}
	switch {
	case f.engine == RocksDB && f.version >= 6:
		return f.parseExtended(data)
	case f.engine == Pebble && f.version >= 6:
		at := len(data) - magicSize - versionSize - 4
		if sumCRC32C.of(without(data, at)) != binary.LittleEndian.Uint32(data[at:]) {
			return fmt.Errorf("%w: the checksum of the footer is wrong", ErrDamaged)
		}
	}
	f.metaindex, f.index, err = twoHandles(data[1:])
	return err
}

// without returns data without the 4 bytes at an offset.
func without(data []byte, at int) []byte {
	return append(append([]byte{}, data[:at]...), data[at+4:]...)
}

// parseExtended reads the footer of RocksDB from format_version 6 on. The metaindex ends where it begins.
func (f *footer) parseExtended(data []byte) error {
	const extended = "\x3e\x00\x7a\x00"
	if string(data[1:5]) != extended {
		return fmt.Errorf("%w: the footer of format_version %d has no extended magic", ErrDamaged, f.version)
	}
	f.base = binary.LittleEndian.Uint32(data[9:])
	stored := binary.LittleEndian.Uint32(data[5:])
	cleared := append([]byte{}, data...)
	clear(cleared[5:9])
	if f.checksum != sumNone && f.checksum.of(cleared)+f.context(f.at) != stored {
		return fmt.Errorf("%w: the checksum of the footer is wrong", ErrDamaged)
	}
	length := uint64(binary.LittleEndian.Uint32(data[13:]))
	if length+trailerSize > uint64(f.at) {
		return fmt.Errorf("%w: the metaindex has %d bytes, but the file has only %d before the footer", ErrDamaged, length, f.at)
	}
	f.metaindex = handle{uint64(f.at) - trailerSize - length, length}
	return nil
}

// context returns what is added to the checksum of what lies at an offset.
func (f *footer) context(offset int64) uint32 {
	if f.base == 0 {
		return 0
	}
	return f.base ^ (uint32(offset) + uint32(offset>>32))
}

// handle is the place of a block: without its trailer.
type handle struct{ offset, size uint64 }

// trailerSize is the number of bytes after each block: its compression and its checksum.
const trailerSize = 5

// parseHandle reads a handle, and returns the bytes after it.
func parseHandle(data []byte) (h handle, rest []byte, ok bool) {
	offset, n := binary.Uvarint(data)
	if n <= 0 {
		return h, nil, false
	}
	size, m := binary.Uvarint(data[n:])
	if m <= 0 {
		return h, nil, false
	}
	return handle{offset, size}, data[n+m:], true
}

func twoHandles(data []byte) (first, second handle, err error) {
	first, rest, ok := parseHandle(data)
	if ok {
		second, _, ok = parseHandle(rest)
	}
	if !ok {
		return first, second, fmt.Errorf("%w: malformed block handles in the footer", ErrDamaged)
	}
	return first, second, nil
}

// randomBytes reports whether bytes look encrypted or compressed: at least 256 of them, with the entropy of
// random bytes.
func randomBytes(data []byte) bool {
	if len(data) < 256 {
		return false
	}
	var counts [256]float64
	for _, b := range data {
		counts[b]++
	}
	n, square := float64(len(data)), 0.0
	for _, c := range counts {
		square += (c - n/256) * (c - n/256) / (n / 256)
	}
	// Chi squared has 255 degrees of freedom: its mean is 255, and its deviation 22.6.
	return math.Abs(square-255) < 6*math.Sqrt(2*255)
}
