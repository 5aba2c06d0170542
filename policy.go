package bloom

import (
	"fmt"
	"math"
	"unsafe"
)

// Policy says how filters are built: in which format, and how large. The zero
// Format is LevelDB. A Policy is LevelDB's FilterPolicy: Name, CreateFilter
// ([Policy.AppendFilter]) and KeyMayMatch ([Policy.MayContain]).
type Policy struct {
	Format     Format
	BitsPerKey int // negative counts as 0
}

// PolicyFor returns the policy of the fewest bits per key for which
// [Policy.FalsePositiveRate] of capacity keys is at most falsePositiveRate.
//
// The error is [ErrRate] if the rate is not between 0 and 1 or the format
// cannot hold it, [ErrCapacity] if capacity is negative, and [ErrFormat]. A
// 32-bit hash alone gives n keys a rate of n / 2^32, however many bits they
// have.
func PolicyFor(f Format, capacity int, falsePositiveRate float64) (Policy, error) {
	if !f.valid() {
		return Policy{}, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	if capacity < 0 {
		return Policy{}, fmt.Errorf("%w: %d keys", ErrCapacity, capacity)
	}
	if !(falsePositiveRate > 0 && falsePositiveRate < 1) {
		return Policy{}, fmt.Errorf("%w: %v is not between 0 and 1", ErrRate, falsePositiveRate)
	}
	if floor := collisionRate(f, capacity); floor >= falsePositiveRate {
		most := -math.Log1p(-falsePositiveRate) * (1 << 32)
		return Policy{}, fmt.Errorf(
			"%w: the 32-bit hash of %v gives %d keys a rate of %.3g, above %.3g; divide them among filters of fewer than %.0f keys, or take the format %v",
			ErrRate, f, capacity, floor, falsePositiveRate, most, Nori)
	}
	for p := (Policy{Format: f}); p.BitsPerKey <= mostBitsPerKey; p.BitsPerKey++ {
		if p.FalsePositiveRate(capacity) <= falsePositiveRate {
			return p, nil
		}
	}
	return Policy{}, fmt.Errorf("%w: %g takes more than %d bits per key of %v", ErrRate, falsePositiveRate, mostBitsPerKey, f)
}

// mostBitsPerKey is where PolicyFor gives up: the probes of the formats, which end
// at 30, have rates of 10^-98 there.
const mostBitsPerKey = 1 << 16

// Name returns the name that tables store beside filters of this policy.
func (p Policy) Name() string { return p.Format.Name() }

// FalsePositiveRate returns the expected share, 0 to 1, of absent keys that a
// filter of n keys answers yes to: (1 - e^(-kn/m))^k for k probes of m bits
// (Bloom 1970), and above that the share of keys whose hash is that of one of
// the n.
//
// The formula takes the probes to be independent. LevelDB's third is not: it
// has 196,606 values in all, so in filters of more than some 20,000 keys the
// rate is up to 2.4 times the formula's. Nor are those of two hashes modulo
// few bits: a filter of [Nori] of 100 keys has 1.1 times the formula's rate at 10
// bits per key, and 1.8 times at 16. [Filter.Stats] tells the rate of a filter as
// it is.
func (p Policy) FalsePositiveRate(n int) float64 {
	_ = formats[p.Format]
	n = max(n, 0)
	k, m := 0.0, 0.0
	if p.Format.isWide() {
		if n == 0 {
			return 0
		}
		k = float64(probesNori(p.Format, p.BitsPerKey))
		m = float64(n) * float64(max(p.BitsPerKey, 1))
		if p.Format == NoriCrate {
			m = math.Exp2(math.Ceil(math.Log2(m)))
		}
	} else {
		k = float64(probesLevelDB(p.BitsPerKey))
		m = math.Ceil(max(64, float64(n)*float64(max(p.BitsPerKey, 0)))/8) * 8
		m = min(m, 1<<32) // the reach of the hash
	}
	walk := math.Pow(-math.Expm1(-k*float64(n)/m), k)
	floor := collisionRate(p.Format, n)
	return floor + (1-floor)*walk
}

// collisionRate returns the chance that the hash of an absent key is that of one of
// n keys: of 128 bits, none.
func collisionRate(f Format, n int) float64 {
	if f.isWide() {
		return 0
	}
	return -math.Expm1(-float64(n) / (1 << 32))
}

// MayContain reports whether key may be in an encoded filter. It takes any
// bytes at all as the filter and allocates nothing, but for the error of bytes that
// [Open] refuses: those may hold every key. A [Filter] saves it the decoding.
func (p Policy) MayContain(filter, key []byte) bool {
	_ = formats[p.Format]
	if p.Format.isWide() {
		d, err := decodeNori(p.Format, filter)
		return err != nil || d.test(hash64(key))
	}
	s := scheme{double32: decodeLevelDB(filter)}
	return s.test(hash32Start(len(key)), unsafe.Pointer(unsafe.SliceData(key)), len(key))
}

// AppendFilter appends the encoded filter of keys to dst and returns the
// extended slice. It sizes the filter by the number of keys, duplicates
// included and null rows not, and leaves the bytes that dst held alone.
//
// Filters of 2 MiB and more are built by as many goroutines as there are cores
// (GOMAXPROCS) for 2^17 keys each, with about half of their size as temporary
// memory. Where it allocates 32 MiB or more, it asks for huge pages. The bytes
// depend on neither.
//
// It panics, as make does, if the filter is larger than memory can be.
func (p Policy) AppendFilter(dst []byte, keys Keys) []byte {
	dst, s := p.grow(dst, keys.n-keys.nulls())
	s.addColumn(keys)
	return dst
}

// grow appends the encoding of an empty filter for n keys to dst, and returns
// the walk through it as well.
func (p Policy) grow(dst []byte, n int) ([]byte, scheme) {
	_ = formats[p.Format]
	if !p.fits(n) {
		panic(fmt.Sprintf("bloom: a filter of %d keys at %d bits per key is too large", n, p.BitsPerKey))
	}
	start := len(dst)
	if p.Format.isWide() {
		bits, _ := bitsNori(p.Format, n, p.BitsPerKey)
		var header [headerNori]byte
		encoded := appendHeaderNori(header[:0], p.Format, bits, p.BitsPerKey)
		dst = extend(dst, len(encoded)+int((bits+7)/8))
		array := dst[start+copy(dst[start:], encoded):]
		return dst, scheme{wide: newDouble64(array, bits, probesNori(p.Format, p.BitsPerKey))}
	}
	size, _ := bytesLevelDB(n, p.BitsPerKey)
	dst = extend(dst, size+1)
	array := dst[start : start+size]
	k := probesLevelDB(p.BitsPerKey)
	dst[start+size] = byte(k)
	return dst, scheme{double32: newDouble32(array, k)}
}

// fits reports whether memory could hold a filter of n keys.
func (p Policy) fits(n int) bool {
	if p.Format.isWide() {
		_, ok := bitsNori(p.Format, n, p.BitsPerKey)
		return ok
	}
	_, ok := bytesLevelDB(n, p.BitsPerKey)
	return ok
}

// NewBuilder returns an empty builder of filters of this policy.
func (p Policy) NewBuilder() *Builder {
	_ = formats[p.Format]
	return &Builder{policy: p}
}

// NewSet returns an empty set with room for capacity keys at the policy's bits
// per key; one key at least, in the formats that have no bits for none. The error is [ErrCapacity] if capacity is negative or the filter
// too large to be addressed, and [ErrFormat].
func (p Policy) NewSet(capacity int) (*Set, error) {
	if !p.Format.valid() {
		return nil, fmt.Errorf("%w: %v", ErrFormat, p.Format)
	}
	if capacity < 0 {
		return nil, fmt.Errorf("%w: %d keys", ErrCapacity, capacity)
	}
	if !p.fits(capacity) {
		return nil, fmt.Errorf("%w: %d keys at %d bits per key", ErrCapacity, capacity, p.BitsPerKey)
	}
	if p.Format.isWide() {
		capacity = max(capacity, 1)
	}
	data, _ := p.grow(nil, capacity)
	v, err := openView(p.Format, data)
	return &Set{v}, err
}
