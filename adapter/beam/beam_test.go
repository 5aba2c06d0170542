package bloombeam

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/lanebloom/bloom"
)

// TestBuildAndFilter builds filters of several formats and sizes, compares their bytes with those of a
// set in one process, and wants what that set passes.
func TestBuildAndFilter(t *testing.T) {
	for _, test := range []struct {
		policy          bloom.Policy
		parts, perPart  int // of the known elements
		capacity, tests int
	}{
		{ten, 1, 1, 1, 10_000},
		{bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10}, 10, 100, 1000, 10_000},
		{bloom.Policy{Format: bloom.Parquet, BitsPerKey: 8}, 1, batchKeys, batchKeys, 10_000},
		{ten, 8, 5000, 50_000, 40_000},
		{bloom.Policy{Format: bloom.Nori, BitsPerKey: 10}, 4, 3000, 12_000, 20_000},
		{bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 12}, 4, 3000, 12_000, 20_000},
	} {
		known := test.parts * test.perPart
		want := inOneProcess(t, test.policy, test.capacity, known)
		out := run(t, func(s beam.Scope) {
			filter := BuildFilter(s, test.policy, test.capacity, count(s, test.parts, test.perPart), number{"id"})
			collect(s, "filter", filter)
			collect(s, "rest", Filter(s, filter, beam.ParDo(s, timedFn{}, count(s, 4, test.tests/4)), number{"id"}))
		})
		file, err := want.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if len(out["filter"]) != 1 || !bytes.Equal(out["filter"][0].key.([]byte), file) {
			t.Errorf("%v: %d filters, or another than that of one process", test, len(out["filter"]))
		}
		if got := numbers(out["rest"]); !slices.Equal(got, passing(want, test.tests)) {
			t.Errorf("%v: %d numbers pass, want %d", test, len(got), len(passing(want, test.tests)))
		}
		for _, r := range out["rest"] {
			if r.time != beam.EventTime(r.key.(int)) {
				t.Fatalf("%v: element %d has the time %v", test, r.key, r.time)
			}
		}
	}
}

// TestNothingKnown filters by the filter of no elements: nothing passes.
func TestNothingKnown(t *testing.T) {
	out := run(t, func(s beam.Scope) {
		filter := BuildFilter(s, ten, 100, count(s, 3, 0), number{"id"})
		collect(s, "rest", Filter(s, filter, count(s, 2, 5000), number{"id"}))
	})
	if len(out["rest"]) != 0 {
		t.Errorf("%d elements pass the filter of no elements", len(out["rest"]))
	}
}

// TestElements filters events by their users, strings and byte slices.
func TestElements(t *testing.T) {
	out := run(t, func(s beam.Scope) {
		users := BuildFilter(s, ten, 3, beam.Create(s, "user2", "user5", "user7"), String{})
		collect(s, "events", Filter(s, users, beam.ParDo(s, eventsOf, count(s, 1, 9)), userOf{}))
		collect(s, "strings", Filter(s, users, beam.Create(s, "user5", "user6"), String{}))
		of := BuildFilter(s, ten, 2, beam.Create(s, []byte("a"), []byte("b")), Bytes{})
		collect(s, "bytes", Filter(s, of, beam.Create(s, []byte("b"), []byte("c")), Bytes{}))
	})
	var got []string
	for _, name := range []string{"events", "strings", "bytes"} {
		rows := []string{}
		for _, r := range out[name] {
			rows = append(rows, fmt.Sprintf("%s", r.key))
		}
		slices.Sort(rows)
		got = append(got, rows...)
	}
	want := []string{"{user2 %!s(int=4)}", "{user5 %!s(int=10)}", "{user7 %!s(int=14)}", "user5", "b"}
	if !slices.Equal(got, want) {
		t.Errorf("what passes: %q, want %q", got, want)
	}
}

// TestWindows filters numbers whose times are the numbers themselves, in milliseconds. The filter is of the same
// windows, or of the global one.
func TestWindows(t *testing.T) {
	const n = 300
	policy := bloom.Policy{Format: bloom.Nori, BitsPerKey: 30} // no false positives
	fixed, sliding := window.NewFixedWindows(100*time.Millisecond), window.NewSlidingWindows(50*time.Millisecond, 100*time.Millisecond)
	for _, test := range []struct {
		name    string
		windows *window.Fn
		global  bool // the filter is of the global window
		pairs   bool
		rows    int // known numbers are tens below 200, so that there are windows without any
	}{
		{"fixed", fixed, false, false, 20},
		{"fixed, filter of the global window", fixed, true, true, 20},
		{"sliding", sliding, false, true, 40},
	} {
		out := run(t, func(s beam.Scope) {
			col := beam.WindowInto(s, test.windows, beam.ParDo(s, timedFn{}, count(s, 3, n/3)))
			tens := beam.ParDo(s, timesTen, count(s, 2, 10))
			if !test.global {
				tens = beam.WindowInto(s, test.windows, tens)
			}
			filter := BuildFilter(s, policy, 1000, tens, number{"id"})
			if test.pairs {
				collectKV(s, "rest", FilterKV(s, filter, beam.ParDo(s, bySelf, col), number{"id"}))
			} else {
				collect(s, "rest", Filter(s, filter, col, number{"id"}))
			}
		})
		if len(out["rest"]) != test.rows {
			t.Errorf("%s: %d rows pass, want %d", test.name, len(out["rest"]), test.rows)
		}
		for _, r := range out["rest"] {
			i := r.key.(int)
			if i%10 != 0 || i >= 200 || r.time != beam.EventTime(i) || test.pairs && r.value != fmt.Sprint(i) {
				t.Errorf("%s: %+v passes", test.name, r)
			}
			if !strings.HasPrefix(r.window, "[") {
				t.Errorf("%s: %d is in the window %s", test.name, i, r.window)
			}
		}
	}
}

// timesTen multiplies a number and its time by ten.
func timesTen(i int, emit func(beam.EventTime, int)) { emit(beam.EventTime(10*i), 10*i) }

// ordersOf makes pairs of a number and its orders: one for every third of the first thousand.
func ordersOf(i int, emit func(int, string)) {
	if i%3 == 0 {
		emit(i, fmt.Sprint("order", i))
	}
}

// joinFn emits a row for each pair of two groups, and counts groups without the left.
func joinFn(i int, left, right func(*string) bool, emit func(int, string)) {
	var l, r string
	var lefts []string
	for left(&l) {
		lefts = append(lefts, l)
	}
	if len(lefts) == 0 {
		emit(-1, "")
		return
	}
	rows := 0
	for right(&r) {
		for _, l := range lefts {
			emit(i, l+" "+r)
			rows++
		}
	}
	if rows == 0 {
		emit(i, lefts[0])
	}
}

// TestSparseJoin joins 1,000 orders and 30,000 numbers, and compares the rows with those of CoGroupByKey.
func TestSparseJoin(t *testing.T) {
	out := run(t, func(s beam.Scope) {
		orders := beam.ParDo(s, ordersOf, count(s, 3, 1000))
		orders = beam.Flatten(s, orders, beam.ParDo(s, bySelf, beam.Create(s, 99, 99, 1_000_000))) // two more, and one of no number
		numbers := beam.ParDo(s, bySelf, count(s, 3, 10_000))
		collectKV(s, "sparse", beam.ParDo(s, joinFn, SparseJoin(s, ten, 1003, orders, numbers, number{"id"})))
		collectKV(s, "exact", beam.ParDo(s, joinFn, beam.CoGroupByKey(s, orders, numbers)))
	})
	rows := map[string][]string{}
	alone := map[string]int{} // groups without an order
	for name, of := range out {
		for _, r := range of {
			if r.key == -1 {
				alone[name]++
				continue
			}
			// The order of a group's elements is not fixed.
			rows[name] = append(rows[name], fmt.Sprint(r.key, strings.Fields(r.value.(string))[1:]))
		}
		slices.Sort(rows[name])
	}
	if len(rows["exact"]) != 1003 || !slices.Equal(rows["sparse"], rows["exact"]) {
		t.Errorf("%d rows of the sparse join, %d of the exact one", len(rows["sparse"]), len(rows["exact"]))
	}
	if alone["exact"] != 29_000 || alone["sparse"] > 29_000/50 {
		t.Errorf("%d groups without an order in the sparse join, %d in the exact one", alone["sparse"], alone["exact"])
	}
}

// TestFilterFile filters by a file, in both windows.
func TestFilterFile(t *testing.T) {
	set := inOneProcess(t, ten, 1000, 1000)
	encoded, err := set.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "known.bloom")
	writeFile(t, path, encoded)
	pipeline := func(s beam.Scope) {
		col := count(s, 4, 3000)
		collect(s, "global", Filter(s, FilterFile(s, path), col, number{"id"}))
		collect(s, "windows", Filter(s, FilterFile(s, path), beam.WindowInto(s, window.NewFixedWindows(time.Hour), col), number{"id"}))
	}
	out := run(t, pipeline)
	for name, rows := range out {
		if got := numbers(rows); !slices.Equal(got, passing(set, 12_000)) {
			t.Errorf("%s: %d numbers pass, want %d", name, len(got), len(passing(set, 12_000)))
		}
	}
	if len(out) != 2 {
		t.Errorf("%d outputs", len(out))
	}
	encoded[len(encoded)-1] ^= 1
	path = filepath.Join(t.TempDir(), "damaged.bloom") // another one: with the header of the first, whose filter may still be in memory
	writeFile(t, path, encoded)
	if _, err := tryRun(pipeline); err == nil || !strings.Contains(err.Error(), "lanebloom.Filter") {
		t.Errorf("a damaged file: %v", err)
	}
}

// TestOtherKind filters strings by files of filters that have text, numbers, and keys of an unknown kind, in both windows.
func TestOtherKind(t *testing.T) {
	filter := inOneProcess(t, ten, 1000, 1000).Filter()
	for _, kind := range []bloom.KeyKind{bloom.KindUnknown, bloom.KindText, "INT64"} {
		of, err := filter.WithKeyKind(kind)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := of.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "known.bloom")
		writeFile(t, path, encoded)
		for name, where := range map[string]func(beam.Scope, beam.PCollection) beam.PCollection{
			"global": func(_ beam.Scope, col beam.PCollection) beam.PCollection { return col },
			"windows": func(s beam.Scope, col beam.PCollection) beam.PCollection {
				return beam.WindowInto(s, window.NewFixedWindows(time.Hour), col)
			},
		} {
			out, err := tryRun(func(s beam.Scope) {
				collect(s, "known", Filter(s, FilterFile(s, path), where(s, beam.Create(s, "id7", "unknown key")), String{}))
			})
			if kind == "INT64" {
				if err == nil || !strings.Contains(err.Error(), "of the kind INT64") {
					t.Errorf("%s, a filter of %q: %d rows, %v", name, kind, len(out["known"]), err)
				}
			} else if err != nil || len(out["known"]) != 1 {
				t.Errorf("%s, a filter of %q: %v, %v", name, kind, out["known"], err)
			}
		}
	}
	encoded, err := (&buildFn[string, String]{Policy: ten, Capacity: 10}).ExtractOutput(new(accumulator))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := bloom.OpenBinary(encoded); err != nil || f.KeyKind() != bloom.KindText {
		t.Errorf("the filter of strings is of the kind %q, %v", f.KeyKind(), err)
	}
}

func TestCapacity(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, bloom.ErrCapacity) {
			t.Errorf("BuildFilter panics with %v", err)
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	BuildFilter(s, ten, -1, beam.Create(s, "a"), String{})
}

// TestSaved wants the policy and the Keyer in what Beam sends to workers.
func TestSaved(t *testing.T) {
	for _, test := range []struct {
		fn   any
		want string
	}{
		{&buildFn[int, number]{Policy: ten, Capacity: 7, Key: number{"id"}}, `{"Policy":{"Format":"leveldb","BitsPerKey":10},"Capacity":7,"Key":{"Prefix":"id"}}`},
		{&filterFn[int, number]{Key: number{"id"}}, `{"Key":{"Prefix":"id"}}`},
	} {
		if got := mustJSON(t, test.fn); got != test.want {
			t.Errorf("%T is saved as %s, want %s", test.fn, got, test.want)
		}
	}
}
