package main

import (
	"os"
	"testing"
)

// TestMain is also the program that only reads: run starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-read" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRows finds the rows of some keys in all ways. run returns an error if one finds too few or too many.
func TestRows(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		if figures, err := run(300_000, 1000, 50, 1, 1, sorted); err != nil || len(figures.List) != 6 {
			t.Errorf("sorted %v: %v, %v", sorted, figures, err)
		}
	}
}
