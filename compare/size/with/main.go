// Command with opens the file of a filter and looks up a key. docs/adopting.md has its size, and that of the
// program without the library.
package main

import (
	"fmt"
	"os"

	"github.com/lanebloom/bloom"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	filter, err := bloom.OpenBinary(data)
	if err != nil {
		panic(err)
	}
	fmt.Println(filter.MayContainString(os.Args[2]))
}
