// Package neighbours tells how many absent keys pass a filter that are like its own: numbers between theirs, and
// after them. No formula knows that for hashes of 32 bits.
package neighbours

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// Keys keeps the keys of a filter, to ask it for others like them. The zero Keys keeps some.
type Keys struct {
	Format bloom.Format // of the filter; if its hash has 64 bits or more, no keys are kept
	Most   int          // bytes that the keys may take, up to 2 GiB; if they take more, none are kept. 0 is 64 MiB

	column
	tooMany bool
}

// Add keeps the keys of a column.
func (k *Keys) Add(keys bloom.Keys) {
	for row := 0; row < keys.Len() && k.keeps(); row++ {
		if data, ok := keys.AppendKey(k.data, row); ok {
			k.end(data)
		}
	}
}

// AddSlices is Add for slices of bytes, which takes less time.
func (k *Keys) AddSlices(keys [][]byte) {
	for i := 0; i < len(keys) && k.keeps(); i++ {
		k.end(append(k.data, keys[i]...))
	}
}

func (k *Keys) keeps() bool { return !k.tooMany && k.Format.HashBits() <= 32 }

// end takes data with another key at its end.
func (k *Keys) end(data []byte) {
	if len(k.offsets) == 0 {
		k.offsets = append(k.offsets, 0)
	}
	k.data, k.offsets = data, append(k.offsets, int32(len(data)))
	const usual, offset = 64 << 20, 4
	if len(k.data)+offset*len(k.offsets) > cmp.Or(k.Most, usual) {
		*k = Keys{Format: k.Format, Most: k.Most, tooMany: true}
	}
}

// fewest is how many keys a warning takes: it judges the neighbours of fewer by one or two that pass, and warned of
// 8 random keys in one filter of 75, of 12 in one of 750.
const fewest = 12

// Warning says which absent keys pass the filter of the kept keys, and why, if these are more than one and a half
// times as many as expected. The rate expected of the filter is a share, 0 to 1. Warning forgets the keys.
func (k *Keys) Warning(filter *bloom.Filter, expected float64) string {
	if k.len() < fewest {
		return ""
	}
	between, after := measure(filter, k.column)
	*k = Keys{Format: k.Format, Most: k.Most}
	worst := between
	if between.asked == 0 || after.rate() > between.rate() {
		worst = after
	}
	// A small filter may have more bits set than is usual: then all absent keys pass more often.
	if !surplus(worst, expected) || !surplus(worst, filter.MeasureRate()) {
		return ""
	}
	return fmt.Sprintf("%s, where %s are expected: %s; if no storage engine reads the filter, take --format %v",
		rates(between, after), percent(expected), cause(filter.Format(), worst, expected), bloom.Default)
}

// surplus reports whether more neighbours pass than one and a half times those expected, and than chance explains.
func surplus(n counts, rate float64) bool {
	expected := rate * float64(n.asked)
	return float64(n.passed) > 1.5*expected+3*math.Sqrt(expected)+1
}

// rates says which neighbours pass.
func rates(between, after counts) string {
	const words = "%s of absent keys with numbers %s those of the keys pass"
	switch {
	case after.asked == 0:
		return fmt.Sprintf(words, percent(between.rate()), "between")
	case between.asked == 0:
		return fmt.Sprintf(words, percent(after.rate()), "after")
	}
	return fmt.Sprintf(words+", and %s with numbers after them", percent(between.rate()), "between", percent(after.rate()))
}

// cause says why more neighbours pass than expected.
func cause(format bloom.Format, n counts, expected float64) string {
	equal := float64(n.equalHash) / float64(n.asked)
	if equal > (n.rate()-expected)/2 {
		return fmt.Sprintf("the format %v gives %s the hash of a key, and a larger filter does not help", format, percent(equal))
	}
	return fmt.Sprintf("the format %v gives neighbours hashes that differ in two bytes alone", format)
}

// percent has two digits, and three for 100 %.
func percent(rate float64) string {
	if rate >= 0.0995 {
		return fmt.Sprintf("%.0f %%", 100*rate)
	}
	return fmt.Sprintf("%.2g %%", 100*rate)
}
