package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/distinct"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

type buildCommand struct {
	Format *cli.Format `placeholder:"NAME" help:"Format of the filter: ${formats} (default ${default_format})."`
	keysFlags
	cli.Size
	Memory *cli.ByteSize `placeholder:"SIZE" help:"Limit the memory. Instead of keeping the hashes of all keys, start with a filter of this size, such as 1GiB, and halve it while the rate allows."`
	Raw    bool          `help:"Write the bare bytes that a storage engine reads, without a header."`
	Output cli.Output    `short:"o" placeholder:"FILE" help:"Write the filter to this file instead of standard output."`
	Keys   []cli.Input   `arg:"" optional:"" default:"-" name:"keys" help:"Files of keys, one per line (default: standard input)."`
}

// Help returns the text that bloom build --help prints below the flags.
func (b *buildCommand) Help() string {
	return inputsHelp + `Size: The filter is sized for the number of different keys. The file starts with a header that contains the format, the number of keys and checksums, so the other commands recognise it.
In the formats leveldb and pebble, whose hashes have 32 bits, numeric keys can have a far higher false-positive rate. To measure the rate of your keys, use bloom inspect --absent.

` + outputfile.Help
}

func (b *buildCommand) Run(s *cli.Streams) error {
	format, err := cli.BuiltFormat(b.Format, b.Raw, bloom.Default)
	if err != nil {
		return err
	}
	if err := s.RefuseTerminal(b.Output); err != nil {
		return err
	}
	filter, err := b.filter(s, format)
	if err != nil {
		return err
	}
	if filter, err = filter.WithKeyKind(bloom.KindText); err != nil {
		return err
	}
	encoded, err := cli.EncodeFilter(filter, b.Raw)
	if err != nil {
		return err
	}
	if text := filterfile.Advice(format); text != "" && !b.Raw {
		s.Say("warning: %s", text)
	}
	return s.WriteFilter(b.Output, encoded)
}

// filter reads all keys and returns their filter.
func (b *buildCommand) filter(s *cli.Streams, format bloom.Format) (*bloom.Filter, error) {
	if b.Memory != nil {
		return b.fold(s, format)
	}
	// The number of different keys decides the size of the filter, so all are read first.
	var columns []bloom.Keys
	var different distinct.Keys
	hash := hashing(format)
	err := b.readAll(s, b.Keys,
		func(c *records.Chunk) {
			hash(c)
			c.IDs = distinct.IDs(c.IDs[:0], c.Keys)
		},
		func(c *records.Chunk) {
			columns = append(columns, c.Hashed)
			different.Add(c.IDs)
		})
	if err != nil {
		return nil, err
	}
	n := different.Count()
	policy, err := b.Policy(format, n)
	if err != nil {
		return nil, err
	}
	return build(policy, columns, n)
}

// fold is filter within --memory: it adds the keys to a set of that size as they come, and keeps no hashes. Then it halves the set
// while the rate allows.
func (b *buildCommand) fold(s *cli.Streams, format bloom.Format) (*bloom.Filter, error) {
	set, policy, err := b.foldable(format)
	if err != nil {
		return nil, err
	}
	n := 0
	err = b.readAll(s, b.Keys, hashing(format), func(c *records.Chunk) {
		set.AddBatch(c.Hashed)
		n += c.Hashed.Len()
	})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return policy.NewBuilder().Filter(), nil
	}
	wanted := policy.FalsePositiveRate(n)
	if b.Rate != nil {
		wanted = float64(*b.Rate)
	}
	rate := func() float64 {
		stats := set.Stats()
		if stats.KeysUnknown {
			return 1
		}
		return format.FalsePositiveRate(min(int(stats.Keys), n), stats.Bits, stats.Probes) // keys that came twice count once
	}
	if rate() > wanted {
		if b.Rate != nil {
			if _, err := b.Policy(format, n); err != nil {
				return nil, err // no memory is enough
			}
		}
		return nil, fmt.Errorf("--memory: %d keys need more than %s for a rate of %.2g %%", n, humanize.IBytes(uint64(*b.Memory)), 100*wanted)
	}
	if _, err := set.Fold(wanted); err != nil {
		return nil, filterfile.WithoutPrefix(err)
	}
	return set.Filter(), nil
}

// foldable returns the set that --memory has room for, and its policy.
func (b *buildCommand) foldable(format bloom.Format) (set *bloom.Set, policy bloom.Policy, err error) {
	if *b.Memory < 4<<10 {
		return nil, policy, errors.New("--memory must be at least 4KiB")
	}
	// How many keys there are hardly changes the bits per key of a rate, but many may have equal hashes.
	for some := 100_000; some > 100; some /= 10 {
		if policy, err = b.Policy(format, some); !errors.Is(err, bloom.ErrRate) {
			break
		}
	}
	if err != nil {
		return nil, policy, err
	}
	keys := float64(*b.Memory) * 8 / float64(max(1, policy.BitsPerKey))
	for keys *= 8. / 9; ; keys /= 2 { // a set that can be halved takes up to an eighth more, and NoriCrate's twice as much
		if set, err = policy.NewFoldable(int(min(keys, math.MaxInt>>10))); err != nil {
			return nil, policy, fmt.Errorf("--memory: %w", filterfile.WithoutPrefix(err))
		}
		if keys < 2 || cli.ByteSize(len(set.Bytes())) <= *b.Memory {
			return set, policy, nil
		}
	}
}

// build returns the filter of hashed keys, n of them different. Every core adds a part of the keys to its own
// set of the whole size, and then the sets are merged. Memory bounds the number of sets.
func build(policy bloom.Policy, columns []bloom.Keys, n int) (*bloom.Filter, error) {
	if n == 0 {
		return policy.NewBuilder().Filter(), nil // a set would have room for one key in some formats
	}
	const memory = 64 << 20 // bytes of all sets
	size := max(1, uint64(n)/8*uint64(policy.BitsPerKey))
	parts := max(1, min(runtime.GOMAXPROCS(0), int(memory/size)))
	sets := make([]*bloom.Set, parts)
	for i := range sets {
		var err error
		if sets[i], err = policy.NewSet(n); err != nil {
			return nil, filterfile.WithoutPrefix(err)
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
			return nil, filterfile.WithoutPrefix(err)
		}
	}
	return sets[0].Filter(), nil
}
