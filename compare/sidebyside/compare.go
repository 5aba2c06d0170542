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
	name      string // of its figures
	reference *library
	rounds    int           // at most
	share     time.Duration // for each job of each library
}

// compare runs the contests of all sizes, and prints the figures of each library when it has them.
func compare(ctx context.Context, o *options, out, messages io.Writer) error {
	folder, err := os.MkdirTemp("", "sidebyside")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	programs := make([]*oracle.Oracle, len(inCPP))
	for i, c := range inCPP {
		if err := ctx.Err(); err != nil {
			return err
		}
		if programs[i], err = oracle.Compile(c.format, folder); err != nil {
			fmt.Fprintf(messages, "sidebyside: without %s: %v\n", c.name, err)
		}
	}
	if err := (&race.Figures{Config: config(o)}).Print(out); err != nil {
		return err
	}
	for _, size := range o.Sizes {
		for _, kind := range o.Keys {
			if err := compareAt(ctx, o, size, kind, programs, out); err != nil {
				return fmt.Errorf("%d %s: %w", size, kind, err)
			}
		}
	}
	return nil
}

// compareAt runs the contest of one size and kind of keys.
func compareAt(ctx context.Context, o *options, size int, kind kind, programs []*oracle.Oracle, out io.Writer) (err error) {
	c := &contest{columns: newColumns(kind, size, o.Queries), name: fmt.Sprintf("Libraries/keys=%d/of=%s", size, kind), rounds: o.Rounds}
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
		return fmt.Errorf("--reference: there is no %s", o.Reference)
	}
	c.reference = &all[reference]
	for i := range all {
		for _, j := range jobs {
			figures, err := c.run(ctx, &all[i], j)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", all[i].name, j, err)
			}
			if err := (&race.Figures{List: figures}).Print(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// config tells what the figures are of.
func config(o *options) map[string]string {
	brand := strings.NewReplacer("(R)", "", "(TM)", "", " Processor", "").Replace(cpuid.CPU.BrandName)
	c := map[string]string{
		// Virtual machines shorten the brand; the family and the model tell more.
		"cpu":      fmt.Sprintf("%s (family %d, model %d)", brand, cpuid.CPU.Family, cpuid.CPU.Model),
		"platform": runtime.GOOS + "/" + runtime.GOARCH, "kernel": bloom.Kernels()[0].String(),
		"reference": o.Reference, "bits-per-key": fmt.Sprint(o.BitsPerKey), "queries": fmt.Sprint(o.Queries), "cores": fmt.Sprint(o.Cores),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if slices.ContainsFunc(others, func(o other) bool { return o.module == m.Path }) {
				c[strings.ToLower(m.Path)] = m.Version
			}
		}
	}
	return c
}

// run times a job of a library beside the reference. All calls of the library must have the same answer.
func (c *contest) run(ctx context.Context, l *library, j job) (figures []race.Figure, err error) {
	keys, times := map[job]*column{building: c.known, absent: c.absent, present: c.present}[j], 1
	if j == building {
		times = 1 + (buildAtLeast-1)/keys.len
		if l.untimedBuild {
			_, _, err := l.build[atOnce](keys, 1)
			return nil, errors.Join(err, ctx.Err())
		}
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
		return nil, err
	}
	answer := ways[1].Answer
	if j == present {
		answer = keys.len // no known key is missing
	}
	for i, call := range calls {
		if got := ways[i+1].Answer; got != answer {
			return nil, fmt.Errorf("%v: %d in place of %d", call, got, answer)
		}
		f := ways[i+1].Beside(fmt.Sprintf("%s/library=%s/call=%v/job=%s", c.name, l.name, call, j), ways[0])
		switch j {
		case building:
			f.Bits = race.Three(8 * float64(answer) / float64(keys.len))
		case absent:
			f.Rate = float64(answer) / float64(keys.len)
		}
		figures = append(figures, f)
	}
	return figures, nil
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
