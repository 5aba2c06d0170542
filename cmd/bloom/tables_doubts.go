package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// tableDoubts collects the tables whose filters serve little or not at all.
type tableDoubts struct {
	reports [][]tableReport // of each of tableKinds
}

// tooFull is a fill from which a filter has more keys than it was made for, or one probe.
const tooFull = 0.6

// tooOften is a rate above which a filter is too small: it lets more absent keys pass than a filter of 6.3 bits for each key.
const tooOften = 0.05

// wasteful is how many bits for each key are more than any rate needs, of filters of at least smallFilter bytes: engines round small ones up.
const (
	wasteful    = 21
	smallFilter = 1 << 10
)

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
	deniedKind = tableKind{"a filter that lacks keys of its own table, so every key may be in the table", func(r tableReport) bool { return r.denied && !errors.Is(r.why, bloomsst.ErrComparator) },
		func(r tableReport) string { return r.Ignored }}
	unprovedKind = tableKind{"a filter that could not be checked, because data could not be read", func(r tableReport) bool { return r.Unproved != "" },
		func(r tableReport) string { return r.Unproved }}
)

// tableKinds are the kinds of doubts.
var tableKinds = []tableKind{
	{"no filter", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrNoFilter) }, nil},
	{"a filter with an unknown policy, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPolicy) && !r.denied }, nil},
	{"a filter with an unknown format, which is not read", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrRibbon) || r.Unread > 0 }, nil},
	{"a filter that has only prefixes of keys, so it cannot be queried without --prefix", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrPrefix) && !r.denied }, nil},
	{"filters that are not queried, because the order of the keys is not known", func(r tableReport) bool { return errors.Is(r.why, bloomsst.ErrComparator) }, nil},
	deniedKind, unprovedKind,
	{"filters that are too full: more than 60 % of the bits are set", tableReport.isTooFull, nil},
	{"filters that are too small: more than 5 % of absent keys are false positives", func(r tableReport) bool { return r.Rate > tooOften && !r.isTooFull() },
		func(r tableReport) string { return percent(r.Rate) + " are" }},
	{"filters that are wasted: they have more than 21 bits per key", func(r tableReport) bool { return r.bitsPerKey() > wasteful && r.Bytes >= smallFilter },
		func(r tableReport) string { return fmt.Sprintf("%.1f", r.bitsPerKey()) }},
	{"filters that are wasted: RocksDB does not query filters on the last level of a family (optimize_filters_for_hits)", func(r tableReport) bool { return r.Unasked && r.Filters > 0 }, nil},
	{"filters for fewer than 8 keys each, because data blocks are longer than 2 KiB and have few keys", func(r tableReport) bool {
		return r.Engine == bloomsst.LevelDB && r.shared() < fewKeys
	}, nil},
	{"filter partitions for fewer than 8 keys each (metadata_block_size)", func(r tableReport) bool {
		return r.Engine != bloomsst.LevelDB && r.shared() < fewKeys
	}, nil},
	{"filters for only some stretches of 2 KiB: data blocks are longer, and the list of empty stretches takes a tenth of the filter or more", func(r tableReport) bool {
		return 4*10*uint64(r.Empty) >= r.Bytes && r.Empty > 0
	}, nil},
	{"no entry in the MANIFEST, like files that a compaction has left behind or is writing", func(r tableReport) bool { return r.Leftover }, nil},
}

// isTooFull reports whether a filter has more keys than it was made for, or one probe.
func (r tableReport) isTooFull() bool { return r.Filters > 0 && (r.Fill > tooFull || r.Keys == nil) }

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
	if !errors.Is(r.why, bloomsst.ErrComparator) {
		r.why = nil // it is of other kinds, too
	}
	if r.denied || r.Unproved != "" {
		d.add(r)
	}
}

// named is how many tables of a kind a warning names.
const named = 3

// warn prints a line for each kind of doubts: how many tables it is about, and the first of them.
func (d *tableDoubts) warn(s *cli.Streams) {
	for i, of := range d.reports {
		text := tableKinds[i].text
		switch n := len(of); {
		case n == 1 && tableKinds[i].more != nil:
			s.Warn(of[0].File, "the table has "+text+": "+tableKinds[i].more(of[0]))
		case n == 1:
			s.Warn(of[0].File, "the table has "+text)
		case n > 1:
			s.Say("warning: %s have %s: %s", countOf(n), text, namesOf(of))
		}
	}
}

// namesOf returns the names of the first tables, and how many more there are.
func namesOf(of []tableReport) string {
	var names []string
	for _, r := range of[:min(named, len(of))] {
		names = append(names, show.Name(r.File))
	}
	if more := len(of) - named; more > 0 {
		names = append(names, humanize.Comma(int64(more))+" more")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
