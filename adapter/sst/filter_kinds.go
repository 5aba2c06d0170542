package bloomsst

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/lanebloom/bloom"
)

// A table has one filter, or one for each stretch of data blocks (LevelDB), or one for each partition of the keys (RocksDB).

// whole is one filter for a table.
type whole struct{ Part }

func (w whole) len() int { return 1 }

func (w whole) empty(int) bool { return false }

func (w whole) part(*Table, int) (Part, error) { return w.Part, nil }

func (w whole) find(*Table, []byte, func(a, b []byte) int) (int, error) { return 0, nil }

// blocks are the filters of LevelDB: one for the data blocks that begin in each stretch of the file, 2 KiB
// long. The offsets of the filters follow the filters; the last one is where the offsets begin.
type blocks struct {
	data    []byte // the filters
	offsets []byte // of len+1 words
	shift   uint   // the logarithm of the length of a stretch
	format  bloom.Format
}

func parseBlocks(block []byte, f bloom.Format) (*blocks, error) {
	const word = 4
	if len(block) >= word+1 {
		last := len(block) - 1
		at := uint64(binary.LittleEndian.Uint32(block[last-word:]))
		if at <= uint64(last-word) && (uint64(last)-at)%word == 0 && block[last] < 64 {
			b := &blocks{block[:at:at], block[at:last], uint(block[last]), f}
			if b.inOrder() {
				return b, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: malformed offsets of the filters", ErrDamaged)
}

func (b *blocks) len() int { return len(b.offsets)/4 - 1 }

// inOrder reports whether each filter lies after the one before.
func (b *blocks) inOrder() bool {
	for i := range b.len() {
		if from, to := b.place(i); from > to || int64(to) > int64(len(b.data)) {
			return false
		}
	}
	return true
}

// place returns where a filter lies.
func (b *blocks) place(i int) (from, to uint32) {
	return binary.LittleEndian.Uint32(b.offsets[4*i:]), binary.LittleEndian.Uint32(b.offsets[4*i+4:])
}

// empty reports whether a stretch has no filter, because no data block begins in it.
func (b *blocks) empty(i int) bool {
	from, to := b.place(i)
	return from == to
}

// encoded returns the bytes of a filter.
func (b *blocks) encoded(i int) []byte {
	from, to := b.place(i)
	return b.data[from:to:to]
}

func (b *blocks) part(_ *Table, i int) (p Part, err error) {
	p = Part{From: uint64(i) << b.shift, To: uint64(i+1) << b.shift}
	if b.empty(i) {
		return p, nil
	}
	p.Filter, err = bloom.Open(b.format, b.encoded(i))
	return p, unknownBytes(err)
}

// ask asks a filter without opening it: a key rarely asks the filter of the key before.
func (b *blocks) ask(v tails, i int, key []byte) bool {
	return !b.empty(i) && v.mayContainEncoded(b.format, b.encoded(i), key)
}

// find returns the filter of the data block that the index leads to. To a key past the last block, LevelDB answers
// without a filter.
func (b *blocks) find(t *Table, key []byte, compare func(a, b []byte) int) (int, error) {
	index, err := t.index()
	if err != nil {
		return 0, err
	}
	i := index.find(key, compare)
	if i == index.len() {
		return -1, nil
	}
	return int(min(index.handles[i].offset>>b.shift, uint64(b.len()))), nil
}

// mayContain asks the filter to which a key leads, for the whole key.
func (b *blocks) mayContain(t *Table, p *proof, key []byte) (bool, error) {
	switch i, err := b.find(t, key, p.compare); {
	case err != nil:
		return true, err
	case i < 0:
		return false, nil
	case i >= b.len():
		return true, nil // LevelDB has no filter for the key's block
	case p.tails == ownTails:
		return !b.empty(i) && b.format.MayContain(b.encoded(i), key), nil
	default:
		return b.ask(p.tails, i, key), nil
	}
}

// partitions are the filters of RocksDB's partitions, by the last key of each.
type partitions struct {
	*index
	loaded []atomic.Pointer[loadedPart]
	spent  atomic.Uint64 // bytes that were decompressed
}

// loadedPart is a partition that was read: its filter, or why it has none.
type loadedPart struct {
	filter Part // without the last key
	err    error
}

func (t *Table) parsePartitions(block []byte) (*partitions, error) {
	x, err := parseIndex(block, indexLayout{userKeys: t.properties.userKeys, differences: t.properties.differences, timestamp: t.order().timestamp}, t.file.limit())
	if err != nil {
		return nil, fmt.Errorf("%w (in the index of the filter's partitions)", err)
	}
	if n := x.len(); n > mostUnordered && t.order().trust == foreign {
		return nil, fmt.Errorf("%w: the comparator is %s, and the filter has %d partitions", ErrComparator, t.properties.comparator, n)
	}
	left := uint64(t.file.footer.at)
	for _, h := range x.handles {
		if h.size > left {
			return nil, fmt.Errorf("%w: the partitions of the filter are longer than the file", ErrDamaged)
		}
		left -= h.size
	}
	return &partitions{index: x, loaded: make([]atomic.Pointer[loadedPart], x.len())}, nil
}

// mostUnordered is the largest number of filters that are all tested for a key if the order is not proved: 500 filters of 1 % have
// 99 of 100 absent keys.
const mostUnordered = 16

// size returns the number of bytes of all partitions.
func (p *partitions) size() (n uint64) {
	for _, h := range p.handles {
		n += h.size
	}
	return n
}

func (p *partitions) empty(i int) bool { return p.handles[i].size == 0 }

// part reads a partition when it is asked for first, and keeps what became of it.
func (p *partitions) part(t *Table, i int) (Part, error) {
	if p.empty(i) {
		return Part{LastKey: p.key(i)}, nil
	}
	l := p.loaded[i].Load()
	if l == nil {
		l = new(loadedPart)
		if l.filter, l.err = p.read(t, p.handles[i]); l.err == nil || isOfBytes(l.err) {
			p.loaded[i].Store(l)
		}
	}
	part := l.filter
	part.LastKey = p.key(i)
	return part, l.err
}

// read reads a partition. No engine compresses filters. If they are compressed, all together have no more bytes than one block may
// have.
func (p *partitions) read(t *Table, h handle) (Part, error) {
	file := t.file
	file.spent = &p.spent
	block, err := file.block(h, "a partition of the filter")
	if err != nil {
		return Part{}, err
	}
	return t.openFilter(block)
}

// find returns the partition of a key. RocksDB asks the last one for keys past all: it may have a prefix of theirs.
func (p *partitions) find(_ *Table, key []byte, compare func(a, b []byte) int) (int, error) {
	return min(p.index.find(key, compare), max(p.len()-1, 0)), nil
}

// openFilter opens a filter. RocksDB's last bytes tell which of its filters it is: each version reads all, and its policy for Ribbon
// filters writes Bloom filters, too.
func (t *Table) openFilter(data []byte) (p Part, err error) {
	formats := []bloom.Format{t.format}
	if t.engine == RocksDB && (t.policy == bloom.RocksDB.Name() || t.format == bloom.RocksDB) {
		if isRibbon(data) {
			p.Ribbon, err = openRibbon(data)
			return p, err
		}
		formats = []bloom.Format{bloom.RocksDB, bloom.Pebble}
	}
	for _, f := range formats {
		if p.Filter, err = bloom.Open(f, data); err == nil {
			return p, nil
		}
	}
	return p, unknownBytes(err)
}

func unknownBytes(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrPolicy, err)
}
