package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRun wants a figure of each time, a drop of the caches before each cold one, and no file that stays.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	const rounds = 2
	drops := 0
	figures, err := run(20, rounds, func() error { drops++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 2*2*(rounds+1); drops != want { // first, and for each number of keys and each way; one round warms up
		t.Errorf("the caches were dropped %d times, want %d", drops, want)
	}
	if len(figures.List) != 1+2*2*2 {
		t.Errorf("there are %d figures", len(figures.List))
	}
	for _, f := range figures.List {
		if f.Ns <= 0 {
			t.Errorf("%+v", f)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%q stay: %v", left, err)
	}
}

// TestHasAll asks for row groups that are in an answer, and for others.
func TestHasAll(t *testing.T) {
	const answer = "a.parquet\t1\t4000\t1\t0.01\nb.parquet\t12\t4000\t1\t0.01\tchance\n"
	for _, c := range []struct {
		places []string
		ok     bool
	}{
		{[]string{"a.parquet\t1"}, true},
		{[]string{"a.parquet\t1", "b.parquet\t12"}, true},
		{[]string{"b.parquet\t1"}, false},
		{[]string{"a.parquet\t1", "c.parquet\t12"}, false},
		{nil, false},
	} {
		places := map[string]bool{}
		for _, place := range c.places {
			places[place] = true
		}
		if err := hasAll(answer, places); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.places, err)
		}
	}
}

// TestDropCaches wants the error of a process that may not drop them to say what it lacks.
func TestDropCaches(t *testing.T) {
	if err := dropCaches(filepath.Join(t.TempDir(), "none", "drop_caches")); err == nil || !strings.Contains(err.Error(), "root") {
		t.Errorf("the error is %v", err)
	}
}
