package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

// TestRibbons writes random databases of RocksDB with its policy for Ribbon filters, and wants each answer of its reader. The tables
// have one filter or partitions, and Bloom filters beside Ribbon filters or in place of them.
func TestRibbons(t *testing.T) {
	t.Parallel()
	rocks, err := oracle.CompileRocksDatabase(programs)
	if err != nil {
		t.Fatal(err)
	}
	databases := 100
	if testing.Short() {
		databases = 15
	}
	var all ribbonCounts
	for i := range databases {
		all.add(testRibbons(t, rocks, rand.New(rand.NewPCG(70, uint64(i)))))
	}
	t.Logf("%d databases: %+v", databases, all)
	if all.Ribbons < databases/2 || all.Blooms < databases || all.Whole < databases/10 || all.Old < databases/4 {
		t.Errorf("there are too few of a kind: %+v", all)
	}
}

// ribbonCounts counts filters, and keys that were looked up.
type ribbonCounts struct{ Ribbons, Blooms, Whole, Old, Keys int }

func (c *ribbonCounts) add(o ribbonCounts) {
	c.Ribbons += o.Ribbons
	c.Blooms += o.Blooms
	c.Whole += o.Whole
	c.Old += o.Old
	c.Keys += o.Keys
}

// ribbonOptions returns the options of a database, and its format_version.
func ribbonOptions(r *rand.Rand) (options []string, version int) {
	version = 2 + r.IntN(4)
	options = []string{"ribbon=1", fmt.Sprint("format_version=", version), fmt.Sprintf("bits=%.2f", 1+29*math.Pow(r.Float64(), 2)),
		fmt.Sprint("before=", max(-1, r.IntN(8)-7)), fmt.Sprint("memory=", r.IntN(2)), fmt.Sprint("block=", 64<<r.IntN(7)), fmt.Sprint("checksum=", 1+r.IntN(3))}
	if r.IntN(2) == 0 {
		options = append(options, fmt.Sprint("partitions=", 128<<r.IntN(8)), fmt.Sprint("restarts=", 1+15*r.IntN(2)))
	}
	if r.IntN(4) == 0 {
		options = append(options, "prefix=4", fmt.Sprint("whole=", r.IntN(2)))
	}
	return options, version
}

func testRibbons(t *testing.T, rocks *oracle.RocksDatabase, r *rand.Rand) (counts ribbonCounts) {
	t.Helper()
	options, version := ribbonOptions(r)
	present, absent := keysOfTable(1 + int(math.Exp(r.Float64()*math.Log(30_000))))
	folder := t.TempDir()
	if err := rocks.Write(folder, present, options...); err != nil {
		t.Fatal(err)
	}
	name, err := one(folder, "*.sst")
	if err != nil {
		t.Fatal(err)
	}
	table := openTable(t, name)
	keys := slices.Concat(present, absent)
	answers, err := rocks.Answers(folder, keys, options...)
	if err != nil || len(answers) != len(keys) {
		t.Fatalf("%v: %d answers to %d keys, %v", options, len(answers), len(keys), err)
	}
	hits := make([]uint64, (len(keys)+63)/64)
	if _, err := table.MayContainBatch(bloom.Bytes(keys), hits); err != nil || table.Ignored() != nil {
		t.Fatalf("%v: %v, ignored: %v", options, err, table.Ignored())
	}
	for i, key := range keys {
		may, err := table.MayContain(key)
		if want := answers[i] != '0'; err != nil || may != want || hits[i/64]>>(i%64)&1 != 0 != want {
			t.Fatalf("%v, %d keys: %x, present: %v: %v, %v; RocksDB says %q", options, len(present), key, i < len(present), may, err, answers[i])
		}
	}
	counts = checkRibbons(t, table, options)
	counts.Keys = len(keys)
	if version < 5 {
		counts.Old = counts.Ribbons
	}
	return counts
}

// checkRibbons wants the rates of Ribbon filters that random hashes have.
func checkRibbons(t *testing.T, table *bloomsst.Table, options []string) (counts ribbonCounts) {
	for p, err := range table.Filters() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Ribbon == nil {
			counts.Blooms++
			continue
		}
		if counts.Ribbons++; counts.Ribbons > 3 {
			continue
		}
		designed, measured, stats := p.Ribbon.FalsePositiveRate(), p.Ribbon.MeasureRate(), p.Stats()
		if miss := math.Abs(measured - designed); miss > 0.1*designed+1e-5 {
			t.Errorf("%v: the rate is %.5f by the size, and %.5f measured", options, designed, measured)
		}
		if math.Abs(stats.FalsePositiveRate/designed-1) > 1e-9 || stats.Ribbons != 1 || stats.Fill() > 0.55 {
			t.Errorf("%v: %+v", options, stats)
		}
	}
	if s, err := table.Stats(); err != nil || s.Ribbons != counts.Ribbons || s.Filters != counts.Ribbons+counts.Blooms {
		t.Errorf("%v: %+v, %v", options, s, err)
	}
	entries, _ := table.Entries()
	if s, _ := table.Stats(); table.Parts() == 1 && s.Ribbons == 1 && !slices.Contains(options, "prefix=4") {
		counts.Whole++
		if miss := math.Abs(s.Keys - float64(entries)); miss > 5*math.Sqrt(float64(entries))+5 {
			t.Errorf("%v: %.0f keys are estimated of %d", options, s.Keys, entries)
		}
	}
	return counts
}
