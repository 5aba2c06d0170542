// Command falsepositives measures false-positive rates and prints the tables of rates that the documents have
// (in compare/):
//
//	go run ./falsepositives choices       sets that have fewer or more keys than their capacity
//	go run ./falsepositives limits        how many keys filters of a rate can have
//	go run ./falsepositives keys          keys of several shapes, in every format
//	go run ./falsepositives stores        the same in databases of goleveldb and Pebble
//	go run ./falsepositives collisions    which keys have equal hashes in LevelDB's format
//	go run ./falsepositives lines         numbers of lines that Pebble's filters should not have
//	go run ./falsepositives promises      what nori-sstable's documentation promises
//	go run ./falsepositives probes        how many values each probe of LevelDB's format has
//	go run ./falsepositives FORMAT        filters of random hashes
//
// The same tables are printed on every CPU. TestTablesOfDocs compares them with the documents: all, if it is run with -all.
package main

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/internal/race"
)

var sizes = []int{8, 10, 12, 16} // bits per key

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: falsepositives choices|limits|keys|stores|collisions|lines|promises|probes|FORMAT")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "falsepositives:", err)
		os.Exit(2)
	}
}

var commands = map[string]func(w io.Writer) error{
	"choices": choices, "limits": limits, "keys": keys, "stores": stores, "collisions": collisions, "lines": lines, "promises": promises, "probes": probes,
}

func run(w io.Writer, what string) error {
	if command, ok := commands[what]; ok {
		return command(w)
	}
	format, err := bloom.ParseFormat(what)
	if err != nil {
		return err
	}
	randomHashes(w, format)
	return nil
}

// randomHashes prints the rates of a format's filters of random hashes: measured, expected, and how many
// times the textbook's the measured rate is.
func randomHashes(w io.Writer, format bloom.Format) {
	numbers := []int{20, 100, 1000, 10_000, 1_000_000}
	if format == bloom.LevelDB {
		numbers = []int{1000, 10_000, 100_000, 300_000, 1_000_000, 10_000_000}
	}
	head := []string{">keys"}
	for _, b := range sizes {
		head = append(head, fmt.Sprint(b, " bits"))
	}
	t := race.NewTable(head...)
	for _, n := range numbers {
		row := []string{race.Thousands(n)}
		for _, b := range sizes {
			p := bloom.Policy{Format: format, BitsPerKey: b}
			measured := measure(p, n, n)
			row = append(row, fmt.Sprintf("%s (%s), ×%.2f", digits(measured), digits(p.FalsePositiveRate(n)), measured/textbook(p, n)))
		}
		t.Row(row...)
	}
	fmt.Fprint(w, t)
}

// digits writes a share in percent, with two significant digits and without a sign.
func digits(share float64) string {
	digits := 1 - int(math.Floor(math.Log10(max(100*share, 1e-4))))
	return fmt.Sprintf("%.*f", max(digits, 0), 100*share)
}

// lines prints the rates of Pebble's filters of some numbers of lines. Multiples of them are close
// to one of 2^17, except for 10,101.
func lines(w io.Writer) error {
	t := race.NewTable(">lines", "keys at 10 bits", "measured", "expected")
	for _, n := range []int{10_083, 10_101, 21_845, 65_537, 131_073} {
		p, keys := bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10}, 512*n/10
		t.Row(race.Thousands(n), race.Thousands(keys), fmt.Sprintf("%.2f", 100*measure(p, keys, keys)), fmt.Sprintf("%.2f", 100*p.FalsePositiveRate(keys)))
	}
	fmt.Fprint(w, t)
	return nil
}

// textbook returns (1 - e^(-kn/m))^k, and the floor of a 32-bit hash.
func textbook(p bloom.Policy, n int) float64 {
	bits, probes, err := p.Size(n)
	if err != nil {
		panic(err) // the sizes are ours
	}
	floor := 0.0
	if p.Format.HashBits() == 32 {
		floor = float64(n) / (1 << 32)
	}
	return floor + math.Pow(-math.Expm1(-float64(probes)*float64(n)/float64(bits)), float64(probes))
}

// measure returns the share of random hashes that pass filters of n random keys, sized for the capacity: the
// mean of five filters, or of more if they have few keys.
func measure(p bloom.Policy, capacity, n int) (rate float64) {
	filters := 5
	if n <= 1000 {
		filters = 50 // small filters differ much
	}
	for seed := range uint64(filters) {
		set, err := p.NewSet(capacity)
		if err != nil {
			panic(err) // the sizes are ours
		}
		set.AddBatch(randomColumn(p.Format, rand.New(rand.NewPCG(seed, 99)), n))
		rate += set.MeasureRate() / float64(filters)
	}
	return rate
}

// randomColumn returns n random keys, as hashes if the format has a column of hashes.
func randomColumn(format bloom.Format, random *rand.Rand, n int) bloom.Keys {
	if format.HashBits() == 32 {
		hashes := make([]uint32, n)
		for i := range hashes {
			hashes[i] = random.Uint32()
		}
		return format.Hashes32(hashes)
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	return bloom.Integers(keys)
}

// promises prints the rates of the keys that nori-sstable's documentation uses, "key000000" to "key099999",
// beside what it promises. It tests the keys after them.
func promises(w io.Writer) error {
	const n = 100_000
	known, absent := decimals(0, n), decimals(n, n+10_000_000)
	t := race.NewTable(">bits per key", "<promised", "`Nori`: textbook", "measured", "probes", "bytes", "`NoriCrate`: textbook", "measured", "bytes")
	for _, row := range []struct {
		bitsPerKey     int
		promised, hint string
	}{{8, "2.1 %", ""}, {10, "0.9 % in theory, under 1.1 %", ""}, {12, "0.35 %", " (documented: 8)"}, {16, "", ""}} {
		cells := []string{fmt.Sprint(row.bitsPerKey), row.promised}
		for _, format := range []bloom.Format{bloom.Nori, bloom.NoriCrate} {
			p := bloom.Policy{Format: format, BitsPerKey: row.bitsPerKey}
			f := p.NewFilter(known)
			cells = append(cells, fmt.Sprintf("%.3f %%", 100*textbook(p, n)), fmt.Sprintf("%.3f %%", 100*share(f, absent)))
			if format == bloom.Nori {
				cells = append(cells, fmt.Sprint(f.Stats().Probes, row.hint))
			}
			cells = append(cells, race.Thousands(len(f.Bytes())))
		}
		t.Row(cells...)
	}
	fmt.Fprint(w, t)
	return nil
}

func decimals(from, to int) bloom.Keys {
	return column(printed("key%06d").key, func(i int) int { return from + i }, to-from)
}

// probes prints how many values each probe of LevelDB's format takes over all 2^32 hashes. It takes minutes.
func probes(w io.Writer) error {
	seen := make([]uint64, 1<<26)
	for probe := range uint32(6) {
		clear(seen)
		for h := range uint64(1 << 32) {
			p := uint32(h) + probe*bits.RotateLeft32(uint32(h), -17)
			seen[p/64] |= 1 << (p % 64)
		}
		values := 0
		for _, word := range seen {
			values += bits.OnesCount64(word)
		}
		fmt.Fprintf(w, "probe %d takes %d values\n", probe+1, values)
	}
	return nil
}
