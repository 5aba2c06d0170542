package main

import (
	"errors"
	"os"
	"runtime"
	"sync"

	"github.com/lanebloom/bloom"
)

type buildCommand struct {
	formatFlag
	linesFlag
	BitsPerKey *int     `xor:"size" placeholder:"N" help:"Bits per key (10)."`
	Rate       *float64 `xor:"size" placeholder:"P" help:"False-positive rate to stay under, such as 0.01."`
	Output     string   `short:"o" placeholder:"FILE" help:"Write the filter here, not to standard output."`
	Keys       []string `arg:"" optional:"" name:"keys" help:"Files of keys, one per line (standard input)."`
}

func (b *buildCommand) Run(s *streams) error {
	format, err := b.parse()
	if err != nil {
		return err
	}
	if b.Output == "" && isTerminal(s.out) {
		return errors.New("a filter is not for a terminal: name a file with -o")
	}
	columns, n, err := b.hashKeys(s, format)
	if err != nil {
		return err
	}
	policy, err := b.policy(format, n)
	if err != nil {
		return err
	}
	encoded, err := encode(policy, columns, n)
	if err != nil {
		return err
	}
	if b.Output == "" {
		_, err = s.out.Write(encoded)
		return err
	}
	return writeFile(b.Output, encoded)
}

// hashKeys reads all keys and keeps their hashes: how many there are decides
// the size of the filter.
func (b *buildCommand) hashKeys(s *streams, format bloom.Format) (columns []bloom.Keys, n int, err error) {
	progress, done := bytesBar(s, "reading keys", b.Keys)
	defer done()
	err = eachInput(s, b.Keys, func(f *os.File) error {
		return pipeline(f, b.delimiter(), progress,
			func(c *chunk) { c.hashed = bloom.Bytes(c.lines).Hashed(format) },
			func(c *chunk) error {
				columns = append(columns, c.hashed)
				n += c.hashed.Len()
				return nil
			})
	})
	return columns, n, err
}

func (b *buildCommand) policy(format bloom.Format, n int) (bloom.Policy, error) {
	switch {
	case b.Rate != nil:
		return bloom.PolicyFor(format, n, *b.Rate)
	case b.BitsPerKey == nil:
		return bloom.Policy{Format: format, BitsPerKey: 10}, nil
	case *b.BitsPerKey < 1:
		return bloom.Policy{}, errors.New("--bits-per-key must be at least 1")
	}
	return bloom.Policy{Format: format, BitsPerKey: *b.BitsPerKey}, nil
}

// encode builds the filter of n hashed keys: on every core a part of the keys
// in a set of the whole size, as far as memory allows, to be merged.
func encode(policy bloom.Policy, columns []bloom.Keys, n int) ([]byte, error) {
	if n == 0 {
		return policy.AppendFilter(nil, bloom.Keys{}), nil // some sets have room for a key at least
	}
	const memory = 64 << 20 // bytes of all sets
	size := max(1, n/8*policy.BitsPerKey)
	parts := max(1, min(runtime.GOMAXPROCS(0), memory/size))
	sets := make([]*bloom.Set, parts)
	for i := range sets {
		var err error
		if sets[i], err = policy.NewSet(n); err != nil {
			return nil, err
		}
	}
	var group sync.WaitGroup
	for i, set := range sets {
		group.Go(func() {
			for j := i; j < len(columns); j += parts {
				set.AddBatch(columns[j])
			}
		})
	}
	group.Wait()
	for _, set := range sets[1:] {
		if err := sets[0].Merge(set); err != nil {
			return nil, err
		}
	}
	return sets[0].MarshalBinary()
}
