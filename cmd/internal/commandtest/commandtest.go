// Package commandtest has what the tests of both commands share: scripts, and the command lines of documents.
package commandtest

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lanebloom/bloom/internal/document"
)

// Command is a command of scripts.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Scripts returns how the scripts of testdata/script run: with commands of their own and those of every script, and with
// the condition cgo.
func Scripts(own map[string]Command) testscript.Params {
	commands := map[string]Command{"status": wantStatus}
	maps.Copy(commands, own)
	return testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Cmds:                commands,
		Condition: func(name string) (bool, error) {
			if name != "cgo" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return hasCgo(), nil
		},
	}
}

// hasCgo reports whether the command has the C code that knows of closed streams.
func hasCgo() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"})
}

// wantStatus is the script command: status N COMMAND ARGS…
func wantStatus(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if message := ts.ReadFile("stderr"); strings.Contains(message, ": bloom: ") {
		ts.Fatalf("a second prefix: %s", message)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

var leftOut = regexp.MustCompile(`^expected |^missing |got "EOL"`)

// Documents parses the command lines of every document, of which there are at least some. A sentence may leave out
// arguments and values, but not misspell a command or a flag.
func Documents(t *testing.T, program string, least int, newParser func() (*kong.Kong, error)) {
	t.Helper()
	pages, err := document.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	calls := document.CallsOf(pages, program)
	if len(calls) < least {
		t.Errorf("the documents have %d command lines", len(calls))
	}
	for _, call := range calls {
		parser, err := newParser()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parser.Parse(call.Args); err != nil && !leftOut.MatchString(err.Error()) {
			t.Errorf("%s: %s %s: %v", call.Page, program, strings.Join(call.Args, " "), err)
		}
	}
}
