package bloomsst

import (
	"encoding/binary"
	"fmt"
)

// index is what an index block lists: blocks in the order of their keys. The key of a block is not below
// those in it, and not above those of the next.
type index struct {
	keys    []byte // one after the other: user keys
	ends    []int
	handles []handle
	after   []bool // in the database, all entries of this key come after it: its block has none of them
	err     error  // why it cannot be used: it is kept, so that a damaged block is decoded once
}

// newIndex returns an index with room for the entries and for the bytes of their keys, or without room if
// that is above the limit.
func newIndex(entries, bytes int, limit uint64) *index {
	if uint64(entries)*entrySize+uint64(bytes) > limit {
		return new(index)
	}
	return &index{
		keys:    make([]byte, 0, bytes),
		ends:    make([]int, 0, entries),
		handles: make([]handle, 0, entries),
		after:   make([]bool, 0, entries),
	}
}

func (x *index) len() int { return len(x.ends) }

func (x *index) key(i int) []byte {
	from := 0
	if i > 0 {
		from = x.ends[i-1]
	}
	return x.keys[from:x.ends[i]:x.ends[i]]
}

// find returns the number of the first block whose key is not below a key, or len if there is none.
func (x *index) find(key []byte, compare func(a, b []byte) int) int {
	from, to := 0, x.len()
	for from < to { // as sort.Search, which calls a function for each
		i := int(uint(from+to) / 2)
		if c := compare(x.key(i), key); c > 0 || c == 0 && !x.after[i] {
			to = i
		} else {
			from = i + 1
		}
	}
	return from
}

// indexLayout is how the entries of an index block are stored.
type indexLayout struct {
	userKeys    bool // else keys have a tag of 8 bytes: a sequence number and a kind
	differences bool // handles are stored as the difference of their size to that of the one before
	firstKeys   bool // after a handle, there is the first key of the block
	timestamp   int  // how many bytes of a user key, at its end, are its timestamp
}

// The memory that an entry of an index takes, besides its key: kept, and while columns are read.
const (
	entrySize       = 32
	columnEntrySize = 96
)

// parseIndex reads an index block. Its entries take no more memory than limit.
func parseIndex(block []byte, l indexLayout, limit uint64) (*index, error) {
	r := l.rows(block)
	x := newIndex(len(r.restarts)/wordSize, len(r.data), limit) // each key is whole, usually
	var h handle
	for r.next() {
		var ok bool
		if h, _, ok = l.handle(r.value, h, r.whole); !ok {
			return nil, errHandle
		}
		if err := x.add(r.key, h, l, limit); err != nil {
			return nil, err
		}
	}
	return x, r.err
}

var errHandle = fmt.Errorf("%w: malformed block handle in an index block", ErrDamaged)

// lastOf returns an index of the last entry alone.
func lastOf(block []byte, l indexLayout, limit uint64) (*index, error) {
	x := new(index)
	return x, x.addFrom(block, l, limit, -1)
}

// addFrom appends the entry at a restart, or the last entry, if that is -1.
func (x *index) addFrom(block []byte, l indexLayout, limit uint64, restart int) error {
	r := l.rows(block)
	r.skipTo(restart)
	var h handle
	some := false
	for r.next() {
		var ok bool
		if h, _, ok = l.handle(r.value, h, r.whole); !ok {
			return errHandle
		}
		if some = true; restart >= 0 {
			break
		}
	}
	if r.err != nil || !some {
		return r.err
	}
	return x.add(r.key, h, l, limit)
}

// rows returns the entries of an index block.
func (l indexLayout) rows(block []byte) rows {
	r := newRows(block)
	if l.differences {
		r.measure = l.measure
	}
	return r
}

// measure returns the length of the value that data begin with, in layouts that do not store it.
func (l indexLayout) measure(data []byte, whole bool) (n int, ok bool) {
	if _, n, ok = l.handle(data, handle{}, whole); !ok || !l.firstKeys {
		return n, ok
	}
	size, m := binary.Uvarint(data[n:])
	if m <= 0 || size > uint64(len(data)-n-m) {
		return 0, false
	}
	return n + m + int(size), true
}

// handle reads a handle, and returns how many bytes it takes.
func (l indexLayout) handle(data []byte, last handle, whole bool) (h handle, n int, ok bool) {
	if l.differences && !whole {
		d, n := binary.Varint(data)
		return handle{last.offset + last.size + trailerSize, last.size + uint64(d)}, n, n > 0
	}
	h, rest, ok := parseHandle(data)
	return h, len(data) - len(rest), ok
}

// add appends an entry, whose key has a tag unless it is a user key.
func (x *index) add(key []byte, h handle, l indexLayout, limit uint64) error {
	after := false
	if !l.userKeys {
		if len(key) < tagSize {
			return fmt.Errorf("%w: a key of %d bytes in an index block has no tag, as in tables that LevelDB's TableBuilder writes without a database", ErrVersion, len(key))
		}
		after = binary.LittleEndian.Uint64(key[len(key)-tagSize:])>>8 == newest
		key = key[:len(key)-tagSize]
	}
	key = key[:max(len(key)-l.timestamp, 0)]
	if uint64(len(x.keys)+len(key)+entrySize*(x.len()+1)) > limit {
		return fmt.Errorf("%w: the entries of an index block need more than %d bytes", ErrDamaged, limit)
	}
	x.keys = append(x.keys, key...)
	x.ends = append(x.ends, len(x.keys))
	x.handles = append(x.handles, h)
	x.after = append(x.after, after)
	return nil
}

// parseColumnarIndex reads an index block of Pebble from table format 5 on: separators, offsets and lengths. Of a large block, it reads the
// first entry, one in the middle and the last one alone: no filter of Pebble needs the others.
func parseColumnarIndex(block []byte, limit uint64) (*index, error) {
	c, err := newColumns(block, 3, columnEntrySize, limit)
	if err != nil || c.rows == 0 {
		return new(index), err
	}
	keys, err := c.bytes(0)
	if err != nil {
		return nil, err
	}
	offsets, err := c.integers(1)
	if err != nil {
		return nil, err
	}
	lengths, err := c.integers(2)
	if err != nil {
		return nil, err
	}
	rows := []int{0, c.rows / 2, c.rows - 1}
	if c.rows < 8 {
		rows = rows[:0]
		for i := range c.rows {
			rows = append(rows, i)
		}
	}
	x := new(index)
	for _, i := range rows {
		key, err := keys.at(i)
		if err != nil {
			return nil, err
		}
		x.keys = append(x.keys, key...)
		x.ends = append(x.ends, len(x.keys))
		x.handles = append(x.handles, handle{offsets.at(i), lengths.at(i)})
		x.after = append(x.after, false)
	}
	return x, nil
}
