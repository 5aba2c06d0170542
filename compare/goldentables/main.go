// Command goldentables lets storage engines write small tables, and their answers to keys, and writes both to a
// folder:
//
//	go run ./goldentables ../adapter/sst/testdata [NODE_MODULES]
//
// Debian's RocksDB does not write the newest format versions. RocksDB inside of npm's rocksdb-native 3.18.1 and
// @harperfast/rocksdb-js-linux-x64-glibc 2.10.0 does: with the folder where they are installed, it writes tables, too. The
// filters have the bytes of format_version 5, so Debian's RocksDB gives the answers.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
	"github.com/lanebloom/bloom/compare/tables"
	"github.com/lanebloom/bloom/internal/golden"
)

//go:embed native.js
var script string

// table is a table and what its engine says, as golden.json has it.
type table struct {
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

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: goldentables FOLDER [NODE_MODULES]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "goldentables:", err)
		os.Exit(1)
	}
}

func run(folder string, nodeModules []string) error {
	temporary, err := os.MkdirTemp("", "goldentables")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	writers, err := tables.Writers(temporary)
	if err != nil {
		return err
	}
	var all []table
	for _, w := range writers {
		if !w.Golden {
			continue
		}
		t, err := ofWriter(w, filepath.Join(temporary, w.Name), folder)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		all = append(all, t)
	}
	for _, modules := range nodeModules {
		native, err := ofNative(modules, temporary, folder)
		if err != nil {
			return err
		}
		all = append(all, native...)
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "golden.json"), append(text, '\n'), 0o644)
}

// keys returns the keys of a table of n keys, and these with the absent ones between them.
func keys(n int) (present, all [][]byte) {
	for i := range 2 * n {
		key := golden.Decimals.Key(i)
		all = append(all, key)
		if i%2 == 0 {
			present = append(present, key)
		}
	}
	return present, all
}

func ofWriter(w tables.Writer, temporary, folder string) (t table, err error) {
	present, all := keys(w.Keys)
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return t, err
	}
	file, err := w.Write(temporary, present)
	if err != nil {
		return t, err
	}
	t = table{File: w.Name + ".sst", Engine: w.Engine, Version: w.Version, Parts: w.Parts}
	if t.By, err = w.By(); err != nil {
		return t, err
	}
	if w.Ignored != nil {
		t.Ignored = w.Ignored.Error()
	} else {
		t.Format = w.Format.String()
	}
	answers, err := w.Answers(temporary, all)
	if err != nil {
		return t, err
	}
	t.Answers = string(answers)
	return t, move(file, filepath.Join(folder, t.File))
}

// move copies a table, before the database that has it is closed for good.
func move(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

const nativeKeys = 150

// natives are the tables of RocksDB in npm's packages: the arguments of the script.
var natives = []struct {
	table
	args []string
}{
	{table{File: "rocksdb-6.sst", By: "RocksDB 10.5.1 in npm's rocksdb-native 3.18.1", Version: 6}, []string{"rocksdb-native", "6"}},
	{table{File: "rocksdb-7.sst", By: "RocksDB 10.5.1 in npm's rocksdb-native 3.18.1", Version: 7}, []string{"rocksdb-native", "7"}},
	{table{File: "rocksdb-7-lz4.sst", By: "RocksDB 11.8.1 in npm's @harperfast/rocksdb-js-linux-x64-glibc 2.10.0", Version: 7,
		Ignored: bloomsst.ErrNoFilter.Error()}, []string{"rocksdb-js"}},
}

func ofNative(modules, temporary, folder string) (all []table, err error) {
	reader, err := oracle.Compile(bloom.RocksDB, temporary)
	if err != nil {
		return nil, err
	}
	for _, native := range natives {
		t := native.table
		t.Engine = bloomsst.RocksDB
		database := filepath.Join(temporary, t.File)
		cmd := exec.Command("node", append([]string{"-e", script, "--", modules, database, fmt.Sprint(nativeKeys)}, native.args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", t.File, err, out)
		}
		files, err := filepath.Glob(filepath.Join(database, "*.sst"))
		if err != nil || len(files) != 1 {
			return nil, fmt.Errorf("%s: %d tables: %w", t.File, len(files), err)
		}
		to := filepath.Join(folder, t.File)
		if err := move(files[0], to); err != nil {
			return nil, err
		}
		if t.Answers, err = answersOf(to, reader); err != nil {
			return nil, fmt.Errorf("%s: %w", t.File, err)
		}
		if t.Ignored == "" {
			t.Format = bloom.RocksDB.String()
		}
		all = append(all, t)
	}
	return all, nil
}

// answersOf has a reader of filters answer for the filter of a table.
func answersOf(name string, reader *oracle.Oracle) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	t, err := bloomsst.Open(file, info.Size())
	if err != nil {
		return "", err
	}
	_, all := keys(nativeKeys)
	answers := make([]byte, len(all))
	for i := range answers {
		answers[i] = "+1"[i%2]
	}
	for p, err := range t.Filters() {
		if err != nil {
			return "", err
		}
		may, err := reader.KeyMayMatch(p.Filter.Bytes(), all)
		if err != nil {
			return "", err
		}
		for i := range answers {
			if !may[i] {
				answers[i] = '0'
			}
		}
	}
	return string(answers), nil
}
