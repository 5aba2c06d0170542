// Package bloomsst reads the filters in the table files of storage engines: the .ldb and .sst files of
// LevelDB, goleveldb, RocksDB, Pebble and Badger. Of the data blocks, it reads only the few that it needs to
// prove a filter.
//
//	table, err := bloomsst.Open(file, size)
//	if err != nil {
//		return err
//	}
//	may, err := table.MayContain(key) // by the table's range and its filter
//
// A table has one filter ("fullfilter" in RocksDB, and in Pebble and Badger), one for each partition of the
// keys ("partitionedfilter" in RocksDB), or one for each 2 KiB of data blocks (LevelDB). A filter is a Bloom
// filter, or a [Ribbon] filter of RocksDB. [Table.Filters] returns the filters, and [Table.Stats] reports how
// full they are and how often they are wrong.
package bloomsst

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/lanebloom/bloom"
)

// The errors of Open and of a table's methods wrap these with details. Test for them with errors.Is. They
// also return errors of the caller's [io.ReaderAt].
var (
	// ErrTable: the bytes are not a table of an engine that this package knows, or they are truncated.
	ErrTable = errors.New("bloomsst: no table that this package reads")
	// ErrEncrypted: the end of the file looks random, so it may be a table that the engine encrypted.
	ErrEncrypted = errors.New("bloomsst: encrypted table, or no table")
	// ErrDamaged: a checksum is wrong, or a part of the table is malformed.
	ErrDamaged = errors.New("bloomsst: damaged table")
	// ErrVersion: the table has a version or a compression that this package does not know.
	ErrVersion = errors.New("bloomsst: unknown version of a table")
)

// The reasons why a table's filter is not queried. Every key may be in such a table.
var (
	// ErrNoFilter: the table has no filter.
	ErrNoFilter = errors.New("bloomsst: no filter")
	// ErrPolicy: the filter has a policy, or bytes, that this package does not know. See [Named].
	ErrPolicy = errors.New("bloomsst: unknown filter policy")
	// ErrRibbon: the filter is a Ribbon filter, and RocksDB does not read a filter of its size, either.
	ErrRibbon = errors.New("bloomsst: a Ribbon filter")
	// ErrPrefix: the filter has only prefixes of the keys, and the length of the prefixes is not known
	// without [Split].
	ErrPrefix = errors.New("bloomsst: a filter of prefixes")
	// ErrComparator: the order of the keys is not known, but it determines which filter a key needs. See
	// [Comparator].
	ErrComparator = errors.New("bloomsst: unknown order of the keys")
)

// Table is a table file. It is safe for concurrent use if its io.ReaderAt is. It keeps the filters that it
// has read. It also keeps the last keys of the blocks, if these determine which filter a key needs.
type Table struct {
	file       file
	engine     string
	version    int
	policy     string
	properties properties
	format     bloom.Format // of the filters
	ignored    error        // why they are not asked, or nil
	dictionary handle       // of compressed data blocks
	size       uint64       // of the filters, in bytes
	filters    filters      // nil if there is none that can be read
	unused     filters      // filters of prefixes whose Split is not known
	compare    func(a, b []byte) int
	split      func(key []byte) int
	names      map[string]bloom.Format
	proving    sync.Mutex
	proof      atomic.Pointer[proof]
	blocks     atomic.Pointer[index] // of the data blocks, once it is read
	member     *member               // what its database tells, or nil
}

// The names of the engines, which [Table.Engine] returns.
const (
	LevelDB = "leveldb" // and goleveldb
	RocksDB = "rocksdb"
	Pebble  = "pebble"
	Badger  = "badger"
)

// Option is an option of [Open].
type Option func(*Table)

// Comparator sets how the database compares user keys. Without this option, the package compares them byte by
// byte. It must know the order if a table has several filters. A table of RocksDB contains the name of its
// comparator. If this is not RocksDB's own comparator and the option is missing, every key may be in the
// table ([ErrComparator]). A table of LevelDB does not contain the name. If the keys in its index block are
// not in the expected order, the result is true, with the error ErrComparator.
func Comparator(compare func(a, b []byte) int) Option {
	return func(t *Table) { t.compare = compare }
}

// Split sets a function for filters that contain prefixes of keys. The function returns the length of a key's
// prefix, as Split of Pebble's Comparer does. For RocksDB, it is the length of the prefix that the
// prefix_extractor returns. If a filter of RocksDB contains whole keys, whole keys are looked up in it. If
// the function returns -1 for a key, the result of a query is true.
func Split(prefix func(key []byte) int) Option {
	return func(t *Table) { t.split = prefix }
}

// Named sets the format of filters by the name of their policy. Use it for a name that was chosen for
// NewNamed of adapter/goleveldb or adapter/pebble. The package knows the names of the engines' own policies.
func Named(name string, f bloom.Format) Option {
	return func(t *Table) { t.names[name] = f }
}

// Open opens the table in the first size bytes of r. It reads the footer, the index of the metadata, the
// properties and the filter. It makes at most 4 reads, and reads no data block. If the table has many filters
// in partitions, or if finding a filter needs the index of the data blocks, these are read when they are
// needed. All checksums are verified. The memory for a block is bounded by size and 16 MiB, whatever its
// bytes claim.
//
// A table without a filter, or with a filter that this package does not read, is not an error: [Table.Ignored]
// returns the reason, and every key may be in the table.
func Open(r io.ReaderAt, size int64, options ...Option) (*Table, error) {
	return open(r, size, tailSize, options...)
}

// open reads the last tail bytes of the file first.
func open(r io.ReaderAt, size, tail int64, options ...Option) (*Table, error) {
	t := &Table{file: file{r: r, size: size}, names: map[string]bloom.Format{}}
	for _, o := range options {
		o(t)
	}
	if err := t.file.readTail(tail); err != nil {
		return nil, err
	}
	if err := t.readFooter(); err != nil {
		return nil, err
	}
	return t, nil
}

// readFooter reads the footer, and what it leads to.
func (t *Table) readFooter() error {
	foot, err := parseFooter(t.file.tail, t.file.size)
	if errors.Is(err, errNoMagic) {
		return t.openBadger()
	}
	if err != nil {
		return err
	}
	t.engine, t.version = foot.engine, foot.version
	t.file.footer = foot
	return t.readMetadata()
}

// readMetadata reads what the metaindex lists: the properties and the filter.
func (t *Table) readMetadata() error {
	meta, err := t.readMetaindex()
	if err != nil {
		return err
	}
	if h, ok := meta.handle("rocksdb.properties"); ok {
		if t.engine == LevelDB { // format_version 0 has LevelDB's footer
			t.engine = RocksDB
			t.file.footer.engine = RocksDB
		}
		if err := t.readProperties(h); err != nil {
			return err
		}
	}
	t.dictionary, _ = meta.handle("rocksdb.compression_dict")
	if h, ok := meta.handle("rocksdb.index"); ok {
		t.file.footer.index = h
	}
	return t.readFilter(meta)
}

// Engine returns the name of the engine that defines the table's format: one of the constants.
func (t *Table) Engine() string { return t.engine }

// Version returns the version of the table's format, which is RocksDB's format_version or Pebble's table format. It is 0
// for LevelDB and Badger, which have none.
func (t *Table) Version() int { return t.version }

// Policy returns the name of the filter policy that the table stores, or an empty string if the table has no
// filter. Badger stores no name.
func (t *Table) Policy() string { return t.policy }

// Ignored returns the reason why the filter is not queried: one of the errors from [ErrNoFilter] to
// [ErrComparator]. Every key may then be in the table. Ignored returns nil if the filter is queried. Even
// then, a partition can have an unknown format: [Table.Filters] returns an error for it.
func (t *Table) Ignored() error {
	if p := t.proof.Load(); p != nil && p.denied != nil && t.ignored == nil {
		return p.denied
	}
	return t.ignored
}

// Size returns the number of bytes that the filters have in the file, including the blocks that locate them.
func (t *Table) Size() uint64 { return t.size }

// Entries returns the number of the table's entries, which is the number of its keys if each key occurs once.
// LevelDB's tables do not record it.
func (t *Table) Entries() (n uint64, known bool) {
	return t.properties.entries, t.properties.entriesKnown
}

// RangeDeletions returns the number of key ranges that the table deletes. Such a range affects keys that the
// table does not have, and no filter covers it.
func (t *Table) RangeDeletions() (n uint64, known bool) {
	return t.properties.rangeDeletions, t.properties.rangeDeletionsKnown
}

// MayContain reports whether the table may have a key: the key is a hit in the filter, and it lies in the
// table's range ([Table.Range]). False is certain. Keys are user keys, in the form in which callers of the
// database write them. If the table has no filter, or one that is not queried ([Table.Ignored]), only the
// range is used. With an error, the result is true.
//
// Before the first answer, MayContain looks up some keys of the table in the filter ([Table.Proved]). In a
// table of LevelDB, and in a partitioned filter of RocksDB, it reads only the part that a key needs, when a
// key first needs it.
func (t *Table) MayContain(userKey []byte) (bool, error) {
	p := t.proof.Load()
	if p == nil {
		p = t.proved()
	}
	if p.filter != nil {
		return p.filter.MayContain(userKey) && !p.outside(userKey) || t.isSynthetic(), nil
	}
	may, err := t.filterMayContain(p, userKey)
	if may && err == nil && p.outside(userKey) {
		may = false
	}
	return may || t.isSynthetic(), err
}

// Range returns the first key of the table and a bound of the last key: the last key itself, or a shorter key
// after it. Both are user keys in the order of the database, which may differ from byte order. They are known
// if that order is proved ([Comparator]) and the table has them; Badger's tables have no bound of the last key.
// Do not change the keys.
func (t *Table) Range() (first, last []byte, known bool) {
	p := t.proved()
	return p.first, p.last, p.first != nil && p.last != nil && !t.isSynthetic()
}

// isSynthetic reports whether the database shows other keys than the file has.
func (t *Table) isSynthetic() bool {
	p := t.inDatabase()
	return p != nil && p.synthetic
}

// UpperBound returns an upper bound of the table's keys: the last key, or a shorter key after it. It reads
// the index block, whose last entry is the bound. The bound holds in the order of the database: in RocksDB's
// reverse order, it is the lowest key. UpperBound returns nil if the table has no such bound, as in Badger.
func (t *Table) UpperBound() ([]byte, error) {
	if t.engine == Badger {
		return nil, nil
	}
	blocks, err := t.readIndex(lastOf)
	if err != nil || blocks.len() == 0 {
		return nil, err
	}
	return bytes.Clone(blocks.key(blocks.len() - 1)), nil
}

// order returns the order of user keys.
func (t *Table) order() order {
	o := orderOf(t.comparatorName())
	if t.properties.noTimestamps {
		o.timestamp = 0
	}
	if t.compare != nil {
		o.compare, o.trust = t.compare, named
	}
	return o
}

// comparatorName returns the name of the comparator that the table or its database tells, or nothing. Badger has
// one order.
func (t *Table) comparatorName() string {
	switch {
	case t.engine == Badger:
		return bytewise + timestamps // versions, at the end of keys
	case t.properties.comparator != "":
	case t.inDatabase() != nil:
		return t.inDatabase().comparator
	}
	return t.properties.comparator
}
