package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type tablesCommand struct {
	Key    []cli.Text `sep:"none" placeholder:"KEY" xor:"keys" help:"Print the tables that may contain this key. Repeat the flag for several keys."`
	Keys   cli.Input  `placeholder:"FILE" xor:"keys" help:"Print the tables that may contain any of the keys in this file, one per line (- means standard input)."`
	Hex    bool       `help:"Read and print keys as hexadecimal digits. A key may begin with 0x."`
	List   bool       `short:"l" help:"For each table, print one line for each key that it may contain."`
	JSON   bool       `name:"json" help:"Print one line of JSON for each table."`
	Prefix int        `placeholder:"N" help:"Length in bytes of the key prefixes in filters (RocksDB's prefix_extractor, Pebble's Split), for tables that do not record it."`
	Policy []string   `sep:"none" placeholder:"NAME=FORMAT" help:"Read filters of the policy NAME as filters of FORMAT. Repeat the flag for several names."`
	tableOrder
	keysFlags
	partFlag
	Files []cli.Input `arg:"" name:"table" help:"Table files (.ldb, .sst), or folders that contain them."`

	garbage uint64            // bytes of filters that were read since the last garbage collection
	skipped bool              // whether a table was skipped: its keys may have moved to a table that was not read
	named   []bloomsst.Option // the policies, and the prefix
}

// Help returns the text that bloom tables --help prints below the flags.
func (*tablesCommand) Help() string {
	return `Tables: A table is a file of LevelDB, goleveldb, RocksDB, Pebble or Badger. If you name a folder, the command reads the files in it whose names end with .ldb or .sst. It reads a few data blocks of each table to check that the filter has their keys. The command does not open the database, so the database may be running. If a file disappears or changes during the run, the command skips the file and prints a warning. If a table cannot be read, the command continues with the next table, and the exit status is 2.

Lines: Each table has one line. Its columns are the engine and table format, the column family, the level, the filter policy, the number of filters, the number of entries, the estimated number of keys, the bits per key, the size of the file and of its filters in bytes, the fraction of bits that are set, the false-positive rate for random keys, the rate that the optimal number of probes would give, the first key, and an upper bound for the keys. The upper bound is the last key or a shorter key that sorts after it. The level and the family come from the MANIFEST in the same folder. Lines with totals follow, for all tables and for each family, level and policy. --sort and --top choose which tables are printed first. Warnings report filters that are too small, too full, wasted, unreadable or missing. With --filter, only one filter of each table is shown or queried.

Lookups: With --key or --keys, the command prints a line for each table that may contain a key. The fields of the line are separated by tabs. The first two are the file name and the number of hits. With --keys, the next field is the number of false positives to expect if the table has none of the keys. The column family and the level follow if they are known. Keys are user keys, as programs pass them to the database. If the order of the keys is known, a key outside a table's range counts as absent from that table. If a filter is missing, cannot be read or lacks keys of its own table, the table may contain every key in its range, and a warning names the table. A table may also delete ranges of keys. Filters do not reflect these deletions, so a warning names such tables. Keys that the database still has in memory or in its log are not in a table yet. If no table may contain a key, the exit status is 1. If a table was skipped, the exit status is 2 instead, because its keys may have moved to another table.

` + inputsHelp
}

func (c *tablesCommand) Run(s *cli.Streams) error {
	tables, err := cli.Files(tableFolders, cli.Names(c.Files))
	if err != nil {
		return err
	}
	if c.named, err = policiesOf(c.Policy); err != nil {
		return err
	}
	if c.Prefix > 0 {
		c.named = append(c.named, bloomsst.Split(c.prefix))
	}
	asked, err := c.asked(s)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.Out)
	var show tableReader = newTableList(c.JSON, c.tableOrder, c.partFlag, out)
	if asked != nil {
		show = &tableFinder{keys: asked, list: c.List, hex: c.Hex, json: c.JSON, chance: c.Keys != "", part: c.partFlag, out: out}
	}
	progress, done := func(int) {}, func() {}
	if !cli.IsTerminal(s.Out) { // a progress bar would cut through lines on a terminal
		progress, done = s.Bar("reading tables", int64(len(tables)))
	}
	var failures []error
	for _, name := range tables {
		failures = append(failures, c.read(s, name, show))
		progress(1)
	}
	done()
	c.lookForMore(s, tables)
	err = show.finish(s)
	none := errors.Is(err, cli.ErrNone)
	if none && c.skipped {
		failures = append(failures, errors.New("no table that was read may contain a key, but the keys of a skipped table may have moved: run the command again"))
	}
	if !none {
		failures = append(failures, err)
	}
	if err := errors.Join(append(failures, out.Flush())...); err != nil || !none {
		return err
	}
	return cli.ErrNone
}

// tableReader processes the tables one by one.
type tableReader interface {
	read(s *cli.Streams, name string, size int64, table *bloomsst.Table) error
	finish(s *cli.Streams) error // its error is cli.ErrNone if no table may have a key
}

// tableFolders replaces the name of a folder by the names of the tables in it.
var tableFolders = &cli.Folders{Names: "end with .ldb or .sst", List: func(folder string) (tables []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if !entry.IsDir() && isTableName(entry.Name()) {
			tables = append(tables, filepath.Join(folder, entry.Name()))
		}
	}
	return tables, err
}}

// isTableName reports whether a file has a name of a table.
func isTableName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ldb" || ext == ".sst"
}

// collected is how many bytes of filters are read before a garbage collection frees their memory.
const collected = 8 << 20

// read reads a table. It skips one that was found in a folder, and is gone or changes.
func (c *tablesCommand) read(s *cli.Streams, name string, show tableReader) error {
	size, err := withTable(name, func(size int64, table *bloomsst.Table) error { return show.read(s, name, size, table) }, c.named...)
	if c.garbage += size; c.garbage >= collected {
		runtime.GC()
		c.garbage = 0
	}
	if err == nil || slices.Contains(c.Files, cli.Input(name)) {
		return err
	}
	if why := isInUse(name); why != "" {
		s.Warn(name, why)
		c.skipped = true
		return nil
	}
	return err
}

// withTable opens the table in a file, and returns the size of its filters.
func withTable(name string, use func(size int64, table *bloomsst.Table) error, options ...bloomsst.Option) (size uint64, err error) {
	file, err := cli.OpenAnywhere(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	table, err := bloomsst.Open(file, info.Size(), append([]bloomsst.Option{inDatabase(filepath.Dir(name))}, options...)...)
	if err != nil {
		return 0, ofTable(name, err)
	}
	return table.Size(), ofTable(name, use(info.Size(), table))
}

// prefix returns the length of the prefix that stands for a key in filters, or -1 if the key is shorter.
func (c *tablesCommand) prefix(key []byte) int {
	if len(key) < c.Prefix {
		return -1
	}
	return c.Prefix
}

// lookForMore warns of tables that the MANIFEST of a folder lists and that were not read: they came meanwhile, or their files
// are missing.
func (c *tablesCommand) lookForMore(s *cli.Streams, read []string) {
	known := map[string]bool{}
	for _, name := range read {
		known[name] = true
	}
	for _, folder := range cli.Names(c.Files) {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		listed, err := bloomsst.ListedTables(folder)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, bloomsst.ErrDamaged) { // else it is a folder of tables
				s.Warn(folder, "all tables in the folder are used, and their levels are unknown: "+tableError{err}.Error())
			}
			continue
		}
		var missing []tableReport
		for _, name := range listed {
			if !known[filepath.Join(folder, name)] {
				missing = append(missing, tableReport{File: name})
			}
		}
		if len(missing) > 0 {
			c.skipped = true
			s.Warn(folder, "the MANIFEST lists tables that were not read: "+namesOf(missing)+". These tables are new, lost, or in another folder (db_paths)")
		}
	}
}

// inDatabase returns the option InDatabase for a folder. It caches the option of the last folder, so that the MANIFEST of a
// database is read only once.
func inDatabase(folder string) bloomsst.Option {
	if folder != lastFolder.name {
		lastFolder.name, lastFolder.option = folder, bloomsst.InDatabase(folder)
	}
	return lastFolder.option
}

var lastFolder struct {
	name   string
	option bloomsst.Option
}

// ofTable adds the name of a table to its error.
func ofTable(name string, err error) error {
	if output := (*outputError)(nil); err == nil || errors.As(err, &output) || errors.Is(err, cli.ErrNone) {
		return err
	}
	return fmt.Errorf("%s: %w", show.Name(name), tableError{err})
}

// tableError is an error of a table. Its text omits the prefixes that name packages.
type tableError struct{ error }

func (e tableError) Error() string {
	return strings.NewReplacer("bloomsst: ", "", "bloom: ", "").Replace(e.error.Error())
}

func (e tableError) Unwrap() error { return e.error }

// isInUse says why a file that could not be read is skipped, or nothing.
func isInUse(name string) string {
	before, err := os.Stat(name)
	if err == nil {
		time.Sleep(50 * time.Millisecond)
		var after fs.FileInfo
		if after, err = os.Stat(name); err == nil && outputfile.Same(before, after) {
			return ""
		}
	}
	if err != nil {
		return "skipped: the file no longer exists"
	}
	return "skipped: the file is being written"
}

// asked returns the keys of --key or --keys, or nil.
func (c *tablesCommand) asked(s *cli.Streams) (keys [][]byte, err error) {
	switch {
	case c.Keys == "" && c.keysFlags != keysFlags{}:
		return nil, errors.New("flags for keys, such as --null, --csv and --field, need --keys")
	case c.Keys == "" && len(c.Key) == 0 && (c.List || c.Hex):
		return nil, errors.New("--list and --hex need --key or --keys")
	}
	if c.Keys == "" {
		for _, key := range c.Key {
			keys = append(keys, []byte(key))
		}
		return keys, c.decode(keys)
	}
	keys, err = c.allKeys(s, c.Keys)
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("--keys: %s has no keys", show.Name(c.Keys))
	}
	if err != nil {
		return nil, err
	}
	return keys, c.decode(keys)
}

// decode replaces hexadecimal digits by the bytes that they mean.
func (c *tablesCommand) decode(keys [][]byte) (err error) {
	for i := range keys {
		if !c.Hex {
			return nil
		}
		digits := string(keys[i])
		if len(digits) > 1 && (digits[:2] == "0x" || digits[:2] == "0X") { // as RocksDB's tools print keys
			digits = digits[2:]
		}
		if keys[i], err = hex.DecodeString(digits); err != nil {
			return fmt.Errorf("--hex: key %d is not hexadecimal: %w", i+1, err)
		}
	}
	return nil
}

// policiesOf returns the options of policies, each a name and a format.
func policiesOf(policies []string) (options []bloomsst.Option, err error) {
	for _, policy := range policies {
		equals := strings.LastIndexByte(policy, '=')
		if equals < 1 {
			return nil, fmt.Errorf("--policy: %s is not of the form NAME=FORMAT, such as tikv.Filter=rocksdb", show.Name(policy))
		}
		var format cli.Format
		if err := format.UnmarshalText([]byte(policy[equals+1:])); err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		options = append(options, bloomsst.Named(policy[:equals], format.Format))
	}
	return options, nil
}

// tableFinder prints the tables that may have keys.
type tableFinder struct {
	keys                    [][]byte
	list, hex, json, chance bool
	part                    partFlag
	out                     *bufio.Writer
	hits                    []uint64
	some                    bool
	sorted                  [][]byte // the keys, if the number of hits by chance is printed
	doubts                  tableDoubts
	deleting                []tableReport // the tables that delete ranges of keys
}

// found is a table that may have keys, as JSON.
type found struct {
	File    string   `json:"file"`
	Family  string   `json:"family,omitempty"`
	Level   *int     `json:"level,omitempty"`
	Count   int      `json:"count"`
	Chance  *float64 `json:"chance,omitempty"`          // the number of hits that is expected if the table has none of the keys
	Ignored string   `json:"ignored,omitempty"`         // why the filter is not asked
	Ranges  uint64   `json:"range_deletions,omitempty"` // ranges of keys that the table deletes
	Keys    []string `json:"keys,omitempty"`            // in hexadecimal digits with --hex
}

func (f *tableFinder) read(_ *cli.Streams, name string, size int64, table *bloomsst.Table) error {
	stats := table.Stats
	ranges, _ := table.RangeDeletions()
	if ranges > 0 {
		f.deleting = append(f.deleting, tableReport{File: name})
	}
	f.hits = records.WordsFor(f.hits, len(f.keys))
	part, err := f.part.of(table)
	if err != nil {
		return err
	}
	var n int
	if f.part.Filter != nil {
		n = f.askPart(table, part)
		stats = func() (bloomsst.Stats, error) { return part.Stats(), nil }
	} else {
		n, err = table.MayContainBatch(bloom.Bytes(f.keys), f.hits)
	}
	if err != nil || n == 0 {
		return err
	}
	f.doubts.addProof(name, table)
	f.some = true
	of := found{File: name, Family: table.Family(), Count: n, Ranges: ranges}
	if level, known := table.Level(); known {
		of.Level = &level
	}
	if why := table.Ignored(); why != nil {
		of.Ignored = tableError{why}.Error()
	}
	if f.chance {
		chance := float64(f.inRange(table))
		if table.Ignored() == nil {
			of, err := stats()
			if err != nil {
				return err
			}
			chance *= expectedRate(of)
		}
		of.Chance = &chance
	}
	for i, key := range f.keys {
		if f.list && f.hits[i/64]>>(i%64)&1 != 0 {
			of.Keys = append(of.Keys, f.text(key))
		}
	}
	return f.print(of)
}

// askPart tests one filter of a table for the keys, and returns the number of hits.
func (f *tableFinder) askPart(table *bloomsst.Table, part bloomsst.Part) (n int) {
	for i, userKey := range f.keys {
		if key, ok := table.FilterKey(userKey); !ok || part.MayContain(key) {
			f.hits[i/64] |= 1 << (i % 64)
			n++
		}
	}
	return n
}

// inRange returns how many of the keys are in the range of a table. The table is in the order of bytes or in
// the reverse order.
func (f *tableFinder) inRange(table *bloomsst.Table) int {
	first, last, known := table.Range()
	if !known || f.part.Filter != nil {
		return len(f.keys)
	}
	if f.sorted == nil {
		f.sorted = slices.SortedFunc(slices.Values(f.keys), bytes.Compare)
	}
	if bytes.Compare(first, last) > 0 {
		first, last = last, first
	}
	from, _ := slices.BinarySearchFunc(f.sorted, first, bytes.Compare)
	to, _ := slices.BinarySearchFunc(f.sorted, append(bytes.Clone(last), 0), bytes.Compare) // the next key after the last one
	return to - from
}

// expectedRate returns the share of absent keys that a table may have. Filters that are not read have the same share of the keys as
// others, and every key may be there.
func expectedRate(s bloomsst.Stats) float64 {
	all := float64(max(s.Filters+s.Unread, 1))
	return (s.FalsePositiveRate*float64(s.Filters) + float64(s.Unread)) / all
}

// text returns a key as it is printed.
func (f *tableFinder) text(key []byte) string {
	if f.hex {
		return hex.EncodeToString(key)
	}
	return show.Name(string(key))
}

func (f *tableFinder) print(of found) (err error) {
	switch {
	case f.json:
		err = json.NewEncoder(f.out).Encode(of)
	case f.list:
		for _, key := range of.Keys {
			fmt.Fprintf(f.out, "%s\t%s\n", show.Name(of.File), key)
		}
	default:
		columns := []string{show.Name(of.File), strconv.Itoa(of.Count)}
		if f.chance {
			columns = append(columns, threeDigits(*of.Chance))
		}
		if of.Level != nil {
			columns = append(columns, dash(show.Name(of.Family)), strconv.Itoa(*of.Level))
		}
		_, err = fmt.Fprintln(f.out, strings.Join(columns, "\t"))
	}
	if err != nil {
		return &outputError{error: err}
	}
	return nil
}

func (f *tableFinder) finish(s *cli.Streams) error {
	f.doubts.warn(s)
	if len(f.deleting) > 0 {
		s.Say("warning: no filter reflects the ranges of keys that these tables delete: %s", namesOf(f.deleting))
	}
	if !f.some {
		return cli.ErrNone
	}
	return nil
}
