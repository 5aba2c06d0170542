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

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// TestTables takes the keys of random files from other random files, of Parquet and of Arrow IPC, as a scan
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
		makeKeys := []func(*rand.Rand) []byte{goodParquet, goodArrow}[random.IntN(2)]
		if err := os.WriteFile("keys", makeKeys(random), 0o644); err != nil {
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
		if _, err := bloomparquet.Converter(rowType.Type, keyType.Type); err != nil || keyType.isDuration() || keyType.kind == "" {
			if refused++; status != exitError {
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
		if wanted := map[bool]int{true: exitSome, false: exitNone}[len(want) > 0]; status != wanted {
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
	return (&streams{os.Stdin, said, said, args}).run()
}

// scanned returns the values of the column k as texts, with null for those that are null, and its type.
func scanned(t *testing.T, name string) (values []string, typ columnType) {
	t.Helper()
	if arrows, err := isArrow(name); err != nil {
		t.Fatal(err)
	} else if arrows {
		typ, err = typeIn(name, "k")
		if err == nil {
			err = eachStart(name, "k", func(keys bloom.Keys) {
				for row := range keys.Len() {
					if plain, valid := keys.AppendKey(nil, row); valid {
						values = append(values, canonical(typ.Type, plain))
					}
				}
			}, func() bool { return false })
		}
		if err != nil {
			typ = columnType{} // it has no keys
		}
		return values, typ
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := openFile(name, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer file.close()
	typ = typeOfParquet(file.column.Type())
	r := parquet.NewReader(bytes.NewReader(data))
	for {
		rows := make([]parquet.Row, 1)
		n, err := r.ReadRows(rows)
		if n == 1 {
			for _, v := range rows[0] {
				if v.Column() == file.leaf && v.IsNull() {
					values = append(values, "null")
				} else if v.Column() == file.leaf {
					values = append(values, canonical(typ.Type, v.AppendBytes(nil)))
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
