package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/rates"
)

// line32 is the walk of one 32-bit hash h through lines of 64, 128 or 256 bytes: the filters
// of Pebble, and of RocksDB before its format_version 5. h mod the number of lines chooses the
// line. Probe i tests bit (h + i·rotr(h, 17)) mod the bits of a line, with sums mod 2^32.
//
// The lower half of n is the number of lines, at least 1, and its upper half says how
// long they are: 64·2^(n>>32) bytes. So n is the number of lines alone if they have 64 bytes, as
// in every filter that this library builds. The reciprocal is ceil(2^64 / lines).
type line32 bitArray

// newLine32 returns the walk of k probes through lines of 64<<log bytes, which begin where
// data does.
func newLine32(data []byte, lines uint32, log, k int) line32 {
	return line32{
		base:  unsafe.SliceData(data),
		n:     uint64(lines) | uint64(log)<<32,
		recip: math.MaxUint64/uint64(lines) + 1, // 0 for one line, which gives the remainder 0
		k:     k,
	}
}

func arrayLine32(data []byte, n uint64, k int) bitArray {
	return bitArray(newLine32(data, uint32(n/512), 0, k))
}
func bytesLine32(a bitArray) uint64 { return (*line32)(&a).bytes() }

// lines returns the number of lines, and log says how long they are: 64<<log bytes.
func (d *line32) lines() uint64 { return d.n & math.MaxUint32 }
func (d *line32) log() int      { return int(d.n >> 32) }

// bytes returns the number of bytes of all lines.
func (d *line32) bytes() uint64 { return 64 * d.lines() << d.log() }

// line returns the number of the line of a hash. It is Lemire's remainder, as in
// double32.index: the low word of h·recip is (h mod lines)·2^64/lines and less than
// 2^64/lines more.
func (d *line32) line(h uint32) uint64 {
	i, _ := bits.Mul64(uint64(h)*d.recip, d.lines())
	return i
}

// at returns the address of the line of a hash. A probe's sum, masked, is the number of a bit in
// the line.
func (d *line32) at(h uint32) (line unsafe.Pointer, mask uint32) {
	log := d.log()
	return unsafe.Add(unsafe.Pointer(d.base), 64*d.line(h)<<log), 512<<log - 1
}

// has reports whether the key of one hash may be in the filter. It joins three probes
// before it branches, as double32.has does.
func (d *line32) has(h uint32) bool {
	line, mask := d.at(h)
	delta := bits.RotateLeft32(h, -17)
	has := func(h uint32) uint32 {
		bit := h & mask
		return uint32(*(*byte)(unsafe.Add(line, bit/8))) >> (bit % 8)
	}
	k := d.k
	for ; k >= 3; k -= 3 {
		if has(h)&has(h+delta)&has(h+2*delta)&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		if has(h)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// add sets the bits of one hash, and reports whether one was missing.
func (d *line32) add(h uint32) (isNew bool) {
	line, mask := d.at(h)
	delta, missing := bits.RotateLeft32(h, -17), byte(0)
	set := func(h uint32) byte { return setInByte((*byte)(unsafe.Add(line, h&mask/8)), h) }
	k := d.k
	for ; k >= 2; k -= 2 {
		missing |= set(h) | set(h+delta)
		h += 2 * delta
	}
	if k > 0 {
		missing |= set(h)
	}
	return missing != 0
}

// addLine32 is prober.setLines for this walk.
func (s *prober) addLine32(h *hashes) {
	if len(h.h32) < minSetHashes || !setLine32(s, h, line32Steps.of(s.k, 0)) {
		(*line32)(&s.bitArray).addAll(h.h32)
		return
	}
	for done := 8; done < s.k; done += 8 {
		setLine32(s, h, line32Steps.of(s.k, done))
	}
}

// addAll sets the bits of all hashes, in lines of 64 bytes.
func (d *line32) addAll(hashes []uint32) {
	base, lines, recip, k := unsafe.Pointer(d.base), d.lines(), d.recip, d.k
	for _, h := range hashes {
		i, _ := bits.Mul64(uint64(h)*recip, lines) // as in line
		line, delta := (*[64]byte)(unsafe.Add(base, 64*i)), bits.RotateLeft32(h, -17)
		for range k {
			setInLine(line, h%512)
			h += delta
		}
	}
}

// probes is prober.probes for this walk.
func (d *line32) probes(h uint32, first int, to []uint64) {
	log := d.log()
	line, delta := 512*d.line(h)<<log, bits.RotateLeft32(h, -17)
	h += uint32(first) * delta
	for i := range to {
		to[i] = line + uint64(h&(512<<log-1))
		h += delta
	}
}

// place writes the numbers of the k bits of each hash to places. There must be at most 2^32
// bits.
func (d *line32) place(hashes, places []uint32) {
	log := d.log()
	for i, h := range hashes {
		first, delta := uint32(512*d.line(h)<<log), bits.RotateLeft32(h, -17)
		for j := range d.k {
			places[i*d.k+j] = first + h&(512<<log-1)
			h += delta
		}
	}
}

var line32Steps = newLineFactors(0, func(x uint32) uint32 { return x + 1 })

// divisor returns what kernels divide by the number of lines with, in lines of 64 bytes: a reciprocal and a shift. If 2^log is the
// largest power of two up to the number, the reciprocal is floor(2^(32+log)/lines), or 1 less for 2^log lines, and
// the shift is 32+log.
func (d *line32) divisor() [2]uint64 {
	log := bits.Len64(d.n) - 1
	return [2]uint64{min(1<<(32+log)/d.n, math.MaxUint32), uint64(32 + log)}
}

// testLine32 is prober.test for this walk.
func (s *prober) testLine32(h *hashes, hits []uint64) {
	if len(h.h32) < singleKeys || !probeLine32(s, h, &hits[0], line32Steps.of(s.k, 0)) {
		(*line32)(&s.bitArray).probeGeneric(h.h32, hits)
		return
	}
	for done := 8; done < s.k; done += 8 {
		var more [windowKeys / 64]uint64
		probeLine32(s, h, &more[0], line32Steps.of(s.k, done))
		for i := range (len(h.h32) + 63) / 64 {
			hits[i] &= more[i]
		}
	}
}

// probeGeneric is prober.test in portable Go.
func (d *line32) probeGeneric(hashes []uint32, hits []uint64) {
	for i := range (len(hashes) + 63) / 64 {
		word := uint64(0)
		for j, h := range hashes[64*i : min(64*i+64, len(hashes))] {
			if d.has(h) {
				word |= bits.RotateLeft64(1, j)
			}
		}
		hits[i] = word
	}
}

// probePartLine32 is partTest for this walk. The bits of a key in a line of 64 bytes are the same
// in every array.
func probePartLine32(kernel Kernel, p *part, hash Hash) (word uint64) {
	h := uint32(hash.h1)
	d := (*line32)(&p.arrays[0])
	if p.blocks != nil {
		if word, ok := groupLine32(kernel, &p.blocks[0].bases[0], len(p.arrays), uint64(h), line32Steps.of(d.k, 0)); ok {
			for done := 8; done < d.k && word != 0; done += 8 {
				later, _ := groupLine32(kernel, &p.blocks[0].bases[0], len(p.arrays), uint64(h), line32Steps.of(d.k, done))
				word &= later
			}
			return word
		}
	}
	if d.log() > 0 {
		for i := range p.arrays {
			if (*line32)(&p.arrays[i]).has(h) {
				word |= 1 << i
			}
		}
		return word
	}
	var line lineBits
	for i, probe := 0, h; i < d.k; i++ {
		line[probe/64%8] |= 1 << (probe % 64)
		probe += bits.RotateLeft32(h, -17)
	}
	for i := range p.arrays {
		at, _ := (*line32)(&p.arrays[i]).at(h)
		word |= line.in((*[64]byte)(at)) << (i % 64)
	}
	return word
}

// encodingPebble is the filter of Pebble (cockroachdb/pebble, bloom/bloom.go), and of
// RocksDB's tables before format_version 5 (table/block_based/filter_policy.cc,
// LegacyBloom): lines of 64 bytes, then a byte for the number of probes and four
// little-endian ones for the number of lines. RocksDB wrote lines of 128 and 256 bytes on CPUs
// with such cache lines.
type encodingPebble struct{}

// pebbleMostBytes is the most that lines may take. In larger filters, RocksDB and Pebble set
// different bits: Pebble counts bits modulo 2^32.
const pebbleMostBytes = 1 << 29

// shape has the smallest odd number of lines with n·bitsPerKey bits, and none for no keys. It
// has as many probes as LevelDB. A number of bits per key below 1 counts as 1.
func (encodingPebble) shape(n, bitsPerKey int) (shape, bool) {
	bitsPerKey = max(bitsPerKey, 1)
	k := min(max(int(float64(bitsPerKey)*0.69), 1), maxProbes)
	hi, lo := bits.Mul64(uint64(n), uint64(bitsPerKey))
	if hi != 0 || lo > 8*pebbleMostBytes-512 {
		return shape{}, false
	}
	if lo == 0 {
		return shape{0, k}, true
	}
	return shape{512 * ((lo-1)/512 + 1 | 1), k}, true
}

// frame is all zeros for a filter of no keys, as Pebble writes it.
func (e encodingPebble) frame(s shape, _ int) frame {
	f := frame{after: trailer}
	if s.bits > 0 {
		f.bytes[0] = byte(s.probes)
		e.reshape(f.bytes[:trailer], s)
	}
	return f
}

func (encodingPebble) reshape(encoded []byte, s shape) {
	binary.LittleEndian.PutUint32(encoded[len(encoded)-trailer+1:], uint32(s.bits/512))
}

// parse accepts what RocksDB and Pebble both read. Up to five bytes hold no key, and a filter
// of no probes may hold every key.
func (e encodingPebble) parse(data []byte) ([]byte, shape, error) {
	n := len(data) - trailer
	if n <= 0 {
		return data[:0], shape{}, nil
	}
	k, _, err := e.geometry(data)
	return data[:n], shape{8 * uint64(n), k}, err
}

// geometry returns the number of probes of a filter with lines, and the length of these: 64
// bytes shifted left by log.
func (encodingPebble) geometry(data []byte) (k, log int, err error) {
	n := len(data) - trailer
	k = int(int8(data[n]))
	switch {
	case k == markerYes:
		return 0, 0, nil
	case k == markerBloom:
		return 0, 0, fmt.Errorf("%w: the filter is of RocksDB since format_version 5: open it as %v", ErrEncoding, RocksDB)
	case k == markerRibbon:
		return 0, 0, fmt.Errorf("%w: the filter is a Ribbon filter of RocksDB", ErrEncoding)
	case k < 0:
		return 0, 0, fmt.Errorf("%w: RocksDB has no filter with the marker %#02x", ErrEncoding, byte(k))
	}
	if n > pebbleMostBytes {
		return 0, 0, fmt.Errorf("%w: RocksDB and Pebble have no filter of %d bytes", ErrEncoding, n)
	}
	lines := uint64(binary.LittleEndian.Uint32(data[n+1:]))
	for log = range 3 {
		if lines<<(6+log) == uint64(n) {
			return k, log, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: %d bytes are not %d lines of 64, 128 or 256 bytes", ErrEncoding, n, lines)
}

func (e encodingPebble) decode(data []byte) (bitArray, error) {
	n := len(data) - trailer
	if n <= 0 {
		return bitArray(newLine32(nothing, 1, 0, 1)), nil
	}
	k, log, err := e.geometry(data)
	switch {
	case err != nil:
		return bitArray{}, err
	case k == 0:
		return bitArray(newLine32(everything, 1, 0, 1)), nil
	}
	return bitArray(newLine32(data, uint32(n>>(6+log)), log, k)), nil
}

func (e encodingPebble) size(n, bitsPerKey int) (m float64, k int) {
	s, _ := e.shape(0, bitsPerKey)
	lines := math.Ceil(float64(n) * float64(max(bitsPerKey, 1)) / 512)
	if math.Mod(lines, 2) == 0 {
		lines++
	}
	return 512 * min(lines, pebbleMostBytes/64-1), s.probes
}

func (encodingPebble) rate(n, m float64, k int) float64 { return rates.Pebble(n, m, 512, k) }

func (encodingPebble) expectedSet(s shape, n float64) float64 {
	return rates.PebbleSet(n, float64(s.bits), s.probes)
}
