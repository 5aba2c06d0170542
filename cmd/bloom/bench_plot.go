package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// benchPlot draws how many times faster than the plain loop each kernel was, over
// the filters, for every share of hits.
func benchPlot(r benchReport, path string) ([]byte, error) {
	var sizes []string
	var percents []int
	place := map[int]float64{} // of a filter, by its bytes
	for _, result := range r.Results {
		if _, ok := place[result.FilterBytes]; !ok {
			place[result.FilterBytes] = float64(len(sizes))
			sizes = append(sizes, sizeWords(result.FilterBytes))
		}
		if !slices.Contains(percents, result.HitsPercent) {
			percents = append(percents, result.HitsPercent)
		}
	}
	highest := 1.0
	var plots []*plot.Plot
	for _, percent := range percents {
		p := newPlot(fmt.Sprintf("%d %% of the keys in the filter", percent), "", "", 1.25*vg.Inch)
		for i, kernel := range r.Machine.Kernels {
			line := kernelLine{shift: 0.06 * (float64(i) - float64(len(r.Machine.Kernels)-1)/2)}
			for _, result := range r.Results {
				if result.Path == kernel && result.HitsPercent == percent {
					line.add(place[result.FilterBytes], result.Ratio)
					highest = max(highest, result.Ratio.P90)
				}
			}
			if err := line.addTo(p, kernel, i); err != nil {
				return nil, err
			}
		}
		loop := plotter.NewFunction(func(float64) float64 { return 1 })
		loop.Color, loop.Dashes = soft, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(loop)
		p.Legend.Add(plainLoop, loop)
		p.NominalX(sizes...)
		p.X.Min, p.X.Max = -0.4, float64(len(sizes))-0.6
		plots = append(plots, p)
	}
	plots[0].Y.Label.Text = "times faster than the plain loop"
	for i, p := range plots {
		p.Y.Min, p.Y.Max = 0, math.Ceil(1.05*highest)
		p.Y.Tick.Marker = plot.TickerFunc(wholes)
		p.X.Label.Text = " " // takes the same height as the one label for all
		if i == len(plots)/2 {
			p.X.Label.Text = "size of the filter"
		}
		if i > 0 {
			p.Legend = plot.NewLegend()
		}
	}
	return drawPlots(path, vg.Length(max(len(plots), 2))*3*vg.Inch, 3.2*vg.Inch, plots...)
}

// kernelLine is the ratios of a kernel, with their spread.
type kernelLine struct {
	shift float64 // sideways, so that the spreads of kernels do not cover each other
	plotter.XYs
	plotter.YErrors
}

func (l *kernelLine) add(x float64, ratio spread) {
	l.XYs = append(l.XYs, plotter.XY{X: x + l.shift, Y: ratio.Median})
	l.YErrors = append(l.YErrors, struct{ Low, High float64 }{ratio.Median - ratio.P10, ratio.P90 - ratio.Median})
}

func (l *kernelLine) addTo(p *plot.Plot, name string, i int) error {
	line, points, err := plotter.NewLinePoints(l.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(l)
	if err != nil {
		return err
	}
	colour := colours[i%len(colours)]
	line.Color, line.Width = colour, vg.Points(1.5)
	points.Color, points.Shape, points.Radius = colour, glyphs[i%len(glyphs)], vg.Points(3)
	bars.Color, bars.Width, bars.CapWidth = colour, vg.Points(1), vg.Points(4)
	p.Add(line, bars, points)
	p.Legend.Add(name, line, points)
	return nil
}
