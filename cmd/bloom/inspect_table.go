package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// partFlag chooses a filter of a table.
type partFlag struct {
	Filter *int `placeholder:"N" help:"Use filter number N (counted from 0) of a table file of LevelDB, RocksDB, Pebble or Badger."`
}

// tableHelp is the part of the help that the commands with a partFlag share.
const partHelp = `Tables: Instead of a filter, you can name a table file of LevelDB, goleveldb, RocksDB, Pebble or Badger (.ldb, .sst). If the table has several filters, choose one with --filter. To see all tables of a folder, use bloom tables.
`

// openedTable is a table and the number of the filter that was chosen from it, or -1.
type openedTable struct {
	report tableReport
	number int
}

// errNotTable is the error of a file that is no table.
var errNotTable = errors.New("not a table")

// openTable opens a filter of a table: the one of --filter, or the only one. The error is errNotTable if the file
// is none. Without a filter, the table is of many, or its filter is not read.
func (p partFlag) openTable(path string) (filter filterfile.Filter, opened openedTable, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return filter, opened, errNotTable // reading it tells what is wrong
	}
	_, err = withTable(path, func(size int64, table *bloomsst.Table) (err error) {
		if opened.report, err = newTableReport(path, size, table); err != nil {
			return err
		}
		filter, opened.number, err = p.choose(table, &opened.report)
		return err
	})
	if (errors.Is(err, bloomsst.ErrTable) || errors.Is(err, bloomsst.ErrEncrypted)) && !isTableName(path) {
		err = errNotTable
	}
	if err == nil && filter.Filter == nil && p.Filter != nil && opened.report.Ribbons == 0 {
		err = fmt.Errorf("--filter: %s has no such filter (number of filters: %d; the first is number 0)", show.Name(path), opened.report.Filters)
	}
	return filter, opened, err
}

// choose returns a filter of a table and its number, or none. Of a Ribbon filter, it changes the report of the table.
func (p partFlag) choose(table *bloomsst.Table, report *tableReport) (filterfile.Filter, int, error) {
	number := 0
	if p.Filter != nil {
		number = *p.Filter
	} else if table.Parts() != 1 {
		return filterfile.Filter{}, -1, nil
	}
	part, err := partOf(table, number)
	if part.Ribbon != nil {
		*report = report.ofPart(number, part)
	}
	return filterfile.Filter{Filter: part.Filter}, number, err
}

// of returns the filter of a table that --filter names, or none without --filter.
func (p partFlag) of(table *bloomsst.Table) (part bloomsst.Part, err error) {
	if p.Filter == nil {
		return part, nil
	}
	if part, err = partOf(table, *p.Filter); err == nil && part.Filter == nil && part.Ribbon == nil {
		err = fmt.Errorf("--filter: there is no filter %d (number of filters: %d; the first is number 0)", *p.Filter, table.Parts())
	}
	return part, err
}

// partOf returns a filter of a table by its number, or none.
func partOf(table *bloomsst.Table, number int) (bloomsst.Part, error) {
	for part, err := range table.Filters() {
		if number == 0 {
			return part, err
		}
		number--
	}
	return bloomsst.Part{}, nil
}

// openTableOr opens a filter of a table, or what open opens if the file is none. The table is nil then.
func (p partFlag) openTableOr(raw bool, path string, open func() (filterfile.Filter, error)) (filterfile.Filter, *openedTable, error) {
	if !raw {
		filter, table, err := p.openTable(path)
		if !errors.Is(err, errNotTable) {
			return filter, &table, err
		}
	}
	if p.Filter != nil {
		return filterfile.Filter{}, nil, fmt.Errorf("--filter: %s is not a table", show.Name(path))
	}
	filter, err := open()
	return filter, nil, err
}

// rows returns the names and the values that inspect prints of a table.
func (t openedTable) rows() [][2]string {
	r := t.report
	rows := [][2]string{{"table", r.table()}, {"policy", r.policy()}}
	switch {
	case r.denied:
		rows = append(rows, [2]string{"filter", "disproved: " + r.Ignored})
	case r.Ignored != "" && r.Filters > 0:
		rows = append(rows, [2]string{"filter", "not queried: " + r.Ignored})
	case r.Ignored != "":
		rows = append(rows, [2]string{"filter", "not read: " + r.Ignored})
	case r.Unproved != "":
		rows = append(rows, [2]string{"proof", fmt.Sprintf("%d of the table's keys; %s", r.Proved, r.Unproved)})
	default:
		rows = append(rows, [2]string{"proof", fmt.Sprintf("the filter has the keys of the table that were looked up (%d)", r.Proved)})
	}
	entries := "not known"
	if r.Entries != nil {
		entries = fmt.Sprint(*r.Entries)
	}
	filters := fmt.Sprint(r.Filters)
	if t.number >= 0 && r.Filters > 1 {
		filters += fmt.Sprintf("; this is filter %d, counted from 0", t.number)
	}
	return append(rows, [][2]string{{"entries", entries}, {"filters", filters}, {"keys up to", r.bound()}}...)
}

// printTable prints a table if no filter was chosen from it.
func (i *inspectCommand) printTable(s *cli.Streams, table *openedTable) error {
	if i.Plot != "" || i.Picture != "" || i.Absent != "" {
		if table.report.Filters == 0 {
			return fmt.Errorf("%s: the table has no filter that can be read", show.Name(i.File))
		}
		if table.number >= 0 {
			return fmt.Errorf("%s: this is a Ribbon filter, but --absent, --plot and --picture need a Bloom filter", show.Name(i.File))
		}
		return fmt.Errorf("%s: choose one filter of the table with --filter (number of filters: %d)", show.Name(i.File), table.report.Filters)
	}
	if i.JSON {
		return s.PrintJSON(table.report)
	}
	return s.PrintRows(slices.Concat([][2]string{{"file", show.Name(i.File)}, {"encoding", "table, checksums verified"}}, table.rows(), table.allRows()))
}

// allRows returns the rows of all filters of a table together.
func (t openedTable) allRows() [][2]string {
	r := t.report
	if r.Filters == 0 {
		return nil
	}
	rows := [][2]string{
		{"size", fmt.Sprintf("%d bytes", r.Bytes)},
		{"bits", wholeNumber(r.Bits)},
		{"fill", fmt.Sprintf("%.2f %%", 100*r.Fill)},
		{"estimated keys", keysText(r.Keys, r.Bits)},
	}
	if r.Measured != nil {
		return append(rows, [2]string{"false positives", fmt.Sprintf("%.3g %% of random keys; %.3g %% measured", 100*r.Rate, 100**r.Measured)})
	}
	return append(rows, [2]string{"false positives", fmt.Sprintf("%.3g %% of random keys; %.3g %% with the optimal number of probes", 100*r.Rate, 100*r.BestRate)})
}
