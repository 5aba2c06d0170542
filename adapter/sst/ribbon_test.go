package bloomsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom"
)

// plainRibbon reads a Ribbon filter bit by bit.
type plainRibbon struct {
	data         []byte
	seed, blocks int
}

// columns returns the number of columns of a block, and the number of its first segment.
func (r plainRibbon) columns(block int) (n, first int) {
	segments := len(r.data) / 16
	for b := range block + 1 {
		// The segments are shared out from the end, and a block uses 32 at most.
		first += n
		n = min((segments+b)/r.blocks, 32)
		if segments > 32*r.blocks {
			n = 32
		}
	}
	return n, first
}

// bit returns the bit of a slot in a column of the block where the ribbon begins.
func (r plainRibbon) bit(slot, column int) int {
	_, first := r.columns(slot / 128)
	at := 128*(first+column) + slot%128
	return int(r.data[at/8]) >> (at % 8) & 1
}

// equations returns where the ribbon of a hash begins, its coefficients and its results.
func (r plainRibbon) equations(hash uint64) (slot int, ribbon, results *big.Int) {
	word := func(digits string) *big.Int {
		n, ok := new(big.Int).SetString(digits, 16)
		if !ok {
			panic(digits)
		}
		return n
	}
	mod := func(n *big.Int, bits uint) *big.Int {
		return n.Mod(n, new(big.Int).Lsh(big.NewInt(1), bits))
	}
	seed := mod(new(big.Int).Mul(big.NewInt(int64(r.seed)), word("c78219a23eeadd03")), 64)
	upper := new(big.Int).And(seed, word("f0f0f0f0f0f0f0f0"))
	seed = mod(seed.Xor(seed, upper.Rsh(upper, 4)), 32)
	h := new(big.Int).Xor(new(big.Int).SetUint64(hash), seed)
	h = mod(h.Mul(h, word("6193d459236a3a0d")), 64)
	start := new(big.Int).Mul(h, big.NewInt(int64(r.blocks*128-127)))
	mixed := mod(new(big.Int).Mul(h, word("c28f82822b650bed")), 64)
	ribbon = new(big.Int).Lsh(mixed, 64)
	ribbon.Or(ribbon, new(big.Int).Xor(mixed, word("c367844a6e52731d"))).SetBit(ribbon, 0, 1)
	return int(start.Rsh(start, 64).Int64()), ribbon, mixed
}

// hasColumn tests a column.
func (r plainRibbon) hasColumn(hash uint64, column int) bool {
	slot, ribbon, results := r.equations(hash)
	parity := 0
	for i := range 128 {
		if ribbon.Bit(i) == 1 {
			parity ^= r.bit(slot+i, column)
		}
	}
	return parity == int(results.Bit(56-column/8*8+column%8)) // the highest byte first
}

func (r plainRibbon) has(hash uint64) bool {
	slot, _, _ := r.equations(hash)
	n, _ := r.columns(slot / 128)
	for column := range n {
		if !r.hasColumn(hash, column) {
			return false
		}
	}
	return true
}

// flip changes the bit of the slot where the ribbon of a hash begins, in a column.
func (r plainRibbon) flip(hash uint64, column int) {
	slot, _, _ := r.equations(hash)
	_, first := r.columns(slot / 128)
	at := 128*(first+column) + slot%128
	r.data[at/8] ^= 1 << (at % 8)
}

// encoded returns the bytes of the filter.
func (r plainRibbon) encoded() []byte { return ribbonBytes(r.data, r.seed, r.blocks) }

// TestRibbonReading compares Ribbon filters with the plain reading, of all numbers of columns. Half of the hashes pass in a filter that
// has no bits.
func TestRibbonReading(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	passed, all := 0, 0
	for i := range 600 {
		blocks := 2 + random.IntN(6)
		plain := plainRibbon{make([]byte, 16*(i%(34*blocks))+random.IntN(16)), random.IntN(256), blocks}
		for j := range plain.data {
			plain.data[j] = byte(random.Uint32())
		}
		r, err := openRibbon(plain.encoded())
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			hash := random.Uint64()
			want, got := plain.has(hash), r.mayContainHash(hash)
			if got != want {
				t.Fatalf("%d blocks, %d bytes, seed %d: %#x: %v, want %v", blocks, len(plain.data), plain.seed, hash, got, want)
			}
			all++
			if want {
				passed++
			}
		}
	}
	if passed < all/20 || passed > all/4 {
		t.Errorf("%d of %d pass", passed, all)
	}
}

// TestRibbonColumns has filters of many columns, and hashes that agree in all columns, or in all but one:
// random hashes do not get to the last.
func TestRibbonColumns(t *testing.T) {
	const blocks = 3
	random := rand.New(rand.NewPCG(3, 4))
	for columns := 1; columns <= 34; columns++ {
		plain := plainRibbon{make([]byte, 16*blocks*columns), random.IntN(256), blocks}
		for other := range min(columns, 32) {
			hash := random.Uint64()
			for column := range min(columns, 32) {
				if !plain.hasColumn(hash, column) {
					plain.flip(hash, column)
				}
			}
			for _, want := range []bool{true, false} {
				r, err := openRibbon(plain.encoded())
				if err != nil {
					t.Fatal(err)
				}
				if got := r.mayContainHash(hash); got != want || plain.has(hash) != want {
					t.Fatalf("%d columns: %#x: %v, want %v", columns, hash, got, want)
				}
				plain.flip(hash, other)
			}
		}
	}
}

// ribbonBytes returns an encoded filter.
func ribbonBytes(data []byte, seed, blocks int) []byte {
	return append(bytes.Clone(data), ribbonMarker, byte(seed), byte(blocks), byte(blocks>>8), byte(blocks>>16))
}

// TestRibbonRate wants the rate of random data, and no rate that is none.
func TestRibbonRate(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, segments := range []int{0, 1, 5, 8, 9, 13, 16, 23, 40, 64, 300} {
		data := make([]byte, 16*segments)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		r, err := openRibbon(ribbonBytes(data, 1, 8))
		if err != nil {
			t.Fatal(err)
		}
		designed, measured := r.FalsePositiveRate(), r.MeasureRate()
		if math.Abs(measured-designed) > 0.05*designed+1e-5 {
			t.Errorf("%d segments: %v, and %v measured", segments, designed, measured)
		}
	}
}

// TestRibbonKeys wants an estimate of the keys that the golden tables have.
func TestRibbonKeys(t *testing.T) {
	tested := 0
	for _, g := range goldens(t) {
		if g.Format != "ribbon" {
			continue
		}
		tested++
		table, err := openBytes(g.data)
		if err != nil {
			t.Fatal(err)
		}
		s, err := table.Stats()
		n, _ := table.Entries()
		if err != nil || math.Abs(s.Keys-float64(n)) > 0.05*float64(n) || s.Ribbons != s.Filters || s.Bytes <= s.Bits/8 || s.Bytes > s.Bits/8+200 {
			t.Errorf("%s: %+v of %d keys, %v", g.File, s, n, err)
		}
	}
	if tested != 3 {
		t.Errorf("%d tables", tested)
	}
}

// TestRibbonBlocks has filters of fewer blocks than RocksDB reads: every key may be there.
func TestRibbonBlocks(t *testing.T) {
	for blocks := range leastBlocks {
		if _, err := openRibbon(ribbonBytes(make([]byte, 64), 0, blocks)); !errors.Is(err, ErrRibbon) {
			t.Errorf("%d blocks: %v", blocks, err)
		}
	}
	for n := range ribbonTrailer + 1 {
		if data := make([]byte, n); isRibbon(data) {
			t.Errorf("%d bytes are a Ribbon filter", n)
		}
	}
}

// TestRibbonNamed has a Ribbon filter under a name that is told to be RocksDB's, as TiKV's are, and one that Pebble does not write.
func TestRibbonNamed(t *testing.T) {
	filter := ribbonBytes(make([]byte, 64), 0, 2)
	for _, test := range []struct {
		engine string
		format bloom.Format
		want   error
	}{{RocksDB, bloom.RocksDB, nil}, {RocksDB, bloom.Parquet, ErrPolicy}, {Pebble, bloom.RocksDB, ErrPolicy}} {
		table := &Table{engine: test.engine, version: 5, policy: "app.Filter", format: test.format}
		if p, err := table.openFilter(filter); !errors.Is(err, test.want) || (err == nil) != (p.Ribbon != nil) {
			t.Errorf("%s, %v: %+v, %v", test.engine, test.format, p, err)
		}
	}
}

// TestRibbonView compares the answers of a View with those of tables that have Ribbon filters.
func TestRibbonView(t *testing.T) {
	folder := t.TempDir()
	var tables []testTable
	for i, g := range goldens(t) {
		if g.Format == "ribbon" {
			tables = append(tables, testTable{number: uint64(i), golden: g.File, level: 1, first: 0, last: 9999})
		}
	}
	writeDatabase(t, folder, bytewise, tables)
	d, err := OpenDatabase(folder)
	if err != nil || len(tables) == 0 {
		t.Fatal(err, tables)
	}
	defer d.Close()
	checkView(t, "Ribbon filters", d.View(), func(int, int) bool { return true })
}

// FuzzRibbon opens any bytes as a Ribbon filter.
func FuzzRibbon(f *testing.F) {
	for _, g := range goldens(f) {
		if g.Format != "ribbon" {
			continue
		}
		table, err := openBytes(g.data)
		if err != nil {
			f.Fatal(err)
		}
		for p, err := range table.Filters() {
			if err != nil {
				f.Fatal(err)
			}
			f.Add(p.Ribbon.data, byte(p.Ribbon.seed), uint32(p.Ribbon.blocks))
		}
	}
	f.Add([]byte{}, byte(0), uint32(1<<24-1))
	f.Add(make([]byte, 1000), byte(255), uint32(2))
	f.Fuzz(func(t *testing.T, data []byte, seed byte, blocks uint32) {
		encoded := append(append([]byte{}, data...), ribbonMarker)
		encoded = append(encoded, binary.LittleEndian.AppendUint32([]byte{seed}, blocks)[:ribbonTrailer-1]...)
		if len(data) > 0 && !isRibbon(encoded) {
			t.Fatal("the marker is not found")
		}
		table := &Table{engine: RocksDB, version: 5, policy: bloom.RocksDB.Name(), format: bloom.RocksDB}
		p, err := table.openFilter(encoded)
		if err != nil {
			return
		}
		for i := range 40 {
			p.MayContain(fmt.Appendf(nil, "key%d", i))
		}
		if s := p.Stats(); !(s.FalsePositiveRate >= 0 && s.FalsePositiveRate <= 1) || s.SetBits > s.Bits || !(s.Keys >= 0) {
			t.Fatalf("%+v", s)
		}
	})
}
