package main

import "testing"

// TestHints wants no bugs in instructions that only request lines from memory, and some in others.
func TestHints(t *testing.T) {
	for line, want := range map[string]bool{
		"\tPRFM    0(R4), PLDL1KEEP": false,
		"\tPREFETCHT0 8(AX)":         false,
		"\tBNE     request":          false,
		"\tJNE        request":       false,
		"\tCBZ   R3, requested":      false,
		"\tJNE        loop":          true,
		"\tBNE     requests":         true,
		"\tMOVQ 8(AX), CX":           true,
	} {
		if got := len(mutate(line)) > 0; got != want {
			t.Errorf("bugs in %q: %v", line, got)
		}
	}
}
