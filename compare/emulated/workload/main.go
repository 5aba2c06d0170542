// Command workload tests keys with a filter in two rounds, and calls mark between them. The
// instructions of a round are those after that call.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"math/bits"
	"os"
	"runtime/debug"

	pebble "github.com/cockroachdb/pebble/v2/bloom"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/lanebloom/bloom"
)

// keys is the number of keys of a round.
const keys = 4096

// pebbleTableFilter is pebble.TableFilter, the only type of filter. The package pebble takes
// long to compile.
const pebbleTableFilter = 0

func main() {
	log.SetFlags(0)
	debug.SetGCPercent(-1)
	if len(os.Args) != 5 {
		log.Fatal("usage: workload plain|KERNEL FORMAT uint64|strings absent|present")
	}
	format, err := bloom.ParseFormat(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	if err := run(os.Args[1], format, os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

func run(path string, format bloom.Format, column, hits string) error {
	known, asked := sample(column)
	if hits == "present" {
		asked = known
	}
	numbers := make([]uint64, keys)
	for i, k := range asked {
		numbers[i] = binary.LittleEndian.Uint64(k)
	}
	encoded := bloom.Policy{Format: format, BitsPerKey: 10}.AppendFilter(nil, bloom.Bytes(known))
	bitmap := make([]uint64, keys/64)
	round := func() { plain(format, encoded, asked, bitmap) }
	if path == "plain" && format == bloom.Parquet {
		round = func() { plainParquet(encoded, asked, numbers, column, bitmap) }
	} else if path != "plain" {
		filter, err := open(format, encoded, path)
		if err != nil {
			return err
		}
		batch := bloom.Bytes(asked)
		if column == "uint64" {
			batch = bloom.Integers(numbers)
		}
		round = func() { filter.MayContainBatch(batch, bitmap) }
	}
	round()
	mark()
	round()
	answers := 0
	for _, word := range bitmap {
		answers += bits.OnesCount64(word)
	}
	fmt.Println(answers)
	return nil
}

//go:noinline
func mark() {}

// sample returns keys for the filter, and others.
func sample(column string) (known, asked [][]byte) {
	known, asked = make([][]byte, keys), make([][]byte, keys)
	state := uint64(1)
	next := func() uint64 { // splitmix64
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	key := func() []byte {
		n := 8
		if column == "strings" {
			n += int(next() % 25)
		}
		var b []byte
		for len(b) < n {
			b = hex.AppendEncode(b, binary.BigEndian.AppendUint64(nil, next()))
		}
		return b[:n]
	}
	for i := range known {
		known[i], asked[i] = key(), key()
	}
	return known, asked
}

// plain tests key by key with the store's own code, or, where that is not in Go, with the
// plain reading of the format.
func plain(format bloom.Format, encoded []byte, asked [][]byte, bitmap []uint64) {
	clear(bitmap)
	goleveldb, pebble := filter.NewBloomFilter(10), pebble.FilterPolicy(10)
	for i, k := range asked {
		var has bool
		switch format {
		case bloom.LevelDB:
			has = goleveldb.Contains(encoded, k)
		case bloom.Pebble:
			has = pebble.MayContain(pebbleTableFilter, encoded, k)
		default:
			has = bloom.Reference(format, encoded, k)
		}
		if has {
			bitmap[i/64] |= 1 << (i % 64)
		}
	}
}

// plainParquet tests key by key with parquet-go, which has no assembly for arm64.
func plainParquet(encoded []byte, asked [][]byte, numbers []uint64, column string, bitmap []uint64) {
	filter, hash := parquet.MakeSplitBlockFilter(encoded), parquet.XXH64{}
	clear(bitmap)
	if column == "uint64" {
		for i, n := range numbers {
			if filter.Check(hash.Sum64Uint64(n)) {
				bitmap[i/64] |= 1 << (i % 64)
			}
		}
		return
	}
	for i, k := range asked {
		if filter.Check(hash.Sum64(k)) {
			bitmap[i/64] |= 1 << (i % 64)
		}
	}
}

// open opens a filter with the kernel of the given name.
func open(format bloom.Format, encoded []byte, kernel string) (*bloom.Filter, error) {
	filter, err := bloom.Open(format, encoded)
	if err != nil {
		return nil, err
	}
	for _, k := range bloom.Kernels() {
		if k.String() == kernel {
			return filter.WithKernel(k)
		}
	}
	return nil, fmt.Errorf("no kernel %s here", kernel)
}
