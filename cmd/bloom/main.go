// Command bloom builds Bloom filters in the formats of storage engines,
// filters streams of keys through them, and looks inside them.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// Exit statuses are grep's.
const (
	exitSome  = 0 // some lines passed, or the command is done
	exitNone  = 1
	exitError = 2
)

// errNone says that no line passed the filter. It sets the exit status and prints no message.
var errNone = errors.New("no line passed")

// commands is the command line.
type commands struct {
	Build      buildCommand   `cmd:"" help:"Build a filter from keys."`
	Filter     filterCommand  `cmd:"" help:"Print the lines that may be in a filter. Exits 0 if there are some, 1 if none, 2 on an error."`
	Test       testCommand    `cmd:"" help:"Say of each key whether it may be in a filter."`
	Unique     uniqueCommand  `cmd:"" help:"Print lines when they come for the first time, in their order, in the memory of a filter."`
	Merge      mergeCommand   `cmd:"" help:"Merge filters of the same shape into one."`
	Add        addCommand     `cmd:"" help:"Add keys to a filter."`
	Inspect    inspectCommand `cmd:"" help:"Describe a filter: its fill, keys and false-positive rate."`
	Tables     tablesCommand  `cmd:"" help:"Show the filters in table files of LevelDB, RocksDB, Pebble and Badger, or which tables may have keys. Exits 0 if some may, 1 if none, 2 on an error."`
	Size       sizeCommand    `cmd:"" help:"Calculate keys, bits per key, false-positive rate or memory: two of them from the other two."`
	Explore    exploreCommand `cmd:"" help:"Serve a page, only to this machine, that shows how a filter works."`
	Bench      benchCommand   `cmd:"" help:"Compare the kernels with the plain loop on this machine."`
	Demo       demoCommand    `cmd:"" help:"Filter a stream of English words and compare this library with the plain loop."`
	Completion cli.Completion `cmd:"" help:"Print the completions for bash, zsh or fish."`
	Help       cli.Help       `cmd:"" help:"Print the help of all commands, or of one."`
	Man        cli.Man        `help:"Print the manual page, for man."`
	Version    cli.Version    `help:"Print the version of the command, of Go and of the system, and the kernel."`
}

// streams are the standard streams of the process.
type streams struct {
	in, out, err *os.File
}

func main() { os.Exit(run(os.Args[1:])) }

// run runs a command line and returns the exit status. An empty one prints the help on
// standard error and exits 2, for a script that lost its arguments.
func run(args []string) int {
	s := new(streams)
	s.in, s.out, s.err = cli.Streams()
	c := commands{Completion: cli.Completion{
		Name: "bloom", Words: map[string]string{"format": strings.ReplaceAll(formatNames(" "), ",", ""), "missing": "error drop keep"},
	}}
	options := []kong.Option{
		kong.Name("bloom"),
		kong.Description("Bloom filters in the formats of storage engines."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": versionText(), "formats": formatNames(" or "), "default_format": bloom.Default.String()},
		cli.Strings(),
	}
	if len(args) == 0 {
		args = []string{"--help"}
		options = append(options, kong.Writers(s.err, s.err), kong.Exit(func(int) { os.Exit(exitError) }))
	}
	parser, err := kong.New(&c, options...)
	if err != nil {
		panic(err) // the struct tags are wrong
	}
	describe(parser.Model)
	return status(s.runLine(parser, args), s.err)
}

// runLine runs a command line.
func (s *streams) runLine(parser *kong.Kong, args []string) error {
	line, err := parser.Parse(args)
	if err != nil {
		return cli.Explain(err)
	}
	if err := cli.Once(line); err != nil {
		return err
	}
	if err := cli.Check(s.outputs(), line, tablesIn); err != nil {
		return err
	}
	return line.Run(s)
}

// status prints an error and returns its exit status.
func status(err error, w io.Writer) int {
	switch {
	case err == nil:
		return exitSome
	case errors.Is(err, errNone):
		return exitNone
	}
	for _, e := range parts(err) {
		fmt.Fprintln(w, "bloom:", cli.Printable(e.Error()))
	}
	return exitError
}

// parts returns the errors that were joined to one, in order.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// shown returns a name for a line of text: quoted if it would break the line.
func shown[S ~string](of S) string {
	name := string(of)
	if utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// chosenFormat returns the format that --format names.
func chosenFormat(name string) (bloom.Format, error) {
	format, err := bloom.ParseFormat(strings.ToLower(name))
	if err != nil {
		err = fmt.Errorf("--format: unknown format %q: it must be one of %s", name, formatNames(", "))
	}
	return format, err
}

// checkBitsPerKey bounds a number of bits per key.
func checkBitsPerKey(n int) error {
	if n < 1 || n > answers.MostBitsPerKey {
		return fmt.Errorf("--bits-per-key must be at least 1 and at most %d, and not %d", answers.MostBitsPerKey, n)
	}
	return nil
}
