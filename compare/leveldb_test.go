package compare

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
)

// newOracle returns the filter of the C++ LevelDB. A machine without it fails these tests.
func newOracle(t *testing.T) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Compile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return o
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
	o := newOracle(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		n, bits := random.IntN(2000), random.IntN(60)
		t.Run(fmt.Sprintf("%d/keys=%d/bits=%d", i, n, bits), func(t *testing.T) {
			keys := randomKeys(random, n)
			want, err := o.CreateFilter(keys, bits)
			if err != nil {
				t.Fatal(err)
			}
			got := bloom.Policy{BitsPerKey: bits}.AppendFilter(nil, bloom.Bytes(keys))
			if !bytes.Equal(got, want) {
				t.Fatalf("filter of %d bytes differs from LevelDB's of %d", len(got), len(want))
			}
			compareAnswers(t, o, want, randomKeys(random, 2000))
		})
	}
}

// TestSameAnswersToAnyBytes asks both sides about filters that none of them
// wrote, with every last byte.
func TestSameAnswersToAnyBytes(t *testing.T) {
	o := newOracle(t)
	random := rand.New(rand.NewPCG(3, 4))
	filters := [][]byte{{}, {0}, {6}, {255}}
	for k := range 256 {
		filter := make([]byte, 2+random.IntN(50))
		for i := range filter {
			word := random.Uint32()
			filter[i] = byte(word | word>>8)
		}
		filter[len(filter)-1] = byte(k)
		filters = append(filters, filter)
	}
	for _, filter := range filters {
		compareAnswers(t, o, filter, randomKeys(random, 300))
	}
}

// TestSameAnswersPast32Bits asks both sides about filters of 2^32 bits and
// more, of which a 32-bit hash reaches the first 2^32.
func TestSameAnswersPast32Bits(t *testing.T) {
	o := newOracle(t)
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1<<29 - 1, 1 << 29, 1<<29 + 1, 1<<29 + 4096} {
		filter := make([]byte, size+1)
		filter[size] = 3
		// One bit in four over the first 64 MiB, so that some keys hit.
		for i := range 1 << 26 {
			filter[i] = byte(random.Uint64() & random.Uint64())
		}
		set, err := bloom.OpenSet(bloom.LevelDB, filter)
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
		want, err := o.KeyMayMatchFile(file, keys)
		if err != nil {
			t.Fatal(err)
		}
		checkAnswers(t, filter, keys, want)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func compareAnswers(t *testing.T, o *oracle.Oracle, filter []byte, keys [][]byte) {
	t.Helper()
	want, err := o.KeyMayMatch(filter, keys)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, filter, keys, want)
}

// checkAnswers compares what each kernel and the single-key path answer with
// what LevelDB does.
func checkAnswers(t *testing.T, filter []byte, keys [][]byte, want []bool) {
	t.Helper()
	for _, kernel := range bloom.Kernels() {
		f, err := bloom.Open(bloom.LevelDB, filter)
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
				t.Fatalf("kernel %v: %v for key %x, LevelDB says %v", kernel, got, key, want[i])
			}
			if got := f.MayContain(key); got != want[i] {
				t.Fatalf("MayContain(%x) = %v, LevelDB says %v", key, got, want[i])
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
	want, err := newOracle(t).CreateFilter(words, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := (bloom.Policy{BitsPerKey: 10}).AppendFilter(nil, bloom.Bytes(words)); !bytes.Equal(got, want) {
		t.Errorf("the filter of %d words differs from LevelDB's", len(words))
	}
}
