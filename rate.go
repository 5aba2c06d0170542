package bloom

import "github.com/lanebloom/bloom/internal/rates"

// FalsePositiveRate returns the expected share, 0 to 1, of absent keys to which a filter of
// the given numbers of bits and probes answers yes if it has n keys.
//
// It is the rate of keys whose hashes are random. How close it is to measured rates depends on
// the format. Up to 20 bits per key:
//
//   - [BitsAndBlooms], [Guava], [Nori], [NoriCrate], [Parquet] and [RocksDB]: within 5 % from 1,000 keys on. From 20 keys
//     of Nori and NoriCrate on, it may be 14 % too low or 20 % too high. For fewer it is too high: 1.4 times the
//     measured rate for 10 keys, and 4 times for one.
//   - [LevelDB]: from 6,000 to 2^20 keys and for rates from 0.0002 on, FalsePositiveRate itself
//     measures the rate on a filter of random hashes, within 9 %. That takes up to 0.1 s. For more
//     keys or lower rates, measured rates were 0.93 to 1.43 times the result.
//   - [Pebble]: from 50 keys on, measured rates were 0.96 to 1.06 times the result. Some numbers of
//     lines give far more false positives than others; near them, measured rates were up to 1.7
//     times the result.
//
// With more bits per key, measured rates of Pebble were 1.0 to 1.3 times the result, and those of fewer than 20 keys
// of LevelDB, Nori and NoriCrate up to 2.4 times.
//
// The rate is 1 for numbers of probes with which the format answers yes to every key: in LevelDB
// and RocksDB, those above 30.
//
// Numbers as keys can have far higher rates in the formats LevelDB and Pebble, because they have similar or
// equal hashes. At 10 bits per key, 59 % of the absent 8-byte big-endian integers between the keys pass
// a filter of 40 keys of LevelDB, and 99.7 % one of Pebble. In filters of a million keys, 4 to 12 % of the
// absent ones between numbered strings such as "user-00000042" pass, and more bits do not help against equal
// hashes. In the other formats, these keys have the rates of random hashes. docs/false-positives.md of this
// module has the rates of more keys.
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
