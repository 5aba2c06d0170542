package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestEqualFloats builds filters of a column of one value, and filters another column with them: the zeros are equal, and the NaN
// are.
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
	for _, column := range []string{"x", "y"} {
		for of := range rows {
			for in := range rows {
				filter, err := os.Create(filepath.Join(dir, "filter"))
				if err != nil {
					t.Fatal(err)
				}
				null, err := os.Create(filepath.Join(dir, "out"))
				if err != nil {
					t.Fatal(err)
				}
				if status := run(&cli.Streams{In: os.Stdin, Out: filter, Err: os.Stderr, Args: []string{"build", "--column", column, "--bits-per-key", "40", filepath.Join(dir, of+".parquet")}, Program: "bloom-parquet"}); status != cli.ExitSome {
					t.Fatalf("status %d", status)
				}
				args := []string{"filter", "--column", column, "--csv", filter.Name(), filepath.Join(dir, in+".parquet")}
				if status := run(&cli.Streams{In: os.Stdin, Out: null, Err: null, Args: args, Program: "bloom-parquet"}); status != map[bool]int{true: cli.ExitSome, false: cli.ExitNone}[same(of, in)] {
					t.Errorf("a filter of %s, and a row of %s in %s: status %d", of, in, column, status)
				}
				filter.Close()
				null.Close()
			}
		}
	}
}
