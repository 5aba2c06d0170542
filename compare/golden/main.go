// Command golden lets the oracles and the writers in use make the filters that pin the
// formats, and writes them to a folder:
//
//	go run ./golden ../testdata
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/bitsbloom"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/compare/pebblebloom"
	"github.com/lanebloom/bloom/compare/splitblock"
	"github.com/lanebloom/bloom/internal/golden"
)

// file describes a file that the command writes.
type file struct {
	path  string
	bits  []int // per key
	sizes []int // numbers of keys at 10 bits per key, after the small ones
	// makers returns who makes the filters, which the file tells, and a maker for
	// each format. The makers may use the folder.
	makers func(folder string) (provenance string, m []maker, err error)
}

// maker makes filters of a format and answers queries.
type maker struct {
	format string // as the library calls it
	splitblock.Library[[]byte]
}

var files = []file{
	{"leveldb/golden.json", []int{0, 1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of LevelDB", "leveldb/oracle.cc", bloom.LevelDB)},
	{"nori/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("nori-sstable's documentation with the XXH64 of xxHash", "nori/oracle.cc", bloom.Nori, bloom.NoriCrate)},
	{"parquet/golden-parquet-go.json", parquetBits, parquetSizes,
		linked("SplitBlockFilter", splitblock.ParquetGoModule, bloom.Parquet, splitblock.ParquetGo[[]byte]{})},
	{"parquet/golden-arrow-go.json", parquetBits, parquetSizes,
		linked("NewBloomFilter", splitblock.ArrowGoModule, bloom.Parquet, splitblock.ArrowGo[[]byte]{})},
	{"rocksdb/golden.json", []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15, 20, 25, 43, 50, 100}, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of RocksDB, format_version 5", "rocksdb/oracle.cc", bloom.RocksDB)},
	{"pebble/golden-pebble.json", pebbleBits, []int{1000, 10000},
		linked("FilterPolicy", pebblebloom.Module, bloom.Pebble, pebblebloom.Pebble{})},
	{"pebble/golden-rocksdb.json", pebbleBits, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of RocksDB, format_version 4", "rocksdb/oracle.cc", bloom.Pebble)},
	{"bits-and-blooms/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		linked("MarshalBinary", bitsbloom.Module, bloom.BitsAndBlooms, bitsbloom.BitsAndBlooms{})},
	{"guava/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("BloomFilter.writeTo of Guava", "guava/Oracle.java", bloom.Guava)},
}

var (
	parquetBits = []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 32, 43, 44}
	// 3,276 keys have 128 blocks, a power of two.
	parquetSizes = []int{1000, 3276, 10000}

	pebbleBits = []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}
)

// compiled returns the makers of a program in C++ or Java, which must be of one Debian package.
func compiled(what, source string, formats ...bloom.Format) func(string) (string, []maker, error) {
	return func(folder string) (provenance string, makers []maker, err error) {
		for _, format := range formats {
			o, err := oracle.Compile(format, folder)
			if err != nil {
				return "", nil, err
			}
			makers = append(makers, maker{format.String(), o})
		}
		version, err := oracle.DebianVersion(oracle.Package(formats[0]))
		if err != nil {
			return "", nil, err
		}
		return fmt.Sprintf("%s (Debian's %s), through compare/oracle/%s: make golden", what, version, source), makers, nil
	}
}

// linked returns the maker of a Go library.
func linked(what, module string, format bloom.Format, l splitblock.Library[[]byte]) func(string) (string, []maker, error) {
	return func(string) (string, []maker, error) {
		version, err := splitblock.Version(module)
		return fmt.Sprintf("%s of %s, through compare: make golden", what, version), []maker{{format.String(), l}}, err
	}
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
		content, err := f.content(temporary)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := content.Write(path); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) content(temporary string) (*golden.File, error) {
	provenance, makers, err := f.makers(temporary)
	if err != nil {
		return nil, err
	}
	content := &golden.File{Provenance: provenance}
	for _, m := range makers {
		for _, c := range f.cases(m.format) {
			switch err := ask(m, &c); {
			case errors.Is(err, splitblock.ErrSize), errors.Is(err, oracle.ErrNoFilter):
				continue
			case err != nil:
				return nil, err
			}
			content.Filters = append(content.Filters, c)
		}
	}
	return content, nil
}

// cases returns, for every kind of key, small sets at all bits per key of the file, and
// larger sets at the usual bits per key.
func (f *file) cases(format string) (cases []golden.Filter) {
	add := func(kind golden.Kind, n, bits int) {
		cases = append(cases, golden.Filter{Format: format, Keys: kind, N: n, BitsPerKey: bits})
	}
	for _, kind := range golden.Kinds {
		for _, bits := range f.bits {
			for _, n := range []int{0, 1, 2, 7, 100} {
				add(kind, n, bits)
			}
		}
		for _, n := range f.sizes {
			add(kind, n, 10)
		}
	}
	return cases
}

// ask fills in the maker's filter and answers for a case.
func ask(m maker, c *golden.Filter) (err error) {
	if c.Encoded, err = m.CreateFilter(c.Keys.Range(0, c.N), c.BitsPerKey); err != nil {
		return err
	}
	answers, err := m.KeyMayMatch(c.Encoded, c.Keys.Range(c.N, c.N+golden.Searched))
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
