package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

type benchCommand struct {
	Format *cli.Format `placeholder:"NAME" help:"Format of the filters: ${formats} (default ${default_format}; with --report, all)."`
	keysFlags
	Keys       []string      `placeholder:"BYTES" help:"Lengths of the random keys in bytes, such as 16 or 8-32. Length 8 means integer keys, and a range means string keys (default 8,8-32)."`
	Sizes      []string      `placeholder:"SIZE" help:"Sizes of the filters (default 16KiB,1MiB,8MiB; with --report, also 64MiB)."`
	Hits       []int         `default:"0,100" placeholder:"PERCENT" help:"Percentages of hits to measure: how many of the tested keys are in the filter (default ${default})."`
	BitsPerKey int           `default:"10" placeholder:"N" help:"Bits per key, 1 to 10000 (default ${default})."`
	Time       time.Duration `placeholder:"TIME" help:"How long to measure (default 10s; 30s on a terminal, which shows interim results; 8m with --report)."`
	Input      cli.Input     `placeholder:"KEYS" help:"Measure with the keys of this file, one per line, instead of random keys. Half of the keys are added to the filter."`
	JSON       cli.Output    `name:"json" placeholder:"FILE" help:"Also write the results to this file as JSON."`
	Plot       cli.Output    `placeholder:"FILE" help:"Draw each kernel's speedup over the plain loop as an SVG file; FILE must end in .svg."`
	Report     bool          `help:"Measure every format, and measure the speed of building filters too. Print the results in Go's benchmark format, for benchstat."`
}

// Help returns the text that bloom bench --help prints below the flags.
func (*benchCommand) Help() string {
	return `Reports: If you interrupt the command, it prints what it has measured. To compare two versions, write six reports of each, and run

	benchstat -table .name -filter .unit:x-ref OLD NEW
`
}

// benchReport has the results of bench. bench prints it, or writes it as JSON.
type benchReport struct {
	Machine    machine       `json:"machine"`
	Format     string        `json:"format"`
	BitsPerKey int           `json:"bits_per_key"`
	Keys       string        `json:"keys"` // in words
	Results    []benchResult `json:"results"`
	Waited     float64       `json:"waited"` // the share of the time in which other work had the CPU
}

// benchResult is one way to test the keys of a workload.
type benchResult struct {
	Keys        string  `json:"keys"`
	FilterBytes int     `json:"filter_bytes"`
	HitsPercent int     `json:"hits_percent"`
	Path        string  `json:"path"` // plainLoop, oneKey, the name of a kernel, or randomLoads
	Rounds      int     `json:"rounds"`
	NsPerKey    spread  `json:"ns_per_key"`
	MkeysPerS   float64 `json:"mkeys_per_s"` // by the median
	Ratio       spread  `json:"ratio"`       // times faster than the plain loop in the same round
	Loads       spread  `json:"loads"`       // loads of randomLoads that take as long as a key, in the same round
}

func (b *benchCommand) Run(s *cli.Streams) error {
	format, err := b.check(s)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // another signal ends the process
	if b.Report {
		return b.report(ctx, s, format)
	}
	sources, err := b.sources(s, format)
	if err != nil {
		return err
	}
	r := benchReport{Machine: thisMachine(), Format: format.String(), BitsPerKey: b.BitsPerKey}
	for i, source := range sources {
		if i > 0 {
			r.Keys += "; "
		}
		r.Keys += source.words
	}
	out := bufio.NewWriter(s.Out) // keeps the first error
	r.Machine.print(out)
	fmt.Fprintf(out, "keys     %s; format %s, %d bits per key\n\n", r.Keys, r.Format, r.BitsPerKey)
	if err := out.Flush(); err != nil {
		return err
	}
	if err := b.watch(ctx, s, sources, &r); err != nil {
		return err
	}
	return b.write(s, r)
}

// check reports bad flags before the measurements begin.
func (b *benchCommand) check(s *cli.Streams) (format bloom.Format, err error) {
	if format = bloom.Default; b.Format != nil {
		format = b.Format.Format
	}
	if err := cli.CheckBitsPerKey(b.BitsPerKey); err != nil {
		return 0, err
	}
	switch {
	case b.Report && (b.Input != "" || b.JSON != "" || b.Plot != ""):
		return 0, errors.New("--report cannot be used with --input, --json or --plot")
	case b.Time < 0:
		return 0, errors.New("--time must be more than 0")
	case len(b.Hits) == 0 || slices.Min(b.Hits) < 0 || slices.Max(b.Hits) > 100:
		return 0, fmt.Errorf("--hits accepts percentages from 0 to 100, not %v", b.Hits)
	case b.Input != "" && b.Keys != nil:
		return 0, errors.New("--keys describes random keys, so it cannot be used with --input")
	case b.Sizes != nil && len(b.Sizes) == 0:
		return 0, errors.New("--sizes needs a size")
	case b.Input != "" && b.Sizes != nil:
		return 0, errors.New("--sizes cannot be used with --input, where the keys decide the size of the filter")
	case b.Input == "" && b.keysFlags != keysFlags{}:
		return 0, errors.New("flags for keys, such as --null, --crlf and --field, need --input")
	}
	return format, checkExtension("--plot", b.Plot, ".svg")
}

// A pass gives each trial a slice of the time. Passes follow each other until the time is over, so that the table is
// whole after the first one, and better after each.
const slice = 50 * time.Millisecond

// watch measures, prints the table, and, on a terminal, prints it anew after each pass.
func (b *benchCommand) watch(ctx context.Context, s *cli.Streams, sources []*keySource, r *benchReport) error {
	screen, total := newScreen(s.Out), b.Time
	if total == 0 {
		if total = 10 * time.Second; screen.live {
			total = 30 * time.Second
		}
	}
	progress, done := s.Bar("measuring", total.Milliseconds())
	start, drawn := time.Now(), time.Duration(0)
	tick := func() {
		now := min(time.Since(start), total)
		progress(int(now.Milliseconds() - drawn.Milliseconds()))
		drawn = now
	}
	var clock stopwatch.Watch
	trials, err := b.trials(ctx, sources, tick)
	for pass := 0; err == nil && ctx.Err() == nil && (pass == 0 || time.Since(start) < total); pass++ {
		for _, t := range trials {
			if ctx.Err() != nil || pass > 0 && time.Since(start) >= total {
				break
			}
			t.run(ctx, &clock, slice)
			tick()
			if pass == 0 { // a row as soon as there is one
				err = errors.Join(err, screen.show(b.table(trials), false))
			}
		}
		err = errors.Join(err, screen.show(b.table(trials), false))
	}
	done()
	if err != nil {
		return err
	}
	for _, t := range trials {
		r.Results = append(r.Results, t.results()...)
	}
	if len(r.Results) == 0 {
		return errInterrupted
	}
	r.Waited = clock.Waited()
	if err := screen.show(b.table(trials), true); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "\nNanoseconds per key, and times as fast as the plain loop: medians of %d rounds\nor more of %s keys. A kernel tests a column of keys at once. A load only reads\none random byte of the filter, so it shows the cost of memory access.\n%s",
		slices.MinFunc(r.Results, func(a, b benchResult) int { return a.Rounds - b.Rounds }).Rounds, humanize.Comma(queries), clock.Busy())
	return err
}

// errInterrupted says that an interrupt came before there was anything to print.
var errInterrupted = errors.New("interrupted before anything was measured")

// table has a line for each trial that has figures. It fits 80 columns.
func (*benchCommand) table(trials []*trial) []byte {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "keys\tfilter\thits\t")
	for _, p := range trials[0].paths {
		fmt.Fprintf(w, "%s\t", strings.TrimPrefix(p.name, "random "))
	}
	fmt.Fprintln(w)
	for _, t := range trials {
		results := t.results()
		if len(results) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%d %%\t", t.keys, sizeWords(t.bytes), t.percent)
		for _, result := range results {
			fmt.Fprint(w, three(result.NsPerKey.Median))
			if result.Path == oneKey || result.Path == bloom.Kernels()[0].String() {
				fmt.Fprintf(w, " ×%s", three(result.Ratio.Median))
			}
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	var out bytes.Buffer
	for line := range bytes.Lines(text.Bytes()) {
		fmt.Fprintf(&out, "%s\n", bytes.TrimRight(bytes.TrimPrefix(line, []byte("  ")), " \n"))
	}
	return out.Bytes()
}

// screen shows a table: on a terminal that is large enough, where it showed the last one.
type screen struct {
	to    *os.File
	live  bool
	lines int // of the last one
}

func newScreen(f *os.File) *screen {
	return &screen{to: f, live: cli.IsTerminal(f) && runtime.GOOS != "windows" && os.Getenv("TERM") != "dumb"}
}

// show shows a table. One that is not the last is shown only if another can take its place.
func (c *screen) show(table []byte, last bool) error {
	if !c.live && !last {
		return nil
	}
	var out bytes.Buffer
	if c.live {
		width, height, err := term.GetSize(int(c.to.Fd()))
		for line := range bytes.Lines(table) {
			c.live = c.live && err == nil && utf8.RuneCount(line) <= width
		}
		if c.live = c.live && bytes.Count(table, []byte("\n")) < height; !c.live && !last {
			return nil
		}
		if out.WriteString("\r\x1b[J"); c.live && c.lines > 0 { // the bar is below the table
			fmt.Fprintf(&out, "\x1b[%dA\x1b[J", c.lines)
		}
	}
	c.lines = bytes.Count(table, []byte("\n"))
	out.Write(table)
	_, err := c.to.Write(out.Bytes())
	return err
}

// sizeWords writes a number of bytes with three significant digits.
func sizeWords(n int) string {
	value, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB"}
	for value >= 1000 && len(units) > 1 {
		value, units = value/1024, units[1:]
	}
	return fmt.Sprintf("%.3g %s", value, units[0])
}

// three writes a number with three significant digits.
func three(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// write writes the files that the flags ask for.
func (b *benchCommand) write(s *cli.Streams, r benchReport) error {
	if b.JSON != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := s.Outputs().WriteBytes(string(b.JSON), append(text, '\n')); err != nil {
			return err
		}
	}
	if b.Plot == "" {
		return nil
	}
	drawing, err := benchPlot(r)
	if err != nil {
		return err
	}
	return s.Outputs().WriteBytes(string(b.Plot), drawing)
}
