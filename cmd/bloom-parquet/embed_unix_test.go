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

// endOfWrite tells a process that TestEmbedStopped starts which of its writes ends it, and how: a variable of
// the environment has both.
type endOfWrite struct {
	out io.Writer
	at  int
	how string
}

const (
	endAtVariable  = "EMBED_TEST_END_AT"
	endHowVariable = "EMBED_TEST_END"
	// changedVariable names a file that a write changes, and goes on.
	changedVariable = "EMBED_TEST_CHANGED"
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
	case "input changed":
		if w.at == -1 {
			file, err := os.OpenFile(os.Getenv(changedVariable), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return 0, err
			}
			if _, err := file.WriteString("more"); err != nil {
				return 0, err
			}
			file.Close()
		}
		return w.out.Write(p)
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

// TestEmbedStopped kills one of the two processes at every write, and lets the disk be full there: the old
// file stays whole.
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

// TestEmbedChanged changes the file while it is copied, after the copy, and at each later write: it stays as
// it is then, and no other file is written.
func TestEmbedChanged(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, output := filepath.Join(dir, "file.parquet"), filepath.Join(dir, "output.parquet")
	writeRows(t, path, []order{orderOf(1), orderOf(2)}, 1000)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--in-place", path}, {"-o", output, path}} {
		for at := range 3 {
			command := exec.Command(program, append([]string{"embed", "--column", "id,bare"}, args...)...)
			command.Args[0] = "bloom-parquet"
			command.Env = append(os.Environ(), endHowVariable+"=input changed", fmt.Sprintf("%s=%d", endAtVariable, at), changedVariable+"="+path)
			said, failed := command.CombinedOutput()
			if failed == nil || !strings.Contains(string(said), "changed") {
				t.Errorf("%q, write %d: %v: %s", args, at, failed, said)
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, append(old[:len(old):len(old)], "more"...)) {
				t.Errorf("%q, write %d: the file is not what the other program made of it: %v", args, at, err)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("%q, write %d: files %v, %v", args, at, files, err)
			}
			if err := os.WriteFile(path, old, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
