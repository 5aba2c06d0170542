package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"
)

// apartVariable is set in the environment of a process that reads foreign files for another. Its
// value says how much memory it may take, and whether standard error of the other is a terminal.
const apartVariable = "BLOOM_PARQUET_APART"

func isApart() bool { return os.Getenv(apartVariable) != "" }

// The exit statuses of such a process on an error of its own, and if it takes too much memory. The Go
// runtime's is 2.
const (
	exitApart  = 3
	exitMemory = 4
)

// Memory that a process may take that reads foreign files: a fixed number of bytes, and some for
// each byte of the files.
const (
	freeMemory     = 4 << 30
	memoryPerInput = 64
)

// apart runs this command in a process of its own, which writes to out, whatever -o says. A damaged
// file can end that process: readers of Parquet and Arrow read outside of their memory, or ask for more
// than there is, and Go has no way to recover from that. Then the error says so. The process reads others as
// well: a filter or keys, if they are files.
func apart(s *streams, out io.Writer, inputs []string, others ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	memory := int64(freeMemory)
	for _, name := range slices.Concat(inputs, others) {
		if info, err := os.Stat(name); err == nil {
			memory += memoryPerInput * info.Size()
		}
	}
	value := strconv.FormatInt(memory, 10)
	if isTerminal(s.err) {
		value += " terminal"
	}
	messages := &messages{to: s.err}
	command := exec.Command(program, s.args...)
	command.Args[0] = "bloom-parquet"
	command.Env = append(os.Environ(), apartVariable+"="+value)
	command.Stdin, command.Stdout, command.Stderr = s.in, out, messages
	err = command.Run()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() == exitNone:
		return errNone
	case exit.ExitCode() == exitApart:
		return errReported
	case exit.ExitCode() == exitMemory:
		return fmt.Errorf("%s: damaged, or too large to read: that takes %s", strings.Join(inputs, ", "), messages.trace())
	}
	switch exit.String() {
	case "signal: broken pipe", "signal: interrupt", "signal: terminated", "signal: hangup":
		return errReported // it is not the files
	}
	why := messages.trace()
	if why == "" {
		why = exit.String()
	}
	return fmt.Errorf("%s: malformed: the process that reads it ended: %s", strings.Join(inputs, ", "), why)
}

// errReported is an error that is on standard error already, or that nobody wants to read.
var errReported = errors.New("reported")

// messages passes on what a process says, but not the trace of its end.
type messages struct {
	to   io.Writer
	rest []byte // the trace, as far as it is kept
}

func (m *messages) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if bytes.HasPrefix(line, []byte("parquet: warning: ")) {
			continue // parquet-go's, of a damaged page: an error follows, or it does no harm
		}
		if len(m.rest) == 0 && (bytes.HasPrefix(line, []byte("bloom-parquet: ")) || line[0] == '\r') { // or a progress bar
			if _, err := m.to.Write(line); err != nil {
				return 0, err
			}
		} else if len(m.rest) < 4096 {
			m.rest = append(m.rest, line...)
		}
	}
	return len(p), nil
}

// trace returns what a trace begins with.
func (m *messages) trace() string {
	line, _, _ := strings.Cut(string(m.rest), "\n")
	return line
}

// becomeApart makes this process one that reads foreign files for another: it ends with the other,
// and if it takes too much memory.
func becomeApart() {
	text, _, _ := strings.Cut(os.Getenv(apartVariable), " ")
	limit, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		limit = freeMemory
	}
	debug.SetTraceback("none")
	debug.SetMemoryLimit(int64(limit / 4 * 3))
	debug.SetGCPercent(400) // filter takes a tenth less CPU time than with 100, for pages are garbage soon
	parent := os.Getppid()
	go func() {
		memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			time.Sleep(10 * time.Millisecond)
			if os.Getppid() != parent {
				os.Exit(exitApart)
			}
			if metrics.Read(memory); memory[0].Value.Uint64()-memory[1].Value.Uint64() > limit {
				fmt.Fprintf(os.Stderr, "more than %d MiB of memory\n", limit>>20)
				os.Exit(exitMemory)
			}
		}
	}()
}
