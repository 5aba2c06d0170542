package main

import (
	"bytes"
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
	Version    int      `json:"version"`            // of the table's format; 0 for engines that have one
	Policy     string   `json:"policy"`             // empty if the table names none
	Ignored    string   `json:"ignored,omitempty"`  // why the filter is not asked
	Proved     int      `json:"proved_keys"`        // keys of the table for which the filter was tested
	Unproved   string   `json:"unproved,omitempty"` // what could not be read of these
	Filter     *int     `json:"filter,omitempty"`   // the number of the filter that is reported alone
	From       uint64   `json:"from,omitempty"`     // the offsets of the data blocks that it covers
	To         uint64   `json:"to,omitempty"`
	Filters    int      `json:"filters"`
	Ribbons    int      `json:"ribbons,omitempty"` // of these: Ribbon filters
	Unread     int      `json:"unread,omitempty"`  // filters of an unknown format
	Empty      int      `json:"empty,omitempty"`   // stretches of 2 KiB without a filter
	Bytes      uint64   `json:"bytes"`             // of the filters
	Bits       uint64   `json:"bits"`
	SetBits    uint64   `json:"set_bits"`
	Probes     int      `json:"probes"`
	Entries    *uint64  `json:"entries"`        // null if not known
	Keys       *float64 `json:"estimated_keys"` // null if unlimited
	Fill       float64  `json:"fill"`
	Rate       float64  `json:"false_positive_rate"`
	BestRate   float64  `json:"best_rate"`
	Measured   *float64 `json:"measured_rate,omitempty"` // of a Ribbon filter that is reported alone
	UpperBound *string  `json:"upper_bound"`             // in hexadecimal digits; null if not known
	LowerBound *string  `json:"lower_bound,omitempty"`   // in its place, of tables in descending order

	why        error // Ignored
	denied     bool  // the filter denies a key of the table
	descending bool  // the order of the keys
}

func newTableReport(name string, table *bloomsst.Table) (r tableReport, err error) {
	stats, err := table.Stats()
	r = tableReport{File: name, Engine: table.Engine(), Version: table.Version(), Policy: table.Policy()}.with(stats)
	r.proof(table)
	if n, known := table.Entries(); known {
		r.Entries = &n
	}
	if first, last, known := table.Range(); known {
		r.descending = bytes.Compare(first, last) > 0
		r.setBound(last)
	}
	return r, err
}

// setBound sets the bound of the keys. In descending order, it is the lower one.
func (r *tableReport) setBound(last []byte) {
	digits := hex.EncodeToString(last)
	if r.descending {
		r.LowerBound = &digits
	} else {
		r.UpperBound = &digits
	}
}

// proof sets what the keys of the table say about its filter, and why it is not asked.
func (r *tableReport) proof(table *bloomsst.Table) {
	opened := table.Ignored() == nil
	keys, err := table.Proved()
	r.Proved = keys
	if r.why = table.Ignored(); r.why != nil {
		r.Ignored, r.denied = tableError{r.why}.Error(), opened
	} else if err != nil {
		r.Unproved = tableError{err}.Error()
	}
}

// with returns the report with the numbers of filters.
func (r tableReport) with(s bloomsst.Stats) tableReport {
	r.Filters, r.Ribbons, r.Unread, r.Empty, r.Probes = s.Filters, s.Ribbons, s.Unread, s.Empty, s.Probes
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
	if part.Ribbon != nil {
		measured := part.Ribbon.MeasureRate()
		r.Measured = &measured
	}
	if part.LastKey != nil {
		r.setBound(part.LastKey)
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
	return show.Name(shortened(r.Policy))
}

// shortened returns the first bytes of a long name or key.
func shortened(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
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
	digits, sign := r.UpperBound, "<= "
	if r.descending {
		digits, sign = r.LowerBound, ">= "
	}
	if digits == nil {
		return "-"
	}
	key, _ := hex.DecodeString(*digits) // they are
	return sign + show.Name(shortened(string(key)))
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
type tableDoubts struct {
	reports [][]tableReport // of each of tableKinds
}

// tooFull is a fill from which a filter has more keys than it was made for, or one probe.
const tooFull = 0.6

// fewKeys is a number of keys for which a filter of its own takes far more bits than it has to: LevelDB's have 64 at least.
const fewKeys = 8

// tableKind is a kind of doubts: what is said of tables, and what is added if it is one table.
type tableKind struct {
	text string
	is   func(r tableReport) bool
	more func(r tableReport) string
}

// The doubts of a proof.
var (
	deniedKind = tableKind{"a filter that its own keys disprove: every key may be in the table", func(r tableReport) bool { return r.denied },
		func(r tableReport) string { return r.Ignored }}
	unprovedKind = tableKind{"a filter that its own keys do not prove, because data could not be read", func(r tableReport) bool { return r.Unproved != "" },
		func(r tableReport) string { return r.Unproved }}
)

// tableKinds are the kinds of doubts.
var tableKinds = []tableKind{
	{"no filter", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrNoFilter) }, nil},
	{"a filter of an unknown policy, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPolicy) && !r.denied }, nil},
	{"a filter of an unknown format, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrRibbon) || r.Unread > 0 }, nil},
	{"a filter of prefixes alone, which is not asked for keys", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPrefix) && !r.denied }, nil},
	{"a filter in partitions by an unknown comparator, which is not asked for keys", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrComparator) && !r.denied }, nil},
	deniedKind, unprovedKind,
	{"filters that are too full: more than 60 % of the bits are set", func(r tableReport) bool { return r.Filters > 0 && (r.Fill > tooFull || r.Keys == nil) }, nil},
	{"filters that are too small: less than 8 keys share one, because data blocks are longer than 2 KiB and have few keys", func(r tableReport) bool {
		return r.Engine == bloomsst.LevelDB && r.shared() < fewKeys
	}, nil},
	{"partitions of the filter that are too small: less than 8 keys share one (metadata_block_size)", func(r tableReport) bool {
		return r.Engine != bloomsst.LevelDB && r.shared() < fewKeys
	}, nil},
	{"filters for some of the 2 KiB stretches alone: data blocks are longer, which costs 4 bytes for each stretch", func(r tableReport) bool { return r.Empty > r.Filters }, nil},
}

// shared returns how many keys share a filter, of tables that have several.
func (r tableReport) shared() float64 {
	if r.Filters < 2 || r.Keys == nil {
		return math.Inf(1)
	}
	return *r.Keys / float64(r.Filters)
}

func (d *tableDoubts) add(r tableReport) {
	if d.reports == nil {
		d.reports = make([][]tableReport, len(tableKinds))
	}
	for i, kind := range tableKinds {
		if kind.is(r) {
			d.reports[i] = append(d.reports[i], r)
		}
	}
}

// addProof adds a table whose filter is disproved or not proved.
func (d *tableDoubts) addProof(name string, table *bloomsst.Table) {
	r := tableReport{File: name}
	r.proof(table)
	if r.why = nil; r.denied || r.Unproved != "" {
		d.add(r)
	}
}

// warn prints a line for each kind of doubts.
func (d *tableDoubts) warn(s *cli.Streams) {
	for i, of := range d.reports {
		text := tableKinds[i].text
		switch n := len(of); {
		case n == 1 && tableKinds[i].more != nil:
			s.Warn(of[0].File, "the table has "+text+": "+tableKinds[i].more(of[0]))
		case n == 1:
			s.Warn(of[0].File, "the table has "+text)
		case n == 2:
			s.Warn(of[0].File, "this table and 1 other have "+text)
		case n > 2:
			s.Warn(of[0].File, fmt.Sprintf("this table and %d others have %s", n-1, text))
		}
	}
}
