package main

import (
	"fmt"
	"os"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type mergeCommand struct {
	cli.FilterFlags
	Output  cli.Output  `short:"o" placeholder:"FILE" help:"Write the filter to this file instead of standard output."`
	Filters []cli.Input `arg:"" name:"filters" help:"The filters to merge (- means standard input)."`
}

// Help returns the text that bloom merge --help prints below the flags.
func (*mergeCommand) Help() string {
	return cli.FilterHelp + `Shapes: The filters must have the same format, number of bits and number of probes. Filters that bloom build makes with the same format, number of keys and bits per key meet this condition.
The merged filter has the keys of all filters. It is written as bare bytes if all filters are bare bytes, and otherwise as a file with a header. The header's number of keys counts a key once for each filter that has it.
`
}

func (m *mergeCommand) Run(s *cli.Streams) error {
	if err := s.RefuseTerminal(m.Output); err != nil {
		return err
	}
	merged, bare, typed := (*bloom.Set)(nil), true, kindOf{}
	for _, name := range cli.Names(m.Filters) {
		filter, err := m.Open(s, name)
		if err != nil {
			return err
		}
		if err := typed.check(name, filter); err != nil {
			return err
		}
		set, err := setOf(filter, name)
		if err != nil {
			return err
		}
		bare = bare && !filter.IsFile
		if merged == nil {
			merged = set
		} else if err := merged.Merge(set); err != nil {
			return fmt.Errorf("%s and %s: %w", show.Name(m.Filters[0]), show.Name(name), filterfile.WithoutPrefix(err))
		}
	}
	encoded, err := cli.EncodeFilter(merged, bare)
	if err != nil {
		return err
	}
	return s.WriteFilter(m.Output, encoded)
}

// kindOf is the first filter that says what kind of keys it has. Sets that are merged forget it when
// one comes that does not say it.
type kindOf struct {
	name string
	kind bloom.KeyKind
}

// check returns an error for a filter of another kind.
func (k *kindOf) check(name string, filter filterfile.Filter) error {
	if k.kind == bloom.KindUnknown {
		*k = kindOf{name, filter.KeyKind()}
	}
	return filter.CheckKeys(show.Name(name), "the keys of "+show.Name(k.name)+" are", k.kind)
}

type addCommand struct {
	cli.FilterFlags
	keysFlags
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the filter to this file, and leave the original unchanged."`
	File   cli.State   `arg:"" name:"filter" help:"The filter to which keys are added."`
	Keys   []cli.Input `arg:"" optional:"" default:"-" name:"keys" help:"Files of keys, one per line (default: standard input)."`
}

// Help returns the text that bloom add --help prints below the flags.
func (*addCommand) Help() string {
	return cli.FilterHelp + inputsHelp + `Size: The size of the filter does not change, so each added key raises the false-positive rate. If more than 60 % of the bits are set, a warning advises you to build a larger filter.

Output: The filter file is replaced atomically. Several commands may add keys to a file at the same time without losing any, because each command locks the file while replacing it. Some network file systems cannot lock files. On such a file system, use -o.
`
}

// AfterApply ignores an -o that names the file of the filter itself.
func (a *addCommand) AfterApply() error {
	if sameFile(string(a.Output), string(a.File)) {
		a.Output = ""
	}
	return nil
}

func (a *addCommand) Run(s *cli.Streams) error {
	if err := a.options().Check(); err != nil {
		return err
	}
	inPlace := a.Output == ""
	if inPlace {
		if err := s.Outputs().CheckUpdate(string(a.File)); err != nil {
			return err
		}
	}
	filter, err := a.OpenText(s, string(a.File))
	if err != nil {
		return err
	}
	set, err := setOf(filter, string(a.File))
	if err != nil {
		return err
	}
	if inPlace {
		set.Clear() // what the file has by then is merged when the keys are read
	}
	if err := a.readAll(s, a.Keys, hashing(set.Format()), func(c *records.Chunk) { set.AddBatch(c.Hashed) }); err != nil {
		return err
	}
	if inPlace {
		return s.Outputs().Update(string(a.File), func(now []byte) ([]byte, error) {
			all, bare, err := a.addTo(now, set)
			if err != nil {
				return nil, err
			}
			warnIfFull(s, string(a.File), all)
			return cli.EncodeFilter(all, bare)
		})
	}
	warnIfFull(s, string(a.Output), set)
	encoded, err := cli.EncodeFilter(set, !filter.IsFile)
	if err != nil {
		return err
	}
	return s.Outputs().WriteBytes(string(a.Output), encoded)
}

// sameFile reports whether two names lead to one file.
func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

// addTo returns the filter in a file, or in bare bytes, with the keys of a set added.
func (a *addCommand) addTo(file []byte, keys *bloom.Set) (set *bloom.Set, bare bool, err error) {
	filter, err := a.Options().Open(string(a.File), file)
	if err == nil {
		err = filter.CheckKeys(show.Name(a.File), "the keys here are", bloom.KindText)
	}
	if err != nil {
		return nil, false, err
	}
	if set, err = setOf(filter, string(a.File)); err != nil {
		return nil, false, err
	}
	if err := set.Merge(keys); err != nil {
		return nil, false, fmt.Errorf("%s: a different filter replaced the file while keys were read: %w", show.Name(a.File), filterfile.WithoutPrefix(err))
	}
	return set, !filter.IsFile, nil
}

func warnIfFull(s *cli.Streams, name string, set *bloom.Set) {
	const mostFill = 0.6 // at 50 %, a filter has the keys that it was made for
	stats := set.Stats()
	if fill := float64(stats.SetBits) / float64(stats.Bits); fill > mostFill {
		s.Warn(name, fmt.Sprintf("%.3g %% of the bits are set, and %.3g %% of absent keys are expected to be false positives: build a larger filter", 100*fill, 100*stats.FalsePositiveRate))
	}
}

// setOf returns a set of a filter's keys, to add to.
func setOf(filter filterfile.Filter, name string) (*bloom.Set, error) {
	file, err := filter.MarshalBinary() // which has the number of keys
	if err != nil {
		return nil, err
	}
	set := new(bloom.Set)
	if err := set.UnmarshalBinary(file); err != nil {
		return nil, fmt.Errorf("%s: %w", show.Name(name), filterfile.WithoutPrefix(err))
	}
	return set, nil
}
