package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type filterCommand struct {
	cli.FilterFlags
	keysFlags
	Invert bool `short:"v" help:"Print the lines that are certainly not in the filter."`
	printer
	Verify cli.Input   `placeholder:"KEYS" help:"Look up each hit in this file, so that no false positive is printed. The file must contain every key of the filter, one per line."`
	Force  bool        `help:"Accept the file of --verify even if it has fewer keys than the filter."`
	File   cli.Input   `arg:"" name:"filter" help:"The filter (- means standard input)."`
	Stream []cli.Input `arg:"" optional:"" default:"-" help:"Files to filter, in this order (default: standard input)."`

	chance   chance
	verifier *verifier
}

// Help returns the text that bloom filter --help prints below the flags.
func (f *filterCommand) Help() string {
	return cli.FilterHelp + inputsHelp + `Records: Lines and records are printed unchanged, including carriage returns that --crlf excludes from keys. The header of the first file is printed first. A later file with a different header, or with a different number of CSV fields, is an error, except with -c, which prints only a count. If a record has several keys, one hit is enough; with --all, every key must be a hit. CSV and JSON records without a key are left out, but with -v they are printed. A message reports their number. If the fraction of hits is hardly higher than the false-positive rate, and the keys seem to be parts of the lines, a warning suggests -f or --match.

Verify: KEYS must be a regular file with one key per line. The command collects hits until they and their keys fill 64 MiB. Then it reads KEYS, looks up the collected keys, and starts to collect again. This takes up to 130 MiB of additional memory. With -v and --verify, exactly the lines whose key is not in KEYS are printed. If KEYS has fewer keys than the filter, the command fails, because KEYS may be incomplete. Use --force only if KEYS has fewer keys because some keys were added to the filter twice.

Memory: The command uses all cores, and its memory does not grow with the length of the input. A line of more than 128 KiB takes twice its length in memory, and a CSV or JSON record up to eight times its length.

Speed: A --match expression is fast if it begins with literal text, and if the text after each repeated class such as [0-9]+ cannot begin with a character of that class. For example, /u/([0-9]+) is fast. Expressions that do not meet both conditions take ten times as long or more.`
}

// Run filters the lines of all streams as if they were one. If it cannot read a stream, it
// goes on with the next, as grep does.
func (f *filterCommand) Run(s *cli.Streams) error {
	f.passed, f.header, f.chance = 0, printedHeader{}, chance{}
	if f.Force && f.Verify == "" {
		return errors.New("--force needs --verify")
	}
	f.prepareMissing()
	if err := f.options().Check(); err != nil {
		return err
	}
	if f.Verify != "" {
		var err error
		if f.verifier, err = newVerifier(s, f); err != nil {
			return err
		}
	}
	known, err := f.OpenText(s, string(f.File))
	if err != nil {
		return f.orSwapped(err)
	}
	if count, said := known.KeyCount(); said && f.verifier != nil && !f.Force {
		f.verifier.fewest = count
	}
	progress, done := func(int) {}, func() {}
	if f.Count || !cli.IsTerminal(s.Out) { // a progress bar would cut through lines on a terminal
		progress, done = s.BytesBar("filtering", f.Stream)
	}
	var failures []error
	for _, name := range cli.Names(f.Stream) {
		err := f.filter(s, known.Filter, name, progress)
		if endsAll(err) {
			done()
			return err
		}
		failures = append(failures, err)
	}
	done()
	if f.verifier != nil {
		if err := f.verifier.flush(s); err != nil {
			return err
		}
	}
	if err := f.printCount(s); err != nil {
		return err
	}
	f.chance.warn(s, known.Filter)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if f.passed == 0 {
		return cli.ErrNone
	}
	return nil
}

// prepareMissing chooses what becomes of a record of a table without a key, if --missing does not say it.
func (f *filterCommand) prepareMissing() {
	f.prints = true
	switch {
	case f.Missing != records.MissingUnsaid || !f.CSV && !f.JSONL && f.Match == nil:
	case f.Invert:
		f.Missing = records.MissingKeep
	default:
		f.Missing = records.MissingDrop
	}
}

// filter prints the records of one stream that pass.
func (f *filterCommand) filter(s *cli.Streams, filter *bloom.Filter, name string, progress func(int)) error {
	return f.read(s, name, progress, func(in *records.Input) error {
		if err := f.printHeader(s, name, in); err != nil {
			return err
		}
		f.chance.look(name, in)
		delimiter := in.Delimiter
		return in.Work(
			func(c *records.Chunk) { f.test(c, filter, delimiter) },
			func(c *records.Chunk) error {
				f.chance.add(c)
				if f.verifier != nil {
					return f.verifier.add(s, c, delimiter)
				}
				return f.print(s, c.Out, c.Passed)
			})
	})
}

// test finds the records of a chunk to print.
func (f *filterCommand) test(c *records.Chunk, filter *bloom.Filter, delimiter byte) {
	c.Hits = records.WordsFor(c.Hits, len(c.Keys))
	filter.MayContainBatch(bloom.Bytes(c.Keys), c.Hits)
	c.Choose(f.All, f.Invert)
	if !f.Count && f.verifier == nil {
		c.Gather(delimiter)
	}
}

// orSwapped returns the error of a filter that is none, with advice if one of the streams is a filter.
func (f *filterCommand) orSwapped(err error) error {
	for _, name := range f.Stream {
		if isFilterFile(name) {
			return fmt.Errorf("%w; %s is a filter, and the filter comes first", err, show.Name(name))
		}
	}
	return err
}

// isFilterFile reports whether a regular file begins as those of bloom build do.
func isFilterFile(name cli.Input) bool {
	if info, err := os.Stat(string(name)); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(string(name))
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(bloom.FileMagic))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == bloom.FileMagic
}
