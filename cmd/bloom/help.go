package main

import (
	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// examples come first in the help of a command, and those of no name in that of all commands.
var examples = cli.Examples{
	"":           {"bloom build -o known.bloom known.txt", "bloom filter known.bloom stream.txt"},
	"build":      {"bloom build -o known.bloom known.txt", "bloom build --csv -f user --rate 0.1% -o users.bloom users.csv"},
	"filter":     {"bloom filter known.bloom stream.txt", "bloom filter -v --jsonl -f user.id known.bloom events.jsonl"},
	"test":       {"bloom test known.bloom anna", "bloom test known.bloom anna otto && echo known"},
	"unique":     {"bloom unique access.log > once.log", "bloom unique --seen crawled.bloom --jsonl -f url pages.jsonl"},
	"merge":      {"bloom merge -o all.bloom monday.bloom tuesday.bloom", "bloom merge monday.bloom tuesday.bloom > all.bloom"},
	"add":        {"bloom add known.bloom more.txt", "bloom add --csv -f user -o more.bloom known.bloom users.csv"},
	"inspect":    {"bloom inspect known.bloom", "bloom inspect --absent others.txt known.bloom"},
	"tables":     {"bloom tables db/", "bloom tables --key user00000042 db/"},
	"size":       {"bloom size --keys 100M --rate 1%", "bloom size --rate 0.1% --memory 64MiB"},
	"explore":    {"bloom explore", "bloom explore known.bloom"},
	"bench":      {"bloom bench", "bloom bench --input known.txt --plot known.svg"},
	"demo":       {"bloom demo", "bloom demo --rounds 1000"},
	"completion": {"source <(bloom completion bash)", "bloom completion fish | source"},
	"help":       {"bloom help", "bloom help filter"},
}

// groups are the flags that the help of a command shows together.
var groups = []struct {
	title string
	flags []string
}{
	{"Records:", []string{"null", "null-data", "crlf", "csv", "jsonl", "header", "max-record"}},
	{"Fields:", []string{"field", "delimiter", "match", "missing"}},
	{"Decompression:", []string{"no-decompress"}},
	{"Output:", []string{"output", "invert", "repeated", "quiet", "count", "all", "json", "list", "plot", "picture"}},
}

// describe adds the examples and the groups of flags to the texts of the commands.
func describe(app *kong.Application) {
	group := map[string]*kong.Group{}
	for _, g := range groups {
		for _, flag := range g.flags {
			group[flag] = &kong.Group{Key: g.title, Title: g.title}
		}
	}
	examples.Describe(app)
	for _, command := range app.Children {
		for _, flag := range command.Flags {
			flag.Group = group[flag.Name]
		}
	}
}
