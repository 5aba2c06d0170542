package bloomsst

import (
	"io"
	"path/filepath"
	"sync"
)

// What a table's database tells of the table.

// InDatabase declares that a table belongs to the database in a folder. The first [Open] with this option
// reads the MANIFEST of the database. The MANIFEST contains the name of the comparator, which tables of
// LevelDB do not contain. It also provides the level and the column family of the table, if the io.ReaderAt
// has a method Name, as an *os.File has, that returns the name of a table in the folder. To open all tables
// of a database, use [OpenDatabase].
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

// Name returns the name of the table's file in the folder of its database. It is empty for a table that was
// opened by [Open] without [InDatabase].
func (t *Table) Name() string {
	if t.member == nil {
		return ""
	}
	return t.member.name
}

// Level returns the level at which the last [Database.Refresh] found the table. It is known if the MANIFEST has one level for the file.
func (t *Table) Level() (level int, known bool) {
	p := t.inDatabase()
	if p == nil || !p.live || p.level == unknownLevel {
		return 0, false
	}
	return p.level, true
}

// Family returns the name of the column family of a RocksDB table. The table records the name, or else its
// database does. The name is empty for tables of other engines.
func (t *Table) Family() string {
	p := t.inDatabase()
	if t.properties.family != "" || p == nil {
		return t.properties.family
	}
	return p.family
}

// IsLeftover reports whether the MANIFEST of the table's database does not list the table: a compaction has replaced it, is
// still writing it, or has failed.
func (t *Table) IsLeftover() bool {
	p := t.inDatabase()
	return p != nil && !p.live
}

// IsUnasked reports whether RocksDB does not query the table's filter, because its family has the option
// optimize_filters_for_hits and the table is on the last level.
func (t *Table) IsUnasked() bool {
	p := t.inDatabase()
	return p != nil && p.unasked
}
