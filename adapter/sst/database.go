package bloomsst

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// ErrMissing is the error that [Table.Ignored] returns for a table that cannot be opened, although the
// MANIFEST of the database lists it. The file of the table is gone, damaged or in another folder. Every key
// may be in the table.
var ErrMissing = errors.New("bloomsst: a table of the database is missing")

// ErrManifest: the folder has no MANIFEST that this package can read. See [View.Manifest].
var ErrManifest = errors.New("bloomsst: no MANIFEST of a database")

// Database gives access to the tables in the folder of a database. The database may be running. A Database is
// safe for concurrent use.
//
//	database, err := bloomsst.OpenDatabase(folder)
//	if err != nil {
//		return err
//	}
//	defer database.Close()
//	view := database.View()
//	hits := make([]uint64, (len(view.Tables())+63)/64)
//	n, err := view.MayContain(key, hits) // bit i is set if table i may have the key
type Database struct {
	folder  string
	options []Option
	mutex   sync.Mutex // of Refresh and Close
	closed  bool
	view    atomic.Pointer[View]
}

// OpenDatabase opens all tables in the folder of a database, each with the given options. The engine can be
// LevelDB, goleveldb, RocksDB, Pebble or Badger. OpenDatabase reads the MANIFEST, which names the comparator
// of the database and lists the level, the first key and the last key of each table. It writes nothing and
// locks nothing. If it can read no MANIFEST, it opens every table in the folder, and [View.Manifest] returns
// the reason. The error is [ErrManifest] if the folder has no tables either.
//
// Keys that are only in the database's log are in no table. The files of tables stay open. If a Refresh finds
// that a table is gone, the file of that table stays open until the garbage collector finds that no [View]
// has the table.
func OpenDatabase(folder string, options ...Option) (*Database, error) {
	d := &Database{folder: folder, options: options}
	d.view.Store(new(View))
	if _, _, err := d.Refresh(); err != nil {
		return nil, err
	}
	return d, nil
}

// View returns the tables that the last Refresh found.
func (d *Database) View() *View { return d.view.Load() }

// mostTries is how often Refresh reads a MANIFEST if the database changes meanwhile.
const mostTries = 5

// Refresh reads the MANIFEST again, makes a new [View], and returns the tables that came and the tables that
// went. It opens only new files. Earlier Views stay valid. With an error, [Database.View] returns the earlier
// View.
func (d *Database) Refresh() (came, went []*Table, err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return nil, nil, fmt.Errorf("bloomsst: %s: %w", d.folder, fs.ErrClosed)
	}
	old := d.View()
	tables := old.tables
	for try := 1; ; try++ {
		s, err := readSnapshot(d.folder)
		if err != nil {
			return nil, nil, err
		}
		tables = d.open(s, tables)
		if try < mostTries && s.isOld(tables) {
			continue
		}
		if len(tables) == 0 && s.why != nil {
			return nil, nil, fmt.Errorf("bloomsst: %s has no tables: %w", d.folder, s.why)
		}
		v := newView(tables, s.why)
		d.view.Store(v)
		return missingFrom(old.tables, v.tables), missingFrom(v.tables, old.tables), nil
	}
}

// missingFrom returns the tables that a list does not have.
func missingFrom(list, tables []*Table) (missing []*Table) {
	has := make(map[*Table]bool, len(list))
	for _, t := range list {
		has[t] = true
	}
	for _, t := range tables {
		if !has[t] {
			missing = append(missing, t)
		}
	}
	return missing
}

// Close closes the files of the tables that the last Refresh found. After that, a query that must read a file
// returns true, with an error.
func (d *Database) Close() (err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.closed = true
	for _, t := range d.View().tables {
		if t.member.file != nil {
			err = errors.Join(err, t.member.file.Close())
		}
	}
	return err
}

// member is what a database keeps of a table.
type member struct {
	name    string // of the file
	file    *os.File
	info    fs.FileInfo
	listing atomic.Pointer[listing]
}

// listing is where a table is in its database. It changes when the table moves to another level.
type listing struct {
	live        bool
	level       int // or unknownLevel
	family      string
	comparator  string
	size        uint64 // of the file, or 0 if it is not known
	first, last []byte // user keys; nil if they are not known
	synthetic   bool   // the database shows keys with another prefix or suffix than the file has
	path        uint64 // the number of a folder; 0 is the database's
	unasked     bool   // the database does not query the filter
}

const unknownLevel = -1

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

// inDatabase returns where the table is in its database, or nil if the database does not tell.
func (t *Table) inDatabase() *listing {
	if t.member == nil {
		return nil
	}
	return t.member.listing.Load()
}
