package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// checkOutput finds out before the work that an output is also an input, or in no folder. An empty
// name is standard output.
func checkOutput(name string, inputs ...string) error {
	if name == "" {
		return nil
	}
	for _, input := range inputs {
		in, err1 := os.Stat(input)
		out, err2 := os.Stat(name)
		if err1 == nil && err2 == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s: input file is also the output", input)
		}
	}
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", name)
	case err == nil:
		return nil
	}
	info, err := os.Stat(filepath.Dir(name))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a folder", filepath.Dir(name))
	}
	return err
}

// writeFile writes a file that appears whole or not at all: a temporary file beside it takes its
// name at the end, and is removed on an error or a signal.
func writeFile(name string, write func(*os.File) error) (err error) {
	path := name
	if link, err := filepath.EvalSymlinks(name); err == nil {
		path = link // links stay
	}
	mode := os.FileMode(0o666) // the umask removes bits from it
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	temporary := filepath.Join(filepath.Dir(path), ".bloom-"+rand.Text()+".tmp")
	file, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%s: cannot create a file beside it: %w", name, err)
	}
	stop := removeOnSignal(temporary)
	defer stop()
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// removeOnSignal removes a file and ends the process if a signal comes, until stop is called.
func removeOnSignal(name string) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // by nohup, say
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case s := <-signals:
			os.Remove(name)
			fmt.Fprintln(os.Stderr, "bloom-parquet:", s)
			os.Exit(exitError)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
