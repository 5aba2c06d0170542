package window_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
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

// A window for the billion keys of a day.
func ExampleOptions_Bytes() {
	for _, rate := range []float64{0.01, 0.0001, 0.000001} {
		options := window.Options{Generations: 25, Keys: 1_000_000_000 / 24, Rate: rate}
		bytes, err := options.Bytes()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %.1f GB\n", rate, float64(bytes)/1e9)
	}
	// Output:
	// 0.01: 2.6 GB
	// 0.0001: 4.7 GB
	// 1e-06: 7.9 GB
}

// keep is what a service does that keeps its window in a folder.
func keep(folder string, options window.Options) error {
	seen, loaded, err := window.Open(folder, options)
	if err != nil {
		return err
	}
	fmt.Println(loaded.Kept, loaded.Forgotten, seen.MayContainString("/a"))
	for range time.Tick(time.Minute) {
		if err := seen.Save(); err != nil {
			return err
		}
	}
	return seen.Close()
}

// TestKeep wants the error of Open.
func TestKeep(t *testing.T) {
	if err := keep(t.TempDir(), window.Options{}); !errors.Is(err, bloom.ErrCapacity) {
		t.Error(err)
	}
}

// TestOneWinner has goroutines race for keys, and wants one of them to learn that a key is new.
func TestOneWinner(t *testing.T) {
	options := window.Options{Generations: 25, Keys: 100_000, Rate: 1e-6}
	seen, err := window.New(options)
	if err != nil {
		t.Fatal(err)
	}
	var locks [256]sync.Mutex
	var winners atomic.Int64
	var group sync.WaitGroup
	const keys = 20_000
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range keys {
				id := fmt.Sprint("id ", i)
				h := options.Format.HashString(id)
				lock := &locks[h.Words()[0]%uint64(len(locks))]
				lock.Lock()
				isNew := !seen.TestAndAddHash(h)
				lock.Unlock()
				if isNew {
					winners.Add(1)
				}
			}
		}()
	}
	group.Wait()
	if n := winners.Load(); n > keys || n < keys-2 {
		t.Errorf("%d goroutines learned of %d keys that they are new", n, keys)
	}
}
