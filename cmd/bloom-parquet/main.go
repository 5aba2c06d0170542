// Command bloom-parquet is for Parquet files what command bloom is for lines of text: it
// finds the row groups that may have some keys, builds filters from columns, and drops the rows
// whose keys are not in a filter.
package main

import (
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// commands is the command line.
type commands struct {
	Prune   pruneCommand   `cmd:"" help:"Print the row groups that may contain some of the keys. The exit status is 0 if there are such row groups, 1 if there are none, and 2 on an error."`
	Inspect inspectCommand `cmd:"" help:"Print the columns of Parquet files, with their filters and bounds."`
	Build   buildCommand   `cmd:"" help:"Build a filter from a column."`
	Embed   embedCommand   `cmd:"" help:"Add Bloom filters to Parquet files without rewriting their pages."`
	Index   indexCommand   `cmd:"" help:"Collect the filters of one column from many Parquet files in one index file, which prune and filter can read instead of those files."`
	Filter  filterCommand  `cmd:"" help:"Write the rows whose keys are in a list or may be in a filter. The exit status is 0 if there are such rows, 1 if there are none, and 2 on an error."`
	cli.Common
}

// examples come first in the help of a command, and those of no name in that of all commands.
var examples = cli.Examples{
	"":           {"bloom-parquet filter --column user --keys ids.txt --as csv orders.parquet", "bloom-parquet inspect orders.parquet", "bloom-parquet help filter"},
	"prune":      {"bloom-parquet prune --column customer wanted.txt orders/", "bloom-parquet prune --column at --json times.txt orders.parquet", "bloom-parquet prune --column id --index orders.index wanted.txt orders/"},
	"inspect":    {"bloom-parquet inspect orders.parquet", "bloom-parquet inspect --column customer --json orders/", "bloom-parquet inspect --column customer orders/"},
	"build":      {"bloom-parquet build --column id --rate 0.001 -o ids.bloom orders.parquet", "bloom-parquet build --column id --keys ids.txt --like a.parquet -o ids.bloom", "bloom-parquet build --column id --format rocksdb --raw -o ids.raw orders/"},
	"embed":      {"bloom-parquet embed --column id --in-place orders.parquet", "bloom-parquet embed --column id,customer --rate 0.1% -o b.parquet a.parquet", "bloom-parquet embed --column id --dry-run orders/"},
	"index":      {"bloom-parquet index --column customer -o orders.index orders/", "bloom-parquet index --column order.id -o ids.index 2024/ 2025/", "bloom-parquet index --column customer --rate 0.1% -o orders.index a.parquet"},
	"filter":     {"bloom-parquet filter --column id --keys ids.txt -o found.parquet orders/", "bloom-parquet filter --column order_id -v --as csv ids.bloom lines.parquet", "bloom-parquet filter --column id --keys users.csv -f user --as jsonl orders/"},
	"completion": {"source <(bloom-parquet completion bash)", "bloom-parquet completion fish | source", "source <(bloom-parquet completion zsh)"},
	"help":       {"bloom-parquet help", "bloom-parquet help filter", "bloom-parquet help prune"},
}

func main() {
	s := cli.Standard("bloom-parquet")
	if isApart() {
		s.Err = becomeApart()
	}
	os.Exit(run(s))
}

// program returns the command, as it is before it has read a command line.
func program() *cli.Program {
	p := &cli.Program{
		Description: "Bloom filters of Parquet files.",
		Commands:    &commands{},
		Examples:    examples,
		Vars:        kong.Vars{"formats": cli.FormatNames(" or ")},
		Words:       cli.Words{"format": strings.ReplaceAll(cli.FormatNames(" "), ",", ""), "missing": "error drop"},
		Folders:     parquetFolders,
	}
	if isApart() { // the other process has checked the command line
		p.Line = func(s *cli.Streams, line *kong.Context) error { return ofOutput(line.Run(s), s.Out, cli.Outputs(line)) }
	}
	return p
}

// run runs the command line and returns the exit status.
func run(s *cli.Streams) int {
	status := program().Run(s)
	if isApart() && status == cli.ExitError { // an error of its own, and not a crash
		return exitApart
	}
	return status
}
