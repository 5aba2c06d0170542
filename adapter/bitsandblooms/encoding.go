package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	lanebloom "github.com/lanebloom/bloom"
)

// An encoded filter is m, k, the number of stored bits, and the bits, all in big-endian words of 64 bits. The library
// reads and writes it. What is here tells where it ends in a stream, and makes it of the words of a bit set.

const (
	headerLen = 24

	// maxBits is the largest m of a filter. maxMissing is by how much the m of a filter that is read may exceed the number of its
	// stored bits: the first addition allocates the missing ones.
	maxBits    = 1 << 43
	maxMissing = 1 << 20
)

// make makes f the filter with the bits of some words, or one that stores no bits yet.
func (f *BloomFilter) make(m, k, length uint, words []uint64) error {
	if m == 0 {
		*f = BloomFilter{k: k}
		return nil
	}
	if uint64(max(m, length)) > maxBits {
		return fmt.Errorf("%w: more than %d bits", lanebloom.ErrCapacity, uint64(maxBits))
	}
	encoded := make([]byte, headerLen, headerLen+(uint64(length)+63)/64*8)
	for i, x := range [...]uint{m, k, length} {
		binary.BigEndian.PutUint64(encoded[8*i:], uint64(x))
	}
	for _, word := range words {
		encoded = binary.BigEndian.AppendUint64(encoded, word)
	}
	return f.open(encoded[:cap(encoded)])
}

// open makes f the filter that is encoded, with nothing after it. It copies the bytes. With an error, f does not change.
func (f *BloomFilter) open(encoded []byte) (err error) {
	var g BloomFilter
	for i, x := range [...]*uint{&g.m, &g.k, &g.length} {
		word := binary.BigEndian.Uint64(encoded[8*i:])
		if *x = uint(word); uint64(*x) != word {
			return fmt.Errorf("%w: the header contains %d, which overflows uint", lanebloom.ErrEncoding, word)
		}
	}
	switch {
	case g.m == 0 && g.length == 0: // From(nil, k), or the zero BloomFilter
	case g.k == 0 || g.length < g.m: // it takes no keys
		var filter *lanebloom.Filter
		if filter, err = lanebloom.Open(lanebloom.BitsAndBlooms, bytes.Clone(encoded)); err == nil {
			g.filter = *filter
		}
	default:
		if g.set, err = lanebloom.OpenSet(lanebloom.BitsAndBlooms, encoded); err == nil {
			g.filter = *g.set.Filter()
		}
	}
	if err == nil {
		*f = g
	}
	return err
}

// encoded returns the encoded filter. Nobody may change it.
func (f *BloomFilter) encoded() []byte {
	if f.m == 0 {
		return binary.BigEndian.AppendUint64(make([]byte, 8, headerLen), uint64(f.k))[:headerLen]
	}
	return f.filter.Bytes()
}

// bits returns the encoded bits.
func (f *BloomFilter) bits() []byte { return f.encoded()[headerLen:] }

// WriteTo writes the encoded filter to a stream, and returns the number of bytes written.
func (f *BloomFilter) WriteTo(stream io.Writer) (int64, error) {
	n, err := stream.Write(f.encoded())
	return int64(n), err
}

// ReadFrom reads an encoded filter from a stream, but no bytes after it. It returns the number of bytes read.
// It returns an error if the bytes are damaged or the stream is too short. In this case, f does not change.
func (f *BloomFilter) ReadFrom(stream io.Reader) (int64, error) {
	var encoded bytes.Buffer
	_, err := io.CopyN(&encoded, stream, headerLen)
	if err == nil {
		var size int64
		if size, err = sizeOf(encoded.Bytes()); err == nil {
			_, err = io.CopyN(&encoded, stream, size-headerLen)
		}
	}
	n := int64(encoded.Len())
	if errors.Is(err, io.EOF) && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = f.open(encoded.Bytes())
	}
	return n, err
}

// sizeOf returns the size of the encoded filter that begins with a header.
func sizeOf(header []byte) (int64, error) {
	m, length := binary.BigEndian.Uint64(header), binary.BigEndian.Uint64(header[16:])
	switch {
	case length > maxBits:
		return 0, fmt.Errorf("%w: a filter of %d bits", lanebloom.ErrEncoding, length)
	case m > length+maxMissing:
		return 0, fmt.Errorf("%w: a filter of %d bits, of which only %d are stored", lanebloom.ErrEncoding, m, length)
	}
	return headerLen + int64(length+63)/64*8, nil
}

// MarshalBinary returns the encoded filter, as WriteTo writes it.
func (f *BloomFilter) MarshalBinary() ([]byte, error) { return bytes.Clone(f.encoded()), nil }

// UnmarshalBinary reads an encoded filter and ignores any bytes after it. If there is an error, f does not
// change.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	if len(data) < headerLen {
		return io.ErrUnexpectedEOF
	}
	size, err := sizeOf(data)
	if err != nil {
		return err
	}
	if size > int64(len(data)) {
		return io.ErrUnexpectedEOF
	}
	return f.open(data[:size])
}

// GobEncode is [BloomFilter.MarshalBinary].
func (f *BloomFilter) GobEncode() ([]byte, error) { return f.MarshalBinary() }

// GobDecode is [BloomFilter.UnmarshalBinary].
func (f *BloomFilter) GobDecode(data []byte) error { return f.UnmarshalBinary(data) }

// object is a filter in JSON. Stored is the number of stored bits and the bits, as they are encoded.
type object struct {
	M      uint64 `json:"m"`
	K      uint64 `json:"k"`
	Stored string `json:"b"`
}

// MarshalJSON returns a JSON object with m, k and the encoded bits as text. It returns an error for a filter
// without bits.
func (f BloomFilter) MarshalJSON() ([]byte, error) {
	if f.m == 0 {
		return nil, fmt.Errorf("%w: a filter without bits cannot be encoded as JSON", lanebloom.ErrEncoding)
	}
	return json.Marshal(object{uint64(f.m), uint64(f.k), base64.URLEncoding.EncodeToString(f.encoded()[16:])})
}

// UnmarshalJSON reads what MarshalJSON writes. If data is null, or if there is an error, f does not change.
func (f *BloomFilter) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("%w: %w", lanebloom.ErrEncoding, err)
	}
	if o.M == 0 {
		return fmt.Errorf("%w: the JSON contains a filter without bits", lanebloom.ErrEncoding)
	}
	encoded := binary.BigEndian.AppendUint64(nil, o.M)
	encoded, err := base64.URLEncoding.AppendDecode(binary.BigEndian.AppendUint64(encoded, o.K), []byte(o.Stored))
	if err != nil {
		return fmt.Errorf("%w: %w", lanebloom.ErrEncoding, err)
	}
	return f.UnmarshalBinary(encoded)
}
