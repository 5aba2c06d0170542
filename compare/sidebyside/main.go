// Command sidebyside runs this library and others with the same keys and the same bits
// per key, and prints the figures of each as soon as it has them:
//
//	go run ./sidebyside [flags]    (in compare/)
//
// The command figures makes the tables and the picture of the documents from them.
//
// Each library takes turns with the reference. A round gives one ratio of both. Keys are random 64-bit integers, and then
// random strings of 8 to 32 bytes. A library takes them in the form it is fastest with: an integer as such, or as 8 bytes.
// If it takes hashes, the time includes hashing.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Sizes      []int         `default:"1000000" help:"Numbers of keys of the filters (${default})."`
	BitsPerKey int           `default:"10" help:"Bits per key of the filters that let one choose (${default})."`
	Queries    int           `default:"262144" help:"Absent and present keys that a round tests (${default})."`
	Keys       []kind        `default:"integers,strings" enum:"integers,strings" help:"Kinds of keys (${default}). Strings have 8 to 32 bytes."`
	Time       time.Duration `default:"18s" help:"How long to measure, in all (${default}). The rest takes some 10 seconds."`
	Rounds     int           `default:"1000" help:"The most rounds (${default})."`
	Cores      int           `default:"1" help:"Cores that a library may build with (${default})."`
	Reference  string        `default:"goleveldb" help:"Library that the others are compared with (${default})."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Description("Runs this library beside others. Those in C++ need g++, libleveldb-dev and librocksdb-dev."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing to do any more
	}
}

// run prints the figures of the comparison that the options describe, and messages.
func run(ctx context.Context, o *options, out, messages io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Cores))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the race collects between the runs
	return compare(ctx, o, out, messages)
}

// check reports bad options at once. Otherwise some would fail after minutes of work.
func (o *options) check() error {
	for name, value := range map[string]int{
		"--sizes": slices.Min(append([]int{1}, o.Sizes...)), "--bits-per-key": o.BitsPerKey,
		"--queries": o.Queries, "--rounds": o.Rounds, "--time": int(o.Time), "--cores": o.Cores,
	} {
		if value < 1 {
			return fmt.Errorf("%s: %d is less than 1", name, value)
		}
	}
	if most := 1 << 27; slices.Max(append([]int{o.Queries}, o.Sizes...)) > most {
		return fmt.Errorf("more than %d keys", most)
	}
	if all := names(); !slices.Contains(all, o.Reference) {
		return fmt.Errorf("--reference: %q is none of %s", o.Reference, strings.Join(all, ", "))
	}
	return nil
}
