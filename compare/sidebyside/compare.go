package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/lanebloom/bloom/compare/oracle"
)

// column is a column of keys, in both forms.
type column struct {
	number int // to the C++ program
	ints   []uint64
	bytes  []byte // their 8 little-endian bytes
}

func newColumn(number, n int, key func(i int) uint64) *column {
	c := &column{number, make([]uint64, n), make([]byte, 8*n)}
	for i := range c.ints {
		c.ints[i] = key(i)
		binary.LittleEndian.PutUint64(c.bytes[8*i:], c.ints[i])
	}
	return c
}

func (c *column) key(i int) []byte { return c.bytes[8*i : 8*i+8 : 8*i+8] }

// columns are the keys of a filter, and the absent and present keys to test.
type columns struct{ known, absent, present *column }

func newColumns(known, queries int) columns {
	// mix is a bijection, so no key comes twice, and no absent key is known.
	c := columns{known: newColumn(0, known, func(i int) uint64 { return mix(uint64(i)) })}
	c.absent = newColumn(1, queries, func(i int) uint64 { return mix(uint64(known + i)) })
	random := rand.New(rand.NewPCG(3, 4))
	c.present = newColumn(2, queries, func(int) uint64 { return c.known.ints[random.IntN(known)] })
	return c
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// buildAtLeast is the least number of keys to build with in one measurement: it builds
// a small filter several times.
const buildAtLeast = 1 << 18

// measurement has the times of a job that a library does at one size with one kind of
// calls.
type measurement struct {
	library *library
	call    call
	job     job
	nsAKey  []float64 // by round
	ratios  []float64 // to the reference, by round
}

// job is what a library does with a column.
type job string

const (
	building job = "build"
	absent   job = "absent"
	present  job = "present"
)

// jobs lists the jobs. Building comes first: the others test the filter that it leaves.
var jobs = []job{building, absent, present}

// contest has the libraries, their measurements and their results at one size.
type contest struct {
	columns
	libraries    []library
	bits         map[string]float64 // per key, by library
	hits         map[string]int     // of absent keys, by library
	measurements []*measurement
}

// compare runs the contests of all sizes.
func compare(ctx context.Context, o *options) (*report, error) {
	folder, err := os.MkdirTemp("", "sidebyside")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	programs := make([]*oracle.Oracle, len(inCPP))
	for i, format := range inCPP {
		if programs[i], err = oracle.Compile(format, folder); err != nil {
			return nil, err
		}
	}
	r := newReport(o)
	bar := progress(len(o.Sizes) * (o.Rounds + 1))
	for _, size := range o.Sizes {
		c := &contest{columns: newColumns(size, o.Queries), bits: map[string]float64{}, hits: map[string]int{}}
		timers := make([]*oracle.Timer, len(programs))
		for i, program := range programs {
			if timers[i], err = program.Time(o.BitsPerKey, c.known.bytes, c.absent.bytes, c.present.bytes); err != nil {
				return nil, err
			}
		}
		c.libraries = newLibraries(o.BitsPerKey, timers)
		c.plan()
		err = c.run(ctx, o, bar)
		for _, timer := range timers {
			err = errors.Join(err, timer.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("%d keys: %w", size, err)
		}
		r.add(c)
	}
	return r, nil
}

// progress returns a function to call at the end of each of the given number of steps.
func progress(steps int) func() {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	bar := progressbar.NewOptions(steps, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish())
	return func() { _ = bar.Add(1) } // an error of drawing is no reason to stop
}

// plan lists the measurements job by job, and within a job library by library, so that
// each runs soon after its reference.
func (c *contest) plan() {
	for _, j := range jobs {
		for i := range c.libraries {
			for _, call := range []call{keyByKey, atOnce} {
				m := &measurement{library: &c.libraries[i], call: call, job: j}
				if m.way() != nil {
					c.measurements = append(c.measurements, m)
				}
			}
		}
	}
}

// run runs one round to warm up, and then all rounds.
func (c *contest) run(ctx context.Context, o *options, step func()) error {
	for round := range o.Rounds + 1 {
		for _, m := range c.measurements {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.time(m); err != nil {
				return fmt.Errorf("%s: %w", m.library.name, err)
			}
		}
		if round == 0 {
			for _, m := range c.measurements {
				m.nsAKey = nil
			}
		}
		step()
	}
	for _, m := range c.measurements {
		reference := c.referenceOf(m, o.Reference)
		for round, ns := range m.nsAKey {
			m.ratios = append(m.ratios, reference.nsAKey[round]/ns)
		}
	}
	return nil
}

// way returns how the library does the job, or nil.
func (m *measurement) way() way {
	if m.job == building {
		return m.library.build[m.call]
	}
	return m.library.test[m.call]
}

// time does the job of a measurement, and checks the result.
func (c *contest) time(m *measurement) error {
	keys, times := c.known, 1+(buildAtLeast-1)/len(c.known.ints)
	switch m.job {
	case absent:
		keys, times = c.absent, 1
	case present:
		keys, times = c.present, 1
	}
	runtime.GC() // it is off at other times
	took, result, err := m.way()(keys, times)
	if err != nil {
		return err
	}
	m.nsAKey = append(m.nsAKey, float64(took)/float64(time.Nanosecond)/float64(times*len(keys.ints)))
	return c.check(m, result)
}

// check records the size of the filter or the number of hits. It returns an error if
// calls or rounds differ, or if a known key is missing.
func (c *contest) check(m *measurement, result int) error {
	name := m.library.name
	switch m.job {
	case building:
		bits := 8 * float64(result) / float64(len(c.known.ints))
		if before, ok := c.bits[name]; ok && bits != before {
			return fmt.Errorf("built %s, the filter has %v bits per key, and %v otherwise", m.call, bits, before)
		}
		c.bits[name] = bits
	case absent:
		if before, ok := c.hits[name]; ok && result != before {
			return fmt.Errorf("asked %s, %d absent keys pass, and %d otherwise", m.call, result, before)
		}
		c.hits[name] = result
	case present:
		if n := len(c.present.ints); result != n {
			return fmt.Errorf("asked %s, %d of %d known keys are missing", m.call, n-result, n)
		}
	}
	return nil
}

// referenceOf returns the reference's measurement of the same job, key by key if the
// reference has such calls.
func (c *contest) referenceOf(m *measurement, reference string) *measurement {
	i := slices.IndexFunc(c.measurements, func(r *measurement) bool {
		return r.library.name == reference && r.job == m.job
	})
	return c.measurements[i]
}
