// Command processes builds a filter and filters by it in a Beam pipeline, and compares the bytes of the
// filter and all elements that pass with those of this process alone. The script run beside it starts
// Prism and a pool of workers in processes of their own.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/beam"
)

var (
	known = flag.Int("known", 1_000_000, "number of known elements")
	tests = flag.Int("tests", 1_000_000, "number of elements to filter, half of them known")
	out   = flag.String("out", "", "folder that workers write to")
)

// digits is the Keyer of numbers by their digits.
type digits struct{}

func (digits) AppendKey(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(i), 10) }

// numbers emits the numbers of a part: N of them, from First on.
type numbers struct{ First, N int }

func (f *numbers) ProcessElement(part int, emit func(int)) {
	for i := range f.N {
		emit(f.First + part*f.N + i)
	}
}

// save writes a filter to Out, and the worker's process number beside it.
type save struct{ Out string }

func (f *save) ProcessElement(filter []byte) error {
	if err := os.WriteFile(filepath.Join(f.Out, "pid"), strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.Out, "filter"), filter, 0o644)
}

// saveAll writes the numbers of a group to Out, 8 bytes each.
type saveAll struct{ Out string }

func (f *saveAll) ProcessElement(_ int, next func(*int) bool) error {
	var encoded []byte
	for i := 0; next(&i); {
		encoded = binary.LittleEndian.AppendUint64(encoded, uint64(i))
	}
	return os.WriteFile(filepath.Join(f.Out, "passing"), encoded, 0o644)
}

func init() {
	bloombeam.Register(digits{})
	for _, fn := range []any{reflect.TypeFor[numbers](), reflect.TypeFor[save](), reflect.TypeFor[saveAll]()} {
		beam.RegisterDoFn(fn)
	}
	register.Emitter1[int]()
	register.Iter1[int]()
}

const parts = 8

// count returns the numbers from first to nearly first+n, in several bundles.
func count(s beam.Scope, first, n int) beam.PCollection {
	return beam.ParDo(s, &numbers{first, n / parts}, beam.Reshuffle(s, beam.Create(s, 0, 1, 2, 3, 4, 5, 6, 7)))
}

func main() {
	flag.Parse()
	beam.Init() // a worker does not come back
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	policy := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
	first := *known - *tests/2
	p, s := beam.NewPipelineWithRoot()
	filter := bloombeam.BuildFilter(s, policy, *known, count(s, 0, *known), digits{})
	passing := bloombeam.Filter(s, filter, count(s, first, *tests), digits{})
	beam.ParDo0(s, &save{*out}, filter)
	beam.ParDo0(s, &saveAll{*out}, beam.GroupByKey(s, beam.AddFixedKey(s, passing)))
	if _, err := beam.Run(context.Background(), "universal", p); err != nil {
		return err
	}

	set, err := policy.NewSet(*known)
	if err != nil {
		return err
	}
	var key []byte
	for i := range *known {
		key = digits{}.AppendKey(key[:0], i)
		set.Add(key)
	}
	var want []uint64
	for i := first; i < first+*tests; i++ {
		key = digits{}.AppendKey(key[:0], i)
		if set.MayContain(key) {
			want = append(want, uint64(i))
		}
	}
	return compare(set, want)
}

// compare compares what the workers wrote with what this process has.
func compare(set *bloom.Set, want []uint64) error {
	encoded, err := set.MarshalBinary()
	if err != nil {
		return err
	}
	files := map[string][]byte{"pid": nil, "filter": nil, "passing": nil}
	for name := range files {
		if files[name], err = os.ReadFile(filepath.Join(*out, name)); err != nil {
			return err
		}
	}
	var got []uint64
	for i := 0; i+8 <= len(files["passing"]); i += 8 {
		got = append(got, binary.LittleEndian.Uint64(files["passing"][i:]))
	}
	slices.Sort(got)
	switch {
	case string(files["pid"]) == strconv.Itoa(os.Getpid()):
		return fmt.Errorf("the pipeline ran in this process")
	case !bytes.Equal(files["filter"], encoded):
		return fmt.Errorf("the filter of the workers differs from that of one process")
	case !slices.Equal(got, want):
		return fmt.Errorf("%d of %d numbers pass in the workers, %d in one process", len(got), *tests, len(want))
	}
	fmt.Printf("the filters of %d numbers are the same, and the same %d of %d pass; processes %d and %s\n",
		*known, len(got), *tests, os.Getpid(), files["pid"])
	return nil
}
