package race

import (
	"bytes"
	"encoding/json"
	"errors"
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

// TestPrint wants the same figures back from JSON, and all of them in the table.
func TestPrint(t *testing.T) {
	f := Figures{Config: map[string]string{"cpu": "A"}}
	f.Add(Figure{Name: "a/b=1", Ns: 12.5}, Figure{Name: "a/b=2", Ns: 2.5e6, X: 6.25, Low: 6, High: 7, Rate: 0.01, MB: 3, Allocs: 1})
	var out bytes.Buffer
	if err := f.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	var back Figures
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Config["cpu"] != "A" || len(back.List) != 2 || back.List[1] != f.List[1] {
		t.Errorf("%+v: %v", back, err)
	}
	out.Reset()
	if err := f.Print(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cpu: A\n", "a/b=1  12.5 ns\n", "a/b=2  2.5ms, ×6.25 (6–7), 1 allocations, 3 MB, 1 % pass\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in\n%s", line, out.String())
		}
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
