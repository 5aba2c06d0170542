package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// writeFile writes a file in one step: it appears whole or not at all. The
// bytes go to a temporary file beside it that is then renamed, and is removed
// on an error or an interrupt. A file that is there keeps its permissions; a
// link keeps pointing where it does; a device or pipe is written to.
func writeFile(path string, data []byte) error {
	mode := os.FileMode(0o666) // less the umask
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return writeTo(path, os.O_WRONLY, mode, data)
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := writeTo(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, data); err != nil {
		if !errors.Is(err, os.ErrExist) {
			os.Remove(temporary)
		}
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		os.Remove(temporary)
		return err
	}
	return nil
}

// checkOutput finds out early that a file cannot be written because there is no
// folder for it. An empty path is no file.
func checkOutput(path string) error {
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(filepath.Dir(path)); {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, filepath.Dir(path))
	}
	return nil
}

// writeTo opens a file, writes data, and closes it. An interrupt is an error.
func writeTo(path string, flag int, mode os.FileMode, data []byte) (err error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	file, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for len(data) > 0 {
		select {
		case s := <-interrupts:
			return fmt.Errorf("%s: %v", path, s)
		default:
		}
		n := min(len(data), 1<<20)
		if _, err := file.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	if flag&os.O_CREATE != 0 {
		return file.Sync()
	}
	return nil
}
