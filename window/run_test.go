//go:build go1.25

package window

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
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

// TestRunLate delays the goroutine of Run by n intervals. It wants the keys of the newest generation as long as after a
// rotation in time, and the older ones to be forgotten as early.
func TestRunLate(t *testing.T) {
	for n := range 12 {
		const most = 5
		w := filled(t, Options{Generations: most, Keys: 60, Rate: 1e-4})
		w.rotate(n + 1)
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

// TestDue wants as many rotations as intervals have passed, and the next one at its time.
func TestDue(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		late   time.Duration
		passed int64
	}{
		{0, 1}, {time.Minute, 1}, {59 * time.Minute, 1}, {time.Hour, 2}, {10*time.Hour + time.Second, 11}, {-time.Second, 1},
	} {
		passed, next := due(start, start.Add(c.late), time.Hour)
		if passed != c.passed || next != start.Add(time.Duration(c.passed)*time.Hour) {
			t.Errorf("%v late: %d rotations, and the next at %v", c.late, passed, next)
		}
	}
}
