// Command bloom-parquet is for Parquet files what command bloom is for lines of text: it
// finds the row groups that may have some keys, builds filters from columns, and drops the rows
// whose keys are not in a filter.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// Exit statuses are grep's.
const (
	exitSome  = 0 // something may match, or the command is done
	exitNone  = 1
	exitError = 2
)

// errNone says that nothing matches. It sets the exit status and prints no message.
var errNone = errors.New("nothing matches")

// commands is the command line.
type commands struct {
	Prune      pruneCommand   `cmd:"" help:"Print the row groups that may have some keys. Exits 0 if there are some, 1 if none, 2 on an error."`
	Inspect    inspectCommand `cmd:"" help:"Print the columns of Parquet files, with their filters and bounds."`
	Build      buildCommand   `cmd:"" help:"Build a filter from a column."`
	Embed      embedCommand   `cmd:"" help:"Give Parquet files Bloom filters that they do not have, without writing a page anew."`
	Index      indexCommand   `cmd:"" help:"Write the filters of a column of many Parquet files to one file, which prune and filter ask in place of them."`
	Filter     filterCommand  `cmd:"" help:"Write the rows whose keys may be in a filter. Exits 0 if there are some, 1 if none, 2 on an error."`
	Completion cli.Completion `cmd:"" help:"Print the completions for bash, zsh or fish."`
	Help       cli.Help       `cmd:"" help:"Print the help of all commands, or of one."`
	Man        cli.Man        `help:"Print the manual page, for man."`
	Version    cli.Version    `help:"Print the version."`
}

// examples come first in the help of a command, and those of no name in that of all commands.
var examples = cli.Examples{
	"":           {"bloom-parquet filter --column customer --keys ids.txt --csv orders.parquet", "bloom-parquet inspect orders.parquet"},
	"prune":      {"bloom-parquet prune --column customer wanted.txt orders/", "bloom-parquet prune --column at --json times.txt orders.parquet"},
	"inspect":    {"bloom-parquet inspect orders.parquet", "bloom-parquet inspect --column customer --json orders/"},
	"build":      {"bloom-parquet build --column id --rate 0.001 -o ids.bloom orders.parquet", "bloom-parquet build --column id --keys ids.txt --like a.parquet -o ids.bloom"},
	"embed":      {"bloom-parquet embed --column id --in-place orders.parquet", "bloom-parquet embed --column id,customer --rate 0.1% -o b.parquet a.parquet"},
	"index":      {"bloom-parquet index --column customer -o orders.index orders/"},
	"filter":     {"bloom-parquet filter --column id --keys ids.txt -o found.parquet orders/", "bloom-parquet filter --column order_id -v --csv ids.bloom lines.parquet"},
	"completion": {"source <(bloom-parquet completion bash)", "bloom-parquet completion fish | source"},
	"help":       {"bloom-parquet help", "bloom-parquet help filter"},
}

// streams are the standard streams of the process, and what it was told to do.
type streams struct {
	in, out, err *os.File
	args         []string // the command line
}

// warn prints a warning.
func (s *streams) warn(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines {
		lines[i] = cli.Printable(line)
	}
	fmt.Fprintln(s.err, "bloom-parquet:", strings.Join(lines, "\n"))
}

func main() {
	s := &streams{args: os.Args[1:]}
	s.in, s.out, s.err = cli.Streams()
	if isApart() {
		s.err = becomeApart()
	}
	os.Exit(s.run())
}

// run runs the command line and returns the exit status. An empty one prints the help on
// standard error and exits 2, for a script that lost its arguments.
func (s *streams) run() int {
	args, options := s.args, []kong.Option{
		kong.Writers(s.out, s.err),
		kong.Name("bloom-parquet"),
		kong.Description("Bloom filters of Parquet files."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": version()},
		cli.Strings(),
	}
	if len(args) == 0 {
		args = []string{"--help"}
		options = append(options, kong.Writers(s.err, s.err), kong.Exit(func(int) { os.Exit(exitError) }))
	}
	parser, err := kong.New(&commands{Completion: cli.Completion{Name: "bloom-parquet"}}, options...)
	if err != nil {
		panic(err) // the struct tags are wrong
	}
	examples.Describe(parser.Model)
	return status(s.runLine(parser, args), s.err)
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "bloom-parquet (devel)"
	}
	return "bloom-parquet " + info.Main.Version
}

// runLine runs a command line.
func (s *streams) runLine(parser *kong.Kong, args []string) error {
	line, err := parser.Parse(args)
	switch {
	case err != nil:
		return cli.Explain(err)
	case isApart(): // the other process has checked it
		return ofOutput(line.Run(s), s.out, cli.Outputs(line))
	}
	if err := cli.Once(line); err != nil {
		return err
	}
	if err := cli.Check(s.outputs(), line, filesIn); err != nil {
		return err
	}
	return line.Run(s)
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

// status prints an error and returns its exit status.
func status(err error, w io.Writer) int {
	switch {
	case err == nil:
		return exitSome
	case errors.Is(err, errNone):
		return exitNone
	case !errors.Is(err, errReported):
		for line := range strings.Lines(err.Error()) { // of joined errors each has a line
			fmt.Fprintln(w, "bloom-parquet:", cli.Printable(strings.TrimSuffix(line, "\n")))
		}
	}
	if isApart() { // an error of its own, and not a crash
		return exitApart
	}
	return exitError
}

// withoutPrefix returns the text of an error of the library: the command prints its own prefix.
func withoutPrefix(err error) string {
	text := err.Error()
	for _, prefix := range []string{"parquet: ", "bloom: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
