// Package outputfile writes the output files of the commands.
package outputfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// destination is where the bytes for a name of a file go.
type destination struct {
	name   string      // as the user wrote it
	path   string      // with links followed
	old    fs.FileInfo // the regular file to replace; nil if there is none
	stream *os.File    // standard output or error, if that is the file
	device bool        // nothing to replace: a pipe, a terminal or the like
}

// Help is what the help of a command says of its output file.
const Help = `Output: The -o file is written atomically, and must not be one of the input files. If the file exists, its permissions, owner and group are kept, and symbolic links to it still work.
If another program changes the file during the run, the command fails and leaves the changed file as it is. It also fails if the file has several names (hard links), if the owner of the file cannot be kept, or if the name is a symbolic link to a file that does not exist.
Pipes and devices are written to directly. If the process is killed, a file .bloom-*.tmp may be left. Remove that file.`

// Streams are the standard streams of a process.
type Streams struct{ In, Out, Err *os.File }

// Write writes the file of a name.
//
// A regular file appears whole or not at all: the bytes go to a temporary file
// beside it, which then takes its name, and is removed on an error or a signal. A
// file that is there keeps its permissions, owner and group, and links keep
// pointing where they do. What cannot be kept so is refused: other names of the
// file (hard links), and an owner that this process may not give. A pipe or device is
// written to, and so is standard output by a name such as /dev/stdout.
//
// The libraries for this (google/renameio) do not run on Windows, make temporary
// names out of the file's, which may then be too long, and know neither signals nor
// owners.
func (s Streams) Write(name string, write func(io.Writer) error) error {
	o, err := s.find(name)
	switch {
	case err != nil:
		return err
	case o.stream != nil:
		return write(o.stream)
	case o.device:
		return writeDevice(o.path, write)
	}
	return o.replace(nil, write)
}

// WriteBytes is Write for bytes that are there.
func (s Streams) WriteBytes(name string, data []byte) error {
	return s.Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Update replaces a regular file by what change makes of its bytes. From the reading to the end, no
// other process replaces the file with Update, Rewrite or Write. Processes that do so at once wait for each
// other, so that none undoes what another did.
func (s Streams) Update(name string, change func(old []byte) ([]byte, error)) error {
	return s.whileLocked(name, func(o destination, locked *lockedFile) error {
		old, err := locked.read()
		if err != nil {
			return err
		}
		data, err := change(old)
		if err != nil {
			return err
		}
		return o.replace(locked, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	})
}

// Rewrite is Update for files that are too large for memory: another process reads the old file while write is
// at work. It must not be this one, which would lose its lock.
func (s Streams) Rewrite(name string, write func(w io.Writer) error) error {
	return s.whileLocked(name, func(o destination, locked *lockedFile) error { return o.replace(locked, write) })
}

// Create writes a file that must not be there yet: of processes that do so at once, one makes the file, and the others
// get an error that is fs.ErrExist. It appears whole or not at all.
func (s Streams) Create(name string, write func(io.Writer) error) error {
	o, err := newOutput(name)
	if _, missing := os.Stat(name); missing == nil {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	return o.makeBeside(0o666, write, func(temporary string, _ <-chan os.Signal) error {
		err := os.Link(temporary, o.path)
		if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
			if _, there := os.Lstat(o.path); errors.Is(there, fs.ErrNotExist) {
				return os.Rename(temporary, o.path)
			}
			err = fs.ErrExist
		}
		if err == nil {
			err = os.Remove(temporary)
		}
		return err
	})
}

// whileLocked calls do while no other process replaces the regular file of a name.
func (s Streams) whileLocked(name string, do func(destination, *lockedFile) error) error {
	o, err := s.findOld(name)
	if err != nil {
		return err
	}
	locked, err := o.lock(nil)
	if err != nil {
		return fmt.Errorf("%s: cannot lock the file to update it: %w", name, cause(err))
	}
	defer locked.Close()
	if o.old, err = os.Stat(o.path); err != nil { // who had the lock before may have replaced it
		return err
	}
	return do(o, locked)
}

// CheckUpdate finds out before the work that Update or Rewrite would fail.
func (s Streams) CheckUpdate(name string) error {
	_, err := s.findOld(name)
	return err
}

// Check finds out before the work that Write would fail.
func (s Streams) Check(name string) error {
	_, err := s.find(name)
	return err
}

// Stat tells of an input: "-" is standard input.
func (s Streams) Stat(input string) (fs.FileInfo, error) {
	if input == "-" {
		return s.In.Stat()
	}
	return os.Stat(input)
}

// find returns what a name of an output means.
func (s Streams) find(name string) (o destination, err error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return newOutput(name)
	}
	if err != nil {
		return o, err
	}
	if info.IsDir() {
		return o, fmt.Errorf("%s: is a directory", name)
	}
	for _, stream := range []*os.File{s.Out, s.Err} {
		if other, err := stream.Stat(); err == nil && os.SameFile(info, other) {
			return destination{name: name, stream: stream}, nil
		}
	}
	if !info.Mode().IsRegular() || isDescriptor(name) {
		return destination{name: name, path: name, device: true}, nil
	}
	return oldOutput(name, info)
}

// findOld is find for a regular file that is to be changed.
func (s Streams) findOld(name string) (o destination, err error) {
	if _, err := os.Stat(name); err != nil {
		return o, err
	}
	o, err = s.find(name)
	switch {
	case err != nil:
		return o, err
	case o.stream != nil:
		return o, fmt.Errorf("%s: input file is also the output", name)
	case o.device:
		return o, fmt.Errorf("%s: is not a regular file, so it cannot be replaced", name)
	}
	return o, nil
}

// Read reads a file that other processes may replace meanwhile.
func Read(name string) (data []byte, err error) {
	err = patiently(func() (err error) {
		data, err = os.ReadFile(name)
		return err
	})
	return data, err
}

// newOutput is find for a file that is not there.
func newOutput(name string) (o destination, err error) {
	if _, err := os.Lstat(name); err == nil {
		return o, fmt.Errorf("%s: the symbolic link points to no file", name)
	}
	switch info, err := os.Stat(filepath.Dir(name)); {
	case err != nil:
		return o, fmt.Errorf("%s: %w", name, err)
	case !info.IsDir():
		return o, fmt.Errorf("%s: %s is not a folder", name, filepath.Dir(name))
	}
	return destination{name: name, path: name}, nil
}

// oldOutput is find for a regular file. Who may not write to it may not
// replace it.
func oldOutput(name string, info fs.FileInfo) (o destination, err error) {
	if n := hardLinks(info); n > 1 {
		return o, fmt.Errorf("%s: the file has %d names (hard links), and replacing it would separate them", name, n)
	}
	if err := patiently(func() error {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return file.Close()
	}); err != nil {
		return o, err
	}
	path, err := filepath.EvalSymlinks(name)
	return destination{name: name, path: path, old: info}, err
}

// isDescriptor reports whether a name leads to an open file of a process, such as
// /dev/fd/3 on Linux: to replace the file would not write to what is open.
func isDescriptor(name string) bool {
	const most = 40 // links, as in Linux
	for range most {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return false
		}
		if strings.HasPrefix(dir, "/proc/") {
			return true
		}
		link, err := os.Readlink(name)
		if err != nil {
			return false
		}
		if name = link; !filepath.IsAbs(link) {
			name = filepath.Join(dir, link)
		}
	}
	return false
}

// writeDevice writes to what cannot be replaced. A signal ends the process as it
// would any: to open a pipe may take forever.
func writeDevice(name string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

// replace writes a temporary file and renames it. Its name is random, since other processes may have the same number (in
// containers), and short, whatever the length of the file's. If the old file is not locked yet, it is locked while the new one
// takes its name.
func (o destination) replace(locked *lockedFile, write func(io.Writer) error) error {
	mode := os.FileMode(0o666) // the umask removes bits from it
	if o.old != nil {
		mode = 0o600 // until it has the old one's
	}
	return o.makeBeside(mode, write, func(temporary string, signals <-chan os.Signal) error {
		return o.giveName(temporary, locked, signals)
	})
}

// makeBeside writes a temporary file, and gives it the name of the file. It stays only if that succeeds.
func (o destination) makeBeside(mode os.FileMode, write func(io.Writer) error, giveName func(temporary string, signals <-chan os.Signal) error) error {
	signals, stop := CatchSignals()
	defer stop()
	temporary := filepath.Join(filepath.Dir(o.path), ".bloom-"+rand.Text()+".tmp")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%s: cannot create a temporary file in the same folder: %w", o.name, cause(err))
	}
	end := o.fillUnless(signals, file, write)
	if closed := file.Close(); end.err == nil {
		end.err = closed
	}
	if end.err == nil && end.panicked == nil {
		end.err = giveName(temporary, signals)
	}
	if end.err != nil || end.panicked != nil {
		end.err = errors.Join(o.explain(end.err, temporary), os.Remove(temporary))
	}
	if end.panicked != nil {
		panic(end.panicked)
	}
	return end.err
}

// giveName renames the temporary file, when no other process has the lock of the old file, and if that is as it was. Where
// files cannot be locked, there is no process to wait for: Update fails there.
func (o destination) giveName(temporary string, locked *lockedFile, signals <-chan os.Signal) error {
	if o.old != nil && locked == nil {
		locked, err := o.lock(signals)
		if asked := (signalError{}); errors.As(err, &asked) {
			return err
		}
		if err == nil {
			defer locked.Close()
		}
	}
	if err := o.unchanged(); err != nil {
		return err
	}
	return patiently(func() error { return os.Rename(temporary, o.path) })
}

// ErrChanged says that another program has changed a file since it was opened to be replaced: the changed one stays.
var ErrChanged = errors.New("another program changed the file during the run; its version is kept")

// unchanged returns an error if the file to replace is not the one that was found: by its size, its time and its identity.
func (o destination) unchanged() error {
	now, err := os.Stat(o.path)
	if o.old == nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("%s: %w", o.name, ErrChanged)
	}
	if err != nil {
		return err
	}
	if !Same(o.old, now) {
		return fmt.Errorf("%s: %w", o.name, ErrChanged)
	}
	return nil
}

// Same reports whether a file seems to be as it was: not another one of the same name, and of the same size and time.
func Same(was, now fs.FileInfo) bool {
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

const poll = 5 * time.Millisecond // for a lock

// lock waits for the lock of a file, or for a signal.
func (o destination) lock(signals <-chan os.Signal) (*lockedFile, error) {
	for {
		if locked, err := tryLock(o.path); locked != nil || err != nil {
			return locked, err
		}
		select {
		case s := <-signals:
			return nil, signalError{s}
		case <-time.After(poll):
		}
	}
}

// signalError is the error of a signal that asks the process to end.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// CatchSignals returns the signals that ask the process to end, which do not end it until stop is called.
func CatchSignals() (signals <-chan os.Signal, stop func()) {
	caught := make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) { // by nohup, say
			signal.Notify(caught, s)
		}
	}
	return caught, func() { signal.Stop(caught) }
}

// outcome is how the filling of a file ended.
type outcome struct {
	err      error
	panicked any // for the goroutine that called Write, which may know what to do
}

// fillUnless fills a temporary file. A signal is an error: write is then left at work, because the process is about to end.
func (o destination) fillUnless(signals <-chan os.Signal, file *os.File, write func(io.Writer) error) (end outcome) {
	filled := make(chan outcome, 1)
	go func() {
		var end outcome
		defer func() {
			end.panicked = recover()
			filled <- end
		}()
		end.err = o.fill(file, write)
	}()
	select {
	case end = <-filled:
	case s := <-signals:
		end.err = signalError{s}
	}
	return end
}

// fill writes a temporary file.
func (o destination) fill(file *os.File, write func(io.Writer) error) error {
	if o.old != nil {
		if err := keepOwner(file, o.old); err != nil {
			return fmt.Errorf("%s: the file would get a different owner or group: %w", o.name, cause(err))
		}
		if err := file.Chmod(o.old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(file); err != nil {
		return err
	}
	return file.Sync()
}

// explain returns an error that names the file as the user did. The name of a temporary file
// means nothing to a person.
func (o destination) explain(err error, temporary string) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) && path.Path == temporary || errors.As(err, &link) && link.Old == temporary {
		return fmt.Errorf("%s: %w", o.name, cause(err))
	}
	return err
}

// cause returns an error of a file without its name.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
