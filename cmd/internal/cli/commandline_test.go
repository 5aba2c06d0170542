package cli

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// TestRate reads rates as people write them.
func TestRate(t *testing.T) {
	for text, want := range map[string]float64{
		"0.01": 0.01, "1%": 0.01, "1 %": 0.01, "1e-3": 1e-3, "50%": 0.5, "-1": -1, "1e-400": 0, "inf": math.Inf(1), "x": math.NaN(), "": math.NaN(), "%": math.NaN(), "1%%": math.NaN(),
	} {
		var r Rate
		err := r.UnmarshalText([]byte(text))
		if (err != nil) != math.IsNaN(want) || err == nil && float64(r) != want {
			t.Errorf("%q: %v, %v; want %v", text, r, err, want)
		}
	}
}

// TestCommandLines wants the errors of wrong command lines, or none.
func TestCommandLines(t *testing.T) {
	for want, args := range map[string][]string{
		"":                                   {"-v", "-v", "--many", "a", "--many", "b", "--one", "a"},
		"--one: the flag is given twice":     {"--one", "a", "-oa"},
		"--rate: the flag is given twice":    {"--rate", "1", "--rate=1"},
		"--pointer: the flag is given twice": {"--pointer=1", "--pointer=1"},
		"unknown flag -x":                    {"-x"},
		`--rate: the value is missing; if it is "-1", write --rate=-1`: {"--rate", "-1"},
		`--one: the value is missing; if it is "-v", write --one=-v`:   {"--one", "-v"},
	} {
		var grammar struct {
			V       bool   `short:"v"`
			One     string `short:"o"`
			Many    []string
			Rate    Rate
			Pointer *int
		}
		parser, err := kong.New(&grammar)
		if err != nil {
			t.Fatal(err)
		}
		line, err := parser.Parse(args)
		if err == nil {
			err = once(line)
		} else {
			err = explain(err)
		}
		if got := textOf(err); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestFormatsOfHelp wants the help to say that --format may be left out for exactly the formats whose bare bytes open without it.
func TestFormatsOfHelp(t *testing.T) {
	_, list, _ := strings.Cut(FilterHelp, "You may leave it out for ")
	list, _, _ = strings.Cut(list, ", because")
	named := strings.Split(strings.Replace(list, " and ", ", ", 1), ", ")
	var opened []string
	for _, f := range bloom.Formats() {
		if _, err := (filterfile.Options{}).Open("file", bloom.Policy{Format: f, BitsPerKey: 10}.AppendFilter(nil, bloom.Strings([]string{"a", "b"}))); err == nil {
			opened = append(opened, f.String())
		}
	}
	if !slices.Equal(named, opened) {
		t.Errorf("--format may be left out for %q, and the help names %q", opened, named)
	}
}
