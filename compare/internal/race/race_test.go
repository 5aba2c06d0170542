package race

import (
	"bytes"
	"errors"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

// slow returns a way that takes some time a run by its own clock.
func slow(name string, took time.Duration, answer int) *Way {
	return &Way{Name: name, Run: func(int) (int, error) { return answer, nil }, Took: func() time.Duration { return took }}
}

// TestRun wants a time of every round but the first, readiness before each run, and ratios of the same round.
func TestRun(t *testing.T) {
	a, b := slow("a", 4000, 7), slow("b", 1000, 7)
	var ready, ran []int
	b.Ready = func(round int) error { ready = append(ready, round); return nil }
	b.Run = func(round int) (int, error) { ran = append(ran, round); return 7, nil }
	if err := (Race{Rounds: 10, Operations: 100}).Run(a, b); err != nil {
		t.Fatal(err)
	}
	if len(a.Ns) != 10 || len(ready) != 11 || len(ran) != 11 || ready[0] != 0 || ran[10] != 10 {
		t.Errorf("%d rounds, ready for %v, ran %v", len(a.Ns), ready, ran)
	}
	if got, want := b.Beside("x", a), (Figure{Name: "x", Ns: 10, X: 4, Low: 4, High: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := a.Figure("y"), (Figure{Name: "y", Ns: 40, Low: 40, High: 40}); got != want || a.Least() != 40 {
		t.Errorf("%+v, want %+v; the least is %v", got, want, a.Least())
	}
}

// TestClock wants the time of the race's clock, of the run alone.
func TestClock(t *testing.T) {
	now := time.Duration(0)
	w := &Way{Name: "a", Ready: func(int) error { now += 100; return nil }, Run: func(int) (int, error) { now += 5; return 0, nil }}
	if err := (Race{Rounds: 3, Operations: 1, Clock: func() time.Duration { return now }}).Run(w); err != nil || w.Least() != 5 || len(w.Ns) != 3 {
		t.Errorf("%v: %v", w.Ns, err)
	}
}

// TestTime wants five rounds even if the time is over.
func TestTime(t *testing.T) {
	w := slow("a", 1, 0)
	if err := (Race{Rounds: 50, Operations: 1, Time: 1}).Run(w); err != nil || len(w.Ns) != leastRounds {
		t.Errorf("%d rounds: %v", len(w.Ns), err)
	}
}

// TestCold wants the first round to count.
func TestCold(t *testing.T) {
	w := slow("a", 1, 0)
	if err := (Race{Rounds: 2, Operations: 1, Cold: true}).Run(w); err != nil || len(w.Ns) != 2 {
		t.Errorf("%d rounds: %v", len(w.Ns), err)
	}
}

// TestErrors wants the error of a way, and other answers found.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	err := (Race{Rounds: 1, Operations: 1}).Run(slow("a", 1, 1), &Way{Name: "b", Run: func(int) (int, error) { return 1, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "b: ") {
		t.Error(err)
	}
	err = (Race{Rounds: 1, Operations: 1}).Run(slow("a", 1, 1), &Way{Name: "b", Ready: func(int) error { return broken }, Run: func(int) (int, error) { return 1, nil }})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := (Race{Rounds: 1, Operations: 1}).Run(slow("a", 1, 1), slow("b", 1, 2)); err == nil || err.Error() != "b answers 2, and a 1" {
		t.Error(err)
	}
	if err := (Race{Rounds: 1, Operations: 1, Differ: true}).Run(slow("a", 1, 1), slow("b", 1, 2)); err != nil {
		t.Error(err)
	}
}

// TestPrint wants the same figures back from what is printed.
func TestPrint(t *testing.T) {
	f := Figures{Config: map[string]string{"cpu": "A B"}}
	f.Add(Figure{Name: "A/b=x, y", Ns: 12.5}, Figure{Name: "A/b=2%", Ns: 2.5e6, X: 6.25, Low: 6, High: 7, Rate: 0.0000012, Bits: 10, MB: 3, Allocs: 1}, Figure{Name: "B"})
	var out bytes.Buffer
	if err := f.Print(&out); err != nil {
		t.Fatal(err)
	}
	const want = "cpu: A B\nBenchmarkA/b=x,_y 1 12.5 ns/op\n" +
		"BenchmarkA/b=2% 1 2500000 ns/op 6.25 x 6 p10 7 p90 0.0000012 rate 10 bits/key 3 MB 1 allocs/op\nBenchmarkB 1 0 rate\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if back, err := Read(&out); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("%+v: %v", back, err)
	}
}

// TestRead reads what Go's benchmarks and bloom bench print.
func TestRead(t *testing.T) {
	const out = "goos: linux\n" +
		"BenchmarkGroup/format=rocksdb/hits=0/kernel=avx512-2 \t 1\t 472321935 keys/s\t 2.117 ns/key\t 2.725 x-p10\t 2.8 x-p90\t 2.7549 x-ref\n" +
		"BenchmarkTest/way=plain-loop\t99\t16.7 ns/key\t16.5 ns/key-p10\t17.5 ns/key-p90\n" +
		"BenchmarkAtomicSet/goroutines=1-2 \t 1\t 34.69 add-atomic-ns/key\t 27.60 add-mutex-ns/key\nBenchmarkOther 1 2 GB/s\nPASS\n"
	f, err := Read(strings.NewReader(out))
	want := Figures{map[string]string{"goos": "linux"}, []Figure{
		{Name: "Group/format=rocksdb/hits=0/kernel=avx512", Ns: 2.12, X: 2.75, Low: 2.73, High: 2.8},
		{Name: "Test/way=plain-loop", Ns: 16.7, Low: 16.5, High: 17.5},
		{Name: "AtomicSet/goroutines=1/way=add-atomic", Ns: 34.7},
		{Name: "AtomicSet/goroutines=1/way=add-mutex", Ns: 27.6},
	}}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("read %+v, want %+v: %v", f, want, err)
	}
	if _, err := Read(strings.NewReader("BenchmarkA 1 x ns/op\n")); err == nil {
		t.Error("no error for a time that is no number")
	}
}

// TestOutput runs a command that prints, and one that fails.
func TestOutput(t *testing.T) {
	if out, mb, err := Output(exec.Command("echo", "a")); err != nil || string(out) != "a\n" || mb < 1 || mb > 1000 {
		t.Errorf("%q, %v MB: %v", out, mb, err)
	}
	if _, _, err := Output(exec.Command("sh", "-c", "echo broken; false")); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a command that fails: %v", err)
	}
}

func TestTable(t *testing.T) {
	table := NewTable("", "ns", "<words")
	table.Row("a", Digits(0.994), Digits(9.94))
	table.Row("b", Digits(9.96), Thousands(1234567))
	if got, want := table.String(), "|  | ns | words |\n|---|---:|---|\n| a | 0.99 | 9.9 |\n| b | 10 | 1,234,567 |\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
