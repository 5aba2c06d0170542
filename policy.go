package bloom

import (
	"fmt"
	"math/rand/v2"

	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/rates"
)

// Policy builds filters of a format with a number of bits per key. Policy{BitsPerKey: 10} uses the format
// [Default]. A Policy has the functions of LevelDB's FilterPolicy: Name, CreateFilter ([Policy.AppendFilter])
// and KeyMayMatch ([Policy.MayContain]).
type Policy struct {
	Format Format

	// BitsPerKey is the number of bits of the filter for each key. A negative number counts as 0. Formats
	// other than LevelDB use at least 1, and RocksDB at most 100.
	BitsPerKey int
}

// PolicyFor returns the policy with the fewest bits per key that holds a false-positive rate, for example
// 0.01, in a filter built for capacity keys. The policy also holds the rate in filters built for more keys,
// since their size grows with the number of keys. It cannot hold the rate in a [Set] that gets more keys than
// its capacity. If no storage engine reads the filter, choose the format [Default].
//
// The error is [ErrRate] if the rate is not between 0 and 1, or if no filter of the format reaches it;
// [ErrCapacity] if capacity is negative, or if the filter would need more bytes than [Policy.NewSet] allows;
// and [ErrFormat] if the format is unknown. If fewer keys would be possible, the error reports how many.
//
// The rate is [Policy.FalsePositiveRate], the rate of keys with random hashes. Keys that are numbers can have a
// far higher rate in [LevelDB] and [Pebble] (see [Format.FalsePositiveRate]). Formats have limits that more
// bits per key cannot overcome:
//
//   - LevelDB and Pebble have a hash of 32 bits, so a filter of n keys has a rate of at least 1 -
//     e^(-n/2^32). Filters built for more keys than capacity hold the rate up to falsePositiveRate · 2^29
//     keys, which is 5 million for 1 %. For some numbers of keys, the rate is up to 6.5 times
//     falsePositiveRate.
//   - Guava has higher rates where the number of bits is a small odd number times a power of two. Filters
//     built for some numbers of keys above capacity exceed a rate of 0.005 or more by up to 10 %, and a lower
//     rate by a factor of up to 65. If capacity is 1,000 or more, they exceed a rate of 0.0001 or more by up
//     to 10 %, and a lower rate by a factor of up to 25. A policy without these exceptions would need up to
//     three times as many bits per key.
//   - A RocksDB filter has at most 4 GiB, enough for 3.4 billion keys at 10 bits per key, and a Parquet filter
//     64 GiB. Filters for more keys keep that size.
//
// [Policy.FalsePositiveRate] returns the rate for any number of keys.
//
// At 44 bits per key or more, some sizes of LevelDB and Pebble have a higher rate than smaller sizes, and
// PolicyFor may return a few bits more than the fewest. For LevelDB it measures rates, which takes up to a
// second.
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
	if collisions := rates.Collisions(max(float64(capacity), 1), f.HashBits()); collisions >= falsePositiveRate {
		return Policy{}, adviceError{f, capacity, falsePositiveRate, fmt.Errorf("%w: the %d-bit hash of %v gives %d keys a rate of %.3g, above %.3g",
			ErrRate, f.HashBits(), f, capacity, collisions, falsePositiveRate)}
	}
	p := Policy{f, f.filters().FewestBits(capacity, falsePositiveRate)}
	if p.BitsPerKey >= rates.MostBitsPerKey {
		return Policy{}, adviceError{f, capacity, falsePositiveRate, fmt.Errorf("%w: no number of bits per key below %d gives %d keys of %v a rate of %.3g",
			ErrRate, rates.MostBitsPerKey, capacity, f, falsePositiveRate)}
	}
	if _, ok := f.encoding().Shape(capacity, p.BitsPerKey); !ok {
		return Policy{}, adviceError{f, capacity, falsePositiveRate, fmt.Errorf("%w: %d keys at %d bits per key of %v",
			ErrCapacity, capacity, p.BitsPerKey, f)}
	}
	return p, nil
}

// adviceError is an error of PolicyFor that says what to do instead. It finds that out when it is printed: a search for the
// most keys that a format can take meets many such errors and prints none.
type adviceError struct {
	format   Format
	capacity int
	rate     float64
	err      error
}

func (e adviceError) Error() string { return e.err.Error() + advice(e.format, e.capacity, e.rate) }

func (e adviceError) Unwrap() error { return e.err }

// advice says what to do about a rate that the format does not hold for a number of keys: a number of keys for which
// it does, within the double of it, and another format. It is empty if neither helps.
func advice(f Format, capacity int, rate float64) (text string) {
	if n := f.filters().FewerKeys(capacity, rate); n > 0 {
		text = fmt.Sprintf("; divide them among filters of at most %d keys", n)
	}
	if f == Default || !Default.filters().Suits(capacity, rate) {
		return text
	}
	if text == "" {
		return fmt.Sprintf("; choose the format %v", Default)
	}
	return text + fmt.Sprintf(", or choose the format %v", Default)
}

// filters returns what finds the bits per key for a rate.
func (f Format) filters() *rates.Filters {
	return &rates.Filters{Format: f.encoding(), HashBits: f.HashBits(), Rate: f.rate}
}

// Name returns the name that tables store beside filters of this policy.
func (p Policy) Name() string { return p.Format.Name() }

// Size returns the number of bits and the number of probes of the policy's filters for n keys.
//
// The error is [ErrFormat] if the policy's format is unknown. It is [ErrCapacity] if n is negative, or if the
// filter is so large that [Policy.AppendFilter] panics.
func (p Policy) Size(n int) (bits uint64, probes int, err error) {
	if !p.Format.valid() {
		return 0, 0, fmt.Errorf("%w: %v", ErrFormat, p.Format)
	}
	if n < 0 {
		return 0, 0, fmt.Errorf("%w: %d keys", ErrCapacity, n)
	}
	s, ok := p.Format.encoding().Shape(n, p.BitsPerKey)
	if !ok {
		return 0, 0, fmt.Errorf("%w: %d keys at %d bits per key", ErrCapacity, n, p.BitsPerKey)
	}
	return s.Bits, s.Probes, nil
}

// FalsePositiveRate returns the expected false-positive rate, 0 to 1, of a filter for n keys. It is
// [Format.FalsePositiveRate] for the size of the policy's filters.
func (p Policy) FalsePositiveRate(n int) float64 {
	p.Format.mustBe()
	if n <= 0 {
		return 0
	}
	m, k := p.Format.encoding().Size(n, p.BitsPerKey)
	return p.Format.rate(float64(n), m, k)
}

// FalsePositiveRate returns the expected false-positive rate, 0 to 1, of a filter that contains n keys and
// has the given numbers of bits and probes.
//
// The result is the rate of keys with random hashes. Its accuracy depends on the format. Up to 20 bits per
// key:
//
//   - [Parquet] and [RocksDB]: within 5 % for 1,000 keys or more, and within 10 % for fewer.
//   - [BitsAndBlooms], [Guava], [Nori] and [NoriCrate]: within 5 % for 1,000 keys or more, and within 10 % for
//     70 or more. For 20 to 69 keys, measured rates were 0.75 to 1.3 times the result, for 5 to 19 keys 0.65 to
//     2.1 times, and for 1 to 4 keys 0.25 to 4.2 times.
//   - [LevelDB]: for 6,000 to 2^20 keys and rates of 0.0002 or more, FalsePositiveRate itself measures the
//     rate on a filter of random hashes. The result is within 9 %, and the call takes up to 0.1 s. For more
//     keys or lower rates, measured rates were 0.93 to 1.43 times the result, and for fewer than 70 keys 0.75
//     to 1.5 times.
//   - [Pebble]: for 50 keys or more, measured rates were 0.96 to 1.06 times the result, and for fewer keys 0.8
//     to 1.06 times. Some numbers of lines give far more false positives than others; near them, measured rates
//     were up to 1.7 times the result.
//
// With more bits per key, measured rates of Pebble were 1.0 to 1.3 times the result. For fewer than 70 keys,
// measured rates of LevelDB and Nori were 0.4 to 7 times the result, of NoriCrate up to 20 times, of Guava up to
// 220 times and of BitsAndBlooms up to 2,000 times. The worst are filters of one or two keys.
//
// With some numbers of probes, every key is a hit, so the rate is 1: in LevelDB and RocksDB, with more than
// 30.
//
// Keys that are numbers can have far higher rates in the formats LevelDB and Pebble, because they have
// similar or equal hashes. An example is a filter of 40 keys at 10 bits per key, where the keys are 8-byte
// big-endian integers. Of the absent integers between the keys, 59 % are false positives in a LevelDB filter,
// and 99.7 % in a Pebble filter. Another example is a filter of a million numbered strings such as
// "user-00000042". Of the absent strings between the keys, 4 to 12 % are false positives. More bits do not
// help if hashes are equal. In the other formats, these keys have the rates of random hashes.
// docs/false-positives.md of this module has the rates of more keys.
func (f Format) FalsePositiveRate(n int, bits uint64, probes int) float64 {
	f.mustBe()
	switch {
	case n <= 0 || bits == 0:
		return 0
	case probes <= 0:
		return 1
	}
	return f.rate(float64(n), float64(bits), probes)
}

func (f Format) rate(n, m float64, k int) float64 {
	of := formats[f].rate
	if of == nil {
		of = rateLevelDB
	}
	collisions := rates.Collisions(n, f.HashBits())
	return collisions + (1-collisions)*of(n, m, k)
}

// rateLevelDB is the rate of random hashes. Keys that differ in the last byte of a whole word have hashes that
// differ in two bytes only, and a higher rate: docs/false-positives.md.
func rateLevelDB(n, m float64, k int) float64 { return rates.LevelDB(n, m, k, measureLevelDB) }

// measureLevelDB returns the share of random hashes that pass filters of n random hashes. The
// filters have some 2^17 hashes in all, because small ones differ.
func measureLevelDB(n, m, k, queries int) float64 {
	data := append(make([]byte, m/8, m/8+1), byte(k))
	v, _ := openView(LevelDB, data) // never fails
	random := rand.NewPCG(1, 2)     // the same at every call
	var hashes [windowKeys]uint32
	column := func(n int) Keys {
		for i := range hashes[:n] {
			hashes[i] = uint32(random.Uint64())
		}
		return LevelDB.Hashes32(hashes[:n])
	}
	var hits [windowKeys / 64]uint64
	filters := max(1<<17/n, 1)
	windows, yes := max(queries/filters/windowKeys, 1), 0
	for range filters {
		clear(data[:m/8])
		for i := 0; i < n; i += windowKeys {
			v.addColumn(column(min(windowKeys, n-i)))
		}
		for range windows {
			yes += v.MayContainBatch(column(windowKeys), hits[:])
		}
	}
	return float64(yes) / float64(filters*windows*windowKeys)
}

// AppendFilter appends the encoded filter of keys to dst and returns the extended slice. It sizes the filter
// for the number of keys: duplicates count, null rows do not. It does not change the bytes that dst already
// has. If dst has no capacity, the bits begin at a cache line.
//
// Up to 16 goroutines build a filter of 2 MiB or more: at most one for each core (GOMAXPROCS), and at most
// one for every 2^17 keys. Their temporary memory is at most 0.6 times the size of the filter plus 6 MiB. A
// single goroutine builds two kinds of filters: filters of [Parquet], [RocksDB] and [Pebble] on a kernel
// other than [Generic], and filters of more than 2^32 bits in formats other than LevelDB. If AppendFilter
// allocates 4 MiB or more, it requests huge pages. The bytes of the filter do not depend on any of this.
//
// It panics if the bits need more than 2^40 bytes (2^30 where int has 32 bits), or more than 2^31 - 1 blocks of
// [Parquet], or more than 2^29 - 64 bytes of [Pebble]. It also panics if keys are hashes and the format has a
// different hash.
func (p Policy) AppendFilter(dst []byte, keys Keys) []byte {
	return p.appendFilter(kernels[0], dst, keys)
}

func (p Policy) appendFilter(kernel Kernel, dst []byte, keys Keys) []byte {
	keys.mustServe(p.Format)
	p.Format.mustBe()
	f, n := &formats[p.Format], keys.n-keys.nulls()
	shape, ok := p.Format.encoding().Shape(n, p.BitsPerKey)
	if !ok {
		panic(fmt.Sprintf("bloom: a filter of %d keys at %d bits per key is too large", n, p.BitsPerKey))
	}
	before, after := p.Format.encoding().Around()
	start, size := len(dst)+before, f.scheme.bytesOf(shape.Bits)
	if cap(dst) > 0 {
		dst = memory.Extend(dst, before+size+after)
		p.Format.encoding().Put(dst[start-before:], shape, p.BitsPerKey)
	} else {
		dst = p.Format.newFilter(shape, p.BitsPerKey)
	}
	bits := dst[start:][:size]
	if size == 0 {
		bits, shape.Bits = allZeros, 8*uint64(len(allZeros)) // nothing is added to it
	}
	s := prober{Array: f.scheme.array(bits, shape.Bits, shape.Probes), scheme: f.scheme}
	s.setKernel(kernel)
	s.addColumn(keys)
	return dst
}

// NewFilter builds the filter of a column of keys, as [Policy.AppendFilter] does. [Filter.KeyCount] of the
// result is the number of rows that are not null. NewFilter panics in the same cases as AppendFilter.
func (p Policy) NewFilter(keys Keys) *Filter {
	v, _ := openView(p.Format, p.AppendFilter(nil, keys)) // no error: the bytes are ours
	v.count = &keyCount{n: uint64(keys.n - keys.nulls())}
	return &Filter{v}
}
