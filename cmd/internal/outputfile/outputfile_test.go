package outputfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestPanic wants a panic of the caller's function in the caller's goroutine, and no file left.
func TestPanic(t *testing.T) {
	dir := t.TempDir()
	defer func() {
		if p := recover(); p != "in write" {
			t.Errorf("recovered %v", p)
		}
		if files := list(t, dir); len(files) > 0 {
			t.Errorf("files %q were left", files)
		}
	}()
	_ = standard.Write(filepath.Join(dir, "file"), func(io.Writer) error { panic("in write") })
}

func writeBytes(path string, data []byte) error {
	return standard.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// list returns the names of a folder's files.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, file.Name())
	}
	return names
}

// TestCreate lets writers create one file at once, and once more when it is there: one of them makes it, whole, and the
// others are told that it is there.
func TestCreate(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		const writers = 8
		errs := make(chan error, writers)
		for i := range writers {
			go func() {
				errs <- standard.Create(path, func(w io.Writer) error {
					_, err := w.Write(bytes.Repeat([]byte{'a' + byte(i)}, 1000*(i+1)))
					return err
				})
			}()
		}
		made := 0
		for range writers {
			switch err := <-errs; {
			case err == nil:
				made++
			case !errors.Is(err, fs.ErrExist):
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil || made != 1 || len(data) != 1000*int(data[0]-'a'+1) || bytes.Count(data, data[:1]) != len(data) {
			t.Fatalf("%d writers made the file of %d bytes, %v", made, len(data), err)
		}
		if err := standard.Create(path, func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrExist) {
			t.Errorf("once more: %v", err)
		}
		if names := list(t, dir); len(names) != 1 {
			t.Errorf("files %q were left", names)
		}
	}
}

// TestCreateError leaves no file if it cannot be filled.
func TestCreateError(t *testing.T) {
	dir := t.TempDir()
	failure := errors.New("failure")
	if err := standard.Create(filepath.Join(dir, "file"), func(io.Writer) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	if names := list(t, dir); len(names) > 0 {
		t.Errorf("files %q were left", names)
	}
}
