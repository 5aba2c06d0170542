// Command choosing times filters of every format and prints two tables of docs/choosing.md: the times of one
// key and of a column.
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

// formats are those that docs/choosing.md compares. NoriCrate is Nori with another size.
var formats = []bloom.Format{bloom.RocksDB, bloom.Nori, bloom.Parquet, bloom.LevelDB, bloom.Pebble}

func main() {
	if err := speeds(); err != nil {
		fmt.Fprintln(os.Stderr, "choosing:", err)
		os.Exit(1)
	}
}
