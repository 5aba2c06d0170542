package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Rate is a false-positive rate: a share such as 0.01, or a percentage such as 1%.
type Rate float64

// UnmarshalText reads a rate. Whether a filter can have it is for the library to say.
func (r *Rate) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("a rate is a number such as 0.01 or 1%%, not %q", text)
	}
	if percent {
		value /= 100
	}
	*r = Rate(value)
	return nil
}

var (
	// unknownShort is kong's error for a flag of one letter that the command does not have. Any letter would be as near
	// as the one that it proposes.
	unknownShort = regexp.MustCompile(`^unknown flag -[^-,]`)

	// looksLikeFlag is kong's error for a value that begins as a flag does.
	looksLikeFlag = regexp.MustCompile(`^(--[^:]*): expected .* value but got "(.*)" \(.* flag\)`)
)

// Explain returns the error of a command line in other words.
func Explain(err error) error {
	if short := unknownShort.FindString(err.Error()); short != "" {
		return errors.New(short)
	}
	if found := looksLikeFlag.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("%s: the value is missing; if it is %q, write %s=%s", found[1], found[2], found[1], found[2])
	}
	return err
}

// Once returns an error for a command line that gives a flag several values, of which it takes one.
func Once(line *kong.Context) error {
	given := map[*kong.Flag]bool{}
	for _, part := range line.Path {
		flag := part.Flag
		if flag == nil || flag.IsBool() || flag.IsSlice() {
			continue
		}
		if given[flag] {
			return fmt.Errorf("--%s: the flag is there twice", flag.Name)
		}
		given[flag] = true
	}
	return nil
}
