package main

import (
	"errors"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
)

type filterCommand struct {
	Column string    `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	Keys   cli.Input `placeholder:"FILE" help:"Write the rows that have one of these keys, one per line or in a column of a table, and no others (- for standard input). There is no FILTER then."`
	keyFlags
	indexFlag
	trustFlag
	cli.FilterFlags
	Invert bool        `short:"v" help:"Write the other rows: those that are certainly not in the filter, or have none of the keys."`
	As     string      `enum:"parquet,csv,jsonl" default:"parquet" placeholder:"WHAT" help:"Write the rows as parquet, as csv with a header, or as jsonl, a line of JSON each (parquet)."`
	CSV    bool        `name:"csv" hidden:"" xor:"as" help:"The former name of --as=csv."`
	JSONL  bool        `name:"jsonl" hidden:"" xor:"as" help:"The former name of --as=jsonl."`
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the rows to this file. Without it, they must be text: --as=csv or --as=jsonl."`
	Args   []cli.Input `arg:"" name:"files" help:"The filter, unless there is --keys: of bloom-parquet build, or of the same column's type. Then the files to filter: Parquet files, or folders of them."`

	filter string   // file of the filter; "" with --keys
	inputs []string // files to filter
}

// Help is what bloom-parquet filter --help says, too.
func (f *filterCommand) Help() string {
	return `Rows are written with all of their columns, those of all files one after the other: the files must have the same columns, of which one is OPTIONAL if it is so in any file. The schema, the compression and the metadata are those of the first file. Columns that had Bloom filters get them. Floats, and decimals in bytes, get no bounds. FLOAT16 becomes bytes: a warning says so. A row whose key is null has no key: it is written only with -v.
With --keys, exactly the rows that have one of the keys are written. Row groups that cannot have a key, by their filters and bounds, are not read. ` + keysHelp + ` The keys 0 and NaN are those of all zeros and of all NaN.
Columns with the compression LZ4_RAW, LZ4 or LZO are refused. An integer outside of the bounds of its row group is an error: the file is damaged, or decoded wrongly.
With a filter, some rows pass whose keys were not added to it: false positives. The column must have the type of the column that the filter was built from: a filter knows bytes, and the number 1 has others as INT32, INT64 and text. If the filter's file says another kind of keys than the column has, that is an error.
Bare bytes that look like text, like a compressed file, like a Parquet file or like a filter of another format are refused unless --raw insists, and so are files of 0 bytes.
CSV and JSON have values as keys are written, numbers and booleans of JSON without quotes, and bytes that are not UTF-8 in hex after 0x in JSON. A null of CSV is empty, and an empty text is "". They are printed as they are found: after an error, the status is 2 and rows may be missing.
` + indexHelp + foldersHelp + outputfile.Help
}

// AfterApply takes the former names of --as.
func (f *filterCommand) AfterApply() error {
	switch {
	case (f.CSV || f.JSONL) && f.As != "parquet":
		return errors.New("--csv and --jsonl are former names of --as, and cannot be used with it")
	case f.CSV:
		f.As = "csv"
	case f.JSONL:
		f.As = "jsonl"
	}
	return nil
}

// Run writes the rows of the files that pass.
func (f *filterCommand) Run(s *cli.Streams) error { return read(s, f) }

// prepare divides the arguments, too.
func (f *filterCommand) prepare(*cli.Streams) (r reading, err error) {
	f.apply()
	f.filter, f.inputs = "", cli.Names(f.Args)
	switch {
	case f.Output == "" && f.As == "parquet":
		return r, errors.New("name the file to write with -o, or print the rows with --as=csv or --as=jsonl")
	case f.Keys == "" && f.keyFlags != keyFlags{}:
		return r, errFlags
	case f.Keys == "" && f.Index != "":
		return r, errors.New("--index is for --keys: a filter does not say which keys to look for")
	case f.Keys == "" && len(f.Args) < 2:
		return r, errors.New(`expected "<filter> <files> ...", or --keys and "<files> ..."`)
	case f.Keys == "":
		f.filter, f.inputs = f.inputs[0], f.inputs[1:]
	case f.Index != "" && f.Invert:
		return r, errors.New("--index is for the rows that have keys: with -v, every file is read")
	case f.Format != nil || f.Raw:
		return r, errors.New("--format and --raw are for a filter, and with --keys there is none")
	}
	if f.inputs, err = parquetFiles(f.inputs); err != nil {
		return r, err
	}
	r, err = f.reading(f.inputs, string(f.Keys)+f.filter) // one of both is empty
	r.output, r.none = string(f.Output), cli.ErrNone      // a file without rows
	return r, err
}
