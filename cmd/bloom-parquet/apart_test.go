package main

import (
	"slices"
	"strings"
	"testing"
)

// TestTrace wants the first line of a trace, however it is cut, and not what parquet-go prints before.
func TestTrace(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	for text, want := range map[string]string{
		"":                              "",
		"fatal error: fault":            "fatal error: fault",
		"fatal error: fault\ngoroutine": "fatal error: fault",
		"parquet: warning: column 8\nparquet: warning: " + long + "\nfatal error: fault\nparquet: warning: x\n": "fatal error: fault",
		"parquet: warning: column 8\n\nfatal error: fault\n":                                                    "fatal error: fault",
		"parquet: warning: cut off": "",
		long + "\nmore":             strings.TrimSpace(long[:4096]),
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			trace := new(trace)
			for piece := range slices.Chunk([]byte(text), size) {
				if n, err := trace.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := trace.first(); got != want {
				t.Errorf("%.60q in pieces of %d: %.60q, want %.60q", text, size, got, want)
			}
		}
	}
}
