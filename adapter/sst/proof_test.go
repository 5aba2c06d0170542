package bloomsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestProofs wants the filters and the orders of all tables to be proved, and counts the reads: of the index and of two data blocks, of a
// third one if the filter may have what Pebble's Split returns, of a part of the index for each if it has two levels, and of the partitions of
// the filter. Nothing is read twice.
func TestProofs(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.File, func(t *testing.T) {
			c := &counting{ReaderAt: bytes.NewReader(g.data)}
			table, err := open(c, int64(len(g.data)), largestSize)
			if err != nil {
				t.Fatal(err)
			}
			opened := c.reads
			keys, err := table.Proved()
			if err != nil || table.Ignored() == nil && keys == 0 || table.Ignored() != nil && keys != 0 {
				t.Errorf("%d keys, %v", keys, err)
			}
			p := table.proved()
			foreign := g.File == "pebble-split.sst" || g.File == "pebble-of-rocksdb-2-split.sst"
			if p.unread != nil || p.ordered == foreign {
				t.Errorf("unread: %v, in order: %v", p.unread, p.ordered)
			}
			if keys > 0 && g.Engine != Badger && p.chance > doubtful { // Badger's table has one block
				t.Errorf("the chance of %d keys is %.2g", keys, p.chance)
			}
			blocks := 2
			if table.mayHideSplit() || table.filters == nil {
				blocks++
			}
			most := 1 + blocks
			if table.properties.indexType == indexTwoLevels {
				most += blocks
			}
			if parts, ok := table.filters.(*partitions); ok {
				for i := range parts.loaded {
					if parts.loaded[i].Load() != nil {
						most++
					}
				}
			}
			if got := c.reads - opened; got > most || opened > 4 {
				t.Errorf("%d reads to open, and %d for the proof, want %d at most", opened, got, most)
			}
			before := c.reads
			if _, err := table.Proved(); err != nil || c.reads != before {
				t.Errorf("the second time: %d reads, %v", c.reads-before, err)
			}
		})
	}
}

// tableFor is a table of RocksDB whose filter has keys, and whose data block has others, with the name of a comparator.
func tableFor(filter, stored [][]byte, comparator string) *Table {
	block := []byte{}
	for _, key := range stored {
		block = append(block, 0, byte(len(key)+tagSize), 0)
		block = append(append(block, key...), 1, 0, 0, 0, 0, 0, 0, 0)
	}
	block = append(binary.LittleEndian.AppendUint32(append(block, 0, 0, 0, 0), 1), 0, 0, 0, 0, 0)
	last := append(append([]byte{}, stored[len(stored)-1]...), 1, 0, 0, 0, 0, 0, 0, 0)
	list := binary.AppendUvarint(binary.AppendUvarint(nil, 0), uint64(len(block)-trailerSize))
	index := append([]byte{0, byte(len(last)), byte(len(list))}, last...)
	index = append(append(index, list...), 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	data := append(bytes.Clone(block), index...)
	t := &Table{engine: RocksDB, version: 5, format: bloom.RocksDB, policy: bloom.RocksDB.Name(), properties: properties{saysWhole: true, comparator: comparator}}
	t.file = file{r: bytes.NewReader(data), size: int64(len(data))}
	t.file.footer = footer{engine: RocksDB, version: 5, at: int64(len(data)), index: handle{uint64(len(block)), uint64(len(index) - trailerSize)}}
	t.filters = whole{Part{Filter: bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}.NewFilter(bloom.Bytes(filter))}}
	return t
}

// TestDenied has filters that have all keys of the table but one, or other forms of them.
func TestDenied(t *testing.T) {
	var keys [][]byte
	for i := range 10 {
		keys = append(keys, append(key(i), "01234567"...))
	}
	cut := func(n int) (short [][]byte) {
		for _, k := range keys {
			short = append(short, k[:len(k)-n])
		}
		return short
	}
	for _, test := range []struct {
		text       string
		filter     [][]byte
		comparator string
		want       error
	}{
		{"all keys", keys, bytewise, nil},
		{"all but the last", keys[:9], bytewise, ErrPolicy},
		{"all but the first", keys[1:], bytewise, ErrPolicy},
		{"without timestamps", cut(8), bytewise + timestamps, nil},
		{"with timestamps", keys, bytewise + timestamps, ErrPolicy},
		{"without 8 bytes", cut(8), bytewise, ErrPolicy},
		{"without 8 bytes of another comparator", cut(8), "example", nil},
		{"whole keys of another comparator", keys, "example", nil},
		{"without 7 bytes of another comparator", cut(7), "example", ErrPolicy},
	} {
		table := tableFor(test.filter, keys, test.comparator)
		n, err := table.Proved()
		if !errors.Is(err, test.want) || !errors.Is(table.Ignored(), test.want) || test.want == nil && n != len(keys) {
			t.Errorf("%s: %d keys, %v; ignored: %v", test.text, n, err, table.Ignored())
		}
		first, last, known := table.Range()
		want := keys
		if test.comparator == bytewise+timestamps {
			want = cut(timestampSize)
		}
		isKnown := test.want == nil && test.comparator != "example"
		if known != isKnown || known && (!bytes.Equal(first, want[0]) || !bytes.Equal(last, want[9])) {
			t.Errorf("%s: from %q to %q, known: %v", test.text, first, last, known)
		}
		may, err := table.FilterMayContain([]byte("key00000absent"))
		if may != (test.want != nil) || err != nil {
			t.Errorf("%s: %v, %v", test.text, may, err)
		}
		for _, k := range test.filter {
			if may, err := table.MayContain(k); !may || err != nil {
				t.Errorf("%s: %s: %v, %v", test.text, k, may, err)
			}
		}
	}
}

// TestDeniedSplit has prefixes of another length than the filter has, of a comparator whose keys may have timestamps: these leave keys that
// are too short for the prefix.
func TestDeniedSplit(t *testing.T) {
	for _, g := range goldens(t) {
		if g.File != "pebble-split.sst" && g.File != "pebble-of-rocksdb-2-split.sst" {
			continue
		}
		for n := 1; n <= 9; n++ {
			table, err := openBytes(g.data, Split(func(key []byte) int {
				if len(key) < n {
					return -1
				}
				return n
			}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := table.Proved(); errors.Is(err, ErrPrefix) != (n != 4) {
				t.Errorf("%s, prefixes of %d bytes: %v", g.File, n, err)
			}
			for i := range g.Answers {
				if may, err := table.MayContain(key(i)); !may && g.Answers[i] == '+' || err != nil {
					t.Errorf("%s, prefixes of %d bytes: %s: %v, %v", g.File, n, key(i), may, err)
				}
			}
		}
	}
}

// TestUnordered has keys that are not in the order that a name means, and keys whose order no name means.
func TestUnordered(t *testing.T) {
	var keys [][]byte
	for i := range 40 {
		keys = append(keys, key(i))
	}
	swapped := append([][]byte{}, keys...)
	swapped[20], swapped[21] = swapped[21], swapped[20]
	for _, test := range []struct {
		text       string
		stored     [][]byte
		comparator string
		want       bool
	}{
		{"in order", keys, bytewise, true},
		{"two are swapped", swapped, bytewise, false},
		{"in the other order", keys, reverse, false},
		{"no name", keys, "", true},
		{"no name, and few keys", keys[:20], "", false},
		{"no name, and two are swapped", swapped, "", false},
		{"another comparator", keys, "example", false},
	} {
		table := tableFor(test.stored, test.stored, test.comparator)
		first, last, known := table.Range()
		if known != test.want || known && (!bytes.Equal(first, key(0)) || !bytes.Equal(last, key(39))) {
			t.Errorf("%s: from %q to %q, known: %v", test.text, first, last, known)
		}
		for _, k := range test.stored {
			if may, err := table.MayContain(k); !may || err != nil {
				t.Errorf("%s: %s: %v, %v", test.text, k, may, err)
			}
		}
		if may, _ := table.MayContain([]byte("zzz")); may {
			t.Errorf("%s: a key that is in no filter may be there", test.text)
		}
	}
}

// TestExtractors has the names of RocksDB's own prefix extractors.
func TestExtractors(t *testing.T) {
	for name, want := range map[string][]int{ // of keys of 0, 3, 4 and 9 bytes
		"rocksdb.FixedPrefix.4":  {-1, -1, 4, 4},
		"rocksdb.FixedPrefix.0":  {0, 0, 0, 0},
		"rocksdb.CappedPrefix.4": {0, 3, 4, 4},
		"rocksdb.Noop":           {0, 3, 4, 9},
		"rocksdb.FixedPrefix":    nil,
		"rocksdb.FixedPrefix.-1": nil,
		"example.FixedPrefix4":   nil,
		"nullptr":                nil,
		"":                       nil,
	} {
		split := extractorSplit(name)
		if (split == nil) != (want == nil) {
			t.Errorf("%s is known: %v", name, split != nil)
			continue
		}
		for i, n := range []int{0, 3, 4, 9} {
			if want != nil && split(make([]byte, n)) != want[i] {
				t.Errorf("%s: the prefix of %d bytes has %d, want %d", name, n, split(make([]byte, n)), want[i])
			}
		}
	}
}

// TestEstimates compares what is estimated of filters with their Stats.
func TestEstimates(t *testing.T) {
	for _, f := range []bloom.Format{bloom.RocksDB, bloom.Pebble, bloom.LevelDB} {
		for _, n := range []int{100, 5_000, 300_000} {
			keys := make([][]byte, n)
			for i := range keys {
				keys[i] = key(i)
			}
			filter := bloom.Policy{Format: f, BitsPerKey: 10}.NewFilter(bloom.Bytes(keys))
			if got := keysOf(filter); math.Abs(got-float64(n)) > 0.2*float64(n) {
				t.Errorf("%v: %.0f keys, want %d", f, got, n)
			}
			if got := rateOf(Part{Filter: filter}); got < 0.0005 || got > 0.03 {
				t.Errorf("%v, %d keys: a rate of %.4f", f, n, got)
			}
		}
	}
}

// TestTails has filters of both hashes that go by the name of Pebble's, of keys that tell which one it is, and of keys that do not.
func TestTails(t *testing.T) {
	hash := map[tails]func(key []byte) bloom.Hash{
		ownTails:   bloom.Pebble.Hash,
		otherTails: func(key []byte) bloom.Hash { return bloom.Pebble.HashFrom(bloom.LevelDB.Hash(key).Words()[0]) },
	}
	for kind, hashOf := range hash {
		for _, last := range []byte{'a', 0x80} {
			var keys [][]byte
			var hashes []uint32
			for i := range 40 {
				k := append(key(i), last)[3:] // 7 bytes
				keys = append(keys, k)
				hashes = append(hashes, uint32(hashOf(k).Words()[0]))
			}
			table := tableFor(keys, keys, bytewise)
			table.version, table.format, table.policy = 2, bloom.Pebble, bloom.RocksDB.Name()
			table.filters = whole{Part{Filter: bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10}.NewFilter(bloom.Pebble.Hashes32(hashes))}}
			want := kind
			if last < 0x80 {
				want = eitherTails
			}
			if n, err := table.Proved(); n != len(keys) || err != nil || table.proved().tails != want {
				t.Errorf("hash %d, last byte %#x: %d keys, %v, hash %d", kind, last, n, err, table.proved().tails)
			}
			for _, k := range keys {
				if may, err := table.MayContain(k); !may || err != nil {
					t.Errorf("hash %d, last byte %#x: %q is lost: %v", kind, last, k, err)
				}
			}
			passed := 0
			for i := range 1000 {
				if may, _ := table.FilterMayContain(append(key(1000+i), 0x90)[3:]); may {
					passed++
				}
			}
			if passed > 100 {
				t.Errorf("hash %d, last byte %#x: %d of 1000 absent keys pass", kind, last, passed)
			}
		}
	}
}
