package main

import "fmt"

type testCommand struct {
	filterFlags
	File string   `arg:"" name:"filter" help:"The filter."`
	Keys []string `arg:"" name:"key" help:"Keys, each the bytes of an argument."`
}

// Help is what bloom test --help says, too.
func (*testCommand) Help() string {
	return `Each key has a line: maybe or no, a tab, and the key. The exit status is 0 if some may be in the filter, 1 if none, and 2 on an error.
` + filterHelp
}

func (t *testCommand) Run(s *streams) error {
	filter, err := t.openText(s, t.File)
	if err != nil {
		return err
	}
	some := false
	for _, key := range t.Keys {
		answer := "no"
		if filter.MayContainString(key) {
			answer, some = "maybe", true
		}
		if _, err := fmt.Fprintf(s.out, "%s\t%s\n", answer, shown(key)); err != nil {
			return err
		}
	}
	if !some {
		return errNone
	}
	return nil
}
