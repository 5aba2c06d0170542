package bloomsst

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// ListedTables returns the names of the table files that the MANIFEST of a database lists, in order of file
// number. Some of these files may be missing from the folder. If no MANIFEST can be read, the error wraps
// [ErrManifest].
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
		err = fmt.Errorf("%w: the database names a MANIFEST that does not exist: %w", ErrDamaged, err)
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

// markUnasked marks the listed tables on the last levels of families.
func (s *snapshot) markUnasked(families map[string]bool) {
	last := map[string]int{}
	for _, l := range s.listed {
		last[l.family] = max(last[l.family], l.level)
	}
	for _, l := range s.listed {
		l.unasked = families[l.family] && l.level > 0 && l.level == last[l.family]
	}
}
