package bloombeam

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/lanebloom/bloom"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	Register(number{})
	Register(userOf{})
	beam.RegisterType(reflect.TypeFor[event]())
	for _, fn := range []any{
		reflect.TypeFor[countFn](), reflect.TypeFor[timedFn](), reflect.TypeFor[collectFn](), reflect.TypeFor[collectKVFn](), eventsOf, bySelf, timesTen, ordersOf, joinFn,
	} {
		beam.RegisterDoFn(fn)
	}
	register.Emitter1[int]()
	register.Emitter1[event]()
	register.Emitter2[beam.EventTime, int]()
	register.Emitter2[int, string]()
}

// number is the Keyer of integers: their digits after a prefix that is saved with it.
type number struct{ Prefix string }

func (n number) AppendKey(dst []byte, i int) []byte {
	return fmt.Appendf(append(dst, n.Prefix...), "%d", i)
}

// event is a row of a user.
type event struct {
	User string
	N    int
}

// userOf is the Keyer of events by their users.
type userOf struct{}

func (userOf) AppendKey(dst []byte, e event) []byte { return append(dst, e.User...) }

// eventsOf emits an event of the user that a number names.
func eventsOf(i int, emit func(event)) { emit(event{fmt.Sprint("user", i), 2 * i}) }

// countFn emits N numbers for each element.
type countFn struct{ N int }

func (f *countFn) ProcessElement(part int, emit func(int)) {
	for i := range f.N {
		emit(part*f.N + i)
	}
}

// count returns the numbers from 0 up to parts·n, which come from several bundles.
func count(s beam.Scope, parts, n int) beam.PCollection {
	of := make([]int, parts)
	for i := range of {
		of[i] = i
	}
	return beam.ParDo(s, &countFn{n}, beam.Reshuffle(s, beam.CreateList(s, of)))
}

// timedFn gives number i the time i.
type timedFn struct{}

func (timedFn) ProcessElement(i int, emit func(beam.EventTime, int)) { emit(beam.EventTime(i), i) }

// bySelf makes pairs of a number and its digits.
func bySelf(i int, emit func(int, string)) { emit(i, fmt.Sprint(i)) }

// collected has what came out of pipelines, under the names of outputs. Workers are in this process.
var collected struct {
	sync.Mutex
	of map[string][]row
}

// row is an element that came out of a pipeline.
type row struct {
	window string
	time   beam.EventTime
	key    any
	value  any
}

func add(name string, r row) {
	collected.Lock()
	defer collected.Unlock()
	collected.of[name] = append(collected.of[name], r)
}

type collectFn struct{ Name string }

func (f *collectFn) ProcessElement(w beam.Window, t beam.EventTime, x beam.X) {
	if b, ok := x.([]byte); ok {
		x = slices.Clone(b)
	}
	add(f.Name, row{fmt.Sprint(w), t, x, nil})
}

type collectKVFn struct{ Name string }

func (f *collectKVFn) ProcessElement(w beam.Window, t beam.EventTime, x beam.X, y beam.Y) {
	add(f.Name, row{fmt.Sprint(w), t, x, y})
}

func collect(s beam.Scope, name string, col beam.PCollection) { beam.ParDo0(s, &collectFn{name}, col) }
func collectKV(s beam.Scope, name string, col beam.PCollection) {
	beam.ParDo0(s, &collectKVFn{name}, col)
}

// run runs a pipeline on Prism, and returns what was collected.
func run(t *testing.T, build func(s beam.Scope)) map[string][]row {
	t.Helper()
	out, err := tryRun(build)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryRun(build func(s beam.Scope)) (map[string][]row, error) {
	collected.of = map[string][]row{}
	p, s := beam.NewPipelineWithRoot()
	build(s)
	_, err := beam.Run(context.Background(), ptest.DefaultRunner(), p)
	return collected.of, err
}

// numbers returns the keys of the rows, in ascending order.
func numbers(rows []row) []int {
	of := make([]int, len(rows))
	for i, r := range rows {
		of[i] = r.key.(int)
	}
	slices.Sort(of)
	return of
}

// inOneProcess returns the set of the first n numbers.
func inOneProcess(t *testing.T, policy bloom.Policy, capacity, n int) *bloom.Set {
	t.Helper()
	set, err := policy.NewSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		set.Add(number{"id"}.AppendKey(nil, i))
	}
	return set
}

// passing returns the numbers up to n whose keys may be in the set.
func passing(set *bloom.Set, n int) []int {
	pass := []int{}
	for i := range n {
		if set.MayContain(number{"id"}.AppendKey(nil, i)) {
			pass = append(pass, i)
		}
	}
	return pass
}

var ten = bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
