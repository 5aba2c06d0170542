package main

import (
	"time"

	"github.com/prometheus/procfs"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// busy returns the share of the CPUs that is in use for a while, in which this program sleeps: 0 where no system tells.
func busy(while time.Duration) (float64, error) {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, nil //nolint:nilerr // not Linux
	}
	times := func() (idle, all float64, err error) {
		stat, err := system.Stat()
		c := stat.CPUTotal
		idle = c.Idle + c.Iowait
		return idle, idle + c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, err // the guests' time is in that of users
	}
	idle, all, err := times()
	if err != nil {
		return 0, err
	}
	time.Sleep(while)
	idleAfter, allAfter, err := times()
	return race.Three(1 - (idleAfter-idle)/max(0.01, allAfter-all)), err
}
