//go:build unix

package outputfile

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignals ends Write by each signal that asks for it: the old file stays, and
// no other.
func TestSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		t.Run(s.String(), func(t *testing.T) {
			ignored := make(chan os.Signal, 1) // one too late does not end the test
			signal.Notify(ignored, s)
			defer signal.Stop(ignored)
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			failed, written, release := make(chan error, 1), make(chan struct{}), make(chan struct{})
			defer close(release)
			go func() {
				failed <- standard.Write(path, func(w io.Writer) error {
					_, err := io.WriteString(w, "new")
					close(written)
					<-release
					return err
				})
			}()
			<-written
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; err == nil || !strings.Contains(err.Error(), s.String()) {
				t.Errorf("error %v, want one that says %v", err, s)
			}
			if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
				t.Errorf("the file holds %.10q (%v), want what it held", old, err)
			}
			if files := list(t, dir); len(files) != 1 {
				t.Errorf("files %q were left", files)
			}
		})
	}
}

// TestIgnoredSignals leaves signals alone that the process was told to ignore, as by
// nohup.
func TestIgnoredSignals(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	failed := make(chan error, 1)
	go func() {
		failed <- writeBytes(path, make([]byte, 64<<20))
	}()
	for len(list(t, dir)) < 1 {
		time.Sleep(100 * time.Microsecond)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if files := list(t, dir); len(files) != 1 || files[0] != "file" {
		t.Errorf("files %q, want the one", files)
	}
}
