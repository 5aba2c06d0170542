package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// TestTables takes the keys of random files from other random files, as a scan
// finds them. Values of one meaning and of different types are equal.
func TestTables(t *testing.T) {
	t.Chdir(t.TempDir())
	joined, refused, seeds := 0, 0, 120
	if testing.Short() {
		seeds = 40
	}
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(44, seed))
		if err := os.WriteFile("rows", goodParquet(random), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("keys", goodParquet(random), 0o644); err != nil {
			t.Fatal(err)
		}
		rows, rowType := scanned(t, "rows")
		keys, keyType := scanned(t, "keys")
		invert := random.IntN(2) == 0
		args := []string{"filter", "--column", "k", "--keys", "keys", "--keys-column", "k", "-o", "out", "rows"}
		if invert {
			args = append(args, "-v")
		}
		status := runQuietly(t, args...)
		if _, err := bloomparquet.Converter(rowType, keyType); err != nil {
			if refused++; status != cli.ExitError {
				t.Fatalf("seed %d: %v in %v: status %d", seed, keyType, rowType, status)
			}
			continue
		}
		joined++
		var want []string
		for _, row := range rows {
			if row != "null" && slices.Contains(keys, row) != invert || row == "null" && invert {
				want = append(want, row)
			}
		}
		if wanted := map[bool]int{true: cli.ExitSome, false: cli.ExitNone}[len(want) > 0]; status != wanted {
			t.Fatalf("seed %d: %v in %v: status %d, want %d", seed, keyType, rowType, status, wanted)
		}
		if got, _ := scanned(t, "out"); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v in %v, -v %v: %q, want %q", seed, keyType, rowType, invert, got, want)
		}
	}
	if joined < seeds/4 || refused < seeds/12 {
		t.Errorf("%d pairs of files were joined, and %d refused", joined, refused)
	}
}

// runQuietly runs a command line in this process, and returns its status.
func runQuietly(t *testing.T, args ...string) int {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	return run(&cli.Streams{In: os.Stdin, Out: said, Err: said, Args: args, Program: "bloom-parquet"})
}

// scanned returns the values of the column k as texts, with null for those that are null, and its type.
func scanned(t *testing.T, name string) (values []string, typ bloomparquet.Type) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := openFile(name, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer file.close()
	typ = file.column.Type()
	r := parquet.NewReader(bytes.NewReader(data))
	for {
		rows := make([]parquet.Row, 1)
		n, err := r.ReadRows(rows)
		if n == 1 {
			for _, v := range rows[0] {
				if v.Column() == file.leaf && v.IsNull() {
					values = append(values, "null")
				} else if v.Column() == file.leaf {
					values = append(values, canonical(typ, v.AppendBytes(nil)))
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return values, typ
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// canonical returns a text that equal values of all types have.
func canonical(t bloomparquet.Type, plain []byte) string {
	switch {
	case t.Physical == bloomparquet.Float && t.Logical == bloomparquet.Plain:
		return fmt.Sprint(float64(math.Float32frombits(binary.LittleEndian.Uint32(plain))) + 0)
	case t.Physical == bloomparquet.Double:
		return fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(plain)) + 0)
	case t.Logical == bloomparquet.Decimal:
		return strings.TrimSuffix(strings.TrimRight(t.Text(plain), "0"), ".")
	case t.Physical == bloomparquet.ByteArray, t.Physical == bloomparquet.FixedLenByteArray:
		text, _ := json.Marshal(string(plain))
		return string(text)
	}
	return t.Text(plain)
}

// TestWidened prunes and filters two files, one with a narrower column than the other. A key too large for
// the narrow column is in none of its row groups.
func TestWidened(t *testing.T) {
	t.Setenv(apartVariable, "1")
	dir := t.TempDir()
	narrow, wide, keys := filepath.Join(dir, "narrow.parquet"), filepath.Join(dir, "wide.parquet"), filepath.Join(dir, "keys")
	type narrowRow struct {
		ID int32 `parquet:"id"`
	}
	type wideRow struct {
		ID int64 `parquet:"id"`
	}
	writeRows(t, narrow, []narrowRow{{5}, {950}}, 10)
	writeRows(t, wide, []wideRow{{950}, {4000000000}}, 10)
	if err := os.WriteFile(keys, []byte("4000000000\n950\n5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const warning = "bloom-parquet: warning: KEYS: 1 of 3 keys cannot occur in a column of type INT32 (INT32) and are skipped\n"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"prune", "--list", "--column", "id", keys, narrow, wide}, warning + "NARROW\t0\t2\t950\nNARROW\t0\t2\t5\nWIDE\t0\t2\t4000000000\nWIDE\t0\t2\t950\n"},
		{[]string{"filter", "--as=jsonl", "--column", "id", "--keys", keys, narrow}, warning + "{\"id\":5}\n{\"id\":950}\n"},
		{[]string{"filter", "--as=jsonl", "--column", "id", "--keys", keys, wide}, "{\"id\":950}\n{\"id\":4000000000}\n"},
	} {
		out, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		status := run(&cli.Streams{In: os.Stdin, Out: out, Err: out, Args: test.args, Program: "bloom-parquet"})
		data, err := os.ReadFile(out.Name())
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for line := range strings.Lines(strings.NewReplacer(keys, "KEYS", narrow, "NARROW", wide, "WIDE").Replace(string(data))) {
			if !strings.Contains(line, "filters") { // there are none
				got.WriteString(line)
			}
		}
		if status != cli.ExitSome || got.String() != test.want {
			t.Errorf("%q: status %d, %s", test.args, status, got.String())
		}
	}
}
