package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/adapter/parquet/parquetgo"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type inspectCommand struct {
	Column string      `placeholder:"NAME" help:"Print each row group of this column, with its bounds."`
	JSON   bool        `name:"json" help:"Print each column, with its row groups, as one line of JSON."`
	Files  []cli.Input `arg:"" help:"Parquet files, or folders that contain Parquet files."`
}

// Help returns the text that bloom-parquet inspect --help prints below the flags.
func (i *inspectCommand) Help() string {
	return `Columns: For each column, inspect prints an example of a key as prune accepts it, and the number of row groups whose filter can be read. For these filters, it prints the total size in bits, the fraction of bits that are set, and the false-positive rate. The last number is the number of row groups whose bounds can exclude keys. To compute these numbers, inspect reads the filters.

` + foldersHelp
}

// Run prints the columns of all files.
func (i *inspectCommand) Run(s *cli.Streams) error { return read(s, i) }

func (i *inspectCommand) prepare(*cli.Streams) (r reading, err error) {
	i.Files, err = parquetFiles(i.Files)
	return reading{inputs: cli.Names(i.Files)}, err
}

// work prints the columns of all files.
func (i *inspectCommand) work(s *cli.Streams) error {
	var failures []error
	err := sideBySide(slices.Values(cli.Names(i.Files)), func(name string, then handOn) error {
		var out bytes.Buffer
		err := i.inspect(&out, name)
		return then(func() error {
			failures = append(failures, err)
			_, err := s.Out.Write(out.Bytes())
			return err
		})
	})
	return errors.Join(append(failures, err)...)
}

// columnReport is a column in JSON.
type columnReport struct {
	File      string        `json:"file"`
	Column    string        `json:"column"`
	Type      string        `json:"type"`
	Keys      string        `json:"keys"` // what they look like
	RowGroups []groupReport `json:"row_groups"`
}

// groupReport is a column in a row group.
type groupReport struct {
	RowGroup int      `json:"row_group"`
	Rows     int64    `json:"rows"`
	Bits     uint64   `json:"bits"` // of the filter; 0 if none can be read
	SetBits  uint64   `json:"set_bits"`
	Rate     *float64 `json:"rate,omitempty"`
	Unread   string   `json:"unread,omitempty"` // why no filter can be read
	Min      *string  `json:"min,omitempty"`    // if the bounds exclude keys
	Max      *string  `json:"max,omitempty"`
	NoOrder  bool     `json:"bounds_without_order,omitempty"`
}

// inspect prints the columns of a file.
func (i *inspectCommand) inspect(w io.Writer, name string) (err error) {
	file, err := openParquet(name)
	if err != nil {
		return err
	}
	defer file.close()
	if i.Column != "" {
		if err := file.find(i.Column); err != nil {
			return err
		}
	}
	defer explain(name, &err)
	if !i.JSON {
		fmt.Fprintf(w, "%s: %d rows in %d row groups, written by %q\n", name, file.NumRows(), len(file.Metadata().RowGroups), file.Metadata().CreatedBy)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	i.head(table)
	for leaf := range file.Schema().Columns() {
		if i.Column != "" && leaf != file.leaf {
			continue
		}
		column, err := parquetgo.OpenAt(file.File, leaf)
		if err != nil {
			return errors.Join(table.Flush(), err)
		}
		report, err := newColumnReport(name, column)
		if err != nil {
			return errors.Join(table.Flush(), err)
		}
		if err := i.print(w, table, report); err != nil {
			return err
		}
	}
	return table.Flush()
}

// newColumnReport reads the filters of a column. The error is one of reading the file: what is wrong
// with a filter is in the report.
func newColumnReport(name string, c *bloomparquet.Column) (*columnReport, error) {
	r := &columnReport{File: name, Column: c.Meta().Path, Type: c.Type().String(), Keys: keysLookLike(c.Type())}
	for i, chunk := range c.Meta().Chunks {
		group := groupReport{RowGroup: i, Rows: chunk.Rows, NoOrder: chunk.Unordered}
		filter, err := c.Filter(i)
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			return nil, err
		}
		if err != nil {
			group.Unread = withoutPrefix(err)
		} else {
			stats := filter.Stats()
			group.Bits, group.SetBits, group.Rate = stats.Bits, stats.SetBits, &stats.FalsePositiveRate
		}
		if low, high, ok := c.Bounds(i); ok {
			group.Min, group.Max = boundText(c.Type(), low), boundText(c.Type(), high)
		}
		r.RowGroups = append(r.RowGroups, group)
	}
	return r, nil
}

// boundText returns the text of a bound, or nil if it is not known.
func boundText(t bloomparquet.Type, bound []byte) *string {
	if len(bound) == 0 {
		return nil
	}
	text := t.Text(bound)
	return &text
}

// keysLookLike tells which text prune takes for a column.
func keysLookLike(t bloomparquet.Type) string {
	switch example := exampleOf(t); {
	case example != "":
		return example
	case t.Physical == bloomparquet.Boolean:
		return "none"
	case t.Physical == bloomparquet.FixedLenByteArray && t.Logical != bloomparquet.Interval:
		return fmt.Sprintf("%d bytes", t.Width)
	}
	return "--hex"
}

// exampleOf returns a text that is a value of the type, or "" if texts are bytes of some length, or if there
// are none.
func exampleOf(t bloomparquet.Type) string {
	switch t.Logical {
	case bloomparquet.UUID:
		return "01234567-89ab-cdef-0123-456789abcdef"
	case bloomparquet.Decimal:
		if t.Physical != bloomparquet.ByteArray {
			return "-12.50"
		}
		return ""
	case bloomparquet.Date:
		return "2024-05-01"
	case bloomparquet.Time:
		return "12:00:00"
	case bloomparquet.Timestamp:
		if t.UTC {
			return "2024-05-01T12:00:00Z"
		}
		return "2024-05-01T12:00:00"
	case bloomparquet.Float16:
		return "0.5"
	}
	switch t.Physical {
	case bloomparquet.Int32, bloomparquet.Int64:
		return "42"
	case bloomparquet.Float, bloomparquet.Double:
		return "0.5"
	case bloomparquet.ByteArray:
		return "text"
	}
	return ""
}

// mostShown is how many bytes a cell of a table has of a name or a bound.
const mostShown = 40

// head prints the titles of a table.
func (i *inspectCommand) head(table io.Writer) {
	switch {
	case i.JSON:
	case i.Column != "":
		fmt.Fprintln(table, "  ROW GROUP\tROWS\tBITS\tFILL\tRATE\tMIN\tMAX")
	default:
		fmt.Fprintln(table, "  COLUMN\tTYPE\tKEYS\tFILTERS\tBITS\tFILL\tRATE\tBOUNDS")
	}
}

// print prints a column.
func (i *inspectCommand) print(w, table io.Writer, r *columnReport) error {
	switch {
	case i.JSON:
		return json.NewEncoder(w).Encode(r)
	case i.Column != "":
		fmt.Fprint(table, r.rows())
	default:
		fmt.Fprint(table, r.summary())
	}
	return nil
}

// summary returns the line of a column.
func (r *columnReport) summary() string {
	filters, bounds, noOrder := 0, 0, 0
	bits, set, rate, why := uint64(0), uint64(0), 0.0, ""
	for _, group := range r.RowGroups {
		if group.Rate != nil {
			filters, bits, set, rate = filters+1, bits+group.Bits, set+group.SetBits, rate+*group.Rate
		} else if group.Unread != withoutPrefix(bloomparquet.ErrNoFilter) {
			why = " (" + group.Unread + ")"
		}
		switch {
		case group.Min != nil || group.Max != nil:
			bounds++
		case group.NoOrder:
			noOrder++
		}
	}
	without := ""
	if noOrder > 0 {
		without = fmt.Sprintf(", %d without an order", noOrder)
	}
	numbers := "-\t-\t-"
	if filters > 0 {
		numbers = fmt.Sprintf("%d\t%.2f\t%.2g", bits, float64(set)/float64(bits), rate/float64(filters))
	}
	return fmt.Sprintf("  %s\t%s\t%s\t%d of %d%s\t%s\t%d of %d%s\n", show.Name(show.Cut(r.Column, mostShown)), r.Type, r.Keys,
		filters, len(r.RowGroups), why, numbers, bounds, len(r.RowGroups), without)
}

// rows returns a line for each row group.
func (r *columnReport) rows() string {
	var lines strings.Builder
	for _, group := range r.RowGroups {
		numbers := "-\t" + group.Unread + "\t-"
		if group.Rate != nil {
			numbers = fmt.Sprintf("%d\t%.2f\t%.2g", group.Bits, float64(group.SetBits)/float64(group.Bits), *group.Rate)
		}
		bounds := [2]string{"-", "-"}
		for i, bound := range []*string{group.Min, group.Max} {
			switch {
			case bound != nil:
				bounds[i] = show.Name(show.Cut(*bound, mostShown))
			case group.NoOrder:
				bounds[i] = "no order"
			}
		}
		fmt.Fprintf(&lines, "  %d\t%d\t%s\t%s\t%s\n", group.RowGroup, group.Rows, numbers, bounds[0], bounds[1])
	}
	return lines.String()
}
