package bloombeam

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanebloom/bloom"
)

// file returns the file of a set.
func file(t *testing.T, s *bloom.Set) []byte {
	t.Helper()
	encoded, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// TestMerges divides keys among accumulators, and merges these in a random order. Some are coded first, as if
// they were sent to another worker.
func TestMerges(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(1, seed))
		n := []int{0, 1, 300, batchKeys - 1, batchKeys, 3 * batchKeys, 10_000}[seed%7]
		fn := &buildFn[int, number]{Policy: ten, Capacity: 10_000, Key: number{"id"}}
		all := make([]*accumulator, 1+random.IntN(9))
		for i := range all {
			all[i] = fn.CreateAccumulator()
		}
		for i := range n {
			to := random.IntN(len(all))
			if seed%2 == 0 {
				to = min(to, 1) // so that some have more than a column
			}
			var err error
			if all[to], err = fn.AddInput(all[to], i); err != nil {
				t.Fatal(err)
			}
		}
		for len(all) > 1 {
			i, j := random.IntN(len(all)-1), len(all)-1
			if random.IntN(2) == 0 {
				all[j] = recode(t, all[j])
			}
			merged, err := fn.MergeAccumulators(all[i], all[j])
			if err != nil {
				t.Fatal(err)
			}
			all[i], all = merged, all[:j]
		}
		got, err := fn.ExtractOutput(recode(t, all[0]))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, file(t, inOneProcess(t, ten, 10_000, n))) {
			t.Fatalf("seed %d: the filter of %d keys differs from that of one process", seed, n)
		}
	}
}

func recode(t *testing.T, a *accumulator) *accumulator {
	t.Helper()
	encoded, err := encodeAccumulator(a)
	if err != nil {
		t.Fatal(err)
	}
	if a.set == nil && len(encoded) > 1+len(a.keys.data)+2*a.keys.len() {
		t.Errorf("%d keys of %d bytes are sent as %d bytes", a.keys.len(), len(a.keys.data), len(encoded))
	}
	decoded, err := decodeAccumulator(encoded)
	if err != nil {
		t.Fatal(err)
	}
	clear(encoded) // the SDK uses its memory again
	return decoded
}

// TestLongKeys adds keys that fill a column by their bytes.
func TestLongKeys(t *testing.T) {
	fn := &buildFn[[]byte, Bytes]{Policy: ten, Capacity: 10}
	want, err := ten.NewSet(10)
	if err != nil {
		t.Fatal(err)
	}
	a := fn.CreateAccumulator()
	for i := range 10 {
		key := bytes.Repeat([]byte{byte(i)}, batchBytes/3+i)
		want.Add(key)
		if a, err = fn.AddInput(a, key); err != nil {
			t.Fatal(err)
		}
		if len(a.keys.data) >= batchBytes {
			t.Errorf("the accumulator keeps %d bytes of keys", len(a.keys.data))
		}
	}
	got, err := fn.ExtractOutput(a)
	if err != nil || !bytes.Equal(got, file(t, want)) {
		t.Errorf("the filter of long keys differs, error %v", err)
	}
}

// TestDamagedAccumulators decodes every part of accumulators, and those with other bytes.
func TestDamagedAccumulators(t *testing.T) {
	fn := &buildFn[int, number]{Policy: ten, Capacity: 100, Key: number{"id"}}
	a := fn.CreateAccumulator()
	for i := range 40 {
		a, _ = fn.AddInput(a, i)
	}
	keys, err := encodeAccumulator(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := fn.flush(a); err != nil {
		t.Fatal(err)
	}
	set, err := encodeAccumulator(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if a, err := decodeAccumulator(keys[:i]); err == nil && a.keys.len() >= 40 {
			t.Errorf("%d bytes of %d have %d keys", i, len(keys), a.keys.len())
		}
	}
	for i := range set {
		if _, err := decodeAccumulator(set[:i]); i > 0 && !errors.Is(err, bloom.ErrEncoding) || i == 0 && !errors.Is(err, errAccumulator) {
			t.Errorf("%d bytes of %d: %v", i, len(set), err)
		}
	}
	zero, err := new(bloom.Set).AppendBinary([]byte{codedSet})
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, {2}, zero, {codedKeys, 5}, {codedKeys, 0xff}, append([]byte{codedKeys}, bytes.Repeat([]byte{0xff}, 11)...)} {
		if _, err := decodeAccumulator(damaged); !errors.Is(err, errAccumulator) {
			t.Errorf("%x: %v", damaged, err)
		}
	}
	other := inOneProcess(t, ten, 5000, 10)
	if _, err := fn.MergeAccumulators(a, &accumulator{set: other}); !errors.Is(err, bloom.ErrShape) {
		t.Errorf("merging with a set of another shape: %v", err)
	}
}

// side is a side input of these elements.
func side(elements ...[]byte) filters {
	return func() func(*[]byte) bool {
		i := 0
		return func(to *[]byte) bool {
			if i == len(elements) {
				return false
			}
			*to = elements[i]
			i++
			return true
		}
	}
}

// TestLoad loads side inputs of no filter, of one and of several.
func TestLoad(t *testing.T) {
	a, b := inOneProcess(t, ten, 100, 50), inOneProcess(t, ten, 100, 0)
	b.AddString("other")
	for n, elements := range [][][]byte{nil, {file(t, a)}, {file(t, a), file(t, b)}, {file(t, b), file(t, b), file(t, a)}} {
		l := loaded{ctx: t.Context()}
		if err := l.load(side(elements...)); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if got := l.MayContain(number{"id"}.AppendKey(nil, i)); got != (n > 0) {
				t.Fatalf("%d filters: MayContain(%d) = %v", n, i, got)
			}
		}
		if got := l.MayContainString("other"); got != (n > 1) {
			t.Errorf("%d filters: MayContain of the other = %v", n, got)
		}
		if err := l.load(nil); err != nil {
			t.Errorf("the side input is read again: %v", err)
		}
	}
	missing := []byte(fileMark + filepath.Join(t.TempDir(), "missing"))
	for name, test := range map[string]struct {
		elements [][]byte
		want     error
	}{
		"no filter":           {[][]byte{[]byte("no filter")}, bloom.ErrEncoding},
		"cut":                 {[][]byte{file(t, a)[:100]}, bloom.ErrEncoding},
		"of different shapes": {[][]byte{file(t, a), file(t, inOneProcess(t, ten, 1000, 1))}, bloom.ErrShape},
		"a missing file":      {[][]byte{missing}, os.ErrNotExist},
	} {
		l := loaded{ctx: t.Context()}
		if err := l.load(side(test.elements...)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
