package bloomsst

import (
	"io"
	"path/filepath"
	"sync"
)

// What a table's database tells of the table.

// InDatabase tells [Open] that the table belongs to the database in the given folder. The first Open
// with this option reads the database's MANIFEST. The MANIFEST contains the name of the comparator,
// which tables of LevelDB do not contain. The MANIFEST also contains the level and the column family of
// each table. Open finds the table in the MANIFEST only if the io.ReaderAt has a Name method that
// returns the name of the file, like that of [os.File]. Without it, Open uses only the comparator. To
// open all tables of a database, use [OpenDatabase].
func InDatabase(folder string) Option {
	read := sync.OnceValue(func() *snapshot {
		s, err := readSnapshot(folder)
		if err != nil { // there is no such folder
			s = &snapshot{why: err}
		}
		return s
	})
	return func(t *Table) { t.member = &member{}; t.member.enter(read(), fileName(t.file.r)) }
}

// fileName returns the last element of the name of a file, or nothing.
func fileName(r io.ReaderAt) string {
	if named, ok := r.(interface{ Name() string }); ok {
		return filepath.Base(named.Name())
	}
	return ""
}

// enter sets what a database tells of a file.
func (m *member) enter(s *snapshot, name string) {
	m.name = name
	number, ok := tableNumber(name)
	l := s.listed[number]
	if !ok || l == nil {
		l = &listing{live: s.why != nil || !ok, level: unknownLevel, comparator: s.main}
	}
	m.listing.Store(l)
}

// Name returns the name of the table's file in the folder of its database. The name is empty if [Open] opened
// the table without [InDatabase].
func (t *Table) Name() string {
	if t.member == nil {
		return ""
	}
	return t.member.name
}

// Level returns the level at which the MANIFEST lists the table. The level is not known if the MANIFEST does
// not list the file, or lists it at several levels. [Database.Refresh] updates the level.
func (t *Table) Level() (level int, known bool) {
	p := t.inDatabase()
	if p == nil || !p.live || p.level == unknownLevel {
		return 0, false
	}
	return p.level, true
}

// Family returns the name of the column family of a RocksDB table. If the table does not record the name,
// Family returns the name in the MANIFEST. For other engines, the name is empty.
func (t *Table) Family() string {
	p := t.inDatabase()
	if t.properties.family != "" || p == nil {
		return t.properties.family
	}
	return p.family
}

// IsLeftover reports whether the MANIFEST of the database does not list the table. This is the case, for
// example, if a compaction has replaced the table, or if the flush or compaction that writes the table is
// not finished or has failed.
func (t *Table) IsLeftover() bool {
	p := t.inDatabase()
	return p != nil && !p.live
}

// IsUnasked reports whether RocksDB never queries the table's filter. This is the case if the table is on the
// last level and its column family has the option optimize_filters_for_hits.
func (t *Table) IsUnasked() bool {
	p := t.inDatabase()
	return p != nil && p.unasked
}
