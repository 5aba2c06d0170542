package bloomsst

import (
	"encoding/binary"
	"fmt"
)

// rows are the entries of a block in LevelDB's layout, in order. A key is stored without the bytes that
// it shares with the one before; at the places that the end of the block lists, a key is whole.
type rows struct {
	data  []byte // of the entries that are left
	key   []byte // of the entry
	value []byte
	whole bool // the key shares no byte with the one before
	err   error

	restarts []byte // words of 32 bits: where in the block a key is whole

	// measure returns the length of the value that data begin with. It is nil if the length of a value is stored.
	measure func(data []byte, whole bool) (n int, ok bool)
}

// newRows returns the entries of a block.
func newRows(block []byte) rows {
	const word = 4
	if len(block) >= word {
		restarts := uint64(binary.LittleEndian.Uint32(block[len(block)-word:]))
		if space := uint64(len(block) - word); restarts*word <= space {
			end := space - restarts*word
			return rows{data: block[:end], restarts: block[end:space]}
		}
	}
	return rows{err: fmt.Errorf("%w: a block of %d bytes has no list of restarts", ErrDamaged, len(block))}
}

// skip leaves out the entries before the last one that begins with a whole key.
func (r *rows) skip() {
	n := len(r.restarts)
	if n == 0 || r.err != nil {
		return
	}
	last := binary.LittleEndian.Uint32(r.restarts[n-4:])
	if uint64(last) > uint64(len(r.data)) {
		r.fail()
		return
	}
	r.data = r.data[last:]
}

// next moves to the next entry, and reports whether there is one.
func (r *rows) next() bool {
	if len(r.data) == 0 || r.err != nil {
		return false
	}
	shared, ok := r.varint()
	own, ok2 := r.varint()
	size, ok3 := uint64(0), true
	if r.measure == nil {
		size, ok3 = r.varint()
	}
	left := uint64(len(r.data))
	if !ok || !ok2 || !ok3 || shared > uint64(len(r.key)) || own > left || size > left-own {
		return r.fail()
	}
	r.whole = shared == 0
	r.key, r.data = append(r.key[:shared], r.data[:own]...), r.data[own:]
	if r.measure != nil {
		n, ok := r.measure(r.data, r.whole)
		if !ok {
			return r.fail()
		}
		size = uint64(n)
	}
	r.value, r.data = r.data[:size], r.data[size:]
	return true
}

func (r *rows) fail() bool {
	r.err = fmt.Errorf("%w: a malformed entry of a block", ErrDamaged)
	return false
}

func (r *rows) varint() (uint64, bool) {
	n, m := binary.Uvarint(r.data)
	if m <= 0 {
		return 0, false
	}
	r.data = r.data[m:]
	return n, true
}
