package bloom

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
)

// TestHash64 compares with published vectors, and with cespare/xxhash at every
// length up to several stripes.
func TestHash64(t *testing.T) {
	if got, want := Nori.Hash([]byte("hello")), (Hash{0x26c7827d889f6da3, 0x23dd71cb04d0a1b2}); got != want {
		t.Errorf("Hash(hello) = %x, want %x", got, want)
	}
	data := slices.Concat(golden.Mixed.Range(0, 131)...)
	for n := range 300 {
		key := data[n : 2*n]
		h1, h2 := referenceHash64(key)
		want := Hash{h1, h2}
		if got := hash64(key); got != want {
			t.Errorf("hash64 of %d bytes = %x, want %x", n, got, want)
		}
		if got := hash64String(string(key)); got != want {
			t.Errorf("hash64String of %d bytes = %x, want %x", n, got, want)
		}
		if n == 4 && hash64Uint32(binary.LittleEndian.Uint32(key)) != want {
			t.Error("hash64Uint32 differs")
		}
		if n == 8 && hash64Uint64(binary.LittleEndian.Uint64(key)) != want {
			t.Error("hash64Uint64 differs")
		}
	}
}

// TestNoriVectors compares with filters that nori-sstable wrote.
func TestNoriVectors(t *testing.T) {
	for _, v := range []struct {
		keys []string
		want string
	}{
		{[]string{"hello", "world"}, "0700000020000000000000008888a8a2"},
		{[]string{"only_key"}, "0700000010000000000000004936"},
		{nil, "070000000000000000000000"},
	} {
		var keys [][]byte
		for _, key := range v.keys {
			keys = append(keys, []byte(key))
		}
		for _, way := range ways {
			if len(keys) == 0 && way.name[:3] == "Set" {
				continue // a set has room for a key
			}
			if got := way.build(t, Policy{NoriCrate, 10}, keys); hex.EncodeToString(got) != v.want {
				t.Errorf("%s of %q = %x, want %s", way.name, v.keys, got, v.want)
			}
		}
	}
}

// TestWays builds in every format in every way, and asks every way.
func TestWays(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		for _, n := range []int{1, 2, 3, 7, 64, 100, 1500} {
			for _, bitsPerKey := range []int{-1, 0, 1, 2, 7, 8, 10, 20, 43, 44, 50, 100} {
				keys := golden.Mixed.Range(0, n)
				p := Policy{format, bitsPerKey}
				want := referenceCreate(p, keys)
				for _, way := range ways {
					if got := way.build(t, p, keys); !bytes.Equal(got, want) {
						t.Fatalf("%s of %d keys at %d bits differs from the reference", way.name, n, bitsPerKey)
					}
				}
				eachKernelOf(t, format, want, func(t *testing.T, f *Filter) {
					checkFilter(t, f, golden.Mixed.Range(n/2, n/2+300))
				})
				for _, key := range keys {
					if !p.MayContain(want, key) {
						t.Fatalf("%d keys at %d bits: a key is missing", n, bitsPerKey)
					}
				}
			}
		}
	})
}

// header returns a header of nori's: documented, or of the crate.
func header(f Format, n uint64, k uint32) []byte {
	if f == NoriCrate {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, k), n)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, n), k), 10)
}

// TestNoriEncodings opens what either format may find in a file.
func TestNoriEncodings(t *testing.T) {
	for _, c := range []struct {
		name        string
		data        []byte
		nori, crate bool // whether it is a filter
	}{
		{"nothing", nil, false, false},
		{"half a header", make([]byte, 11), false, false},
		{"documented, no keys", header(Nori, 0, 7), true, false},
		{"documented", append(header(Nori, 30, 7), make([]byte, 4)...), true, false},
		{"crate, no keys", header(NoriCrate, 0, 7), true, true},
		{"crate, power of two", append(header(NoriCrate, 32, 7), make([]byte, 4)...), true, true},
		{"crate, older", append(header(NoriCrate, 30, 7), make([]byte, 4)...), true, true},
		{"crate, many probes", append(header(NoriCrate, 30, 70), make([]byte, 4)...), true, true},
		{"truncated", append(header(Nori, 30, 7), make([]byte, 3)...), false, false},
		{"trailing byte", append(header(Nori, 30, 7), make([]byte, 5)...), false, false},
		{"no probes", append(header(Nori, 30, 0), make([]byte, 4)...), false, false},
		{"31 probes", append(header(Nori, 30, 31), make([]byte, 4)...), false, false},
		{"crate, no probes", append(header(NoriCrate, 30, 0), make([]byte, 4)...), false, false},
		{"crate, 4 billion probes", append(header(NoriCrate, 30, math.MaxUint32), make([]byte, 4)...), false, false},
		{"crate, trailing byte", append(header(NoriCrate, 32, 7), make([]byte, 5)...), false, false},
		{"all bits", append(header(Nori, math.MaxUint64, 7), make([]byte, 4)...), false, false},
		{"crate, all bits", append(header(NoriCrate, math.MaxUint64-6, 7), 0), false, false},
	} {
		for format, want := range map[Format]bool{Nori: c.nori, NoriCrate: c.crate} {
			f, err := Open(format, c.data)
			if want != (err == nil) || err != nil && !errors.Is(err, ErrEncoding) {
				t.Errorf("%s: Open(%v) = %v", c.name, format, err)
			}
			if got := (Policy{Format: format}).MayContain(c.data, []byte("key")); got != Reference(format, c.data, []byte("key")) || !want && !got {
				t.Errorf("%s: %v.MayContain = %v", c.name, format, got)
			}
			if err == nil {
				checkFilter(t, f, golden.Mixed.Range(0, 70))
				if f.MayContain([]byte("key")) {
					t.Errorf("%s: %v holds a key", c.name, format)
				}
				_, n, _ := f.encoded()
				if s := f.Stats(); s.Bits != n || s.SetBits != 0 || s.Keys > 1e-9 || s.FalsePositiveRate != 0 || (s.Probes == 0) != (n == 0) {
					t.Errorf("%s: %v.Stats() = %+v", c.name, format, s)
				}
			}
			wantSet := want && !strings.Contains(c.name, "no keys") // which have no bits to set
			if _, err := OpenSet(format, c.data); wantSet != (err == nil) || err != nil && !errors.Is(err, ErrEncoding) {
				t.Errorf("%s: OpenSet(%v) = %v", c.name, format, err)
			}
		}
	}
}

// edges64 are hashes at which an inexact remainder shows.
func edges64(n uint64) []uint64 {
	hashes := []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1}
	last := math.MaxUint64 / n * n
	for _, multiple := range []uint64{n, 2 * n, last / n / 2 * n, last - n, last} {
		hashes = append(hashes, multiple-1, multiple, multiple+1)
	}
	for i := range 64 {
		hashes = append(hashes, 1<<i, 1<<i-1)
		if above := uint64(1)<<i/n*n + n; above > n {
			hashes = append(hashes, above-1, above, above+1)
		}
	}
	return hashes
}

// TestRemainder64 compares the remainder by reciprocal with % for all small numbers
// of bits, those around powers of two up to 2^62, and random ones.
func TestRemainder64(t *testing.T) {
	array := make([]byte, 1)
	check := func(n uint64) {
		d := newDouble64(array, n, 1)
		for _, h := range edges64(n) {
			if got, want := d.remainder(h), h%n; got != want {
				t.Fatalf("%d mod %d = %d, want %d", h, n, got, want)
			}
		}
	}
	for n := range uint64(20000) {
		check(n + 1)
	}
	for i := range 62 {
		for d := range uint64(64) {
			if n := uint64(1)<<i + d - 32; n > 0 && n < 1<<63 {
				check(n)
			}
		}
	}
	random := rand.New(rand.NewPCG(33, 34))
	for range 50000 {
		check(1 + random.Uint64()>>1>>random.IntN(62))
	}
}

// TestKernels64 compares each kernel with the reference over numbers of bits, of
// probes and of keys, for hashes of which sums wrap, or do not, and shares of hits.
func TestKernels64(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	lengths := []int{1, 2, 7, 8, 15, 16, 17, short - 1, short, short + 1, 127, 129, window - 1, window, window + 1, 2*window + 67}
	column := make([]Hash, slices.Max(lengths))
	sizes := []uint64{1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1000, 1 << 13, 1<<14 - 1, 1 << 14, 1<<14 + 1, 1<<17 - 5, 1 << 20, 1<<20 + 7}
	for _, n := range sizes {
		for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 30} {
			share := math.Pow(random.Float64(), 1/float64(k))
			array := make([]byte, (n+7)/8)
			for i := range n {
				if random.Float64() < share {
					array[i/8] |= 1 << (i % 8)
				}
			}
			edges := edges64(n)
			want := make([]bool, len(column))
			for i := range column {
				column[i] = Hash{random.Uint64(), random.Uint64()}
				switch i % 4 {
				case 1:
					column[i].h1 = edges[random.IntN(len(edges))]
				case 2:
					column[i].h2 = edges[random.IntN(len(edges))]
				case 3:
					column[i] = Hash{edges[random.IntN(len(edges))], edges[random.IntN(len(edges))]}
				}
				want[i] = true
				for j := range k {
					bit := (column[i].h1 + uint64(j)*column[i].h2) % n
					want[i] = want[i] && array[bit/8]>>(bit%8)&1 != 0
				}
			}
			encoded := append(header(Nori, n, uint32(k)), array...)
			eachKernelOf(t, Nori, encoded, func(t *testing.T, f *Filter) {
				for _, length := range lengths {
					checkBatch(t, f, columnOf(hashes64, column[:length]), want[:length])
				}
			})
		}
	}
}

// TestLargeFilters64 finds what was added to filters of more bits than kernels
// count, of which hardly any memory is touched.
func TestLargeFilters64(t *testing.T) {
	sizes := []uint64{1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<35 + 12345}
	if bits.UintSize < 64 || testing.Short() {
		sizes = sizes[:3] // as large as a small machine has memory for
	}
	for _, n := range sizes {
		array := make([]byte, (n+7)/8)
		s := scheme{wide: newDouble64(array, n, 7)}
		keys := golden.Decimals.Range(0, 1200)
		s.addColumn(Bytes(keys).Slice(0, 600))
		for i, key := range keys {
			h1, h2 := referenceHash64(key)
			all := true
			for j := range uint64(7) {
				bit := (h1 + j*h2) % n
				all = all && array[bit/8]>>(bit%8)&1 != 0
			}
			if i < 600 && !all {
				t.Fatalf("%d bits: key %d is missing", n, i)
			}
			for _, kernel := range kernels {
				v := view{scheme: s, format: Nori, kernel: kernel}
				if hits := make([]uint64, 1); v.MayContainBatch(Bytes(slices.Repeat(keys[i:i+1], 16)), hits) != map[bool]int{true: 16}[all] {
					t.Fatalf("%d bits, kernel %v: key %d: %b", n, kernel, i, hits)
				}
			}
		}
	}
}

// TestWrongHashes looks for the panic of batches of keys that are hashed for
// another format.
func TestWrongHashes(t *testing.T) {
	keys := golden.Mixed.Range(0, 10)
	eachFormat(t, func(t *testing.T, format Format) {
		f := mustOpenAs(t, format, Policy{format, 10}.AppendFilter(nil, Bytes(keys)))
		for _, other := range []Format{LevelDB, Nori} {
			func() {
				defer func() {
					if panicked := recover() != nil; panicked != (other.isWide() != format.isWide()) {
						t.Errorf("keys hashed for %v: panic %v", other, panicked)
					}
				}()
				if f.MayContainBatch(Bytes(keys).Hashed(other), make([]uint64, 1)) != len(keys) {
					t.Error("keys are missing")
				}
			}()
		}
	})
}
