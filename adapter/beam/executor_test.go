//go:build unix

package bloombeam

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/coderx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// chain is a bundle as a worker runs it, without a runner: DoFns of numbers, each after the other.
type chain struct {
	b     *testing.B
	units []exec.Unit
	first *exec.ParDo
	next  []exec.Node
}

// before puts a DoFn before the others. It has the side input if that is not nil.
func (c *chain) before(fn any, side exec.SideInputAdapter) {
	doFn, err := graph.NewDoFn(fn)
	if err != nil {
		c.b.Fatal(err)
	}
	custom, err := coderx.NewVarIntZ(reflectx.Int)
	if err != nil {
		c.b.Fatal(err)
	}
	g, number := graph.New(), typex.New(reflectx.Int)
	in, sides := []*graph.Node{g.NewNode(number, window.DefaultWindowingStrategy(), true)}, []exec.SideInputAdapter{}
	if side != nil {
		in = append(in, g.NewNode(typex.New(reflectx.ByteSlice), window.DefaultWindowingStrategy(), true))
		sides = append(sides, side)
	}
	edge, err := graph.NewParDo(g, g.Root(), doFn, in, nil, nil)
	if err != nil {
		c.b.Fatal(err)
	}
	c.first = &exec.ParDo{UID: exec.UnitID(len(c.units)), Fn: edge.DoFn, Inbound: edge.Input, Side: sides, Out: c.next}
	col := &exec.PCollection{
		UID: c.first.UID + 1, Out: c.first, WindowCoder: coder.NewGlobalWindow(),
		Coder: &coder.Coder{Kind: coder.Custom, T: number, Custom: custom},
	}
	c.units, c.next = append(c.units, c.first, col), []exec.Node{col}
}

// Process gives the first DoFn one element. With ID, it makes the chain a root.
func (c *chain) Process(ctx context.Context) ([]*exec.Checkpoint, error) {
	return nil, c.first.ProcessElement(ctx, &exec.FullValue{Elm: 0, Timestamp: mtime.ZeroTimestamp, Windows: window.SingleGlobalWindow})
}

func (c *chain) ID() exec.UnitID            { return -1 }
func (c *chain) Up(context.Context) error   { return nil }
func (c *chain) Down(context.Context) error { return nil }
func (c *chain) StartBundle(ctx context.Context, id string, data exec.DataContext) error {
	return c.first.StartBundle(ctx, id, data)
}
func (c *chain) FinishBundle(ctx context.Context) error { return c.first.FinishBundle(ctx) }

// sideBytes is a side input of one element.
type sideBytes []byte

func (s sideBytes) NewIterable(context.Context, exec.StateReader, typex.Window) (exec.ReStream, error) {
	return &exec.FixedReStream{Buf: []exec.FullValue{{Elm: []byte(s)}}}, nil
}

func (s sideBytes) NewKeyedIterable(context.Context, exec.StateReader, typex.Window, any) (exec.ReStream, error) {
	return nil, errors.ErrUnsupported
}

// BenchmarkExecutor runs DoFns in bundles of 50,000 numbers, by Beam's executor and without a runner. A tenth
// of the numbers are known. A round runs each of them in turn. The metrics are medians over the rounds:
//
//	ns/row-more  how much more time a row takes than without the DoFn
//	times-less   how many times as much that is as for a DoFn that compares two numbers
func BenchmarkExecutor(b *testing.B) {
	const rows = 50_000
	set, err := ten.NewSet(20_000)
	if err != nil {
		b.Fatal(err)
	}
	for i := range rows / 10 {
		set.Add(eight{}.AppendKey(nil, i))
	}
	known, err := set.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	ways := []struct {
		name string
		fn   any
	}{
		{"none", nil},
		{"less", &lessFn{rows / 10}},
		{"batches", &filterFn[int, eight]{}},
		{"one-by-one", &filterWindowsFn[int, eight]{}},
	}
	plans := make([]*exec.Plan, len(ways))
	for i, way := range ways {
		c := &chain{b: b}
		c.before(&drain{}, nil)
		if way.fn != nil {
			c.before(way.fn, sideBytes(known))
		}
		c.before(&countFn{rows}, nil)
		if plans[i], err = exec.NewPlan(way.name, append(c.units, c)); err != nil {
			b.Fatal(err)
		}
	}
	more := make([][]float64, len(ways))
	for b.Loop() {
		var none time.Duration
		for i, plan := range plans {
			drained.Store(0)
			start := time.Now()
			if err := plan.Execute(b.Context(), "bundle", exec.DataContext{}); err != nil {
				b.Fatal(err)
			}
			took := time.Since(start)
			if i == 0 {
				none = took
			} else if n := drained.Load(); n < rows/10 || n > rows/5 {
				b.Fatalf("%s: %d of %d rows pass, want a tenth", ways[i].name, n, rows)
			}
			more[i] = append(more[i], float64((took-none).Nanoseconds())/rows)
		}
	}
	b.ReportMetric(0, "ns/op") // the time of a round of all means nothing
	for i, way := range ways[1:] {
		slices.Sort(more[i+1])
		median := more[i+1][len(more[i+1])/2]
		b.ReportMetric(median, way.name+"-ns/row-more")
		b.ReportMetric(median/more[1][len(more[1])/2], way.name+"-times-less")
	}
}
