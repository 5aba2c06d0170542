package window

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lanebloom/bloom"
)

// A folder has the header of the window in the file "window", and each generation that has keys in a file "generation-N". Every Save
// gives the file of the newest generation a new number, and writes it before the header that names it. So whenever the process is
// killed, the header and all files that it names are whole. Those that no header names are left from a Save that was killed, and
// the next one removes them.

const (
	lockName         = "lock"
	generationPrefix = "generation-"
	unfinished       = ".new" // the end of the name of a file that is not whole yet
)

// folder is where a window is kept. Its methods are called one after the other.
type folder struct {
	path   string
	lock   io.Closer
	out    *sink
	last   uint64                // the largest number of a file
	sealed map[*generation]entry // those that have a file, and get no more keys
}

// before is what tests do before each call that changes files, if it is not nil.
var before func(call string)

func step(call string) {
	if before != nil {
		before(call)
	}
}

// lockFolder locks a folder, and makes it if there is none.
func lockFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	lock, err := lockFile(filepath.Join(path, lockName))
	if err != nil {
		return nil, fmt.Errorf("window: folder %s: %w", path, err)
	}
	return &folder{path: path, lock: lock, out: newSink(nil)}, nil
}

// save writes what the folder does not have of a state. If it fails before the header is replaced, it removes what it wrote, so that a
// full disk does not get fuller by each try. After a rename that failed, nothing is removed: over a network, it may have been done.
func (f *folder) save(s *state, every time.Duration) error {
	h := s.header(every)
	sealed := map[*generation]entry{}
	first := f.last
	if err := f.writeNew(s, h, sealed); err != nil {
		var renaming *os.LinkError
		for ; f.last > first && !errors.As(err, &renaming); f.last-- {
			os.Remove(filepath.Join(f.path, generationName(f.last)))
		}
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	f.sealed = sealed
	f.removeOthers(h)
	return nil
}

// writeNew writes the generations that have no file, and the header. It completes the header, and sealed.
func (f *folder) writeNew(s *state, h *header, sealed map[*generation]entry) error {
	wrote := false
	for i, g := range s.generations {
		if len(g.sets) == 0 {
			continue
		}
		e, has := f.sealed[g]
		if i == 0 || !has {
			f.last++
			e.number, wrote = f.last, true
			if err := f.write(generationName(e.number), func() { e.sum = f.out.generation(g, s.options.Format) }); err != nil {
				return err
			}
		}
		h.entries[i].number, h.entries[i].sum = e.number, e.sum
		if i > 0 {
			sealed[g] = e
		}
	}
	if wrote {
		if err := f.sync(); err != nil { // the names are there before the header that has them
			return err
		}
	}
	return f.write(windowFile, func() { f.out.write(h.bytes(time.Now())) })
}

func generationName(number uint64) string { return generationPrefix + strconv.FormatUint(number, 10) }

// file calls step before each write.
type file struct{ *os.File }

func (f file) Write(b []byte) (int, error) {
	step("write")
	return f.File.Write(b)
}

// write replaces a file in one step. What fill writes to f.out goes there.
func (f *folder) write(name string, fill func()) (err error) {
	path := filepath.Join(f.path, name)
	step("create")
	to, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("window: %w", err)
	}
	f.out.to, f.out.err = file{to}, nil
	fill()
	f.out.flush()
	if err = f.out.err; err == nil {
		step("sync")
		err = to.Sync()
	}
	if closing := to.Close(); err == nil {
		err = closing
	}
	if err == nil {
		step("rename")
		err = os.Rename(path+unfinished, path)
	}
	if err != nil {
		os.Remove(path + unfinished)
		return fmt.Errorf("window: %w", err)
	}
	return nil
}

func (f *folder) sync() error {
	step("sync folder")
	if err := syncFolder(f.path); err != nil {
		return fmt.Errorf("window: %w", err)
	}
	return nil
}

// removeOthers removes files that the header does not name. What can't be removed now is the next Save's.
func (f *folder) removeOthers(h *header) {
	named := map[string]bool{windowFile: true}
	for _, e := range h.entries {
		named[generationName(e.number)] = true
	}
	for _, name := range f.names() {
		if !named[name] {
			step("remove")
			os.Remove(filepath.Join(f.path, name))
		}
	}
}

// names returns the names of the files that save writes, whole or not.
func (f *folder) names() (names []string) {
	entries, _ := os.ReadDir(f.path) // what it could not read is nobody's loss
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), unfinished)
		number, isGeneration := strings.CutPrefix(name, generationPrefix)
		if _, err := strconv.ParseUint(number, 10, 64); name == windowFile || isGeneration && err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// read reads what the folder has, for a window of these options: no generation that it has no place for. It returns nil if the
// folder has nothing yet.
func (f *folder) read(o Options, p *plan) (*saved, int64, error) {
	now := time.Now()
	in, err := f.open(windowFile)
	if errors.Is(err, fs.ErrNotExist) {
		for _, name := range f.names() {
			if !strings.HasSuffix(name, unfinished) {
				return nil, 0, fmt.Errorf("window: %w: folder %s has the file %s, but not the file %s", bloom.ErrEncoding, f.path, name, windowFile)
			}
		}
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("window: %w", err)
	}
	h, v, err := in.header(now)
	if err == nil && v != version {
		err = fmt.Errorf("%w: the file has version %d", bloom.ErrEncoding, v)
	}
	if err = in.close(err); err != nil {
		return nil, in.n, fmt.Errorf("window: folder %s: file %s: %w", f.path, windowFile, err)
	}
	s := &saved{header: h}
	if h.options.Format != o.Format {
		return s, in.n, fmt.Errorf("window: %w: folder %s has the format %v, but the window has the format %v", bloom.ErrShape, f.path, h.options.Format, o.Format)
	}
	f.sealed = map[*generation]entry{}
	for _, e := range h.entries {
		g := &generation{began: e.began, over: e.over}
		s.generations = append(s.generations, g)
		if e.sets > 0 {
			f.last = max(f.last, e.number)
			f.sealed[g] = e
		}
	}
	s.catchUp(now)
	size := in.n
	for i, g := range s.generations[:min(len(s.generations), o.Generations)] {
		if e, has := f.sealed[g]; has {
			n, err := f.readGeneration(g, e, o.Format, p)
			if size += n; err != nil {
				return s, size, fmt.Errorf("window: folder %s: generation %d: file %s: %w", f.path, i, generationName(e.number), err)
			}
		}
	}
	delete(f.sealed, s.generations[0]) // it gets more keys
	return s, size, nil
}

// readGeneration reads the sets of a generation.
func (f *folder) readGeneration(g *generation, e entry, format bloom.Format, p *plan) (int64, error) {
	in, err := f.open(generationName(e.number))
	if err != nil {
		return 0, err
	}
	g.sets, err = in.sets(format, e, p)
	return in.n, in.close(err)
}

// openFile is a source of a file. It has to be closed.
type openFile struct {
	*source
	file *os.File
}

func (f *folder) open(name string) (*openFile, error) {
	file, err := os.Open(filepath.Join(f.path, name))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &openFile{newSource(file, info.Size()), file}, nil
}

// close closes the file. It returns the error of what was read, or one if something is left.
func (in *openFile) close(err error) error {
	in.file.Close()
	if err == io.EOF {
		err = fmt.Errorf("%w: the file is empty: %w", bloom.ErrEncoding, io.ErrUnexpectedEOF)
	}
	if err == nil && in.left > 0 {
		err = fmt.Errorf("%w: %d bytes follow the end of the data", bloom.ErrEncoding, in.left)
	}
	return err
}
