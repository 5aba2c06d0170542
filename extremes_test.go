package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/rates"
)

// The tests of this file give every exported function that takes a number the extreme
// ones, on machines of 64 and 32 bits.

// extremes are the numbers at which a product or a sum may overflow.
var extremes = []int{
	math.MinInt, math.MinInt + 1, -1, 0, 1, 2, 7, 8, 9, 30, 31, 1 << 16, 1<<16 + 1, math.MaxInt32 - 1, math.MaxInt32,
	math.MaxInt/8 - 1, math.MaxInt / 8, math.MaxInt/8 + 1, math.MaxInt/2 + 1, math.MaxInt - 64, math.MaxInt - 1, math.MaxInt,
}

// outcome is what a policy does with n keys: it builds a filter, it refuses, or it
// asks the system for more memory than a test should.
type outcome int

const (
	builds outcome = iota
	refuses
	takesMemory
)

// outcomeOf multiplies without a limit.
func outcomeOf(p Policy, n int) outcome {
	test := formatTests[p.Format]
	if empty, _ := p.Format.encoding().Shape(0, 1); empty.Bits == 0 {
		n = max(n, 1)
	}
	perKey := max(p.BitsPerKey, test.least)
	if test.mostPerKey != 0 {
		perKey = min(perKey, test.mostPerKey)
	}
	size := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(perKey)))
	most := new(big.Int).Mul(big.NewInt(mostBytes), big.NewInt(8))
	if test.mostBits != 0 && most.Cmp(new(big.Int).SetUint64(test.mostBits)) > 0 {
		most.SetUint64(test.mostBits)
	}
	if size.Cmp(most) > 0 {
		return refuses
	}
	if size.Cmp(big.NewInt(8<<20)) > 0 {
		return takesMemory
	}
	return builds
}

func TestExtremePolicies(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for _, bitsPerKey := range extremes {
			p := Policy{f, bitsPerKey}
			if rate := p.FalsePositiveRate(1); !(rate >= 0 && rate <= 1) {
				t.Errorf("%v: FalsePositiveRate(1) = %v", p, rate)
			}
			if outcomeOf(p, 1) != takesMemory {
				wantPanic := outcomeOf(p, 1) == refuses
				for name, call := range map[string]func(){
					"AppendFilter": func() { p.AppendFilter(nil, Strings([]string{"key"})) },
					"Builder":      func() { b := p.NewBuilder(); b.AddString("key"); b.AppendFilter(nil) },
				} {
					if got := panicOf(call); (got != "") != wantPanic || !strings.HasPrefix(got, "bloom: "[:min(len(got), 7)]) {
						t.Errorf("%v: %s panics with %q", p, name, got)
					}
				}
			}
			for _, n := range extremes {
				checkExtremePolicy(t, p, n)
			}
		}
	})
}

func checkExtremePolicy(t *testing.T, p Policy, n int) {
	t.Helper()
	if n%oneOf(3, 7) == 0 { // LevelDB's takes milliseconds
		if rate := p.FalsePositiveRate(n); !(rate >= 0 && rate <= 1) {
			t.Errorf("%v: FalsePositiveRate(%d) = %v", p, n, rate)
		}
	}
	want := outcomeOf(p, n)
	if n < 0 {
		want = refuses
	}
	if want == takesMemory {
		return
	}
	s, err := p.NewSet(n)
	if (err == nil) != (want == builds) || err != nil && !errors.Is(err, ErrCapacity) {
		t.Fatalf("%v: NewSet(%d): %v", p, n, err)
	}
	if err == nil {
		s.AddString("key")
		s.AddUint64(uint64(n))
		if !s.MayContainString("key") || !s.MayContainUint64(uint64(n)) {
			t.Errorf("%v: NewSet(%d) loses a key", p, n)
		}
	}
	atomic, err := p.NewAtomicSet(n)
	if (err == nil) != (want == builds) || err != nil && !errors.Is(err, ErrCapacity) {
		t.Fatalf("%v: NewAtomicSet(%d): %v", p, n, err)
	}
	if err == nil {
		atomic.AddString("key")
		atomic.AddUint64(uint64(n))
		if !atomic.Snapshot().Equal(s) {
			t.Errorf("%v: NewAtomicSet(%d) differs from NewSet", p, n)
		}
	}
}

// TestExtremeRates gives the rate of filters of any size extreme numbers of probes. No filter
// has so many: LevelDB and RocksDB answer yes to every key if there are more than 30.
func TestExtremeRates(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for _, n := range []int{1, 500, rates.ThirdProbeKeys, math.MaxInt} {
			for _, bits := range []uint64{1, 8, 24, 512, 3 << 20, 1 << 40, math.MaxUint64} {
				for i, probes := range extremes {
					if (i+int(f)+n%10)%oneOf(1, 3) != 0 {
						continue
					}
					rate := f.FalsePositiveRate(n, bits, probes)
					all := probes <= 0 || probes > encoding.MaxProbes && (f == LevelDB || f == RocksDB)
					if !(rate >= 0 && rate <= 1) || all && rate != 1 {
						t.Fatalf("FalsePositiveRate(%d, %d, %d) = %v", n, bits, probes, rate)
					}
				}
			}
		}
	})
}

func TestExtremeCapacities(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		t.Parallel()
		for j, n := range extremes {
			for i, rate := range []float64{
				math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 1e-300, 1e-20, 0.01, 0.5, 1 - 1e-16, 1, 2, math.Inf(1), math.NaN(),
			} {
				switch {
				case i%2 == 1 && (!whole() || n > 2 || n == 0):
					continue
				case (i/2+j+int(f))%(2*oneOf(2, 4)) != 0:
					continue // each capacity with every second of these rates, and the other way round
				}
				p, err := PolicyFor(f, n, rate)
				switch {
				case err != nil:
					// No filter for so many keys can be built at 64 bits per key, which hold the rates.
					_, ok := f.encoding().Shape(max(n, 0), 64)
					if !errors.Is(err, ErrRate) && (n >= 0 && ok || !errors.Is(err, ErrCapacity)) {
						t.Errorf("PolicyFor(%v, %d, %v): %v", f, n, rate, err)
					}
				case n < 0 || !(rate > 0 && rate < 1) || p.FalsePositiveRate(n) > rate:
					t.Errorf("PolicyFor(%v, %d, %v) = %v", f, n, rate, p)
				default:
					if _, ok := f.encoding().Shape(n, p.BitsPerKey); !ok {
						t.Errorf("PolicyFor(%v, %d, %v) = %v, which no filter can be built by", f, n, rate, p)
					}
				}
			}
		}
	})
}

func TestExtremeColumns(t *testing.T) {
	for _, n := range extremes {
		if k, err := FixedWidth(nil, n); (err == nil) != (n >= 1) || k.Len() != 0 {
			t.Errorf("FixedWidth(nil, %d): %d keys, %v", n, k.Len(), err)
		}
		if k, err := FixedWidth(make([]byte, 1), n); (err == nil) != (n == 1) {
			t.Errorf("FixedWidth of a byte, %d: %d keys, %v", n, k.Len(), err)
		}
		if k, err := Offsets([]byte("key"), []int64{0, int64(n)}); (err == nil) != (n >= 0 && n <= 3) {
			t.Errorf("Offsets of 64 bits to %d: %d keys, %v", n, k.Len(), err)
		}
		if k, err := Offsets([]byte("key"), []int32{0, int32(n)}); (err == nil) != (int32(n) >= 0 && int32(n) <= 3) {
			t.Errorf("Offsets to %d: %d keys, %v", int32(n), k.Len(), err)
		}
		little := binary.LittleEndian.AppendUint64(nil, uint64(n))
		for i, column := range []Keys{
			Integers([]int8{int8(n)}), Integers([]uint8{uint8(n)}), Integers([]int16{int16(n)}), Integers([]uint16{uint16(n)}),
			Integers([]int32{int32(n)}), Integers([]uint32{uint32(n)}), Integers([]int64{int64(n)}), Integers([]uint64{uint64(n)}),
		} {
			if got := column.hashRow(schemeParquet, 0); got != Parquet.Hash(little[:1<<(i/2)]) {
				t.Errorf("column %d of Integers for %d is not its little-endian bytes", i, n)
			}
		}
		column := Integers([]uint32{1, 2, 3})
		if _, err := column.WithValidity(make([]byte, 4), n); (err == nil) != (n >= 0 && n <= 29) {
			t.Errorf("WithValidity at %d: %v", n, err)
		}
		for _, m := range extremes {
			if got := panicOf(func() { column.Slice(n, m) }); (got == "") != (0 <= n && n <= m && m <= 3) {
				t.Errorf("Slice(%d, %d) panics with %q", n, m, got)
			}
		}
	}
}

// TestValidityPastMaxInt32 has rows whose bits are numbered past 2^31.
func TestValidityPastMaxInt32(t *testing.T) {
	t.Parallel()
	const rows = 100
	memory := make([]byte, (math.MaxInt32+uint64(rows))/8+1) // one for all: Go clears memory that it uses again
	for _, offset := range []int{math.MaxInt32 - 10, math.MaxInt32 - 64, math.MaxInt32} {
		bitmap := memory[:(uint64(offset)+rows)/8+1]
		valid := make([]bool, rows)
		keys := make([][]byte, rows)
		for i := range rows {
			keys[i] = fmt.Appendf(nil, "key%d", i)
			if valid[i] = i%3 != 0; valid[i] {
				bit := uint64(offset) + uint64(i)
				bitmap[bit/8] |= 1 << (bit % 8)
			}
		}
		column, err := Bytes(keys).WithValidity(bitmap, offset)
		if err != nil {
			t.Fatal(err)
		}
		checkColumn(t, column, keys, valid)
		checkColumn(t, column.Slice(20, rows), keys[20:], valid[20:])
		clear(bitmap[uint64(offset)/8:])
	}
	if bits.UintSize == 32 && math.MaxInt != math.MaxInt32 {
		t.Fatal("an int is wider than a word")
	}
}

// TestExtremeFormats gives every function that takes a format one that there is not.
func TestExtremeFormats(t *testing.T) {
	for _, f := range []Format{Format(len(formats)), 200, 255} {
		key := []byte("key")
		for name, call := range map[string]func(){
			"Name": func() { _ = f.Name() }, "Hash": func() { f.Hash(key) }, "Hashed": func() { Bytes[[]byte](nil).Hashed(f) },
			"Reference": func() { Reference(f, key, key) }, "NewBuilder": func() { Policy{Format: f}.NewBuilder() },
			"AppendFilter": func() { Policy{Format: f}.AppendFilter(nil, Keys{}) }, "MayContain": func() { Policy{Format: f}.MayContain(key, key) },
			"FalsePositiveRate": func() { Policy{Format: f}.FalsePositiveRate(1) }, "FalsePositiveRate of no keys": func() { Policy{Format: f}.FalsePositiveRate(0) },
			"the format's FalsePositiveRate": func() { f.FalsePositiveRate(1, 1, 1) }, "the format's of no keys": func() { f.FalsePositiveRate(0, 1, 1) },
			"the format's of no bits": func() { f.FalsePositiveRate(1, 0, 1) }, "the format's of no probes": func() { f.FalsePositiveRate(1, 1, 0) },
			"NewFilter": func() { Policy{Format: f}.NewFilter(Keys{}) }, "AppendHashes32": func() { f.AppendHashes32(nil, Keys{}) },
			"AppendHashes64": func() { f.AppendHashes64(nil, Keys{}) },
		} {
			if panicOf(call) == "" {
				t.Errorf("%s: no panic for %v", name, f)
			}
		}
		_, err1 := Open(f, key)
		_, err2 := OpenSet(f, key)
		_, err3 := Policy{Format: f}.NewSet(1)
		_, err4 := PolicyFor(f, 1, 0.01)
		_, err5 := ParseFormat(f.String())
		_, err6 := Policy{Format: f}.NewAtomicSet(1)
		for i, err := range []error{err1, err2, err3, err4, err5, err6} {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %d is %v for %v", i, err, f)
			}
		}
	}
	if got := Kernel(200).String(); got != "Kernel(200)" {
		t.Errorf("Kernel(200) is called %s", got)
	}
}
