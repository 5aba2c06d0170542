// Package bloombeam has transforms for Apache Beam's Go SDK that build the filters of this library
// from a PCollection, and filter a PCollection by them before it is grouped or joined:
//
//	known := bloombeam.BuildFilter(s, policy, 1_000_000, users, userID{})  // PCollection<[]byte>
//	rest := bloombeam.Filter(s, known, events, eventUser{})               // those that may be of a user
//
// A filter never drops an element whose key was added. It keeps some others, at the
// false-positive rate of the policy. [SparseJoin] filters, and then groups what is left exactly.
//
// # Keys
//
// A [Keyer] tells the key of an element. It is a type with a method and not a function, since Beam sends
// transforms to other processes, and functions as values do not survive that. Every Keyer but
// [String] and [Bytes] has to be registered in an init function:
//
//	type eventUser struct{}
//
//	func (eventUser) AppendKey(dst []byte, e Event) []byte { return append(dst, e.User...) }
//
//	func init() { bloombeam.Register(eventUser{}) }
//
// # Windows
//
// In the global window, elements are tested in batches of 4,096, and keep their timestamps. In
// other windows they are tested one by one, since Beam emits the rest of a batch, at the end
// of a bundle, into the global window. Each window has the filter that the windows of the side
// input say: one for the same window if known elements are windowed alike, or the one of the global
// window. A window without a filter has no known keys, and nothing passes. If triggers make
// several filters for a window, what passes one of them passes.
package bloombeam

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/lanebloom/bloom"
)

// Keyer tells the key of an element by which filters are built and tested: it appends the bytes of
// the key to dst and returns the extended slice. Beam saves the exported fields of a Keyer
// as JSON.
//
// A Keyer may have a method KeyKind() bloom.KeyKind, as String has. The file that [BuildFilter] makes says that kind, and [Filter]
// fails for a filter whose file says another: no key would be in it.
type Keyer[T any] interface {
	AppendKey(dst []byte, element T) []byte
}

// String is the Keyer of strings that are keys themselves.
type String struct{}

// AppendKey appends the bytes of the string.
func (String) AppendKey(dst []byte, element string) []byte { return append(dst, element...) }

// KeyKind returns [bloom.KindText].
func (String) KeyKind() bloom.KeyKind { return bloom.KindText }

// kindOf returns the kind of the keys of a Keyer.
func kindOf(key any) bloom.KeyKind {
	if of, ok := key.(interface{ KeyKind() bloom.KeyKind }); ok {
		return of.KeyKind()
	}
	return bloom.KindUnknown
}

// Bytes is the Keyer of byte slices that are keys themselves.
type Bytes struct{}

// AppendKey appends the bytes.
func (Bytes) AppendKey(dst, element []byte) []byte { return append(dst, element...) }

func init() {
	beam.RegisterCoder(reflect.TypeFor[*accumulator](), encodeAccumulator, decodeAccumulator)
	Register(String{})
	Register(Bytes{})
}

// BuildFilter builds a filter of the keys of all elements of col, a PCollection<T>, and returns
// a PCollection<[]byte> of its file (docs/file-format.md), one for each window: [bloom.OpenBinary] reads it. The filter has room
// for the given number of keys; with more, its false-positive rate rises, and [bloom.Filter.KeyCount] tells so.
//
// A worker that has seen fewer than 4,096 keys, of less than 1 MiB together, sends them as they are. One that
// has seen more sends bits. All of these are as long as the filter: from some 12 MB on, runners are slow to send
// them. Build larger filters elsewhere, and hand them over by [FilterFile].
//
// BuildFilter panics, as Beam's transforms do, if the policy has no filter of that capacity.
func BuildFilter[T any, K Keyer[T]](s beam.Scope, policy bloom.Policy, capacity int, col beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.BuildFilter")
	if _, _, err := policy.Size(capacity); err != nil {
		panic(fmt.Errorf("lanebloom.BuildFilter: %w", err))
	}
	return beam.Combine(s, &buildFn[T, K]{Policy: policy, Capacity: capacity, Key: key}, col)
}

// FilterFile returns a PCollection<[]byte> that stands for the file of a filter, for [Filter]. Each worker
// process reads the file by itself, once for all of its bundles that run at the same time: the others read its header, and all
// of it if it was written anew. The path is one
// that a file system of Beam knows which the program imports, such as
// github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local.
func FilterFile(s beam.Scope, path string) beam.PCollection {
	return beam.Create(s.Scope("lanebloom.FilterFile"), append([]byte(fileMark), path...))
}

// Filter returns those elements of col, a PCollection<T>, whose keys may be in the filter that
// [BuildFilter] or [FilterFile] returned.
func Filter[T any, K Keyer[T]](s beam.Scope, filter, col beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.Filter")
	side := beam.SideInput{Input: filter}
	if global(col) {
		return beam.ParDo(s, &filterFn[T, K]{Key: key}, col, side)
	}
	return beam.ParDo(s, &filterWindowsFn[T, K]{Key: key}, col, side)
}

// FilterKV is [Filter] for a PCollection<KV<T,V>> of any V. The Keyer gets the key of the pair.
func FilterKV[T any, K Keyer[T]](s beam.Scope, filter, col beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.FilterKV")
	side := beam.SideInput{Input: filter}
	if global(col) {
		return beam.ParDo(s, &filterKVFn[T, K]{Key: key}, col, side)
	}
	return beam.ParDo(s, &filterKVWindowsFn[T, K]{Key: key}, col, side)
}

func global(col beam.PCollection) bool {
	return col.WindowingStrategy().Fn.Kind == window.GlobalWindows
}

// SparseJoin is beam.CoGroupByKey of left, a PCollection<KV<T,A>>, and of right, a
// PCollection<KV<T,B>>, without most of the groups that have no element of left. So it
// has every group of an inner join and of a left outer join. It is for a large right of which few elements
// are in left: the others are not sent from worker to worker, except the few that pass the filter of
// left's keys. These come in groups of their own, in which left is empty: skip them.
//
// The filter is that of [BuildFilter] with the given policy and capacity.
func SparseJoin[T any, K Keyer[T]](s beam.Scope, policy bloom.Policy, capacity int, left, right beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.SparseJoin")
	filter := BuildFilter(s, policy, capacity, beam.DropValue(s, left), key)
	return beam.CoGroupByKey(s, left, FilterKV(s, filter, right, key))
}
