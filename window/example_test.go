package window_test

import (
	"fmt"

	"github.com/lanebloom/bloom/window"
)

func Example() {
	seen, err := window.New(window.Options{Generations: 25, Keys: 1000, Rate: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(seen.TestAndAddString("ann"), seen.TestAndAddString("ann"))
	for range 24 { // Run does it by the clock
		seen.Rotate()
	}
	fmt.Println(seen.MayContainString("ann")) // it may be 24 hours old
	seen.Rotate()
	fmt.Println(seen.MayContainString("ann"))
	// Output:
	// false true
	// true
	// false
}
