// Command without compares a file with a text, and is else as the command with.
package main

import (
	"fmt"
	"os"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data) == os.Args[2])
}
