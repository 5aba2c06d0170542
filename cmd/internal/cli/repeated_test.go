package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type fileError struct{ file, words string }

func (e fileError) Error() string                { return e.file + ": " + e.words }
func (e fileError) OfFile() (file, words string) { return e.file, e.words }

// TestRepeated wants three messages of the same words about many files, and the number of the others.
func TestRepeated(t *testing.T) {
	var failures []error
	for i := range 180 {
		failures = append(failures, fileError{fmt.Sprintf("%d.parquet", i), "no column"})
	}
	failures = append(failures, errors.New("0.parquet: no column"), fileError{"x", "damaged"})
	for i := range 4 {
		failures = append(failures, fileError{fmt.Sprint(i), "empty"})
	}
	want := `p: 0.parquet: no column
p: 1.parquet: no column
p: 2.parquet: no column
p: 0.parquet: no column
p: x: damaged
p: 0: empty
p: 1: empty
p: 2: empty
p: and 177 more files: no column
p: and 1 more file: empty
`
	name := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &Streams{Err: file, Program: "p"}
	if status := s.Status(errors.Join(failures...)); status != ExitError {
		t.Errorf("status %d", status)
	}
	s.SayOf("3", "empty") // counted anew
	got, err := os.ReadFile(name)
	if want += "p: 3: empty\n"; err != nil || string(got) != want {
		t.Errorf("%v:\n%swant\n%s", err, got, want)
	}
	if n := strings.Count(string(got), "\n"); n != 11 {
		t.Errorf("%d lines", n)
	}
}
