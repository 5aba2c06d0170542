package bloomsst

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"github.com/lanebloom/bloom"
)

// openBadger reads a table of Badger, which ends in no magic: its index, in the layout of FlatBuffers, the length of
// that, its checksum in the layout of Protocol Buffers, and the length of that. The checksum tells whether it is one.
func (t *Table) openBadger() error {
	index, err := t.badgerIndex()
	if err != nil {
		return err
	}
	if index == nil {
		if endsAsBadger1(t.file.tail) {
			return fmt.Errorf("%w: a Badger v1 table", ErrVersion)
		}
		if randomBytes(t.file.tail) {
			return fmt.Errorf("%w: the file does not end like a table of LevelDB, RocksDB, Pebble or Badger", ErrEncrypted)
		}
		return fmt.Errorf("%w: the file does not end like a table of LevelDB, RocksDB, Pebble or Badger", ErrTable)
	}
	t.engine, t.format = Badger, bloom.LevelDB
	root, ok := flatRoot(index)
	if !ok && isBadger2(index) {
		return fmt.Errorf("%w: a Badger v2 table", ErrVersion)
	}
	if !ok {
		// Badger encrypts the index before it takes the checksum.
		return fmt.Errorf("%w: the index of a Badger table", ErrEncrypted)
	}
	if keys, ok := root.uint32(fieldKeyCount); ok {
		t.properties.entries, t.properties.entriesKnown = uint64(keys), true
	}
	filter, ok := root.bytes(fieldFilter)
	switch {
	case !ok:
		return fmt.Errorf("%w: malformed index of a Badger table", ErrDamaged)
	case len(filter) == 0:
		t.ignored = ErrNoFilter
		t.believe(t.proveBadger(root))
		return nil
	}
	t.size = uint64(len(filter))
	f, err := bloom.Open(bloom.LevelDB, append([]byte{}, filter...)) // the index takes memory
	if err != nil {
		return unknownBytes(err)
	}
	t.filters = whole{Part{Filter: f}}
	t.believe(t.proveBadger(root))
	return nil
}

// proveBadger looks up the first keys of blocks, which the index has.
func (t *Table) proveBadger(root flatTable) *proof {
	o := t.order()
	blocks, ok := root.tables(fieldBlocks, sampledKeys)
	var s sample
	for _, block := range blocks {
		key, has := block.bytes(fieldBlockKey)
		ok = ok && has
		s.keys = append(s.keys, storedKey{key, -1})
	}
	if !ok || len(s.keys) == 0 {
		p := t.newProof(o)
		p.unread, p.ordered = fmt.Errorf("%w: malformed keys in the index of a Badger table", ErrDamaged), true
		return p
	}
	s.upTo = o.user(s.keys[len(s.keys)-1].key)
	p := t.judge(o, new(index), []sample{s})
	p.first = bytes.Clone(o.user(s.keys[0].key))
	return p
}

// endsAsBadger1 reports whether a file ends as tables of Badger v1 do: in a filter in JSON, and its length.
func endsAsBadger1(tail []byte) bool {
	const word, last = 4, len(`,"SetLocs":30}`)
	end := max(len(tail)-word, 0)
	json := tail[max(end-last, 0):end]
	return bytes.Contains(json, []byte(`"SetLocs":`)) && json[len(json)-1] == '}'
}

// isBadger2 reports whether an index is a message of Protocol Buffers, as in tables of Badger v2: the places of the blocks, a
// filter and a size.
func isBadger2(index []byte) bool {
	const places, filter, size = 1<<3 | 2, 2<<3 | 2, 3 << 3
	some := false
	for len(index) > 0 {
		tag := index[0]
		n, m := binary.Uvarint(index[1:])
		if m <= 0 {
			return false
		}
		index = index[1+m:]
		if tag == places || tag == filter {
			if n > uint64(len(index)) {
				return false
			}
			index = index[n:]
		} else if tag != size {
			return false
		}
		some = some || tag == places
	}
	return some
}

// badgerIndex returns the index, or nil if the file is no table of Badger.
func (t *Table) badgerIndex() ([]byte, error) {
	const word = 4
	tail := t.file.tail
	take := func(n uint64) []byte {
		if n > uint64(len(tail)) {
			return nil
		}
		part := tail[uint64(len(tail))-n:]
		tail = tail[:uint64(len(tail))-n]
		return part
	}
	length := take(word)
	if length == nil {
		return nil, nil
	}
	sum, ok := parseBadgerSum(take(uint64(binary.BigEndian.Uint32(length))))
	length = take(word)
	if !ok || length == nil {
		return nil, nil
	}
	n, end := uint64(binary.BigEndian.Uint32(length)), uint64(t.file.size)-uint64(len(t.file.tail))+uint64(len(tail))
	if n > end {
		return nil, nil
	}
	index, err := t.file.read(end-n, n)
	if err != nil || !sum.is(index) {
		return nil, err
	}
	return index, nil
}

// badgerSum is the checksum of an index.
type badgerSum struct{ algorithm, sum uint64 }

// parseBadgerSum reads a message of two integers.
func parseBadgerSum(data []byte) (s badgerSum, ok bool) {
	const algorithm, sum = 1 << 3, 2 << 3 // the numbers of the fields, of the type varint
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return s, false
		}
		value, m := binary.Uvarint(data[n:])
		if m <= 0 {
			return s, false
		}
		data = data[n+m:]
		switch tag {
		case algorithm:
			s.algorithm = value
		case sum:
			s.sum, ok = value, true
		default:
			return s, false
		}
	}
	return s, ok
}

func (s badgerSum) is(data []byte) bool {
	if s.algorithm == 1 {
		return s.sum == xxhash.Sum64(data)
	}
	return s.algorithm == 0 && s.sum == uint64(crc32.Checksum(data, castagnoli))
}

// The fields of Badger's TableIndex, and of the BlockOffset of each block, by their places in a table of fields.
const (
	fieldBlocks   = 0
	fieldFilter   = 1
	fieldKeyCount = 3
	fieldBlockKey = 0
)

// flatTable is a table in the layout of FlatBuffers.
type flatTable struct {
	data   []byte
	at     uint64 // where it begins
	fields []byte // where its fields lie, from at on: words of 16 bits, 0 if a field is not there
}

// flatRoot returns the table that data hold, or false if they hold none.
func flatRoot(data []byte) (t flatTable, ok bool) {
	root, ok := word(data, 0)
	if !ok {
		return t, false
	}
	return flatTableAt(data, uint64(root))
}

// flatTableAt returns the table that begins at an offset, or false if there is none.
func flatTableAt(data []byte, at uint64) (t flatTable, ok bool) {
	const header = 4 // of the list of fields: its own length and the table's
	t = flatTable{data: data, at: at}
	back, ok := word(data, at)
	if !ok {
		return t, false
	}
	from := int64(at) - int64(int32(back))
	if from < 0 || from+header > int64(len(data)) {
		return t, false
	}
	length := int64(binary.LittleEndian.Uint16(data[from:]))
	if length < header || from+length > int64(len(data)) {
		return t, false
	}
	t.fields = data[from+header : from+length]
	return t, true
}

// word returns the 32 bits at an offset.
func word(data []byte, at uint64) (uint32, bool) {
	if at > uint64(len(data)) || uint64(len(data))-at < 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(data[at:]), true
}

// uint32 returns a field of 32 bits, and where it lies, or false if it is not there or not in the data.
func (t flatTable) place(field int) (at uint64, there bool) {
	if 2*field+2 > len(t.fields) {
		return 0, false
	}
	offset := binary.LittleEndian.Uint16(t.fields[2*field:])
	return t.at + uint64(offset), offset != 0
}

func (t flatTable) uint32(field int) (uint32, bool) {
	at, there := t.place(field)
	if !there {
		return 0, false
	}
	return word(t.data, at)
}

// bytes returns a field of bytes, none if it is not there, or false if it is malformed.
func (t flatTable) bytes(field int) ([]byte, bool) {
	at, there := t.place(field)
	if !there {
		return nil, true
	}
	to, ok := word(t.data, at)
	if !ok {
		return nil, false
	}
	at += uint64(to)
	n, ok := word(t.data, at)
	if !ok || uint64(n) > uint64(len(t.data))-at-4 {
		return nil, false
	}
	return t.data[at+4:][:n], true
}

// tables returns the first tables of a field that has a list of them, or false if it is malformed.
func (t flatTable) tables(field, most int) (list []flatTable, ok bool) {
	at, there := t.place(field)
	if !there {
		return nil, true
	}
	to, ok := word(t.data, at)
	if !ok {
		return nil, false
	}
	at += uint64(to)
	n, ok := word(t.data, at)
	for i := uint64(0); ok && i < min(uint64(n), uint64(most)); i++ {
		place := at + 4 + 4*i
		var of flatTable
		if to, ok = word(t.data, place); ok {
			of, ok = flatTableAt(t.data, place+uint64(to))
		}
		list = append(list, of)
	}
	return list, ok
}
