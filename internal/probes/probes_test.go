package probes

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// array is what each format can do with the first words of hashes of four words.
type array interface {
	Has(h [4]uint64) bool
	Add(h [4]uint64) bool
	Bits(h [4]uint64, first int, to []uint64)
	Test(h [4][]uint64, hits []uint64)
	Place(h [4][]uint64, places []uint32)
}

type (
	levelDB       struct{ LevelDB }
	nori          struct{ *Nori }
	parquet       struct{ *Parquet }
	rocksDB       struct{ *RocksDB }
	pebble        struct{ *Pebble }
	bitsAndBlooms struct{ *BitsAndBlooms }
	guava         struct{ *Guava }
)

func (a levelDB) Has(h [4]uint64) bool       { return a.LevelDB.Has(uint32(h[0])) }
func (a nori) Has(h [4]uint64) bool          { return a.Nori.Has(h[0], h[1]) }
func (a parquet) Has(h [4]uint64) bool       { return a.Parquet.Has(h[0]) }
func (a rocksDB) Has(h [4]uint64) bool       { return a.RocksDB.Has(h[0]) }
func (a pebble) Has(h [4]uint64) bool        { return a.Pebble.Has(uint32(h[0])) }
func (a bitsAndBlooms) Has(h [4]uint64) bool { return a.BitsAndBlooms.Has(h[0], h[1], h[2], h[3]) }
func (a guava) Has(h [4]uint64) bool         { return a.Guava.Has(h[0], h[1]) }

func (a levelDB) Add(h [4]uint64) bool       { return a.LevelDB.Add(uint32(h[0])) }
func (a nori) Add(h [4]uint64) bool          { return a.Nori.Add(h[0], h[1]) }
func (a parquet) Add(h [4]uint64) bool       { return a.Parquet.Add(h[0]) }
func (a rocksDB) Add(h [4]uint64) bool       { return a.RocksDB.Add(h[0]) }
func (a pebble) Add(h [4]uint64) bool        { return a.Pebble.Add(uint32(h[0])) }
func (a bitsAndBlooms) Add(h [4]uint64) bool { return a.BitsAndBlooms.Add(h[0], h[1], h[2], h[3]) }
func (a guava) Add(h [4]uint64) bool         { return a.Guava.Add(h[0], h[1]) }

func (a levelDB) Bits(h [4]uint64, i int, to []uint64) { a.LevelDB.Bits(uint32(h[0]), i, to) }
func (a nori) Bits(h [4]uint64, i int, to []uint64)    { a.Nori.Bits(h[0], h[1], i, to) }
func (a parquet) Bits(h [4]uint64, i int, to []uint64) { a.Parquet.Bits(h[0], i, to) }
func (a rocksDB) Bits(h [4]uint64, i int, to []uint64) { a.RocksDB.Bits(h[0], i, to) }
func (a pebble) Bits(h [4]uint64, i int, to []uint64)  { a.Pebble.Bits(uint32(h[0]), i, to) }
func (a bitsAndBlooms) Bits(h [4]uint64, i int, to []uint64) {
	a.BitsAndBlooms.Bits(h[0], h[1], h[2], h[3], i, to)
}
func (a guava) Bits(h [4]uint64, i int, to []uint64) { a.Guava.Bits(h[0], h[1], i, to) }

func (a levelDB) Test(h [4][]uint64, hits []uint64) { a.LevelDB.Test(halves(h[0]), hits, false) }
func (a nori) Test(h [4][]uint64, hits []uint64)    { a.Nori.Test(h[0], h[1], hits) }
func (a parquet) Test(h [4][]uint64, hits []uint64) { a.Parquet.Test(h[0], hits) }
func (a rocksDB) Test(h [4][]uint64, hits []uint64) { a.RocksDB.Test(h[0], hits) }
func (a pebble) Test(h [4][]uint64, hits []uint64)  { a.Pebble.Test(halves(h[0]), hits) }
func (a bitsAndBlooms) Test(h [4][]uint64, hits []uint64) {
	a.BitsAndBlooms.Test(h[0], h[1], h[2], h[3], hits, len(h[0])%2 == 0)
}
func (a guava) Test(h [4][]uint64, hits []uint64) { a.Guava.Test(h[0], h[1], hits) }

func (a levelDB) Place(h [4][]uint64, places []uint32) { a.LevelDB.Place(halves(h[0]), places) }
func (a nori) Place(h [4][]uint64, places []uint32)    { a.Nori.Place(h[0], h[1], places) }
func (a parquet) Place(h [4][]uint64, places []uint32) { a.Parquet.Place(h[0], places) }
func (a rocksDB) Place(h [4][]uint64, places []uint32) { a.RocksDB.Place(h[0], places) }
func (a pebble) Place(h [4][]uint64, places []uint32)  { a.Pebble.Place(halves(h[0]), places) }
func (a bitsAndBlooms) Place(h [4][]uint64, places []uint32) {
	a.BitsAndBlooms.Place(h[0], h[1], h[2], h[3], places)
}
func (a guava) Place(h [4][]uint64, places []uint32) { a.Guava.Place(h[0], h[1], places) }

func halves(words []uint64) (halves []uint32) {
	for _, w := range words {
		halves = append(halves, uint32(w))
	}
	return halves
}

// arrays returns an array of each format, of n lines of 512 bits that data has, and of k probes.
func arrays(data []byte, n uint64, k int) map[string]array {
	no, pq, ro := NewNori(data, 512*n-5, k), NewParquet(data, 2*n), NewRocksDB(data, n, k)
	pe, bb, gu := NewPebble(data, uint32(n), 0, k), NewBitsAndBlooms(data, 512*n, k), NewGuava(data, 512*n, k)
	return map[string]array{
		"LevelDB": levelDB{NewLevelDB(data, 64*n, k)}, "Nori": nori{&no}, "Parquet": parquet{&pq}, "RocksDB": rocksDB{&ro},
		"Pebble": pebble{&pe}, "BitsAndBlooms": bitsAndBlooms{&bb}, "Guava": guava{&gu},
	}
}

// TestArrays compares what each format does with the bits of a hash, one by one.
func TestArrays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := uint64(1); n < 12; n++ {
		for k := 1; k <= 30; k++ {
			data := make([]byte, 64*n)
			for i := range data {
				data[i] = byte(random.Uint32() | random.Uint32() | random.Uint32())
			}
			before := bytes.Clone(data)
			for name, a := range arrays(data, n, k) {
				copy(data, before)
				if name == "Parquet" {
					checkArray(t, name, a, data, 8, random)
				} else {
					checkArray(t, name, a, data, k, random)
				}
			}
		}
	}
}

func checkArray(t *testing.T, name string, a array, data []byte, k int, random *rand.Rand) {
	const hashes = 70
	var h [4][]uint64
	var want [2]uint64
	var places []uint32
	one := func(i int) [4]uint64 { return [4]uint64{h[0][i], h[1][i], h[2][i], h[3][i]} }
	bits := make([]uint64, k)
	for i := range hashes {
		for w := range h {
			h[w] = append(h[w], random.Uint64())
		}
		a.Bits(one(i), 0, bits[:k/2])
		a.Bits(one(i), k/2, bits[k/2:])
		has := true
		for _, bit := range bits {
			has = has && data[bit/8]>>(bit%8)&1 != 0
			places = append(places, uint32(bit))
		}
		if has {
			want[i/64] |= 1 << (i % 64)
		}
		if a.Has(one(i)) != has {
			t.Fatalf("%s of %d bytes, %d probes: Has is %v", name, len(data), k, !has)
		}
	}
	var hits [2]uint64
	if a.Test(h, hits[:]); hits != want {
		t.Fatalf("%s of %d bytes, %d probes: hits %x, want %x", name, len(data), k, hits, want)
	}
	got := make([]uint32, hashes*k)
	if a.Place(h, got); !slices.Equal(got, places) {
		t.Fatalf("%s of %d bytes, %d probes: other places", name, len(data), k)
	}
	for i := range hashes {
		set := bytes.Clone(data)
		isNew := false
		for _, bit := range places[i*k : (i+1)*k] {
			isNew = isNew || set[bit/8]>>(bit%8)&1 == 0
		}
		for _, bit := range places[i*k : (i+1)*k] {
			set[bit/8] |= 1 << (bit % 8)
		}
		if got := a.Add(one(i)); got != isNew || !bytes.Equal(data, set) {
			t.Fatalf("%s of %d bytes, %d probes: Add is %v, want %v", name, len(data), k, got, isNew)
		}
	}
}
