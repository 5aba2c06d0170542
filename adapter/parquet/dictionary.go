package bloomparquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// errPage says that a page is not one of the format.
var errPage = errors.New("malformed dictionary page")

// The fields of PageHeader and DictionaryPageHeader in parquet.thrift, and their values.
const (
	fieldPageType         = 1
	fieldPageSize         = 2
	fieldPageCompressed   = 3
	fieldDictionaryHeader = 7
	fieldPageValues       = 1
	fieldPageEncoding     = 2
	typeDictionaryPage    = 2
	mostPageHeader        = 256
)

// Memory that a page may take when it is decompressed: some bytes, and some for each of its bytes.
const (
	freePage          = 1 << 20
	pageMemoryPerByte = 256
)

// dictionary reads the values of the dictionary of a row group.
func (c *Column) dictionary(i int) (bloom.Keys, error) {
	chunk := &c.meta.Chunks[i]
	offset, end := chunk.DictionaryOffset, chunk.Place.Offset+chunk.Place.Size
	if offset <= 0 || offset >= chunk.Place.Offset {
		offset = chunk.Place.Offset // of the first page, by writers that do not tell where the dictionary is
	} else {
		end = offset + chunk.Place.Size
	}
	if end = min(end, c.meta.Size); offset <= 0 || offset >= end {
		return bloom.Keys{}, fmt.Errorf("%w: it begins at byte %d", errPage, offset)
	}
	head := make([]byte, min(mostPageHeader, end-offset))
	if _, err := c.readAt(head, offset); err != nil {
		return bloom.Keys{}, err
	}
	p, err := parsePageHeader(head)
	if err != nil {
		return bloom.Keys{}, err
	}
	most := min(int64(math.MaxInt32), freePage+pageMemoryPerByte*p.compressed) // sizes are of the type i32
	if offset += int64(p.header); p.compressed < 0 || p.compressed > min(math.MaxInt32, end-offset) || p.size < 0 || p.size > most {
		return bloom.Keys{}, fmt.Errorf("%w: it claims to have %d bytes, and %d after decompression", errPage, p.compressed, p.size)
	}
	data, err := c.readAt(make([]byte, p.compressed), offset)
	if err != nil {
		return bloom.Keys{}, err
	}
	if chunk.Codec == snappy { // its decoders allocate what the data begin with
		if n, _ := binary.Uvarint(data); n != uint64(p.size) {
			return bloom.Keys{}, fmt.Errorf("%w: it decompresses to %d bytes, but claims to have %d", errPage, n, p.size)
		}
	}
	if chunk.Codec != uncompressed {
		if data, err = c.meta.Decompress(chunk.Codec, data, int(p.size)); err != nil {
			return bloom.Keys{}, err
		}
	}
	if int64(len(data)) != p.size {
		return bloom.Keys{}, fmt.Errorf("%w: it has %d bytes, but claims to have %d", errPage, len(data), p.size)
	}
	return c.meta.Type.plainKeys(data, p.values)
}

// page is what the header of a dictionary page says.
type page struct {
	header           int // bytes of the header
	size, compressed int64
	values           int64
}

// parsePageHeader parses the header of a dictionary page, which data begins with.
func parsePageHeader(data []byte) (p page, err error) {
	s := scanner{data: data}
	fields := s.structure(0)
	p.header = s.at
	kind, encoding := int64(-1), int64(-1)
	for _, f := range fields {
		switch f.id {
		case fieldPageType:
			kind = f.integer(data)
		case fieldPageSize:
			p.size = f.integer(data)
		case fieldPageCompressed:
			p.compressed = f.integer(data)
		case fieldDictionaryHeader:
			if f.kind != kindStruct {
				break
			}
			for _, f := range s.again(f) {
				switch f.id {
				case fieldPageValues:
					p.values = f.integer(data)
				case fieldPageEncoding:
					encoding = f.integer(data)
				}
			}
		}
	}
	switch {
	case s.err != nil:
		return p, fmt.Errorf("%w: its header is malformed", errPage)
	case kind != typeDictionaryPage:
		return p, fmt.Errorf("%w: the first page has the type %d", errPage, kind)
	case encoding != encodingPlain && encoding != encodingPlainOld:
		return p, fmt.Errorf("%w: its encoding is %d", errPage, encoding)
	}
	return p, nil
}

// plainKeys returns n values in PLAIN encoding as keys. It uses the memory of data for them.
func (t Type) plainKeys(data []byte, n int64) (bloom.Keys, error) {
	size := int64(len(data))
	if width := int64(t.width()); width > 0 {
		if n < 0 || n > size/width || n*width != size {
			return bloom.Keys{}, fmt.Errorf("%w: %d values in %d bytes", errPage, n, size)
		}
		return bloom.FixedWidth(data, int(width))
	}
	if t.Physical != ByteArray || n < 0 || n > size/4 {
		return bloom.Keys{}, fmt.Errorf("%w: %d values of %v in %d bytes", errPage, n, t, size)
	}
	starts, to := make([]int64, 1, n+1), 0 // the values move together, over their lengths
	rest := data
	for range n {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return bloom.Keys{}, fmt.Errorf("%w: a value extends beyond the end of the page", errPage)
		}
		value := rest[4:][:binary.LittleEndian.Uint32(rest)]
		rest = rest[4+len(value):]
		to += copy(data[to:], value)
		starts = append(starts, int64(to))
	}
	if len(rest) > 0 {
		return bloom.Keys{}, fmt.Errorf("%w: %d bytes follow its %d values", errPage, len(rest), n)
	}
	return bloom.Offsets(data, starts)
}
