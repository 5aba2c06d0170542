package bloomsst

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom"
)

// Part is one of the filters of a table. In a table of LevelDB, the filter covers the keys of the data blocks
// whose offset is at least From and less than To. In a table of RocksDB, a partition covers the keys that are
// after the previous partition's LastKey but not after its own LastKey. LastKey may lie between two keys of
// the table. Any other filter covers all keys of the table.
type Part struct {
	Filter   *bloom.Filter // nil if the filter is a Ribbon filter
	Ribbon   *Ribbon       // nil if the filter is a Bloom filter
	From, To uint64
	LastKey  []byte
}

// MayContain reports whether the filter may contain a key. If the filter contains prefixes, pass the prefix
// of the key. False is certain.
func (p Part) MayContain(key []byte) bool { return p.mayContain(ownTails, key) }

func (p *Part) mayContain(v tails, key []byte) bool {
	switch {
	case p.Ribbon != nil:
		return p.Ribbon.MayContain(key)
	case p.Filter != nil:
		return v.mayContain(p.Filter, key)
	}
	return false
}

// format returns the format whose hash the filter has.
func (p Part) format() bloom.Format {
	if p.Filter != nil {
		return p.Filter.Format()
	}
	return bloom.RocksDB
}

// isNone reports whether there is no filter.
func (p Part) isNone() bool { return p.Filter == nil && p.Ribbon == nil }

// rateOf estimates the rate of a filter from the share of set bits. Stats counts all bits, and evaluates formulas that take up to some
// milliseconds.
func rateOf(p Part) float64 {
	switch f := p.Filter; {
	case p.Ribbon != nil:
		return p.Ribbon.FalsePositiveRate()
	case f == nil:
		return 0
	default:
		return math.Pow(fillOf(f), float64(len(f.Explain(nil).Positions)))
	}
}

// keysOf estimates the number of keys of a filter.
func keysOf(f *bloom.Filter) float64 {
	from, to := f.BitRange()
	probes := len(f.Explain(nil).Positions)
	return -math.Log1p(-fillOf(f)) * float64(8*(to-from)) / float64(probes)
}

// fillOf returns the share of set bits in up to 64 KiB from the whole filter.
func fillOf(f *bloom.Filter) float64 {
	const stretch, stretches = 4 << 10, 16
	from, to := f.BitRange()
	data := f.Bytes()[from:to]
	step := max(len(data)/stretches, stretch)
	set, counted := 0, 0
	for at := 0; at < len(data); at += step {
		part := data[at:min(at+stretch, len(data))]
		counted += 8 * len(part)
		for ; len(part) >= 8; part = part[8:] {
			set += bits.OnesCount64(binary.LittleEndian.Uint64(part))
		}
		for _, b := range part {
			set += bits.OnesCount8(b)
		}
	}
	return float64(set) / float64(max(counted, 1))
}
