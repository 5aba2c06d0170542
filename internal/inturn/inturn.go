// Package inturn times what a benchmark measures, and a reference, in turn inside one process. The speed of a machine
// drifts, so only the ratio of neighbouring rounds means anything.
package inturn

import (
	"slices"
	"testing"
	"time"
)

// Run reports medians over the rounds of a benchmark. Each of the functions runs a round of the given units, and returns
// its time. The metrics are:
//
//	ns/UNIT         the time of a unit of path
//	UNITs/s         its inverse
//	x-NAME          how many times faster path is than the reference, which has that name
//	x-p10, x-p90    the spread of that ratio: its first and last decile
func Run(b *testing.B, unit string, units int, name string, reference, path func() time.Duration) {
	var times, ratios []float64
	reference()
	path()
	for b.Loop() {
		r, p := reference(), path()
		times = append(times, float64(p.Nanoseconds())/float64(units))
		ratios = append(ratios, float64(r)/float64(p))
	}
	slices.Sort(times)
	slices.Sort(ratios)
	median := times[len(times)/2]
	b.ReportMetric(0, "ns/op") // the time of a round of both means nothing
	b.ReportMetric(median, "ns/"+unit)
	b.ReportMetric(1e9/median, unit+"s/s")
	b.ReportMetric(ratios[len(ratios)/2], "x-"+name)
	b.ReportMetric(ratios[len(ratios)/10], "x-p10")
	b.ReportMetric(ratios[len(ratios)*9/10], "x-p90")
}

// Timed returns a function that returns how long a call takes.
func Timed(call func()) func() time.Duration {
	return func() time.Duration {
		start := time.Now()
		call()
		return time.Since(start)
	}
}
