package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingBitsAndBlooms is what WriteTo, MarshalBinary and GobEncode of github.com/bits-and-blooms/bloom write.
// All numbers are big-endian:
//
//	m       uint64, the number of bits that the hashes reach, at least 1
//	k       uint64, the number of probes
//	length  uint64, the number of bits that are stored
//	words   ceil(length / 64) uint64; bit b is bit b%64, least significant first, of word b/64
//
// So bit b of a filter is bit b ^ 56 of the bytes after the header.
//
// m and length are equal but in filters of FromWithM, whose length is a multiple of 64. If length is smaller, the
// bits from it on count as 0. Bytes after the words are ignored.
type encodingBitsAndBlooms struct{}

const (
	headerBitsAndBlooms = 24

	// maxProbesBitsAndBlooms is the most probes that this library takes. The writer has no limit, but the smallest
	// rate of a float64 takes 1,075.
	maxProbesBitsAndBlooms = 4096
)

// shape has bitsPerKey bits for each key, at least 1, and ceil(ln 2 · bitsPerKey) probes, as New(m, k) with the
// k of EstimateParameters. A filter of no keys has no bits, and an m of 1.
func (encodingBitsAndBlooms) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 1)
	hi, m := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || m > 8*mostBytes {
		return shape{}, false
	}
	k := min(math.Ceil(math.Ln2*float64(bitsPerKey)), maxProbesBitsAndBlooms)
	return shape{m, int(k)}, true
}

func (e encodingBitsAndBlooms) frame(s shape, _ int) frame {
	f := frame{before: headerBitsAndBlooms}
	e.reshape(f.bytes[:], s)
	binary.BigEndian.PutUint64(f.bytes[8:], uint64(s.probes))
	return f
}

func (encodingBitsAndBlooms) reshape(encoded []byte, s shape) {
	binary.BigEndian.PutUint64(encoded, max(s.bits, 1))
	binary.BigEndian.PutUint64(encoded[16:], s.bits)
}

// header returns what the header says, and false if the bytes are not a filter.
func (encodingBitsAndBlooms) header(data []byte) (m, k, length uint64, ok bool) {
	if len(data) < headerBitsAndBlooms {
		return 0, 0, 0, false
	}
	m, k, length = binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:]), binary.BigEndian.Uint64(data[16:])
	words := length/64 + min(length%64, 1)
	return m, k, length, m > 0 && k <= maxProbesBitsAndBlooms && words <= uint64(len(data)-headerBitsAndBlooms)/8
}

// parse returns the words that the probes reach: none if no bit is stored, so that the filter holds no key.
func (e encodingBitsAndBlooms) parse(data []byte) ([]byte, shape, error) {
	m, k, length, ok := e.header(data)
	if !ok {
		return nil, shape{}, e.refuse(data)
	}
	bits := data[headerBitsAndBlooms:]
	if length == 0 {
		return bits[:0], shape{0, int(k)}, nil
	}
	return bits[:schemeBitsAndBlooms.bytesOf(min(m, length))], shape{m, int(k)}, nil
}

// refuse returns the error for bytes that header refuses.
func (e encodingBitsAndBlooms) refuse(data []byte) error {
	m, k, length, _ := e.header(data)
	switch {
	case len(data) < headerBitsAndBlooms:
		return fmt.Errorf("%w: %d bytes are shorter than the header of %v", ErrEncoding, len(data), BitsAndBlooms)
	case m == 0:
		return fmt.Errorf("%w: the header of %v says 0 bits", ErrEncoding, BitsAndBlooms)
	case k > maxProbesBitsAndBlooms:
		return fmt.Errorf("%w: %d probes in a header of %v, more than %d", ErrEncoding, k, BitsAndBlooms, maxProbesBitsAndBlooms)
	}
	return fmt.Errorf("%w: the header of %v says that %d bits are stored, but only %d bytes follow", ErrEncoding, BitsAndBlooms, length, len(data)-headerBitsAndBlooms)
}

func (e encodingBitsAndBlooms) decode(data []byte) (bitArray, error) {
	m, k, length, ok := e.header(data)
	switch {
	case !ok:
		return bitArray{}, e.refuse(data)
	case k == 0:
		return bitArray(newCrossed64(everything, 8*uint64(len(everything)), 1)), nil
	case length == 0:
		return bitArray(newCrossed64(nothing, 8*uint64(len(nothing)), 1)), nil
	case length < m:
		return bitArray{base: &data[headerBitsAndBlooms], n: m, recip: fewerStored, k: int(k)}, nil
	}
	return bitArray(newCrossed64(data[headerBitsAndBlooms:], m, int(k))), nil
}

// mayContainSlow is Format.MayContainHash for bytes that are damaged, that store fewer bits than the probes reach, or that
// have fewer than three probes.
func (e encodingBitsAndBlooms) mayContainSlow(filter []byte, h Hash) bool {
	m, k, length, ok := e.header(filter)
	if !ok || k == 0 || length == 0 {
		return !ok || k == 0
	}
	c := crossed64{&filter[headerBitsAndBlooms], m, fewerStored, int(k)} // hasSlow reads the length
	return c.hasSlow(h)
}

func (e encodingBitsAndBlooms) size(n, bitsPerKey int) (m float64, k int) {
	s, _ := e.shape(0, bitsPerKey)
	return float64(n) * float64(max(bitsPerKey, 1)), s.probes
}

func (encodingBitsAndBlooms) rate(n, m float64, k int) float64 {
	return rates.Crossed(n, m, min(k, maxProbesBitsAndBlooms)) // no filter has more
}

func (encodingBitsAndBlooms) expectedSet(s shape, n float64) float64 {
	return rates.IndependentSet(n, float64(s.bits), s.probes)
}
