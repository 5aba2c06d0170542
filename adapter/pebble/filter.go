// Package bloompebble gives Pebble (github.com/cockroachdb/pebble/v2, version 2.1) the filters of
// this library:
//
//	options := &pebble.Options{}
//	options.Levels[0].FilterPolicy = bloompebble.New(bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10})
//
// The levels below take the policy of level 0 unless they have their own. With the format
// [bloom.Pebble], name and bytes are those of Pebble's own policy, bloom.FilterPolicy of the
// package github.com/cockroachdb/pebble/v2/bloom: a database can change from either to the
// other at any time, and nothing is written anew.
//
// A table stores the name of its filter, and Pebble reads a table whose filter has another name
// without the filter. So a change to another format, or from one, needs the policy of the tables that
// are there already, until compactions have rewritten them:
//
//	options.Filters = map[string]pebble.FilterPolicy{old.Name(): old}
//
// The next release of Pebble has another interface for filters, and will need another package.
package bloompebble

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lanebloom/bloom"
)

// New returns a filter policy for Pebble's options. Its name is the name of the policy's
// format: Pebble's own for the format [bloom.Pebble], and for [bloom.LevelDB] that of C++ LevelDB.
//
// Pebble makes a filter for every table, and adds the prefixes of the keys that the Comparer's
// Split returns, which without a Split are the keys. So give [bloom.PolicyFor] the number of keys, or
// of prefixes, in a table.
//
// New panics for the format [bloom.RocksDB]. Its name is that of Pebble's filters too, and Pebble's
// own policy would read its filters as such, and lose keys. NewNamed gives it another name.
func New(policy bloom.Policy) pebble.FilterPolicy {
	if policy.Format == bloom.RocksDB {
		panic("pebble: Pebble misreads filters of the format rocksdb that have its own name; call NewNamed with another")
	}
	return NewNamed(policy.Name(), policy)
}

// NewNamed is New with another name, under which no other format's filters may be.
func NewNamed(name string, policy bloom.Policy) pebble.FilterPolicy {
	return namedPolicy{name, policy, &sync.Pool{New: func() any { return policy.NewBuilder() }}}
}

type namedPolicy struct {
	name string
	bloom.Policy
	builders *sync.Pool // whose hashes have room: Pebble makes a writer for every table
}

func (p namedPolicy) Name() string { return p.name }

// MayContain answers yes for bytes that are no filter of the format. There is only one type of
// filter, for whole tables.
func (p namedPolicy) MayContain(_ pebble.FilterType, filter, key []byte) bool {
	return p.Policy.MayContain(filter, key)
}

func (p namedPolicy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return &writer{policy: p, builder: p.builders.Get().(*bloom.Builder)}
}

// writer makes the filter of a table.
type writer struct {
	policy  namedPolicy
	builder *bloom.Builder // nil after Finish
	last    bloom.Hash     // of the key added last; no key's at first
}

// AddKey adds a key, or a prefix. Pebble adds that of every version of a key, and they follow each
// other. As Pebble's own writer does, it counts a key only if the key before it has another hash.
func (w *writer) AddKey(key []byte) {
	h := w.policy.Format.Hash(key)
	if h == w.last {
		return
	}
	w.last = h
	if w.builder == nil {
		w.builder = w.policy.builders.Get().(*bloom.Builder)
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
	w.policy.builders.Put(w.builder)
	w.builder, w.last = nil, bloom.Hash{}
	return dst
}
