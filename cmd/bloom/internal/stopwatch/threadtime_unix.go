//go:build linux || darwin || dragonfly || freebsd || openbsd

package stopwatch

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns how long the CPU has worked for this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return passedTime()
	}
	return time.Duration(t.Nano())
}
