package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// tableList prints what the filters of each table are, and sums.
type tableList struct {
	tableOrder
	part   partFlag
	out    *bufio.Writer
	json   *json.Encoder // nil for text
	rows   []tableReport
	doubts tableDoubts
}

// tableOrder are the flags of the list.
type tableOrder struct {
	Sort string `default:"file" enum:"file,rate,fill,keys,entries,bits,bytes,filter" placeholder:"COLUMN" help:"Sort the tables by this column, largest values first: rate, fill, keys, entries, bits (per key), bytes (of the file) or filter (bytes of the filters)."`
	Top  int    `placeholder:"N" help:"Print only the first N tables. The totals still cover all tables."`
}

// sortValues are the values by which tables are sorted, for the names of --sort.
var sortValues = map[string]func(r tableReport) float64{
	"rate":    func(r tableReport) float64 { return r.Rate },
	"fill":    func(r tableReport) float64 { return r.Fill },
	"keys":    func(r tableReport) float64 { return value(r.Keys) },
	"entries": func(r tableReport) float64 { return float64(value(r.Entries)) },
	"bits":    tableReport.bitsPerKey,
	"bytes":   func(r tableReport) float64 { return float64(r.FileBytes) },
	"filter":  func(r tableReport) float64 { return float64(r.Bytes) },
}

// value returns a number, or 0 if it is not known.
func value[T uint64 | float64](n *T) T {
	if n == nil {
		return 0
	}
	return *n
}

func newTableList(asJSON bool, order tableOrder, part partFlag, out *bufio.Writer) *tableList {
	l := &tableList{tableOrder: order, part: part, out: out}
	if asJSON {
		l.json = json.NewEncoder(out)
	}
	return l
}

func (l *tableList) read(_ *cli.Streams, name string, size int64, table *bloomsst.Table) error {
	part, err := l.part.of(table)
	if err != nil {
		return err
	}
	r, err := newTableReport(name, size, table)
	if l.part.Filter != nil {
		r = r.ofPart(*l.part.Filter, part)
	}
	l.doubts.add(r)
	if l.json != nil && l.Sort == "file" && l.Top == 0 {
		return errors.Join(err, l.json.Encode(r))
	}
	l.rows = append(l.rows, r)
	return err
}

func (l *tableList) finish(s *cli.Streams) (err error) {
	if of := sortValues[l.Sort]; of != nil {
		slices.SortStableFunc(l.rows, func(a, b tableReport) int { return cmp.Compare(of(b), of(a)) })
	}
	first := l.rows
	if l.Top > 0 {
		first = first[:min(l.Top, len(first))]
	}
	switch {
	case l.json != nil:
		for _, r := range first {
			err = errors.Join(err, l.json.Encode(r))
		}
	case len(l.rows) > 0:
		err = l.print(first)
	}
	l.doubts.warn(s)
	return err
}

// print prints the first tables, the sum of all and the sums of groups.
func (l *tableList) print(first []tableReport) error {
	columns := columnsOf(l.rows)
	w := tabwriter.NewWriter(l.out, 0, 0, 2, ' ', 0)
	printColumns(w, columns, func(c tableColumn) string { return c.name })
	for _, r := range first {
		printColumns(w, columns, func(c tableColumn) string { return c.text(r) })
	}
	if len(l.rows) > 1 {
		sum := sumOf(l.rows)
		sum.File = countOf(len(l.rows))
		printColumns(w, columns, func(c tableColumn) string {
			if !c.adds {
				return ""
			}
			return c.text(sum)
		})
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return l.printGroups()
}

// countOf returns a number of tables.
func countOf(tables int) string {
	if tables == 1 {
		return "1 table"
	}
	return humanize.Comma(int64(tables)) + " tables"
}

// printColumns prints a line. Columns of the sum that are empty at its end are left out.
func printColumns(w *tabwriter.Writer, columns []tableColumn, text func(tableColumn) string) {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = text(c)
	}
	fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// tableColumn is a column of the list.
type tableColumn struct {
	name  string
	text  func(r tableReport) string
	adds  bool                     // the sum has it
	shown func(r tableReport) bool // whether a table has it; nil if all do
}

// tableColumns are all columns.
var tableColumns = []tableColumn{
	{"file", func(r tableReport) string { return show.Name(r.File) }, true, nil},
	{"table", tableReport.table, false, nil},
	{"family", func(r tableReport) string { return dash(show.Name(r.Family)) }, false, func(r tableReport) bool { return r.Family != "" }},
	{"level", tableReport.level, false, func(r tableReport) bool { return r.Level != nil || r.Leftover }},
	{"policy", tableReport.policy, false, nil},
	{"filters", tableReport.number, true, nil},
	{"entries", tableReport.entries, true, func(r tableReport) bool { return r.Entries != nil }},
	{"keys", tableReport.estimate, true, nil},
	{"bits per key", func(r tableReport) string {
		if bits := r.bitsPerKey(); bits > 0 {
			return fmt.Sprintf("%.1f", bits)
		}
		return "-"
	}, true, nil},
	{"file bytes", func(r tableReport) string { return humanize.Comma(r.FileBytes) }, true, nil},
	{"filter bytes", func(r tableReport) string { return humanize.Comma(int64(r.Bytes)) }, true, nil},
	{"fill", func(r tableReport) string { return r.ofFilters("%.1f %%", 100*r.Fill) }, true, nil},
	{"rate", func(r tableReport) string { return r.ofFilters("%s", percent(r.Rate)) }, true, nil},
	{"best rate", func(r tableReport) string { return r.ofFilters("%s", percent(r.BestRate)) }, true, nil},
	{"keys from", tableReport.first, false, func(r tableReport) bool { return r.First != nil }},
	{"keys up to", tableReport.bound, false, nil},
}

// columnsOf returns the columns that some tables have.
func columnsOf(rows []tableReport) (columns []tableColumn) {
	for _, c := range tableColumns {
		if c.shown == nil || slices.ContainsFunc(rows, c.shown) {
			columns = append(columns, c)
		}
	}
	return columns
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (r tableReport) level() string {
	switch {
	case r.Leftover:
		return "none"
	case r.Level == nil:
		return "-"
	}
	return strconv.Itoa(*r.Level)
}

func (r tableReport) entries() string {
	if r.Entries == nil {
		return "-"
	}
	return humanize.Comma(int64(*r.Entries))
}

func (r tableReport) number() string {
	if r.Filter != nil {
		return fmt.Sprintf("number %d", *r.Filter)
	}
	return humanize.Comma(int64(r.Filters))
}

// tableGroups are the ways to group tables. A table that has no value is in no group.
var tableGroups = []struct {
	name string
	of   func(r tableReport) string
}{
	{"family", func(r tableReport) string { return r.Family }},
	{"level", func(r tableReport) string {
		if r.Level == nil {
			return ""
		}
		return strconv.Itoa(*r.Level)
	}},
	{"policy", func(r tableReport) string { return r.Policy }},
}

// printGroups prints the sums of families, levels and policies, if there are several of them.
func (l *tableList) printGroups() error {
	w := tabwriter.NewWriter(l.out, 0, 0, 2, ' ', 0)
	columns := slices.DeleteFunc(columnsOf(l.rows), func(c tableColumn) bool { return !c.adds || c.name == "file" })
	header := false
	for _, by := range tableGroups {
		groups := map[string][]tableReport{}
		for _, r := range l.rows {
			if name := by.of(r); name != "" {
				groups[name] = append(groups[name], r)
			}
		}
		if len(groups) < 2 {
			continue
		}
		if !header {
			header = true
			fmt.Fprint(w, "\nsum\ttables\t")
			printColumns(w, columns, func(c tableColumn) string { return c.name })
		}
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			sum := sumOf(groups[name])
			fmt.Fprintf(w, "%s %s\t%s\t", by.name, show.Name(shortened(name)), humanize.Comma(int64(len(groups[name]))))
			printColumns(w, columns, func(c tableColumn) string { return c.text(sum) })
		}
	}
	return w.Flush()
}

// sumOf adds up tables, as if they were one. A rate is the mean over the keys.
func sumOf(rows []tableReport) (sum tableReport) {
	var keys, rates, best float64
	var entries uint64
	unknown := false
	for _, r := range rows {
		sum.FileBytes += r.FileBytes
		sum.Bytes += r.Bytes
		sum.Filters += r.Filters
		sum.Bits += r.Bits
		sum.SetBits += r.SetBits
		if r.Entries != nil {
			entries += *r.Entries
			sum.Entries = &entries
		}
		if r.Filters == 0 {
			continue
		}
		if r.Keys == nil {
			unknown = true
			continue
		}
		keys += *r.Keys
		rates += r.Rate * *r.Keys
		best += r.BestRate * *r.Keys
	}
	sum.Fill = float64(sum.SetBits) / float64(max(sum.Bits, 1))
	if keys > 0 {
		sum.Rate, sum.BestRate = rates/keys, best/keys
	}
	if !unknown {
		sum.Keys = &keys
	}
	return sum
}
