// Command golden writes the filters that pin the formats, as the oracles make them,
// to a folder:
//
//	go run ./golden ../testdata
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/internal/golden"
)

// files says what is written.
var files = []struct {
	folder, maker string
	formats       []bloom.Format
	leastBits     int // per key
}{
	{"leveldb", "NewBloomFilterPolicy of LevelDB", []bloom.Format{bloom.LevelDB}, 0},
	{"nori", "nori-sstable's documentation with the XXH64 of xxHash", []bloom.Format{bloom.Nori, bloom.NoriCrate}, 1},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: golden FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	temporary, err := os.MkdirTemp("", "golden")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	for _, f := range files {
		file := new(golden.File)
		for _, format := range f.formats {
			o, err := oracle.Compile(format, temporary)
			if err != nil {
				return err
			}
			version, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version}", oracle.Package(format)).Output()
			if err != nil {
				return fmt.Errorf("asking for the version of %s: %w", oracle.Package(format), err)
			}
			file.Provenance = fmt.Sprintf("%s (Debian's %s), through compare/oracle/%s/oracle.cc: make golden", f.maker, version, f.folder)
			for _, c := range cases(format, f.leastBits) {
				if err := ask(o, &c); err != nil {
					return err
				}
				file.Filters = append(file.Filters, c)
			}
		}
		if err := file.Write(filepath.Join(folder, f.folder, "golden.json")); err != nil {
			return err
		}
	}
	return nil
}

// cases returns every kind of key with few keys at many sizes, and with many
// keys at the usual size.
func cases(format bloom.Format, leastBits int) (cases []golden.Filter) {
	add := func(kind golden.Kind, n, bits int) {
		cases = append(cases, golden.Filter{Format: format.String(), Keys: kind, N: n, BitsPerKey: bits})
	}
	for _, kind := range golden.Kinds {
		for _, bits := range []int{0, 1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100} {
			for _, n := range []int{0, 1, 2, 7, 100} {
				if bits >= leastBits {
					add(kind, n, bits)
				}
			}
		}
		add(kind, 1000, 10)
		add(kind, 10000, 10)
	}
	return cases
}

// ask fills in what the oracle makes of a case.
func ask(o *oracle.Oracle, c *golden.Filter) (err error) {
	if c.Encoded, err = o.CreateFilter(c.Keys.Range(0, c.N), c.BitsPerKey); err != nil {
		return err
	}
	answers, err := o.KeyMayMatch(c.Encoded, c.Keys.Range(c.N, c.N+golden.Searched))
	if err != nil {
		return err
	}
	for i, yes := range answers {
		if yes && len(c.FalsePositives) < 10 {
			c.FalsePositives = append(c.FalsePositives, c.N+i)
		}
	}
	return nil
}
