package bloomsst

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/lanebloom/bloom"
)

// View contains the tables that a database had at one point in time. It is safe for concurrent use.
type View struct {
	tables   []*Table
	manifest error
	prepared sync.Once
	ranges   []*ranges
	anywhere []int // the tables whose range is not known, or not the order of their keys
}

// Tables returns the tables in the order of their file numbers. They include leftovers, which are tables in
// the folder that the MANIFEST does not list ([Table.IsLeftover]). Do not modify the slice.
func (v *View) Tables() []*Table { return v.tables }

// Manifest returns nil if the MANIFEST of the database was read. Otherwise, it returns the reason, as an
// error that wraps [ErrManifest]. In this case, the View contains all tables in the folder, and their levels
// are not known.
func (v *View) Manifest() error { return v.manifest }

// MayContain queries all tables for a key, as [Table.MayContain] does for one table. It returns the number of
// tables that may contain the key, and sets bit i%64 of hits[i/64] if table i may contain it. MayContain
// queries a filter only if the key is in the range of its table, and hashes the key once for each format. If
// MayContain returns an error, the tables that could not be read are hits.
//
// MayContain writes (len(v.Tables())+63)/64 words, and panics if hits has fewer.
func (v *View) MayContain(userKey []byte, hits []uint64) (n int, err error) {
	v.prepare()
	hits = hits[:(len(v.tables)+63)/64]
	clear(hits)
	h := keyHashes{key: userKey}
	query := func(i int) {
		may, tableErr := v.tables[i].mayContainHashed(&h)
		if tableErr != nil && err == nil {
			err = fmt.Errorf("%s: %w", v.tables[i].Name(), tableErr)
		}
		if may {
			hits[i/64] |= 1 << (i % 64)
			n++
		}
	}
	for _, r := range v.ranges {
		r.each(userKey, query)
	}
	for _, i := range v.anywhere {
		query(i)
	}
	return n, err
}

// keyHashes are the hashes of a key, for each format that needed one.
type keyHashes struct {
	key     []byte
	n       int
	formats [4]bloom.Format
	hashes  [4]bloom.Hash
}

// of returns the hash of a format.
func (h *keyHashes) of(f bloom.Format) bloom.Hash {
	for i, known := range h.formats[:h.n] {
		if known == f {
			return h.hashes[i]
		}
	}
	hash := f.Hash(h.key)
	if h.n < len(h.formats) {
		h.formats[h.n], h.hashes[h.n] = f, hash
		h.n++
	}
	return hash
}

// mayContainHashed is MayContain, with hashes that serve other tables, too.
func (t *Table) mayContainHashed(h *keyHashes) (bool, error) {
	p := t.proved()
	f := t.ofHashes(p)
	if f == nil {
		return t.MayContain(h.key)
	}
	return f.MayContainHash(h.of(f.Format())) && !p.outside(h.key), nil
}

// ranges are the tables of a level of a family whose ranges are known, in the order of their first keys.
type ranges struct {
	keyOrder
	tables []int
	first  [][]byte
	last   [][]byte
	reach  [][]byte // the largest last key of the tables up to each
}

// each calls f for the tables whose range has a key.
func (r *ranges) each(key []byte, f func(table int)) {
	i := sort.Search(len(r.first), func(i int) bool { return r.compare(r.first[i], key) > 0 })
	for i--; i >= 0 && r.compare(r.reach[i], key) >= 0; i-- {
		if r.compare(r.last[i], key) >= 0 {
			f(r.tables[i])
		}
	}
}

// keyOrder is an order of user keys.
type keyOrder struct {
	name    string // or nothing, for the caller's
	compare func(a, b []byte) int
}

func newView(tables []*Table, manifest error) *View { return &View{tables: tables, manifest: manifest} }

// prepare finds the ranges of the tables, once.
func (v *View) prepare() { v.prepared.Do(v.findRanges) }

func (v *View) findRanges() {
	type level struct {
		keyOrder, family string
		level            int
	}
	groups := map[level]*ranges{}
	for i, t := range v.tables {
		o, first, last, known := t.bounds()
		if !known {
			v.anywhere = append(v.anywhere, i)
			continue
		}
		p := t.inDatabase()
		at := level{o.name, p.family, p.level}
		r := groups[at]
		if r == nil {
			r = &ranges{keyOrder: o}
			groups[at] = r
			v.ranges = append(v.ranges, r)
		}
		r.tables = append(r.tables, i)
		r.first, r.last = append(r.first, first), append(r.last, last)
	}
	for _, r := range v.ranges {
		r.sort()
	}
}

// sort puts the tables in the order of their first keys.
func (r *ranges) sort() {
	by := make([]int, len(r.tables))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return r.compare(r.first[a], r.first[b]) })
	sorted := ranges{keyOrder: r.keyOrder}
	for at, i := range by {
		reach := r.last[i]
		if at > 0 && r.compare(sorted.reach[at-1], reach) > 0 {
			reach = sorted.reach[at-1]
		}
		sorted.tables = append(sorted.tables, r.tables[i])
		sorted.first, sorted.last = append(sorted.first, r.first[i]), append(sorted.last, r.last[i])
		sorted.reach = append(sorted.reach, reach)
	}
	*r = sorted
}

// bounds returns the range of the table's keys and their order, if both are known: the range from the MANIFEST, and the
// order by the name of a comparator, unless the caller gave one.
func (t *Table) bounds() (o keyOrder, first, last []byte, known bool) {
	p := t.inDatabase()
	if p == nil || p.synthetic || p.first == nil || p.size != uint64(t.file.size) {
		return o, nil, nil, false
	}
	name, of := t.comparatorName(), t.order()
	if t.compare != nil {
		name = ""
	} else if of.trust != named || name != p.comparator {
		return o, nil, nil, false
	}
	if of.compare(p.first, p.last) > 0 || !t.proved().ordered { // the name may be that of another comparator
		return o, nil, nil, false
	}
	return keyOrder{strings.TrimSuffix(name, timestamps), of.compare}, p.first, p.last, true
}
