package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type testCommand struct {
	cli.FilterFlags
	Match *records.Matcher `placeholder:"REGEX" help:"The keys are what group 1 of this expression (RE2) matches in an argument, or the whole match if it has no group."`
	All   bool             `help:"With --match: all keys of an argument must be in the filter, not just one."`
	File  cli.Input        `arg:"" name:"filter" help:"The filter (- is standard input)."`
	Keys  []string         `arg:"" name:"key" help:"The keys: the bytes of each argument."`
}

// Help is what bloom test --help says, too.
func (*testCommand) Help() string {
	return `Lines: Each key has a line: "maybe" or "no", a tab, and the key. The exit status is 0 if some key may be in the filter, 1 if none may, and 2 on an error.

` + cli.FilterHelp
}

func (t *testCommand) Run(s *cli.Streams) error {
	filter, err := t.OpenText(s, string(t.File))
	if err != nil {
		return err
	}
	if t.All && t.Match == nil {
		return errors.New("--all is for --match, which finds several keys in an argument")
	}
	some := false
	for _, key := range t.Keys {
		if t.Match != nil && len(t.Match.AppendKeys(nil, []byte(key))) == 0 {
			s.Warn(key, fmt.Sprintf("--match %q matches nothing in it", t.Match.Expression))
		}
		answer := "no"
		if t.mayContain(filter, key) {
			answer, some = "maybe", true
		}
		if _, err := fmt.Fprintf(s.Out, "%s\t%s\n", answer, show.Name(key)); err != nil {
			return err
		}
	}
	if !some {
		return cli.ErrNone
	}
	return nil
}

// mayContain tells whether some key in an argument may be in the filter or, with --all, every one.
func (t *testCommand) mayContain(filter filterfile.Filter, argument string) bool {
	if t.Match == nil {
		return filter.MayContainString(argument)
	}
	keys := t.Match.AppendKeys(nil, []byte(argument))
	isAbsent := func(key []byte) bool { return !filter.MayContain(key) }
	if t.All {
		return len(keys) > 0 && !slices.ContainsFunc(keys, isAbsent)
	}
	return slices.ContainsFunc(keys, filter.MayContain)
}
