package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// drawing is what a test wants to know of an SVG file.
type drawing struct {
	Width       px          `xml:"width,attr"`
	Title       string      `xml:"title"`
	Description string      `xml:"desc"`
	Texts       []drawnText `xml:"text"`
	Groups      []drawnG    `xml:"g"`
}

type drawnG struct {
	Transform string      `xml:"transform,attr"`
	Title     string      `xml:"title"`
	Texts     []drawnText `xml:"text"`
	Paths     []drawnPath `xml:"path"`
	Groups    []drawnG    `xml:"g"`
}

type drawnText struct {
	Class string `xml:"class,attr"`
	X     px     `xml:"x,attr"`
	Text  string `xml:",chardata"`
}

type drawnPath struct {
	Class string `xml:"class,attr"`
	D     string `xml:"d,attr"`
}

// parse wants SVG that is well-formed to its end.
func parse(t *testing.T, svg []byte) (d drawing) {
	t.Helper()
	if !utf8.Valid(svg) {
		t.Fatal("not UTF-8")
	}
	for tokens := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := tokens.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, svg)
		}
	}
	if err := xml.Unmarshal(svg, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// panels returns the groups that are panels.
func (d drawing) panels() (panels []drawnG) {
	for _, g := range d.Groups {
		if len(g.Texts) > 0 && g.Texts[0].Class == "heading" {
			panels = append(panels, g)
		}
	}
	return panels
}

// withClass returns the paths of a class in a panel, those of points too.
func (g drawnG) withClass(class string) (paths []drawnPath) {
	for _, p := range g.Paths {
		if strings.Fields(p.Class)[0] == class {
			paths = append(paths, p)
		}
	}
	for _, inner := range g.Groups {
		if inner.Title != "" { // else it is the legend
			paths = append(paths, inner.withClass(class)...)
		}
	}
	return paths
}

var (
	axisPath   = regexp.MustCompile(`^M0 ([\d.]+)h([\d.]+)$`)
	coordinate = regexp.MustCompile(`[MLHV][^MLHVZmlhvaz]+`)
)

// check wants every panel's lines, areas, markers and bars between its axes, labels
// that do not overlap, and no text that leaves the picture.
func (d drawing) check(t *testing.T) {
	t.Helper()
	if d.Title == "" || d.Description == "" {
		t.Error("no title or description")
	}
	for _, text := range d.Texts {
		if text.X+textWidth(text.Text) > d.Width {
			t.Errorf("%q is wider than the picture", text.Text)
		}
	}
	for _, panel := range d.panels() {
		paths := panel.withClass("axis")
		size := axisPath.FindStringSubmatch(paths[len(paths)-1].D)
		if size == nil {
			t.Fatalf("the last path of a panel is not its axis: %v", paths)
		}
		height, width := number(t, size[1]), number(t, size[2])
		for _, class := range []string{"line", "area", "marker", "bar", "grid"} {
			for _, path := range panel.withClass(class) {
				for _, part := range coordinate.FindAllString(path.D, -1) {
					at := strings.Fields(part[1:])
					y := number(t, at[len(at)-1])
					x := number(t, at[0])
					switch part[0] {
					case 'H':
						y = 0
					case 'V':
						x = 0
					}
					if !(x >= 0 && x <= width && y >= 0 && y <= height) {
						t.Errorf("%s of %s of %s is outside of %v × %v", part, path.D, class, width, height)
					}
				}
			}
		}
		var left, top px
		if _, err := fmt.Sscanf(panel.Transform, "translate(%g %g)", &left, &top); err != nil {
			t.Fatal(err)
		}
		end := -labelHeight
		for _, text := range panel.Texts {
			if text.Class == "middle" && text.Text != "" && text.X > 0 && !strings.Contains(text.Text, " of the ") && text.Text != "bits per key" {
				half := textWidth(text.Text) / 2
				if text.X-half < end {
					t.Errorf("the label %q begins before another ends", text.Text)
				}
				end = text.X + half - 0.2 // coordinates are rounded
				if left+end > d.Width {
					t.Errorf("the label %q leaves the picture", text.Text)
				}
			}
		}
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Error(err)
	}
	return v
}

func TestInspectPlot(t *testing.T) {
	for _, format := range bloom.Formats() {
		for name, data := range extremeFilters(t, format) {
			t.Run(fmt.Sprint(format, " ", name), func(t *testing.T) {
				filter, err := filterfile.OpenBare(format, data)
				if err != nil {
					t.Fatal(err)
				}
				from, to := filter.BitRange()
				svg, err := inspectPlot(newReport("keys.bloom", filter), format, data[from:to])
				if err != nil {
					t.Fatal(err)
				}
				d := parse(t, svg)
				d.check(t)
				panels := d.panels()
				if len(panels) < 2 {
					return
				}
				// The whole curve is between the axes.
				curve := panels[1].withClass("line")[0].D
				if strings.Count(curve, "M") != 1 || strings.Count(curve, "L") < 23 {
					t.Errorf("the curve is not one of 24 points or more: %s", curve)
				}
			})
		}
	}
}

// extremeFilters returns filters of a format that are empty, full, and in between.
func extremeFilters(t *testing.T, format bloom.Format) map[string][]byte {
	t.Helper()
	filters := map[string][]byte{}
	for _, c := range []struct {
		name                 string
		bitsPerKey, capacity int
		keys                 int
	}{
		{"no key", 10, 1000, 0},
		{"one key", 10, 1, 1},
		{"nearly empty", 10, 100_000, 1},
		{"few bits per key", 1, 1000, 3000},
		{"full", 1, 1, 1000},
		{"many bits per key", 90, 50, 50},
		{"a million bits", 10, 100_000, 100_000},
	} {
		set, err := bloom.Policy{Format: format, BitsPerKey: c.bitsPerKey}.NewSet(c.capacity)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.keys {
			set.AddString(fmt.Sprint(i))
		}
		filters[c.name] = set.AppendFilter(nil)
	}
	if format == bloom.LevelDB {
		filters["nothing"] = nil
		filters["reserved"] = []byte("zzzz\xff")
		filters["one byte"] = []byte{0x01, 6}
		filters["one bit"] = append(make([]byte, 4000, 4001), 6)
		filters["one bit"][77] = 0x10
		filters["every bit"] = append(bytes.Repeat([]byte{0xff}, 300), 6)
	}
	return filters
}

// report of n sizes and two shares of hits, with a ratio of 2 everywhere.
func evenReport(sizes int, kernels ...string) benchReport {
	r := benchReport{Machine: machine{CPU: "a CPU", Kernels: kernels}, Format: "leveldb", Keys: "random"}
	for i := range sizes {
		for _, percent := range []int{0, 100} {
			for _, path := range append([]string{plainLoop}, kernels...) {
				r.Results = append(r.Results, benchResult{FilterBytes: 100 << i, HitsPercent: percent, Path: path, Ratio: spread{2, 1.5, 2.5}, NsPerKey: spread{7.5, 7, 8}})
			}
		}
	}
	return r
}

func TestBenchPlot(t *testing.T) {
	for _, sizes := range []int{1, 2, 5, 20} {
		for _, kernels := range [][]string{{"generic"}, {"avx512", "avx2", "generic"}, {"a", "b", "c", "d", "e", "f"}} {
			t.Run(fmt.Sprint(sizes, " sizes, ", kernels), func(t *testing.T) {
				svg, err := benchPlot(evenReport(sizes, kernels...))
				if err != nil {
					t.Fatal(err)
				}
				d := parse(t, svg)
				d.check(t)
				if len(d.panels()) != 2 {
					t.Errorf("%d panels, want 2", len(d.panels()))
				}
				// The times of the chosen kernel, and of no other; the others are lighter.
				if got := strings.Count(string(svg), `<text class="value"`); got != 2*sizes || strings.Count(string(svg), ">7.50</text>") != got {
					t.Errorf("%d times, want %d of 7.50 ns", got, 2*sizes)
				}
				if got, want := strings.Count(string(svg), ` lighter"`) > 0, len(kernels) > 1; got != want || !strings.Contains(d.Title, "lanebloom") || d.Texts[1].Text[:5] != "a CPU" {
					t.Errorf("lighter paths: %v, want %v; the title is %q, and then %q", got, want, d.Title, d.Texts[1].Text)
				}
				for _, panel := range d.panels() {
					for _, class := range []string{"marker", "bar"} {
						if got, want := len(panel.withClass(class)), sizes*len(kernels); got != want {
							t.Errorf("%d paths of class %s, want %d", got, class, want)
						}
					}
				}
			})
		}
	}
}

// TestPlotNames wants any name to be shown as far as it is text.
func TestPlotNames(t *testing.T) {
	for name, shown := range map[string]string{
		"plain.bloom":                   "plain.bloom",
		`<a b="c">&amp;'{{.}}`:          `<a b="c">&amp;'{{.}}`,
		"]]><!--<script>":               "]]><!--<script>",
		"\xff\x00\x1b[1m\ufffe\r.bloom": "\ufffd\ufffd\ufffd[1m\ufffd\ufffd.bloom",
		strings.Repeat("鍵", 2000):       strings.Repeat("鍵", 2000),
	} {
		inspected, err := inspectPlot(report{File: name}, bloom.LevelDB, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := parse(t, inspected)
		d.check(t)
		if d.Title != shown {
			t.Errorf("the title is %q, want %q", d.Title, shown)
		}
		r := evenReport(2, "generic")
		r.Keys = name
		measured, err := benchPlot(r)
		if err != nil {
			t.Fatal(err)
		}
		d = parse(t, measured)
		d.check(t)
		if line := d.Texts[2].Text; len(shown) < 40 && !strings.Contains(line, shown) {
			t.Errorf("the keys are %q, want %q in it", line, shown)
		}
	}
}

// TestBenchPlotOfOddRatios wants points left out that have no place.
func TestBenchPlotOfOddRatios(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		ratio  spread
		points int
	}{
		{spread{2, 1, 3}, 2},
		{spread{0, 0, 0}, 2},
		{spread{0.1, 0.05, 0.2}, 2},
		{spread{12345, 1, 1e6}, 2},
		{spread{nan, nan, nan}, 1},
		{spread{inf, inf, inf}, 1},
		{spread{2, nan, inf}, 2},
		{spread{2, -1, inf}, 2},
		{spread{-1, -2, 3}, 1},
	} {
		r := evenReport(2, "generic")
		for i := range r.Results {
			if r.Results[i].FilterBytes == 100 {
				r.Results[i].Ratio = c.ratio
			}
		}
		svg, err := benchPlot(r)
		if err != nil {
			t.Fatal(err)
		}
		d := parse(t, svg)
		d.check(t)
		if got := len(d.panels()[0].withClass("marker")); got != c.points {
			t.Errorf("%d points with %v, want %d", got, c.ratio, c.points)
		}
	}
}

// TestShapes compares paths with those worked out by hand.
func TestShapes(t *testing.T) {
	even := &panel{X: axis{High: 10}, Y: axis{High: 100}, Width: 200, Height: 50}
	powers := &panel{X: axis{High: 10}, Y: axis{Low: 0.01, High: 100, Log: true}, Width: 200, Height: 40}
	nan := math.NaN()
	for _, c := range []struct {
		panel *panel
		ys    []float64 // at 0, 1, 2, …
		line  string
		area  string
	}{
		{even, nil, "", ""},
		{even, []float64{0, 100, 50}, "M0 50L20 0L40 25", "M0 50L20 0L40 25V50H0Z"},
		{even, []float64{-1, 10, 20, nan, 30, 101}, "M20 45L40 40M80 35", "M20 45L40 40V50H20ZM80 35V50H80Z"},
		{powers, []float64{100, 10, 1, 0.1, 0.01}, "M0 0L20 10L40 20L60 30L80 40", "M0 0L20 10L40 20L60 30L80 40V40H0Z"},
		{powers, []float64{1, 0, 1, -1, nan, math.Inf(1), 0.001, 1}, "M0 20M40 20M140 20", "M0 20V40H0ZM40 20V40H40ZM140 20V40H140Z"},
	} {
		s := series{HasLine: true, HasArea: true, Marker: disc}
		for x, y := range c.ys {
			s.Points = append(s.Points, point{X: float64(x), Y: y})
		}
		c.panel.Series = []series{s}
		got := c.panel.Shapes()[0]
		if got.Line != c.line || got.Area != c.area {
			t.Errorf("%v is drawn as %q and %q, want %q and %q", c.ys, got.Line, got.Area, c.line, c.area)
		}
		if markers := strings.Count(c.line, "M") + strings.Count(c.line, "L"); len(got.Marks) != markers {
			t.Errorf("%v has %d markers, want %d", c.ys, len(got.Marks), markers)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks []tick
		want  string
	}{
		{wholes(1, 8), "0 1"},
		{wholes(8, 8), "0 1 2 3 4 5 6 7 8"},
		{wholes(9, 8), "0 2 4 6 8"},
		{wholes(22, 8), "0 5 10 15 20"},
		{wholes(100, 5), "0 20 40 60 80 100"},
		{wholes(125_000, 4), "0 50,000 100,000"},
		{wholes(4<<30, 1), "0"},
		{wholes(4<<30, 3), "0 2,000,000,000 4,000,000,000"},
		{wholes(1<<30, 0), "0 1,000,000,000"},
		{decades(100, 10), "100 10"},
		{decades(100, 0.001), "100 10 1 0.1 0.01 0.001"},
		{decades(100, 1e-6), "10² 10¹ 10⁰ 10⁻¹ 10⁻² 10⁻³ 10⁻⁴ 10⁻⁵ 10⁻⁶"},
		{decades(100, 1e-19), "10² 10⁻¹ 10⁻⁴ 10⁻⁷ 10⁻¹⁰ 10⁻¹³ 10⁻¹⁶ 10⁻¹⁹"},
	} {
		var labels []string
		for _, tick := range c.ticks {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("the ticks are %s, want %s", got, c.want)
		}
	}
}

// TestLargeArray wants labels of ten digits to stay apart and in the picture.
func TestLargeArray(t *testing.T) {
	p := &panel{
		X: axis{High: 4e9, Ticks: byteTicks(4e9)}, Y: axis{High: 1},
		Width: inspectWidth, Height: inspectHeight,
	}
	f := figure{Title: "a", Description: "b", Panels: []*panel{p}}
	svg, err := f.draw()
	if err != nil {
		t.Fatal(err)
	}
	parse(t, svg).check(t)
	if len(p.X.Ticks) != 3 {
		t.Errorf("the ticks are %v, want three", p.X.Ticks)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		room px
		want string
	}{
		{"", 0, ""},
		{"abcdefghij", 60, "abcdefghij"},
		{"abcdefghij", 59, "abcdefgh…"},
		{"鍵鍵鍵", 25, "鍵…"},
		{"abc", 3, "…"},
	} {
		if got := shorten(c.text, 10, c.room); got != c.want {
			t.Errorf("%q in %v is %q, want %q", c.text, c.room, got, c.want)
		}
	}
}

// TestContrast wants every colour to stand out from the page, in light and dark: by
// 4.5 what is read, by 3 what is looked at, as WCAG has it.
func TestContrast(t *testing.T) {
	rule := regexp.MustCompile(`(?m)^(text|\.[a-z, .]+) \{.*(?:fill|color): #([0-9a-f]{6})`)
	light, dark, found := strings.Cut(figureText, "prefers-color-scheme: dark")
	if !found {
		t.Fatal("no colours for the dark")
	}
	for _, styles := range []string{light, dark} {
		colours := map[string]float64{}
		for _, match := range rule.FindAllStringSubmatch(styles, -1) {
			colours[match[1]] = luminance(t, match[2])
		}
		for _, c := range []struct {
			name string
			want float64
		}{
			{"text", 4.5}, {".title, .heading, .name, .value", 4.5}, {".ink", 3}, {".soft", 3},
			{".first", 3}, {".second", 3}, {".third", 3}, {".fourth", 3},
		} {
			high, low := max(colours[c.name], colours[".page"]), min(colours[c.name], colours[".page"])
			if got := (high + 0.05) / (low + 0.05); got < c.want {
				t.Errorf("%s stands out by %.2f, want %v, among %v", c.name, got, c.want, colours)
			}
		}
	}
}

// luminance is WCAG's relative luminance.
func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestPicture(t *testing.T) {
	long := make([]byte, 560) // ten bytes for a column
	for i := range 10 {
		long[i], long[550+i] = 0xff, 0x0f
	}
	for _, c := range []struct {
		array []byte
		want  string
	}{
		{nil, "││"},
		{[]byte{0, 0xff, 0x0f, 0x01}, "│ █▄▁│"},
		{long, "│█                                                      ▄│"},
	} {
		if got := picture(c.array); got != c.want {
			t.Errorf("the picture of %d bytes is %s, want %s", len(c.array), got, c.want)
		}
	}
}

func TestDensity(t *testing.T) {
	for _, c := range []struct {
		array []byte
		n     int
		want  []float64
	}{
		{nil, 4, []float64{}},
		{[]byte{1, 3}, 4, []float64{1. / 8, 2. / 8}},
		{[]byte{1, 3, 7, 15, 31}, 2, []float64{3. / 16, 12. / 24}},
	} {
		if got := density(c.array, c.n); !slices.Equal(got, c.want) {
			t.Errorf("the density of %v is %v, want %v", c.array, got, c.want)
		}
	}
}
