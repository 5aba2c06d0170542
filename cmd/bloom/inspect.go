package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

type inspectCommand struct {
	cli.FilterFlags
	partFlag
	keysFlags
	Absent  cli.Input  `placeholder:"FILE" help:"Measure the false-positive rate with this file of absent keys, one per line (- means standard input)."`
	JSON    bool       `name:"json" help:"Print JSON."`
	Plot    cli.Output `placeholder:"FILE" help:"Draw the fill of each part of the filter, and the rate curve, in an SVG file; FILE must end in .svg."`
	Picture cli.Output `placeholder:"FILE" help:"Draw all bits in a PNG file; if the filter is large, each pixel stands for a square of bits. FILE must end in .png."`
	File    cli.Input  `arg:"" name:"filter" help:"The filter (- means standard input) or a table file."`
}

// report has the results of inspect. inspect prints it, or writes it as JSON.
type report struct {
	File              string   `json:"file"`
	Encoding          string   `json:"encoding"`
	Format            string   `json:"format"`
	Name              string   `json:"name"`  // as stored in tables
	Bytes             int      `json:"bytes"` // bare
	Bits              uint64   `json:"bits"`
	Probes            int      `json:"probes"`
	SetBits           uint64   `json:"set_bits"`
	Fill              float64  `json:"fill"`
	Keys              *uint64  `json:"keys"`           // null if not known
	KeyKind           *string  `json:"key_kind"`       // null if not known
	EstimatedKeys     *float64 `json:"estimated_keys"` // null if unlimited
	FalsePositiveRate float64  `json:"false_positive_rate"`
	AbsentRate        *float64 `json:"absent_rate,omitempty"` // of the keys of --absent
	Kernel            string   `json:"kernel"`

	Table  *tableReport `json:"table,omitempty"`  // from which the filter was taken
	Filter *int         `json:"filter,omitempty"` // its number there
}

// Help returns the text that bloom inspect --help prints below the flags.
func (i *inspectCommand) Help() string { return cli.FilterHelp + partHelp }

func (i *inspectCommand) Run(s *cli.Streams) error {
	if err := errors.Join(checkExtension("--plot", i.Plot, ".svg"), checkExtension("--picture", i.Picture, ".png")); err != nil {
		return err
	}
	if i.Absent == "" && i.keysFlags != (keysFlags{}) {
		return errors.New("flags for keys, such as --null, --csv and --field, need --absent")
	}
	open := i.Open
	if i.Absent != "" {
		open = i.OpenText
	}
	filter, table, err := i.openTableOr(i.Raw, string(i.File), func() (filterfile.Filter, error) { return open(s, string(i.File)) })
	if err != nil {
		return err
	}
	if table != nil && filter.Filter == nil {
		return i.printTable(s, table)
	}
	r := newReport(string(i.File), filter)
	if table != nil {
		r.Encoding, r.Table, r.Filter = encodingTable, &table.report, &table.number
	}
	if i.Absent != "" {
		if r.AbsentRate, err = i.measure(s, filter.Filter); err != nil {
			return err
		}
	}
	from, to := filter.BitRange()
	array := filter.Bytes()[from:to]
	if i.Plot != "" {
		drawing, err := inspectPlot(r, filter.Format(), array)
		if err != nil {
			return err
		}
		if err := s.Outputs().WriteBytes(string(i.Plot), drawing); err != nil {
			return err
		}
	}
	if i.Picture != "" {
		picture, err := inspectPicture(array, answers.DrawnBits(filter.Filter, r.Bits), r.SetBits)
		if err != nil {
			return fmt.Errorf("--picture: %w", err)
		}
		if err := s.Outputs().WriteBytes(string(i.Picture), picture); err != nil {
			return err
		}
	}
	if i.JSON {
		return s.PrintJSON(r)
	}
	rows := append(r.rows(), i.absentRow(r)...)
	if table != nil {
		rows = slices.Insert(rows, 2, table.rows()...)
	}
	if cli.IsTerminal(s.Out) && len(array) > 0 {
		rows = append(rows, [2]string{"over its length", picture(array)})
	}
	return s.PrintRows(rows)
}

// checkExtension returns an error unless a file that a flag names, if it does, has the extension of what is drawn.
func checkExtension(flag string, name cli.Output, want string) error {
	if has := filepath.Ext(string(name)); name != "" && !strings.EqualFold(has, want) {
		return fmt.Errorf("%s: %s: the name must end in %s, not in %q", flag, show.Name(name), want, has)
	}
	return nil
}

// measure returns the share of the keys of --absent that pass the filter.
func (i *inspectCommand) measure(s *cli.Streams, filter *bloom.Filter) (*float64, error) {
	keys, passed := 0, 0
	err := i.readAll(s, []cli.Input{i.Absent}, hashing(filter.Format()), func(c *records.Chunk) {
		keys += c.Hashed.Len()
		passed += filter.MayContainBatch(c.Hashed, make([]uint64, (c.Hashed.Len()+63)/64))
	})
	if err != nil {
		return nil, err
	}
	if keys == 0 {
		return nil, fmt.Errorf("--absent: %s has no keys", show.Name(i.Absent))
	}
	rate := float64(passed) / float64(keys)
	return &rate, nil
}

// absentRow returns the row of the keys of --absent, if there is one.
func (i *inspectCommand) absentRow(r report) [][2]string {
	if r.AbsentRate == nil {
		return nil
	}
	return [][2]string{{"measured", fmt.Sprintf("%.3g %% of the keys of %s", 100**r.AbsentRate, show.Name(i.Absent))}}
}

// rows returns the names and the values that inspect prints.
func (r report) rows() [][2]string {
	added, kind, encoding := "not known", "not known", "bare bytes"
	if r.KeyKind != nil {
		kind = *r.KeyKind
	}
	if r.Keys != nil {
		added = humanize.Comma(int64(min(*r.Keys, math.MaxInt64)))
	}
	switch r.Encoding {
	case encodingFile:
		encoding = "file, checksums verified"
	case encodingTable:
		encoding = "table, checksums verified"
	}
	return [][2]string{
		{"file", show.Name(r.File)},
		{"encoding", encoding},
		{"format", fmt.Sprintf("%s (%s)", r.Format, r.Name)},
		{"size", humanize.Comma(int64(r.Bytes)) + " bytes"},
		{"bits", wholeNumber(r.Bits)},
		{"probes per key", fmt.Sprint(r.Probes)},
		{"fill", fmt.Sprintf("%.2f %% (%s bits set)", 100*r.Fill, humanize.Comma(int64(r.SetBits)))},
		{"keys", added},
		{"kind of keys", kind},
		{"estimated keys", keysText(r.EstimatedKeys, r.Bits)},
		{"false positives", fmt.Sprintf("%.3g %% of random keys, measured", 100*r.FalsePositiveRate)},
		{"kernel", r.Kernel},
	}
}

// The encodings, as the report names them.
const (
	encodingFile  = "file"
	encodingBare  = "bare"
	encodingTable = "table"
)

// keysText returns an estimated number of keys, or what none means, with the bits for each.
func keysText(estimated *float64, bits uint64) string {
	if estimated == nil {
		return "any number: every key may be in it"
	}
	text := humanize.CommafWithDigits(math.Round(*estimated), 0)
	if *estimated >= 1 {
		text += fmt.Sprintf(" (%.1f bits per key)", float64(bits) / *estimated)
	}
	return text
}

// wholeNumber writes a number that a header can claim, up to the largest.
func wholeNumber(n uint64) string { return humanize.BigComma(new(big.Int).SetUint64(n)) }

func newReport(file string, filter filterfile.Filter) report {
	stats := filter.Stats()
	format := filter.Written()
	r := report{
		File:              file,
		Encoding:          encodingBare,
		Format:            format.String(),
		Name:              format.Name(),
		Bytes:             len(filter.Bytes()),
		Bits:              stats.Bits,
		Probes:            stats.Probes,
		SetBits:           stats.SetBits,
		Fill:              float64(stats.SetBits) / float64(max(stats.Bits, 1)),
		FalsePositiveRate: filter.MeasureRate(),
		Kernel:            filter.Kernel().String(),
	}
	if filter.IsFile {
		r.Encoding = encodingFile
	}
	if n, known := filter.KeyCount(); known {
		r.Keys = &n
	}
	if kind := string(filter.KeyKind()); kind != "" {
		r.KeyKind = &kind
	}
	if !stats.KeysUnknown {
		r.EstimatedKeys = &stats.Keys
	}
	return r
}
