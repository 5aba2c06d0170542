package bloom

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
)

func mustOpen(t testing.TB, format Format, encoded []byte) *Filter {
	t.Helper()
	f, err := Open(format, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustSet(t testing.TB, p Policy, capacity int) *Set {
	t.Helper()
	s, err := p.NewSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustAtomicSet(t testing.TB, p Policy, capacity int) *AtomicSet {
	t.Helper()
	s, err := p.NewAtomicSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB) func(Keys, error) Keys {
	return func(k Keys, err error) Keys {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
}

// viewAt returns the header of a view that is not inline.
func viewAt(length, buffer, at int32) []byte {
	header := binary.NativeEndian.AppendUint32(nil, uint32(length))
	header = binary.NativeEndian.AppendUint32(header, 0)
	header = binary.NativeEndian.AppendUint32(header, uint32(buffer))
	return binary.NativeEndian.AppendUint32(header, uint32(at))
}

func fromHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// panicOf returns what a call panics with, or "".
func panicOf(call func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	call()
	return ""
}

// eachFormat runs a subtest for every format.
func eachFormat(t *testing.T, run func(t *testing.T, f Format)) {
	for _, f := range Formats() {
		t.Run("format="+f.String(), func(t *testing.T) { run(t, f) })
	}
}

// eachKernel runs a subtest for every kernel of this CPU with a filter that
// uses it.
func eachKernel(t *testing.T, format Format, encoded []byte, run func(t *testing.T, f *Filter)) {
	t.Helper()
	for _, kernel := range Kernels() {
		t.Run("kernel="+kernel.String(), func(t *testing.T) { run(t, onKernel(t, mustOpen(t, format, encoded), kernel)) })
	}
}

// onKernel returns a view of f on a kernel, and fails if another runs.
func onKernel(t testing.TB, f *Filter, kernel Kernel) *Filter {
	t.Helper()
	f, err := f.WithKernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	if f.Kernel() != kernel {
		t.Fatalf("kernel %v runs instead of %v", f.Kernel(), kernel)
	}
	return f
}

// checkFilter compares every way to query f with the reference.
func checkFilter(t *testing.T, f *Filter, keys [][]byte) {
	t.Helper()
	want := make([]bool, len(keys))
	group, err := NewGroup([]*Filter{f})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		want[i] = Reference(f.format, f.data, key)
		for _, c := range [...]struct {
			name string
			got  bool
		}{
			{"MayContain", f.MayContain(key)},
			{"MayContainString", f.MayContainString(string(key))},
			{"MayContainHash", f.MayContainHash(f.format.Hash(key))},
			{"Group.MayContain", group.MayContain(key, make([]uint64, 1)) == 1},
			{"Policy.MayContain", Policy{Format: f.format}.MayContain(f.data, key)},
		} {
			if c.got != want[i] {
				t.Fatalf("%s(%x) = %v", c.name, key, c.got)
			}
		}
		if len(key) == 8 {
			if got := f.MayContainUint64(binary.LittleEndian.Uint64(key)); got != want[i] {
				t.Fatalf("MayContainUint64(%x) = %v", key, got)
			}
		}
	}
	checkBatch(t, f, Bytes(keys), want)
}

// checkBatch compares the batch queries of f over a column with the answers
// wanted, and looks for words written that should not be.
func checkBatch(t *testing.T, f *Filter, keys Keys, want []bool) {
	t.Helper()
	const canary = 0xdeadbeefdeadbeef
	words := (len(want) + 63) / 64
	hits := slices.Repeat([]uint64{canary}, words+3)
	total := f.MayContainBatch(keys, hits[1:])
	wantHits := make([]uint64, words)
	var wantPositions []uint32
	for i, yes := range want {
		if yes {
			wantHits[i/64] |= 1 << (i % 64)
			wantPositions = append(wantPositions, uint32(i))
		}
	}
	if !slices.Equal(hits[1:words+1], wantHits) {
		t.Fatalf("MayContainBatch of %d keys: hits\n%x, want\n%x", len(want), hits[1:words+1], wantHits)
	}
	if total != len(wantPositions) {
		t.Fatalf("MayContainBatch = %d, want %d", total, len(wantPositions))
	}
	if hits[0] != canary || hits[words+1] != canary || hits[words+2] != canary {
		t.Fatalf("MayContainBatch wrote outside of hits: %x", hits)
	}
	spare := make([]uint32, len(want)+4)
	spare[0], spare[len(want)+3] = 0xdeadbeef, 0xdeadbeef
	positions := f.AppendHits(spare[:1], keys)
	if positions[0] != 0xdeadbeef || !slices.Equal(positions[1:], wantPositions) {
		t.Fatalf("AppendHits = %v, want %v", positions[1:], wantPositions)
	}
	next := 0
	for i := range f.Hits(keys) {
		if next == len(wantPositions) || uint32(i) != wantPositions[next] {
			t.Fatalf("Hits yields %d as number %d of %v", i, next, wantPositions)
		}
		next++
	}
	if next != len(wantPositions) {
		t.Fatalf("Hits yields %d positions of %d", next, len(wantPositions))
	}
	if spare[len(want)+3] != 0xdeadbeef {
		t.Fatal("AppendHits wrote past the last position")
	}
}

// columnOfHashes returns a column of hashes of one kind.
func columnOfHashes(kind hashKind, hashed []Hash) (k Keys) {
	switch hashKinds[kind].words {
	case one32:
		words := make([]uint32, len(hashed))
		for i, h := range hashed {
			words[i] = uint32(h.h1)
		}
		k = columnOf(hashes32, words)
	case one64:
		words := make([]uint64, len(hashed))
		for i, h := range hashed {
			words[i] = h.h1
		}
		k = columnOf(hashes64, words)
	case two64:
		words := make([]hash128, len(hashed))
		for i, h := range hashed {
			words[i] = hash128{h.h1, h.h2}
		}
		k = columnOf(hashes128, words)
	}
	k.hashed = kind
	return k
}

// referenceHash returns the hash of a key by the letter.
func referenceHash(kind hashKind, key []byte) Hash {
	h1, h2 := hashKinds[kind].reference(key)
	return Hash{h1, h2, kind}
}
