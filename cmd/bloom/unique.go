package main

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

type uniqueCommand struct {
	keysFlags
	printer
	Repeated bool          `short:"v" help:"Print the repeated lines instead of the new lines."`
	Rate     *cli.Rate     `placeholder:"P" help:"Largest fraction of the different lines that may be missing (default 1e-6)."`
	Verify   bool          `help:"Read the files twice, so that no line is missing. Repeated keys are kept in memory."`
	Seen     cli.State     `placeholder:"FILE" help:"Treat the lines that earlier runs added to this file as repeated lines. The file is a filter. It is created if it does not exist."`
	Memory   *cli.ByteSize `placeholder:"SIZE" help:"Size of a new --seen file (default 64MiB). The size never changes."`
	Quiet    bool          `short:"q" help:"Do not print how many lines are expected to be missing."`
	Files    []cli.Input   `arg:"" optional:"" default:"-" help:"Files to read, in this order (default: standard input)."`

	known seenKeys
	file  *seenFile // of --seen, or nil
}

// Help returns the text that bloom unique --help prints below the flags.
func (u *uniqueCommand) Help() string {
	return `Lines: The command prints the lines that sort -u prints, but in input order, like awk '!seen[$0]++'. It remembers the lines in filters, which take 7 to 14 bytes for each different line at the default rate. No line is printed twice. A line is missing from the output if the filters mistake it for an earlier line. The probability of this mistake is at most --rate for each line, however many lines there are. Messages before and after the run report how many lines are expected to be missing. The exit status is 0 if a line was printed, 1 if none was, and 2 on an error.

Records: With -f or --match, a record is printed if at least one of its keys is new; with --all, every key must be new.

Seen: The keys of printed records are added to the --seen file every ten seconds, at the end, and if the command is interrupted or its output is closed. The size of the file never changes. If a run fills the file, the run uses more memory to keep the rate, and prints a warning. The next run would fail with this file, so begin a new file. If several runs use the same file at the same time, each run prints the lines that were not in the file when that run began.

` + inputsHelp
}

// Run prints the records whose keys come for the first time in any of the files. If it cannot read a file, it
// goes on with the next, as bloom filter does.
func (u *uniqueCommand) Run(s *cli.Streams) error {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // the filters are most of the memory
	u.prints = true
	if u.Rate == nil {
		u.Rate = new(cli.Rate(1e-6))
	}
	if err := u.options().Check(); err != nil {
		return err
	}
	if !(*u.Rate > 0 && *u.Rate < 1) {
		return fmt.Errorf("--rate: %v is not between 0 and 1", *u.Rate)
	}
	var err error
	switch {
	case u.Verify:
		err = u.printExact(s)
	case u.Seen != "":
		err = u.printUnseen(s)
	case u.Memory != nil:
		err = errors.New("--memory is the size of the --seen file; without --seen, the memory grows with the number of lines")
	default:
		u.known = seenKeys{rate: float64(*u.Rate)}
		err = u.printNew(s)
	}
	if err == nil && u.passed == 0 {
		return cli.ErrNone
	}
	return err
}

// printNew prints what u.known has not seen. What it says of missing lines stands before and after.
func (u *uniqueCommand) printNew(s *cli.Streams) error {
	u.say(s, "at most 1 in %s new lines is expected to be %s", humanize.Comma(int64(min(1/float64(*u.Rate), 1e18))), u.fate())
	err := u.each(s, "reading lines", func(c *records.Chunk, delimiter byte) error {
		c.Hits = records.WordsFor(c.Hits, c.Hashed.Len())
		if err := u.known.add(c.Hashed, c.Hits); err != nil {
			return &outputError{error: err}
		}
		return u.file.printed(c, delimiter, func() error { return u.printChosen(s, c, delimiter) })
	})
	if !endsAll(err) {
		n := int64(math.Ceil(u.known.missing))
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		u.say(s, "at most %s of %s new lines %s expected to be %s", humanize.Comma(n), humanize.Comma(int64(math.Round(float64(u.known.added)+u.known.missing))), verb, u.fate())
		err = errors.Join(err, u.printCount(s))
	}
	return err
}

// fate is what becomes of a new line that is taken for an old one.
func (u *uniqueCommand) fate() string {
	if u.Repeated {
		return "among the repeated lines"
	}
	return "missing"
}

func (u *uniqueCommand) say(s *cli.Streams, format string, args ...any) {
	if !u.Quiet {
		fmt.Fprintf(s.Err, "bloom: "+format+"\n", args...)
	}
}

// printChosen prints the records of a chunk that are new, by the bits of their keys in c.Hits, or the others.
func (u *uniqueCommand) printChosen(s *cli.Streams, c *records.Chunk, delimiter byte) error {
	// Some key of a record is new if not all came before, and all are new if none did.
	c.Choose(!u.All, !u.Repeated)
	if c.Out = nil; !u.Count {
		c.Gather(delimiter)
	}
	return u.print(s, c.Out, c.Passed)
}

// each calls finish with the chunks of all files, in order, and hashes their keys on all cores.
func (u *uniqueCommand) each(s *cli.Streams, title string, finish func(c *records.Chunk, delimiter byte) error) error {
	progress, done := func(int) {}, func() {}
	if u.Count || !cli.IsTerminal(s.Out) {
		progress, done = s.BytesBar(title, u.Files)
	}
	defer done()
	u.passed, u.header = 0, printedHeader{}
	var failures []error
	for _, name := range cli.Names(u.Files) {
		err := u.read(s, name, progress, func(in *records.Input) error {
			if err := u.printHeader(s, name, in); err != nil {
				return err
			}
			return in.Work(
				func(c *records.Chunk) {
					c.DropRepeats() // or the second would count as old
					c.Hashed = bloom.Bytes(c.Keys).Hashed(u.format())
				},
				func(c *records.Chunk) error { return finish(c, in.Delimiter) })
		})
		if endsAll(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// format returns the format of the filters.
func (u *uniqueCommand) format() bloom.Format {
	if u.known.last.Set != nil {
		return u.known.last.Format()
	}
	return bloom.Default
}
