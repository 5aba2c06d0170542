package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// apartVariable is set in the environment of a process that reads foreign files for another. Its
// value says how much memory it may take.
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

// foreign is a subcommand that reads files of others. A process of its own does it.
type foreign interface {
	prepare(s *cli.Streams) (reading, error) // checks the command line, and finds the files
	work(s *cli.Streams) error               // in that process: writes to standard output
}

// reading says what a subcommand reads and writes.
type reading struct {
	inputs, others []string // foreign files, and files of a filter or of keys
	output         string   // "" is standard output
	inPlace        bool     // whether the output is a file that is there, which is read
	none           error    // if cli.ErrNone leaves the output: what is returned then
	cores          int      // of the process; 0 is all
}

// read runs a subcommand in a process of its own, and gives its output the name.
func read(s *cli.Streams, c foreign) error {
	r, err := c.prepare(s)
	switch {
	case err != nil:
		return err
	case isApart():
		return c.work(s)
	case r.output == "":
		return r.apart(s, s.Out)
	}
	write := s.Outputs().Write
	if r.inPlace {
		write = s.Outputs().Rewrite
	}
	none := false
	err = write(r.output, func(w io.Writer) error {
		err := r.apart(s, w)
		if none = r.none != nil && errors.Is(err, cli.ErrNone); none {
			return nil
		}
		return err
	})
	if err == nil && none {
		return r.none
	}
	return err
}

// apart runs this command in a process of its own, which writes to out, whatever -o says. A damaged file can
// end that process: parquet-go reads outside of its memory, or asks for more than there is, and Go has no way
// to recover from that. The error then names the file as damaged. The process also reads the others: the
// files of a filter or of keys.
func (r reading) apart(s *cli.Streams, out io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	memory := int64(freeMemory)
	for _, name := range slices.Concat(r.inputs, r.others) {
		if info, err := os.Stat(name); err == nil {
			memory += memoryPerInput * info.Size()
		}
	}
	var trace trace
	command := exec.Command(program, s.Args...)
	command.Args[0] = "bloom-parquet"
	command.Env = append(os.Environ(), apartVariable+"="+strconv.FormatInt(memory, 10))
	if r.cores > 0 {
		command.Env = append(command.Env, "GOMAXPROCS="+strconv.Itoa(r.cores))
	}
	command.Stdin, command.Stdout, command.Stderr = s.In, out, s.Err
	if messagesApart {
		command.Stderr, command.ExtraFiles = &trace, []*os.File{s.Err}
	}
	err = command.Run()
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() == cli.ExitNone:
		return cli.ErrNone
	case exit.ExitCode() == exitApart:
		return cli.ErrReported
	}
	if exit.String() == "signal: broken pipe" && out == s.Out {
		cli.EndBy(cli.ClosedPipe, s.Out, cli.ExitError)
	}
	return ended(exit, trace.first(), strings.Join(r.inputs, ", "), r.others)
}

// ended returns the error of a process that ended with a trace. It read foreign files, and others.
func ended(exit *exec.ExitError, trace, files string, others []string) error {
	switch end := exit.String(); {
	case end == "signal: broken pipe", end == "signal: interrupt", end == "signal: terminated", end == "signal: hangup":
		return cli.ErrReported // it is not the files
	case end == "signal: killed":
		return fmt.Errorf("%s: the process that was reading it was killed, by a user or by the system for lack of memory", files)
	case exit.ExitCode() == exitMemory, strings.Contains(trace, "out of memory"):
		for _, name := range others {
			if name != "" {
				files += ", " + name
			}
		}
		return fmt.Errorf("%s: damaged, or too large to read: %s", files, trace)
	case trace == "":
		trace = end
	}
	return fmt.Errorf("%s: malformed: the process that was reading it ended: %s", files, trace)
}

// messagesApart says whether descriptor 3 is the standard error of the process that started this one.
// Messages go there, so that the own standard error has only what parquet-go prints, and the trace of a
// crash. Windows hands down no more than three descriptors.
const messagesApart = runtime.GOOS != "windows"

// trace keeps the first line of the trace of a process.
type trace struct {
	line []byte // as far as it was written
	kept string // "" before the trace
}

func (t *trace) Write(p []byte) (int, error) {
	const most = 4096
	for part := range bytes.Lines(p) {
		t.line = append(t.line, part[:min(len(part), most-len(t.line))]...)
		if part[len(part)-1] == '\n' {
			t.end()
		}
	}
	return len(p), nil
}

// end ends a line. parquet-go warns of damaged pages: an error follows, or it does no harm.
func (t *trace) end() {
	if line := strings.TrimSpace(string(t.line)); t.kept == "" && !strings.HasPrefix(line, "parquet: warning: ") {
		t.kept = line
	}
	t.line = t.line[:0]
}

// first returns the first line.
func (t *trace) first() string {
	if len(t.line) > 0 {
		t.end()
	}
	return t.kept
}

// becomeApart makes this process one that reads foreign files for another: it ends with the other,
// and if it takes too much memory. It returns where its messages go.
func becomeApart() (messages *os.File) {
	messages = os.Stderr
	if messagesApart {
		messages = os.NewFile(3, "/dev/stderr")
	}
	limit, err := strconv.ParseUint(os.Getenv(apartVariable), 10, 63)
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
				fmt.Fprintf(os.Stderr, "this needs more than %d MiB of memory\n", limit>>20)
				os.Exit(exitMemory)
			}
		}
	}()
	return messages
}
