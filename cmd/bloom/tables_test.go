package main

import (
	"testing"

	"github.com/lanebloom/bloom/adapter/sst"
)

// TestExpectedRate has tables whose partitions are not all read: every absent key may be in those that are not.
func TestExpectedRate(t *testing.T) {
	for _, c := range []struct {
		stats bloomsst.Stats
		want  float64
	}{
		{bloomsst.Stats{Filters: 1, FalsePositiveRate: 0.25}, 0.25},
		{bloomsst.Stats{Unread: 60}, 1},
		{bloomsst.Stats{Filters: 1, Unread: 3, FalsePositiveRate: 0.5}, 0.875},
		{bloomsst.Stats{}, 0},
	} {
		if got := expectedRate(c.stats); got != c.want {
			t.Errorf("%+v: %v, want %v", c.stats, got, c.want)
		}
	}
}
