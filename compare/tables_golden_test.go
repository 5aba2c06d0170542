package compare

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/internal/golden"
)

//go:embed testdata/native.js
var nativeScript string

// goldenTable is a table and what its engine says, as golden.json has it.
type goldenTable struct {
	File    string `json:"file"`
	By      string `json:"by"`
	Engine  string `json:"engine"`
	Version int    `json:"version"`
	Format  string `json:"format,omitempty"`
	Parts   bool   `json:"parts,omitempty"`
	Ignored string `json:"ignored,omitempty"`
	// The keys 0, 2, 4, … of the kind decimals are in the table. Answers has a byte for each key from 0 on: '+' if
	// it is found, '0' if the filter denies it, '-' if the engine asks no filter, and '1' else.
	Answers string `json:"answers"`
}

var nodeModules = flag.String("node-modules", "", "the folder of npm's packages with RocksDB, whose tables -update writes, too")

// goldenTables is the folder of the tables.
const goldenTables = "../adapter/sst/testdata"

// TestGoldenTables lets the storage engines write the small tables of adapter/sst, and wants the answers that are kept. With
// -update it keeps the tables and the answers.
//
// Debian's RocksDB does not write the newest format versions. RocksDB inside of npm's rocksdb-native 3.18.1 and
// @harperfast/rocksdb-js-linux-x64-glibc 2.10.0 does: with the folder where they are installed, in -node-modules, it writes tables,
// too. The filters have the bytes of format_version 5, so Debian's RocksDB gives the answers.
func TestGoldenTables(t *testing.T) {
	t.Parallel()
	index := filepath.Join(goldenTables, "golden.json")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	var kept, all []goldenTable
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	writers, err := tableWriters(programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		if !w.Golden {
			continue
		}
		table, err := ofWriter(w, t.TempDir())
		if err != nil {
			t.Fatalf("%s: %v", w.Name, err)
		}
		i := slices.IndexFunc(kept, func(k goldenTable) bool { return k.File == table.File })
		if i >= 0 {
			kept[i].By = table.By // another version
		}
		if !*update && (i < 0 || kept[i] != table) {
			t.Errorf("the engine answers to %s\n%+v", table.File, table)
		}
		all = append(all, table)
	}
	if !*update {
		return
	}
	if *nodeModules != "" {
		all = append(all, ofNative(t, *nodeModules)...)
	} else {
		all = append(all, kept[len(kept)-len(natives):]...)
	}
	if text, err = json.MarshalIndent(all, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// goldenKeys returns the keys of a table of n keys, and these with the absent ones between them.
func goldenKeys(n int) (present, all [][]byte) {
	for i := range 2 * n {
		key := golden.Decimals.Key(i)
		all = append(all, key)
		if i%2 == 0 {
			present = append(present, key)
		}
	}
	return present, all
}

// ofWriter writes a table in a temporary folder, and keeps it with -update.
func ofWriter(w tableWriter, temporary string) (t goldenTable, err error) {
	present, all := goldenKeys(w.Keys)
	file, err := w.Write(temporary, present)
	if err != nil {
		return t, err
	}
	t = goldenTable{File: w.Name + ".sst", Engine: w.Engine, Version: w.Version, Parts: w.Parts}
	if t.By, err = w.by(); err != nil {
		return t, err
	}
	if w.Ignored != nil {
		t.Ignored = w.Ignored.Error()
	} else {
		t.Format = w.formatName()
	}
	answers, err := w.Answers(temporary, all)
	t.Answers = string(answers)
	if err == nil && *update {
		err = keep(file, t.File)
	}
	return t, err
}

// keep copies a table, before the database that has it is closed for good.
func keep(from, name string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(goldenTables, name), data, 0o644)
}

const nativeKeys = 150

// natives are the tables of RocksDB in npm's packages: the arguments of the script.
var natives = []struct {
	goldenTable
	args []string
}{
	{goldenTable{File: "rocksdb-6.sst", By: "RocksDB 10.5.1 in npm's rocksdb-native 3.18.1", Version: 6}, []string{"rocksdb-native", "6"}},
	{goldenTable{File: "rocksdb-7.sst", By: "RocksDB 10.5.1 in npm's rocksdb-native 3.18.1", Version: 7}, []string{"rocksdb-native", "7"}},
	{goldenTable{File: "rocksdb-7-lz4.sst", By: "RocksDB 11.8.1 in npm's @harperfast/rocksdb-js-linux-x64-glibc 2.10.0", Version: 7,
		Ignored: bloomsst.ErrNoFilter.Error()}, []string{"rocksdb-js"}},
}

func ofNative(t *testing.T, modules string) (all []goldenTable) {
	t.Helper()
	for _, native := range natives {
		table := native.goldenTable
		table.Engine = bloomsst.RocksDB
		database := filepath.Join(t.TempDir(), table.File)
		cmd := exec.Command("node", append([]string{"-e", nativeScript, "--", modules, database, fmt.Sprint(nativeKeys)}, native.args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", table.File, err, out)
		}
		file, err := one(database, "*.sst")
		if err == nil {
			err = keep(file, table.File)
		}
		if err != nil {
			t.Fatalf("%s: %v", table.File, err)
		}
		table.Answers = answersOf(t, openTable(t, file))
		if table.Ignored == "" {
			table.Format = bloom.RocksDB.String()
		}
		all = append(all, table)
	}
	return all
}

// answersOf has Debian's RocksDB answer for the filters of a table.
func answersOf(t *testing.T, table *bloomsst.Table) string {
	t.Helper()
	_, all := goldenKeys(nativeKeys)
	answers := make([]byte, len(all))
	for i := range answers {
		answers[i] = "+1"[i%2]
	}
	for p, err := range table.Filters() {
		if err != nil {
			t.Fatal(err)
		}
		may, err := newOracle(t, bloom.RocksDB).KeyMayMatch(p.Filter.Bytes(), all)
		if err != nil {
			t.Fatal(err)
		}
		for i := range answers {
			if !may[i] {
				answers[i] = '0'
			}
		}
	}
	return string(answers)
}
