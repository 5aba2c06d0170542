// Command sidebyside runs this library and others with the same keys and the same bits
// per key, and prints a table:
//
//	go run ./sidebyside [flags]    (in compare/)
//
// The command figures keeps what --json writes, and makes the tables and the picture of the documents from it.
//
// A round does every measurement of every library once, in turn. Each gives one ratio,
// to the same measurement of the reference. Keys are random 64-bit integers. A library
// takes them in the form it is fastest with: as integers, or as 8 bytes. If it takes
// hashes, the time includes hashing. The garbage collector runs between measurements,
// not within them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/google/renameio/v2"
)

type options struct {
	Sizes      []int  `default:"10000,1000000,10000000" help:"Numbers of keys of the filters (${default})."`
	BitsPerKey int    `default:"10" help:"Bits per key of the filters that let one choose (${default})."`
	Queries    int    `default:"262144" help:"Absent and present keys that a round tests (${default})."`
	Rounds     int    `default:"21" help:"Rounds for each size (${default})."`
	Cores      int    `default:"1" help:"Cores that a library may build with (${default})."`
	Reference  string `default:"goleveldb" help:"Library that the others are compared with (${default})."`
	Markdown   string `placeholder:"FILE" help:"Write the table to a file, too."`
	JSON       string `placeholder:"FILE" help:"Write the figures to a file, as JSON."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Description("Runs this library beside others. Needs g++, libleveldb-dev and librocksdb-dev."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing to do any more
	}
}

// run writes the figures of the comparison that the options describe.
func run(ctx context.Context, o *options, out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Cores))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	report, err := compare(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprint(out, report.markdown())
	for _, output := range []struct {
		path string
		text func() (string, error)
	}{
		{o.Markdown, func() (string, error) { return report.markdown(), nil }},
		{o.JSON, report.json},
	} {
		if output.path == "" {
			continue
		}
		text, err := output.text()
		if err != nil {
			return err
		}
		if err := renameio.WriteFile(output.path, []byte(text), 0o644); err != nil { // in one step
			return err
		}
	}
	return nil
}

// check reports bad options at once. Otherwise some would fail after minutes of work.
func (o *options) check() error {
	for name, value := range map[string]int{
		"--sizes": slices.Min(append([]int{1}, o.Sizes...)), "--bits-per-key": o.BitsPerKey,
		"--queries": o.Queries, "--rounds": o.Rounds, "--cores": o.Cores,
	} {
		if value < 1 {
			return fmt.Errorf("%s: %d is less than 1", name, value)
		}
	}
	if most := 1 << 28; slices.Max(append([]int{o.Queries}, o.Sizes...)) > most {
		return fmt.Errorf("more than %d keys", most)
	}
	if !slices.Contains(libraries, o.Reference) {
		return fmt.Errorf("--reference: %q is none of %s", o.Reference, strings.Join(libraries, ", "))
	}
	for _, path := range []string{o.Markdown, o.JSON} {
		if path == "" {
			continue
		}
		// A file appears by renaming, which would replace a device.
		switch info, err := os.Lstat(path); {
		case err == nil && !info.Mode().IsRegular():
			return fmt.Errorf("%s: not a regular file", path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}
