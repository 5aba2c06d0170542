package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type sizeCommand struct {
	Keys       *keyCount     `placeholder:"N" help:"Number of keys, such as 250000, 1e8 or 100M."`
	BitsPerKey *int          `placeholder:"N" help:"Bits per key, 1 to 10000."`
	Rate       *cli.Rate     `placeholder:"P" help:"Largest false-positive rate, such as 0.01 or 1%."`
	Memory     *cli.ByteSize `placeholder:"SIZE" help:"Largest size of the bit array, such as 64MiB."`
	JSON       bool          `name:"json" help:"Print JSON."`
}

// Help returns the text that bloom size --help prints below the flags.
func (*sizeCommand) Help() string {
	return `Numbers: Give any two of the four numbers. The command computes the other two for each format. If you do not give the number of keys, it prints the largest number of keys that is possible with the two given numbers. If you do not give the bits per key, it prints the fewest bits per key that reach the given rate. If you give neither the rate nor the bits per key, it prints the most bits per key that fit in the given memory.
The rate is the expected rate for keys with random hashes. In the formats leveldb and pebble, numeric keys can have a far higher false-positive rate. To measure the rate of your keys, use bloom inspect --absent.`
}

// keyCount is a number of keys.
type keyCount int

// UnmarshalText reads a number with commas, an exponent or a prefix: 250,000, 1e8, 100M.
func (c *keyCount) UnmarshalText(text []byte) error {
	digits, wrong := cli.WithoutCommas(string(text))
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		var unit string
		if n, unit, err = humanize.ParseSI(digits); unit != "" {
			err = errors.New("unknown unit")
		}
	}
	if wrong != nil || err != nil || n != math.Trunc(n) || n < 1 || n > answers.MostKeys {
		return fmt.Errorf("the number of keys must be a whole number, 1 to %.1g, such as 250000, 1e8 or 100M, not %q", float64(answers.MostKeys), text)
	}
	*c = keyCount(n)
	return nil
}

func (c *sizeCommand) Run(s *cli.Streams) error {
	question := answers.SizeQuestion{Keys: (*int)(c.Keys), BitsPerKey: c.BitsPerKey, Rate: (*float64)(c.Rate), Memory: (*uint64)(c.Memory)}
	if err := question.Check("--"); err != nil {
		return err
	}
	sizes := question.Sizes()
	if err := c.print(s, sizes); err != nil {
		return err
	}
	if !slices.ContainsFunc(sizes, func(size answers.Size) bool { return size.Error == "" }) {
		return errors.New("no format supports such a filter")
	}
	return nil
}

func (c *sizeCommand) print(s *cli.Streams, sizes []answers.Size) error {
	if c.JSON {
		return s.PrintJSON(map[string]any{"sizes": sizes})
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "format\tkeys\tbits per key\trate\tmemory")
	for _, size := range sizes {
		if size.Error != "" {
			fmt.Fprintf(w, "%s\tnone: %s\n", size.Format, size.Error)
			continue
		}
		keys, memory := "any number", "grows with the keys"
		if size.Keys != nil {
			keys, memory = humanize.Comma(int64(*size.Keys)), sizeWords(int(*size.Memory))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3g %%\t%s\n", size.Format, keys, size.BitsPerKey, 100**size.Rate, memory)
	}
	return w.Flush()
}
