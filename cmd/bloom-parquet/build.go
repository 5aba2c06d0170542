package main

import (
	"errors"
	"fmt"
	"iter"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

type buildCommand struct {
	Column string      `required:"" placeholder:"NAME" help:"Column that contains the keys. Separate the names of nested columns with dots."`
	Format *cli.Format `placeholder:"NAME" help:"Format of the filter: ${formats} (parquet)."`
	cli.Size
	Keys cli.Input `placeholder:"FILE" help:"Build the filter from the keys in this file instead of from Parquet files (- is standard input). The keys are one per line or, with --keys-column, in a column of a table."`
	Like cli.Input `placeholder:"FILE" help:"Parquet file in which --column has the type of the keys in the --keys file."`
	keyFlags
	trustFlag
	Raw    bool        `help:"Write the bare bytes of the format, without a header."`
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the filter to this file instead of standard output."`
	Files  []cli.Input `arg:"" optional:"" help:"Parquet files, or folders that contain Parquet files."`
}

// Help returns the text that bloom-parquet build --help prints below the flags.
func (b *buildCommand) Help() string {
	return `Bytes: A key is the bytes of a value in Parquet's PLAIN encoding, without the length. For example, an integer is 4 or 8 bytes, little-endian. So a filter works only for columns of the same type. The filter file records this type, and the command "bloom filter" accepts the file only if the keys come from a string column. Nulls are not keys.

Size: The filter is sized for the number of distinct values plus 5 %. The formats leveldb and pebble use 32-bit hashes, so their false-positive rate can be much higher than requested if the keys are numbers.

` + keysHelp + ` In build, --keys requires --like, which names a Parquet file whose column has the type of the keys.

` + foldersHelp + `

` + outputfile.Help
}

// Run writes the filter of all files.
func (b *buildCommand) Run(s *cli.Streams) error { return read(s, b) }

func (b *buildCommand) prepare(s *cli.Streams) (r reading, err error) {
	b.apply()
	if b.Files, err = parquetFiles(b.Files); err != nil {
		return r, err
	}
	inputs := cli.Names(b.Files)
	switch {
	case (b.Keys == "") != (b.Like == ""):
		return r, errors.New("--keys and --like must be used together: --like names a Parquet file whose column has the type of the keys")
	case b.Keys != "" && len(b.Files) > 0:
		return r, fmt.Errorf("use either --keys or Parquet files, not both: %s", b.Files[0])
	case b.Keys != "":
		if inputs, err = parquetFiles([]string{string(b.Like), string(b.Keys)}); err != nil {
			return r, err
		}
		b.Like = cli.Input(inputs[0])
	case len(b.Files) == 0:
		return r, errors.New(`expected "<files> ...", or --keys and --like`)
	case b.keyFlags != keyFlags{}:
		return r, errFlags
	}
	return reading{inputs: inputs, output: string(b.Output)}, s.RefuseTerminal(b.Output)
}

// work writes the filter to standard output.
func (b *buildCommand) work(s *cli.Streams) error {
	format, err := cli.BuiltFormat(b.Format, b.Raw, bloom.Parquet)
	if err != nil {
		return err
	}
	if b.BitsPerKey != nil {
		if err := cli.CheckBitsPerKey(*b.BitsPerKey); err != nil {
			return err
		}
	}
	read := b.hashColumns
	if b.Keys != "" {
		read = b.hashKeys
	}
	columns, kind, err := read(s, format)
	if err != nil {
		return err
	}
	counter := bloom.Policy{Format: format, BitsPerKey: 1}.NewBuilder() // nulls do not count
	for _, hashed := range columns {
		counter.AddBatch(hashed)
	}
	filter, err := b.filterOf(format, columns, counter.Len())
	if err != nil {
		return err
	}
	if filter, err = filter.WithKeyKind(kind); err != nil {
		return err
	}
	if text := filterfile.Advice(format); text != "" && !b.Raw {
		s.Say("warning: %s", text)
	}
	encoded, err := cli.EncodeFilter(filter, b.Raw)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(encoded)
	return err
}

// filterOf returns the filter of n hashed keys. If many of them are equal, it has the size for the different
// ones: the set bits of a larger filter give their number to within 5 %.
func (b *buildCommand) filterOf(format bloom.Format, columns []bloom.Keys, n int) (*bloom.Filter, error) {
	policy, err := b.Policy(format, n)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return policy.NewBuilder().Filter(), nil // a set would have room for one key in some formats
	}
	set, err := policy.NewSet(n)
	if err != nil {
		return nil, errors.New(withoutPrefix(err))
	}
	for _, column := range columns {
		set.AddBatch(column)
	}
	const few, margin = 1000, 1.05
	if stats := set.Stats(); n > few && !stats.KeysUnknown && stats.Keys*margin*margin < float64(n) {
		return b.filterOf(format, columns, int(stats.Keys*margin)+1)
	}
	return set.Filter(), nil
}

// hashKeys returns the hashes of the keys of --keys, and their kind.
func (b *buildCommand) hashKeys(s *cli.Streams, format bloom.Format) (columns []bloom.Keys, kind bloom.KeyKind, err error) {
	t, err := typeIn(string(b.Like), b.Column)
	if err != nil {
		return nil, "", err
	}
	list, err := b.read(s, string(b.Keys))
	if err != nil {
		return nil, "", err
	}
	values, err := list.values(t)
	if err != nil {
		return nil, "", errors.New(withoutPrefix(err))
	}
	keys := bloom.Bytes(values)
	return []bloom.Keys{keys.Hashed(format)}, t.KeyKind(), nil
}

// hashColumns returns the hashes of all keys, and their kind.
func (b *buildCommand) hashColumns(s *cli.Streams, format bloom.Format) (columns []bloom.Keys, kind bloom.KeyKind, err error) {
	progress, done := s.Bar("reading keys", int64(len(b.Files)))
	defer done()
	err = eachRowGroup(b.open(&kind), func(g *rowGroup, then handOn) error {
		hashes, err := g.hashesOf(format, g.column.Type(), g.leaf, g.group)
		if err != nil {
			return g.inGroup(g.group, err)
		}
		return then(func() error {
			columns = append(columns, hashes...)
			if g.last {
				progress(1)
			}
			return nil
		})
	})
	return columns, kind, err
}

// open yields the files, and sets the kind of their keys. The columns must have one: the bytes of equal
// values differ between kinds.
func (b *buildCommand) open(first *bloom.KeyKind) iter.Seq2[*parquetFile, error] {
	return func(yield func(*parquetFile, error) bool) {
		for i, name := range cli.Names(b.Files) {
			file, err := openValues(name, b.Column)
			if err == nil {
				kind := file.column.Type().KeyKind()
				if i == 0 {
					*first = kind
				} else if kind != *first {
					err = fmt.Errorf("%s: the keys of column %s are of the kind %s, but the keys of %s are of the kind %s", name, b.Column, kind, b.Files[0], *first)
				}
			}
			if !yield(file, err) {
				return
			}
		}
	}
}
