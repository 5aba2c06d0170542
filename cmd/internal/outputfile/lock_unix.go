//go:build unix

package outputfile

import (
	"io"
	"os"
	"syscall"
)

// endings are the signals that ask a process to end. The last comes when nobody reads a standard stream any more.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// lockedFile is a file that no other process of these commands replaces. The lock is the kernel's and
// ends with the process, however that ends. It belongs to the process: it would be lost if the
// process opened the file once more and closed it.
type lockedFile struct{ *os.File }

// tryLock locks a file. It returns nil if another process has the lock, or if the file was replaced
// meanwhile: the lock stays with the old one.
func tryLock(path string) (*lockedFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0) // to lock takes the right to write, on NFS
	if err != nil {
		return nil, err
	}
	locked := false
	defer func() {
		if !locked {
			file.Close()
		}
	}()
	whole := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	switch err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &whole); err {
	case nil:
	case syscall.EAGAIN, syscall.EACCES, syscall.EINTR:
		return nil, nil
	default:
		return nil, err
	}
	mine, err := file.Stat()
	if err != nil {
		return nil, err
	}
	now, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if locked = os.SameFile(mine, now); !locked {
		return nil, nil
	}
	return &lockedFile{file}, nil
}

func (f *lockedFile) read() ([]byte, error) { return io.ReadAll(f) }

// patiently does what does not fail here because another process uses the file.
func patiently(do func() error) error { return do() }
