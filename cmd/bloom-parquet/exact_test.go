package main

import (
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"testing"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestEqualFloats builds filters of a column of one value, and filters another column with them: the zeros
// are equal, and the NaN are.
func TestEqualFloats(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type row struct {
		X float64 `parquet:"x"`
		Y float32 `parquet:"y"`
	}
	nan32 := math.Float32frombits(0x7fc00005)
	rows := map[string]row{
		"0": {0, 0}, "-0": {math.Copysign(0, -1), float32(math.Copysign(0, -1))},
		"NaN": {math.NaN(), float32(math.NaN())}, "another NaN": {math.Float64frombits(0xfff8000000000005), nan32},
	}
	dir := t.TempDir()
	same := func(a, b string) bool { return (a == "0" || a == "-0") == (b == "0" || b == "-0") }
	for name, r := range rows {
		writeRows(t, filepath.Join(dir, name+".parquet"), []row{r}, 10)
	}
	status := func(args ...string) int {
		t.Helper()
		code, _, messages := runOn(t, 2, args...)
		if code == cli.ExitError {
			t.Fatalf("%s: %s", args, messages)
		}
		return code
	}
	filter, list := filepath.Join(dir, "filter"), filepath.Join(dir, "list")
	for _, column := range []string{"x", "y"} {
		for of, value := range rows {
			plain := fmt.Sprintf("%016x", bits.ReverseBytes64(math.Float64bits(value.X)))
			if column == "y" {
				plain = fmt.Sprintf("%08x", bits.ReverseBytes32(math.Float32bits(value.Y)))
			}
			write(t, list, []byte(plain))
			like := filepath.Join(dir, of+".parquet")
			for in := range rows {
				file, want := filepath.Join(dir, in+".parquet"), map[bool]int{true: cli.ExitSome, false: cli.ExitNone}[same(of, in)]
				for _, source := range [][]string{{like}, {"--keys", list, "--hex", "--like", like}} {
					_, data, _ := runOn(t, 2, append([]string{"build", "--column", column, "--bits-per-key", "40"}, source...)...)
					write(t, filter, data)
					if got := status("filter", "--column", column, "--as=csv", filter, file); got != want {
						t.Errorf("a filter of %s from %s, and a row of %s in %s: status %d", of, source, in, column, got)
					}
				}
				if got := status("filter", "--column", column, "--as=csv", "--keys", list, "--hex", file); got != want {
					t.Errorf("the key %s, and a row of %s in %s: status %d", of, in, column, got)
				}
			}
		}
	}
}
