// Package commandtest has what the tests of both commands share: scripts, and the command lines of documents.
package commandtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/internal/document"
)

// Command is a command of scripts.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Scripts returns how the scripts of testdata/script run: with commands of their own and those of every
// script, and with the condition cgo.
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

// parser returns the parser of a program, which prints nothing and does not exit.
func parser(t *testing.T, name string, program func() *cli.Program) *kong.Kong {
	t.Helper()
	parser, err := program().Parser(name, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// Documents parses the command lines of every document, and fails if there are fewer than least. A sentence may
// leave out arguments and values, but not misspell a command or a flag.
func Documents(t *testing.T, name string, program func() *cli.Program, least int) {
	t.Helper()
	pages, err := document.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	calls := document.CallsOf(pages, name)
	if len(calls) < least {
		t.Errorf("the documents have %d command lines", len(calls))
	}
	for _, call := range calls {
		if _, err := parser(t, name, program).Parse(call.Args); err != nil && !leftOut.MatchString(err.Error()) {
			t.Errorf("%s: %s %s: %v", call.Page, name, strings.Join(call.Args, " "), err)
		}
	}
}

// Helps runs the help of every command. Its first screen has the usage, three examples, and the first
// arguments or flags. After the flags, each paragraph is short, and begins with a title such as "Memory:".
func Helps(t *testing.T, name string, program func() *cli.Program) {
	t.Helper()
	t.Setenv("COLUMNS", "80")
	const screen, longest = 24, 1600
	front := regexp.MustCompile(`^[A-Z][a-z]+( [a-z]+)?: `)
	for _, command := range parser(t, name, program).Model.Children {
		var out bytes.Buffer
		p, err := program().Parser(name, kong.Writers(&out, &out), kong.Exit(func(int) { panic("the help ends") }))
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = p.Parse([]string{command.Name, "--help"})
		}()
		lines := strings.Split(out.String(), "\n")
		first := strings.Join(lines[:min(screen, len(lines))], "\n")
		if !strings.HasPrefix(first, "Usage: "+name+" "+command.Name) || !regexp.MustCompile(`\n\nExamples:\n\n(    \S.*\n){3}\n`).MatchString(first) || !regexp.MustCompile(`\n(Arguments|Flags):\n  \S`).MatchString(first) {
			t.Errorf("the first screen of %s lacks the usage, three examples or the flags:\n%s", command.Name, first)
		}
		parts := strings.SplitN(command.Detail, "\n\n", 3)
		if len(parts) < 3 {
			continue
		}
		for i, text := range strings.Split(parts[2], "\n\n") {
			if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") { // lines that are shown as they are
				continue
			}
			if !front.MatchString(text) || len(text) > longest {
				t.Errorf("%s: paragraph %d has no word in front, or %d characters: %.60s", command.Name, i+1, len(text), text)
			}
		}
		if strings.LastIndex(out.String(), "\nFlags:\n") > strings.Index(out.String(), "\n"+parts[2][:20]) {
			t.Errorf("%s: the flags are below the text", command.Name)
		}
	}
}

// Examples parses the examples of every help, and finds one for every command.
func Examples(t *testing.T, name string, program func() *cli.Program) {
	t.Helper()
	examples := program().Examples
	for _, command := range parser(t, name, program).Model.Children {
		if _, has := examples[command.Name]; !has {
			t.Errorf("%s has no examples", command.Name)
		}
	}
	const widest = 80 - 4 // in a help, which indents them
	for command, lines := range examples {
		for _, line := range lines {
			if len(line) > widest {
				t.Errorf("%q: %d characters, want at most %d", line, len(line), widest)
			}
			for _, words := range document.Calls(line) {
				if words[0] != name {
					continue
				}
				if _, err := parser(t, name, program).Parse(words[1:]); err != nil || command != "" && words[1] != command {
					t.Errorf("%q: %q, %v", command, line, err)
				}
			}
		}
	}
}

// HelpFlags looks for the flags that the text of every help names. They must be flags of its command, or of
// the command that is named before the flag, as in "bloom inspect --absent". It ignores the
// flags of the Unix command sort.
func HelpFlags(t *testing.T, name string, program func() *cli.Program) {
	t.Helper()
	flag := regexp.MustCompile(`(?:\b([a-z]+))?(?:^|[\s(])(--[a-z][a-z-]*|-[a-zA-Z0-9])\b`)
	model := parser(t, name, program).Model
	checked := 0
	for _, command := range model.Children {
		for _, m := range flag.FindAllStringSubmatch(command.Detail, -1) {
			of := command
			for _, other := range model.Children {
				if other.Name == m[1] {
					of = other
				}
			}
			checked++
			if m[1] != "sort" && !slices.ContainsFunc(of.Flags, func(f *kong.Flag) bool { return m[2] == "--"+f.Name || m[2] == "-"+string(f.Short) }) {
				t.Errorf("the help of %s names %s, which %s does not have", command.Name, m[2], of.Name)
			}
		}
	}
	if checked < 20 {
		t.Errorf("the helps name %d flags", checked)
	}
}

// Formats wants the help of every flag --format to name every format.
func Formats(t *testing.T, name string, program func() *cli.Program) {
	t.Helper()
	checked := 0
	for _, command := range parser(t, name, program).Model.Leaves(false) {
		for _, f := range command.Flags {
			if f.Name != "format" {
				continue
			}
			checked++
			named := strings.FieldsFunc(f.Help, func(r rune) bool { return strings.ContainsRune(" ,.:()", r) })
			for _, format := range bloom.Formats() {
				if !slices.Contains(named, format.String()) {
					t.Errorf("%s %s: the help of --format does not name %v: %s", name, command.Name, format, f.Help)
				}
			}
		}
	}
	if checked == 0 {
		t.Errorf("no command of %s has the flag --format", name)
	}
}
