package bloomsst

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/lanebloom/bloom"
)

// Proved returns the number of the table's own keys that were looked up in the filter. If the filter is
// proved and all reads succeeded, the error is nil. If the filter is not proved, for example because a
// key is not a hit, the error gives the reason, and queries do not use the filter ([Table.Ignored]). If a
// data block could not be read, the error describes the failed read, and queries still use the filter.
//
// Proved reads the index block and two data blocks. It reads a third data block if the two have too few keys,
// if the index is in the last 8 KiB of the file, or if the filter may contain prefixes that Pebble's Split
// returned. If the index has two levels, each data block requires one more read. If the blocks are compressed
// with a dictionary, Proved also reads the dictionary. The first call of MayContain, MayContainBatch or Range
// reads the same blocks.
func (t *Table) Proved() (keys int, err error) {
	if t.filters == nil {
		return 0, nil
	}
	p := t.proved()
	if p.denied != nil {
		return p.keys, p.denied
	}
	return p.keys, p.unread
}

// proved returns the proof. It is made once, unless a read fails.
func (t *Table) proved() *proof {
	if p := t.proof.Load(); p != nil {
		return p
	}
	t.proving.Lock()
	defer t.proving.Unlock()
	p := t.proof.Load()
	if p == nil {
		if p = t.prove(); p.unread == nil || isOfBytes(p.unread) {
			t.believe(p)
		}
	}
	return p
}

// believe keeps a proof.
func (t *Table) believe(p *proof) {
	if f, isWhole := t.filters.(whole); isWhole && t.split == nil && p.tails == ownTails && p.denied == nil {
		p.filter = f.Filter
	}
	t.proof.Store(p)
}

// prove reads keys, and looks them up.
func (t *Table) prove() *proof {
	o := t.order()
	x, err := t.places()
	if err != nil || x.len() == 0 {
		p := t.newProof(o)
		p.unread, p.ordered = err, o.trust != foreign
		return p
	}
	s := sampler{t: t, index: x}
	s.read(firstPlace)
	s.read(lastPlace)
	p := t.judge(o, x, s.samples())
	if p.denied == nil && (p.chance > doubtful || !p.ordered || t.mayHideSplit() || t.file.inTail(t.file.footer.index)) {
		s.read(middlePlace)
		p = t.judge(o, x, s.samples())
	}
	if p.unread == nil {
		p.unread = s.err
	}
	if first := s.at[firstPlace]; p.ordered && first != nil && len(first.keys) > 0 {
		p.first = o.user(first.keys[0].key)
	}
	if p.ordered && s.at[lastPlace] != nil || p.first != nil && x.len() == 1 {
		p.last = bytes.Clone(x.key(x.len() - 1))
	}
	return p
}

// judge decides what keys prove.
func (t *Table) judge(o order, x *index, read []sample) *proof {
	p := t.newProof(o)
	p.ordered = o.holds(x, read) && (t.compare != nil || !areSplit(read))
	if t.filters == nil {
		return p
	}
	if n := t.filters.len(); n > mostUnordered && !p.ordered {
		p.denied = fmt.Errorf("%w: the table has %d filters, but the order of its keys is not known", ErrComparator, n)
		return p
	}
	w := t.newWitness(p, o)
	for _, s := range read {
		for _, key := range s.keys {
			if w.hear(s.handle, key); p.denied != nil {
				break
			}
		}
	}
	w.end()
	if p.denied != nil {
		p.ordered = false // the name of the comparator may promise what it does not keep, too
	}
	return p
}

// newProof returns what is known without keys.
func (t *Table) newProof(o order) *proof {
	p := &proof{compare: o.compare, tails: ownTails, chance: 1}
	if t.mayHaveOtherTails() {
		p.tails = eitherTails
	}
	return p
}

// mayHaveOtherTails reports whether the filter may have the other hash: goleveldb, and LevelDB before 2014,
// give the policy this name, or the table is of RocksDB's format_version 2, which Pebble wrote before 2020.
func (t *Table) mayHaveOtherTails() bool {
	return t.engine == LevelDB && t.policy == goLevelDBPolicy && t.format == bloom.LevelDB ||
		t.engine == RocksDB && t.version == 2 && t.format == bloom.Pebble && !t.properties.ofRocksDB
}

// areSplit reports whether a Split of Pebble has cut some of the keys: then its Comparer is not the one of the name, and may have another order.
func areSplit(read []sample) bool {
	return slices.ContainsFunc(read, func(s sample) bool {
		return slices.ContainsFunc(s.keys, storedKey.isSplit)
	})
}

// holds reports whether the order is proved: a name tells it, or enough keys are in it, and nothing that was
// read is in another. The keys come from the index and from data blocks, which are in the order of the table.
func (o order) holds(x *index, read []sample) bool {
	n := x.len()
	for i := 1; i < x.len(); i++ {
		if o.compare(x.key(i-1), x.key(i)) > 0 {
			return false
		}
	}
	var last []byte
	for i, s := range read {
		for j, stored := range s.keys {
			key := o.user(stored.key)
			if (i > 0 || j > 0) && o.compare(last, key) > 0 {
				return false
			}
			last = key
		}
		if len(s.keys) > 0 && o.compare(last, s.upTo) > 0 {
			return false
		}
		n += len(s.keys)
	}
	return o.trust == named || o.trust == unnamed && n >= enough
}

// enough is how many keys have to be in the order of bytes, if no name tells it.
const enough = 32
