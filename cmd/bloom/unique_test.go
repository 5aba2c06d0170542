package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/records"
)

// TestUniqueVerify compares what is printed with a map, for every flag. There are enough lines for hundreds
// of false positives of the filters of the first look.
func TestUniqueVerify(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	dir := t.TempDir()
	keys := make([]string, 200_000)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", random.IntN(150_000))
	}
	for _, form := range []struct {
		line  string
		flags tableFlags
	}{
		{"%[2]s\n", tableFlags{}},
		{"\"%[1]d\n\",\"%[2]s\"\n", tableFlags{Field: "2", CSV: true}},
		{"{\"n\":%[1]d,\"key\":[\"%[2]s\"]}\n", tableFlags{Field: "key.0", JSONL: true}},
	} {
		if testing.Short() && form.flags.Field != "" {
			continue
		}
		var text bytes.Buffer
		want := map[bool]*bytes.Buffer{false: {}, true: {}}
		lines := map[bool]int{}
		old := map[string]bool{}
		for i, key := range keys {
			line := fmt.Sprintf(form.line, i, key)
			text.WriteString(line)
			want[old[key]].WriteString(line)
			lines[old[key]]++
			old[key] = true
		}
		path := filepath.Join(dir, "lines")
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, repeated := range []bool{false, true} {
			command := uniqueCommand{Verify: true, Repeated: repeated, Files: []cli.Input{cli.Input(path)}}
			command.tableFlags = form.flags
			if got := output(t, &command); !bytes.Equal(got, want[repeated].Bytes()) {
				t.Errorf("%+v, repeated %v: %d bytes of output, want %d", form.flags, repeated, len(got), want[repeated].Len())
			}
			command.Count = true
			if got := output(t, &command); string(got) != fmt.Sprintln(lines[repeated]) {
				t.Errorf("%+v, repeated %v: counted %q, want %d", form.flags, repeated, got, lines[repeated])
			}
		}
	}
}

// TestSeenKeys adds keys, random ones and numbers, to sets of low and high rates. No key that came before may be
// new. Of new ones no more than the rate may be taken for old, and no more than is expected.
func TestSeenKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	const n = 600_000 // keys of four sets
	for _, rate := range []float64{1e-6, 1e-4, 0.01, 0.3} {
		if testing.Short() && rate != 0.01 {
			continue
		}
		for name, key := range map[string]func(i int) string{
			"random":  func(int) string { return fmt.Sprint(random.Uint64(), random.Uint64()) },
			"numbers": func(i int) string { return fmt.Sprint(i) },
			"padded":  func(i int) string { return fmt.Sprintf("user-%08d", 7*i) },
		} {
			known := seenKeys{rate: rate}
			missing := 0
			for i := 0; i < n; i += 10_000 {
				column := make([]string, 10_000)
				for j := range column {
					column[j] = key(i + j)
				}
				twice := bloom.Strings(append(column, column...)).Hashed(bloom.Default)
				hits := make([]uint64, (twice.Len()+63)/64)
				if err := known.add(twice, hits); err != nil {
					t.Fatal(err)
				}
				for j := range column {
					missing += int(hits[j/64] >> (j % 64) & 1)
					if again := len(column) + j; hits[again/64]>>(again%64)&1 == 0 {
						t.Fatalf("rate %v, %s: %q is new twice", rate, name, column[j])
					}
				}
			}
			most := func(mean float64) float64 { return mean + 5*math.Sqrt(mean) + 1 }
			switch {
			case known.missing > rate*n:
				t.Errorf("rate %v, %s: %v keys of %d are expected to be missing", rate, name, known.missing, n)
			case float64(missing) > most(known.missing):
				t.Errorf("rate %v, %s: %d keys of %d are missing, and at most %.2f are expected", rate, name, missing, n, known.missing)
			case rate > 0.001 && missing == 0 || known.added != n-missing || len(known.full) != 3:
				t.Errorf("rate %v, %s: %d keys are missing, %d were added to %d sets", rate, name, missing, known.added, len(known.full)+1)
			}
		}
	}
}

// TestFullFile wants no more keys to be missing than the rate says when those of a run are far more than the file has room for,
// in every format.
func TestFullFile(t *testing.T) {
	const rate, n = 0.02, 50_000
	column := make([]string, n)
	for i := range column {
		column[i] = fmt.Sprint("line ", i)
	}
	for _, format := range bloom.Formats() {
		for _, room := range []int{1000, 20_000} {
			set, err := bloom.Policy{Format: format, BitsPerKey: 16}.NewSet(room)
			if err != nil {
				t.Fatal(err)
			}
			stats := set.Stats()
			known := newSeenKeys(rate, seenSet{set, stats.Bits, stats.Probes, 0}, seenSet{emptyLike(set), stats.Bits, stats.Probes, 0})
			hits := make([]uint64, (n+63)/64)
			if err := known.add(bloom.Strings(column).Hashed(format), hits); err != nil {
				t.Fatal(err)
			}
			if missing := n - known.added; float64(missing) > rate*n || known.missing > rate*n {
				t.Errorf("%v, room for %d: %d keys of %d are missing, %.0f are expected to be", format, room, missing, n, known.missing)
			}
		}
	}
}

// TestShares wants the rates of many sets not to exceed the rate.
func TestShares(t *testing.T) {
	known, sum := seenKeys{rate: 1e-3}, 0.
	for set := range 40 {
		sum += known.share(set)
		if share := known.share(set); share <= 0 || sum > known.rate {
			t.Fatalf("set %d has the rate %v, and all have %v", set, share, sum)
		}
	}
}

// TestUniqueRecords compares records of several keys with a loop, for every flag. Many have a key twice, and
// the second copy is as new as the first.
func TestUniqueRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	lines := make([][]string, 20_000) // of keys
	var text bytes.Buffer
	for i := range lines {
		n := 1 + random.IntN(4)
		if i%1000 == 0 {
			n = 100
		}
		for range n {
			lines[i] = append(lines[i], fmt.Sprint("u", random.IntN(3*i+10)))
		}
		if random.IntN(3) == 0 {
			lines[i] = append(lines[i], lines[i][0])
		}
		fmt.Fprintln(&text, strings.Join(lines[i], " "))
	}
	path := cli.Input(filepath.Join(t.TempDir(), "lines"))
	if err := os.WriteFile(string(path), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	match := new(records.Matcher)
	if err := match.UnmarshalText([]byte(`u\d+`)); err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		for _, repeated := range []bool{false, true} {
			var want bytes.Buffer
			old := map[string]bool{}
			for _, keys := range lines {
				isOld := func(key string) bool { return old[key] }
				isNew := func(key string) bool { return !old[key] }
				passes := slices.ContainsFunc(keys, isNew)
				if all {
					passes = !slices.ContainsFunc(keys, isOld)
				}
				if passes != repeated {
					fmt.Fprintln(&want, strings.Join(keys, " "))
				}
				for _, key := range keys {
					old[key] = true
				}
			}
			for _, verify := range []bool{false, true} {
				command := uniqueCommand{Verify: verify, Repeated: repeated, Quiet: true, Files: []cli.Input{path}}
				command.Match, command.All = match, all
				if got := output(t, &command); !bytes.Equal(got, want.Bytes()) {
					t.Errorf("all %v, repeated %v, verify %v: %d bytes of output, want %d", all, repeated, verify, len(got), want.Len())
				}
			}
		}
	}
}
