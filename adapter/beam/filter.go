package bloombeam

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/lanebloom/bloom"
)

// Types of the parameters of DoFns. Those of filters read a side input only when they are called:
// an iterator, func(*[]byte) bool, would be opened for each element.
type (
	eventTime = beam.EventTime
	filters   = func() func(*[]byte) bool
)

// loaded is the filter of a window, for the time of a bundle. It is nil if none has been read. It keeps the
// context of the bundle: passing a context with every element takes longer than testing the element.
type loaded struct {
	*bloom.Filter
	ctx  context.Context
	kind bloom.KeyKind // of the keys that are asked for
}

// load reads the side input if that was not done yet.
func (l *loaded) load(side filters) error {
	if l.Filter != nil {
		return nil
	}
	var all *bloom.Set // if there are several
	var first *bloom.Filter
	next := side()
	for encoded := []byte(nil); next(&encoded); {
		filter, err := open(l.ctx, encoded)
		if err == nil {
			err = l.checkKind(filter)
		}
		switch {
		case err != nil:
			return fmt.Errorf("lanebloom.Filter: %w", err)
		case first == nil:
			first = filter
			continue
		case all == nil:
			if all, err = setOf(first); err != nil {
				return fmt.Errorf("lanebloom.Filter: %w", err)
			}
		}
		more, err := setOf(filter)
		if err == nil {
			err = all.Merge(more)
		}
		if err != nil {
			return fmt.Errorf("lanebloom.Filter: merging several filters: %w", err)
		}
	}
	switch {
	case all != nil:
		l.Filter = all.Filter()
	case first != nil:
		l.Filter = first
	default:
		l.Filter = new(bloom.Filter) // holds no key
	}
	return nil
}

// checkKind returns an error if the keys of a filter are known to be of another kind than those that are asked for.
func (l *loaded) checkKind(f *bloom.Filter) error {
	if has := f.KeyKind(); has != l.kind && has != bloom.KindUnknown && l.kind != bloom.KindUnknown {
		return fmt.Errorf("%w: the keys of the filter are of the kind %s, but the keys of the Keyer are of the kind %s", bloom.ErrKind, has, l.kind)
	}
	return nil
}

func setOf(f *bloom.Filter) (*bloom.Set, error) {
	return bloom.OpenSet(f.Format(), f.Bytes())
}

// fileMark is before the path in the elements of FilterFile. The file of a filter begins otherwise.
const fileMark = "lanebloom.FilterFile "

// open returns the filter that an element of a side input is, or names.
func open(ctx context.Context, encoded []byte) (*bloom.Filter, error) {
	if path, ok := bytes.CutPrefix(encoded, []byte(fileMark)); ok {
		return files.open(ctx, string(path))
	}
	f := new(bloom.Filter)
	return f, f.UnmarshalBinary(encoded) // a copy: the SDK may use the bytes again
}

// batch has the rows of a bundle that are not tested yet, with their keys and times.
type batch[R any] struct {
	loaded
	keys  column
	times []eventTime
	rows  []R
	hits  [batchKeys / 64]uint64
}

// start forgets what a bundle before may have left.
func (b *batch[R]) start(ctx context.Context, key any) {
	b.loaded = loaded{ctx: ctx, kind: kindOf(key)}
	b.clear()
}

// stop ends a bundle: it lets go of its context, its filter and its rows.
func (b *batch[R]) stop() {
	b.loaded = loaded{}
	b.clear()
}

// clear forgets all rows, and what they refer to.
func (b *batch[R]) clear() {
	clear(b.rows)
	b.keys.clear()
	b.times, b.rows = b.times[:0], b.rows[:0]
}

// add adds a row, whose key was appended before.
func (b *batch[R]) add(t eventTime, row R) (full bool) {
	b.times = append(b.times, t)
	b.rows = append(b.rows, row)
	return b.keys.full()
}

// flush tests the rows, and emits those that pass.
func (b *batch[R]) flush(side filters, emit func(eventTime, R)) error {
	if len(b.rows) == 0 {
		return nil
	}
	if err := b.load(side); err != nil {
		return err
	}
	keys, err := b.keys.keys()
	if err != nil {
		return err
	}
	b.MayContainBatch(keys, b.hits[:])
	for w, word := range b.hits[:(len(b.rows)+63)/64] {
		for ; word != 0; word &= word - 1 {
			i := 64*w + bits.TrailingZeros64(word)
			emit(b.times[i], b.rows[i])
		}
	}
	b.clear()
	return nil
}

// filterFn is the DoFn of Filter in the global window.
type filterFn[T any, K Keyer[T]] struct {
	Key   K
	batch batch[T]
}

func (f *filterFn[T, K]) StartBundle(ctx context.Context, _ filters, _ func(eventTime, T)) {
	f.batch.start(ctx, f.Key)
}

func (f *filterFn[T, K]) ProcessElement(t eventTime, element T, side filters, emit func(eventTime, T)) error {
	appendKey(&f.batch.keys, f.Key, element)
	if !f.batch.add(t, element) {
		return nil
	}
	return f.batch.flush(side, emit)
}

func (f *filterFn[T, K]) FinishBundle(side filters, emit func(eventTime, T)) error {
	err := f.batch.flush(side, emit)
	f.batch.stop()
	return err
}

// pair is an element of a PCollection<KV<T,V>>.
type pair[T any] struct {
	key   T
	value beam.V
}

// filterKVFn is the DoFn of FilterKV in the global window.
type filterKVFn[T any, K Keyer[T]] struct {
	Key   K
	batch batch[pair[T]]
}

func (f *filterKVFn[T, K]) StartBundle(ctx context.Context, _ filters, _ func(eventTime, T, beam.V)) {
	f.batch.start(ctx, f.Key)
}

func (f *filterKVFn[T, K]) ProcessElement(t eventTime, key T, value beam.V, side filters, emit func(eventTime, T, beam.V)) error {
	appendKey(&f.batch.keys, f.Key, key)
	if !f.batch.add(t, pair[T]{key, value}) {
		return nil
	}
	return f.flush(side, emit)
}

func (f *filterKVFn[T, K]) flush(side filters, emit func(eventTime, T, beam.V)) error {
	return f.batch.flush(side, func(t eventTime, p pair[T]) { emit(t, p.key, p.value) })
}

func (f *filterKVFn[T, K]) FinishBundle(side filters, emit func(eventTime, T, beam.V)) error {
	err := f.flush(side, emit)
	f.batch.stop()
	return err
}

// one tests keys one by one, in windows that have filters of their own.
type one struct {
	loaded
	window beam.Window // of the filter
	key    []byte
}

func (o *one) start(ctx context.Context, key any) {
	*o = one{loaded: loaded{ctx: ctx, kind: kindOf(key)}, key: o.key}
}

// passes reports whether o.key may be in the filter of the window.
func (o *one) passes(w beam.Window, side filters) (bool, error) {
	if o.window == nil || !o.window.Equals(w) {
		o.Filter, o.window = nil, w
	}
	if err := o.load(side); err != nil {
		return false, err
	}
	return o.MayContain(o.key), nil
}

// filterWindowsFn is the DoFn of Filter in windows.
type filterWindowsFn[T any, K Keyer[T]] struct {
	Key K
	one one
}

func (f *filterWindowsFn[T, K]) StartBundle(ctx context.Context, _ filters, _ func(T)) {
	f.one.start(ctx, f.Key)
}

func (f *filterWindowsFn[T, K]) ProcessElement(w beam.Window, element T, side filters, emit func(T)) error {
	f.one.key = f.Key.AppendKey(f.one.key[:0], element)
	passes, err := f.one.passes(w, side)
	if passes {
		emit(element)
	}
	return err
}

// filterKVWindowsFn is the DoFn of FilterKV in windows.
type filterKVWindowsFn[T any, K Keyer[T]] struct {
	Key K
	one one
}

func (f *filterKVWindowsFn[T, K]) StartBundle(ctx context.Context, _ filters, _ func(T, beam.V)) {
	f.one.start(ctx, f.Key)
}

func (f *filterKVWindowsFn[T, K]) ProcessElement(w beam.Window, key T, value beam.V, side filters, emit func(T, beam.V)) error {
	f.one.key = f.Key.AppendKey(f.one.key[:0], key)
	passes, err := f.one.passes(w, side)
	if passes {
		emit(key, value)
	}
	return err
}
