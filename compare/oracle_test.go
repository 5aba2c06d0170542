package compare

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
)

// newOracle returns the oracle of a format. A machine without g++ and the library
// that it runs fails these tests.
func newOracle(t *testing.T, format bloom.Format) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Compile(format, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// eachFormat runs a subtest for every format that has an oracle.
func eachFormat(t *testing.T, run func(t *testing.T, format bloom.Format, o *oracle.Oracle)) {
	for _, format := range oracle.Formats {
		t.Run("format="+format.String(), func(t *testing.T) { run(t, format, newOracle(t, format)) })
	}
}

// randomKeys returns n keys of 0 to 79 random bytes.
func randomKeys(random *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = make([]byte, random.IntN(80))
		for j := range keys[i] {
			keys[i][j] = byte(random.Uint32())
		}
	}
	return keys
}

// TestSameBytesSameAnswers builds filters of random keys on both sides and
// asks both for absent keys.
func TestSameBytesSameAnswers(t *testing.T) {
	eachFormat(t, func(t *testing.T, format bloom.Format, o *oracle.Oracle) {
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 150 {
			n, bits := random.IntN(2000), random.IntN(60)
			switch i % 15 {
			case 0:
				bits *= 100 // more probes than most formats allow
			case 1, 2:
				n, bits = 1<<random.IntN(11), 1<<random.IntN(6) // a power of two
			}
			if format != bloom.LevelDB {
				bits = max(bits, 1) // fewer would make a filter that denies its keys
			}
			t.Run(fmt.Sprintf("%d/keys=%d/bits=%d", i, n, bits), func(t *testing.T) {
				keys := randomKeys(random, n)
				want, err := o.CreateFilter(keys, bits)
				if err != nil {
					t.Fatal(err)
				}
				policy := bloom.Policy{Format: format, BitsPerKey: bits}
				if got := policy.AppendFilter(nil, bloom.Bytes(keys)); !bytes.Equal(got, want) {
					t.Fatalf("filter of %d bytes differs from the oracle's of %d", len(got), len(want))
				}
				compareAnswers(t, format, o, want, randomKeys(random, 2000))
			})
		}
	})
}

// TestSameAnswersToAnyBytes asks both sides about filters that none of them wrote,
// and bytes that are none.
func TestSameAnswersToAnyBytes(t *testing.T) {
	eachFormat(t, func(t *testing.T, format bloom.Format, o *oracle.Oracle) {
		random := rand.New(rand.NewPCG(3, 4))
		odd := oddNori
		if format == bloom.LevelDB {
			odd = oddLevelDB
		}
		for _, filter := range odd(random) {
			compareAnswers(t, format, o, filter, randomKeys(random, 300))
		}
	})
}

// oddLevelDB returns filters with every last byte, and too short ones.
func oddLevelDB(random *rand.Rand) [][]byte {
	filters := [][]byte{{}, {0}, {6}, {255}}
	for k := range 256 {
		filters = append(filters, append(randomBits(random, 1+random.IntN(50)), byte(k)))
	}
	return filters
}

// oddNori returns filters with headers of both layouts that fit their lengths, or
// do not. None has more than the 4,096 probes at which this library stops.
func oddNori(random *rand.Rand) [][]byte {
	filters := [][]byte{{}, {7}, make([]byte, 11)}
	for _, n := range []uint64{0, 1, 7, 8, 9, 100, 256, 1<<32 + 8, math.MaxUint64} {
		for _, k := range []uint32{0, 1, 7, 30, 31, 70, 4096} {
			for _, size := range []uint64{n/8 - 1, n / 8, n/8 + 1, n/8 + 2} {
				if size < 100 {
					array := randomBits(random, int(size))
					filters = append(filters,
						slices.Concat(headerNori(n, k), array),
						slices.Concat(headerNoriCrate(n, k), array))
				}
			}
		}
		filters = append(filters, headerNori(n, 7), headerNoriCrate(n, 7))
	}
	return filters
}

func headerNori(n uint64, k uint32) []byte {
	const bitsPerKey = 10 // tells no reader anything
	b := binary.LittleEndian.AppendUint64(nil, n)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, k), bitsPerKey)
}

func headerNoriCrate(n uint64, k uint32) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, k), n)
}

// randomBits returns n bytes, of which three bits in four are set.
func randomBits(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		word := random.Uint32()
		b[i] = byte(word | word>>8)
	}
	return b
}

// TestSameAnswersPast32Bits asks both sides about filters of about 2^32 bits and
// more, of which a 32-bit hash reaches the first 2^32.
func TestSameAnswersPast32Bits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	oracles := map[bloom.Format]*oracle.Oracle{}
	for _, format := range oracle.Formats {
		oracles[format] = newOracle(t, format)
	}
	for _, c := range []struct {
		format bloom.Format
		header []byte
		size   int // of the bit array
		last   []byte
	}{
		{bloom.LevelDB, nil, 1<<29 - 1, []byte{3}},
		{bloom.LevelDB, nil, 1 << 29, []byte{3}},
		{bloom.LevelDB, nil, 1<<29 + 1, []byte{3}},
		{bloom.LevelDB, nil, 1<<29 + 4096, []byte{3}},
		{bloom.Nori, headerNori(1<<32-1, 3), 1 << 29, nil},
		{bloom.Nori, headerNori(5<<30+12345, 3), 5<<27 + 1544, nil},
		{bloom.NoriCrate, headerNoriCrate(1<<32, 3), 1 << 29, nil},
	} {
		filter := slices.Concat(c.header, make([]byte, c.size), c.last)
		// One bit in four over the first 64 MiB, so that some keys hit.
		for i := range 1 << 26 {
			filter[len(c.header)+i] = byte(random.Uint64() & random.Uint64())
		}
		set, err := bloom.OpenSet(c.format, filter)
		if err != nil {
			t.Fatal(err)
		}
		known := randomKeys(random, 500)
		set.AddBatch(bloom.Bytes(known))
		if filter, err = set.AppendBinary(filter[:0]); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "filter")
		if err := os.WriteFile(file, filter, 0o644); err != nil {
			t.Fatal(err)
		}
		keys := slices.Concat(known, randomKeys(random, 5000))
		want, err := oracles[c.format].KeyMayMatchFile(file, keys)
		if err != nil {
			t.Fatal(err)
		}
		checkAnswers(t, c.format, filter, keys, want)
		if slices.Contains(want[:len(known)], false) {
			t.Errorf("%v of %d bytes: a key is missing", c.format, c.size)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func compareAnswers(t *testing.T, format bloom.Format, o *oracle.Oracle, filter []byte, keys [][]byte) {
	t.Helper()
	want, err := o.KeyMayMatch(filter, keys)
	if errors.Is(err, oracle.ErrNoFilter) {
		if _, err := bloom.Open(format, filter); !errors.Is(err, bloom.ErrEncoding) {
			t.Fatalf("Open(%v, %x) = %v: it is no filter to the oracle", format, filter, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, format, filter, keys, want)
}

// checkAnswers compares what each kernel and the single-key path answer with
// what the oracle does.
func checkAnswers(t *testing.T, format bloom.Format, filter []byte, keys [][]byte, want []bool) {
	t.Helper()
	for _, kernel := range bloom.Kernels() {
		f, err := bloom.Open(format, filter)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.WithKernel(kernel); err != nil {
			t.Fatal(err)
		}
		hits := make([]uint64, (len(keys)+63)/64)
		f.MayContainBatch(bloom.Bytes(keys), hits)
		for i, key := range keys {
			if got := hits[i/64]>>(i%64)&1 != 0; got != want[i] {
				t.Fatalf("kernel %v: %v for key %x, the oracle says %v", kernel, got, key, want[i])
			}
			if got := f.MayContain(key); got != want[i] {
				t.Fatalf("MayContain(%x) = %v, the oracle says %v", key, got, want[i])
			}
		}
	}
}

// TestDemoFilter compares the filter of the demo with LevelDB's.
func TestDemoFilter(t *testing.T) {
	file, err := os.Open("../cmd/bloom/words/known.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	words := bytes.Split(bytes.TrimSuffix(list, []byte("\n")), []byte("\n"))
	want, err := newOracle(t, bloom.LevelDB).CreateFilter(words, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := (bloom.Policy{BitsPerKey: 10}).AppendFilter(nil, bloom.Bytes(words)); !bytes.Equal(got, want) {
		t.Errorf("the filter of %d words differs from LevelDB's", len(words))
	}
}
