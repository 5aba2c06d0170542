package bloomsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/lanebloom/bloom"
)

// Part is a filter of a table, and the keys that it covers. In a table of LevelDB, these are the keys of the
// data blocks that begin at an offset of at least From and below To. A partition of RocksDB covers the keys
// up to LastKey that no earlier part covers. Any other filter covers all keys of the table. LastKey may lie
// between two keys of the table.
type Part struct {
	Filter   *bloom.Filter // nil if the filter is a Ribbon filter
	Ribbon   *Ribbon       // nil if it is a Bloom filter
	From, To uint64
	LastKey  []byte
}

// MayContain reports whether the filter may have a key, or a part of a key such as a prefix. False is certain.
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

// filters are the filters of a table, by number. A number may have no filter, and then holds no key.
type filters interface {
	len() int
	empty(i int) bool // a number without a filter
	// part returns the filter of a number, if there is one.
	part(t *Table, i int) (Part, error)
	// find returns the number of the filter that is asked for a key, or -1 if the table does not have the key.
	find(t *Table, key []byte, compare func(a, b []byte) int) (int, error)
}

// readFilter reads the filter of a table, or finds out why it is not asked.
func (t *Table) readFilter(meta metadata) error {
	h, kind, policy, err := meta.filter()
	if errors.Is(err, ErrNoFilter) {
		t.ignored = err
		return nil
	}
	if err != nil {
		return err
	}
	t.policy, t.size = policy, h.size
	if t.ignored = t.whyIgnored(kind); t.ignored != nil && !errors.Is(t.ignored, ErrPrefix) {
		return nil
	}
	f, err := t.parseFilters(h, kind)
	switch {
	case errors.Is(err, ErrRibbon) || errors.Is(err, ErrPolicy) || errors.Is(err, ErrComparator):
		t.ignored = err
	case err != nil:
		return err
	case t.ignored != nil:
		t.unused = f
	default:
		t.filters = f
	}
	return nil
}

// parseFilters reads the filters of a block of a kind.
func (t *Table) parseFilters(h handle, kind string) (filters, error) {
	block, err := t.file.block(h, "the filter")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "filter.":
		return parseBlocks(block, t.format)
	case "partitionedfilter.":
		parts, err := t.parsePartitions(block)
		if err == nil {
			t.size += parts.size()
		}
		return parts, err
	}
	p, err := t.openFilter(block)
	if err == nil {
		t.format = p.format()
	}
	return whole{p}, err
}

// shown returns the filters that can be read, used or not.
func (t *Table) shown() filters {
	if t.filters == nil {
		return t.unused
	}
	return t.filters
}

// goLevelDBPolicy is the name of the policy of goleveldb, and of LevelDB until 2014.
const goLevelDBPolicy = "leveldb.BuiltinBloomFilter"

// builtin are the names of the engines' own policies in blocks of each kind, with the formats of their filters.
var builtin = map[string]map[string]bloom.Format{
	"filter.": {
		bloom.LevelDB.Name(): bloom.LevelDB,
		goLevelDBPolicy:      bloom.LevelDB,
	},
	"fullfilter.":        {bloom.RocksDB.Name(): bloom.RocksDB},
	"partitionedfilter.": {bloom.RocksDB.Name(): bloom.RocksDB},
}

// families are policies whose filters are known and not read, by the beginnings of their names.
var families = map[string]string{
	"binaryfuse":     "a binary fuse filter, as Pebble writes after v2.1",
	"bloom(":         "a Bloom filter with a name as Pebble's options have after v2.1",
	"adaptive_bloom": "a Bloom filter with a name as Pebble's options have after v2.1",
}

// familyOf returns what is known of a policy, after a comma, or nothing.
func familyOf(policy string) string {
	for name, family := range families {
		if strings.HasPrefix(policy, name) {
			return ", " + family
		}
	}
	return ""
}

// whyIgnored sets the format of the filters, and returns why they are not asked, or nil.
func (t *Table) whyIgnored(kind string) error {
	var known bool
	switch t.format, known = builtin[kind][t.policy]; {
	case known && t.format == bloom.RocksDB && (t.engine == Pebble || t.version < 5):
		t.format = bloom.Pebble
	case !known:
		if t.format, known = t.names[t.policy]; !known {
			return fmt.Errorf("%w: %s%s%s", ErrPolicy, kind, t.policy, familyOf(t.policy))
		}
	}
	p := &t.properties
	if fixed := extractorSplit(p.extractor); fixed != nil && p.prefixesOnly {
		t.split = fixed // RocksDB does not look at its options either
	}
	switch {
	case p.prefixesOnly && t.split == nil:
		return fmt.Errorf("%w: by %s", ErrPrefix, p.extractor)
	case t.hasSplit() && p.comparator != bytewise && t.split == nil:
		return fmt.Errorf("%w: the filter has what the Split of %s returns", ErrPrefix, p.comparator)
	case t.columnar() && t.split == nil && !strings.HasPrefix(p.schema, defaultSchema):
		return fmt.Errorf("%w: the filter has what the Split of the key schema %s returns", ErrPrefix, p.schema)
	}
	return nil
}

// hasSplit reports whether the filter has what the Split of a Comparer of Pebble returns: in RocksDB's format_version 2,
// too, which Pebble can write. Pebble does not say whether whole keys are in the filter, as RocksDB does.
func (t *Table) hasSplit() bool {
	return t.engine == Pebble || t.engine == RocksDB && !t.properties.saysWhole
}

// FilterKey returns the part of a key that the filters of the table have: the key, or a prefix. It returns
// false if the filters cannot be used for the key: the key has no prefix, or the filters are not queried
// ([Table.Ignored]).
func (t *Table) FilterKey(userKey []byte) (key []byte, ok bool) {
	if t.Ignored() != nil {
		return nil, false
	}
	return t.inFilter(userKey)
}

// inFilter returns the part of a key that is in the filter, or false if the filter says nothing about the key.
func (t *Table) inFilter(key []byte) ([]byte, bool) {
	if t.split == nil || !t.hasSplit() && !t.properties.prefixesOnly {
		return key, true
	}
	n := t.split(key)
	if n < 0 || n > len(key) {
		return nil, false
	}
	return key[:n], true
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

// whole is one filter for a table.
type whole struct{ Part }

func (w whole) len() int                                                { return 1 }
func (w whole) empty(int) bool                                          { return false }
func (w whole) part(*Table, int) (Part, error)                          { return w.Part, nil }
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
	return nil, fmt.Errorf("%w: the offsets of the filters", ErrDamaged)
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
		return nil, fmt.Errorf("%w (the index of the filter's partitions)", err)
	}
	if n := x.len(); n > mostUnordered && t.order().trust == foreign {
		return nil, fmt.Errorf("%w: that of %s, and the filter has %d partitions", ErrComparator, t.properties.comparator, n)
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

// Parts returns the number of filters of the table: at most one, except for LevelDB and for filters with
// partitions.
func (t *Table) Parts() (n int) {
	all := t.shown()
	if all == nil {
		return 0
	}
	for i := range all.len() {
		if !all.empty(i) {
			n++
		}
	}
	return n
}

// Filters returns the filters of the table in the order of their keys, and an error for each filter that
// cannot be read. The iterator reads a partition of RocksDB when it reaches that partition, which then stays
// in memory. The iterator includes filters of prefixes, even if they are not queried ([ErrPrefix]).
// [Table.FilterKey] returns the bytes to look up in a filter.
func (t *Table) Filters() iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		all := t.shown()
		if all == nil {
			return
		}
		for i := range all.len() {
			p, err := all.part(t, i)
			if p.isNone() && err == nil {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// FilterMayContain reports whether the filter may have a key. The engine gets the same answer from the
// filter. Unlike [Table.MayContain], it does not use the range of the table's keys.
func (t *Table) FilterMayContain(userKey []byte) (bool, error) {
	if t.filters == nil || t.isSynthetic() {
		return true, nil
	}
	return t.filterMayContain(t.proved(), userKey)
}

func (t *Table) filterMayContain(p *proof, userKey []byte) (bool, error) {
	if t.filters == nil || p.denied != nil {
		return true, nil
	}
	if b, ok := t.filters.(*blocks); ok && p.ordered && t.split == nil { // a key is asked here in the time of some calls of an interface
		return b.mayContain(t, p, userKey)
	}
	if !p.ordered {
		key, ok := t.inFilter(userKey)
		if !ok {
			return true, nil
		}
		return t.askAll(p.tails, key)
	}
	i, err := t.filters.find(t, userKey, p.compare)
	switch {
	case err != nil:
		return true, err
	case i < 0:
		return false, nil
	case i >= t.filters.len():
		return true, nil // the engine has no filter for the key's block
	}
	key, ok := t.inFilter(userKey)
	if !ok {
		return true, nil
	}
	return t.ask(p.tails, i, key)
}

// ask tests the filter of a number for what is in it of a key.
func (t *Table) ask(v tails, i int, key []byte) (bool, error) {
	switch f := t.filters.(type) {
	case *blocks:
		return f.ask(v, i, key), nil
	case *partitions:
		if l := f.loaded[i].Load(); l != nil && l.err == nil { // without a copy
			return l.filter.mayContain(v, key), nil
		}
	}
	p, err := t.filters.part(t, i)
	switch {
	case errors.Is(err, ErrRibbon) || errors.Is(err, ErrPolicy):
		return true, nil
	case err != nil:
		return true, err
	}
	return p.mayContain(v, key), nil
}

// askAll tests all filters, because it is not known which one has the key.
func (t *Table) askAll(v tails, key []byte) (bool, error) {
	for i := range t.filters.len() {
		if may, err := t.ask(v, i, key); may || err != nil {
			return true, err
		}
	}
	return t.filters.len() == 0, nil
}
