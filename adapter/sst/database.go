package bloomsst

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Database provides access to the tables in the folder of a database. You can use it while the database is
// running. A Database is safe for concurrent use.
//
//	database, err := bloomsst.OpenDatabase(folder)
//	if err != nil {
//		return err
//	}
//	defer database.Close()
//	view := database.View()
//	hits := make([]uint64, (len(view.Tables())+63)/64)
//	n, err := view.MayContain(key, hits) // bit i is set if table i may contain the key
type Database struct {
	folder  string
	options []Option
	mutex   sync.Mutex // of Refresh and Close
	closed  bool
	view    atomic.Pointer[View]
}

// OpenDatabase opens all tables in the folder of a LevelDB, goleveldb, RocksDB, Pebble or Badger database. It
// applies the given options to each table. OpenDatabase reads the MANIFEST, which contains the name of the
// database's comparator. For each table, the MANIFEST also contains the level, the first key and the last
// key. OpenDatabase writes nothing and locks nothing. If OpenDatabase cannot read a MANIFEST, it opens every
// table in the folder, and [View.Manifest] returns the reason. If the folder contains no tables either, the
// error wraps [ErrManifest].
//
// Queries do not find a key that is only in the database's log, because no table contains the key yet. The
// Database keeps the files of its tables open. If [Database.Refresh] removes a table, the table's file stays
// open until the garbage collector finds that no [View] contains the table.
func OpenDatabase(folder string, options ...Option) (*Database, error) {
	d := &Database{folder: folder, options: options}
	d.view.Store(new(View))
	if _, _, err := d.Refresh(); err != nil {
		return nil, err
	}
	return d, nil
}

// View returns the tables that [OpenDatabase] or the last successful call of [Database.Refresh] found.
func (d *Database) View() *View { return d.view.Load() }

// mostTries is how often Refresh reads a MANIFEST if the database changes meanwhile.
const mostTries = 5

// Refresh reads the MANIFEST again, makes a new [View], and returns the added and the removed tables. It
// opens only new files. Earlier Views stay valid. If Refresh returns an error, [Database.View] still returns
// the earlier View.
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

// Close closes the files of the tables in the current [View]. After that, a query that needs to read a file
// returns true and an error.
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

// isOld reports whether the database has changed while its tables were opened, so that another snapshot is better: some
// are gone, or have come.
func (s *snapshot) isOld(tables []*Table) bool {
	if !slices.ContainsFunc(tables, func(t *Table) bool { return t.member.file == nil || t.IsLeftover() }) && s.why == nil {
		return false
	}
	return s.at != editionOf(s.folder)
}

// open opens the tables of a snapshot, in the order of their numbers. It uses those again that are open.
func (d *Database) open(s *snapshot, before []*Table) (tables []*Table) {
	known := map[string]*Table{}
	for _, t := range before {
		known[t.Name()] = t
	}
	numbers := make([]uint64, 0, len(s.names))
	for number := range s.names {
		numbers = append(numbers, number)
	}
	for number := range s.listed {
		if _, there := s.names[number]; !there {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	opened := make([]*Table, len(numbers))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(numbers)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := int(next.Add(1)) - 1; i < len(numbers); i = int(next.Add(1)) - 1 {
				number := numbers[i]
				name := s.name(number)
				opened[i] = d.openTable(name, s, s.listed[number], known[name])
			}
		}()
	}
	workers.Wait()
	return slices.DeleteFunc(opened, func(t *Table) bool { return t == nil })
}

// openTable opens a table, or returns the one that is known if the file is the same. It returns nil for a file that the MANIFEST
// does not list and that is no table: it may be one that is being written.
func (d *Database) openTable(name string, s *snapshot, p *listing, known *Table) *Table {
	isLive := p != nil || s.why != nil
	if p == nil {
		p = &listing{live: s.why != nil, level: unknownLevel, comparator: s.main}
	}
	t, err := d.openFile(name, p, known)
	if err != nil {
		if !isLive {
			return nil
		}
		if p.path > 0 {
			err = fmt.Errorf("it is in folder %d of the database's db_paths: %w", p.path, err)
		}
		t = &Table{ignored: fmt.Errorf("%w: %w", ErrMissing, err), member: &member{name: name}}
		if known != nil && known.member.file == nil {
			t = known
		}
	}
	t.member.listing.Store(p)
	return t
}

func (d *Database) openFile(name string, p *listing, known *Table) (*Table, error) {
	file, err := os.Open(filepath.Join(d.folder, name))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && known != nil && known.isFile(info, p) {
		return known, file.Close()
	}
	var t *Table
	if err == nil {
		t, err = Open(file, info.Size(), d.options...)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if p.synthetic {
		t.ignored, t.filters = fmt.Errorf("%w: the database changes the prefix or suffix of the keys in the file", ErrPrefix), nil
	}
	t.member = &member{name: name, file: file, info: info}
	return t, nil
}

// isFile reports whether the table is in this file, and what was proved about it holds in the database.
func (t *Table) isFile(info fs.FileInfo, p *listing) bool {
	m, before := t.member, t.inDatabase()
	return m.file != nil && os.SameFile(m.info, info) && m.info.Size() == info.Size() && m.info.ModTime().Equal(info.ModTime()) &&
		before.synthetic == p.synthetic && (t.properties.comparator != "" || before.comparator == p.comparator)
}
