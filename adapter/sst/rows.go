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

// wordSize is the number of bytes of a place in a block.
const wordSize = 4

// newRows returns the entries of a block.
func newRows(block []byte) rows {
	if end := len(block) - wordSize; end >= 0 {
		return rowsBefore(block[:end], uint64(binary.LittleEndian.Uint32(block[end:])))
	}
	return rowsBefore(nil, 1)
}

// newDataRows returns the entries of a data block. That of RocksDB may have a hash index after the restarts, of a byte a bucket, which
// the highest bit of their number says.
func newDataRows(block []byte) rows {
	const hashed = 1 << 31
	end := len(block) - wordSize
	if end < 2 {
		return newRows(block)
	}
	restarts := binary.LittleEndian.Uint32(block[end:])
	if restarts&hashed == 0 {
		return newRows(block)
	}
	if end -= 2 + int(binary.LittleEndian.Uint16(block[end-2:])); end < 0 {
		return rowsBefore(nil, 1)
	}
	return rowsBefore(block[:end], uint64(restarts&^hashed))
}

// rowsBefore returns the entries of a block that ends in the places of this number of restarts.
func rowsBefore(block []byte, restarts uint64) rows {
	space := uint64(len(block))
	if restarts*wordSize > space {
		return rows{err: fmt.Errorf("%w: malformed list of restarts in a block", ErrDamaged)}
	}
	end := space - restarts*wordSize
	return rows{data: block[:end], restarts: block[end:]}
}

// skipTo leaves out the entries before a restart. A negative one is counted from the end.
func (r *rows) skipTo(restart int) {
	n := len(r.restarts) / wordSize
	if restart < 0 {
		restart += n
	}
	if restart < 0 || r.err != nil {
		return
	}
	at := binary.LittleEndian.Uint32(r.restarts[restart*wordSize:])
	if uint64(at) > uint64(len(r.data)) {
		r.fail()
		return
	}
	r.data = r.data[at:]
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
	r.err = fmt.Errorf("%w: malformed entry in a block", ErrDamaged)
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
