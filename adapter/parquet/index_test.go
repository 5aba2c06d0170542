package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// random files of a column, and the values in their row groups.
type randomFiles struct {
	columns []*Column
	values  [][][][]byte // of each file and row group
}

// add adds a file. Its filters have sizes of all kinds, and some row groups have none.
func (r *randomFiles) add(t *testing.T, random *rand.Rand, typ Type, compare func(a, b []byte) int, keys [][]byte) {
	t.Helper()
	f, groups := new(file), make([][][]byte, random.IntN(6))
	f.WriteString("PAR1")
	for g := range groups {
		for range 1 + random.IntN(200) {
			v := randomValue(random, typ, "customer-"[:random.IntN(2)*9*(1-min(int(typ.Logical), 1))])
			if random.IntN(3) == 0 {
				v = keys[random.IntN(len(keys))]
			}
			groups[g] = append(groups[g], v)
		}
		chunk := f.add(t, bloom.Bytes(groups[g]), [...]int{8, 10, 12, 64}[random.IntN(4)])
		if compare != nil && random.IntN(3) > 0 {
			chunk.Min, chunk.Max = slices.MinFunc(groups[g], compare), slices.MaxFunc(groups[g], compare)
		}
		if random.IntN(4) == 0 {
			chunk.FilterOffset, chunk.Unordered = 0, chunk.Min == nil
		}
	}
	c := f.open(t, typ)
	c.meta.File = fmt.Sprint("file ", len(r.columns))
	r.columns, r.values = append(r.columns, c), append(r.values, groups)
}

// index makes an index of the files and opens it.
func (r *randomFiles) index(t *testing.T, rate float64) (*Index, []byte) {
	t.Helper()
	x, err := NewIndexer(rate)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i, c := range r.columns {
		if err := addTo(x, IndexedFile{c.Meta().File, int64(100 + i), time.Unix(int64(i), 5), uint64(i) << 60}, c); err != nil {
			t.Fatal(err)
		}
	}
	for file, group := range x.Wanting() {
		if err := x.AddKeys(file, group, bloom.Bytes(r.values[file][group])); err != nil {
			t.Fatal(err)
		}
	}
	var data bytes.Buffer
	if n, err := x.WriteTo(&data); err != nil || n != int64(data.Len()) {
		t.Fatalf("%d bytes: %v", n, err)
	}
	index, err := OpenIndex(bytes.NewReader(data.Bytes()), n64(&data))
	if err != nil {
		t.Fatal(err)
	}
	return index, data.Bytes()
}

func n64(b *bytes.Buffer) int64 { return int64(b.Len()) }

// all returns the columns of an index.
func (x *Index) all() (columns []*Column) {
	for i := range x.files {
		columns = append(columns, x.columns[i])
	}
	return columns
}

// TestIndex asks indexes of random files of every type, and compares the answers with the values and with
// those of the filters in the files.
func TestIndex(t *testing.T) {
	for _, order := range orders {
		t.Run(order.typ.String(), func(t *testing.T) {
			own, excluded := 0, 0
			for seed := range uint64(6) {
				random := rand.New(rand.NewPCG(2, seed))
				keys := make([][]byte, 1+random.IntN(200))
				for i := range keys {
					keys[i] = randomValue(random, order.typ, "")
				}
				r := new(randomFiles)
				for range 1 + random.IntN(8) {
					r.add(t, random, order.typ, order.compare, keys)
				}
				x, _ := r.index(t, 0.02)
				k, err := KeysOf(order.typ, keys)
				if err != nil {
					t.Fatal(err)
				}
				for i, f := range x.files {
					if f.Footer != uint64(i)<<60 {
						t.Fatalf("file %d: the checksum of the footer is %x", i, f.Footer)
					}
				}
				m, err1 := rowGroups(k, x.all()...)
				want, err2 := rowGroups(k, r.columns...)
				if err := errors.Join(err1, err2); err != nil || len(m) != len(want) {
					t.Fatalf("%d row groups, want %d: %v", len(m), len(want), err)
				}
				for i, group := range m {
					if w := want[i]; group.Err != nil || group.Index != w.Index || group.Rows != w.Rows || group.Column.Meta().File != w.Column.Meta().File {
						t.Fatalf("row group %d is %+v, and %+v in the file", i, group, w)
					}
				}
				at := 0
				for file, groups := range r.values {
					for g, values := range groups {
						group, holds := m[at], map[string]bool{}
						for _, v := range values {
							holds[string(v)] = true
						}
						for i, key := range keys {
							if holds[string(key)] && !mayContain(group, i) {
								t.Fatalf("seed %d, file %d, row group %d: %x is missing", seed, file, g, key)
							}
							if !mayContain(group, i) {
								excluded++
							}
						}
						if chance, ok := group.chance(); ok != (group.keys != nil) || chance.rate > 0.2 {
							t.Fatalf("by chance %+v, %v", chance, ok)
						}
						if want[at].Err == nil {
							own++
						}
						at++
					}
				}
			}
			if own == 0 || excluded == 0 {
				t.Errorf("%d filters of files, %d keys are excluded", own, excluded)
			}
		})
	}
}

// TestIndexOfFilters wants the answers of the files' own filters, if those have room for as many keys: sizes
// that differ by powers of two, or by an odd factor that most have.
func TestIndexOfFilters(t *testing.T) {
	for _, blocks := range [][]int{{32, 32, 32}, {32, 16, 64, 1, 8}, {48, 96, 24, 3}, {37, 37, 37, 74}} {
		f := new(file)
		random := rand.New(rand.NewPCG(3, uint64(len(blocks))))
		for _, n := range blocks {
			values := make([]uint64, 16*n) // 16 bits a key: a filter of half the blocks breaks the rate
			for i := range values {
				values[i] = random.Uint64()
			}
			f.add(t, bloom.Integers(values), 16)
		}
		c := f.open(t, Type{Physical: Int64})
		r := &randomFiles{columns: []*Column{c}}
		x, _ := r.index(t, 0.0015) // it wants no values
		if size := 8 * len(x.rows.Empty().Bytes()); size != 256*slices.Max(blocks) {
			t.Errorf("%d blocks: filters of %d bits", blocks, size)
		}
		keys := make([]int64, 100_000)
		for i := range keys {
			keys[i] = random.Int64()
		}
		k, err := KeysOf(c.Type(), keys)
		if err != nil {
			t.Fatal(err)
		}
		m, err1 := rowGroups(k, x.all()...)
		want, err2 := rowGroups(k, c)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for i, group := range m {
			chance, _ := group.chance()
			wanted, _ := want[i].chance()
			if !slices.Equal(group.Hits, want[i].Hits) || chance != wanted {
				t.Errorf("%d blocks, row group %d: %d hits, want %d; %+v, want %+v", blocks, i, group.Count, want[i].Count, chance, wanted)
			}
		}
	}
}

// TestIndexSize wants filters that keep the rate on average: one large row group among many does not make all
// large, and small ones among large do not make those worse.
func TestIndexSize(t *testing.T) {
	for _, test := range []struct {
		keys   func(group int) int
		blocks uint64
	}{
		{func(int) int { return 1000 }, 64},
		{func(g int) int { return 1000 - 999*min(g, 1) }, 1},
		{func(g int) int { return 1 + 999*min(g, 1) }, 64},
	} {
		r := &randomFiles{}
		f := new(file)
		f.WriteString("PAR1")
		var values [][][]byte
		for g := range 400 {
			f.chunks = append(f.chunks, Chunk{Rows: 1})
			var group [][]byte
			for i := range test.keys(g) {
				group = append(group, fmt.Appendf(nil, "%d in %d", i, g))
			}
			values = append(values, group)
		}
		r.columns, r.values = []*Column{f.open(t, Type{Physical: ByteArray})}, [][][][]byte{values}
		x, _ := r.index(t, 0.01)
		size := 8 * len(x.rows.Empty().Bytes())
		sum := 0.0
		for _, rate := range x.columns[0].index.rates {
			sum += rate
		}
		if size != int(256*test.blocks) || sum/400 > 0.0101 {
			t.Errorf("filters of %d blocks, want %d; rate %v", size/256, test.blocks, sum/400)
		}
	}
}

// TestIndexInParts wants the same answers when memory holds those of a few row groups and keys only, of
// columns in any order, twice, and beside columns of files.
func TestIndexInParts(t *testing.T) {
	typ := Type{Physical: Int64}
	random := rand.New(rand.NewPCG(4, 4))
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = randomValue(random, typ, "")
	}
	r := new(randomFiles)
	for range 40 {
		r.add(t, random, typ, nil, keys[:100])
	}
	x, _ := r.index(t, 0.01)
	columns := append(x.all(), x.all()[7], r.columns[3])
	random.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	k, err := KeysOf(typ, keys)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rowGroups(k, columns...)
	if err != nil {
		t.Fatal(err)
	}
	defer func(bytes int) { answersMemory = bytes }(answersMemory)
	for _, answersMemory = range []int{1, 10_000, 50_000} {
		m, err := rowGroups(k, columns...)
		if err != nil || len(m) != len(want) {
			t.Fatalf("%d row groups, want %d: %v", len(m), len(want), err)
		}
		for i, group := range m {
			if w := want[i]; group.Column != w.Column || group.Index != w.Index || group.Count != w.Count || !slices.Equal(group.Hits, w.Hits) {
				t.Fatalf("with %d bytes, row group %d: %d hits, want %d", answersMemory, i, group.Count, w.Count)
			}
		}
	}
}

// TestIndexDamaged changes every byte of an index, and cuts it at every length: there is an error, or the
// same answers.
func TestIndexDamaged(t *testing.T) {
	typ := Type{Physical: ByteArray, Logical: String}
	random := rand.New(rand.NewPCG(5, 5))
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("nobody")}
	r := new(randomFiles)
	for range 3 {
		r.add(t, random, typ, slices.Compare[[]byte], keys[:2])
	}
	index, data := r.index(t, 0.3)
	k, err := KeysOf(typ, keys)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rowGroups(k, index.all()...)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte) (failed bool) {
		x, err := OpenIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !errors.Is(err, ErrIndex) {
				t.Fatalf("%s: %v", what, err)
			}
			return true
		}
		m, err := rowGroups(k, x.all()...)
		if err != nil || len(m) != len(want) {
			t.Fatalf("%s: %d row groups: %v", what, len(m), err)
		}
		for i, group := range m {
			switch w := want[i]; {
			case group.Err != nil && !errors.Is(group.Err, ErrIndex):
				t.Fatalf("%s: %v", what, group.Err)
			case group.Err != nil:
				failed = true
			case !slices.Equal(group.Hits, w.Hits) || group.Rows != w.Rows || x.files[0] != index.files[0]:
				t.Fatalf("%s: other answers for row group %d", what, i)
			}
		}
		return failed
	}
	errs := 0
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 1 << random.IntN(8)
		if check(fmt.Sprintf("byte %d of %d changed", i, len(data)), changed) {
			errs++
		}
		if !check(fmt.Sprintf("cut to %d of %d bytes", i, len(data)), data[:i]) {
			t.Fatalf("no error of an index that is cut to %d of %d bytes", i, len(data))
		}
	}
	if errs == 0 {
		t.Error("no changed byte is an error")
	}
	if check("as it is", data) {
		t.Error("an error of an index that is as it was")
	}
}

// TestIndexErrors wants errors of columns that do not go together, of files that are no index, and of disks
// that fail. A file whose row group lacks a filter is not in the index.
func TestIndexErrors(t *testing.T) {
	if _, err := NewIndexer(1); !errors.Is(err, bloom.ErrRate) {
		t.Errorf("rate 1: %v", err)
	}
	x, err := NewIndexer(0.01)
	if err != nil {
		t.Fatal(err)
	}
	column := func(typ Type, path string) *Column {
		f := new(file)
		f.add(t, bloom.Integers([]uint64{1, 2, 3}), 10)
		f.chunks = append(f.chunks, Chunk{Rows: 1})
		c, err := Open(Meta{Path: path, Type: typ, Input: bytes.NewReader(f.Bytes()), Size: n64(&f.Buffer), Chunks: f.chunks})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := addTo(x, IndexedFile{}, column(Type{Physical: Boolean}, "k")); !errors.Is(err, ErrType) {
		t.Errorf("booleans: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if err := addTo(x, IndexedFile{Name: name}, column(Type{Physical: Int64}, "k")); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []*Column{column(Type{Physical: Int64}, "other"), column(Type{Physical: Int32}, "k")} {
		if err := addTo(x, IndexedFile{}, other); !errors.Is(err, ErrType) {
			t.Errorf("column %s of %v: %v", other.Meta().Path, other.Type(), err)
		}
	}
	var wanting [][2]int
	for file, group := range x.Wanting() {
		wanting = append(wanting, [2]int{file, group})
	}
	if !slices.Equal(wanting, [][2]int{{0, 1}, {1, 1}}) {
		t.Errorf("wanting %v", wanting)
	}
	if err := x.AddKeys(1, 1, bloom.Integers([]uint64{4})); err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if _, err := x.WriteTo(&data); err != nil {
		t.Fatal(err)
	}
	index, err := OpenIndex(bytes.NewReader(data.Bytes()), n64(&data))
	if err != nil || len(index.files) != 1 || index.files[0].Name != "b" || index.columns[0].Meta().Path != "k" {
		t.Fatalf("%+v, %v", index.files, err)
	}
	if labels, err := index.rows.Labels(); err != nil || labels.Label(1) != "b\t1\t0\t0001-01-01T00:00:00Z" {
		t.Errorf("label %q, %v", labels.Label(1), err)
	}
	if _, err := index.columns[0].Filter(0); !errors.Is(err, ErrNoFilter) {
		t.Errorf("a filter: %v", err)
	}
	index.columns[0].Load()
	text, err := KeysOf(Type{Physical: ByteArray}, []string{"1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.Prune(index.columns[0]); !errors.Is(err, ErrType) {
		t.Errorf("keys of another kind: %v", err)
	}
	if _, err := x.WriteTo(&fullDisk{1000}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	if _, err := OpenIndex(failing{fs.ErrPermission}, n64(&data)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	others, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 10}.NewInterleaved(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, metadata := range []string{"", "Parquet index 1\n", indexStart + "\x00\x06", indexStart + string(bytes.Repeat([]byte{0xff}, 50))} {
		others.SetMetadata([]byte(metadata))
		var data bytes.Buffer
		if _, err := others.WriteTo(&data); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenIndex(bytes.NewReader(data.Bytes()), n64(&data)); !errors.Is(err, ErrIndex) {
			t.Errorf("filters with the metadata %q: %v", metadata, err)
		}
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if err := x.AddKeys(0, 1, bloom.Integers([]uint64{4})); err == nil {
		t.Error("no error of a temporary file that is closed")
	}
}

// TestIndexBounds asks for keys whose common start is longer than the bounds that an index keeps.
func TestIndexBounds(t *testing.T) {
	start := string(bytes.Repeat([]byte("x"), mostBound+6))
	f, r := new(file), new(randomFiles)
	f.WriteString("PAR1")
	f.chunks = []Chunk{{Rows: 2, Min: []byte(start + "b"), Max: []byte(start + "d")}, {Rows: 1, Min: []byte("y"), Max: []byte("y")}}
	r.columns, r.values = []*Column{f.open(t, Type{Physical: ByteArray})}, [][][][]byte{{{[]byte(start + "b"), []byte(start + "d")}, {[]byte("y")}}}
	x, _ := r.index(t, 0.0001)
	k, err := KeysOf(Type{Physical: ByteArray}, []string{start + "b", start + "d", start + "c"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := rowGroups(k, x.columns[0])
	if err != nil || m[0].Hits[0] != 3 || m[1].keys != nil || len(x.columns[0].Meta().Chunks[0].Min) != mostBound {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestIndexedFile wants a file to be the same only with its size and its time.
func TestIndexedFile(t *testing.T) {
	f := IndexedFile{"a", 5, time.Unix(7, 9), 0}
	for _, info := range []fakeInfo{{size: 5, modified: time.Unix(7, 9).UTC()}, {size: 6, modified: time.Unix(7, 9)}, {size: 5, modified: time.Unix(7, 8)}} {
		if same, err := f.Same(info, nil); same != (info.size == 5 && info.modified.Nanosecond() == 9) || err != nil {
			t.Errorf("%+v: %v, %v", info, same, err)
		}
	}
}

// TestSameFooter wants a file to be the same only with its footer, if that is known.
func TestSameFooter(t *testing.T) {
	file := func(footer string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(magic+"pages"+footer), uint32(len(footer))), magic...)
	}
	was, now := file("footer 1"), file("footer 2")
	sum, err := footerChecksum(bytes.NewReader(was), int64(len(was)))
	if err != nil {
		t.Fatal(err)
	}
	f := IndexedFile{Size: int64(len(was)), Footer: sum}
	for _, test := range []struct {
		data []byte
		want bool
		err  error
	}{{was, true, nil}, {now, false, nil}, {now[:len(now)-1], false, io.ErrUnexpectedEOF}, {bytes.Repeat([]byte("x"), len(was)), false, ErrFooter}} {
		if got, err := f.Same(fakeInfo{size: f.Size}, bytes.NewReader(test.data)); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%q: %v, %v", test.data, got, err)
		}
	}
	if same, err := (IndexedFile{Size: 1}).Same(fakeInfo{size: 1}, bytes.NewReader(now)); !same || err != nil {
		t.Errorf("not known: %v, %v", same, err)
	}
}

type fakeInfo struct {
	fs.FileInfo
	size     int64
	modified time.Time
}

func (i fakeInfo) Size() int64        { return i.size }
func (i fakeInfo) ModTime() time.Time { return i.modified }

// TestGrown wants a filter that is halved or grown to have the bits of one that was made with that size.
func TestGrown(t *testing.T) {
	keys := bloom.Integers([]uint64{1, 2, 3, 5, 8, 13, math.MaxUint64})
	for _, blocks := range []int{1, 3, 8, 20} {
		small, large := filterOf(blocks, []bloom.Keys{keys}), filterOf(2*blocks, []bloom.Keys{keys})
		if !bytes.Equal(halved(large.Bytes()), small.Bytes()) {
			t.Errorf("%d blocks, halved: other bits", 2*blocks)
		}
		again := grown(small.Bytes(), 6)
		if rateOf(again) != rateOf(small.Bytes()) || !bytes.Equal(halved(again), grown(small.Bytes(), 3)) {
			t.Errorf("%d blocks, grown: other bits", blocks)
		}
	}
}

// addTo adds a file to an index.
func addTo(x *Indexer, file IndexedFile, c *Column) error {
	add, err := x.Read(file, c)
	if err != nil {
		return err
	}
	return add()
}
