package rates

import (
	"math"

	"github.com/lanebloom/bloom/internal/encoding"
)

// Parquet returns the rate of blocks of 256 bits, where each of the 8 words has one bit of a key: the mean of
// wordsRate over the number of keys in the block of an absent key.
func Parquet(n, m float64, _ int) float64 { return meanRate(n, m/256, wordsRate) }

// wordsRate returns the chance that a block of j keys has all bits of an absent key. Each of
// its words has the key's bit with the chance 1 - (31/32)^j.
func wordsRate(j float64) float64 {
	return math.Pow(-math.Expm1(j*math.Log1p(-1./32)), 8)
}

// RocksDB returns the rate of lines of 512 bits with independent probes: the mean of lineRate over the number of keys in
// the line of an absent key. To a filter of more probes than there may be, every key is a yes.
func RocksDB(n, m float64, k int) float64 {
	if k > encoding.MaxProbes {
		return 1
	}
	return meanRate(n, m/512, func(j float64) float64 { return lineRate(j, k) })
}

// lineRate returns the chance that a line of j keys has all bits of an absent key, whose
// probes are independent: the mean of fill^k, where the fill varies from line to line. At 1 to
// 10 bits per key, measured rates were 0.98 to 1.01 times that, and at up to 20 bits 0.95
// to 1.07, which is their noise.
func lineRate(j float64, k int) float64 {
	const m = 512
	if j == 0 {
		return 0
	}
	probes := j * float64(k)
	one, two := math.Exp(probes*math.Log1p(-1./m)), math.Exp(probes*math.Log1p(-2./m)) // one bit, two bits are clear
	fill, variance := 1-one, max(two*(1-1./m)+one/m-one*one, 0)
	return min(math.Pow(fill, float64(k))*math.Exp(float64(k*(k-1))/2*variance/(fill*fill)), 1)
}

// RocksDBSet returns how many of m bits n different keys are expected to set. It takes the probes of a key as
// independent, inside its line.
func RocksDBSet(n, m float64, k int) float64 {
	return setOfLines(n, m, -math.Expm1(float64(k)*math.Log1p(-1./512)))
}

// Pebble is PebbleLines for lines of 512 bits.
func Pebble(n, m float64, k int) float64 { return PebbleLines(n, m, 512, k) }

// PebbleLines returns the mean rate of double hashing in lines of this number of bits, a power of two, over
// the number of keys in the line of an absent key. The start and the step of a walk are not independent of
// the line: sharedInLine has what that adds.
func PebbleLines(n, m float64, line, k int) float64 {
	k = min(k, line)
	lines := m / float64(line)
	more := sharedInLine(lines, line, k)
	return meanRate(n, lines, func(j float64) float64 {
		if j == 0 {
			return 0
		}
		d := newDoubleHashing(j, float64(line), k)
		rate := d.rate(d.power(k))
		for s, keys := range more {
			if keys != 0 {
				rate += j * keys * d.shared(s)
			}
		}
		return min(max(rate, 0), 1)
	})
}

// sharedInLine returns a difference of two chances for each number s of bits. The first is the chance that
// the walks of two keys share s bits, if their line is the same in a filter of this number of lines. The
// second is the same chance for two walks of random starts and steps. A bit counts as shared if the probe of
// the same number tests it in both walks.
//
// The hashes of the keys of a line differ by a multiple d of the number of lines. So for lines of 512 bits, the starts
// differ by d mod 512, and the steps by bits 17 to 25 of d, or 1 more if the lower bits carry. If
// a small multiple of the number of lines is close to a multiple of 2^17, as for 10,083 lines,
// many walks in a line are the same: rates are up to 17 times those of random walks. The sum has
// only differences that are multiples of 128: with others, walks share few bits.
//
// At 1 to 20 bits per key, measured rates of random hashes were 0.96 to 1.06 times those that Pebble
// returns, for 50 keys or more, and 0.86 times for fewer. For the worst numbers of lines, those within
// some 50 of 2^17, 2^17/2, 2^17/3 and 2^17/6, they were 1.0 to 1.7 times as high. Keys whose hashes
// are not random can have far higher rates: docs/false-positives.md.
func sharedInLine(lines float64, line, k int) []float64 {
	const unit = 128
	more := make([]float64, k+1)
	if lines < 256 || lines != math.Trunc(lines) {
		return more // the differences are spread evenly
	}
	add := func(start, step int, chance float64) {
		s := 0
		for i := range k {
			if (start+i*step)%line == 0 {
				s++
			}
		}
		more[s] += chance
	}
	for d := uint64(lines) * unit; d < 1<<32; d += uint64(lines) * unit {
		step, low := int(d>>17%uint64(line)), float64(d%(1<<17))/(1<<17)
		chance := 2 * lines * (1 - float64(d)/(1<<32)) / (1 << 32) // of d and -d
		switch step % unit {
		case 0:
			add(int(d%uint64(line)), step, chance*(1-low))
		case unit - 1:
			add(int(d%uint64(line)), step+1, chance*low)
		}
	}
	for start := 0; start < line; start += unit {
		for step := 0; step < line; step += unit {
			add(start, step, -1/float64(line*line))
		}
	}
	return more
}

// PebbleSet returns how many of m bits n different keys are expected to set. The mean number of different bits that a
// key sets is k, except for steps that come back to the first bit before: 2^i of the 512 steps have 2^(i+1) bits.
func PebbleSet(n, m float64, k int) float64 {
	bits := float64(min(k, 1)) // of the step 0
	for order := 2; order <= 512; order *= 2 {
		bits += float64(order / 2 * min(k, order))
	}
	return setOfLines(n, m, bits/512/512)
}

// meanRate returns the mean of rate(j), where j is the number of keys in the block of an absent
// key: of the given number of keys, each is in one of the blocks at random.
func meanRate(keys, blocks float64, rate func(j float64) float64) float64 {
	mean := keys / blocks
	if blocks <= 1 {
		return rate(keys)
	}
	first := keys * math.Log1p(-1/blocks) // the logarithm of the share of blocks without a key
	if first < -600 {                     // far below, the share would underflow to 0
		return rate(mean) // other blocks have nearly as many
	}
	sum, share := 0.0, math.Exp(first) // share of blocks with j keys
	for j := 0.0; j <= min(keys, mean+20*math.Sqrt(mean)+20); j++ {
		if j > mean && share < 1e-18*sum {
			break // the shares of more keys fall so fast that they add nothing
		}
		sum += share * rate(j)
		share *= (keys - j) / (j + 1) / (blocks - 1)
	}
	return min(sum, 1)
}

// setOfLines returns how many bits of a filter of 512-bit lines n different keys are expected
// to set, if a key sets the given share of its line.
func setOfLines(n, m, share float64) float64 {
	return -m * math.Expm1(n*math.Log1p(-min(512/m*share, 1)))
}
