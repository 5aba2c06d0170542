//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package window

import (
	"io"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, or until the process ends. It makes the file if there is none. The error is
// ErrLocked if somebody has locked it.
func lockFile(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	file.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, ErrLocked
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// syncFolder waits until the names in a folder are on the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
