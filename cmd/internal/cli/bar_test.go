package cli

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestDrawnLate wants no bar in the first half second, and then one of all work.
func TestDrawnLate(t *testing.T) {
	for name, c := range map[string]struct {
		wait     time.Duration
		drawn    int64
		finished bool
	}{
		"early": {firstDrawn - 1, 0, false},
		"late":  {firstDrawn, 7, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			drawn, finished := int64(0), false
			add, done := drawnLate(
				func(n int64) error { drawn += n; return nil },
				func() error { finished = true; return nil })
			add(3)
			time.Sleep(c.wait)
			add(4)
			done()
			if drawn != c.drawn || finished != c.finished {
				t.Errorf("%s: %d is drawn, and the bar finished: %v", name, drawn, finished)
			}
		})
	}
}
