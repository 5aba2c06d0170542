//go:build !(linux || darwin || dragonfly || freebsd || openbsd)

package stopwatch

import "time"

// threadTime returns the time that passes: the system tells that of a thread in steps that are too long.
func threadTime() time.Duration { return passedTime() }
