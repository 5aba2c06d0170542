package cli

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/alecthomas/kong"
)

var (
	// unknownShort is kong's error for a flag of one letter that the command does not have. Any letter would
	// be as near as the one that it proposes.
	unknownShort = regexp.MustCompile(`^unknown flag -[^-,]`)

	// looksLikeFlag is kong's error for a value that begins as a flag does.
	looksLikeFlag = regexp.MustCompile(`^(--[^:]*): expected .* value but got "(.*)" \(.* flag\)`)
)

// explain returns the error of a command line in other words.
func explain(err error) error {
	if short := unknownShort.FindString(err.Error()); short != "" {
		return errors.New(short)
	}
	if found := looksLikeFlag.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("%s: the value is missing; if it is %q, write %s=%s", found[1], found[2], found[1], found[2])
	}
	return err
}

// once returns an error for a command line that gives several values to a flag of one value.
func once(line *kong.Context) error {
	given := map[*kong.Flag]bool{}
	for _, part := range line.Path {
		flag := part.Flag
		if flag == nil || flag.IsBool() || flag.IsSlice() {
			continue
		}
		if given[flag] {
			return fmt.Errorf("--%s: the flag is given twice", flag.Name)
		}
		given[flag] = true
	}
	return nil
}
