// Command bloom builds Bloom filters in the formats of storage engines,
// filters streams of keys through them, and looks inside them.
package main

import (
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// commands is the command line.
type commands struct {
	Build   buildCommand   `cmd:"" help:"Build a filter from keys."`
	Filter  filterCommand  `cmd:"" help:"Print the lines that may be in a filter. Exits with status 0 if there are any, 1 if there are none, and 2 on an error."`
	Test    testCommand    `cmd:"" help:"Report for each key whether it may be in a filter."`
	Unique  uniqueCommand  `cmd:"" help:"Print each different line once, in the order of first occurrence, using little memory."`
	Merge   mergeCommand   `cmd:"" help:"Merge filters of the same shape into one."`
	Add     addCommand     `cmd:"" help:"Add keys to a filter."`
	Inspect inspectCommand `cmd:"" help:"Describe a filter: its fill, keys and false-positive rate."`
	Tables  tablesCommand  `cmd:"" help:"Show the filters in table files of LevelDB, RocksDB, Pebble and Badger, or find the tables that may contain given keys. With keys, exits with status 0 if there are any such tables, 1 if there are none, and 2 on an error."`
	Size    sizeCommand    `cmd:"" help:"Calculate two of these numbers from the other two: keys, bits per key, false-positive rate and memory."`
	Explore exploreCommand `cmd:"" help:"Serve a web page that shows how a filter works. Only this machine can open the page."`
	Bench   benchCommand   `cmd:"" help:"Compare the speed of the kernels with a plain loop on this machine."`
	Demo    demoCommand    `cmd:"" help:"Filter a stream of English words, and compare the speed of this library with a plain loop."`
	cli.Common
}

func main() { os.Exit(program().Run(cli.Standard("bloom"))) }

// program returns the command, as it is before it has read a command line.
func program() *cli.Program {
	return &cli.Program{
		Description: "Build and query Bloom filters in the formats of storage engines.",
		Commands:    &commands{},
		Examples:    examples,
		Groups:      groups,
		Vars:        kong.Vars{"formats": cli.FormatNames(" or "), "default_format": bloom.Default.String()},
		Words:       cli.Words{"format": strings.ReplaceAll(cli.FormatNames(" "), ",", ""), "missing": "error drop keep"},
		Folders:     tableFolders,
	}
}

// examples come first in the help of a command, and those of no name in that of all commands.
var examples = cli.Examples{
	"":           {"bloom build -o known.bloom known.txt", "bloom filter known.bloom stream.txt", "bloom help filter"},
	"build":      {"bloom build -o known.bloom known.txt", "bloom build --csv -f user --rate 0.1% -o users.bloom users.csv", "bloom build --match 'id=(\\w+)' -o ids.bloom access.log"},
	"filter":     {"bloom filter known.bloom stream.txt", "bloom filter -v --jsonl -f user.id known.bloom events.jsonl", "bloom filter --csv -f user --verify known.txt known.bloom orders.csv"},
	"test":       {"bloom test known.bloom anna", "bloom test known.bloom anna otto && echo known", "bloom test --match '(\\w+)@' known.bloom anna@example.com"},
	"unique":     {"bloom unique access.log > once.log", "bloom unique --seen crawled.bloom --jsonl -f url pages.jsonl", "bloom unique --verify access.log > once.log"},
	"merge":      {"bloom merge -o all.bloom monday.bloom tuesday.bloom", "bloom merge monday.bloom tuesday.bloom > all.bloom", "bloom merge -o week.bloom monday.bloom tuesday.bloom wednesday.bloom"},
	"add":        {"bloom add known.bloom more.txt", "bloom add --csv -f user -o more.bloom known.bloom users.csv", "bloom add known.bloom < more.txt"},
	"inspect":    {"bloom inspect known.bloom", "bloom inspect --absent others.txt known.bloom", "bloom inspect --json known.bloom"},
	"tables":     {"bloom tables db/", "bloom tables --key user00000042 db/", "bloom tables --keys wanted.txt db/"},
	"size":       {"bloom size --keys 100M --rate 1%", "bloom size --rate 0.1% --memory 64MiB", "bloom size --keys 1M --bits-per-key 10"},
	"explore":    {"bloom explore", "bloom explore known.bloom", "bloom explore --address 127.0.0.1:8080 known.bloom"},
	"bench":      {"bloom bench", "bloom bench --input known.txt --plot known.svg", "bloom bench --report > before.txt"},
	"demo":       {"bloom demo", "bloom demo --rounds 1000", "bloom demo > words.txt"},
	"completion": {"source <(bloom completion bash)", "bloom completion fish | source", "source <(bloom completion zsh)"},
	"help":       {"bloom help", "bloom help filter", "bloom help build"},
}

// groups are the titles under which the help of a command shows flags together.
var groups = cli.Titles{
	"Records:":       {"null", "null-data", "crlf", "csv", "jsonl", "header", "max-record"},
	"Fields:":        {"field", "delimiter", "match", "missing"},
	"Decompression:": {"no-decompress"},
	"Output:":        {"output", "invert", "repeated", "quiet", "count", "all", "json", "list", "plot", "picture"},
}
