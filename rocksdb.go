package bloom

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
)

// line512 is the walk of one 64-bit hash through an array of n lines of 512 bits, 1 to
// 2^26: RocksDB's FastLocalBloom. The lower half of the hash chooses the line. The upper half
// chooses a bit in it by its highest 9 bits, and for each further probe it is multiplied
// by line512Mul.
type line512 bitArray

// line512Mul is 2^32 divided by the golden ratio, rounded to an odd number.
const line512Mul = 0x9e3779b9

// newLine512 returns the walk of k probes through n lines, which begin where data does.
func newLine512(data []byte, n uint64, k int) line512 {
	return line512{base: unsafe.SliceData(data), n: n, k: k}
}

func arrayLine512(n uint64, k int) bitArray { return bitArray(newLine512(nil, n/512, k)) }
func bytesLine512(a bitArray) uint64        { return 64 * a.n }

// line returns the number of the line of a hash.
func (d *line512) line(h uint64) uint64 { return uint64(uint32(h)) * d.n >> 32 }

// at returns the bytes of the line of a hash.
func (d *line512) at(h uint64) *[64]byte {
	return (*[64]byte)(unsafe.Add(unsafe.Pointer(d.base), 64*d.line(h)))
}

// has reports whether the key of one hash may be in the filter. All probes are in one line, so
// it joins them and makes no branch that depends on the key: to predict that badly costs more than
// the probes. With more probes than fit a vector, it returns after four if one of them finds a clear bit.
func (d *line512) has(h uint64) bool {
	line, x := d.at(h), uint32(h>>32)
	const mul2 = line512Mul * line512Mul & 0xffffffff
	missing, exit := uint32(0), d.k > maxHasProbes
	k := d.k
	for ; k >= 4; k -= 4 {
		const mul3 = mul2 * line512Mul & 0xffffffff
		const mul4 = mul3 * line512Mul & 0xffffffff
		missing |= missingBit(line, x) | missingBit(line, x*line512Mul) | missingBit(line, x*mul2) | missingBit(line, x*mul3)
		if exit && missing != 0 {
			return false
		}
		x *= mul4
	}
	if k >= 2 {
		missing |= missingBit(line, x) | missingBit(line, x*line512Mul)
		x *= mul2
	}
	if k%2 != 0 {
		missing |= missingBit(line, x)
	}
	return missing == 0
}

// missingBit returns 0 if the line has the bit of a probe, its highest 9 bits. amd64 sets a bit of a
// word by one instruction, while a shift by a variable takes three micro-operations: with shifts,
// present keys took longer than the plain loop.
func missingBit(line *[64]byte, probe uint32) uint32 {
	word := load.Uint32(unsafe.Pointer(line), 4*int(probe>>28))
	return word ^ (word | 1<<(probe>>23%32))
}

// addOne sets the bits of one hash, and reports whether one was missing.
func (d *line512) addOne(kernel Kernel, h uint64) (isNew bool) {
	if d.k <= maxHasProbes {
		if isNew, ok := addOneLine512(kernel, &d.base, h); ok {
			return isNew
		}
	}
	return d.add(h)
}

// add is addOne in portable Go.
func (d *line512) add(h uint64) (isNew bool) {
	line, x, missing := d.at(h), uint32(h>>32), byte(0)
	k := d.k
	for ; k >= 2; k -= 2 {
		y := x * line512Mul
		missing |= setInByte(&line[x>>26], x>>23) | setInByte(&line[y>>26], y>>23)
		x = y * line512Mul
	}
	if k > 0 {
		missing |= setInByte(&line[x>>26], x>>23)
	}
	return missing != 0
}

// addLine512 is prober.setLines for this walk.
func (s *prober) addLine512(h *hashes) {
	if len(h.h1) < minSetHashes || !setLine512(s, h, line512Factors.of(s.k, 0)) {
		(*line512)(&s.bitArray).addAll(h.h1)
		return
	}
	for done := 8; done < s.k; done += 8 {
		setLine512(s, h, line512Factors.of(s.k, done))
	}
}

// addAll sets the bits of all hashes.
func (d *line512) addAll(hashes []uint64) {
	base, n, k := unsafe.Pointer(d.base), d.n, d.k
	for _, h := range hashes {
		line, x := (*[64]byte)(unsafe.Add(base, 64*(uint64(uint32(h))*n>>32))), uint32(h>>32) // as in line
		for range k {
			setInLine(line, x>>23)
			x *= line512Mul
		}
	}
}

// probes is prober.probes for this walk.
func (d *line512) probes(h uint64, first int, to []uint64) {
	line, x := 512*d.line(h), uint32(h>>32)
	for range first {
		x *= line512Mul
	}
	for i := range to {
		to[i] = line + uint64(x>>23)
		x *= line512Mul
	}
}

// place writes the numbers of the k bits of each hash to places. There must be at most 2^32
// bits.
func (d *line512) place(hashes []uint64, places []uint32) {
	for i, h := range hashes {
		first, x := uint32(512*d.line(h)), uint32(h>>32)
		for j := range d.k {
			places[i*d.k+j] = first + x>>23
			x *= line512Mul
		}
	}
}

// lineFactors has, for each probe, the number by which kernels of lines multiply a hash. If there are fewer than 8 probes, that of
// the first fills the rest.
type lineFactors struct {
	all [128]uint32
	few [8][8]uint32
}

// newLineFactors returns the factors of which that of a probe gives the next one.
func newLineFactors(first uint32, next func(uint32) uint32) (f lineFactors) {
	for i := range f.all {
		f.all[i], first = first, next(first)
	}
	for k := range f.few {
		copy(f.few[k][:], slices.Repeat(f.all[:1], 8))
		copy(f.few[k][:], f.all[:k])
	}
	return f
}

// of returns the factors of 8 of k probes, from the given one on. If fewer than 8 are left, it returns those of the last 8.
func (f *lineFactors) of(k, probe int) *[8]uint32 {
	if k < 8 {
		return &f.few[k]
	}
	return (*[8]uint32)(f.all[min(probe, k-8):])
}

var line512Factors = newLineFactors(1, func(x uint32) uint32 { return x * line512Mul })

// testLine512 is prober.test for this walk.
func (s *prober) testLine512(h *hashes, hits []uint64) {
	if len(h.h1) < singleKeys || !probeLine512(s, h, &hits[0], line512Factors.of(s.k, 0)) {
		(*line512)(&s.bitArray).probeGeneric(h.h1, hits)
		return
	}
	for done := 8; done < s.k; done += 8 {
		var more [windowKeys / 64]uint64
		probeLine512(s, h, &more[0], line512Factors.of(s.k, done))
		for i := range (len(h.h1) + 63) / 64 {
			hits[i] &= more[i]
		}
	}
}

// probeGeneric is prober.test in portable Go.
func (d *line512) probeGeneric(hashes, hits []uint64) {
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

// probePartLine512 is partTest for this walk. The bits of a key in its line are the same in every
// array.
func probePartLine512(kernel Kernel, p *part, hash Hash) (word uint64) {
	h := hash.h1
	d := (*line512)(&p.arrays[0])
	if p.blocks != nil {
		touched := uint64(0)
		if uint64(len(p.arrays))*d.n >= farBytes/cacheLine {
			touched = touchLines512(p.arrays, h)
		}
		if word, ok := groupLine512(kernel, &p.blocks[0].bases[0], len(p.arrays), h, line512Factors.of(d.k, 0)); ok {
			word |= touched >> 32 // no bit
			for done := 8; done < d.k && word != 0; done += 8 {
				later, _ := groupLine512(kernel, &p.blocks[0].bases[0], len(p.arrays), h, line512Factors.of(d.k, done))
				word &= later
			}
			return word
		}
	}
	return partLine512(p.arrays, h)
}

// partLine512 sets bit i if array i has the bits of a hash: they are the same in every array.
func partLine512(arrays []bitArray, h uint64) (word uint64) {
	var bits lineBits
	x := uint32(h >> 32)
	for range arrays[0].k {
		bits[x>>29] |= 1 << (x >> 23 % 64)
		x *= line512Mul
	}
	for i := range arrays {
		word |= bits.in((*line512)(&arrays[i]).at(h)) << (i % 64)
	}
	return word
}

// touchLines512 loads a byte of the line of a hash in every array, and returns their sum. No load waits for another. Without it,
// the kernel waits for the lines of 8 arrays before it loads those of the next 8.
func touchLines512(arrays []bitArray, h uint64) (sum uint64) {
	for i := range arrays {
		sum += uint64((*line512)(&arrays[i]).at(h)[0])
	}
	return sum
}

// lineBits is the bits of a key in a line of 512 bits.
type lineBits [8]uint64

// in returns 1 if the line has all bits, and otherwise 0.
func (b *lineBits) in(line *[64]byte) uint64 {
	missing := b[0] &^ binary.LittleEndian.Uint64(line[0:])
	missing |= b[1] &^ binary.LittleEndian.Uint64(line[8:])
	missing |= b[2] &^ binary.LittleEndian.Uint64(line[16:])
	missing |= b[3] &^ binary.LittleEndian.Uint64(line[24:])
	missing |= b[4] &^ binary.LittleEndian.Uint64(line[32:])
	missing |= b[5] &^ binary.LittleEndian.Uint64(line[40:])
	missing |= b[6] &^ binary.LittleEndian.Uint64(line[48:])
	missing |= b[7] &^ binary.LittleEndian.Uint64(line[56:])
	return isZero(missing)
}

// xxph3At returns XXPH3 of the n bytes at p. Where one key is tested or added, callers choose keyhash.XXPH3Short themselves:
// without this call, keys of 16 and 24 bytes take 0.93 of the time on a Zen 5.
func xxph3At(p unsafe.Pointer, n int) uint64 {
	switch {
	case n > keyhash.MiddleXXPH3:
		sums := keyhash.NewXXPH3Sums()
		if !addXXPH3(&sums, p, n) {
			sums.Add(p, n)
		}
		return sums.Hash(n)
	case n > keyhash.ShortXXPH3:
		return keyhash.XXPH3Middle(p, n)
	}
	return keyhash.XXPH3Short(p, n)
}

// addXXPH3 is XXPH3Sums.Add in assembly. It returns false, and does nothing, if the CPU runs none.
func addXXPH3(sums *keyhash.XXPH3Sums, p unsafe.Pointer, n int) bool {
	for ; n > longKey; n -= longKey {
		if !xxph3Stripes(kernels[0], &sums[0], (*byte)(p), longKey) {
			return false
		}
		p = unsafe.Add(p, longKey)
	}
	return xxph3Stripes(kernels[0], &sums[0], (*byte)(p), n)
}

// xxph3Generic writes the hash of each row.
func (k *Keys) xxph3Generic(hashes []uint64) {
	n := len(hashes)
	switch k.layout {
	case byteSlices:
		for i, key := range elements[[]byte](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
		}
	case strs:
		for i, key := range elements[string](k, n) {
			hashes[i] = xxph3At(unsafe.Pointer(unsafe.StringData(key)), len(key))
		}
	case uint32s:
		for i, key := range elements[uint32](k, n) {
			hashes[i] = keyhash.XXPH3Uint32(key)
		}
	case uint64s:
		for i, key := range elements[uint64](k, n) {
			hashes[i] = keyhash.XXPH3Uint64(key)
		}
	case fixedWidth:
		if k.width == 16 { // UUIDs: a call for each would take as long as its hash
			for i := range hashes {
				hashes[i] = keyhash.XXPH3Of16(unsafe.Pointer(&k.data[16*i]))
			}
			return
		}
		for i := range hashes {
			hashes[i] = xxph3At(unsafe.Pointer(&k.data[i*k.width]), k.width)
		}
	case offsets32:
		xxph3Between(hashes, k.data, elements[int32](k, n+1))
	case offsets64:
		xxph3Between(hashes, k.data, elements[int64](k, n+1))
	}
}

func xxph3Between[E int32 | int64](hashes []uint64, data []byte, offsets []E) {
	for i := range hashes {
		key := data[offsets[i]:offsets[i+1]]
		hashes[i] = xxph3At(unsafe.Pointer(unsafe.SliceData(key)), len(key))
	}
}
