package main

import (
	"testing"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// TestTextOfBytes prints values whose bytes are not the text that they have, or no text at all.
func TestTextOfBytes(t *testing.T) {
	decimal := bloomparquet.Type{Physical: bloomparquet.ByteArray, Logical: bloomparquet.Decimal, Precision: 9, Scale: 2}
	interval := bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 12, Logical: bloomparquet.Interval}
	unknown := bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 2, Logical: bloomparquet.Other}
	for _, test := range []struct {
		of             bloomparquet.Type
		plain          string
		csv, jsonlines string
	}{
		{decimal, "\xff\x38", "-2.00", "-2.00"}, {decimal, "12", "125.94", "125.94"}, {decimal, "", "0x", `"0x"`},
		{interval, "twelve bytes", "0x7477656c7665206279746573", `"0x7477656c7665206279746573"`},
		{unknown, "a\xff", "a\xff", `"0x61ff"`}, {unknown, "ab", "ab", `"ab"`},
	} {
		for _, w := range []*textWriter{{csv: true}, {}} {
			want := map[bool]string{true: test.csv, false: test.jsonlines}[w.csv]
			if w.value(test.of, []byte(test.plain), false); string(w.line) != want {
				t.Errorf("%v, %x: %s, want %s", test.of, test.plain, w.line, want)
			}
		}
	}
}
