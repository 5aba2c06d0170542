package outputfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain is also the main function of the processes that the tests start.
func TestMain(m *testing.M) {
	if process := processes[os.Getenv("OUTPUTFILE_TEST_PROCESS")]; process != nil {
		if err := process(os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const rounds = 50

var standard = Streams{os.Stdin, os.Stdout, os.Stderr}

var processes = map[string]func(path string) error{
	"append": func(path string) error {
		for range rounds {
			if err := standard.Update(path, func(old []byte) ([]byte, error) { return append(old, '+'), nil }); err != nil {
				return err
			}
		}
		return nil
	},
	"hold": func(path string) error { // changes the file when its input ends
		return standard.Update(path, func(old []byte) ([]byte, error) {
			fmt.Println("locked")
			_, err := io.Copy(io.Discard, os.Stdin)
			return append(old, "held"...), err
		})
	},
	"write": func(path string) error {
		fmt.Println("started")
		return writeBytes(path, []byte("written"))
	},
}

// start starts one of the processes.
func start(t *testing.T, process, path string) (c *exec.Cmd, in io.Closer, out *bufio.Reader) {
	t.Helper()
	c = exec.Command(os.Args[0], path)
	c.Env = append(os.Environ(), "OUTPUTFILE_TEST_PROCESS="+process)
	in, err1 := c.StdinPipe()
	pipe, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended
	return c, in, bufio.NewReader(pipe)
}

// wait waits for the end of a process.
func wait(t *testing.T, c *exec.Cmd, out io.Reader) {
	t.Helper()
	text, _ := io.ReadAll(out) // Wait tells errors
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// line wants a line of a process.
func line(t *testing.T, out *bufio.Reader, want string) {
	t.Helper()
	if got, err := out.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
		t.Fatalf("a process says %q, %v; want %q", got, err, want)
	}
}

// wantFile wants the content of a file, and no other file in its folder.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the file holds %d bytes, %.20q (%v), want %d, %.20q", len(got), got, err, len(want), want)
	}
	if files := list(t, filepath.Dir(path)); len(files) != 1 {
		t.Errorf("files %q", files)
	}
}

func newFile(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUpdate lets six processes change a file many times at once: no change is lost.
func TestUpdate(t *testing.T) {
	path := newFile(t)
	const n = 6
	var all [n]*exec.Cmd
	var outs [n]*bufio.Reader
	for i := range n {
		all[i], _, outs[i] = start(t, "append", path)
	}
	for i := range n {
		wait(t, all[i], outs[i])
	}
	wantFile(t, path, string(bytes.Repeat([]byte{'+'}, n*rounds)))
}

// TestWriteWaits wants a process that writes a file to wait for one that changes it, and to leave what that wrote.
func TestWriteWaits(t *testing.T) {
	path := newFile(t)
	holder, in, said := start(t, "hold", path)
	line(t, said, "locked")
	writer, _, writes := start(t, "write", path)
	line(t, writes, "started")
	time.Sleep(200 * time.Millisecond) // more than the writer needs
	if now, err := os.ReadFile(path); err != nil || len(now) > 0 {
		t.Errorf("the file holds %q, %v", now, err)
	}
	in.Close()
	wait(t, holder, said)
	if text, _ := io.ReadAll(writes); writer.Wait() == nil || !strings.Contains(string(text), ErrChanged.Error()) {
		t.Errorf("the writer says %q", text)
	}
	wantFile(t, path, "held")
}

// TestChanged lets other programs, which know of no lock, change a file while it is about to be replaced: theirs stays.
func TestChanged(t *testing.T) {
	replaces := map[string]func(path string, meanwhile func()) error{
		"Write": func(path string, meanwhile func()) error {
			return standard.Write(path, func(w io.Writer) error {
				meanwhile()
				_, err := io.WriteString(w, "ours")
				return err
			})
		},
		"Update": func(path string, meanwhile func()) error {
			return standard.Update(path, func([]byte) ([]byte, error) {
				meanwhile()
				return []byte("ours"), nil
			})
		},
		"Rewrite": func(path string, meanwhile func()) error {
			return standard.Rewrite(path, func(w io.Writer) error {
				meanwhile()
				_, err := io.WriteString(w, "ours")
				return err
			})
		},
	}
	for name, change := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"nothing":      {func(string) error { return nil }, "ours"},
		"another file": {func(path string) error { return replaceBy(path, "old!") }, "old!"},
		"more bytes":   {func(path string) error { return os.WriteFile(path, []byte("longer"), 0o600) }, "longer"},
		"others, another time": {func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("new!"), 0o600), os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		}, "new!"},
	} {
		for kind, replace := range replaces {
			path := newFile(t)
			if err := os.WriteFile(path, []byte("old!"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := replace(path, func() {
				if err := change.do(path); err != nil {
					t.Fatal(err)
				}
			})
			if (change.want == "ours") != (err == nil) || err != nil && !errors.Is(err, ErrChanged) {
				t.Errorf("%s, %s: error %v", kind, name, err)
			}
			wantFile(t, path, change.want)
		}
	}
	// A file that was not there, and is by then.
	path := filepath.Join(t.TempDir(), "file")
	err := replaces["Write"](path, func() {
		if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if !errors.Is(err, ErrChanged) {
		t.Errorf("a new file: error %v", err)
	}
	wantFile(t, path, "theirs")
}

// replaceBy gives a file of the same size and time the name of another, as DuckDB's COPY does with a file of its own.
func replaceBy(path, text string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	beside := path + "2"
	return errors.Join(os.WriteFile(beside, []byte(text), 0o600), os.Chtimes(beside, time.Time{}, info.ModTime()), os.Rename(beside, path))
}

// TestKilled kills a process that has the lock: nothing of it stays, or the next would wait without end.
func TestKilled(t *testing.T) {
	path := newFile(t)
	for range 5 {
		holder, _, said := start(t, "hold", path)
		line(t, said, "locked")
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := holder.Wait(); err == nil {
			t.Error("the process ended well")
		}
	}
	c, _, out := start(t, "append", path)
	wait(t, c, out)
	wantFile(t, path, strings.Repeat("+", rounds))
}

// TestUpdateError leaves the file as it is if its new bytes cannot be made.
func TestUpdateError(t *testing.T) {
	path := newFile(t)
	failure := errors.New("failure")
	if err := standard.Update(path, func([]byte) ([]byte, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	wantFile(t, path, "")
}
