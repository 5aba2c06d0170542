package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lanebloom/bloom"
)

// shapes are keys as programs have them. Key i differs from every other.
var shapes = []struct {
	name string
	key  func(i int) []byte
}{
	{"random strings of 16 letters", randomString},
	{"UUIDs", uuid},
	{"integers, 8 bytes little-endian", func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)) }},
	{"`user-%08d`", printed("user-%08d")},
	{"`key%06d`", printed("key%06d")},
	{"`order-2026-%09d-EU`", printed("order-2026-%09d-EU")},
	{"`https://example.com/items/%d?ref=mail`", printed("https://example.com/items/%d?ref=mail")},
}

func printed(format string) func(i int) []byte {
	return func(i int) []byte { return fmt.Appendf(nil, format, i) }
}

func randomString(i int) []byte {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	key := make([]byte, 16)
	for j := range key {
		key[j] = 'a' + byte(random.IntN(26))
	}
	return key
}

func uuid(i int) []byte {
	random := rand.New(rand.NewPCG(uint64(i), 2))
	a, b := random.Uint64(), random.Uint64()
	return fmt.Appendf(nil, "%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&(1<<48-1))
}

// halves returns n keys of a shape for a filter, and n absent keys from between them: the
// numbers below 2n in random order.
func halves(key func(i int) []byte, n int) (present, absent bloom.Keys) {
	keys := make([][]byte, 2*n)
	for i, j := range rand.New(rand.NewPCG(3, 4)).Perm(2 * n) {
		keys[i] = key(j)
	}
	return bloom.Bytes(keys[:n]), bloom.Bytes(keys[n:])
}

// shapesTable prints the rates of filters of every shape, size and format at 10 bits per
// key: what the library expects of random hashes, and what absent keys of the shape have.
func shapesTable() {
	fmt.Print("| keys | number |")
	formats := []bloom.Format{bloom.LevelDB, bloom.Pebble, bloom.RocksDB, bloom.Parquet, bloom.Nori, bloom.NoriCrate}
	for _, f := range formats {
		fmt.Printf(" %v: expected | **measured** |", f)
	}
	fmt.Println(" equal LevelDB hashes |\n|---|---:|" + strings.Repeat("---:|", 2*len(formats)+1))
	for _, shape := range shapes {
		for _, n := range []int{100_000, 300_000, 1_000_000} {
			present, absent := halves(shape.key, n)
			fmt.Printf("| %s | %d |", shape.name, n)
			for _, f := range formats {
				p := bloom.Policy{Format: f, BitsPerKey: 10}
				filter := open(p, present)
				fmt.Printf(" %.2f | **%.2f** |", 100*p.FalsePositiveRate(n), 100*filter.MeasureRate(absent))
			}
			hashes := make(map[bloom.Hash]bool, n)
			for i := range n {
				key, _ := present.AppendKey(nil, i)
				hashes[bloom.LevelDB.Hash(key)] = true
			}
			fmt.Printf(" %.2f |\n", 100*float64(n-len(hashes))/float64(n))
		}
	}
}

// collisions finds the pairs of keys among user-00000000 to user-01999999 that have equal
// hashes, and counts by how much each of their digits differs.
func collisions() {
	const n = 2_000_000
	byHash := map[bloom.Hash][]int{}
	for i := range n {
		h := bloom.LevelDB.Hash(fmt.Appendf(nil, "user-%08d", i))
		byHash[h] = append(byHash[h], i)
	}
	pairs, withOther, explained := 0, 0, 0
	for _, numbers := range byHash {
		if len(numbers) > 1 {
			withOther += len(numbers)
		}
		for i, a := range numbers {
			for _, b := range numbers[:i] {
				pairs++
				if explain(a, b) {
					explained++
				}
			}
		}
	}
	fmt.Printf("%d keys: %d (%.1f %%) have the hash of another, in %d pairs; random hashes would have %.0f pairs\n",
		n, withOther, 100*float64(withOther)/n, pairs, float64(n)*n/2/(1<<32))
	fmt.Printf("%d pairs (%.1f %%) differ in 3 digits only: the 3rd by 7, the 5th, and the 7th by 5 the other way\n",
		explained, 100*float64(explained)/float64(pairs))
}

// explain reports whether two numbers of 8 digits differ as the arithmetic of the hash
// says.
func explain(a, b int) bool {
	x, y := fmt.Sprintf("%08d", a), fmt.Sprintf("%08d", b)
	var d [8]int
	for i := range d {
		d[i] = int(x[i]) - int(y[i])
	}
	return d[0] == 0 && d[1] == 0 && d[3] == 0 && d[5] == 0 && d[7] == 0 && d[4] != 0 &&
		(d[2] == 7 && d[6] == -5 || d[2] == -7 && d[6] == 5)
}
