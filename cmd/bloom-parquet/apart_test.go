package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestMessages wants what the command says, and not what parquet-go prints before or the trace of an end.
func TestMessages(t *testing.T) {
	var to bytes.Buffer
	m := &messages{to: &to}
	fmt.Fprint(m, "parquet: warning: column 8\nbloom-parquet: in: an error\n")
	fmt.Fprint(m, "fatal error: out of memory\nbloom-parquet: a line of the trace\n")
	if to.String() != "bloom-parquet: in: an error\n" || m.trace() != "fatal error: out of memory" {
		t.Errorf("%q, and the trace %q", to.String(), m.trace())
	}
}
