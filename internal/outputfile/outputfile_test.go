package outputfile

import (
	"io"
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
