// Package cli is the skeleton of both commands: standard streams, flags, names of files, completions, the manual page.
package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Streams returns the streams of the process. Input or output that was closed when it started gives errors,
// which the /dev/null that Go puts there would not.
func Streams() (in, out, err *os.File) {
	for fd, file := range []*os.File{os.Stdin, os.Stdout} {
		if wasClosed(fd) {
			file.Close()
		}
	}
	return os.Stdin, os.Stdout, os.Stderr
}

// Printable returns a line of text for a terminal: what is no character that can be seen is written as Go does, such as
// \x1b. Names of files can have any bytes, and some of them are commands to a terminal.
func Printable(line string) string {
	var out strings.Builder
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, line[i])
		case r == '\t' || strconv.IsGraphic(r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String()
}

// ClosedPipe is SIGPIPE, also where syscall has no name for it.
const ClosedPipe = syscall.Signal(13)

// EndBy ends the process by a signal that it has caught, or that has ended a process of its own. Who started it then
// sees what ended it, and a shell ends its loop. Where a process cannot signal itself, it exits with the status.
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
