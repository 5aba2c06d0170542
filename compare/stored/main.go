// Command stored compares what programs do with stored filters of bits-and-blooms with what they can do with
// this library, and prints the tables of docs/bits-and-blooms.md (in compare/):
//
//	go run ./stored programs    the filters of Loki, Tempo, Weaviate and SpiceDB
//	go run ./stored keys        keys one by one and in columns, in a filter that is decoded
//	go run ./stored adds        the same, added
//
// Every filter is made by bits-and-blooms, and every answer of both is compared. A row with a floor must be so many
// times as fast; if one is not, the command says so and fails, unless -figures comes before the table.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

var tables = map[string]func(t *table) error{"programs": programs, "keys": keys, "adds": adds}

func main() {
	figures := flag.Bool("figures", false, "do not fail if a floor is not met")
	flag.Parse()
	if flag.NArg() != 1 || tables[flag.Arg(0)] == nil {
		fmt.Fprintln(os.Stderr, "usage: stored [-figures] programs|keys|adds")
		os.Exit(2)
	}
	t := &table{w: os.Stdout, rounds: 61, keys: 1}
	fmt.Fprintf(t.w, "%s, %s/%s, %s; nanoseconds, medians of %d rounds in one process:\n\n",
		cpuid.CPU.BrandName, runtime.GOOS, runtime.GOARCH, runtime.Version(), t.rounds)
	if err := tables[flag.Arg(0)](t); err != nil {
		fmt.Fprintln(os.Stderr, "stored:", err)
		os.Exit(1)
	}
	if t.slow > 0 && !*figures {
		fmt.Fprintf(os.Stderr, "stored: %d of %d floors are not met\n", t.slow, t.floors)
		os.Exit(1)
	}
}

// table prints rows, and counts the floors and those that are not met.
type table struct {
	w            io.Writer
	rounds       int
	keys         float64 // of a filter: a test takes a small share of their number
	floors, slow int
}

// size returns how many of n keys a filter gets.
func (t *table) size(n int) int { return max(1, int(t.keys*float64(n))) }

func (t *table) head(columns ...string) {
	fmt.Fprintf(t.w, "| %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
}

// row prints what both ways take, how many times as fast the second is, and its floor, and then the other cells.
func (t *table) row(what string, before, after *way, cells ...string) {
	middle, least := after.gain(before)
	floor := ""
	if after.floor > 0 {
		t.floors++
		floor = fmt.Sprint(after.floor)
		if min(middle, least) < after.floor {
			t.slow++
			floor += ", not met"
		}
	}
	cells = append([]string{what, digits(median(before.ns)), digits(median(after.ns)), "×" + digits(middle), "×" + digits(least), floor}, cells...)
	fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
}

// digits writes a number with two digits, and more before the point.
func digits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.0f", x)
}
