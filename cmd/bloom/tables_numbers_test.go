package main

import "testing"

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1e-10: "0.0000", 0.00034: "0.0003", 0.0034567: "0.00346", 0.5: "0.5", 12.3456: "12.3", 999: "999", 999.9: "1000",
		1000: "1,000", 2345.6: "2,346", 2e5: "200,000", 1.5e9: "1,500,000,000",
	} {
		if got := threeDigits(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for share, want := range map[float64]string{0: "0 %", 1e-9: "< 0.0001 %", 2e-6: "0.0002 %", 0.00866: "0.866 %", 0.395: "39.5 %", 1: "100 %"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}
