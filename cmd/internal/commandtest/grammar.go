package commandtest

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// Grammar walks the subcommands of a program. Each of their strings must be one of the types of files, or be
// one of others by its name ("field"), or by the names of its command and its own ("bench keys"): a new flag
// of a file cannot be a mere string. Then the program runs with command lines that write to an input: by
// standard output, by an output, and by a link. Each must be an error before anything is written.
func Grammar(t *testing.T, name string, program func() *cli.Program, others ...string) {
	for _, command := range parser(t, name, program).Model.Children {
		w := walk{t: t, command: command, program: program, file: filepath.Join(t.TempDir(), "file")}
		w.link = filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(w.file, w.link); err != nil {
			t.Skip("there are no links here: ", err)
		}
		for _, value := range cli.Values(command) {
			known := slices.Contains(others, value.Name) || slices.Contains(others, command.Name+" "+value.Name)
			kind := value.Target.Type()
			for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if kind.Kind() == reflect.String && !reads(value) && !writes(value) && !known {
				t.Errorf("%s %s is a string: does it name a file?", command.Name, value.Name)
			}
		}
		w.refusals()
	}
}

func reads(value *kong.Value) bool {
	switch value.Target.Interface().(type) {
	case cli.Input, []cli.Input, cli.State:
		return true
	}
	return false
}

func writes(value *kong.Value) bool {
	switch value.Target.Interface().(type) {
	case cli.Output, cli.State:
		return true
	}
	return false
}

// walk is the test of a command.
type walk struct {
	t          *testing.T
	command    *kong.Node
	program    func() *cli.Program
	file, link string // an input, and another name of it
}

// refusals runs all command lines of a command that write to an input.
func (w *walk) refusals() {
	for _, read := range cli.Values(w.command) {
		if !reads(read) {
			continue
		}
		w.refuses(w.file, w.args(map[*kong.Value]string{read: w.link}))
		for _, written := range cli.Values(w.command) {
			if writes(written) && !writes(read) { // a command may take an output that is its state for none
				w.refuses(os.DevNull, w.args(map[*kong.Value]string{read: w.file, written: w.link}))
			}
		}
	}
}

// args returns a command line with some values. All that the command requires has some value, too.
func (w *walk) args(values map[*kong.Value]string) []string {
	args := []string{w.command.Name}
	for _, value := range cli.Values(w.command) {
		if text, ok := values[value]; ok && value.Flag != nil {
			args = append(args, "--"+value.Name+"="+text)
		} else if value.Flag != nil && value.Required {
			args = append(args, "--"+value.Name+"=new")
		}
	}
	last := -1
	for i, value := range w.command.Positional {
		if _, ok := values[value]; ok || value.Required {
			last = i
		}
	}
	for _, value := range w.command.Positional[:last+1] {
		if text, ok := values[value]; ok {
			args = append(args, text)
		} else {
			args = append(args, "other")
		}
	}
	return args
}

// refuses runs a command line with standard output at the end of a file. It must be refused, and nothing written.
func (w *walk) refuses(stdout string, args []string) {
	w.t.Helper()
	const text = "some bytes\n"
	if err := os.WriteFile(w.file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	status, message := w.redirected(stdout, args)
	if status != 2 || !strings.Contains(message, ": input file is also the output\n") {
		w.t.Errorf("%s > %s: status %d, %q", strings.Join(args, " "), stdout, status, message)
	}
	if now, err := os.ReadFile(w.file); err != nil || !bytes.Equal(now, []byte(text)) {
		w.t.Errorf("%s > %s: the file is now %q, %v", strings.Join(args, " "), stdout, now, err)
	}
}

// redirected runs a command line, and returns what it says on standard error.
func (w *walk) redirected(stdout string, args []string) (status int, message string) {
	out, err := os.OpenFile(stdout, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	errors, err := os.Create(filepath.Join(w.t.TempDir(), "errors"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer errors.Close()
	status = w.program().Run(&cli.Streams{In: os.Stdin, Out: out, Err: errors, Program: "program", Args: args})
	text, err := os.ReadFile(errors.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	return status, string(text)
}
