package bloombeam_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/lanebloom/bloom"
	bloombeam "github.com/lanebloom/bloom/adapter/beam"
)

// Visit is a row of a log.
type Visit struct{ User, Page string }

// visitor is the Keyer of visits by their users.
type visitor struct{}

func (visitor) AppendKey(dst []byte, v Visit) []byte { return append(dst, v.User...) }

func printVisit(v Visit) { fmt.Println(v.User, v.Page) }

func init() {
	bloombeam.Register(visitor{})
	beam.RegisterType(reflect.TypeFor[Visit]())
	beam.RegisterFunction(printVisit)
}

func Example() {
	slog.SetLogLoggerLevel(slog.LevelError) // Prism tells what it does
	p, s := beam.NewPipelineWithRoot()
	users := beam.Create(s, "ann", "bob")
	visits := beam.Create(s, Visit{"ann", "/news"}, Visit{"eve", "/"}, Visit{"mallory", "/"})

	known := bloombeam.BuildFilter(s, bloom.Policy{BitsPerKey: 10}, 2, users, bloombeam.String{})
	beam.ParDo0(s, printVisit, bloombeam.Filter(s, known, visits, visitor{}))

	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		fmt.Println(err)
	}
	// Output: ann /news
}

type Customer struct{ User, City string }

type Row struct{ City, Page string }

// filterAndJoin is the code of README.md and docs/beam.md.
func filterAndJoin(s beam.Scope, policy bloom.Policy, users, customers, visits, visitsByUser beam.PCollection) [2]beam.PCollection {
	known := bloombeam.BuildFilter(s, policy, 1_000_000, users, bloombeam.String{})
	maybe := bloombeam.Filter(s, known, visits, visitor{}) // no visit of a known user is missing
	return [2]beam.PCollection{maybe, join(s, policy, customers, visitsByUser)}
}

func join(s beam.Scope, policy bloom.Policy, customers, visits beam.PCollection) beam.PCollection {
	joined := bloombeam.SparseJoin(s, policy, 1_000_000, customers, visits, bloombeam.String{}) // KV<string, …> both
	rows := beam.ParDo(s, func(user string, customer func(*Customer) bool, visit func(*Visit) bool, emit func(Row)) {
		var c Customer
		if !customer(&c) {
			return // a false positive
		}
		for v := (Visit{}); visit(&v); {
			emit(Row{c.City, v.Page})
		}
	}, joined)
	return rows
}

var _ = filterAndJoin
