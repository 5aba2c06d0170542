package bloomsst

// sampler reads keys of data blocks.
type sampler struct {
	t     *Table
	index *index
	at    [lastPlace + 1]*sample
	err   error // the first of a block that could not be read
}

// read reads a block, unless it was read.
func (s *sampler) read(which int) {
	p, err := s.t.place(s.index, which)
	for _, other := range s.at {
		if other != nil && other.handle == p.handle {
			return
		}
	}
	var keys []storedKey
	if err == nil {
		keys, err = s.t.dataKeys(p.handle)
	}
	if err == nil {
		s.at[which] = &sample{p, keys}
	} else if s.err == nil {
		s.err = err
	}
}

// samples returns what was read, in the order of the table.
func (s *sampler) samples() (read []sample) {
	for _, one := range s.at {
		if one != nil {
			read = append(read, *one)
		}
	}
	return read
}

// sample has keys of a data block.
type sample struct {
	place
	keys []storedKey
}

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

// sampledEntries is how many entries of an index are looked at for their order.
const sampledEntries = 64

// sampleOf returns an index of the first entry, of pairs of entries all over the block, and of the last one: another order than that of
// a comparator's name shows in some of them. Of a small block, it has all entries.
func sampleOf(block []byte, l indexLayout, limit uint64) (*index, error) {
	r := newRows(block)
	n := len(r.restarts) / wordSize
	if r.err != nil || n < 2*sampledEntries {
		return parseIndex(block, l, limit)
	}
	x := new(index)
	for i := range sampledEntries / 2 {
		from := i * (n - 2) / (sampledEntries / 2)
		for restart := from; restart < from+2; restart++ {
			if err := x.addFrom(block, l, limit, restart); err != nil {
				return nil, err
			}
		}
	}
	return x, x.addFrom(block, l, limit, -1)
}
