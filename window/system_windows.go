package window

import (
	"io"
	"os"
	"syscall"
)

// lockFile opens a file that nobody else can open until it is closed, or until the process ends. It makes the file if there is
// none. The error is ErrLocked if somebody has opened it.
func lockFile(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const sharingViolation = syscall.Errno(32)
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch err {
	case nil:
		return os.NewFile(uintptr(handle), path), nil
	case sharingViolation:
		return nil, ErrLocked
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// syncFolder does nothing: this system has no such call.
func syncFolder(string) error { return nil }
