package bloomsst

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// snapshot is what the MANIFEST and the folder of a database list at one time.
type snapshot struct {
	folder string
	at     edition
	why    error               // why there is no MANIFEST that can be read, or nil
	listed map[uint64]*listing // of the tables that are live, by the number of the file
	names  map[uint64]string   // of the tables in the folder
	main   string              // the comparator of the first family, for tables that are not listed
}

// edition tells whether a MANIFEST has changed: its name and size.
type edition struct {
	name string
	size int64
}

// editionOf returns the edition of the MANIFEST that counts in a folder. If there is none, it is the same each time.
func editionOf(folder string) edition {
	name, err := manifestOf(folder)
	if err != nil {
		return edition{}
	}
	info, err := os.Stat(name)
	if err != nil {
		return edition{name, -1}
	}
	return edition{name, info.Size()}
}

// readSnapshot reads the MANIFEST, and then the folder: so no table is missing that came between the two.
func readSnapshot(folder string) (*snapshot, error) {
	s := &snapshot{folder: folder, listed: map[uint64]*listing{}, names: map[uint64]string{}}
	if err := s.readManifest(); err != nil {
		s.why = fmt.Errorf("%w: %w", ErrManifest, err)
		s.main, _ = databaseComparator(folder) // which may be readable all the same
	}
	names, err := namesIn(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if number, ok := tableNumber(name); ok {
			s.names[number] = name
		}
	}
	s.markUnasked(unaskedFamilies(folder, names))
	return s, nil
}

// namesIn returns the names of the files in a folder.
func namesIn(folder string) ([]string, error) {
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// ListedTables returns the names of the table files that the MANIFEST of a database lists, in the order of
// the file numbers. Some files may not be in the folder. The error wraps [ErrManifest] if no MANIFEST can be
// read.
func ListedTables(folder string) ([]string, error) {
	s, err := readSnapshot(folder)
	if err == nil {
		err = s.why
	}
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, number := range slices.Sorted(maps.Keys(s.listed)) {
		names = append(names, s.name(number))
	}
	return names, nil
}

// name returns the name of the file of a table.
func (s *snapshot) name(number uint64) string {
	if name, there := s.names[number]; there {
		return name
	}
	return fmt.Sprintf("%06d.sst", number)
}

// tableNumber returns the number in the name of a table.
func tableNumber(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, ".sst")
	if !ok {
		digits, ok = strings.CutSuffix(name, ".ldb")
	}
	if !ok || strings.HasPrefix(digits, "+") {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}

// readManifest reads the MANIFEST that counts.
func (s *snapshot) readManifest() error {
	s.at = editionOf(s.folder)
	name, err := manifestOf(s.folder)
	if err != nil {
		return err
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) != badgerManifest {
		err = fmt.Errorf("%w: the database names a MANIFEST that is not there: %w", ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var m *manifest
	if filepath.Base(name) == badgerManifest {
		m, err = readBadgerManifest(file, info.Size())
	} else {
		m, err = readManifest(file)
	}
	if err != nil {
		return err
	}
	if f := m.families[0]; f != nil {
		s.main = f.comparator
	}
	for _, f := range m.families {
		f.list(s.listed, len(m.families) > 1)
	}
	for number := range m.backings {
		if s.listed[number] == nil {
			s.listed[number] = &listing{live: true, level: unknownLevel, comparator: s.main}
		}
	}
	return nil
}

// badgerManifest is the name of Badger's MANIFEST.
const badgerManifest = "MANIFEST"

// manifestOf returns the MANIFEST that counts in a folder: the one that Pebble's newest marker names, or CURRENT, or
// Badger's.
func manifestOf(folder string) (string, error) {
	names, err := namesIn(folder)
	if err != nil {
		return "", err
	}
	if name, found := newestMarker(names); found {
		if !isManifestName(name) {
			return "", fmt.Errorf("%w: a marker names %q", ErrDamaged, name)
		}
		return filepath.Join(folder, name), nil
	}
	name, err := currentManifest(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(folder, badgerManifest), nil
	}
	return name, err
}

// newestMarker returns what the marker with the highest number names: marker.manifest.NUMBER.NAME.
func newestMarker(names []string) (name string, found bool) {
	newest := uint64(0)
	for _, file := range names {
		rest, ok := strings.CutPrefix(file, "marker.manifest.")
		digits, named, ok2 := strings.Cut(rest, ".")
		number, err := strconv.ParseUint(digits, 10, 64)
		if ok && ok2 && err == nil && number >= newest {
			newest, name, found = number, named, true
		}
	}
	return name, found
}

// list adds the tables of a family by the numbers of their files. A file can be several tables of Pebble, or
// lie at several levels: then it has no bounds and perhaps no level.
func (f *family) list(listed map[uint64]*listing, several bool) {
	name := f.name
	if name == "" && several {
		name = "default"
	}
	for number, t := range f.tables {
		p := &listing{live: true, level: int(min(t.level, math.MaxInt32)), family: name, comparator: f.comparator, synthetic: t.synthetic, path: t.path}
		if t.virtual {
			number = t.backing
		} else {
			p.size, p.first, p.last = t.size, t.first, t.last
		}
		if !f.stripped && !t.stripped && !t.virtual {
			p.stripTimes()
		}
		if before := listed[number]; before != nil {
			if p.level != before.level {
				p.level = unknownLevel
			}
			p.first, p.last, p.size = nil, nil, 0
			p.synthetic = p.synthetic || before.synthetic
		}
		listed[number] = p
	}
}

// stripTimes takes the timestamps from the bounds.
func (p *listing) stripTimes() {
	if !strings.HasSuffix(p.comparator, timestamps) {
		return
	}
	if len(p.first) < timestampSize || len(p.last) < timestampSize {
		p.first, p.last = nil, nil
		return
	}
	p.first, p.last = p.first[:len(p.first)-timestampSize], p.last[:len(p.last)-timestampSize]
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
		t.ignored, t.filters = fmt.Errorf("%w: the database gives the keys of the file another prefix or suffix", ErrPrefix), nil
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
