package bloom

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
)

// view is a filter in its encoded bytes, and what answers queries for them. [Filter] and [Set] embed one, and an [AtomicSet] has one.
type view struct {
	prober
	format Format
	data   []byte    // the encoded filter
	count  *keyCount // nil if nobody counted the keys
	kind   KeyKind
	live   *liveBits // of an AtomicSet, or nil
}

// keyCount counts the keys that are added, duplicates included. All views of the same bits
// share it. It fills a cache line: two counts in one line would slow down goroutines that
// each add to a Set of their own.
type keyCount struct {
	n       uint64
	unknown bool // some keys were not counted
	_       [48]byte
}

// A count of mostKeys or more counts as unknown. No filter has as many keys, and adding them one by one takes centuries. So the
// count of a set cannot overflow, whatever a file claims.
const mostKeys = 1 << 63

// add counts n more keys.
func (c *keyCount) add(n uint64) {
	if c.n += n; c.n >= mostKeys || c.n < n {
		c.n, c.unknown = 0, true
	}
}

func openView(f Format, data []byte) (v view, err error) {
	if !f.valid() {
		return v, fmt.Errorf("%w: %v", ErrFormat, f)
	}
	v.format, v.data = f, data
	v.scheme = formats[f].scheme
	if v.Array, err = f.decode(data); err == nil {
		v.setKernel(kernels[0])
	}
	return v, err
}

// decode returns the array of an encoded filter. For a filter that answers without testing its bits, the array has other
// bits, which give the same answer.
func (f Format) decode(data []byte) (probes.Array, error) {
	var e encoding.Filter
	if err := f.encoding().Parse(data, &e); err != nil {
		return probes.Array{}, err
	}
	s, array := formats[f].scheme, data[e.From:e.To]
	switch {
	case e.All:
		return s.array(allOnes, 8*uint64(len(allOnes)), 1), nil
	case e.Bits == 0:
		return s.array(allZeros, 8*uint64(len(allZeros)), 1), nil
	case e.StoresFewer:
		return probes.Array{Base: &array[0], N: e.Bits, Recip: probes.FewerStored, K: e.Probes}, nil
	case e.Doublings > 0:
		return probes.Array(probes.NewPebble(array, uint32(len(array)>>(6+e.Doublings)), e.Doublings, e.Probes)), nil
	}
	return s.array(array, e.Bits, e.Probes), nil
}

// A filter that answers without testing its bits is decoded as one probe of one of these. They
// are as long as a line of the formats that have lines.
var (
	allZeros = make([]byte, 64)
	allOnes  = bytes.Repeat([]byte{0xff}, 64)
)

// newFilter returns an empty filter. The memory comes from memory.Aligned.
func (f Format) newFilter(s shape, bitsPerKey int) []byte {
	before, after := f.encoding().Around()
	data := memory.Aligned(before, formats[f].scheme.bytesOf(s.Bits)+after)
	f.encoding().Put(data, s, bitsPerKey)
	return data
}

// encoded returns the bits in the encoding, and their shape. The capacity of the bits ends where that of the data does:
// fileStart relies on it.
func (v *view) encoded() ([]byte, shape) {
	if v.live != nil { // in LevelDB's format, the number of probes shares a word with bits
		return v.live.bits, v.live.shape
	}
	var e encoding.Filter
	_ = v.format.encoding().Parse(v.data, &e) // no error: it was opened
	return v.data[e.From:e.To], e.Shape
}

func (v *view) bitRange() (from, to int) {
	bits, _ := v.encoded()
	from = cap(v.data) - cap(bits) // their capacities end at the same byte
	return from, from + len(bits)
}

// The functions below are for the views of an AtomicSet, whose bits change at any time.

// liveBits is the bits of an AtomicSet and their shape: to find them in the encoded bytes would read words that
// goroutines change.
type liveBits struct {
	bits     []byte
	shape    shape
	kindLost atomic.Bool // keys of no known kind were merged
}

// setLive makes v, whose memory comes from memory.Aligned, the view of an AtomicSet.
func (v *view) setLive() {
	bits, shape := v.encoded()
	v.live, v.atomic, v.count = &liveBits{bits: bits, shape: shape}, true, nil
}

// still returns v or, if goroutines may change the bits, a view of a copy. The copy has every key whose addition
// returned before.
func (v *view) still() *view {
	if v.live == nil {
		return v
	}
	c := v.copied()
	return &c
}

// copied returns a view of a copy in memory of memory.Aligned. The number of its keys is not known.
func (v *view) copied() view {
	c := *v
	bits, _ := v.encoded()
	before := cap(v.data) - cap(bits) // their capacities end at the same byte
	c.data = memory.Aligned(before, len(v.data)-before)
	copy(c.data, v.data[:before])
	if v.live == nil {
		copy(c.data[before:], v.data[before:])
	} else {
		memory.CopyShared(c.data[before:], v.data[before:]) // what follows the bits shares a word with them
	}
	c.Array, _ = c.format.decode(c.data) // no error: it is a filter
	c.setKernel(c.kernel)
	c.atomic, c.live, c.count = false, nil, &keyCount{unknown: true}
	return c
}
