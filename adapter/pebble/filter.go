// Package bloompebble provides the filters of this library for Pebble (github.com/cockroachdb/pebble/v2,
// version 2.1). [FilterPolicy] replaces Pebble's own policy, and builds filters faster. Both policies give
// filters the same name and the same bytes. So you can switch between them at any time, without rewriting a
// table. FilterPolicy is the only exported name of Pebble's package bloom, so a program only has to change
// its import:
//
//	import bloom "github.com/lanebloom/bloom/adapter/pebble"
//
//	options := &pebble.Options{}
//	options.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
//
// Levels without a policy of their own use the policy of level 0.
//
// A table stores the name of its filter. If no policy in the options has this name, Pebble silently reads the
// table without the filter. If you change to a different format with [NewNamed], or back, keep the old policy
// in the options until compactions have rewritten the existing tables:
//
//	options.Filters = map[string]pebble.FilterPolicy{old.Name(): old}
//
// If keys are numbers, such as big-endian integers, Pebble's own filters have many false positives: in a
// table of 1,000 keys, the rate is 75 %. [NewNamed] can build filters of the format [bloom.RocksDB]. For keys
// that are numbers, these filters have the same rate as for random keys. See docs/pebble.md in the repository
// for measurements.
//
// The next release of Pebble has a different interface for filters, and will need a different package.
package bloompebble

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lanebloom/bloom"
)

// FilterPolicy is a filter policy with the given number of bits per key, like Pebble's own
// bloom.FilterPolicy. It has the same name, builds the same filters and gives the same answers. The answers
// differ only for bytes that are not a Pebble filter: here, every key is then a hit.
type FilterPolicy int

var _ pebble.FilterPolicy = FilterPolicy(0)

// Name returns the name of Pebble's own policy, which tables store.
func (p FilterPolicy) Name() string { return bloom.Pebble.Name() }

// MayContain reports whether the filter of a table may contain the key.
func (p FilterPolicy) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return p.named().MayContain(t, filter, key)
}

// NewWriter returns a writer that builds the filter of a table.
func (p FilterPolicy) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return p.named().NewWriter(t)
}

func (p FilterPolicy) named() namedPolicy {
	return namedPolicy{bloom.Pebble.Name(), bloom.Policy{Format: bloom.Pebble, BitsPerKey: int(p)}}
}

// NewNamed returns a filter policy of any format with the given name. Do not use the same name for two
// formats in one database.
//
// Pebble builds one filter for each table. If the Comparer has a Split function, Pebble adds the prefix that
// Split returns for each key. Otherwise, it adds the whole key. So pass the number of prefixes or keys in a
// table to [bloom.PolicyFor].
//
// NewNamed panics if the name is the name of Pebble's own policy but the format is not [bloom.Pebble],
// because Pebble would misread the filters and lose keys. The format RocksDB has this name too, so choose a
// different name for its filters.
func NewNamed(name string, policy bloom.Policy) pebble.FilterPolicy {
	if name == bloom.Pebble.Name() && policy.Format != bloom.Pebble {
		panic(fmt.Sprintf("bloompebble: Pebble would misread filters of the format %v that are named %s; choose a different name", policy.Format, name))
	}
	return namedPolicy{name, policy}
}

type namedPolicy struct {
	name string
	bloom.Policy
}

func (p namedPolicy) Name() string { return p.name }

// MayContain returns true for bytes that are not a filter of the format. There is only one type of
// filter, for whole tables.
func (p namedPolicy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	return p.Policy.MayContain(filter, key)
}

func (p namedPolicy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return &writer{policy: p.Policy, builders: buildersOf(p.Policy)}
}

// pools has a pool of builders for each policy. Their memory is used again, because Pebble makes a writer for every table.
var pools sync.Map // of *sync.Pool by bloom.Policy

func buildersOf(policy bloom.Policy) *sync.Pool {
	pool, ok := pools.Load(policy)
	if !ok {
		pool, _ = pools.LoadOrStore(policy, &sync.Pool{New: func() any { return policy.NewBuilder() }})
	}
	return pool.(*sync.Pool)
}

// writer makes the filter of a table.
type writer struct {
	policy   bloom.Policy
	builders *sync.Pool
	builder  *bloom.Builder // nil until a key is added
	last     bloom.Hash     // of the key added last; no key's at first
}

// AddKey adds a key, or a prefix. Pebble adds it once for each version, one after the other. So, as Pebble's own
// writer does, AddKey counts a key only if the key before it has another hash.
func (w *writer) AddKey(key []byte) {
	h := w.policy.Format.Hash(key)
	if h == w.last {
		return
	}
	w.last = h
	if w.builder == nil {
		w.builder = w.builders.Get().(*bloom.Builder)
	}
	w.builder.AddHash(h)
}

// Finish appends the filter of the keys since the last Finish to dst.
func (w *writer) Finish(dst []byte) []byte {
	if w.builder == nil {
		return w.policy.AppendFilter(dst, bloom.Keys{})
	}
	dst = w.builder.AppendFilter(dst)
	w.builder.Reset()
	w.builders.Put(w.builder)
	w.builder, w.last = nil, bloom.Hash{}
	return dst
}
