package main

import (
	"errors"
	"fmt"

	"github.com/lanebloom/bloom"
)

type mergeCommand struct {
	filterFlags
	Output  string   `short:"o" placeholder:"FILE" help:"Write the filter to this file, not to standard output."`
	Filters []string `arg:"" name:"filters" help:"The filters."`
}

// Help is what bloom merge --help says, too.
func (*mergeCommand) Help() string {
	return filterHelp + `
The filters must have the same format, number of bits and number of probes: those of bloom build have if they are of as many keys at as many bits per key.
What is written has all their keys. It is bare bytes if all filters are, and else a file. A key in several filters counts as often in its number of keys.
`
}

func (m *mergeCommand) Run(s *streams) error {
	if err := checkFilterOutput(s, m.Output, m.Filters...); err != nil {
		return err
	}
	merged, bare := (*bloom.Set)(nil), true
	for _, name := range m.Filters {
		set, isFile, err := m.openSet(s, name)
		if err != nil {
			return err
		}
		bare = bare && !isFile
		if merged == nil {
			merged = set
		} else if err := merged.Merge(set); err != nil {
			return fmt.Errorf("%s and %s: %w", shown(m.Filters[0]), shown(name), fromLibrary(err))
		}
	}
	return writeFilter(s, m.Output, merged, bare, m.Filters...)
}

type addCommand struct {
	filterFlags
	keysFlags
	Output string   `short:"o" placeholder:"FILE" help:"Write the filter to this file, and leave the other as it is."`
	File   string   `arg:"" name:"filter" help:"The filter."`
	Keys   []string `arg:"" optional:"" name:"keys" help:"Files of keys, one per line (standard input)."`
}

// Help is what bloom add --help says, too.
func (*addCommand) Help() string {
	return filterHelp + inputsHelp + `
The filter keeps its size, so each key makes its false-positive rate higher. A warning says when more than 60 % of its bits are set: then build a larger one.
The file of the filter is replaced as bloom build does it: it appears whole or not at all.
`
}

func (a *addCommand) Run(s *streams) error {
	if _, err := a.records(); err != nil {
		return err
	}
	if len(a.Keys) == 0 {
		a.Keys = []string{"-"}
	}
	to := a.Output
	if to == "" {
		to = a.File
	}
	if err := checkOutput(s, to, a.Keys...); err != nil {
		return err
	}
	set, isFile, err := a.openSet(s, a.File)
	if err != nil {
		return err
	}
	progress, done := bytesBar(s, "reading keys", a.Keys)
	defer done()
	format := set.Format()
	for _, name := range a.Keys {
		err := a.read(s, name, progress, func(in *input) error {
			return in.work(
				func(c *chunk) { c.hashed = bloom.Bytes(c.keys).Hashed(format) },
				func(c *chunk) error {
					set.AddBatch(c.hashed)
					return nil
				})
		})
		if err != nil {
			return err
		}
	}
	const mostFill = 0.6 // at 50 %, a filter has the keys that it was made for
	if stats := set.Stats(); stats.Fill() > mostFill {
		s.warn(to, fmt.Sprintf("%.3g %% of the bits are set, and %.3g %% of absent keys pass: build a larger filter", 100*stats.Fill(), 100*stats.FalsePositiveRate))
	}
	return writeFilter(s, to, set, !isFile, a.Keys...)
}

// openSet reads a filter to add to.
func (f filterFlags) openSet(s *streams, name string) (set *bloom.Set, isFile bool, err error) {
	o, err := f.openFilter(s, name)
	if err != nil {
		return nil, false, err
	}
	file, err := o.MarshalBinary() // which has the number of keys
	if err != nil {
		return nil, false, err
	}
	set = new(bloom.Set)
	if err := set.UnmarshalBinary(file); err != nil {
		return nil, false, fmt.Errorf("%s: %w", shown(name), fromLibrary(err))
	}
	return set, o.isFile, nil
}

// checkFilterOutput refuses a terminal, and an output that is one of the inputs. An empty name is
// standard output.
func checkFilterOutput(s *streams, name string, inputs ...string) error {
	if name != "" {
		return checkOutput(s, name, inputs...)
	}
	if isTerminal(s.out) {
		return errors.New("will not write a filter to a terminal: name a file with -o")
	}
	return s.checkStdout(inputs...)
}

// writeFilter writes a filter, as bare bytes or as a file.
func writeFilter(s *streams, name string, set *bloom.Set, bare bool, inputs ...string) error {
	encoded := set.AppendFilter(nil)
	if !bare {
		var err error
		if encoded, err = set.MarshalBinary(); err != nil {
			return err
		}
	}
	if name == "" {
		_, err := s.out.Write(encoded)
		return err
	}
	return writeFile(s, name, encoded, inputs...)
}
