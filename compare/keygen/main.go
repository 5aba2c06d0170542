// Command keygen writes synthetic keys, to compare ways to filter lines:
//
//	go run ./keygen [-known N] [-stream N] FOLDER
//
// FOLDER/known holds different keys of 8 to 24 random hexadecimal digits, one a line.
// FOLDER/stream holds lines in random order; half of them are known.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	known := flag.Int("known", 2_000_000, "known keys")
	stream := flag.Int("stream", 5_000_000, "lines of the stream")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([][]byte, *known)
	seen := make(map[string]bool, *known)
	for i := range keys {
		keys[i] = key(random, seen)
		seen[string(keys[i])] = true
	}
	write(filepath.Join(flag.Arg(0), "known"), *known, func(i int) []byte { return keys[i] })
	write(filepath.Join(flag.Arg(0), "stream"), *stream, func(int) []byte {
		if random.IntN(2) == 0 {
			return keys[random.IntN(len(keys))]
		}
		return key(random, seen)
	})
}

// key returns a random key that is not among the given ones.
func key(random *rand.Rand, not map[string]bool) []byte {
	for {
		k := make([]byte, 8+random.IntN(17))
		for i := range k {
			k[i] = "0123456789abcdef"[random.IntN(16)]
		}
		if !not[string(k)] {
			return k
		}
	}
}

func write(path string, n int, line func(int) []byte) {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(file)
	for i := range n {
		fmt.Fprintf(w, "%s\n", line(i))
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
