package bloom

import (
	"fmt"
	"math/rand/v2"

	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/rates"
)

// Policy builds filters of a given format with a given number of bits per key. Policy{BitsPerKey: 10} uses the
// format [Default]. A Policy has the methods of LevelDB's FilterPolicy: Name, CreateFilter (here
// [Policy.AppendFilter]) and KeyMayMatch (here [Policy.MayContain]).
type Policy struct {
	Format Format

	// BitsPerKey is the number of bits per key in a filter. A negative number counts as 0. Formats other than
	// LevelDB use at least 1 bit per key, and RocksDB uses at most 100.
	BitsPerKey int
}

// PolicyFor returns a policy for filters with at most the given false-positive rate, for example 0.01. It
// chooses the smallest number of bits per key at which a filter for the given capacity has at most this rate.
// If the policy builds a filter for more keys, the rate also holds, because the size of the filter grows with
// the number of keys. If you add more keys to a [Set] than its capacity, the rate does not hold. If no storage
// engine reads the filter, choose the format [Default].
//
// The error is [ErrRate] if the rate is not between 0 and 1, or if no filter of the format reaches it. It is
// [ErrCapacity] if capacity is negative, or if the filter would need more bytes than [Policy.NewSet] allows. It
// is [ErrFormat] if the format is unknown. If the format can have the rate for fewer keys, the error message
// suggests a number of keys for each filter.
//
// PolicyFor computes rates with [Policy.FalsePositiveRate], which assumes keys with random hashes. In
// [LevelDB] and [Pebble], the rate can be far higher for keys that are numbers (see
// [Format.FalsePositiveRate]). Some formats have limits that more bits per key cannot overcome:
//
//   - LevelDB and Pebble have 32-bit hashes, so a filter of n keys has a rate of at least 1 - e^(-n/2^32).
//     For more keys than capacity, the rate holds up to falsePositiveRate · 2^29 keys, which is 5 million
//     keys for 1 %. For some of these numbers of keys, however, the rate is up to 6.5 times
//     falsePositiveRate.
//   - Guava has higher rates if the number of bits is a small odd number times a power of two. For some numbers
//     of keys above capacity, the rate is up to 1.1 times falsePositiveRate if falsePositiveRate is 0.005 or
//     more, and up to 65 times otherwise. If capacity is 1,000 or more, the rate is up to 1.1 times
//     falsePositiveRate if falsePositiveRate is 0.0001 or more, and up to 25 times otherwise. A policy without
//     these exceptions would need up to three times as many bits per key.
//   - A RocksDB filter is at most 4 GiB in size, which is enough for 3.4 billion keys at 10 bits per key. A
//     Parquet filter is at most 64 GiB in size. Filters for more keys are not larger.
//
// [Policy.FalsePositiveRate] returns the rate for any number of keys.
//
// At 44 bits per key or more, another bit per key increases the rate of some LevelDB and Pebble filters, so
// PolicyFor may return a few bits per key more than necessary. For LevelDB, PolicyFor measures rates, which
// takes up to a second.
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

// Name returns the [Format.Name] of the policy's format. Tables store this name beside their filters.
func (p Policy) Name() string { return p.Format.Name() }

// Size returns the number of bits and the number of probes of the filter that the policy builds for n keys.
//
// The error is [ErrFormat] if the policy's format is unknown. It is [ErrCapacity] if n is negative, or if the
// filter would be so large that [Policy.AppendFilter] would panic.
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

// FalsePositiveRate returns the expected false-positive rate, from 0 to 1, of a filter that the policy builds
// for n keys. It is the result of [Format.FalsePositiveRate] for a filter of that size.
func (p Policy) FalsePositiveRate(n int) float64 {
	p.Format.mustBe()
	if n <= 0 {
		return 0
	}
	m, k := p.Format.encoding().Size(n, p.BitsPerKey)
	return p.Format.rate(float64(n), m, k)
}

// FalsePositiveRate returns the expected false-positive rate, from 0 to 1, of a filter that contains n keys and
// has the given numbers of bits and probes.
//
// The result is the rate for keys with random hashes. Its accuracy depends on the format. With up to 20 bits
// per key, measured rates deviated from the result as follows:
//
//   - [Parquet] and [RocksDB]: measured rates were within 5 % of the result for 1,000 keys or more, and within
//     10 % for fewer keys.
//   - [BitsAndBlooms], [Guava], [Nori] and [NoriCrate]: measured rates were within 5 % of the result for 1,000
//     keys or more, and within 10 % for 70 keys or more. For 20 to 69 keys, they were 0.75 to 1.3 times the
//     result; for 5 to 19 keys, 0.65 to 2.1 times; for 1 to 4 keys, 0.25 to 4.2 times.
//   - [LevelDB]: for 6,000 to 2^20 keys and rates of 0.0002 or more, FalsePositiveRate itself measures the rate
//     on a filter of random hashes. The result is then within 9 %, and the call takes up to 0.1 s. For more
//     keys or lower rates, measured rates were 0.93 to 1.43 times the result. For fewer than 70 keys, they were
//     0.75 to 1.5 times the result.
//   - [Pebble]: for 50 keys or more, measured rates were 0.96 to 1.06 times the result. For fewer keys, they
//     were 0.8 to 1.06 times the result. Filters with certain numbers of lines have far more false positives
//     than others. Near these numbers, measured rates were up to 1.7 times the result.
//
// With more than 20 bits per key, measured rates of Pebble filters were 1.0 to 1.3 times the result. If a
// filter also has fewer than 70 keys, the difference can be larger. For such small filters, measured rates
// of LevelDB and Nori were 0.4 to 7 times the result, of NoriCrate up to 20 times, of Guava up to 220 times,
// and of BitsAndBlooms up to 2,000 times. The difference is largest for filters of one or two keys.
//
// If a LevelDB or RocksDB filter has more than 30 probes, every key is a hit, so the rate is 1.
//
// In the formats LevelDB and Pebble, rates can be far higher for keys that are numbers, because the hashes of
// such keys are similar or equal. One example is a filter of 40 keys at 10 bits per key, where the keys are
// 8-byte big-endian integers. Of the absent integers between the keys, 59 % are false positives in a LevelDB
// filter, and 99.7 % in a Pebble filter. Another example is a filter of a million numbered strings such as
// "user-00000042". Of the absent strings between the keys, 4 to 12 % are false positives. If the hashes of
// two keys are equal, more bits per key do not help. In the other formats, keys that are numbers have the
// same rates as keys with random hashes. In this module, docs/false-positives.md lists the rates of more
// kinds of keys.
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

// AppendFilter appends the encoded filter of keys to dst and returns the extended slice. The size of the
// filter depends on the number of keys, which includes duplicates but not null rows. AppendFilter does not
// change the existing bytes of dst. If cap(dst) is 0, the bits begin at the start of a cache line.
//
// AppendFilter builds a filter of 2 MiB or more with up to 16 goroutines. There are at most GOMAXPROCS
// goroutines. If there are several, each adds 2^17 keys or more. The goroutines use temporary memory of at
// most 6 MiB plus 0.6 times the size of the filter. For [Parquet], [RocksDB] and [Pebble] filters,
// AppendFilter uses a single goroutine unless the kernel is [Generic]. For filters of more than 2^32 bits, it
// uses a single goroutine unless the format is LevelDB. If AppendFilter allocates 4 MiB or more, it requests
// huge pages. The number of goroutines and the huge pages do not affect the bytes of the filter.
//
// AppendFilter panics if the bits need more than 2^40 bytes (2^30 where int has 32 bits), if a [Parquet] filter
// needs more than 2^31 - 1 blocks, or if a [Pebble] filter needs more than 2^29 - 64 bytes. It also panics if
// keys is a column of hashes from a hash function that the format does not use.
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

// NewFilter builds a filter of the keys in a column (see [Policy.AppendFilter]). For the result,
// [Filter.KeyCount] returns the number of rows that are not null. NewFilter panics in the same cases as
// AppendFilter.
func (p Policy) NewFilter(keys Keys) *Filter {
	v, _ := openView(p.Format, p.AppendFilter(nil, keys)) // no error: the bytes are ours
	v.count = &keyCount{n: uint64(keys.n - keys.nulls())}
	return &Filter{v}
}
