package main

import (
	"encoding/json"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
)

type inspectCommand struct {
	formatFlag
	JSON bool   `name:"json" help:"Print JSON."`
	Plot string `placeholder:"FILE" help:"Draw the fill over the length of the filter, and its rate curve, as .svg or .png."`
	File string `arg:"" name:"filter" help:"The filter."`
}

// report is what inspect tells, and its JSON.
type report struct {
	File              string   `json:"file"`
	Format            string   `json:"format"`
	Name              string   `json:"name"` // as stored in tables
	Bytes             int      `json:"bytes"`
	Bits              uint64   `json:"bits"`
	Probes            int      `json:"probes"`
	SetBits           uint64   `json:"set_bits"`
	Fill              float64  `json:"fill"`
	EstimatedKeys     *float64 `json:"estimated_keys"` // null if unlimited
	FalsePositiveRate float64  `json:"false_positive_rate"`
	Kernel            string   `json:"kernel"`
}

func (i *inspectCommand) Run(s *streams) error {
	format, err := i.parse()
	if err != nil {
		return err
	}
	if i.Plot != "" {
		if err := checkPlotName(i.Plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	filter, data, err := openFilter(format, i.File)
	if err != nil {
		return err
	}
	r := newReport(i.File, writtenAs(format, data), filter, len(data))
	array := encodingOf(format).part(data, partBits)
	if i.Plot != "" {
		drawing, err := inspectPlot(r, format, array, i.Plot)
		if err != nil {
			return err
		}
		if err := writeFile(i.Plot, drawing); err != nil {
			return err
		}
	}
	if i.JSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	keys := "any number: every key may be in it"
	if r.EstimatedKeys != nil {
		keys = humanize.CommafWithDigits(math.Round(*r.EstimatedKeys), 0)
		if *r.EstimatedKeys >= 1 {
			keys += fmt.Sprintf(" (%.1f bits per key)", float64(r.Bits) / *r.EstimatedKeys)
		}
	}
	for _, row := range [][2]string{
		{"file", r.File},
		{"format", fmt.Sprintf("%s (%s)", r.Format, r.Name)},
		{"size", humanize.Comma(int64(r.Bytes)) + " bytes"},
		{"bits", humanize.Comma(int64(r.Bits))},
		{"probes per key", fmt.Sprint(r.Probes)},
		{"fill", fmt.Sprintf("%.2f %% (%s bits set)", 100*r.Fill, humanize.Comma(int64(r.SetBits)))},
		{"estimated keys", keys},
		{"false positives", fmt.Sprintf("%.3g %% of absent keys", 100*r.FalsePositiveRate)},
		{"kernel", r.Kernel},
	} {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	if isTerminal(s.out) && len(array) > 0 {
		fmt.Fprintf(w, "over its length\t%s\n", picture(array))
	}
	return w.Flush()
}

// writtenAs returns the format of a filter that was opened as f: nori reads both of
// nori-sstable's.
func writtenAs(f bloom.Format, data []byte) bloom.Format {
	if f == bloom.Nori && !isDocumented(data) {
		return bloom.NoriCrate
	}
	return f
}

func newReport(file string, format bloom.Format, filter *bloom.Filter, size int) report {
	stats := filter.Stats()
	r := report{
		File:              file,
		Format:            format.String(),
		Name:              format.Name(),
		Bytes:             size,
		Bits:              stats.Bits,
		Probes:            stats.Probes,
		SetBits:           stats.SetBits,
		Fill:              stats.Fill(),
		FalsePositiveRate: stats.FalsePositiveRate,
		Kernel:            filter.Kernel().String(),
	}
	if !math.IsInf(stats.Keys, 1) {
		r.EstimatedKeys = &stats.Keys
	}
	return r
}
