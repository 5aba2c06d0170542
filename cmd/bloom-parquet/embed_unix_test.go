//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endOfWrite is how the write of a number ends in a process that TestEmbedStopped starts: the environment says which
// and how.
type endOfWrite struct {
	out io.Writer
	at  int
	how string
}

const (
	endAtVariable  = "EMBED_TEST_END_AT"
	endHowVariable = "EMBED_TEST_END"
)

// init makes the writes of this process fail if a variable of the environment is set.
func init() {
	if how := os.Getenv(endHowVariable); how != "" {
		at, err := strconv.Atoi(os.Getenv(endAtVariable))
		if err != nil {
			panic(err)
		}
		embedOutput = func(out *os.File) io.Writer { return &endOfWrite{out, at, how} }
	}
}

func (w *endOfWrite) Write(p []byte) (int, error) {
	if w.at--; w.at >= 0 {
		return w.out.Write(p)
	}
	kill := func(pid int) (int, error) {
		err := syscall.Kill(pid, syscall.SIGKILL)
		time.Sleep(time.Minute)
		return 0, err
	}
	switch w.how {
	case "reader killed":
		return kill(os.Getpid())
	case "command killed":
		return kill(os.Getppid())
	case "command killed after the write":
		if _, err := w.out.Write(p); err != nil {
			return 0, err
		}
		return kill(os.Getppid())
	}
	n, err := w.out.Write(p[:len(p)/2])
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

// TestEmbedStopped kills one of the two processes at every write, and lets the disk be full there: the old file stays whole.
func TestEmbedStopped(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file.parquet")
	var rows []order
	for i := range 3000 {
		rows = append(rows, orderOf(i))
	}
	writeRows(t, path, rows, 1000)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"reader killed", "command killed", "command killed after the write", "disk full"} {
		for at := 0; ; at++ {
			command := exec.Command(program, "embed", "--column", "id,bare", "--in-place", path)
			command.Args[0] = "bloom-parquet"
			command.Env = append(os.Environ(), endHowVariable+"="+how, fmt.Sprintf("%s=%d", endAtVariable, at))
			said, failed := command.CombinedOutput()
			now, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if failed == nil { // there was no write of this number
				if at < 6 || bytes.Equal(now, old) {
					t.Errorf("%s: %d writes: %s", how, at, said)
				}
				break
			}
			if !bytes.Equal(now, old) {
				t.Fatalf("%s at write %d: the file is not the old one: %s", how, at, said)
			}
			if how == "disk full" && !strings.Contains(string(said), "no space left") || how == "reader killed" && !strings.Contains(string(said), "was killed") {
				t.Errorf("%s at write %d: %s", how, at, said)
			}
			left, err := filepath.Glob(filepath.Join(dir, ".bloom-*.tmp"))
			if err != nil {
				t.Fatal(err)
			}
			if killed := strings.HasPrefix(how, "command killed"); len(left) > 0 && !killed {
				t.Errorf("%s at write %d: %q is left", how, at, left)
			}
			for _, name := range left {
				if err := os.Remove(name); err != nil {
					t.Error(err)
				}
			}
		}
		if err := os.WriteFile(path, old, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
