package bloom

import (
	"bytes"
	"errors"
	"testing"
)

func TestPolicyFor(t *testing.T) {
	is(t, portable)
	// The textbook's sizes, -ln p / (ln 2)^2 bits per key, or a bit more for LevelDB's third
	// probe.
	for _, c := range []struct {
		capacity int
		rate     float64
		bits, k  int
	}{
		{500000, 0.001, 16, 11}, // 14.4, with 15 the rate is 0.13 %
		{1000, 0.01, 10, 6},     // 9.6
		{1 << 20, 0.01, 11, 7},  // with 10 the rate is 1.25 %
	} {
		p, err := PolicyFor(LevelDB, c.capacity, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		if p.BitsPerKey != c.bits || probesOf(p) != c.k {
			t.Errorf("PolicyFor(%d, %v) = %d bits, %d probes, want %d, %d", c.capacity, c.rate, p.BitsPerKey, probesOf(p), c.bits, c.k)
		}
	}
	eachFormat(t, func(t *testing.T, f Format) {
		for _, capacity := range []int{0, 1, 2, 10, 1000, 123456, 1 << 24} {
			for _, rate := range []float64{0.9, 0.5, 0.1, 0.01, 0.005} {
				p, err := PolicyFor(f, capacity, rate)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.FalsePositiveRate(capacity); got > rate {
					t.Errorf("PolicyFor(%d, %v) has rate %v", capacity, rate, got)
				}
				for fewer := max(p.BitsPerKey-2, 0); fewer < p.BitsPerKey; fewer++ {
					if got := (Policy{f, fewer}).FalsePositiveRate(capacity); got <= rate {
						t.Errorf("PolicyFor(%d, %v) = %d bits per key, but %d hold the rate", capacity, rate, p.BitsPerKey, fewer)
					}
				}
			}
		}
	})
	// Many bits per key: all fewer are tried.
	for _, f := range []Format{Nori, Parquet, RocksDB} {
		for _, capacity := range []int{1, 1000, 50_000} {
			p, err := PolicyFor(f, capacity, 1e-7)
			if err != nil {
				t.Fatal(err)
			}
			for fewer := range p.BitsPerKey {
				if got := (Policy{f, fewer}).FalsePositiveRate(capacity); got <= 1e-7 {
					t.Errorf("PolicyFor(%v, %d, 1e-7) = %d bits per key, but %d hold the rate", f, capacity, p.BitsPerKey, fewer)
				}
			}
		}
	}
	// 1 % of 2^32 hashes are some 43 million.
	if _, err := PolicyFor(LevelDB, 43_000_000, 0.01); err != nil {
		t.Errorf("43 M keys at 1 %%: %v", err)
	}
	if _, err := PolicyFor(LevelDB, 44_000_000, 0.01); !errors.Is(err, ErrRate) {
		t.Errorf("44 M keys at 1 %%: error %v", err)
	}
}

// TestAppendFilterKeepsDst appends to a slice that already has bytes, and old bytes in its
// spare capacity.
func TestAppendFilterKeepsDst(t *testing.T) {
	is(t, behaviour)
	keys := Strings([]string{"hello", "world"})
	eachFormat(t, func(t *testing.T, f Format) {
		p := Policy{f, 10}
		want := p.AppendFilter(nil, keys)
		dirty := bytes.Repeat([]byte{0xff}, 100)
		got := p.AppendFilter(dirty[:7], keys)
		if !bytes.Equal(got[:7], dirty[:7]) || !bytes.Equal(got[7:], want) {
			t.Errorf("appended %x, want %x", got, want)
		}
		if !bytes.Equal(dirty[len(got):], bytes.Repeat([]byte{0xff}, 100-len(got))) {
			t.Error("bytes past the filter were written")
		}
		builder := p.NewBuilder()
		builder.AddBatch(keys)
		if got := builder.AppendFilter([]byte("ab")); !bytes.Equal(got, append([]byte("ab"), want...)) {
			t.Errorf("builder appended %x", got)
		}
	})
}
