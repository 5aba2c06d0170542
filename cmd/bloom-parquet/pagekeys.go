package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// keyPage is a page of a column as keys: those of its values that are not null, in their order.
type keyPage struct {
	parquet.Page
	keys    bloom.Keys // of the values, or of the dictionary that they are in
	indices []int32    // of the values in the dictionary
	isNew   bool       // whether the dictionary is another one than that of the pages before
}

// hasDictionary reports whether the keys are in a dictionary. A page of nulls has none.
func (p *keyPage) hasDictionary() bool { return p.indices != nil }

// len returns how many values are not null.
func (p *keyPage) len() int {
	if p.hasDictionary() {
		return len(p.indices)
	}
	return p.keys.Len()
}

// eachPage calls do with the pages of a column of a row group. What it is given is valid until it returns.
func (f *parquetFile) eachPage(leaf, group int, do func(*keyPage) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics for some pages that are not of the format
			err = fmt.Errorf("malformed: %v", p)
		}
	}()
	debug.SetPanicOnFault(true)
	pages, bounds := f.RowGroups()[group].ColumnChunks()[leaf].Pages(), f.boundsOf(leaf, group)
	defer pages.Close()
	reader := &keyReader{}
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := bounds.checkPage(page); err != nil {
			return err
		}
		keys, err := reader.read(page)
		if err != nil {
			return err
		}
		if err := do(keys); err != nil {
			return err
		}
		parquet.Release(page)
	}
}

// keyReader makes keys of the pages of a column of a row group.
type keyReader struct {
	dictionary parquet.Dictionary // the last one, and its keys
	keys       bloom.Keys
}

func (r *keyReader) read(page parquet.Page) (p *keyPage, err error) {
	p = &keyPage{Page: page}
	dictionary, values := page.Dictionary(), int(page.NumValues()-page.NumNulls())
	switch {
	case values == 0:
		return p, nil
	case dictionary == nil:
		p.keys, err = keysOf(page.Data(), values)
	case r.dictionary != dictionary:
		all := dictionary.Page()
		r.keys, err = keysOf(all.Data(), int(all.NumValues()))
		r.dictionary, p.isNew = dictionary, true
	}
	if err != nil {
		return nil, err
	}
	if dictionary != nil {
		data := page.Data()
		p.keys, p.indices = r.keys, data.Int32()
	}
	if p.len() != values {
		return nil, fmt.Errorf("malformed: a page has %d values instead of %d", p.len(), values)
	}
	for _, i := range p.indices {
		if uint(i) >= uint(p.keys.Len()) {
			return nil, fmt.Errorf("malformed: a page refers to value %d of a dictionary of %d values", i, p.keys.Len())
		}
	}
	return p, nil
}

// keysOf returns the keys of n values.
func keysOf(values encoding.Values, n int) (bloom.Keys, error) {
	switch values.Kind() {
	case encoding.Boolean:
		bits, data := values.Boolean(), make([]byte, n)
		for i := range data {
			data[i] = bits[i/8] >> (i % 8) & 1
		}
		return bloom.FixedWidth(data, 1)
	case encoding.Int32:
		return bloom.Integers(values.Int32()), nil
	case encoding.Int64:
		return bloom.Integers(values.Int64()), nil
	case encoding.Int96:
		var data []byte
		for _, x := range values.Int96() {
			data = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(data, x[0]), x[1]), x[2])
		}
		return bloom.FixedWidth(data, 12)
	case encoding.Float:
		return bloom.Integers(asIntegers[uint32](values.Float())), nil
	case encoding.Double:
		return bloom.Integers(asIntegers[uint64](values.Double())), nil
	case encoding.ByteArray:
		data, offsets := values.ByteArray()
		return bloom.Offsets(data, asIntegers[int32](offsets))
	case encoding.FixedLenByteArray:
		return bloom.FixedWidth(values.FixedLenByteArray())
	}
	return bloom.Keys{}, fmt.Errorf("values of the kind %v have no keys", values.Kind())
}

// asIntegers returns a slice of other elements of the same width.
func asIntegers[I int32 | uint32 | uint64, E uint32 | float32 | float64](s []E) []I {
	return unsafe.Slice((*I)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// each calls do with the values of the page. It leaves out those of a dictionary that are done, and marks the
// others.
func (p *keyPage) each(done []bool, do func(value []byte) error) error {
	var value []byte
	for i := range p.len() {
		if p.hasDictionary() {
			if i = int(p.indices[i]); done[i] {
				continue
			}
			done[i] = true
		}
		value, _ = p.keys.AppendKey(value[:0], i)
		if err := do(value); err != nil {
			return err
		}
	}
	return nil
}

// eachValue calls do with the values of a column of a row group that are not null, those of a dictionary
// once. A value of the dictionary that no row has is none. They are valid until do returns.
func (f *parquetFile) eachValue(leaf, group int, do func(value []byte) error) error {
	var done []bool
	return f.eachPage(leaf, group, func(p *keyPage) error {
		if p.isNew {
			done = make([]bool, p.keys.Len())
		}
		return p.each(done, do)
	})
}

// hashesOf returns the hashes of the keys of a column of a row group, those of a dictionary once, and of the
// values that are equal to them.
func (f *parquetFile) hashesOf(format bloom.Format, of bloomparquet.Type, leaf, group int) ([]bloom.Keys, error) {
	h, values := &keyHasher{format: format, equal: equals{of: of}}, int64(0)
	err := f.eachPage(leaf, group, func(p *keyPage) error {
		values += p.NumValues()
		return h.add(p)
	})
	if want := f.valuesOf(leaf, group); err == nil && values != want {
		err = fmt.Errorf("malformed: the pages have %d values, but the footer claims %d", values, want)
	}
	return h.all(), err
}

// valuesOf returns how many values a column of a row group has, and nulls, as the footer says.
func (f *parquetFile) valuesOf(leaf, group int) int64 {
	return f.Metadata().RowGroups[group].Columns[leaf].MetaData.NumValues
}

// keyHasher hashes the keys of pages. Of a dictionary, it takes those that rows have.
type keyHasher struct {
	format     bloom.Format
	equal      equals
	hashes     []bloom.Keys
	dictionary bloom.Keys // the hashes of the last one
	used       []byte     // which of them rows have
}

func (h *keyHasher) add(p *keyPage) (err error) {
	keys := p.keys
	switch {
	case !p.hasDictionary():
		h.hashes = append(h.hashes, keys.Hashed(h.format))
	case p.isNew:
		h.endDictionary()
		h.dictionary, h.used = keys.Hashed(h.format), make([]byte, (keys.Len()+7)/8)
	}
	if p.hasDictionary() {
		for _, i := range p.indices {
			h.used[i/8] |= 1 << (i % 8)
		}
		keys, err = keys.WithValidity(h.used, 0)
	}
	h.equal.note(keys)
	return err
}

func (h *keyHasher) endDictionary() {
	if h.used != nil {
		keys, _ := h.dictionary.WithValidity(h.used, 0) // no error: there is a bit for each
		h.hashes, h.used = append(h.hashes, keys), nil
	}
}

// all returns the hashes of all pages.
func (h *keyHasher) all() []bloom.Keys {
	h.endDictionary()
	return append(h.hashes, bloom.Bytes(h.equal.values).Hashed(h.format))
}
