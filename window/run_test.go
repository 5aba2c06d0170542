//go:build go1.25

package window

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/lanebloom/bloom"
)

// TestRun wants a rotation for each interval, late ones too, and the context's error.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := mustNew(t, Options{Generations: 25, Keys: 10, Rate: 0.01})
		ctx, cancel := context.WithCancelCause(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx, time.Hour) }()
		w.AddString("key")
		for hour := range 25 {
			if !w.MayContainString("key") {
				t.Fatalf("the key is lost after %d hours", hour)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		if w.MayContainString("key") {
			t.Error("the key is there after 25 hours")
		}
		why := errors.New("enough")
		if cancel(why); !errors.Is(<-done, why) {
			t.Error("Run does not return the context's error")
		}
	})
	if err := new(Window).Run(context.Background(), 0); err == nil {
		t.Error("no error for an interval of 0")
	}
}

// TestCatchUp wants the next rotation at a multiple of the interval since the first, however late the one before is.
func TestCatchUp(t *testing.T) {
	w := mustNew(t, Options{Generations: 5, Keys: 10, Rate: 0.01})
	began := w.Began().Add(-150 * time.Minute)
	w.change(func(s *state) *state { return s.with(&generation{began: began, sets: s.generations[0].sets}, s.newest) })
	if left := w.catchUp(time.Hour).Round(time.Minute); left != 30*time.Minute || w.Began() != began.Add(2*time.Hour) {
		t.Errorf("%v until the next rotation, and the generation began %v after the first", left, w.Began().Sub(began))
	}
	if left := w.catchUp(time.Hour).Round(time.Minute); left != 30*time.Minute {
		t.Errorf("a rotation too many: %v until the next", left)
	}
}

// TestRunLate delays the goroutine of Run by n intervals. It wants the keys of the newest generation as long as after a
// rotation in time, and the older ones to be forgotten as early.
func TestRunLate(t *testing.T) {
	for n := range 12 {
		const most = 5
		w := filled(t, Options{Generations: most, Keys: 60, Rate: 1e-4})
		w.rotate(n+1, time.Now())
		for age := range most {
			there := age+n+1 < most || age == 0
			if found := w.MayContainBatch(generationKeys(most-1-age), words(50)); there && found != 50 || !there && found > 2 {
				t.Errorf("%d intervals late: %d of 50 keys of generation %d", n, found, age)
			}
		}
		for range most - 2 {
			w.Rotate()
		}
		if found := w.MayContainBatch(generationKeys(most-1), words(50)); found != 50 || len(w.Stats().Generations) != most {
			t.Errorf("%d intervals late: %d of 50 keys of the newest generation", n, found)
		}
		if w.Rotate(); w.MayContainBatch(generationKeys(most-1), words(50)) > 2 {
			t.Errorf("%d intervals late: the newest generation is kept for too long", n)
		}
	}
}

// TestRestarts has a window saved and read again at different times, as a service that is deployed, and down for a while each
// time. Each key is found for 24 hours, and none for more than 25. All the while there are no more keys than planned.
func TestRestarts(t *testing.T) {
	minutes := func(n ...int) []int { return n }
	for _, c := range []struct{ up, down []int }{
		{minutes(50), minutes(0)}, {minutes(70), minutes(0)}, {minutes(100), minutes(0)}, {minutes(220), minutes(0)}, {minutes(360), minutes(0)},
		{minutes(7), minutes(1)}, {minutes(50), minutes(20)}, {minutes(300), minutes(150)}, {minutes(600, 20, 120), minutes(1, 400, 1400)},
	} {
		for _, way := range []string{"ReadFrom", "Load"} {
			synctest.Test(t, func(t *testing.T) {
				o := Options{Generations: 25, Keys: 1000, Rate: 1e-4}
				w := mustNew(t, o)
				added := []time.Time{}
				for i, left := 0, 72*60; left > 0; i++ {
					up, down := c.up[i%len(c.up)], c.down[i%len(c.down)]
					left -= up + down
					ctx, cancel := context.WithCancel(context.Background())
					go w.Run(ctx, time.Hour)
					for range up {
						for range 15 { // 900 an hour
							w.AddUint64(key(len(added)))
							added = append(added, time.Now())
						}
						time.Sleep(time.Minute)
					}
					cancel()
					synctest.Wait()
					file := fileOf(t, w)
					time.Sleep(time.Duration(down) * time.Minute)
					w = mustNew(t, o)
					var err error
					if way == "Load" {
						_, err = w.Load(bytes.NewReader(file))
					} else {
						_, err = w.ReadFrom(bytes.NewReader(file))
					}
					if err != nil {
						t.Fatal(err)
					}
					checkAges(t, fmt.Sprintf("%+v by %s, restart %d", c, way, i), w, added)
				}
				if s := w.Stats(); s.FalsePositiveRate > 1e-4 || s.Over {
					t.Errorf("%+v: %+v", c, s)
				}
			})
		}
	}
}

// checkAges wants keys to be found that were added in the last 24 hours, and none that is older than 25.
func checkAges(t *testing.T, name string, w *Window, added []time.Time) {
	t.Helper()
	late := 0
	for i := max(len(added)-30*900, 0); i < len(added); i += 11 {
		at := added[i]
		has, age := w.MayContainUint64(key(i)), time.Since(at)
		if !has && age < 24*time.Hour {
			t.Fatalf("%s: a key is lost after %v", name, age)
		}
		if has && age > 25*time.Hour {
			late++
		}
	}
	if late > 5 {
		t.Fatalf("%s: %d keys are there after 25 hours", name, late)
	}
}

// setBack returns a time as a process has it whose clock somebody has set: the wall is another, and the age is not. If this fails,
// time.Time has another layout.
func setBack(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	parts := (*[2]uint64)(unsafe.Pointer(&at))
	parts[0] += uint64(by/time.Second) << 30
	return at
}

// TestSteppedClock sets the clock while the process runs, and wants the file to have the time of now less the age. It also sets it
// while no process runs: a generation that begins in the future begins now.
func TestSteppedClock(t *testing.T) {
	o := Options{Generations: 3, Keys: 10, Rate: 0.01}
	for _, by := range []time.Duration{-100 * time.Hour, -time.Minute, 0, time.Minute, 100 * time.Hour} {
		now := time.Now()
		began := now.Add(-40 * time.Minute)
		if got := setBack(t, began, by); got.Sub(began) != 0 || got.Round(0).Sub(began.Round(0)) != by {
			t.Fatalf("step by %v: %v, %v", by, got.Sub(began), got.Round(0).Sub(began.Round(0)))
		}
		if got := time.Unix(0, int64(stamp(setBack(t, began, by), now))); got.Sub(now.Round(0)).Round(time.Second) != -40*time.Minute {
			t.Errorf("the clock was set by %v after the generation began: the file says that it did %v ago", -by, now.Round(0).Sub(got))
		}
		read := stamped(stamp(began, now), 0, setBack(t, now, by))
		if age, want := setBack(t, now, by).Sub(read), max(40*time.Minute+by, 0); age != want {
			t.Errorf("the clock was set by %v before the file was read: it began %v ago, want %v", by, age, want)
		}
		w := mustNew(t, o)
		w.change(func(s *state) *state {
			return s.with(&generation{began: setBack(t, began, by), sets: s.generations[0].sets}, s.newest)
		})
		w.every.Store(int64(time.Hour))
		var again Window
		if _, err := again.ReadFrom(bytes.NewReader(fileOf(t, w))); err != nil {
			t.Fatal(err)
		}
		if age := time.Since(again.Began()).Round(time.Second); age != 40*time.Minute {
			t.Errorf("the clock was set by %v: after a restart, the generation is %v old", by, age)
		}
	}
	if stamp(time.Time{}, time.Now()) != 0 || !stamped(0, 0, time.Now()).IsZero() {
		t.Error("a time that nobody knows is not stored as such")
	}
	now := time.Now()
	for _, odd := range []uint64{1, 1 << 62, 1 << 63, 1<<64 - 1} {
		if at := stamped(odd, 0, now); at.After(now) || now.Sub(at) < 0 || stamp(at, now) == 0 {
			t.Errorf("the stamp %d is %v", odd, at)
		}
	}
}

// TestOutOfStep has two windows load each other's files, in step and out of step, and wants a key forgotten after as many
// rotations as in one window.
func TestOutOfStep(t *testing.T) {
	o := Options{Generations: 3, Keys: 1000, Rate: 1e-4}
	for _, phase := range []time.Duration{0, time.Minute, 30 * time.Minute, 59 * time.Minute} {
		for _, other := range []Options{o, {Generations: 3, Keys: 3000, Rate: 1e-4}} {
			synctest.Test(t, func(t *testing.T) {
				a := mustNew(t, o)
				time.Sleep(phase)
				b := mustNew(t, other)
				load := func(to, from *Window) {
					if _, err := to.Load(bytes.NewReader(fileOf(t, from))); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				go a.Run(ctx, time.Hour)
				go b.Run(ctx, time.Hour)
				time.Sleep(5*time.Hour + 20*time.Minute) // in the middle of a's generation
				a.AddUint64(1)
				for minutes := 0; minutes < 5*60; minutes += 7 {
					load(b, a)
					load(a, b)
					own, copied := a.MayContainUint64(1), b.MayContainUint64(1)
					if age := time.Duration(minutes) * time.Minute; !own && age <= 2*time.Hour || !copied && age <= time.Hour || (own || copied) && age > 3*time.Hour {
						t.Fatalf("%v out of step: after %v, the key is there: %v, copied: %v", phase, age, own, copied)
					}
					time.Sleep(7 * time.Minute)
				}
				for _, w := range []*Window{a, b} {
					for _, g := range w.Stats().Generations {
						if g.Sets > 2 {
							t.Errorf("%d filters in a generation", g.Sets)
						}
					}
				}
			})
		}
	}
}

// TestLoadAgain loads the same files again and again: of the same shape, of another, and of windows that load each other's. It wants
// as many filters as after the first time.
func TestLoadAgain(t *testing.T) {
	var all []*Window
	for _, keys := range []int{1000, 2000, 4000} {
		w := mustNew(t, Options{Generations: 2, Keys: keys, Rate: 0.01})
		w.AddBatch(bloom.Integers(keysFrom(keys, 500)))
		all = append(all, w)
	}
	for range 30 {
		for _, w := range all {
			for _, other := range all {
				if _, err := w.Load(bytes.NewReader(fileOf(t, other))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, w := range all {
		s := w.Stats()
		if s.Generations[0].Sets > 3 || s.Generations[1].Sets > 0 || math.Abs(s.Keys-1500) > 100 {
			t.Errorf("%+v", s)
		}
		for _, keys := range []int{1000, 2000, 4000} {
			if n := w.MayContainBatch(bloom.Integers(keysFrom(keys, 500)), words(500)); n != 500 {
				t.Errorf("%d of 500 keys", n)
			}
		}
	}
	// A filter with more keys than planned has no room, but it has its own keys.
	o := Options{Generations: 2, Keys: 1000, Rate: 0.01}
	o.MaxBytes, _ = o.Bytes()
	full := mustNew(t, o)
	full.AddBatch(bloom.Integers(keysFrom(0, 3000)))
	into := mustNew(t, Options{Generations: 2, Keys: 1000, Rate: 0.01})
	for range 5 {
		if _, err := into.Load(bytes.NewReader(fileOf(t, full))); err != nil {
			t.Fatal(err)
		}
	}
	if s := into.Stats(); s.Generations[0].Sets > 2 {
		t.Errorf("%+v", s.Generations[0])
	}
	// Filters of the window's size merge until they have their keys, and at MaxBytes into the least full.
	w := mustNew(t, Options{Generations: 2, Keys: 1000, Rate: 0.01})
	for i := range 20 {
		from := mustNew(t, Options{Generations: 2, Keys: 1000, Rate: 0.01})
		from.AddBatch(bloom.Integers(keysFrom(600*i, 600)))
		if _, err := w.Load(bytes.NewReader(fileOf(t, from))); err != nil {
			t.Fatal(err)
		}
	}
	s := w.Stats()
	if most := w.state.Load().options.most(w.state.Load().plan); s.Bytes > most || s.Bytes < most*3/4 {
		t.Errorf("%d bytes, at most %d", s.Bytes, most)
	}
	if n := w.MayContainBatch(bloom.Integers(keysFrom(0, 12_000)), words(12_000)); n != 12_000 {
		t.Errorf("%d of 12000 keys", n)
	}
	again := mustNew(t, Options{Generations: 2, Keys: 100_000, Rate: 0.01}) // it has room, but not the filters of the file
	if _, err := again.Load(bytes.NewReader(fileOf(t, w))); err != nil || !s.Over || !again.Stats().Over {
		t.Errorf("more keys than MaxBytes has room for, and Stats does not know: %v, %v, %v", s.Over, again.Stats().Over, err)
	}
	again.AddBatch(bloom.Integers(keysFrom(12_000, 150_000)))
	if s := again.Stats(); s.Generations[0].Sets != 7+2 {
		t.Errorf("a window with room for more sets: %+v", s)
	}
}

// TestBefore1970 finds the place of a generation when the clock was set back so far that others began before 1970.
func TestBefore1970(t *testing.T) {
	now := time.Unix(600, 0)
	m := &merge{now: now, began: []time.Time{now, now.Add(-time.Hour), now.Add(-2 * time.Hour)}}
	for age, want := range []int{0, 1, 2, 3} {
		if got := m.number(now.Add(-time.Duration(age)*time.Hour), -1); got != want {
			t.Errorf("a generation that is %d hours old goes to generation %d", age, got)
		}
	}
}

// TestLoadManySmall loads many small filters into a window of a large one, and wants no copy of that for each of them.
func TestLoadManySmall(t *testing.T) {
	from := mustNew(t, Options{Generations: 2, Keys: 1, Rate: 0.5, MaxBytes: 1 << 20})
	from.AddBatch(bloom.Integers(keysFrom(0, 2000)))
	w, file := mustNew(t, Options{Generations: 2, Keys: 1_000_000, Rate: 0.01}), fileOf(t, from)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.TotalAlloc
	if _, err := w.Load(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&m)
	if got := m.TotalAlloc - before; got > 200<<20 {
		t.Errorf("Load of %d bytes takes %d bytes of memory", len(file), got)
	}
}
