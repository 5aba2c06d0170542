// Package bloombeam contains transforms for Apache Beam's Go SDK. They build a filter of this library from
// one PCollection, and filter another PCollection before a program groups or joins it:
//
//	known := bloombeam.BuildFilter(s, policy, 1_000_000, users, userID{})  // PCollection<[]byte>
//	rest := bloombeam.Filter(s, known, events, eventUser{})               // the events that may belong to a user
//
// Filtering never drops an element whose key was added. It keeps other elements at the false-positive rate of
// the policy. [SparseJoin] filters elements, and then groups the remaining elements by key.
//
// # Keys
//
// A [Keyer] computes the key of an element. It is a type with a method, not a function, because Beam sends
// transforms to other processes and cannot send function values. Register every Keyer except [String] and
// [Bytes] in an init function:
//
//	type eventUser struct{}
//
//	func (eventUser) AppendKey(dst []byte, e Event) []byte { return append(dst, e.User...) }
//
//	func init() { bloombeam.Register(eventUser{}) }
//
// # Windows
//
// In the global window, elements are tested in batches of 4,096 and keep their timestamps. In other windows,
// they are tested one by one, because at the end of a bundle, Beam emits the rest of a batch into the global
// window. Beam chooses the filter for each window, as for every side input. It is the filter of the same
// window if the known elements have the same windows, or else the filter of the global window. If a window
// has no filter, there are no known keys, and no element of the window is kept. If triggers produce several
// filters for a window, an element is kept if it is a hit in any of them.
package bloombeam

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/lanebloom/bloom"
)

// Keyer computes the key of an element. AppendKey appends the bytes of the key to dst and returns the
// extended slice. [BuildFilter] adds these keys to a filter, and [Filter] looks them up in a filter. Beam
// encodes the exported fields of a Keyer as JSON.
//
// A Keyer may have a method KeyKind() bloom.KeyKind, as [String] does. BuildFilter then records this kind in
// the filter file. Filter fails if the file has a different kind. Without this check, Filter would drop
// almost every element.
type Keyer[T any] interface {
	AppendKey(dst []byte, element T) []byte
}

// String is the Keyer for strings. The key of an element is the element itself.
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

// Bytes is the Keyer for byte slices. The key of an element is the element itself.
type Bytes struct{}

// AppendKey appends the bytes.
func (Bytes) AppendKey(dst, element []byte) []byte { return append(dst, element...) }

func init() {
	beam.RegisterCoder(reflect.TypeFor[*accumulator](), encodeAccumulator, decodeAccumulator)
	Register(String{})
	Register(Bytes{})
}

// BuildFilter builds a filter of the keys of all elements of col, a PCollection<T>. It returns a
// PCollection<[]byte> with one filter file for each window (docs/file-format.md). [bloom.OpenBinary] reads
// such a file. The filter is sized for capacity keys. With more keys, its false-positive rate rises.
// [bloom.Filter.KeyCount] reports the number of keys that were added.
//
// A worker with fewer than 4,096 keys, of less than 1 MiB in total, sends the keys. Every other worker sends
// all bits of its filter. Runners are slow at sending 12 MB or more, so build larger filters elsewhere, and
// read them with [FilterFile].
//
// Like Beam's own transforms, BuildFilter panics if an argument is invalid, for example if the policy cannot
// build a filter of the given capacity.
func BuildFilter[T any, K Keyer[T]](s beam.Scope, policy bloom.Policy, capacity int, col beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.BuildFilter")
	if _, _, err := policy.Size(capacity); err != nil {
		panic(fmt.Errorf("lanebloom.BuildFilter: %w", err))
	}
	return beam.Combine(s, &buildFn[T, K]{Policy: policy, Capacity: capacity, Key: key}, col)
}

// FilterFile returns a PCollection<[]byte> that represents a filter file. Pass it to [Filter] or [FilterKV]
// as the filter. Each worker process reads the file itself. If several bundles run at the same time in a
// process, one of them reads the file. The others read only its header, unless the file was replaced. The
// program must import the Beam file system for the path, such as
// github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local.
func FilterFile(s beam.Scope, path string) beam.PCollection {
	return beam.Create(s.Scope("lanebloom.FilterFile"), append([]byte(fileMark), path...))
}

// Filter returns the elements of col, a PCollection<T>, whose keys may be in the filter that [BuildFilter] or
// [FilterFile] returned.
func Filter[T any, K Keyer[T]](s beam.Scope, filter, col beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.Filter")
	side := beam.SideInput{Input: filter}
	if global(col) {
		return beam.ParDo(s, &filterFn[T, K]{Key: key}, col, side)
	}
	return beam.ParDo(s, &filterWindowsFn[T, K]{Key: key}, col, side)
}

// FilterKV is like [Filter] for a PCollection<KV<T,V>> with any V. The Keyer receives the key of each pair.
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

// SparseJoin groups left, a PCollection<KV<T,A>>, and right, a PCollection<KV<T,B>>, by key, as
// beam.CoGroupByKey does. The result has every group that has an element of left, so it is complete for an
// inner join and a left outer join. Most groups without an element of left are missing. Use SparseJoin if
// right is large and few of its elements have a key of left. Then Beam sends only these elements of right and
// a few false positives from worker to worker. The false positives are in groups that have no element of
// left. Skip these groups.
//
// SparseJoin builds the filter from the keys of left, as [BuildFilter] does, with the given policy and
// capacity.
func SparseJoin[T any, K Keyer[T]](s beam.Scope, policy bloom.Policy, capacity int, left, right beam.PCollection, key K) beam.PCollection {
	s = s.Scope("lanebloom.SparseJoin")
	filter := BuildFilter(s, policy, capacity, beam.DropValue(s, left), key)
	return beam.CoGroupByKey(s, left, FilterKV(s, filter, right, key))
}
