package main

import (
	"io"
	"testing"
)

// TestTables makes each table with small filters. The ways to do the same must agree.
func TestTables(t *testing.T) {
	for name, rows := range tables {
		small := &table{w: io.Discard, rounds: 1, keys: 0.003}
		if err := rows(small); err != nil || small.floors == 0 {
			t.Errorf("%s: %v, %d floors", name, err, small.floors)
		}
	}
	for _, name := range []string{"loki", "tempo", "weaviate", "segments", "spice"} {
		if n := changed(name); n < 1 || n > 5 {
			t.Errorf("%s has %d changed lines", name, n)
		}
	}
}
