package bloomsst

import (
	"encoding/binary"
	"fmt"
)

// edit is a change of the tables of a database: a record of a MANIFEST of LevelDB, goleveldb, RocksDB or Pebble.
type edit struct {
	comparator string // or nothing
	family     uint32
	name       string // of a family that begins
	begins     bool
	ends       bool // the family does
	grouped    bool // the edit is one of a group, which counts whole or not at all
	following  uint32
	stripped   bool // the keys of tables have no timestamps, though the comparator's do
	gone       []levelNumber
	came       []newTable
	backings   []uint64 // Pebble's files behind virtual tables
	unbacked   []uint64
}

// levelNumber is a table that leaves a level.
type levelNumber struct{ level, number uint64 }

// newTable is a table that comes to a level. Its keys have tags.
type newTable struct {
	levelNumber
	size        uint64
	first, last []byte
	path        uint64 // the number of the folder, in RocksDB's db_paths
	stripped    bool   // the keys have no timestamps
	virtual     bool   // it is a part of the table backing
	backing     uint64
	synthetic   bool // its keys are the file's keys with another prefix or suffix
}

// The tags of edits. Up to 9, they are LevelDB's.
const (
	tagComparator    = 1
	tagCompactCursor = 5
	tagDeletedTable  = 6
	tagNewTable      = 7
	tagNewTable2     = 100 // with sequence numbers
	tagNewTable3     = 102 // and RocksDB's number of a path
	tagNewTable4     = 103 // and fields
	tagNewTable5     = 104 // Pebble's, of tables with range keys
	tagNewBacking    = 105
	tagGoneBacking   = 106
	tagFamily        = 200
	tagNewFamily     = 201
	tagGoneFamily    = 202
	tagGroup         = 300
	tagKeepsTimes    = 8201 // whether timestamps are kept
	tagIgnorable     = 1 << 13
)

// otherTags are the tags of what does not matter here: for each value, v for a number and b for a length and bytes.
var otherTags = map[uint64]string{
	2: "v", 3: "v", 4: "v", 9: "v", 10: "v", // the numbers of logs and files
	tagCompactCursor: "vb",
	107:              "vvvvv", 108: "vv", // Pebble's blob files
	203: "v",                  // the largest number of a family
	401: "vvv*", 8195: "vvv*", // RocksDB's blob files; * is a list of fields
	400: "vvvbb*", 8194: "vvvbb*",
	8197: "v", // logs
}

// Tags of RocksDB's logs and blob files that have lists of fields.
const (
	tagNewLog    = 8196
	logSize      = 2 // a field: a number
	logEnd       = 1
	blobEnd      = 0
	noneIgnoring = 1 << 6 // the bit of the fields that may not be ignored
)

// The fields of a new table.
const (
	fieldEnd       = 1
	fieldStripped  = 16
	fieldPath      = 65
	fieldVirtual   = 66
	fieldPrefix    = 67
	fieldSuffix    = 68
	fieldBlobFiles = 69
)

// parseEdit reads a record. What it returns has parts of the record.
func parseEdit(record []byte) (e edit, err error) {
	r := editReader{data: record}
	for len(r.data) > 0 && r.err == nil {
		e.read(&r, r.number())
	}
	return e, r.err
}

// read reads what follows a tag.
func (e *edit) read(r *editReader, tag uint64) {
	switch tag {
	case tagComparator:
		e.comparator = string(r.bytes())
	case tagDeletedTable:
		e.gone = append(e.gone, levelNumber{r.number(), r.number()})
	case tagNewTable, tagNewTable2, tagNewTable3, tagNewTable4, tagNewTable5:
		e.came = append(e.came, r.table(tag))
	case tagNewBacking:
		e.backings = append(e.backings, r.number())
		r.number() // its size
	case tagGoneBacking:
		e.unbacked = append(e.unbacked, r.number())
	case tagFamily:
		e.family = uint32(r.number())
	case tagNewFamily:
		e.begins, e.name = true, string(r.bytes())
	case tagGoneFamily:
		e.ends = true
	case tagGroup:
		e.grouped, e.following = true, uint32(r.number())
	case tagKeepsTimes:
		e.stripped = string(r.bytes()) == "\x00"
	case tagNewLog:
		r.number()
		r.logFields()
	default:
		r.other(tag)
	}
}

// editReader reads the values of an edit. After an error, they are zeros.
type editReader struct {
	data []byte
	err  error
}

func (r *editReader) fail(format string, values ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, values...)...)
	}
	r.data = nil
}

func (r *editReader) number() uint64 {
	n, m := binary.Uvarint(r.data)
	if m <= 0 {
		r.fail("malformed number in a record of a MANIFEST")
		return 0
	}
	r.data = r.data[m:]
	return n
}

func (r *editReader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.data)) {
		r.fail("a record of a MANIFEST is truncated")
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

// key returns a key, which has a tag.
func (r *editReader) key() []byte {
	k := r.bytes()
	if len(k) < tagSize {
		r.fail("a key of %d bytes in a MANIFEST has no tag", len(k))
	}
	return k
}

// table reads a new table.
func (r *editReader) table(tag uint64) (t newTable) {
	t.level, t.number = r.number(), r.number()
	if tag == tagNewTable3 {
		t.path = r.number()
	}
	t.size = r.number()
	if tag == tagNewTable5 {
		r.rangeKeys(&t)
	} else {
		t.first, t.last = r.key(), r.key()
	}
	if tag != tagNewTable {
		r.number() // the sequence numbers of its keys
		r.number()
	}
	if tag >= tagNewTable4 {
		for r.err == nil && r.field(&t) {
		}
	}
	return t
}

// rangeKeys reads the bounds of a table of Pebble that has range keys. They bound its points only if the
// manifest says so.
func (r *editReader) rangeKeys(t *newTable) {
	const hasPoints, firstIsPoint, lastIsPoint = 1, 2, 4
	if len(r.data) == 0 {
		r.fail("a record of a MANIFEST is truncated")
		return
	}
	kind := r.data[0]
	r.data = r.data[1:]
	if kind&hasPoints != 0 {
		t.first, t.last = r.key(), r.key()
	}
	first, last := r.key(), r.key()
	if kind&firstIsPoint == 0 {
		t.first = first
	}
	if kind&lastIsPoint == 0 {
		t.last = last
	}
}

// field reads a field of a new table, and reports whether there is one.
func (r *editReader) field(t *newTable) bool {
	switch tag := r.number(); tag {
	case fieldEnd:
		return false
	case fieldStripped:
		t.stripped = string(r.bytes()) == "\x00"
	case fieldPath:
		path := r.bytes()
		if len(path) != 1 {
			r.fail("the path of a table in a MANIFEST has %d bytes", len(path))
			return false
		}
		t.path = uint64(path[0])
	case fieldVirtual:
		t.virtual, t.backing = true, r.number()
	case fieldPrefix, fieldSuffix:
		r.bytes()
		t.synthetic = true
	case fieldBlobFiles:
		r.number()
		for n := r.number(); n > 0 && r.err == nil; n-- {
			r.number()
			r.number()
		}
	default:
		if tag&noneIgnoring != 0 {
			r.unknown("field", tag)
		}
		r.bytes()
	}
	return r.err == nil
}

// other reads the values of a tag that does not matter.
func (r *editReader) other(tag uint64) {
	values, known := otherTags[tag]
	switch {
	case known:
	case r.err == nil && tag&tagIgnorable != 0:
		values = "b"
	default:
		r.unknown("tag", tag)
		return
	}
	for _, v := range values {
		switch v {
		case 'v':
			r.number()
		case 'b':
			r.bytes()
		case '*':
			r.blobFields()
		}
	}
}

func (r *editReader) blobFields() {
	for r.err == nil {
		switch tag := r.number(); {
		case tag == blobEnd:
			return
		case tag&noneIgnoring != 0:
			r.unknown("field", tag)
		default:
			r.bytes()
		}
	}
}

func (r *editReader) logFields() {
	for r.err == nil {
		switch tag := r.number(); tag {
		case logEnd:
			return
		case logSize:
			r.number()
		default:
			r.unknown("field", tag)
		}
	}
}

// unknown is the error of a tag of a version to come.
func (r *editReader) unknown(what string, tag uint64) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: the %s %d in a MANIFEST", ErrVersion, what, tag)
	}
	r.data = nil
}
