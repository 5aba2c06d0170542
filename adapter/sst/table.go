// Package bloomsst reads the Bloom filters and Ribbon filters in the table files (.ldb, .sst) of LevelDB,
// goleveldb, RocksDB, Pebble and Badger. It also reads a few data blocks of each table to prove the filters.
//
//	table, err := bloomsst.Open(file, size)
//	if err != nil {
//		return err
//	}
//	may, err := table.MayContain(key) // tests the table's range and filter
//
// A table of Pebble or Badger has one filter. A table of RocksDB has one filter ("fullfilter"), or one for
// each partition of its keys ("partitionedfilter"). A table of LevelDB has one filter for each 2 KiB of data
// blocks. [Table.Filters] returns the filters, and [Table.Stats] reports how full they are and how often they
// are wrong.
package bloomsst

import (
	"sync"
	"sync/atomic"

	"github.com/lanebloom/bloom"
)

// Table is a table file. It is safe for concurrent use if its io.ReaderAt is. After the first read, the
// filters stay in memory. For LevelDB, the index of the data blocks stays in memory as well.
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

// Option configures how [Open] and [OpenDatabase] read tables.
type Option func(*Table)

// Comparator sets the function with which the database compares user keys. Without this option, the package
// knows the order only if the table or the MANIFEST names a bytewise comparator, such as the default
// comparator of LevelDB, RocksDB and Pebble. If neither names a comparator, the package reads some keys. It
// assumes byte order if there are 32 or more of them, and all of them are in byte order.
//
// If the order is not known, queries do not use the table's range, and they look up a key in all filters of
// the table. If the table has more than 16 filters, queries do not use the filters either, and
// [Table.Ignored] returns [ErrComparator].
func Comparator(compare func(a, b []byte) int) Option {
	return func(t *Table) { t.compare = compare }
}

// Split sets a function that returns the length of a key's prefix. Use it if the filters contain prefixes.
// For Pebble, pass the Split of the Comparer. For RocksDB, the function must return the length of the prefix
// that the prefix_extractor returns. If the function returns -1 for a key, the key is a hit. If a filter of
// RocksDB contains whole keys, queries ignore this option.
func Split(prefix func(key []byte) int) Option {
	return func(t *Table) { t.split = prefix }
}

// Named sets the format of the filters whose policy has the given name. Use it for a name that you passed to
// NewNamed of adapter/goleveldb or adapter/pebble. The package already knows the names of the engines' own
// policies.
func Named(name string, f bloom.Format) Option {
	return func(t *Table) { t.names[name] = f }
}

// Engine returns the name of the engine that defines the table's format, which is [LevelDB], [RocksDB],
// [Pebble] or [Badger].
func (t *Table) Engine() string { return t.engine }

// Version returns the version of the table's format, which is RocksDB's format_version or Pebble's table
// format. It is 0 for LevelDB and Badger, whose formats have no version.
func (t *Table) Version() int { return t.version }

// Policy returns the name of the filter policy that the table stores. The name is empty if the table has no
// filter or belongs to Badger, which stores no name.
func (t *Table) Policy() string { return t.policy }

// Ignored returns an error that explains why queries do not use the filter. The error wraps [ErrMissing],
// [ErrNoFilter], [ErrPolicy], [ErrRibbon], [ErrPrefix] or [ErrComparator]. The queries then test only the
// table's range, if it is known. Ignored returns nil if queries use the filter. If one partition of the
// filter has an unknown format, Ignored also returns nil, and [Table.Filters] returns an error for this
// partition.
func (t *Table) Ignored() error {
	if p := t.proof.Load(); p != nil && p.denied != nil && t.ignored == nil {
		return p.denied
	}
	return t.ignored
}

// Size returns the number of bytes that the filters occupy in the file, including the offsets of LevelDB's
// filters or the index of RocksDB's partitions.
func (t *Table) Size() uint64 { return t.size }

// Entries returns the number of entries in the table, which equals the number of keys if each key occurs
// once. LevelDB's tables do not record the number of entries.
func (t *Table) Entries() (n uint64, known bool) {
	return t.properties.entries, t.properties.entriesKnown
}

// RangeDeletions returns the number of key ranges that the table deletes. Such a range can contain keys that
// are not in the table, and the table's filters do not contain these keys.
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
