// Command golden writes the filters that pin the format LevelDB, as made by
// LevelDB itself:
//
//	go run ./golden ../testdata/leveldb/golden.json
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/internal/golden"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: golden FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	dir, err := os.MkdirTemp("", "golden")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	leveldb, err := oracle.Compile(dir)
	if err != nil {
		return err
	}
	version, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version}", "libleveldb-dev").Output()
	if err != nil {
		return fmt.Errorf("asking for the version of libleveldb-dev: %w", err)
	}
	file := &golden.File{Provenance: fmt.Sprintf(
		"NewBloomFilterPolicy of LevelDB (Debian's %s), through compare/oracle/leveldb/oracle.cc: make golden",
		strings.TrimSpace(string(version)))}
	for _, c := range cases() {
		f, err := ask(leveldb, c)
		if err != nil {
			return err
		}
		file.Filters = append(file.Filters, *f)
	}
	return file.Write(path)
}

// cases returns every kind of key with few keys at many sizes, and with many
// keys at LevelDB's usual size.
func cases() (cases []golden.Filter) {
	for _, kind := range golden.Kinds {
		for _, bits := range []int{0, 1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100} {
			for _, n := range []int{0, 1, 2, 7, 100} {
				cases = append(cases, golden.Filter{Keys: kind, N: n, BitsPerKey: bits})
			}
		}
		cases = append(cases, golden.Filter{Keys: kind, N: 1000, BitsPerKey: 10})
		cases = append(cases, golden.Filter{Keys: kind, N: 10000, BitsPerKey: 10})
	}
	return cases
}

// ask fills in what LevelDB makes of a case.
func ask(leveldb *oracle.Oracle, c golden.Filter) (*golden.Filter, error) {
	var err error
	if c.Encoded, err = leveldb.CreateFilter(c.Keys.Range(0, c.N), c.BitsPerKey); err != nil {
		return nil, err
	}
	answers, err := leveldb.KeyMayMatch(c.Encoded, c.Keys.Range(c.N, c.N+golden.Searched))
	if err != nil {
		return nil, err
	}
	for i, yes := range answers {
		if yes && len(c.FalsePositives) < 10 {
			c.FalsePositives = append(c.FalsePositives, c.N+i)
		}
	}
	return &c, nil
}
