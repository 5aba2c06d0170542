//go:build unix

package bloombeam

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	Register(eight{})
	registerMethod("ProcessElement", func(f *drain) reflectx.Func { return call1[int]{f.ProcessElement} })
	registerMethod("ProcessElement", func(f *mapFn) reflectx.Func {
		return call3[int, filtersOf, func(int)]{f.ProcessElement}
	})
	registerMethod("ProcessElement", func(f *lessFn) reflectx.Func { return call3[int, filters, func(int)]{f.ProcessElement} })
	beam.RegisterFunction(groups)
	register.Iter1[int]()
	register.Iter1[bool]()
	register.Emitter2[int, bool]()
	beam.RegisterFunction(paired)
}

// call1 and call3 are as call2.
type call1[A any] struct{ f func(A) }

func (c call1[A]) Name() string       { return reflectx.FunctionName(c.f) }
func (c call1[A]) Type() reflect.Type { return reflect.TypeOf(c.f) }
func (c call1[A]) Call(a []any) []any { c.Call1x0(a[0]); return nil }
func (c call1[A]) Call1x0(a any)      { c.f(a.(A)) }

type call3[A, B, C any] struct{ f func(A, B, C) }

func (c call3[A, B, C]) Name() string        { return reflectx.FunctionName(c.f) }
func (c call3[A, B, C]) Type() reflect.Type  { return reflect.TypeOf(c.f) }
func (c call3[A, B, C]) Call(a []any) []any  { c.Call3x0(a[0], a[1], a[2]); return nil }
func (c call3[A, B, C]) Call3x0(a, b, x any) { c.f(a.(A), b.(B), x.(C)) }

// drained counts the elements that came out of a pipeline.
var drained atomic.Int64

type drain struct{}

func (*drain) ProcessElement(int) { drained.Add(1) }

// mapFn filters exactly, by a map of the side input.
type mapFn struct{ known map[int]struct{} }

type filtersOf = func() func(*int) bool

func (f *mapFn) StartBundle(filtersOf, func(int)) { f.known = nil }

func (f *mapFn) ProcessElement(i int, side filtersOf, emit func(int)) {
	if f.known == nil {
		f.known = map[int]struct{}{}
		next := side()
		for k := 0; next(&k); {
			f.known[k] = struct{}{}
		}
	}
	if _, ok := f.known[i]; ok {
		emit(i)
	}
}

// eight is the Keyer of numbers by their 8 bytes.
type eight struct{}

func (eight) AppendKey(dst []byte, i int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(i))
}

// lessFn emits the numbers below N: what Beam takes for a DoFn that does next to nothing.
type lessFn struct{ N int }

func (f *lessFn) ProcessElement(i int, _ filters, emit func(int)) {
	if i < f.N {
		emit(i)
	}
}

// paired makes a pair, whose value says nothing.
func paired(i int, emit func(int, bool)) { emit(i, true) }

// groups emits the elements of groups that have a left.
func groups(i int, left, right func(*bool) bool, emit func(int)) {
	var b bool
	for known := left(&b); known && right(&b); {
		emit(i)
	}
}

// BenchmarkPipelines filters numbers on Prism in this process. A tenth of them are known. Each round runs a pipeline
// without a filter, and then the one that the sub-benchmark names. The metrics are medians over the rounds:
//
//	µs/row        the time of the pipeline
//	µs/row-more   how much more that is than without a filter
//	cpu-µs/row…   the same of the time of all cores, which other programs on the machine change less
//
// These have the time of starting the pipeline, and of building the filter, the map or the groups, except
// that batches-of-file has a filter that is built already.
func BenchmarkPipelines(b *testing.B) {
	set, err := ten.NewSet(200_000)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 200_000 {
		set.Add(eight{}.AppendKey(nil, i))
	}
	encoded, err := set.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "known.bloom")
	writeFile(b, path, encoded)
	for _, way := range []struct {
		name string
		rows int
		rest func(s beam.Scope, known, rows beam.PCollection) beam.PCollection
	}{
		{"none", 2_000_000, func(_ beam.Scope, _, rows beam.PCollection) beam.PCollection { return rows }},
		{"batches", 2_000_000, func(s beam.Scope, known, rows beam.PCollection) beam.PCollection {
			return Filter(s, BuildFilter(s, ten, 200_000, known, eight{}), rows, eight{})
		}},
		{"comparison", 2_000_000, func(s beam.Scope, _, rows beam.PCollection) beam.PCollection {
			return beam.ParDo(s, &lessFn{200_000}, rows, beam.SideInput{Input: FilterFile(s, path)})
		}},
		{"batches-of-file", 2_000_000, func(s beam.Scope, _, rows beam.PCollection) beam.PCollection {
			return Filter(s, FilterFile(s, path), rows, eight{})
		}},
		{"one-by-one", 2_000_000, func(s beam.Scope, known, rows beam.PCollection) beam.PCollection {
			rows = beam.WindowInto(s, window.NewFixedWindows(1000*time.Hour), rows)
			return Filter(s, BuildFilter(s, ten, 200_000, known, eight{}), rows, eight{})
		}},
		{"map", 2_000_000, func(s beam.Scope, known, rows beam.PCollection) beam.PCollection {
			return beam.ParDo(s, &mapFn{}, rows, beam.SideInput{Input: known})
		}},
		{"cogroupbykey", 100_000, func(s beam.Scope, known, rows beam.PCollection) beam.PCollection {
			return beam.ParDo(s, groups, beam.CoGroupByKey(s, beam.ParDo(s, paired, known), beam.ParDo(s, paired, rows)))
		}},
		{"sparsejoin", 100_000, func(s beam.Scope, known, rows beam.PCollection) beam.PCollection {
			return beam.ParDo(s, groups, SparseJoin(s, ten, 10_000, beam.ParDo(s, paired, known), beam.ParDo(s, paired, rows), eight{}))
		}},
	} {
		b.Run(fmt.Sprintf("%s/rows=%d", way.name, way.rows), func(b *testing.B) {
			pass := func(filtered bool) (wall, cpu float64) {
				drained.Store(0)
				start, startCPU := time.Now(), cpuTime(b)
				_, err := tryRun(func(s beam.Scope) {
					rows := count(s, 8, way.rows/8)
					if filtered {
						rows = way.rest(s, count(s, 8, way.rows/80), rows)
					}
					beam.ParDo0(s, &drain{}, rows)
				})
				took, tookCPU := time.Since(start), cpuTime(b)-startCPU
				n, want := int(drained.Load()), way.rows
				if filtered && way.name != "none" {
					want /= 10
				}
				if err != nil || n < want || n > want+way.rows/10 {
					b.Fatalf("%d of %d rows pass, want %d or some more; error %v", n, way.rows, want, err)
				}
				row := 1000 * float64(way.rows)
				return float64(took.Nanoseconds()) / row, float64(tookCPU.Nanoseconds()) / row
			}
			metrics := map[string][]float64{}
			for b.Loop() {
				wall, cpu := pass(false)
				w, c := pass(true)
				for name, value := range map[string]float64{"µs/row": w, "µs/row-more": w - wall, "cpu-µs/row": c, "cpu-µs/row-more": c - cpu} {
					metrics[name] = append(metrics[name], value)
				}
			}
			b.ReportMetric(0, "ns/op") // the time of a round of both means nothing
			for name, values := range metrics {
				slices.Sort(values)
				b.ReportMetric(values[len(values)/2], name)
			}
		})
	}
}

// cpuTime returns the time that this process has spent on all cores.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
