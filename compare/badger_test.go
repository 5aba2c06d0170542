package compare

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/lanebloom/bloom"
)

// TestBadgerFilters builds filters of hashes with Badger and with this library, and
// compares their bytes and answers. The largest are built by several workers.
func TestBadgerFilters(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for _, bits := range []int{-1, 0, 1, 2, 7, 10, 14, 43, 44, 100} {
		for _, n := range []int{0, 1, 2, 100, 5000, 300_000} {
			t.Run(fmt.Sprintf("bits=%d/keys=%d", bits, n), func(t *testing.T) {
				keys := randomKeys(random, n)
				hashes := make([]uint32, n)
				builder := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bits}.NewBuilder()
				for i, key := range keys {
					hashes[i] = y.Hash(key)
					builder.Add(key)
				}
				want := y.NewFilter(hashes, bits)
				got := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bits}.AppendFilter(nil, bloom.LevelDB.Hashes32(hashes))
				if !bytes.Equal(got, want) {
					t.Fatalf("the filter of hashes differs from Badger's")
				}
				if !bytes.Equal(builder.AppendFilter(nil), want) {
					t.Fatalf("the filter of keys differs from Badger's")
				}
				if c := probeLikeBadger(t, want, append(hashes, randomHashes(random, 5000)...)); c < n {
					t.Errorf("%d of %d known hashes are found", c, n)
				}
			})
		}
	}
}

func randomHashes(random *rand.Rand, n int) []uint32 {
	hashes := make([]uint32, n)
	for i := range hashes {
		hashes[i] = random.Uint32()
	}
	return hashes
}

// probeLikeBadger compares the answers of each kernel for hashes with Badger's, and
// returns the number of hits.
func probeLikeBadger(t *testing.T, filter y.Filter, hashes []uint32) (count int) {
	t.Helper()
	f, err := bloom.Open(bloom.LevelDB, filter)
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range bloom.Kernels() {
		if f, err = f.WithKernel(kernel); err != nil {
			t.Fatal(err)
		}
		hits := make([]uint64, (len(hashes)+63)/64)
		count = f.MayContainBatch(bloom.LevelDB.Hashes32(hashes), hits)
		for i, h := range hashes {
			if got, want := hits[i/64]>>(i%64)&1 != 0, filter.MayContain(h); got != want {
				t.Fatalf("kernel %v: %v for hash %x, Badger says %v", kernel, got, h, want)
			}
		}
	}
	return count
}

// badgerKeys returns n keys, and the same keys with the timestamps that Badger's
// tables add.
func badgerKeys(prefix string, n int) (keys, stamped [][]byte) {
	for i := range n {
		key := fmt.Appendf(nil, "%s%08d", prefix, i)
		keys, stamped = append(keys, key), append(stamped, y.KeyWithTs(key, uint64(i)))
	}
	return keys, stamped
}

// TestBadgerBits checks the rate that docs/stores.md says to ask for: Badger must round
// it to the wanted bits per key.
func TestBadgerBits(t *testing.T) {
	for bits := 1; bits <= 60; bits++ {
		for _, n := range []int{1, 1000, 100_000_000} {
			if got := y.BloomBitsPerKey(n, math.Ldexp(1.5, -bits)); got != bits {
				t.Errorf("%d keys: asked for %d bits per key, Badger takes %d", n, bits, got)
			}
		}
	}
}

// TestBadgerTables builds tables with Badger for several false-positive rates, and
// tests keys with them and with filters of this library. docs/stores.md has the rates for
// 0.01 and 0.001.
func TestBadgerTables(t *testing.T) {
	const n = 100_000
	known, stamped := badgerKeys("key", n)
	absent, _ := badgerKeys("absent", n)
	for _, test := range []struct {
		rate         float64 // in Badger's options
		bits, probes int     // what Badger chooses for it
		wrong        int     // how many of n absent keys pass
	}{
		{0.1, 4, 2, 15540},
		{0.01, 7, 4, 5048},
		{0.001, 10, 6, 1410},
		{0.0005, 11, 7, 745},
		{0.0001, 14, 9, 184},
	} {
		// Badger uses the best number of probes for the rate as the bits per key.
		bits, probes := y.BloomBitsPerKey(n, test.rate), int(math.Ceil(-math.Log2(test.rate)))
		if bits != test.bits || bits != probes {
			t.Errorf("rate %v: Badger takes %d bits per key, want %d, the probes for that rate", test.rate, bits, test.bits)
		}
		options := table.Options{BlockSize: 4096, TableSize: 64 << 20, BloomFalsePositive: test.rate}
		builder := table.NewTableBuilder(options)
		for _, key := range stamped {
			builder.Add(key, y.ValueStruct{Value: []byte("value")}, 0)
		}
		opened, err := table.OpenInMemoryTable(builder.Finish(), 1, &options)
		if err != nil {
			t.Fatal(err)
		}
		policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: test.bits}
		filter, err := bloom.Open(bloom.LevelDB, policy.AppendFilter(nil, bloom.Bytes(known)))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range known {
			if opened.DoesNotHave(y.Hash(key)) {
				t.Fatalf("rate %v: Badger denies the known key %s", test.rate, key)
			}
		}
		wrong := 0
		for _, key := range absent {
			has := !opened.DoesNotHave(y.Hash(key))
			if has {
				wrong++
			}
			if filter.MayContain(key) != has {
				t.Fatalf("rate %v: Badger says %v about %s, this library does not", test.rate, has, key)
			}
		}
		stats := filter.Stats()
		t.Logf("asked for %v: %d bits per key, %d probes, %d of %d absent keys pass; textbook %.4f, random hashes %.4f",
			test.rate, test.bits, stats.Probes, wrong, n, policy.FalsePositiveRate(n), filter.MeasureRate())
		if wrong != test.wrong || stats.Probes != test.probes {
			t.Errorf("rate %v: %d probes, %d absent keys pass, want %d and %d", test.rate, stats.Probes, wrong, test.probes, test.wrong)
		}
		if err := opened.Close(-1); err != nil {
			t.Error(err)
		}
		builder.Close()
	}
}

// badgerCode is the code of docs/stores.md.
func badgerCode(options badger.Options, keysOfATable int, hashes, candidates []uint32, hits []uint64) (badger.Options, int, error) {
	policy, err := bloom.PolicyFor(bloom.LevelDB, keysOfATable, 0.01)
	options = options.WithBloomFalsePositive(math.Ldexp(1.5, -policy.BitsPerKey))
	if err != nil {
		return options, 0, err
	}
	encoded := policy.AppendFilter(nil, bloom.LevelDB.Hashes32(hashes)) // y.NewFilter(hashes, policy.BitsPerKey)
	filter, err := bloom.Open(bloom.LevelDB, encoded)
	if err != nil {
		return options, 0, err
	}
	n := filter.MayContainBatch(bloom.LevelDB.Hashes32(candidates), hits)
	return options, n, nil
}

var _ = badgerCode
