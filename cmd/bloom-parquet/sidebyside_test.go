package main

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// onCores runs a test on one, two and four cores.
func onCores(t *testing.T, test func(t *testing.T, cores int)) {
	for _, cores := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("cores=", cores), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			test(t, cores)
		})
	}
}

// TestSideBySide wants the steps of jobs of random lengths in order, and no more jobs at once than there are cores.
func TestSideBySide(t *testing.T) {
	onCores(t, func(t *testing.T, cores int) {
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(60, seed))
			jobs := random.IntN(30)
			steps := make([]int, jobs)
			var want, got [][2]int
			for i := range steps {
				steps[i] = random.IntN(5)
				for j := range steps[i] {
					want = append(want, [2]int{i, j})
				}
			}
			var atOnce, most atomic.Int64
			err := sideBySide(numbers(jobs), func(i int, then handOn) error {
				if n := atOnce.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer atOnce.Add(-1)
				for j := range steps[i] {
					time.Sleep(time.Duration((i*7+j*3)%5) * 10 * time.Microsecond)
					if err := then(func() error { got = append(got, [2]int{i, j}); return nil }); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v, %v; want %v", seed, err, got, want)
			}
			if most.Load() > int64(cores) {
				t.Fatalf("seed %d: %d jobs at once", seed, most.Load())
			}
		}
	})
}

// TestSideBySideErrors wants the first error in the order of the jobs, whichever comes first, all steps
// before it, and none behind it. When sideBySide returns, no job runs.
func TestSideBySideErrors(t *testing.T) {
	onCores(t, func(t *testing.T, _ int) {
		const jobs = 20
		for bad := range jobs {
			for _, how := range []string{"job", "panic", "step"} {
				var running atomic.Int64
				var done []int
				err := sideBySide(numbers(jobs), func(i int, then handOn) error {
					running.Add(1)
					defer running.Add(-1)
					if i == bad {
						time.Sleep(time.Millisecond) // so that later ones fail before it
					}
					if i == bad && how == "panic" {
						panic("5")
					}
					err := then(func() error {
						if i >= bad && how == "step" {
							return fmt.Errorf("step %d", i)
						}
						done = append(done, i)
						return nil
					})
					if i >= bad && err == nil {
						err = fmt.Errorf("job %d", i)
					}
					return err
				})
				want := map[string]string{"job": fmt.Sprint("job ", bad), "panic": "malformed: 5", "step": fmt.Sprint("step ", bad)}[how]
				if err == nil || err.Error() != want || running.Load() != 0 {
					t.Fatalf("%s: error %v, want %s; %d jobs run", how, err, want, running.Load())
				}
				steps := bad
				if how == "job" {
					steps++
				}
				if len(done) != steps || !slices.IsSorted(done) {
					t.Fatalf("%s %d: %v", how, bad, done)
				}
			}
		}
	})
}

// TestAhead wants the results in order with their errors, also if it panics, and that it ends when nobody
// takes more.
func TestAhead(t *testing.T) {
	onCores(t, func(t *testing.T, cores int) {
		odd := errors.New("odd")
		var calls atomic.Int64
		do := func(i int) (int, error) {
			calls.Add(1)
			if i == 51 {
				panic("51")
			}
			if i%2 == 1 {
				return 0, odd
			}
			return i * i, nil
		}
		next := 0
		for got, err := range ahead(numbers(60), do) {
			switch {
			case next == 51:
				if err == nil || err.Error() != "malformed: 51" {
					t.Fatalf("51: %v", err)
				}
			case next%2 == 1 && !errors.Is(err, odd), next%2 == 0 && (err != nil || got != next*next):
				t.Fatalf("%d: %d, %v", next, got, err)
			}
			next++
		}
		if next != 52 {
			t.Errorf("%d results", next)
		}
		calls.Store(0)
		for range ahead(numbers(1000), do) {
			break
		}
		if n := calls.Load(); n > int64(3*cores+2) {
			t.Errorf("%d calls for a result", n)
		}
	})
}
