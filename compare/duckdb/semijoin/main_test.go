package main

import "testing"

// TestRun wants the sums of both ways to be equal.
func TestRun(t *testing.T) {
	if err := run(200_000, 5, 1, 1); err != nil {
		t.Error(err)
	}
}
