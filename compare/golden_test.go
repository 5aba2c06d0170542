package compare

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/compare/pebblebloom"
	"github.com/lanebloom/bloom/internal/golden"
)

var update = flag.Bool("update", false, "write the golden filters, and the golden tables, anew")

// goldenFile describes a file of filters that pin a format. The oracles and the writers in use make them.
type goldenFile struct {
	path  string
	bits  []int // per key
	sizes []int // numbers of keys at 10 bits per key, after the small ones
	maker
}

// maker says who makes filters.
type maker struct {
	what    string
	version func() (string, error)
	source  string // of a compiled program
	formats []bloom.Format
	linked  witness // nil: the oracles of the formats
}

var goldenFiles = []goldenFile{
	{"leveldb/golden.json", []int{0, 1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of LevelDB", "leveldb/oracle.cc", bloom.LevelDB)},
	{"nori/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("nori-sstable's documentation with the XXH64 of xxHash", "nori/oracle.cc", bloom.Nori, bloom.NoriCrate)},
	{"parquet/golden-parquet-go.json", parquetBits, parquetSizes,
		linked("SplitBlockFilter", parquetGoModule, bloom.Parquet, parquetGo[[]byte]{})},
	{"parquet/golden-arrow-go.json", parquetBits, parquetSizes,
		linked("NewBloomFilter", arrowGoModule, bloom.Parquet, arrowGo[[]byte]{})},
	{"rocksdb/golden.json", []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15, 20, 25, 43, 50, 100}, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of RocksDB, format_version 5", "rocksdb/oracle.cc", bloom.RocksDB)},
	{"pebble/golden-pebble.json", pebbleBits, []int{1000, 10000},
		linked("FilterPolicy", pebblebloom.Module, bloom.Pebble, pebbleFilter{})},
	{"pebble/golden-rocksdb.json", pebbleBits, []int{1000, 10000},
		compiled("NewBloomFilterPolicy of RocksDB, format_version 4", "rocksdb/oracle.cc", bloom.Pebble)},
	{"bits-and-blooms/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		linked("MarshalBinary", bitsAndBloomsModule, bloom.BitsAndBlooms, bitsAndBlooms{})},
	{"guava/golden.json", []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}, []int{1000, 10000},
		compiled("BloomFilter.writeTo of Guava", "guava/Oracle.java", bloom.Guava)},
}

var (
	parquetBits = []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 32, 43, 44}
	// 3,276 keys have 128 blocks, a power of two.
	parquetSizes = []int{1000, 3276, 10000}

	pebbleBits = []int{1, 2, 3, 5, 7, 10, 13, 15, 20, 43, 44, 100}
)

// compiled returns the maker of a program in C++ or Java, which must be of one Debian package.
func compiled(what, source string, formats ...bloom.Format) maker {
	return maker{what: what, source: source, formats: formats, version: func() (string, error) { return oracle.DebianVersion(oracle.Package(formats[0])) }}
}

// linked returns the maker of a Go library.
func linked(what, module string, format bloom.Format, l witness) maker {
	return maker{what: what, linked: l, formats: []bloom.Format{format}, version: func() (string, error) { return moduleVersion(module) }}
}

// moduleVersion returns the path and the version of a module.
func moduleVersion(module string) (string, error) {
	out, err := exec.Command("go", "list", "-m", module).Output()
	return strings.TrimSpace(string(out)), err
}

// witness returns who makes the filters of a format.
func (m maker) witness(t *testing.T, format bloom.Format) witness {
	if m.linked != nil {
		return m.linked
	}
	return newOracle(t, format)
}

// provenance says who makes the filters.
func (m maker) provenance() (string, error) {
	version, err := m.version()
	if m.linked != nil {
		return fmt.Sprintf("%s of %s, through compare: make golden", m.what, version), err
	}
	return fmt.Sprintf("%s (Debian's %s), through compare/oracle/%s: make golden", m.what, version, m.source), err
}

// TestGolden makes some of the golden filters anew, chosen by chance, and wants what the files have. With -update it writes the files.
func TestGolden(t *testing.T) {
	for _, f := range goldenFiles {
		t.Run(f.path, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("../testdata", filepath.FromSlash(f.path))
			if *update {
				if err := f.content(t).Write(path); err != nil {
					t.Fatal(err)
				}
			}
			stored, err := golden.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				want := stored.Filters[rand.IntN(len(stored.Filters))]
				got := golden.Filter{Format: want.Format, Keys: want.Keys, N: want.N, BitsPerKey: want.BitsPerKey}
				format, err := bloom.ParseFormat(want.Format)
				if err != nil {
					t.Fatal(err)
				}
				if err := ask(f.witness(t, format), &got); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %d %s, %d bits per key: another filter or other answers, %v", want.Format, want.N, want.Keys, want.BitsPerKey, err)
				}
			}
		})
	}
}

// content makes all filters of a file. Some cases have none.
func (f *goldenFile) content(t *testing.T) *golden.File {
	provenance, err := f.provenance()
	if err != nil {
		t.Fatal(err)
	}
	content := &golden.File{Provenance: provenance}
	for _, format := range f.formats {
		w := f.witness(t, format)
		for _, c := range f.cases(format.String()) {
			switch err := ask(w, &c); {
			case errors.Is(err, errSize), errors.Is(err, oracle.ErrNoFilter):
				continue
			case err != nil:
				t.Fatal(err)
			}
			content.Filters = append(content.Filters, c)
		}
	}
	return content
}

// cases returns, for every kind of key, small sets at all bits per key of the file, and
// larger sets at the usual bits per key.
func (f *goldenFile) cases(format string) (cases []golden.Filter) {
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

// ask fills in the filter and the answers of a case.
func ask(m witness, c *golden.Filter) (err error) {
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
