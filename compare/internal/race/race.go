// Package race times ways to do the same, which take turns, and prints what they took in the format of Go's benchmarks, which the
// command figures reads, or as a table.
package race

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Way is one of several ways to do the same.
type Way struct {
	Name  string
	Ready func(round int) error // before a run, untimed; may be nil
	// Run does it, and returns a number by which the answers of the ways can be compared.
	Run func(round int) (answer int, err error)
	// Took returns how long the last run took, by a clock of its own; if it is nil, the clock is the race's.
	Took func() time.Duration

	Answer int       // of the last run
	Ns     []float64 // an operation, by round
}

// Race says how ways are timed.
type Race struct {
	Rounds     int                  // beside the first one, which warms up and does not count, unless the race is Cold
	Cold       bool                 // the first round counts
	Operations int                  // of a run
	Time       time.Duration        // if it is not 0, no round begins later, but for the first five
	Clock      func() time.Duration // nil: the time that passes
	Differ     bool                 // each way may have an answer of its own
	Clean      bool                 // no run leaves garbage, so none is collected: that can take longer than the run
}

// leastRounds is the number of rounds that a race has even if its time is over.
const leastRounds = 5

var start = time.Now()

// Run times the ways. They take turns, in a new order each round. The garbage is collected before each run, so that no
// way collects that of another, unless r is Clean.
func (r Race) Run(ways ...*Way) error {
	clock := r.Clock
	if clock == nil {
		clock = func() time.Duration { return time.Since(start) }
	}
	began := time.Now()
	first := 0
	if r.Cold {
		first = 1
	}
	for round := first; round <= r.Rounds; round++ {
		if r.Time > 0 && round > leastRounds && time.Since(began) > r.Time {
			break
		}
		for _, i := range rand.Perm(len(ways)) {
			if !r.Clean {
				runtime.GC()
			}
			if err := ways[i].run(round, r.Operations, clock); err != nil {
				return fmt.Errorf("%s: %w", ways[i].Name, err)
			}
		}
		for _, w := range ways[1:] {
			if !r.Differ && w.Answer != ways[0].Answer {
				return fmt.Errorf("%s answers %d, and %s %d", w.Name, w.Answer, ways[0].Name, ways[0].Answer)
			}
		}
	}
	return nil
}

func (w *Way) run(round, operations int, clock func() time.Duration) (err error) {
	if w.Ready != nil {
		if err := w.Ready(round); err != nil {
			return err
		}
	}
	before := clock()
	w.Answer, err = w.Run(round)
	took := clock() - before
	if w.Took != nil {
		took = w.Took()
	}
	if round > 0 {
		w.Ns = append(w.Ns, float64(took.Nanoseconds())/float64(operations))
	}
	return err
}

// Least returns the least time of an operation, in nanoseconds.
func (w *Way) Least() float64 { return slices.Min(w.Ns) }

// Figure returns the median time of an operation, and its first and last decile.
func (w *Way) Figure(name string) Figure {
	middle, low, high := Spread(w.Ns)
	return Figure{Name: name, Ns: middle, Low: low, High: high}
}

// Beside returns the median time of an operation, how many times as fast that is as another way in the same round, and the
// first and last decile of the ratios.
func (w *Way) Beside(name string, other *Way) Figure {
	ratios := make([]float64, len(w.Ns))
	for i := range ratios {
		ratios[i] = other.Ns[i] / w.Ns[i]
	}
	f := w.Figure(name)
	f.X, f.Low, f.High = Spread(ratios)
	return f
}

// Spread returns the median of values, and their first and last decile.
func Spread(values []float64) (middle, low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Three(sorted[n/2]), Three(sorted[n/10]), Three(sorted[n*9/10])
}

// Output runs a command and returns what it prints, and the most memory that one of its processes took, in MB. That is never
// less than what this program has taken so far: the system counts it for a process until it runs the command.
func Output(c *exec.Cmd) (out []byte, mb float64, err error) {
	if out, err = c.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, out)
	}
	return out, Three(float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10) / 1e6), nil
}

// CPUTime returns how long the program has worked on all cores. Unlike the time that passes, it leaves out what other
// programs do meanwhile.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are ours
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
