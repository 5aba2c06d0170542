// Command choosing measures filters of every format and prints the tables of docs/choosing.md:
// the false-positive rates, and the times of one key and of a column.
//
//	go run ./choosing    (in compare/)
//
// It takes some three minutes and 3 GiB of memory.
package main

import (
	"fmt"
	"os"

	"github.com/lanebloom/bloom"
)

// formats are those that docs/choosing.md compares. NoriCrate is left out: it rounds the number of
// bits up to a power of two, so no number of bits per key is its own.
var formats = []bloom.Format{bloom.RocksDB, bloom.Nori, bloom.Parquet, bloom.LevelDB, bloom.Pebble}

func main() {
	rates()
	overfilled()
	if err := speeds(); err != nil {
		fmt.Fprintln(os.Stderr, "choosing:", err)
		os.Exit(1)
	}
}
