package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// fileError is an error with the name of a file.
type fileError struct {
	name string
	error
}

func (e fileError) Error() string                { return e.name + ": " + withoutPrefix(e.error) }
func (e fileError) Unwrap() error                { return e.error }
func (e fileError) OfFile() (name, words string) { return e.name, withoutPrefix(e.error) }

// explained returns an error of keys for a file, with its name.
func explained(name string, err error) error {
	if errors.Is(err, cli.ErrReported) {
		return err
	}
	return fileError{name, err}
}

// explain is deferred. It names the file in an error, and makes one of a panic: parquet-go panics for
// some footers that are not of the format.
func explain(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("malformed: %v", p)
	}
	if *err != nil && strings.Contains((*err).Error(), "no DecryptionConfig") { // parquet-go has no error of its own for it
		*err = errors.New("the file is encrypted, and encrypted files are not supported")
	}
	if *err != nil {
		*err = fileError{name, *err}
	}
}

// recovered is deferred. It makes an error of a panic.
func recovered(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: malformed: %v", name, p)
	}
}

// errChanged says that a file is not as it was.
var errChanged = errors.New("the file changed while it was being read")

// withoutPrefix returns the text of an error of the library: the command prints its own prefix.
func withoutPrefix(err error) string {
	text := err.Error()
	for _, prefix := range []string{"parquet: ", "bloom: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// ofOutput returns an error of writing standard output with the name of the file that the other process gives it.
func ofOutput(err error, out *os.File, names []string) error {
	path := (*fs.PathError)(nil)
	if !errors.As(err, &path) || path.Path != out.Name() || len(names) == 0 {
		return err
	}
	cause := path.Err
	if call := (*os.SyscallError)(nil); errors.As(cause, &call) {
		cause = call.Err
	}
	return fmt.Errorf("%s: cannot write the file: %w", names[0], cause)
}
