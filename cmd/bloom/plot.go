package main

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colours that stay apart for people who see few of them (Okabe and Ito), and
// on paper: lines differ in their glyphs, too.
var (
	ink     = color.RGBA{0x1c, 0x27, 0x31, 0xff}
	soft    = color.RGBA{0x52, 0x60, 0x6d, 0xff}
	faint   = color.RGBA{0xd9, 0xdf, 0xe3, 0xff}
	ground  = color.RGBA{0xc9, 0xdd, 0xe7, 0xff} // under a curve
	colours = []color.Color{
		color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff},
		color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	}
	glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}}
)

// checkPlotName returns an error unless a file of this name can be drawn to.
func checkPlotName(path string) error {
	switch extension := filepath.Ext(path); extension {
	case ".svg", ".png":
		return nil
	default:
		return fmt.Errorf("%s: the name must end in .svg or .png, and not in %q", path, extension)
	}
}

// newPlot returns an empty plot in the style of all. Its legend begins at some
// distance from the left, so that words may grow in fonts that are wider.
func newPlot(title, x, y string, legend vg.Length) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs = true, true, legend
	p.Legend.Padding = vg.Points(2)
	p.Legend.YOffs = -vg.Points(4)
	p.Legend.ThumbnailWidth = vg.Points(18)
	p.Title.TextStyle.Font.Variant, p.Legend.TextStyle.Font.Variant = "Sans", "Sans"
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = 11, 9
	p.Title.TextStyle.Color, p.Legend.TextStyle.Color = ink, ink
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 9.5, 8.5
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = soft, soft
		axis.Color, axis.Tick.Color = soft, soft
		axis.Tick.Width, axis.Width = vg.Points(0.5), vg.Points(0.5)
		axis.Tick.Length = vg.Points(3)
		axis.Label.Padding = vg.Points(3)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, faint
	grid.Horizontal.Width = vg.Points(0.5)
	p.Add(grid)
	return p
}

// drawPlots draws plots beside each other in the format that the name of the file
// asks for.
func drawPlots(path string, width, height vg.Length, plots ...*plot.Plot) ([]byte, error) {
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	if filepath.Ext(path) == ".svg" {
		canvas = vgsvg.New(width, height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	}
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Path())
	area = draw.Crop(area, vg.Points(8), -vg.Points(10), vg.Points(6), -vg.Points(8))
	for i, column := range plot.Align([][]*plot.Plot{plots}, draw.Tiles{Rows: 1, Cols: len(plots), PadX: vg.Points(18)}, area)[0] {
		plots[i].Draw(column)
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	// Where the font that the letters were measured with is missing, one of the
	// same widths will do.
	return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}

// decades are the ticks of a scale of percents by powers of ten.
func decades(low, high float64) (ticks []plot.Tick) {
	for e := math.Floor(math.Log10(low) + 0.5); e <= math.Log10(high)+0.5; e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return ticks
}

// wholes are up to nine ticks at whole numbers.
func wholes(low, high float64) (ticks []plot.Tick) {
	step := 1.0
	for factor := []float64{5, 2}; (high-low)/step > 8; {
		step *= factor[0]
		factor = append(factor[1:], factor[0])
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: humanize.Commaf(v)})
	}
	return ticks
}
