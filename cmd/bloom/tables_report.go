package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// tableReport has what bloom tables says of a table. It prints it, or writes it as JSON.
type tableReport struct {
	File       string   `json:"file"`
	Family     string   `json:"family,omitempty"`   // RocksDB's column family
	Level      *int     `json:"level"`              // null if no MANIFEST tells it
	Leftover   bool     `json:"leftover,omitempty"` // the MANIFEST does not list the file
	Unasked    bool     `json:"unasked,omitempty"`  // RocksDB does not query the filter on the last level
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
	FileBytes  int64    `json:"file_bytes"`
	Bytes      uint64   `json:"bytes"` // of the filters
	Bits       uint64   `json:"bits"`
	SetBits    uint64   `json:"set_bits"`
	Probes     int      `json:"probes"`
	Entries    *uint64  `json:"entries"`        // null if not known
	Keys       *float64 `json:"estimated_keys"` // null if unlimited
	Fill       float64  `json:"fill"`
	Rate       float64  `json:"false_positive_rate"`
	BestRate   float64  `json:"best_rate"`
	Measured   *float64 `json:"measured_rate,omitempty"` // of a Ribbon filter that is reported alone
	First      *string  `json:"first"`                   // the first key, in hexadecimal digits; null if not known
	UpperBound *string  `json:"upper_bound"`             // in hexadecimal digits; null if not known
	LowerBound *string  `json:"lower_bound,omitempty"`   // in its place, of tables in descending order

	why        error // Ignored
	denied     bool  // the filter denies a key of the table
	descending bool  // the order of the keys
}

func newTableReport(name string, size int64, table *bloomsst.Table) (r tableReport, err error) {
	stats, err := table.Stats()
	r = tableReport{File: name, FileBytes: size, Engine: table.Engine(), Version: table.Version(), Policy: table.Policy()}.with(stats)
	r.Family, r.Leftover, r.Unasked = table.Family(), table.IsLeftover(), table.IsUnasked()
	if level, known := table.Level(); known {
		r.Level = &level
	}
	r.proof(table)
	if n, known := table.Entries(); known {
		r.Entries = &n
	}
	if first, last, known := table.Range(); known {
		r.descending = bytes.Compare(first, last) > 0
		r.First = digits(first)
		r.setBound(last)
	}
	return r, err
}

// digits returns a key in hexadecimal digits.
func digits(key []byte) *string {
	text := hex.EncodeToString(key)
	return &text
}

// setBound sets the bound of the keys. In descending order, it is the lower one.
func (r *tableReport) setBound(last []byte) {
	if r.descending {
		r.LowerBound = digits(last)
	} else {
		r.UpperBound = digits(last)
	}
}

// proof sets what the keys of the table say about its filter, and why it is not asked.
func (r *tableReport) proof(table *bloomsst.Table) {
	keys, err := table.Proved()
	r.Proved = keys
	if r.why = table.Ignored(); r.why != nil {
		r.Ignored, r.denied = tableError{r.why}.Error(), err != nil
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
		r.First = nil
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

// bitsPerKey returns the bits of the filters for each key, or 0 if that is not known.
func (r tableReport) bitsPerKey() float64 {
	if r.Keys == nil || *r.Keys < 1 {
		return 0
	}
	return float64(r.Bits) / *r.Keys
}

// estimate returns the estimated number of keys.
func (r tableReport) estimate() string {
	switch {
	case r.Filters == 0:
		return "-"
	case r.Keys == nil:
		return "any number"
	}
	return humanize.Comma(int64(math.Round(*r.Keys)))
}

// ofFilters returns what a column has if the table has filters, or else a dash.
func (r tableReport) ofFilters(format string, values ...any) string {
	if r.Filters == 0 {
		return "-"
	}
	return fmt.Sprintf(format, values...)
}

// first returns the first key.
func (r tableReport) first() string {
	if r.First == nil {
		return "-"
	}
	return keyOf(*r.First)
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
	return sign + keyOf(*digits)
}

// keyOf returns a key of hexadecimal digits as it is printed.
func keyOf(digits string) string {
	key, _ := hex.DecodeString(digits) // they are digits
	return show.Name(shortened(string(key)))
}
