//go:build linux || darwin || dragonfly || freebsd || openbsd

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom/cmd/bloom/internal/stopwatch"
)

// TestStopwatch wants the time that a thread waits not to count, and to be told.
func TestStopwatch(t *testing.T) {
	const wait = 5 * time.Millisecond
	sum := 0
	work := func([]uint64) {
		for i := range 100_000 {
			sum += i * sum
		}
	}
	var clock stopwatch.Watch
	waiting := &trial{n: 1, paths: []path{
		{plainLoop, work},
		{"waiting", func(hits []uint64) { work(hits); time.Sleep(wait) }},
	}}
	waiting.run(t.Context(), &clock, 0)
	results := waiting.results()
	if ratio := results[1].Ratio.Median; ratio < 0.4 || results[1].NsPerKey.Median > float64(wait.Nanoseconds())/2 {
		t.Errorf("the same work with a wait is %.2f times as fast", ratio)
	}
	if words := clock.Busy(); clock.Waited() < 0.5 || !strings.HasPrefix(words, "The machine was busy: other work took the CPU for ") {
		t.Errorf("the thread waits for %.2f of the time, and it says %q", clock.Waited(), words)
	}
}
