//go:build !unix

package outputfile

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// endings are the signals that ask a process to end.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM}

// lockedFile is a file that no other process of these commands replaces. Windows does not rename onto
// a file that is open, so the lock is a second file beside it. Windows removes that when the
// process ends, however it ends.
type lockedFile struct {
	*os.File // the second one
	path     string
}

// tryLock locks a file. It returns nil if another process has the lock.
func tryLock(path string) (*lockedFile, error) {
	const deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	hash := fnv.New64a()
	hash.Write([]byte(strings.ToLower(filepath.Base(path))))
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".bloom-%016x.lock", hash.Sum64()))
	var file *os.File
	err := patiently(func() (err error) {
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|deleteOnClose, 0o600)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &lockedFile{file, path}, nil
}

func (f *lockedFile) read() ([]byte, error) { return Read(f.path) }

func (f *lockedFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name()) // where the system has not done it
	return err
}

// patiently tries for a while what Windows may refuse for a moment: while another process reads or
// renames the file, or is about to remove it.
func patiently(do func() error) error {
	const patience = 2 * time.Second
	for start := time.Now(); ; time.Sleep(poll) {
		err := do()
		if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || time.Since(start) > patience {
			return err
		}
	}
}
