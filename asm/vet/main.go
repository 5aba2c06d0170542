// Command vet does what go vet does, for the system of GOOS and GOARCH, but reads what a package imports
// from its source. For another system than this one, go vet would compile all of that first.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/suite/vet"
)

func main() { multichecker.Main(vet.Suite...) }
