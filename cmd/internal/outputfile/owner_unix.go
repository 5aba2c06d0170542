//go:build unix

package outputfile

import (
	"io/fs"
	"os"
	"syscall"
)

// hardLinks returns how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // macOS has 16 bits
	}
	return 1
}

// keepOwner gives a file the owner and the group of another.
func keepOwner(file *os.File, old fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	from, ok1 := old.Sys().(*syscall.Stat_t)
	to, ok2 := info.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || from.Uid == to.Uid && from.Gid == to.Gid {
		return nil
	}
	return file.Chown(int(from.Uid), int(from.Gid))
}
