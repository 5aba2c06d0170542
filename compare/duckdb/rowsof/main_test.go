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

// TestRows finds the rows of some keys in both ways. run returns an error if they are too few or too many.
func TestRows(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		if err := run(300_000, 1000, 50, 1, 1, sorted); err != nil {
			t.Errorf("sorted %v: %v", sorted, err)
		}
	}
}
