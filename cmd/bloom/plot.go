package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// A figure is panels beside each other, under a title. The viewer's fonts draw its
// text, so the widths of words are estimates. Names that plot.svg.tmpl reads are
// exported.
type figure struct {
	Title       string
	Lines       []string // under the title: what was drawn, and how to read it
	Description string   // of what is to be seen, for those who do not see it
	Shared      []series // whose legend stands above all panels
	Panels      []*panel

	// Where everything has its place: see layOut.
	Width, Height px
	Heading       string // the title, as far as there is room
	Left, TitleY  px
	Notes         []note
	LegendY       px
	Legend        legend
}

// A panel is two axes and the series between them. Those that have a name are in its
// legend.
type panel struct {
	Title         string
	X, Y          axis
	Series        []series
	Width, Height px // of the rectangle between the axes

	// Its place: see layOut.
	Left, Top         px // of the rectangle
	HeadingY, LegendY px // from its top
	Legend            legend
}

// A series is points, and how they are drawn.
type series struct {
	Name    string // in the legend
	Look    string // classes of plot.svg.tmpl: the colour, and dashes
	Marker  string // the path around each point; no markers, if empty
	HasLine bool   // from point to point
	HasArea bool   // from the points down to the axis
	Points  []point
}

// A point of a series, with a bar from Low to High unless they are equal, and a label above both. A viewer
// shows the words where the pointer rests on its marker.
type point struct {
	X, Y, Low, High float64
	Label           string
	Words           string
}

// The looks of series. The colours stay apart for people who see few of them (Okabe
// and Ito, the last one Tol), and the markers tell series apart without any colour.
var (
	looks   = []string{"first", "second", "third", "fourth"}
	markers = []string{disc, "m-3.5 -3.5h7v7h-7z", "m0 -4.5l4.5 8h-9z", "m0 -5l5 5l-5 5l-5 -5z"}
)

const disc = "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"

//go:embed plot.svg.tmpl
var figureText string

// Of html/template, because it escapes names for the place where they stand.
var figureTemplate = template.Must(template.New("figure").Parse(figureText))

// draw returns the figure as SVG.
func (f *figure) draw() ([]byte, error) {
	f.layOut()
	var out bytes.Buffer
	if err := figureTemplate.Execute(&out, f); err != nil {
		return nil, err
	}
	return bytes.Map(legible, out.Bytes()), nil
}

// legible replaces what XML forbids even if escaped, and bytes.Map what is not UTF-8.
// Names of files may hold both.
func legible(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
		return '\ufffd'
	}
	return r
}

// Lengths in a figure.
const (
	margin      px = 16
	gap         px = 20 // between panels
	lineHeight  px = 17
	titleY      px = 28
	titleSize   px = 15
	textSize    px = 11
	labelHeight px = 22 // of the turned label of a vertical axis
	belowPanel  px = 50 // the ticks and the label of a horizontal axis
)

// note is a line under the title.
type note struct {
	Words string
	Y     px
}

// layOut gives everything its place; plot.svg.tmpl draws it. The panels make the width of the figure, and they and the
// lines of text above them its height.
func (f *figure) layOut() {
	f.Width, f.Left, f.TitleY = margin, margin, titleY
	var legends px // the height of the panels' legends
	for _, p := range f.Panels {
		p.Left, p.Legend = f.Width+p.gutter(), newLegend(p.Series, p.Width)
		legends = max(legends, p.Legend.height())
		f.Width = p.Left + p.Width + gap
	}
	f.Width += margin - gap
	for _, p := range f.Panels {
		f.Width = max(f.Width, p.Left+p.Width+p.overhang())
	}

	room := f.Width - 2*margin
	f.Heading = shorten(f.Title, titleSize, room)
	y := titleY
	for _, line := range f.Lines {
		y += lineHeight + 1
		f.Notes = append(f.Notes, note{shorten(line, textSize, room), y})
	}
	y += lineHeight + 10
	f.Legend, f.LegendY = newLegend(f.Shared, room), y
	if len(f.Legend) > 0 {
		y += f.Legend.height() + 14
	}
	top := y + legends + 12
	for _, p := range f.Panels {
		p.Top, p.HeadingY, p.LegendY = top, y-top, y-top+lineHeight
		f.Height = max(f.Height, top+p.Height+belowPanel)
	}
}

// legend is rows of named series.
type legend []entry

type entry struct {
	series
	X, Y px
}

// newLegend fills rows as wide as the room with the series that have a name.
func newLegend(all []series, room px) (l legend) {
	var x, y px
	for _, s := range all {
		if s.Name == "" {
			continue
		}
		width := 28 + textWidth(s.Name)
		if x > 0 && x+width > room {
			x, y = 0, y+lineHeight
		}
		l = append(l, entry{s, x, y})
		x += width + 16
	}
	return l
}

func (l legend) height() px {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].Y + lineHeight
}

// gutter is the room on the left of the rectangle.
func (p *panel) gutter() (width px) {
	for _, t := range p.Y.Ticks {
		width = max(width, textWidth(t.Label))
	}
	if p.Y.Label != "" {
		width += labelHeight
	}
	return width + 14
}

// overhang is by how much the label of the last tick of the horizontal axis juts out to the right of the rectangle.
func (p *panel) overhang() (width px) {
	for _, t := range p.X.Ticks {
		width = max(width, textWidth(t.Label)/2)
	}
	return width
}

func (p *panel) MiddleX() px { return p.Width / 2 }
func (p *panel) MiddleY() px { return p.Height / 2 }
func (p *panel) YLabelX() px { return labelHeight/2 - p.gutter() }

// PlaceX returns the distance of a value on the horizontal axis from the left.
func (p *panel) PlaceX(v float64) px {
	share, _ := p.X.share(v)
	return px(share) * p.Width
}

// PlaceY returns the distance of a value on the vertical axis from the top.
func (p *panel) PlaceY(v float64) px {
	share, _ := p.Y.share(v)
	return px(1-share) * p.Height
}

// shape is a series as paths.
type shape struct {
	Look, Marker string
	Line, Area   string
	Marks        []mark
}

// mark is the marker of a point, the bar behind it, and the label above it.
type mark struct {
	X, Y, Top px // the label ends at the top
	Bar       string
	Label     string
	Words     string
}

func (p *panel) Shapes() (shapes []shape) {
	for _, s := range p.Series {
		drawn := shape{Look: s.Look, Marker: s.Marker}
		for _, run := range p.runs(s.Points) {
			line := p.path(run)
			if s.HasLine {
				drawn.Line += line
			}
			if s.HasArea {
				drawn.Area += fmt.Sprintf("%sV%vH%vZ", line, p.Height, p.PlaceX(run[0].X))
			}
			if s.Marker != "" {
				drawn.Marks = append(drawn.Marks, p.marks(run)...)
			}
		}
		shapes = append(shapes, drawn)
	}
	return shapes
}

// runs returns the points that are between the axes, cut where others are between
// them, such as a rate of 0 where the axis goes by powers of ten.
func (p *panel) runs(points []point) (runs [][]point) {
	start := 0
	for i := range len(points) + 1 {
		if i < len(points) && p.contains(points[i]) {
			continue
		}
		if start < i {
			runs = append(runs, points[start:i])
		}
		start = i + 1
	}
	return runs
}

func (p *panel) contains(q point) bool {
	_, inX := p.X.share(q.X)
	_, inY := p.Y.share(q.Y)
	return inX && inY
}

// path returns the line through points between the axes.
func (p *panel) path(points []point) string {
	var line strings.Builder
	for i, q := range points {
		fmt.Fprintf(&line, "%c%v %v", "ML"[min(i, 1)], p.PlaceX(q.X), p.PlaceY(q.Y))
	}
	return line.String()
}

// marks returns the markers and bars of points between the axes. A bar ends where the
// axis does.
func (p *panel) marks(points []point) (marks []mark) {
	for _, q := range points {
		m := mark{X: p.PlaceX(q.X), Y: p.PlaceY(q.Y), Label: q.Label, Words: q.Words}
		m.Top = m.Y - 7
		if low, high := max(q.Low, p.Y.Low), min(q.High, p.Y.High); low < high {
			m.Bar = fmt.Sprintf("M%v %vh6m-3 0V%vm-3 0h6", m.X-3, p.PlaceY(low), p.PlaceY(high))
			m.Top = min(m.Top, p.PlaceY(high)-4)
		}
		marks = append(marks, m)
	}
	return marks
}

// px is a length, written to a tenth.
type px float64

func (l px) String() string {
	return strconv.FormatFloat(math.Round(10*float64(l))/10+0, 'f', -1, 64) // + 0 leaves no -0
}

// textWidth returns what a text takes in a wide font. In most it takes less.
func textWidth(s string) (width px) {
	for _, r := range s {
		width += runeWidth(r, textSize)
	}
	return width
}

func runeWidth(r rune, size px) px {
	if r < 0x1100 {
		return 0.6 * size
	}
	return size // Chinese characters are squares
}

// shorten cuts off the end of a text that is wider than the room.
func shorten(s string, size, room px) string {
	width := px(0)
	end := 0 // of what leaves room for the dots
	for i, r := range s {
		if width+size <= room {
			end = i
		}
		if width += runeWidth(r, size); width > room {
			return s[:end] + "…"
		}
	}
	return s
}
