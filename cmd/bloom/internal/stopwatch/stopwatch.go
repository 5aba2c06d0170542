// Package stopwatch measures work on a machine that has other work, too.
package stopwatch

import (
	"fmt"
	"time"
)

// Watch measures how long a thread works. Other programs that take turns on its CPU lengthen the time that
// passes, but not that. The goroutine must be locked to its thread.
type Watch struct{ worked, passed time.Duration }

var processStart = time.Now()

func passedTime() time.Duration { return time.Since(processStart) }

// Time returns how long run works.
func (s *Watch) Time(run func()) time.Duration {
	passed, worked := passedTime(), threadTime()
	run()
	took := max(1, threadTime()-worked)
	s.worked, s.passed = s.worked+took, s.passed+passedTime()-passed
	return took
}

// Waited returns the share, 0 to 1, of the time in which the thread did not work.
func (s *Watch) Waited() float64 {
	return float64(max(0, s.passed-s.worked)) / float64(max(1, s.passed))
}

// Busy returns a line of warning if the thread waited for other work, and else nothing.
func (s *Watch) Busy() string {
	const idle = 0.1
	if s.Waited() < idle {
		return ""
	}
	return fmt.Sprintf("The machine was busy: other work took the CPU for %.0f %% of the time. This time does not count.\n", 100*s.Waited())
}
