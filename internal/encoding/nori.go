package encoding

import (
	"encoding/binary"
	"math"
)

// nori and noriCrate are the two formats of nori-sstable: a little-endian header, and then an array of bits.
//
//	Nori       documented: num_bits uint64, num_hashes uint32, bits_per_key uint32
//	NoriCrate  as its code writes it: num_hashes uint32, num_bits uint64
//
// The documented filter of n keys has n·bits_per_key bits. The code rounds this number up to a power of two; older versions of
// the code did not. A filter of no keys has no bits and answers no to every key. In the header of NoriCrate, num_hashes may be
// 0 then.
//
// A number of bits per key below 1 counts as 1, because a filter without bits would deny its keys.
var (
	nori = row{
		text: "nori", before: headerNori, leastPerKey: 1,
		probes: func(bitsPerKey int) int { return probesNori(bitsPerKey, MaxProbes) },
		bits:   func(n, bitsPerKey float64) float64 { return n * bitsPerKey },
		most:   8 * MostBytes,
	}
	noriCrate = row{
		text: "nori-crate", before: headerNoriCrate, leastPerKey: 1,
		probes: func(bitsPerKey int) int { return probesNori(bitsPerKey, MaxProbesCrate) },
		bits:   bitsNoriCrate,
		most:   8 * MostBytes, // a power of two
	}
)

const (
	headerNori      = 16
	headerNoriCrate = 12
)

// MaxProbesCrate is the most probes that this library takes from a header of NoriCrate. nori-sstable's code has no limit. But
// 4,096 probes take 5,910 bits per key, and nobody builds filters with more.
const MaxProbesCrate = 4096

// probesNori returns ceil(0.693·bitsPerKey).
func probesNori(bitsPerKey, most int) int {
	return int(min(math.Ceil(0.693*float64(bitsPerKey)), float64(most)))
}

func bitsNoriCrate(n, bitsPerKey float64) float64 {
	bits := n * bitsPerKey
	if fraction, exponent := math.Frexp(bits); fraction > 0.5 {
		bits = math.Ldexp(1, exponent)
	}
	return bits
}

func putNori(encoded []byte, s Shape, bitsPerKey int) {
	binary.LittleEndian.PutUint64(encoded, s.Bits)
	binary.LittleEndian.PutUint32(encoded[8:], uint32(s.Probes))
	binary.LittleEndian.PutUint32(encoded[12:], uint32(min(uint64(max(bitsPerKey, 1)), math.MaxUint32)))
}

func putNoriCrate(encoded []byte, s Shape) {
	binary.LittleEndian.PutUint32(encoded, uint32(s.Probes))
	binary.LittleEndian.PutUint64(encoded[4:], s.Bits)
}

func resizeNori(encoded []byte, bits uint64) {
	if uint64(len(encoded)) == headerNoriCrate+bytesOf(bits) { // as NoriHeader tells them apart
		binary.LittleEndian.PutUint64(encoded[4:], bits)
		return
	}
	binary.LittleEndian.PutUint64(encoded, bits)
}

// NoriHeader returns where the bits begin, their number, and the number of probes. For Nori it takes the documented header and
// the code's; the length tells which one it is. For NoriCrate it takes the code's. at and probes are 0 if no header fits.
// probes alone is 0 if the header has a number of probes that no filter has.
func NoriHeader(data []byte, crate bool) (at int, bits uint64, probes int) {
	if !crate && len(data) >= headerNori {
		n, k := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint32(data[8:])
		if bytesOf(n) == uint64(len(data)-headerNori) {
			if k > MaxProbes {
				k = 0
			}
			return headerNori, n, int(k)
		}
	}
	if len(data) >= headerNoriCrate {
		k, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint64(data[4:])
		if bytesOf(n) == uint64(len(data)-headerNoriCrate) {
			switch {
			case n == 0 && k == 0:
				k = 1 // 12 zero bytes: a filter of no keys
			case k > MaxProbesCrate:
				k = 0
			}
			return headerNoriCrate, n, int(k)
		}
	}
	return 0, 0, 0
}

func parseNori(data []byte, f Format, e *Filter) error {
	at, n, k := NoriHeader(data, f == NoriCrate)
	switch {
	case k > 0:
		e.From, e.To, e.Bits, e.Probes = at, len(data), n, k
		return nil
	case at == headerNori:
		return malformed("%d probes in a header of %v", binary.LittleEndian.Uint32(data[8:]), Nori)
	case at == headerNoriCrate:
		return malformed("%d probes in a header of %v", binary.LittleEndian.Uint32(data), NoriCrate)
	}
	return malformed("no header of %v fits %d bytes", f, len(data))
}
