package bloomparquet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
)

// headers are headers of filters, and what is wrong with each.
var headers = []struct {
	name, hex string
	numBytes  int
	err       error
}{
	{"32 bytes", "1540" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 32, nil},
	{"1 MiB", "1580808001" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 1 << 20, nil},
	{"the most", "15c0ffffff0f" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", math.MaxInt32 &^ 31, nil},
	{"a block follows", "1540" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00" + "ffff", 32, nil},
	// parquet-go with BloomFilterCompression(&parquet.Gzip)
	{"gzip", "15ae01" + "1c1c0000" + "1c1c0000" + "1c2c0000" + "00", 0, errCompression},
	{"other algorithm", "1540" + "1c2c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errAlgorithm},
	// parquet-go for a BloomFilterColumn that is not its own
	{"no algorithm", "1540" + "1c00" + "1c1c0000" + "1c1c0000" + "00" + "ffff", 0, errAlgorithm},
	{"other hash", "1540" + "1c1c0000" + "1c2c0000" + "1c1c0000" + "00", 0, errHash},
	{"33 bytes", "1542" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errSize},
	{"no bytes", "1500" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errSize},
	{"-32 bytes", "153f" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errSize},
	{"2 GiB", "158080808010" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errSize},
	{"longer varint", "15c000" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errHeader},
	{"endless varint", "15ffffffffffff" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errHeader},
	{"fifth field", "1540" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "1500", 0, errHeader},
	{"i64", "1640" + "1c1c0000" + "1c1c0000" + "1c1c0000" + "00", 0, errHeader},
	{"cut", "1540" + "1c1c0000" + "1c1c0000" + "1c1c00", 0, errTruncated},
	{"cut at its end", "158001" + "1c1c0000" + "1c1c0000" + "1c1c0000", 0, errTruncated},
	{"cut in a union", "1580808001" + "1c1c0000" + "1c1c0000" + "1c", 0, errTruncated},
	{"empty", "", 0, errTruncated},
}

func TestHeader(t *testing.T) {
	for _, test := range headers {
		data, err := hex.DecodeString(test.hex)
		if err != nil {
			t.Fatal(err)
		}
		length, numBytes, err := parseHeader(data)
		if !errors.Is(err, test.err) || numBytes != test.numBytes {
			t.Errorf("%s: %d bytes, %v; want %d, %v", test.name, numBytes, err, test.numBytes, test.err)
		}
		if err == nil && !bytes.Equal(appendHeader(nil, numBytes), data[:length]) {
			t.Errorf("%s: written again it is %x", test.name, appendHeader(nil, numBytes))
		}
	}
}

// FuzzHeader wants of any bytes an error, or a header that appendHeader writes.
func FuzzHeader(f *testing.F) {
	for _, test := range headers {
		data, err := hex.DecodeString(test.hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	reasons := []error{errHeader, errAlgorithm, errHash, errCompression, errSize, errTruncated}
	f.Fuzz(func(t *testing.T, data []byte) {
		length, numBytes, err := parseHeader(data)
		if err != nil {
			if !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
				t.Fatalf("%x: untyped error %v", data, err)
			}
			return
		}
		if !bytes.Equal(appendHeader(nil, numBytes), data[:length]) {
			t.Fatalf("%x is taken as a header of %d bytes of blocks", data, numBytes)
		}
	})
}

func TestAppendFilter(t *testing.T) {
	filter := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"hello", "world"}))
	got, err := AppendFilter([]byte("PAR1"), filter)
	// The blocks are the same as in testdata/parquet of the root: "hello" and "world" in one block.
	const want = "50415231" + "15401c1c00001c1c00001c1c000000" + "000030000002000210040000a000000020020000000080800000201000000108"
	if err != nil || hex.EncodeToString(got) != want {
		t.Errorf("%x, %v; want %s", got, err, want)
	}
	other := bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}.NewFilter(bloom.Strings([]string{"hello"}))
	for _, f := range []*bloom.Filter{other, {}} {
		if got, err := AppendFilter(nil, f); !errors.Is(err, errSize) || got != nil {
			t.Errorf("%v: %x, %v", f, got, err)
		}
	}
}
