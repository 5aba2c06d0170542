package bloompebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	own "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lanebloom/bloom"
)

var (
	ten     = bloom.Policy{Format: bloom.Pebble, BitsPerKey: 10}
	leveldb = bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}
)

// Programs that call Pebble's package bloom compile with this one.
var _ = []FilterPolicy{10, FilterPolicy(own.FilterPolicy(10))}

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{FilterPolicy(10).Name(), own.FilterPolicy(10).Name()},
		{NewNamed(bloom.Pebble.Name(), ten).Name(), own.FilterPolicy(10).Name()},
		{NewNamed("other", ten).Name(), "other"},
		{NewNamed("other", bloom.Policy{BitsPerKey: 10}).Name(), "other"},
	} {
		if test.got != test.want {
			t.Errorf("name %q, want %q", test.got, test.want)
		}
	}
}

// TestNewNamedRefuses gives filters of other formats the name of Pebble's, whose readers would lose keys.
func TestNewNamedRefuses(t *testing.T) {
	for _, format := range bloom.Formats() {
		message := func() (message string) {
			defer func() { message, _ = recover().(string) }()
			NewNamed("rocksdb.BuiltinBloomFilter", bloom.Policy{Format: format, BitsPerKey: 10})
			return ""
		}()
		if want := format != bloom.Pebble; strings.Contains(message, "choose a different name") != want {
			t.Errorf("NewNamed of the format %v panics with %q", format, message)
		}
	}
}

// twins returns two different keys with the same hash.
func twins(t *testing.T, format bloom.Format) (a, b []byte) {
	t.Helper()
	seen := map[bloom.Hash][]byte{}
	for i := range uint64(1 << 20) {
		key := binary.LittleEndian.AppendUint64(nil, i*0x9e3779b97f4a7c15)
		h := format.Hash(key)
		if other, ok := seen[h]; ok {
			return other, key
		}
		seen[h] = key
	}
	t.Fatal("no two keys have the same hash")
	return nil, nil
}

// TestWriter makes several filters with one writer of Pebble and one of this package, and
// compares them. Some keys come again at once, some later, and some neighbours have equal hashes.
func TestWriter(t *testing.T) {
	twinA, twinB := twins(t, bloom.Pebble)
	for bits := 1; bits <= 60; bits++ {
		random := rand.New(rand.NewPCG(1, uint64(bits)))
		owns := own.FilterPolicy(bits).NewWriter(pebble.TableFilter)
		ours := FilterPolicy(bits).NewWriter(pebble.TableFilter)
		want := []byte("kept")
		got := bytes.Repeat([]byte{0xa5}, 1<<20)
		got = append(got[:0], "kept"...)
		for _, keys := range []int{0, 1, 1, 2, 300, 7, 0, 20_000, 40} {
			for i := range keys {
				// Few enough values for some keys to come twice.
				key := binary.LittleEndian.AppendUint32(nil, random.Uint32N(2000))[:random.IntN(5)]
				versions := [][]byte{key, key, key}[:1+random.IntN(3)]
				if i%20 == 0 {
					versions = [][]byte{twinA, twinB, twinA}
				}
				for _, key := range versions {
					key = slices.Clone(key)
					owns.AddKey(key)
					ours.AddKey(key)
					clear(key) // Pebble uses its memory again
				}
			}
			want, got = owns.Finish(want), ours.Finish(got)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bits: the filter of %d keys, or one before it, differs from Pebble's", bits, keys)
			}
		}
	}
}

// TestFormats makes a filter of every format, and wants what the format's own policy makes of the
// keys that differ from the one before.
func TestFormats(t *testing.T) {
	var versions, keys [][]byte
	for i := range 1000 {
		keys = append(keys, key(i))
		for range 1 + i%3 {
			versions = append(versions, key(i))
		}
	}
	for _, format := range bloom.Formats() {
		policy := bloom.Policy{Format: format, BitsPerKey: 12}
		p := NewNamed("a name", policy)
		w := p.NewWriter(pebble.TableFilter)
		for _, version := range versions {
			w.AddKey(version)
		}
		filter := w.Finish(nil)
		if !bytes.Equal(filter, policy.AppendFilter(nil, bloom.Bytes(keys))) {
			t.Errorf("%v: the filter of keys with several versions is not that of the keys", format)
		}
		for i := range keys {
			if !p.MayContain(pebble.TableFilter, filter, keys[i]) {
				t.Fatalf("%v: key %d is missing", format, i)
			}
		}
	}
}

// TestMayContain compares the answers of Pebble's policy and this one, for filters that either
// wrote, and for lines of random bits.
func TestMayContain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	owns, ours := own.FilterPolicy(10), FilterPolicy(10)
	filters := [][]byte{nil, {0}, {6, 1, 0, 0, 0}}
	for probes := range 128 {
		lines := 1 + random.IntN(5)
		filter := make([]byte, 64*lines, 64*lines+5)
		for i := range filter {
			filter[i] = byte(random.Uint32() | random.Uint32() | random.Uint32())
		}
		filters = append(filters, binary.LittleEndian.AppendUint32(append(filter, byte(probes)), uint32(lines)))
	}
	for _, writer := range []pebble.FilterPolicy{owns, ours} {
		for _, keys := range []int{1, 50, 3000} {
			w := writer.NewWriter(pebble.TableFilter)
			for i := range keys {
				w.AddKey(key(i))
			}
			filter := w.Finish(nil)
			filters = append(filters, filter)
			for i := range keys {
				if !ours.MayContain(pebble.TableFilter, filter, key(i)) {
					t.Fatalf("key %d of %d is missing", i, keys)
				}
			}
		}
	}
	yes := 0
	for _, filter := range filters {
		for i := range 500 {
			got, want := ours.MayContain(pebble.TableFilter, filter, key(i)), owns.MayContain(pebble.TableFilter, filter, key(i))
			if got != want {
				t.Fatalf("MayContain(%x, %q) = %v, Pebble says %v", filter, key(i), got, want)
			}
			if want {
				yes++
			}
		}
	}
	if all := 500 * len(filters); yes == 0 || yes == all {
		t.Errorf("%d of %d answers are yes, which tests little", yes, all)
	}
	// Pebble divides by zero, or reads other bits than RocksDB wrote.
	rocksdb := bloom.Policy{Format: bloom.RocksDB, BitsPerKey: 10}.AppendFilter(nil, bloom.Bytes([][]byte{key(1)}))
	for _, damaged := range [][]byte{make([]byte, 69), bytes.Repeat([]byte{1}, 100), rocksdb} {
		if damaged[len(damaged)-5] == 0 {
			damaged[len(damaged)-5] = 6 // probes, in no lines
		}
		if !ours.MayContain(pebble.TableFilter, damaged, key(1)) {
			t.Errorf("the answer of the damaged filter %x is no", damaged)
		}
	}
}

func TestAllocations(t *testing.T) {
	p := FilterPolicy(10)
	w, k := p.NewWriter(pebble.TableFilter), []byte("a key of 17 bytes")
	var filter []byte
	table := func() {
		for i := range 1000 {
			k[0] = byte(i)
			w.AddKey(k)
		}
		filter = w.Finish(filter[:0])
	}
	table() // grows the buffers
	encoded := slices.Clone(filter)
	for _, test := range []struct {
		name string
		run  func()
	}{
		{"AddKey and Finish", table},
		{"MayContain", func() { p.MayContain(pebble.TableFilter, encoded, k) }},
	} {
		if n := testing.AllocsPerRun(100, test.run); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}

// key returns key i. A database of n keys has those with even numbers.
func key(i int) []byte { return fmt.Appendf(nil, "key%08d", i) }

// database is a closed database in memory.
type database struct {
	files *vfs.MemFS
	n     int // it has the keys key(0), key(2), ..., key(2*(n-1))
}

// open opens the database with the filters of new tables, and others to read tables with.
func (d *database) open(t *testing.T, p pebble.FilterPolicy, others []pebble.FilterPolicy, use func(db *pebble.DB)) {
	t.Helper()
	o := &pebble.Options{FS: d.files, DisableAutomaticCompactions: true, Logger: silent{}, Filters: map[string]pebble.FilterPolicy{}}
	o.Levels[0].FilterPolicy = p
	for _, other := range others {
		o.Filters[other.Name()] = other
	}
	db, err := pebble.Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	use(db)
}

// silent is a logger that prints only what ends the program.
type silent struct{}

func (silent) Infof(string, ...any)           {}
func (silent) Errorf(string, ...any)          {}
func (silent) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// write writes all keys into a table of level 0: Get does not use the filters of the lowest level.
func (d *database) write(t *testing.T, p pebble.FilterPolicy) {
	t.Helper()
	d.open(t, p, nil, func(db *pebble.DB) {
		for i := range d.n {
			if err := db.Set(key(2*i), []byte("value"), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
		d.wantName(t, db, p)
	})
}

// wantName wants all tables to have filters with the name of the policy.
func (d *database) wantName(t *testing.T, db *pebble.DB, p pebble.FilterPolicy) {
	t.Helper()
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, level := range levels {
		for _, table := range level {
			tables++
			if name := table.Properties.FilterPolicyName; name != p.Name() || table.Properties.FilterSize == 0 {
				t.Errorf("a table has a filter %q of %d bytes, want %q", name, table.Properties.FilterSize, p.Name())
			}
		}
	}
	if tables == 0 {
		t.Error("the database has no tables")
	}
}

// answers counts what Pebble's metrics call hits and misses: how often a filter said no, and how
// often it said yes.
type answers struct{ no, yes int64 }

// get looks up the keys of the database and the keys between them, and returns what filters
// answered.
func (d *database) get(t *testing.T, p pebble.FilterPolicy, others ...pebble.FilterPolicy) (counted answers) {
	t.Helper()
	d.open(t, p, others, func(db *pebble.DB) {
		for i := range 2 * d.n {
			switch _, closer, err := db.Get(key(i)); {
			case err == nil && i%2 == 1:
				t.Fatalf("%s: found", key(i))
			case err == nil:
				closer.Close()
			case err != pebble.ErrNotFound || i%2 == 0: //nolint:errorlint // Pebble returns it as it is
				t.Fatalf("%s: %v", key(i), err)
			}
		}
		counted = answers{db.Metrics().Filter.Hits, db.Metrics().Filter.Misses}
	})
	return counted
}

// TestMigration changes the filters of a database from Pebble's own to those of this package
// and back, and to LevelDB's.
func TestMigration(t *testing.T) {
	const n = 20_000
	owns, ours, other := own.FilterPolicy(10), FilterPolicy(10), NewNamed("other", leveldb)
	d := &database{vfs.NewMem(), n}
	d.write(t, owns)
	want := d.get(t, owns)
	// A present key is a yes. Of absent ones, some 1.2 % are. The last is past the table's last key.
	if want.yes < n || want.yes > n+n/50 || want.no+want.yes < 2*n-1 {
		t.Fatalf("Pebble's filter says %d times no, %d times yes for %d keys, half of them absent", want.no, want.yes, 2*n)
	}
	for _, test := range []struct {
		name   string
		writer pebble.FilterPolicy // writes the database anew if it is not nil
		reader pebble.FilterPolicy
		others []pebble.FilterPolicy
		want   answers
	}{
		{"Pebble's filters, read by this package", nil, ours, nil, want},
		{"choose a different name", nil, other, nil, answers{}},
		{"another name, and Pebble's policy among Filters", nil, other, []pebble.FilterPolicy{owns}, want},
		{"another name, and this package's among Filters", nil, other, []pebble.FilterPolicy{ours}, want},
		{"this package's filters, read by Pebble", ours, owns, nil, want},
		{"this package's filters, read by it", nil, ours, nil, want},
	} {
		if test.writer != nil {
			d = &database{vfs.NewMem(), n}
			d.write(t, test.writer)
		}
		got := d.get(t, test.reader, test.others...)
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		t.Logf("%s: %+v", test.name, got)
	}

	d = &database{vfs.NewMem(), n}
	d.write(t, other)
	want = d.get(t, other)
	if want.yes < n || want.yes > n+n/50 || want.no+want.yes < 2*n-1 {
		t.Errorf("LevelDB's filter says %d times no, %d times yes for %d keys, half of them absent", want.no, want.yes, 2*n)
	}
	if got := d.get(t, ours); got != (answers{}) {
		t.Errorf("a filter with LevelDB's name answers Pebble: %+v", got)
	}
	if got := d.get(t, ours, other); got != want {
		t.Errorf("LevelDB's filter among Filters: %+v, want %+v", got, want)
	}
	// A compaction of two tables writes a new one, with the filter of its level. It would only move
	// a single table.
	d.open(t, ours, nil, func(db *pebble.DB) {
		for i := range n {
			if err := db.Set(key(2*i), []byte("value"), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Compact(t.Context(), key(0), key(2*n), false); err != nil {
			t.Fatal(err)
		}
		d.wantName(t, db, ours)
	})
}

// emptied is a policy whose filters have no bit set.
type emptied struct{ pebble.FilterPolicy }

type emptiedWriter struct{ pebble.FilterWriter }

func (p emptied) NewWriter(f pebble.FilterType) pebble.FilterWriter {
	return emptiedWriter{p.FilterPolicy.NewWriter(f)}
}

func (w emptiedWriter) Finish(dst []byte) []byte {
	filter := w.FilterWriter.Finish(dst)
	clear(filter[len(dst) : len(filter)-5])
	return filter
}

// TestAnswersComeFromFilters loses all keys of a database whose filters are empty, with either
// reader.
func TestAnswersComeFromFilters(t *testing.T) {
	const n = 1000
	d := &database{vfs.NewMem(), n}
	d.write(t, emptied{FilterPolicy(10)})
	for _, p := range []pebble.FilterPolicy{own.FilterPolicy(10), FilterPolicy(10)} {
		d.open(t, p, nil, func(db *pebble.DB) {
			for i := range n {
				if _, _, err := db.Get(key(2 * i)); err != pebble.ErrNotFound { //nolint:errorlint // Pebble returns it as it is
					t.Fatalf("%s: found, or %v", key(2*i), err)
				}
			}
		})
	}
}

// splitting orders keys as bytes, and splits a version from them, which begins at '@'.
func splitting() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "lanebloom.test.versions"
	c.Split = func(key []byte) int {
		if i := bytes.IndexByte(key, '@'); i >= 0 {
			return i
		}
		return len(key)
	}
	c.Compare = func(a, b []byte) int {
		i, j := c.Split(a), c.Split(b)
		if order := bytes.Compare(a[:i], b[:j]); order != 0 {
			return order
		}
		return bytes.Compare(a[i:], b[j:])
	}
	c.ComparePointSuffixes, c.CompareRangeSuffixes = bytes.Compare, bytes.Compare
	c.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	return &c
}

// TestPrefixes writes several versions of each key, with the prefixes of keys in the filters, and compares
// the files of the tables. It then seeks prefixes in tables of level 0 and of the lowest level.
func TestPrefixes(t *testing.T) {
	const n = 5000
	tables := map[string][]byte{}
	for name, p := range map[string]pebble.FilterPolicy{"own": own.FilterPolicy(10), "ours": FilterPolicy(10)} {
		files := vfs.NewMem()
		o := &pebble.Options{FS: files, Comparer: splitting(), DisableAutomaticCompactions: true, Logger: silent{}}
		o.Levels[0].FilterPolicy = p
		db, err := pebble.Open("", o)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for i := range n {
			for version := range 3 {
				if err := db.Set(fmt.Appendf(key(2*i), "@%d", version), []byte("value"), pebble.NoSync); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
		tables[name] = onlyTable(t, files)
		before := seekPrefixes(t, db, n, false)
		if err := db.Compact(t.Context(), key(0), key(2*n), false); err != nil {
			t.Fatal(err)
		}
		if got := seekPrefixes(t, db, n, false); got != (answers{}) {
			t.Errorf("%s: the lowest level, without UseL6Filters: %+v", name, got)
		}
		if got := seekPrefixes(t, db, n, true); got != before || got.no < n-n/50 || got.yes < n {
			t.Errorf("%s: the lowest level %+v, level 0 %+v", name, got, before)
		}
	}
	if len(tables["own"]) == 0 || !bytes.Equal(tables["own"], tables["ours"]) {
		t.Errorf("the table with Pebble's filter has %d bytes, that with this package's %d or others", len(tables["own"]), len(tables["ours"]))
	}
}

// onlyTable returns the bytes of the only table of a database.
func onlyTable(t *testing.T, files *vfs.MemFS) []byte {
	t.Helper()
	names, err := files.List("")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			file, err := files.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			found[name] = make([]byte, info.Size())
			if _, err := file.ReadAt(found[name], 0); err != nil {
				t.Fatal(err)
			}
			file.Close()
		}
	}
	if len(found) != 1 {
		t.Fatalf("the database has %d tables", len(found))
	}
	return slices.Collect(maps.Values(found))[0]
}

// seekPrefixes seeks the prefixes of the database and those between them, and returns what
// filters answered.
func seekPrefixes(t *testing.T, db *pebble.DB, n int, lowest bool) answers {
	t.Helper()
	before := db.Metrics().Filter
	for i := range 2 * n {
		iter, err := db.NewIter(&pebble.IterOptions{UseL6Filters: lowest})
		if err != nil {
			t.Fatal(err)
		}
		if found := iter.SeekPrefixGE(key(i)); found != (i%2 == 0) || iter.Error() != nil {
			t.Fatalf("%s: found is %v, the error %v", key(i), found, iter.Error())
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
	}
	after := db.Metrics().Filter
	return answers{after.Hits - before.Hits, after.Misses - before.Misses}
}
