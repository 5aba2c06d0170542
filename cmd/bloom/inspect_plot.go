package main

import (
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

// inspectPlot draws the fill of a filter over the length of its array. If the filter has a
// number of keys, it also draws the rate curve.
func inspectPlot(r report, format bloom.Format, array []byte) ([]byte, error) {
	fill := fillPanel(r, array)
	f := figure{
		Title:  filepath.Base(r.File),
		Lines:  []string{fmt.Sprintf("%s, %s bytes, %d probes per key", r.Format, humanize.Comma(int64(r.Bytes)), r.Probes)},
		Panels: []*panel{fill},
		Description: fmt.Sprintf("The share of set bits in each part of the array. Of all %s bits, %.3g %% are set.",
			wholeNumber(r.Bits), 100*r.Fill),
	}
	keys, words := r.keysToDraw()
	if keys < 1 {
		fill.Width *= 2
		return f.draw()
	}
	f.Panels = append(f.Panels, ratesPanel(r, format, keys, words))
	f.Description += fmt.Sprintf(" The false-positive rate of filters of as many keys over their bits per key, and that of this filter: %.3g %%.",
		100*r.FalsePositiveRate)
	return f.draw()
}

const inspectWidth, inspectHeight px = 350, 210

// fillPanel draws the share of set bits in each part of the array.
func fillPanel(r report, array []byte) *panel {
	length := float64(len(array))
	p := &panel{
		Title: "Fill",
		X:     axis{Label: "byte of the array", High: max(length, 1), Ticks: byteTicks(max(length, 1))},
		Y:     axis{Label: "bits set, %", High: 100, Ticks: wholes(100, 5)},
		Width: inspectWidth, Height: inspectHeight,
	}
	shares := density(array, 128)
	if len(shares) == 0 {
		return p
	}
	parts := series{Name: fmt.Sprintf("each 1/%d of the array", len(shares)), Look: looks[0], HasLine: true, HasArea: true}
	for i, share := range shares {
		for _, edge := range []int{i, i + 1} {
			parts.Points = append(parts.Points, point{X: float64(edge) * length / float64(len(shares)), Y: 100 * share})
		}
	}
	p.Series = []series{parts, {
		Name: fmt.Sprintf("%.3g %% of all %s bits", 100*r.Fill, wholeNumber(r.Bits)),
		Look: "ink dashed", HasLine: true,
		Points: []point{{X: 0, Y: 100 * r.Fill}, {X: length, Y: 100 * r.Fill}},
	}}
	return p
}

// byteTicks returns as many ticks for an array of this length as there is room for.
func byteTicks(length float64) []tick {
	return wholes(length, int(inspectWidth/(20+textWidth(humanize.Commaf(length)))))
}

// keysToDraw returns the number of keys that the header has or, if it has none, the estimate; 0 if
// neither is known. The words say which it is.
func (r report) keysToDraw() (n int, words string) {
	switch {
	case r.Keys != nil:
		n = int(min(*r.Keys, math.MaxInt))
		return n, "n = " + humanize.Comma(int64(n))
	case r.EstimatedKeys != nil:
		n = int(math.Round(*r.EstimatedKeys))
		return n, fmt.Sprintf("n ≈ %s (estimated)", humanize.Comma(int64(n)))
	}
	return 0, ""
}

// ratesPanel draws the expected rate of a number of keys over bits per key, and the filter as it is.
func ratesPanel(r report, format bloom.Format, keys int, words string) *panel {
	bitsPerKey := float64(r.Bits) / float64(keys)
	// For a nearly empty filter, the curve ends before the point.
	last := int(min(max(24, 1.2*bitsPerKey), 100))
	rates := answers.RateCurve(format, keys, 0, 1, last)
	curve := series{Name: "expected, " + words, Look: looks[0], HasLine: true}
	for _, q := range rates {
		curve.Points = append(curve.Points, point{X: q.BitsPerKey, Y: 100 * q.Rate})
	}
	here := series{Name: fmt.Sprintf("this filter, measured: %.3g %%", 100*r.FalsePositiveRate), Look: "ink", Marker: disc}
	if bitsPerKey <= float64(last) {
		here.Points = []point{{X: bitsPerKey, Y: 100 * r.FalsePositiveRate, Words: here.Name}}
	} else {
		here.Name += fmt.Sprintf(", at %s bits per key", humanize.Commaf(math.Round(bitsPerKey)))
	}
	lowest := 10.0 // so that the axis has a tick or two
	for _, q := range slices.Concat(curve.Points, here.Points) {
		if q.Y > 0 { // which a power of ten can be
			lowest = min(lowest, q.Y)
		}
	}
	p := &panel{
		Title: "False positives",
		X:     axis{Label: "bits per key", High: float64(last), Ticks: wholes(float64(last), 8)},
		Y:     axis{Label: "false-positive rate, %", Low: math.Pow10(int(math.Floor(math.Log10(lowest)))), High: 100, Log: true},
		Width: inspectWidth, Height: inspectHeight,
		Series: []series{curve, here},
	}
	p.Y.Ticks = decades(p.Y.High, p.Y.Low)
	return p
}

// density returns the share of set bits in each part of an array. It has up to n equal parts
// of at least a byte.
func density(array []byte, n int) []float64 {
	shares := make([]float64, min(n, len(array)))
	for i := range shares {
		part := array[i*len(array)/len(shares) : (i+1)*len(array)/len(shares)]
		shares[i] = float64(ones(part)) / float64(8*len(part))
	}
	return shares
}

// ones counts the set bits.
func ones(data []byte) (n int) {
	for _, b := range data {
		n += bits.OnesCount8(b)
	}
	return n
}

// picture draws the fill over the length of an array in one line of text. The height of a
// character is the fill, from none to full.
func picture(array []byte) string {
	const blocks, columns = " ▁▂▃▄▅▆▇█", 56
	heights := []rune(blocks)
	line := make([]rune, 0, columns)
	for _, share := range density(array, columns) {
		line = append(line, heights[int(math.Round(share*float64(len(heights)-1)))])
	}
	return "│" + string(line) + "│"
}
