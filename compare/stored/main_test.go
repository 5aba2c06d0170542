package main

import "testing"

// TestRun compares all programs with small filters. The ways to do the same must agree.
func TestRun(t *testing.T) {
	c := &comparison{rounds: 1, keys: 0.003}
	if err := c.run(); err != nil || len(c.List) != 24 {
		t.Errorf("%d figures: %v", len(c.List), err)
	}
	for _, f := range c.List {
		if f.Ns <= 0 {
			t.Errorf("%+v", f)
		}
	}
}
