package bloomsst

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// manifest is what the MANIFEST of a database lists: the tables that the database has, by family. Only RocksDB's
// databases have several families, which it calls column families.
type manifest struct {
	families map[uint32]*family
	backings map[uint64]bool // Pebble's files whose parts are tables
	group    []edit          // of edits that count once all have come
	torn     bool            // the last record is not whole: the database may be writing it
}

// family has the live tables of a family, by number.
type family struct {
	name       string
	comparator string
	stripped   bool // keys in the MANIFEST have no timestamps
	tables     map[uint64]newTable
}

// readManifest reads a MANIFEST of LevelDB, goleveldb, RocksDB or Pebble. It stops at a last record that is not whole.
func readManifest(r io.Reader) (*manifest, error) {
	m := &manifest{families: map[uint32]*family{0: newFamily("", "")}, backings: map[uint64]bool{}}
	records := logRecords{r: r}
	for records.next() {
		e, err := parseEdit(records.record)
		if err != nil {
			return nil, err
		}
		if err := m.add(e); err != nil {
			return nil, err
		}
	}
	m.torn = records.torn || len(m.group) > 0
	m.group = nil
	return m, records.err
}

func newFamily(name, comparator string) *family {
	return &family{name: name, comparator: comparator, tables: map[uint64]newTable{}}
}

// add makes a change, or keeps it until its group is whole.
func (m *manifest) add(e edit) error {
	if !e.grouped {
		if len(m.group) > 0 {
			return fmt.Errorf("%w: a group of edits in a MANIFEST is truncated", ErrDamaged)
		}
		return m.apply(e)
	}
	for i := range e.came { // the record is not kept
		e.came[i].first, e.came[i].last = bytes.Clone(e.came[i].first), bytes.Clone(e.came[i].last)
	}
	if m.group = append(m.group, e); e.following > 0 {
		return nil
	}
	group := m.group
	m.group = nil
	for _, e := range group {
		if err := m.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// apply makes a change. A table that moves to another level both goes and comes.
func (m *manifest) apply(e edit) error {
	if e.begins {
		m.families[e.family] = newFamily(e.name, "")
	}
	f := m.families[e.family]
	if f == nil {
		return fmt.Errorf("%w: a MANIFEST has no family %d", ErrDamaged, e.family)
	}
	if e.comparator != "" {
		f.comparator = e.comparator
	}
	f.stripped = f.stripped || e.stripped
	for _, g := range e.gone {
		if f.tables[g.number].level == g.level {
			delete(f.tables, g.number)
		}
	}
	for _, t := range e.came {
		t.first, t.last = bytes.Clone(userKey(t.first)), bytes.Clone(userKey(t.last))
		f.tables[t.number] = t
	}
	for _, number := range e.backings {
		m.backings[number] = true
	}
	for _, number := range e.unbacked {
		delete(m.backings, number)
	}
	if e.ends {
		delete(m.families, e.family)
	}
	return nil
}

// databaseComparator returns the name of the comparator of the database in a folder, which stands in one of
// the first records of its MANIFEST: in RocksDB, it is the comparator of the first family. It returns nothing
// if the folder has no database that names one.
func databaseComparator(folder string) (string, error) {
	name, err := manifestOf(folder)
	if err != nil {
		return "", err
	}
	if filepath.Base(name) == badgerManifest {
		return "", nil
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	records := logRecords{r: file}
	for records.next() {
		e, err := parseEdit(records.record)
		if err != nil {
			return "", err
		}
		if e.comparator != "" {
			return e.comparator, nil
		}
	}
	return "", records.err
}
