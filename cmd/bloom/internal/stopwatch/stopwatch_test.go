package stopwatch

import "testing"

// TestStopwatchOfWork wants no word of a machine that lets a thread work.
func TestStopwatchOfWork(t *testing.T) {
	if words := (&Watch{worked: 95, passed: 100}).Busy(); words != "" {
		t.Error(words)
	}
	if words := new(Watch).Busy(); words != "" {
		t.Error(words)
	}
}
