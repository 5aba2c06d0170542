package bloomsst

import (
	"fmt"
)

// index returns the index of the data blocks. If that has two levels, it is the first. It is read when it is
// asked for first.
func (t *Table) index() (*index, error) {
	if x := t.blocks.Load(); x != nil {
		return x, x.err
	}
	x, err := t.readIndex(parseIndex)
	if err != nil {
		x = &index{err: err}
	}
	if err == nil || isOfBytes(err) {
		t.blocks.Store(x)
	}
	return x, err
}

// readIndex reads the index block, and parses it if it is no block of columns.
func (t *Table) readIndex(parse indexParser) (*index, error) {
	return t.readIndexBlock(t.file.footer.index, parse)
}

// indexParser parses an index block, or some of its entries.
type indexParser func(block []byte, l indexLayout, limit uint64) (*index, error)

// readIndexBlock reads an index block, which is the index or a part of it.
func (t *Table) readIndexBlock(h handle, parse indexParser) (x *index, err error) {
	block, err := t.file.block(h, "the index")
	if err != nil {
		return nil, err
	}
	if t.columnar() {
		x, err = parseColumnarIndex(block, t.file.limit())
	} else {
		x, err = parse(block, indexLayout{
			userKeys:    t.properties.userKeys,
			differences: t.properties.differences,
			firstKeys:   t.properties.indexType == indexFirstKey,
			timestamp:   t.order().timestamp,
		}, t.file.limit())
	}
	if err != nil {
		return nil, fmt.Errorf("%w (in the index)", err)
	}
	return x, nil
}
