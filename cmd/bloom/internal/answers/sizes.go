package answers

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// The most bytes of bits of the library's filters, and the most keys that they have use for.
const (
	mostMemory = 1 << (30 + 10*(math.MaxUint>>63))
	MostKeys   = 1 << (30 + 13*(math.MaxUint>>63))
)

// SizeQuestion has two of the four numbers of a filter: the answer has the others, for each format.
type SizeQuestion struct {
	Keys       *int     `json:"keys"`
	BitsPerKey *int     `json:"bits_per_key"`
	Rate       *float64 `json:"rate"`
	Memory     *uint64  `json:"memory"`
}

// Size is a row of the answer: a filter, or why there is none.
type Size struct {
	Format     string   `json:"format"`
	Keys       *int     `json:"keys"` // null if any number
	BitsPerKey int      `json:"bits_per_key,omitempty"`
	Probes     int      `json:"probes,omitempty"`
	Rate       *float64 `json:"rate,omitempty"`
	Memory     *uint64  `json:"memory"` // bytes; null if any number of keys
	Error      string   `json:"error,omitempty"`
}

// Sizes returns the row of every format.
func (q SizeQuestion) Sizes() (sizes []Size) {
	for _, f := range bloom.Formats() {
		sizes = append(sizes, q.size(f))
	}
	return sizes
}

// Check returns an error unless two of the numbers are there and within their bounds. It names them with
// the prefix of flags, if there is one.
func (q SizeQuestion) Check(prefix string) error {
	given := 0
	for _, isGiven := range []bool{q.Keys != nil, q.BitsPerKey != nil, q.Rate != nil, q.Memory != nil} {
		if isGiven {
			given++
		}
	}
	switch {
	case given != 2:
		return fmt.Errorf("give two of %[1]skeys, %[1]sbits-per-key, %[1]srate and %[1]smemory, not %[2]d", prefix, given)
	case q.Rate != nil && !(*q.Rate > 0 && *q.Rate < 1):
		return fmt.Errorf("%srate: %v is not between 0 and 1", prefix, *q.Rate)
	case q.BitsPerKey != nil && (*q.BitsPerKey < 1 || *q.BitsPerKey > filterfile.MostBitsPerKey):
		return fmt.Errorf("%sbits-per-key must be at least 1 and at most %d, not %d", prefix, filterfile.MostBitsPerKey, *q.BitsPerKey)
	case q.Keys != nil && (*q.Keys < 1 || *q.Keys > MostKeys):
		return fmt.Errorf("%skeys must be at least 1 and at most %.1g", prefix, float64(MostKeys))
	case q.Memory != nil && *q.Memory == 0:
		return fmt.Errorf("%smemory must be at least 1 byte", prefix)
	}
	return nil
}

// size returns the row of a format.
func (q SizeQuestion) size(f bloom.Format) Size {
	size := Size{Format: f.String()}
	keys, bitsPerKey, err := q.solve(f)
	if err != nil {
		size.Error = filterfile.WithoutPrefix(err).Error()
		return size
	}
	policy := bloom.Policy{Format: f, BitsPerKey: bitsPerKey}
	rate := policy.FalsePositiveRate(keys)
	size.BitsPerKey, size.Rate = bitsPerKey, &rate
	_, size.Probes, _ = bloom.Policy{Format: f, BitsPerKey: bitsPerKey}.Size(1) // no error: it is small
	if q.Keys == nil && q.Memory == nil && keys == MostKeys/bitsPerKey {
		return size // the rate sets no limit
	}
	memory := bytesOf(f, keys, bitsPerKey)
	if memory > mostMemory {
		return Size{Format: size.Format, Error: "the filter would be too large"}
	}
	size.Keys, size.Memory = &keys, &memory
	return size
}

// solve returns the number of keys and of bits per key. The rate and the memory follow.
func (q SizeQuestion) solve(f bloom.Format) (keys, bitsPerKey int, err error) {
	if q.Keys != nil {
		keys = *q.Keys
	}
	if q.BitsPerKey != nil {
		bitsPerKey = *q.BitsPerKey
	}
	bitsFor := func(keys int) (int, error) {
		policy, err := bloom.PolicyFor(f, keys, *q.Rate)
		return max(policy.BitsPerKey, 1), err
	}
	switch {
	case q.Keys != nil && q.Rate != nil:
		bitsPerKey, err = bitsFor(keys)
	case q.Keys != nil && q.Memory != nil:
		bitsPerKey = most(filterfile.MostBitsPerKey, func(b int) bool { return bytesOf(f, keys, b) <= *q.Memory })
	case q.BitsPerKey != nil && q.Rate != nil:
		keys = mostKeysFor(f, bitsPerKey, *q.Rate)
	case q.BitsPerKey != nil && q.Memory != nil:
		keys = most(MostKeys/bitsPerKey, func(n int) bool { return bytesOf(f, n, bitsPerKey) <= *q.Memory })
	case q.Rate != nil && q.Memory != nil:
		keys = most(MostKeys, func(n int) bool {
			if bytesOf(f, n, 1) > *q.Memory {
				return false // whatever the rate
			}
			if f != bloom.LevelDB {
				b, err := bitsFor(n)
				return err == nil && bytesOf(f, n, b) <= *q.Memory
			}
			// A rate takes milliseconds. So only the rate of the most bits that fit is computed.
			b := most(filterfile.MostBitsPerKey, func(b int) bool { return bytesOf(f, n, b) <= *q.Memory })
			return b > 0 && bloom.Policy{Format: f, BitsPerKey: b}.FalsePositiveRate(n) <= *q.Rate
		})
		bitsPerKey, err = bitsFor(keys)
		// They also hold for more keys, and may be more than there is room for.
		for keys > 0 && err == nil && bytesOf(f, keys, bitsPerKey) > *q.Memory {
			keys = min(keys-1, most(keys, func(n int) bool { return bytesOf(f, n, bitsPerKey) <= *q.Memory }))
			bitsPerKey, err = bitsFor(keys)
		}
	}
	switch {
	case err == nil && keys == 0:
		err = errors.New("not even one key is within the limits")
	case err == nil && bitsPerKey == 0:
		err = errors.New("not even one bit per key is within the limit")
	}
	return keys, bitsPerKey, err
}

// mostKeysFor returns the most keys whose filter has at most the rate at these bits per key. Filters of fewer
// than 1,000 keys have higher rates than larger ones. They count only if no larger filter has the rate.
func mostKeysFor(f bloom.Format, bitsPerKey int, rate float64) int {
	const few = 1000
	highestRate := highestRates(f, bitsPerKey, few)
	if highestRate(few) <= rate {
		return few - 1 + most(MostKeys/bitsPerKey-few+1, func(n int) bool {
			return bytesOf(f, few-1+n, bitsPerKey) <= mostMemory && highestRate(few-1+n) <= rate
		})
	}
	for n := few - 1; n > 0; n-- {
		if (bloom.Policy{Format: f, BitsPerKey: bitsPerKey}).FalsePositiveRate(n) <= rate {
			return n
		}
	}
	return 0
}

// most returns the largest number of 1 to high that is small enough, or 0. Every number below
// one that is small enough must be so.
func most(high int, isSmallEnough func(int) bool) int {
	return sort.Search(high, func(i int) bool { return !isSmallEnough(i + 1) })
}
