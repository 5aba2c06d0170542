package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// tableReport has what bloom tables says of a table. It prints it, or writes it as JSON.
type tableReport struct {
	File       string   `json:"file"`
	Engine     string   `json:"engine"`
	Version    int      `json:"version"`           // of the table's format; 0 for engines that have one
	Policy     string   `json:"policy"`            // empty if the table names none
	Ignored    string   `json:"ignored,omitempty"` // why the filter is not read
	Filter     *int     `json:"filter,omitempty"`  // the number of the filter that is reported alone
	From       uint64   `json:"from,omitempty"`    // the offsets of the data blocks that it covers
	To         uint64   `json:"to,omitempty"`
	Filters    int      `json:"filters"`
	Unread     int      `json:"unread,omitempty"` // filters that are no Bloom filters
	Empty      int      `json:"empty,omitempty"`  // stretches of 2 KiB without a filter
	Bytes      uint64   `json:"bytes"`            // of the filters
	Bits       uint64   `json:"bits"`
	SetBits    uint64   `json:"set_bits"`
	Probes     int      `json:"probes"`
	Entries    *uint64  `json:"entries"`        // null if not known
	Keys       *float64 `json:"estimated_keys"` // null if unlimited
	Fill       float64  `json:"fill"`
	Rate       float64  `json:"false_positive_rate"`
	BestRate   float64  `json:"best_rate"`
	UpperBound *string  `json:"upper_bound"` // in hexadecimal digits; null if not known

	why error // Ignored
}

func newTableReport(name string, table *bloomsst.Table) (r tableReport, err error) {
	stats, err := table.Stats()
	r = tableReport{File: name, Engine: table.Engine(), Version: table.Version(), Policy: table.Policy()}.with(stats)
	if r.why = table.Ignored(); r.why != nil {
		r.Ignored = tableError{r.why}.Error()
	}
	if n, known := table.Entries(); known {
		r.Entries = &n
	}
	bound, boundErr := table.UpperBound()
	if bound != nil {
		digits := hex.EncodeToString(bound)
		r.UpperBound = &digits
	}
	return r, errors.Join(err, boundErr)
}

// with returns the report with the numbers of filters.
func (r tableReport) with(s bloomsst.Stats) tableReport {
	r.Filters, r.Unread, r.Empty, r.Probes = s.Filters, s.Unread, s.Empty, s.Probes
	r.Bytes, r.Bits, r.SetBits, r.Fill = s.Bytes, s.Bits, s.SetBits, s.Fill()
	r.Rate, r.BestRate, r.Keys = s.FalsePositiveRate, s.BestRate, nil
	if !s.KeysUnknown && s.Filters > 0 {
		r.Keys = &s.Keys
	}
	return r
}

// ofPart returns the report of one filter of the table.
func (r tableReport) ofPart(number int, part bloomsst.Part) tableReport {
	r = r.with(part.Stats())
	r.Filter, r.From, r.To = &number, part.From, part.To
	if part.LastKey != nil {
		last := hex.EncodeToString(part.LastKey)
		r.UpperBound = &last
	}
	return r
}

// table returns the engine, and the version of the table's format if it has several.
func (r tableReport) table() string {
	if r.Engine == bloomsst.RocksDB || r.Engine == bloomsst.Pebble {
		return fmt.Sprintf("%s %d", r.Engine, r.Version)
	}
	return r.Engine
}

func (r tableReport) policy() string {
	if r.Policy == "" {
		return "-"
	}
	return show.Name(r.Policy)
}

// numbers returns the columns from the number of filters to the best rate, with tabs between.
func (r tableReport) numbers() string {
	if r.Filters == 0 {
		return strings.Join([]string{"0", "-", "-", "-", "-", "-"}, "\t")
	}
	keys, bits := "any number", "-"
	if r.Keys != nil {
		keys = humanize.Comma(int64(math.Round(*r.Keys)))
		if *r.Keys >= 1 {
			bits = fmt.Sprintf("%.1f", float64(r.Bits) / *r.Keys)
		}
	}
	filters := humanize.Comma(int64(r.Filters))
	if r.Filter != nil {
		filters = fmt.Sprintf("number %d", *r.Filter)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%.1f %%\t%.3g %%\t%.3g %%",
		filters, keys, bits, 100*r.Fill, 100*r.Rate, 100*r.BestRate)
}

// bound returns the bound of the keys, marked as one.
func (r tableReport) bound() string {
	if r.UpperBound == nil {
		return "-"
	}
	key, _ := hex.DecodeString(*r.UpperBound) // they are digits
	const most = 64
	if len(key) > most {
		return "<= " + show.Name(string(key[:most])) + "..."
	}
	return "<= " + show.Name(string(key))
}

// tableSum adds up tables.
type tableSum struct {
	Tables      int
	all         tableReport
	keys        float64
	unknown     bool
	rates, best float64 // times keys
}

func (s *tableSum) add(r tableReport) {
	s.Tables++
	s.all.Filters += r.Filters
	s.all.Bits += r.Bits
	s.all.SetBits += r.SetBits
	if r.Filters == 0 {
		return
	}
	if r.Keys == nil {
		s.unknown = true
		return
	}
	s.keys += *r.Keys
	s.rates += r.Rate * *r.Keys
	s.best += r.BestRate * *r.Keys
}

// report returns the sums as if they were of one table. A rate is the mean over the keys.
func (s *tableSum) report() tableReport {
	r := s.all
	r.Fill = float64(r.SetBits) / float64(max(r.Bits, 1))
	if s.keys > 0 {
		r.Rate, r.BestRate = s.rates/s.keys, s.best/s.keys
	}
	if !s.unknown {
		r.Keys = &s.keys
	}
	return r
}

// tableDoubts collects the tables whose filters serve little or not at all.
type tableDoubts struct{ names [][]string } // of each of tableKinds

// tooFull is a fill from which a filter has more keys than it was made for, or one probe.
const tooFull = 0.6

// fewKeys is a number of keys for which a filter of its own takes far more bits than it has to: LevelDB's have 64 at least.
const fewKeys = 8

// tableKinds are the kinds of doubts, and what is said of tables.
var tableKinds = []struct {
	text string
	is   func(r tableReport) bool
}{
	{"no filter", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrNoFilter) }},
	{"a filter of an unknown policy, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPolicy) }},
	{"a Ribbon filter, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrRibbon) || r.Unread > 0 }},
	{"a filter of prefixes alone, which is not asked for keys", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPrefix) }},
	{"a filter in partitions by an unknown comparator, which is not asked for keys", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrComparator) }},
	{"filters that are too full: more than 60 % of the bits are set", func(r tableReport) bool { return r.Filters > 0 && (r.Fill > tooFull || r.Keys == nil) }},
	{"filters that are too small: less than 8 keys share one, because data blocks are longer than 2 KiB and have few keys", func(r tableReport) bool {
		return r.Filters > 1 && r.Keys != nil && *r.Keys < fewKeys*float64(r.Filters)
	}},
	{"filters for some of the 2 KiB stretches alone: data blocks are longer, which costs 4 bytes for each stretch", func(r tableReport) bool { return r.Empty > r.Filters }},
}

func (d *tableDoubts) add(r tableReport) {
	if d.names == nil {
		d.names = make([][]string, len(tableKinds))
	}
	for i, kind := range tableKinds {
		if kind.is(r) {
			d.names[i] = append(d.names[i], r.File)
		}
	}
}

// warn prints a line for each kind of doubts.
func (d *tableDoubts) warn(s *cli.Streams) {
	for i, names := range d.names {
		switch n := len(names); {
		case n == 1:
			s.Warn(names[0], "the table has "+tableKinds[i].text)
		case n == 2:
			s.Warn(names[0], "this table and 1 other have "+tableKinds[i].text)
		case n > 2:
			s.Warn(names[0], fmt.Sprintf("this table and %d others have %s", n-1, tableKinds[i].text))
		}
	}
}
