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
	"sync"
	"sync/atomic"

	"github.com/lanebloom/bloom"
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

// filters are the filters of a table, by number. A number may have no filter, and then holds no key.
type filters interface {
	len() int
	empty(i int) bool // a number without a filter
	// part returns the filter of a number, if there is one.
	part(t *Table, i int) (Part, error)
	// find returns the number of the filter that is asked for a key, or -1 if the table does not have the key.
	find(t *Table, key []byte, compare func(a, b []byte) int) (int, error)
}

// properties are the properties of a table that matter here.
type properties struct {
	entries      uint64
	entriesKnown bool
	deletions    uint64

	rangeDeletions      uint64
	rangeDeletionsKnown bool

	comparator   string
	prefixesOnly bool   // the filter has no whole keys
	saysWhole    bool   // the table says whether it has
	extractor    string // RocksDB's prefix extractor
	schema       string // of Pebble's key columns
	noTimestamps bool   // the keys of the blocks have none, though the comparator has
	ofRocksDB    bool   // the table names the database that wrote it, as RocksDB's do since 2020
	family       string // RocksDB's column family
	userKeys     bool   // the keys of index blocks are user keys
	differences  bool   // their handles are stored as differences
	indexType    uint32
}

// The types of RocksDB's indexes.
const (
	indexTwoLevels = 2
	indexFirstKey  = 3 // an entry has the first key of its block, too
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

// isSynthetic reports whether the database shows other keys than the file has.
func (t *Table) isSynthetic() bool {
	p := t.inDatabase()
	return p != nil && p.synthetic
}

// inDatabase returns where the table is in its database, or nil if the database does not tell.
func (t *Table) inDatabase() *listing {
	if t.member == nil {
		return nil
	}
	return t.member.listing.Load()
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

// columnar reports whether data and index are blocks of columns.
func (t *Table) columnar() bool { return t.engine == Pebble && t.version >= 5 }

// hasSplit reports whether the filter has what the Split of a Comparer of Pebble returns: in RocksDB's format_version 2,
// too, which Pebble can write. Pebble does not say whether whole keys are in the filter, as RocksDB does.
func (t *Table) hasSplit() bool {
	return t.engine == Pebble || t.engine == RocksDB && !t.properties.saysWhole
}
