package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/internal/rates"
)

// encodingNori is one of the two formats of nori-sstable: a little-endian header, and then
// an array of bits.
//
//	Nori       documented: num_bits uint64, num_hashes uint32, bits_per_key uint32
//	NoriCrate  as its code writes it: num_hashes uint32, num_bits uint64
//
// The documented filter of n keys has n·bits_per_key bits. The code rounds this number up to
// a power of two; older versions of the code did not. A filter of no keys has no bits and
// answers no to every key. In the header of NoriCrate, num_hashes may be 0 then.
type encodingNori struct{ crate bool }

const (
	headerNori      = 16
	headerNoriCrate = 12
)

// maxProbesCrate is the most probes that this library takes from a header of NoriCrate.
// nori-sstable's code has no limit. But 4,096 probes take 5,910 bits per key, and nobody
// builds filters with more.
const maxProbesCrate = 4096

func (e encodingNori) maxProbes() int {
	if e.crate {
		return maxProbesCrate
	}
	return maxProbes
}

func (e encodingNori) format() Format {
	if e.crate {
		return NoriCrate
	}
	return Nori
}

// shape has ceil(0.693·bitsPerKey) probes, at least 1, and at most 30 for Nori and 4,096 for
// NoriCrate. A number of bits per key below 1 counts as 1, because a filter without bits
// would deny its keys.
func (e encodingNori) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 1)
	k := int(min(max(math.Ceil(0.693*float64(bitsPerKey)), 1), float64(e.maxProbes())))
	hi, size := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || size > 8*mostBytes {
		return shape{}, false
	}
	if e.crate && size > 1 {
		size = 1 << bits.Len64(size-1) // mostBytes is a power of two
	}
	return shape{size, k}, true
}

func (e encodingNori) frame(s shape, bitsPerKey int) frame {
	f := frame{before: headerNori}
	if e.crate {
		f.before = headerNoriCrate
		binary.LittleEndian.PutUint32(f.bytes[:], uint32(s.probes))
		binary.LittleEndian.PutUint64(f.bytes[4:], s.bits)
		return f
	}
	binary.LittleEndian.PutUint64(f.bytes[:], s.bits)
	binary.LittleEndian.PutUint32(f.bytes[8:], uint32(s.probes))
	binary.LittleEndian.PutUint32(f.bytes[12:], uint32(min(uint64(max(bitsPerKey, 1)), math.MaxUint32)))
	return f
}

func (e encodingNori) reshape(encoded []byte, s shape) {
	if uint64(len(encoded)) == headerNoriCrate+bytesOfBits(s.bits) { // as header tells them apart
		binary.LittleEndian.PutUint64(encoded[4:], s.bits)
		return
	}
	binary.LittleEndian.PutUint64(encoded, s.bits)
}

// header returns where the bits begin, their number, and the number of probes. For Nori it
// takes the documented header and the code's; the length tells which one it is. For
// NoriCrate it takes the code's. at and k are 0 if no header fits. k alone is 0 if the header
// has a number of probes that no filter has.
func (e encodingNori) header(data []byte) (at int, n uint64, k int) {
	if !e.crate && len(data) >= headerNori {
		n, k := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint32(data[8:])
		if bytesOfBits(n) == uint64(len(data)-headerNori) {
			if k > maxProbes {
				k = 0
			}
			return headerNori, n, int(k)
		}
	}
	if len(data) >= headerNoriCrate {
		k, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint64(data[4:])
		if bytesOfBits(n) == uint64(len(data)-headerNoriCrate) {
			switch {
			case n == 0 && k == 0:
				k = 1 // 12 zero bytes: a filter of no keys
			case k > maxProbesCrate:
				k = 0
			}
			return headerNoriCrate, n, int(k)
		}
	}
	return 0, 0, 0
}

func (e encodingNori) parse(data []byte) ([]byte, shape, error) {
	at, n, k := e.header(data)
	if k == 0 {
		return nil, shape{}, e.refuse(data, at)
	}
	return data[at:], shape{n, k}, nil
}

// refuse returns the error for bytes that header refuses: at is what header returned.
func (e encodingNori) refuse(data []byte, at int) error {
	switch at {
	case headerNori:
		return fmt.Errorf("%w: %d probes in a header of %v", ErrEncoding, binary.LittleEndian.Uint32(data[8:]), Nori)
	case headerNoriCrate:
		return fmt.Errorf("%w: %d probes in a header of %v", ErrEncoding, binary.LittleEndian.Uint32(data), NoriCrate)
	}
	return fmt.Errorf("%w: no header of %v fits %d bytes", ErrEncoding, e.format(), len(data))
}

func bytesOfBits(n uint64) uint64 { return n/8 + min(n%8, 1) }

func (e encodingNori) decode(data []byte) (bitArray, error) {
	at, n, k := e.header(data)
	if k == 0 {
		return bitArray{}, e.refuse(data, at)
	}
	if n == 0 {
		return bitArray(newDouble64(nothing, 8, 1)), nil
	}
	return bitArray(newDouble64(data[at:], n, k)), nil
}

func (e encodingNori) size(n, bitsPerKey int) (m float64, k int) {
	m = float64(n) * float64(max(bitsPerKey, 1))
	if e.crate {
		m = math.Exp2(math.Ceil(math.Log2(m)))
	}
	s, _ := e.shape(0, bitsPerKey)
	return m, s.probes
}

func (encodingNori) rate(n, m float64, k int) float64 {
	return rates.DoubleHashing(n, m, min(k, maxProbesCrate)) // no filter has more
}

func (encodingNori) expectedSet(s shape, n float64) float64 {
	return rates.IndependentSet(n, float64(s.bits), s.probes)
}
