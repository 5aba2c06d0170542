package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Streams are the standard streams of a command.
type Streams struct {
	In, Out, Err *os.File
	Program      string   // the name of the command, with which its messages begin
	Args         []string // what follows it on the command line

	repeated repeated
}

// Standard returns the streams of the process. Input or output that was closed when it started gives errors,
// which the /dev/null that Go puts there would not.
func Standard(program string) *Streams {
	for fd, file := range []*os.File{os.Stdin, os.Stdout} {
		if wasClosed(fd) {
			file.Close()
		}
	}
	return &Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Program: program, Args: os.Args[1:]}
}

// Outputs writes files, with these streams by their names.
func (s *Streams) Outputs() outputfile.Streams {
	return outputfile.Streams{In: s.In, Out: s.Out, Err: s.Err}
}

// Say prints a message on standard error, in a line of its own. It takes the place of a progress bar.
func (s *Streams) Say(format string, args ...any) {
	clearLine := ""
	if IsTerminal(s.Err) {
		clearLine = "\r\x1b[K"
	}
	fmt.Fprintf(s.Err, "%s%s: %s\n", clearLine, s.Program, show.Printable(fmt.Sprintf(format, args...)))
}

// Warn prints a warning about an input, which changes no status.
func (s *Streams) Warn(name, warning string) { s.Say("warning: %s: %s", show.Name(name), warning) }

// PrintJSON prints a value as JSON for people: in several lines.
func (s *Streams) PrintJSON(value any) error {
	encoder := json.NewEncoder(s.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// PrintRows prints names and values in two columns.
func (s *Streams) PrintRows(rows [][2]string) error {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	return w.Flush()
}

// IsTerminal reports whether a stream is one.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// ClosedPipe is SIGPIPE, also where syscall has no name for it.
const ClosedPipe = syscall.Signal(13)

// EndBy ends the process by a signal that it has caught, or that has ended a process of its own. Who started
// it then sees what ended it, and a shell ends its loop. Where a process cannot signal itself, it exits with
// the status.
func EndBy(s os.Signal, out *os.File, status int) {
	signal.Reset(s)
	if s == ClosedPipe {
		_, _ = out.Write([]byte("\n")) // Go's runtime ends the process by this signal for nothing else
	}
	if process, err := os.FindProcess(os.Getpid()); err == nil && process.Signal(s) == nil {
		time.Sleep(time.Second)
	}
	os.Exit(status)
}
