package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// benchPlot draws how many times faster each kernel was than the plain loop, over the size of
// the filter: a panel for every share of hits, a line for every kernel. Those that were not chosen are
// lighter. The one that was has its time beside it.
func benchPlot(r benchReport) ([]byte, error) {
	kinds, sizes, percents, highest := r.extent()
	f := figure{
		Title: "lanebloom: times faster than the plain loop",
		Lines: []string{
			fmt.Sprintf("%s (%s/%s), %s", r.Machine.CPU, r.Machine.OS, r.Machine.Arch, r.Machine.Go),
			fmt.Sprintf("Keys: %s; filters: %s, %d bits per key", r.Keys, r.Format, r.BitsPerKey),
			"Medians, with bars from the first to the last decile",
			"Numbers at points: ns a key, of the chosen kernel",
		},
	}
	for i, kernel := range r.Machine.Kernels {
		line := series{Name: kernel, Look: looks[i%len(looks)], Marker: markers[i%len(markers)], HasLine: true}
		if i > 0 {
			line.Look += " lighter"
		} else if len(r.Machine.Kernels) > 1 {
			line.Name += " (chosen)"
		}
		f.Shared = append(f.Shared, line)
	}
	f.Shared = append(f.Shared, series{Name: plainLoop, Look: "soft dashed", HasLine: true})

	description := []string{"A panel for each kind of keys and each share of them in the filter, with a line for each kernel over the sizes of the filters."}
	for _, keys := range kinds {
		for _, percent := range percents {
			p := benchPanel(sizes, highest)
			p.Title = fmt.Sprintf("%d %% of the keys in the filter", percent)
			if len(kinds) > 1 {
				p.Title = fmt.Sprintf("%s: %d %% in the filter", keys, percent)
			}
			p.Width = max(p.Width, textWidth(p.Title))
			for i, line := range f.Shared {
				if line.Name == plainLoop {
					line.Points = []point{{X: p.X.Low, Y: 1}, {X: p.X.High, Y: 1}}
				} else {
					// Sideways, so that the bars of kernels do not cover each other.
					shift := 0.18 * (float64(i) - float64(len(r.Machine.Kernels)-1)/2)
					line.Points = r.line(keys, r.Machine.Kernels[i], percent, sizes, shift)
					if i > 0 {
						for j := range line.Points {
							line.Points[j].Label = ""
						}
					}
					description = append(description, fmt.Sprintf("%s, %s: %s.", p.Title, line.Name, wordsOf(line.Points)))
				}
				line.Name = "" // it is in the legend of all
				p.Series = append(p.Series, line)
			}
			f.Panels = append(f.Panels, p)
		}
	}
	if len(f.Panels) > 0 {
		f.Panels[0].Y.Label = "times faster than the plain loop"
	}
	if len(f.Panels) == 1 {
		f.Panels[0].Width = max(500, f.Panels[0].Width)
	}
	f.Description = strings.Join(description, " ")
	return f.draw()
}

// benchPanel returns an empty panel of ratios over sizes, as wide as their labels
// need.
func benchPanel(sizes []int, highest float64) *panel {
	top := math.Ceil(1.05 * highest)
	p := &panel{
		X:     axis{Label: "size of the filter", Low: -0.5, High: float64(len(sizes)) - 0.5},
		Y:     axis{High: top, Ticks: wholes(top, 8)},
		Width: 220, Height: 210,
	}
	for i, size := range sizes {
		t := tick{float64(i), sizeWords(size)}
		p.X.Ticks = append(p.X.Ticks, t)
		p.Width = max(p.Width, textWidth(t.Label)*px(len(sizes)))
	}
	return p
}

// extent returns the kinds of keys, the sizes of filters and the shares of hits that were measured, and
// the largest ratio.
func (r benchReport) extent() (kinds []string, sizes, percents []int, highest float64) {
	highest = 1
	for _, result := range r.Results {
		if !slices.Contains(kinds, result.Keys) {
			kinds = append(kinds, result.Keys)
		}
		if !slices.Contains(sizes, result.FilterBytes) {
			sizes = append(sizes, result.FilterBytes)
		}
		if !slices.Contains(percents, result.HitsPercent) {
			percents = append(percents, result.HitsPercent)
		}
		if result.Path == randomLoads {
			continue
		}
		for _, ratio := range []float64{result.Ratio.Median, result.Ratio.P90} {
			if ratio > highest && !math.IsInf(ratio, 1) {
				highest = ratio
			}
		}
	}
	return kinds, sizes, percents, highest
}

// line returns the ratios of a kernel over the sizes of filters.
func (r benchReport) line(keys, kernel string, percent int, sizes []int, shift float64) (points []point) {
	for _, result := range r.Results {
		if result.Keys != keys || result.Path != kernel || result.HitsPercent != percent {
			continue
		}
		ratio := result.Ratio
		points = append(points, point{
			X: float64(slices.Index(sizes, result.FilterBytes)) + shift,
			Y: ratio.Median, Low: ratio.P10, High: ratio.P90,
			Label: three(result.NsPerKey.Median),
			Words: fmt.Sprintf("%s at %s (%s–%s), %s ns a key",
				three(ratio.Median), sizeWords(result.FilterBytes), three(ratio.P10), three(ratio.P90), three(result.NsPerKey.Median)),
		})
	}
	return points
}

// wordsOf lists points in words.
func wordsOf(points []point) string {
	var words []string
	for _, q := range points {
		words = append(words, q.Words)
	}
	return strings.Join(words, ", ")
}
