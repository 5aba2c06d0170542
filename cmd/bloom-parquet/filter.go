package main

import (
	"errors"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type filterCommand struct {
	Column string    `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested columns."`
	Keys   cli.Input `placeholder:"FILE" help:"Write exactly the rows that have one of these keys, one per line or in a column of a table (- is standard input). Leave out the filter then."`
	keyFlags
	indexFlag
	trustFlag
	cli.FilterFlags
	Invert bool        `short:"v" help:"Write the other rows: rows that are certainly not in the filter, or have none of the keys."`
	As     string      `enum:"parquet,csv,jsonl" default:"parquet" placeholder:"WHAT" help:"Write the rows as parquet, as csv with a header, or as jsonl, a line of JSON each (parquet)."`
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the rows to this file. Without it, they must be text: --as=csv or --as=jsonl."`
	Args   []cli.Input `arg:"" name:"files" help:"The filter, unless --keys is given: a file of bloom-parquet build, or bare bytes. Then the files to filter: Parquet files, or folders of them."`

	filter string   // file of the filter; "" with --keys
	inputs []string // files to filter
}

// Help is what bloom-parquet filter --help says, too.
func (f *filterCommand) Help() string {
	return `Rows: They are written with all of their columns, one file after the other. The files must have the same columns; a column that is OPTIONAL in any file is OPTIONAL in the output. The schema, the compression and the metadata come from the first file. Columns that had Bloom filters get new ones. A row whose key is null is written only with -v.

` + keysHelp + `

Filters: Without --keys, the first file is a filter, and some rows are false positives. The column must have the type of the column from which the filter was built, because the number 1 has different bytes as INT32, as INT64 and as text. Bare bytes that look like text or like another file are refused; --raw accepts them.

Output: The file of -o appears whole or not at all, and may not be an input. With --as csv and --as jsonl, values are written in the same way as keys, and rows are printed as they are found: after an error, the exit status is 2 and rows may be missing. A null of CSV is empty, and an empty text is "".

` + foldersHelp + indexHelp
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
		return r, errors.New("--index is for --keys: a filter does not contain the keys to look up")
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
