package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// destination is where the bytes for a name of a file go.
type destination struct {
	path   string      // with links followed
	old    fs.FileInfo // the regular file to replace; nil if there is none
	stream *os.File    // standard output or error, if that is the file
	device bool        // nothing to replace: a pipe, a terminal or the like
}

// writeFile writes the file of a name, which must not be one of the inputs.
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
func writeFile(s *streams, name string, data []byte, inputs ...string) error {
	o, err := s.findOutput(name, inputs)
	switch {
	case err != nil:
		return err
	case o.stream != nil:
		_, err = o.stream.Write(data)
		return err
	case o.device:
		return writeDevice(o.path, data)
	}
	if err := o.replace(data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkOutput finds out before the work that writeFile would fail. An empty name is
// no file.
func checkOutput(s *streams, name string, inputs ...string) error {
	if name == "" {
		return nil
	}
	_, err := s.findOutput(name, inputs)
	return err
}

// checkStdout refuses inputs that are standard output, too, as grep does: an output
// that is read again grows without end.
func (s *streams) checkStdout(inputs ...string) error {
	info, err := s.out.Stat()
	if err != nil {
		return nil // writing will tell
	}
	return s.checkInputs(info, inputs)
}

// checkInputs refuses inputs that are the file to write to, by whatever name. To
// read from and write to the same terminal or pipe does no harm.
func (s *streams) checkInputs(out fs.FileInfo, inputs []string) error {
	const streaming = os.ModeCharDevice | os.ModeNamedPipe | os.ModeSocket
	for _, input := range inputs {
		if in, err := s.stat(input); err == nil && os.SameFile(in, out) && out.Mode()&streaming == 0 {
			return fmt.Errorf("%s: input file is also the output", input)
		}
	}
	return nil
}

// findOutput returns what a name of an output means.
func (s *streams) findOutput(name string, inputs []string) (o destination, err error) {
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
	if err := s.checkInputs(info, inputs); err != nil {
		return o, err
	}
	for _, stream := range []*os.File{s.out, s.err} {
		if other, err := stream.Stat(); err == nil && os.SameFile(info, other) {
			return destination{stream: stream}, nil
		}
	}
	if !info.Mode().IsRegular() || isDescriptor(name) {
		return destination{path: name, device: true}, nil
	}
	return oldOutput(name, info)
}

// newOutput is findOutput for a file that is not there.
func newOutput(name string) (o destination, err error) {
	if _, err := os.Lstat(name); err == nil {
		return o, fmt.Errorf("%s: the link leads to no file", name)
	}
	switch info, err := os.Stat(filepath.Dir(name)); {
	case err != nil:
		return o, fmt.Errorf("%s: %w", name, err)
	case !info.IsDir():
		return o, fmt.Errorf("%s: %s is not a folder", name, filepath.Dir(name))
	}
	return destination{path: name}, nil
}

// oldOutput is findOutput for a regular file. Who may not write to it may not
// replace it.
func oldOutput(name string, info fs.FileInfo) (o destination, err error) {
	if n := hardLinks(info); n > 1 {
		return o, fmt.Errorf("%s: the file has %d names (hard links), and would lose one", name, n)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return o, err
	}
	if err := file.Close(); err != nil {
		return o, err
	}
	path, err := filepath.EvalSymlinks(name)
	return destination{path: path, old: info}, err
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
func writeDevice(name string, data []byte) (err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.Write(data)
	return err
}

// replace writes a temporary file and renames it. Its name is random, since other
// processes may have the same number (in containers), and short, whatever the
// length of the file's.
func (o destination) replace(data []byte) (err error) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // by nohup, say
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	mode := os.FileMode(0o666) // the umask removes bits from it
	if o.old != nil {
		mode = 0o600 // until it has the old one's
	}
	temporary := filepath.Join(filepath.Dir(o.path), ".bloom-"+rand.Text()+".tmp")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("cannot create a file beside it: %w", withoutName(err))
	}
	err = o.fill(file, data, signals)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary, o.path)
	}
	if err != nil {
		return errors.Join(withoutName(err), os.Remove(temporary))
	}
	return nil
}

// withoutName returns the cause of an error of a file. The name of a temporary file means
// nothing to a person.
func withoutName(err error) error {
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

// fill writes a temporary file. A signal is an error.
func (o destination) fill(file *os.File, data []byte, signals <-chan os.Signal) error {
	if o.old != nil {
		if err := keepOwner(file, o.old); err != nil {
			return fmt.Errorf("the file would get another owner or group: %w", withoutName(err))
		}
		if err := file.Chmod(o.old.Mode().Perm()); err != nil {
			return err
		}
	}
	for len(data) > 0 {
		n := min(len(data), 1<<20)
		if _, err := file.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
		if err := received(signals); err != nil {
			return err
		}
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return received(signals)
}

// received returns an error if there was a signal.
func received(signals <-chan os.Signal) error {
	select {
	case s := <-signals:
		return errors.New(s.String())
	default:
		return nil
	}
}
