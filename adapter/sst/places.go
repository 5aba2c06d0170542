package bloomsst

// The places in a table whose keys are read.
const (
	firstPlace = iota
	middlePlace
	lastPlace
)

// place is a data block.
type place struct {
	handle
	upTo []byte // the key of its index entry, which no key of the block exceeds
}

// places returns an index of the data blocks, or of parts of that index, which has the first entry, one in the middle and the
// last one at least.
func (t *Table) places() (*index, error) {
	if t.engine == LevelDB {
		return t.index() // to find a key's filter needs it, too
	}
	return t.readIndex(sampleOf)
}

// place returns a data block of an index that has entries. It reads a part of the index, if that has two levels.
func (t *Table) place(x *index, which int) (p place, err error) {
	p = x.place(which)
	if t.properties.indexType != indexTwoLevels {
		return p, nil
	}
	part, err := t.readIndexBlock(p.handle, sampleOf)
	if err != nil || part.len() == 0 {
		return p, err
	}
	return part.place(which), nil
}

func (x *index) place(which int) place {
	i := [...]int{0, x.len() / 2, x.len() - 1}[which]
	return place{x.handles[i], x.key(i)}
}

// sampleOf returns an index of the first entry, one in the middle and the last one. Of a small block, it has all entries.
func sampleOf(block []byte, l indexLayout, limit uint64) (*index, error) {
	const small = 8
	r := newRows(block)
	n := len(r.restarts) / wordSize
	if r.err != nil || n < small {
		return parseIndex(block, l, limit)
	}
	x := new(index)
	for _, from := range []int{0, n / 2, -1} {
		if err := x.addFrom(block, l, limit, from); err != nil {
			return nil, err
		}
	}
	return x, nil
}
