package main

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/dustin/go-humanize"
	"github.com/lanebloom/bloom"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// inspectPlot draws the fill of a filter over the length of its array and, if it
// has a number of keys to draw it for, its rate curve, in the format that the
// name of the file asks for.
func inspectPlot(r report, format bloom.Format, array []byte, path string) ([]byte, error) {
	const width, height = 9 * vg.Inch, 3.2 * vg.Inch
	fill, err := fillPlot(r, array)
	if err != nil {
		return nil, err
	}
	if r.EstimatedKeys == nil || math.Round(*r.EstimatedKeys) < 1 {
		return drawPlots(path, width, height, fill)
	}
	rates, err := ratesPlot(r, format)
	if err != nil {
		return nil, err
	}
	return drawPlots(path, width, height, fill, rates)
}

// fillPlot draws the share of set bits in each part of the array.
func fillPlot(r report, array []byte) (*plot.Plot, error) {
	p := newPlot("Fill", "byte of the array", "bits set, %", 1.4*vg.Inch)
	shares := density(array, 128)
	step := float64(len(array)) / float64(max(len(shares), 1))
	line, area := plotter.XYs{}, plotter.XYs{{X: 0, Y: 0}}
	for i, share := range shares {
		line = append(line, plotter.XY{X: float64(i) * step, Y: 100 * share}, plotter.XY{X: float64(i+1) * step, Y: 100 * share})
	}
	area = append(append(area, line...), plotter.XY{X: float64(len(array)), Y: 0})
	polygon, err := plotter.NewPolygon(area)
	if err != nil {
		return nil, err
	}
	polygon.Color, polygon.Width = ground, 0
	p.Add(polygon)
	if len(line) > 0 {
		edge, err := plotter.NewLine(line)
		if err != nil {
			return nil, err
		}
		edge.Color, edge.Width = colours[0], vg.Points(1)
		mean, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 100 * r.Fill}, {X: float64(len(array)), Y: 100 * r.Fill}})
		if err != nil {
			return nil, err
		}
		mean.Color, mean.Width, mean.Dashes = ink, vg.Points(1), []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(edge, mean)
		p.Legend.Add(fmt.Sprintf("%.1f %% of all %s bits", 100*r.Fill, humanize.Comma(int64(r.Bits))), mean)
	}
	p.X.Min, p.X.Max = 0, float64(max(len(array), 1))
	p.Y.Min, p.Y.Max = 0, 100
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholes), plot.TickerFunc(wholes)
	return p, nil
}

// ratesPlot draws the expected rate over bits per key, and the filter as it is.
func ratesPlot(r report, format bloom.Format) (*plot.Plot, error) {
	keys := int(math.Round(*r.EstimatedKeys))
	bitsPerKey := float64(r.Bits) / float64(keys)
	// Of a nearly empty filter, the curve ends before the point.
	curve, err := rateCurve(format, keys, 0, int(min(max(24, 1.2*bitsPerKey), 100)))
	if err != nil {
		return nil, err
	}
	p := newPlot("False positives", "bits per key", "rate, %", 1.6*vg.Inch)
	points := make(plotter.XYs, len(curve))
	for i, point := range curve {
		points[i] = plotter.XY{X: point.BitsPerKey, Y: 100 * point.Rate}
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = colours[0], vg.Points(1.5)
	p.Add(line)
	p.Legend.Add(fmt.Sprintf("textbook, n = %s", humanize.Comma(int64(keys))), line)
	if r.FalsePositiveRate > 0 && bitsPerKey <= points[len(points)-1].X {
		here, err := plotter.NewScatter(plotter.XYs{{X: bitsPerKey, Y: 100 * r.FalsePositiveRate}})
		if err != nil {
			return nil, err
		}
		here.Shape, here.Color, here.Radius = draw.CircleGlyph{}, ink, vg.Points(4)
		p.Add(here)
		p.Legend.Add(fmt.Sprintf("this filter, measured: %.3g %%", 100*r.FalsePositiveRate), here)
	}
	lowest := 100.0
	for _, point := range points {
		lowest = min(lowest, point.Y)
	}
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(max(lowest, 1e-8)))), 100
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
	p.X.Tick.Marker = plot.TickerFunc(wholes)
	return p, nil
}

// density returns the share of set bits in up to n equal parts of an array, of a
// byte or more each.
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

// picture draws the fill over the length of an array in one line of text, from
// nothing to the full height.
func picture(array []byte) string {
	const blocks, columns = " ▁▂▃▄▅▆▇█", 56
	heights := []rune(blocks)
	line := make([]rune, 0, columns)
	for _, share := range density(array, columns) {
		line = append(line, heights[int(math.Round(share*float64(len(heights)-1)))])
	}
	return "│" + string(line) + "│"
}
