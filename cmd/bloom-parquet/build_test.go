package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestRepeatedKeys builds filters of columns whose values come several times, and wants each to have all
// values, and to have about the size of a filter of different ones.
func TestRepeatedKeys(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type row struct {
		Few   string `parquet:"few,dict"`
		Plain string `parquet:"plain"`
		Once  int64  `parquet:"once"`
	}
	const rows, different = 20000, 1500
	all := make([]row, rows)
	var names []string
	var numbers []int64
	for i := range all {
		all[i] = row{fmt.Sprint("name ", i%different), fmt.Sprint("name ", i%different), int64(i)}
		numbers = append(numbers, int64(i))
		if i < different {
			names = append(names, all[i].Few)
		}
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, all, parquet.MaxRowsPerRowGroup(4000)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.parquet")
	write(t, name, file.Bytes())
	for column, keys := range map[string]bloom.Keys{"few": bloom.Strings(names), "plain": bloom.Strings(names), "once": bloom.Integers(numbers)} {
		for _, format := range bloom.Formats() {
			status, data, messages := runOn(t, 2, "build", "--column", column, "--format", format.String(), "--rate", "0.02", name)
			if status != cli.ExitSome {
				t.Fatalf("%s, %v: status %d: %s", column, format, status, messages)
			}
			filter, err := bloom.OpenBinary(data)
			if err != nil {
				t.Fatal(err)
			}
			if found := filter.MayContainBatch(keys, make([]uint64, (keys.Len()+63)/64)); found != keys.Len() {
				t.Errorf("%s, %v: %d of %d keys", column, format, found, keys.Len())
			}
			policy, err := bloom.PolicyFor(format, keys.Len(), 0.02)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(filter.Bytes()), len(policy.NewFilter(keys).Bytes()); got < want || float64(got) > 1.15*float64(want) || column == "once" && got != want {
				t.Errorf("%s, %v: %d bytes, and different keys have %d", column, format, got, want)
			}
		}
	}
}
