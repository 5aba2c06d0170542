package main

import (
	"errors"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type filterCommand struct {
	Column string    `required:"" placeholder:"NAME" help:"Column that contains the keys. Separate the names of nested columns with dots."`
	Keys   cli.Input `placeholder:"FILE" help:"Write exactly the rows that have one of the keys in this file (- is standard input), and do not read a filter. The keys are one per line or, with --keys-column, in a column of a table."`
	keyFlags
	indexFlag
	trustFlag
	cli.FilterFlags
	Invert bool        `short:"v" help:"Write the other rows instead: rows that are certainly not in the filter, or rows that have none of the keys."`
	As     string      `enum:"parquet,csv,jsonl" default:"parquet" placeholder:"WHAT" help:"Output format: parquet, csv with a header, or jsonl with one JSON object per line (parquet)."`
	Output cli.Output  `short:"o" placeholder:"FILE" help:"Write the rows to this file. Without -o, the rows go to standard output, and --as must be csv or jsonl."`
	Args   []cli.Input `arg:"" name:"files" help:"Parquet files to filter, or folders that contain Parquet files. Without --keys, the first file is the filter: a file that bloom-parquet build wrote, or bare bytes."`

	filter string   // file of the filter; "" with --keys
	inputs []string // files to filter
}

// Help returns the text that bloom-parquet filter --help prints below the flags.
func (f *filterCommand) Help() string {
	return `Rows: filter writes rows with all their columns, one file after the other. All files must have the same columns. If a column is OPTIONAL in any file, it is OPTIONAL in the output. The schema, the compression and the metadata come from the first file. Columns that had Bloom filters get new filters. A row whose key is null is written only with -v.

` + keysHelp + `

Filters: Without --keys, the first file must be a filter, and some of the written rows may be false positives. The filter must have been built from a column of the same type, because the number 1 has different bytes as INT32, as INT64 and as text. If bare bytes look like text or like a different kind of file, filter refuses them unless you use --raw.

Output: The -o file is written atomically, and must not be one of the input files. Without -o, rows are printed as they are found. So after an error, the exit status is 2 and some rows may be missing. With --as csv and --as jsonl, values are written in the same form as keys. In CSV, a null is an empty field, and an empty string is "".

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
		return r, errors.New("name the output file with -o, or print the rows with --as=csv or --as=jsonl")
	case f.Keys == "" && f.keyFlags != keyFlags{}:
		return r, errFlags
	case f.Keys == "" && f.Index != "":
		return r, errors.New("--index requires --keys, because a filter does not contain the keys to look up")
	case f.Keys == "" && len(f.Args) < 2:
		return r, errors.New(`expected "<filter> <files> ...", or --keys and "<files> ..."`)
	case f.Keys == "":
		f.filter, f.inputs = f.inputs[0], f.inputs[1:]
	case f.Index != "" && f.Invert:
		return r, errors.New("--index cannot be used with -v, which reads every file")
	case f.Format != nil || f.Raw:
		return r, errors.New("--format and --raw describe a filter, and cannot be used with --keys")
	}
	if f.inputs, err = parquetFiles(f.inputs); err != nil {
		return r, err
	}
	r, err = f.reading(f.inputs, string(f.Keys)+f.filter) // one of both is empty
	r.output, r.none = string(f.Output), cli.ErrNone      // a file without rows
	return r, err
}
