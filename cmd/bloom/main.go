// Command bloom builds Bloom filters in the formats of storage engines,
// filters streams of keys through them, and looks inside them.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
)

// Exit statuses are grep's.
const (
	exitSome  = 0 // also: done
	exitNone  = 1
	exitError = 2
)

// errNone says that no line passed the filter, which is a status and no error.
var errNone = errors.New("no line passed")

// cli is the command line.
type cli struct {
	Build   buildCommand   `cmd:"" help:"Build a filter from keys."`
	Filter  filterCommand  `cmd:"" help:"Print the lines that may be in a filter. Exits 0 if there are some, 1 if none, 2 on an error."`
	Inspect inspectCommand `cmd:"" help:"Tell what a filter holds."`
	Explore exploreCommand `cmd:"" help:"Serve a page, on this machine alone, that shows how a filter works."`
	Bench   benchCommand   `cmd:"" help:"Compare the kernels with the plain loop on this machine."`
	Demo    demoCommand    `cmd:"" help:"Filter a stream of English words and compare this library with the plain loop."`
}

// streams are the standard streams of the process.
type streams struct {
	in, out, err *os.File
}

func main() {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("bloom"),
		kong.Description("Bloom filters in the formats of storage engines."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the struct tags are wrong
	}
	command, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = command.Run(&streams{os.Stdin, os.Stdout, os.Stderr})
	}
	os.Exit(status(err, os.Stderr))
}

// status returns the exit status for an error, which it prints.
func status(err error, w io.Writer) int {
	switch {
	case err == nil:
		return exitSome
	case errors.Is(err, errNone):
		return exitNone
	}
	fmt.Fprintln(w, "bloom:", err)
	return exitError
}

// formatFlag is the --format flag of the commands that have one.
type formatFlag struct {
	Format string `default:"leveldb" placeholder:"NAME" help:"Format of the filter: leveldb, nori or nori-crate (${default})."`
}

func (f formatFlag) parse() (bloom.Format, error) {
	format, err := bloom.ParseFormat(f.Format)
	if err != nil {
		return 0, fmt.Errorf("--format: %w", err)
	}
	return format, nil
}

// linesFlag is the --null flag of the commands that read keys.
type linesFlag struct {
	Null bool `short:"0" help:"Keys end with a NUL byte, not a newline."`
}

func (f linesFlag) delimiter() byte {
	if f.Null {
		return 0
	}
	return '\n'
}

// openFilter reads a file as a filter.
func openFilter(f bloom.Format, path string) (*bloom.Filter, []byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	filter, err := bloom.Open(f, data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return filter, data, nil
}
