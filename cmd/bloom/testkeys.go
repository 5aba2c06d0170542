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
	Match *records.Matcher `placeholder:"REGEX" help:"Use every match of this regular expression (RE2) in an argument as a key. If the expression has a group, only the text of group 1 is the key."`
	All   bool             `help:"If --match finds several keys in an argument, require every key to be a hit, not just one."`
	File  cli.Input        `arg:"" name:"filter" help:"The filter (- means standard input)."`
	Keys  []string         `arg:"" name:"key" help:"The keys to look up."`
}

// Help returns the text that bloom test --help prints below the flags.
func (*testCommand) Help() string {
	return `Lines: For each argument, the command prints "maybe" or "no", a tab, and the argument. The exit status is 0 if any key may be in the filter, 1 if every key is absent, and 2 on an error.

` + cli.FilterHelp
}

func (t *testCommand) Run(s *cli.Streams) error {
	filter, err := t.OpenText(s, string(t.File))
	if err != nil {
		return err
	}
	if t.All && t.Match == nil {
		return errors.New("--all needs --match, which may find several keys in an argument")
	}
	some := false
	for _, key := range t.Keys {
		if t.Match != nil && len(t.Match.AppendKeys(nil, []byte(key))) == 0 {
			s.Warn(key, fmt.Sprintf("--match %q matches nothing in this argument", t.Match.Expression))
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
