package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
	"github.com/lanebloom/bloom/compare/oracle"
)

// kind is a kind of keys.
type kind string

const (
	integers kind = "integers" // 64 bits
	texts    kind = "strings"  // 8 to 32 bytes
)

// column is a column of integers or of strings, in all forms that a library takes.
type column struct {
	number int // to the C++ program
	len    int
	ints   []uint64
	texts  []string
	bytes  []byte   // of all keys; an integer has 8, little-endian
	ends   []uint32 // of each key in bytes, after a 0
}

// newColumn returns a column with the keys of some numbers. No two numbers have the same key.
func newColumn(kind kind, place, n int, number func(i int) int) *column {
	c := &column{number: place, len: n, ends: make([]uint32, n+1)}
	for i := range n {
		key := mix(uint64(number(i)))
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, key)
		if kind == integers {
			c.ints = append(c.ints, key)
		} else {
			c.bytes = append(c.bytes, tail(key)...)
		}
		c.ends[i+1] = uint32(len(c.bytes))
	}
	if kind == texts {
		text := string(c.bytes)
		for i := range n {
			c.texts = append(c.texts, text[c.ends[i]:c.ends[i+1]])
		}
	}
	return c
}

// key returns the bytes of a key.
func (c *column) key(i int) []byte {
	if c.ints != nil {
		return c.bytes[8*i : 8*i+8 : 8*i+8]
	}
	return c.bytes[c.ends[i]:c.ends[i+1]:c.ends[i+1]]
}

// all returns the keys as a column of this library.
func (c *column) all() bloom.Keys {
	if c.ints != nil {
		return bloom.Integers(c.ints)
	}
	return bloom.Strings(c.texts)
}

// tail returns the bytes of a string after its first 8: 24 at most.
func tail(key uint64) []byte {
	var b [24]byte
	for i := 0; i < len(b); i += 8 {
		key = mix(key)
		binary.LittleEndian.PutUint64(b[i:], key)
	}
	return b[:key%(uint64(len(b))+1)]
}

// columns are the keys of a filter, and the absent and present keys to test.
type columns struct{ known, absent, present *column }

func newColumns(kind kind, known, queries int) columns {
	random := rand.New(rand.NewPCG(3, 4))
	return columns{
		known:   newColumn(kind, 0, known, func(i int) int { return i }),
		absent:  newColumn(kind, 1, queries, func(i int) int { return known + i }),
		present: newColumn(kind, 2, queries, func(int) int { return random.IntN(known) }),
	}
}

// forCPP returns the keys as a C++ program takes them.
func (c *column) forCPP() oracle.Column { return oracle.Column{Keys: c.bytes, Ends: c.ends[1:]} }

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014). It gives no number twice.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// buildAtLeast is the least number of keys to build with in one run: it builds
// a small filter several times.
const buildAtLeast = 1 << 18

// job is what a library does with a column.
type job string

const (
	building job = "build"
	absent   job = "absent"
	present  job = "present"
)

// jobs lists the jobs. Building comes first: the others test the filter that it leaves.
var jobs = []job{building, absent, present}

// contest compares libraries with a reference, with keys of one number and kind.
type contest struct {
	columns
	reference *library
	rounds    int           // at most
	share     time.Duration // for each job of each library
}

// result has the figures of a library.
type result struct {
	bits  float64 // per key
	hits  int     // of absent keys
	times map[call]map[job]race.Figure
}

// compare runs the contests of all sizes, and prints a row of each library and kind of calls when it has its figures.
func compare(ctx context.Context, o *options, out, messages io.Writer) (*race.Figures, error) {
	folder, err := os.MkdirTemp("", "sidebyside")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	programs := make([]*oracle.Oracle, len(inCPP))
	for i, format := range inCPP {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if programs[i], err = oracle.Compile(format, folder); err != nil {
			fmt.Fprintf(messages, "sidebyside: without the filters of %v in C++: %v\n", format, err)
		}
	}
	figures := &race.Figures{Config: config(o)}
	fmt.Fprintf(out, "%s, %s, %s, kernel %s. %d bits per key; cores to build with: %d.\nNanoseconds a key, and times as fast as %s:\n",
		figures.Config["cpu"], figures.Config["platform"], runtime.Version(), figures.Config["kernel"], o.BitsPerKey, o.Cores, o.Reference)
	for _, size := range o.Sizes {
		for _, kind := range o.Keys {
			if err := compareAt(ctx, o, size, kind, programs, figures, out); err != nil {
				return nil, fmt.Errorf("%d %s: %w", size, kind, err)
			}
		}
	}
	return figures, nil
}

// compareAt runs the contest of one size and kind of keys.
func compareAt(ctx context.Context, o *options, size int, kind kind, programs []*oracle.Oracle, figures *race.Figures, out io.Writer) (err error) {
	c := &contest{columns: newColumns(kind, size, o.Queries), rounds: o.Rounds}
	timers := make([]*oracle.Timer, len(programs))
	for i, program := range programs {
		if program == nil {
			continue
		}
		if timers[i], err = program.Time(o.BitsPerKey, c.known.forCPP(), c.absent.forCPP(), c.present.forCPP()); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, timers[i].Close()) }()
	}
	all := newLibraries(o.BitsPerKey, kind, timers)
	c.share = o.Time / time.Duration(len(all)*len(jobs)*len(o.Sizes)*len(o.Keys))
	reference := slices.IndexFunc(all, func(l library) bool { return l.name == o.Reference })
	if reference < 0 {
		return fmt.Errorf("there is no %s", o.Reference)
	}
	c.reference = &all[reference]
	fmt.Fprintf(out, "\n%-40s %10s %9s %16s %16s %16s\n", fmt.Sprintf("%s %v", race.Thousands(size), kind), "bits a key", "pass", "absent", "present", "build")
	for i := range all {
		r, err := c.run(ctx, &all[i])
		if err != nil {
			return err
		}
		at := fmt.Sprintf("libraries/keys=%d/of=%s/library=%s", size, kind, all[i].name)
		for _, call := range []call{keyByKey, atOnce} {
			if len(r.times[call]) == 0 {
				continue
			}
			row := fmt.Sprintf("%-40s %10.2f %7.3f %%", all[i].name+", "+call.String(), r.bits, 100*float64(r.hits)/float64(o.Queries))
			for _, j := range []job{absent, present, building} {
				row += fmt.Sprintf(" %16s", words(r.times[call][j]))
			}
			fmt.Fprintln(out, strings.TrimRight(row, " "))
			for _, j := range jobs {
				if f, ok := r.times[call][j]; ok {
					f.Name = fmt.Sprintf("%s/call=%s/job=%s", at, call, j)
					figures.Add(f)
				}
			}
		}
		figures.Add(race.Figure{Name: at, Bits: race.Three(r.bits), Rate: float64(r.hits) / float64(o.Queries)})
	}
	return nil
}

// words writes the time of a job, and nothing if the library has no such calls.
func words(f race.Figure) string {
	if f.Ns == 0 {
		return ""
	}
	return fmt.Sprintf("%s ×%s", race.Digits(f.Ns), race.Digits(f.X))
}

// config tells what the figures are of.
func config(o *options) map[string]string {
	brand := strings.NewReplacer("(R)", "", "(TM)", "", " Processor", "").Replace(cpuid.CPU.BrandName)
	c := map[string]string{
		// Virtual machines shorten the brand; the family and the model tell more.
		"cpu":      fmt.Sprintf("%s (family %d, model %d)", brand, cpuid.CPU.Family, cpuid.CPU.Model),
		"platform": runtime.GOOS + "/" + runtime.GOARCH, "kernel": bloom.Kernels()[0].String(),
		"reference": o.Reference, "bits per key": fmt.Sprint(o.BitsPerKey), "queries": fmt.Sprint(o.Queries), "cores": fmt.Sprint(o.Cores),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.Contains(modules, m.Path) {
				c[m.Path] = m.Version
			}
		}
	}
	return c
}

// run times a library beside the reference.
func (c *contest) run(ctx context.Context, l *library) (r result, err error) {
	r.times = map[call]map[job]race.Figure{keyByKey: {}, atOnce: {}}
	for _, j := range jobs {
		keys, times := c.known, 1+(buildAtLeast-1)/c.known.len
		switch j {
		case absent:
			keys, times = c.absent, 1
		case present:
			keys, times = c.present, 1
		}
		if j == building && l.untimedBuild {
			_, answer, err := l.build[atOnce](keys, 1)
			if err := errors.Join(err, ctx.Err(), c.check(&r, j, true, answer)); err != nil {
				return r, fmt.Errorf("%s: %w", l.name, err)
			}
			continue
		}
		ways := []*race.Way{c.reference.way(ctx, j, c.reference.firstCall(j), keys, times)}
		var calls []call
		for _, call := range []call{keyByKey, atOnce} {
			if l.ways(j)[call] != nil {
				calls = append(calls, call)
				ways = append(ways, l.way(ctx, j, call, keys, times))
			}
		}
		// A test leaves no garbage, and the collector would take longer than the test.
		turns := race.Race{Rounds: c.rounds, Time: c.share, Operations: times * keys.len, Differ: true, Clean: j != building}
		if err := turns.Run(ways...); err != nil {
			return r, err
		}
		for i, call := range calls {
			w := ways[i+1]
			r.times[call][j] = w.Beside("", ways[0])
			if err := c.check(&r, j, i == 0, w.Answer); err != nil {
				return r, fmt.Errorf("%s, %v: %w", l.name, call, err)
			}
		}
	}
	return r, nil
}

// check records the size of the filter or the number of hits. It returns an error if
// calls differ, or if a known key is missing.
func (c *contest) check(r *result, j job, first bool, answer int) error {
	switch j {
	case building:
		bits := 8 * float64(answer) / float64(c.known.len)
		if !first && bits != r.bits {
			return fmt.Errorf("the filter has %v bits per key, and %v otherwise", bits, r.bits)
		}
		r.bits = bits
	case absent:
		if !first && answer != r.hits {
			return fmt.Errorf("%d absent keys pass, and %d otherwise", answer, r.hits)
		}
		r.hits = answer
	case present:
		if n := c.present.len; answer != n {
			return fmt.Errorf("%d of %d known keys are missing", n-answer, n)
		}
	}
	return nil
}

// ways returns how the library does a job, by call.
func (l *library) ways(j job) [2]way {
	if j == building {
		return l.build
	}
	return l.test
}

// firstCall returns the calls that the reference does a job with: key by key if it has such calls.
func (l *library) firstCall(j job) call {
	if l.ways(j)[keyByKey] == nil {
		return atOnce
	}
	return keyByKey
}

// way returns a way of a race. A library has a clock of its own.
func (l *library) way(ctx context.Context, j job, call call, keys *column, times int) *race.Way {
	var took time.Duration
	do := l.ways(j)[call]
	return &race.Way{
		Name: l.name,
		Run: func(int) (answer int, err error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			took, answer, err = do(keys, times)
			return answer, err
		},
		Took: func() time.Duration { return took },
	}
}
