package bloomsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/lanebloom/bloom"
)

// known are the errors of bytes that are no sound table.
var known = []error{ErrTable, ErrEncrypted, ErrDamaged, ErrVersion, ErrComparator}

func isKnown(err error) bool {
	return slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) })
}

// checkDamaged opens a damaged table, and wants an error or the answers of the sound one.
func checkDamaged(t *testing.T, g golden, data []byte, what string, at int) {
	t.Helper()
	table, err := openBytes(data)
	if err != nil {
		if !isKnown(err) {
			t.Fatalf("%s %d: the error is none of those that are known: %v", what, at, err)
		}
		return
	}
	for i := at % 7; i < len(g.Answers); i += 7 {
		want := g.Answers[i] == '+' || g.Answers[i] == '1' || g.Ignored != ""
		may, err := table.FilterMayContain(key(i))
		switch {
		case err != nil && (!may || !isKnown(err)):
			t.Fatalf("%s %d: %s: %v, with the error %v", what, at, key(i), may, err)
		case err == nil && !may && g.Answers[i] == '+':
			t.Fatalf("%s %d: the key %s is lost", what, at, key(i))
		case err == nil && may != want && table.Ignored() == nil:
			t.Fatalf("%s %d: %s: %v, want %v", what, at, key(i), may, want)
		}
	}
	if uint64(at) < table.file.footer.index.offset && what == flipped {
		return // the index is as it was
	}
	if _, err := table.UpperBound(); err != nil && !isKnown(err) {
		t.Fatalf("%s %d: the error is none of those that are known: %v", what, at, err)
	}
}

const flipped = "flipped byte"

// TestFlips flips a bit of every byte of every table that has checksums: of every fifth, if it has to be short.
func TestFlips(t *testing.T) {
	for _, g := range goldens(t) {
		if g.File == "rocksdb-5-none.sst" {
			continue
		}
		t.Run(g.File, func(t *testing.T) {
			t.Parallel()
			data := bytes.Clone(g.data)
			step := 1
			if testing.Short() {
				step = 5
			}
			for i := 0; i < len(data); i += step {
				data[i] ^= 1 << (i % 8)
				checkDamaged(t, g, data, flipped, i)
				data[i] ^= 1 << (i % 8)
			}
		})
	}
}

// TestCuts cuts every table at every place, at the end and at the beginning.
func TestCuts(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.File, func(t *testing.T) {
			t.Parallel()
			for n := range g.data {
				if table, err := openBytes(g.data[:n]); !isKnown(err) {
					t.Fatalf("cut to %d bytes: %v, %v", n, table, err)
				}
				if n > 0 {
					// What is at the end may not depend on where it lies.
					checkDamaged(t, g, g.data[n:], "cut before byte", n)
				}
			}
		})
	}
}

// TestShortReader has files that are shorter than their size says, and readers that fail: a data block that cannot be read changes no
// answer, and Proved tells.
func TestShortReader(t *testing.T) {
	failure := errors.New("a failure")
	for _, g := range goldens(t) {
		size := int64(len(g.data))
		if _, err := Open(bytes.NewReader(g.data), size+1); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", g.File, err)
		}
		for fails := range 9 {
			r := &failing{ReaderAt: bytes.NewReader(g.data), after: fails, err: failure}
			table, err := open(r, size, largestSize)
			for i := 0; i < len(g.Answers) && err == nil; i++ {
				var may bool
				if may, err = table.MayContain(key(i)); err != nil && !may {
					t.Fatalf("%s: no, with the error %v", g.File, err)
				}
			}
			if err == nil && table.Ignored() == nil {
				_, err = table.Proved()
			}
			if r.failed && !errors.Is(err, failure) && (table == nil || table.Ignored() == nil) {
				t.Errorf("%s: the read %d fails, and the error is %v", g.File, fails, err)
			}
		}
	}
	if _, err := Open(bytes.NewReader(nil), -1); !errors.Is(err, ErrTable) {
		t.Error(err)
	}
}

// failing fails after some reads.
type failing struct {
	io.ReaderAt
	after  int
	err    error
	failed bool
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.after--; f.after < 0 {
		f.failed = true
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestOtherFiles opens what is no table.
func TestOtherFiles(t *testing.T) {
	random := make([]byte, 100_000)
	rand.NewChaCha8([32]byte{1}).Read(random)
	plain := append(bytes.Clone(random), "\x64\x95\xbf\x63\x96\x22\x42\x82"...)
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrTable},
		{"text", bytes.Repeat([]byte("a line of text\n"), 1000), ErrTable},
		{"zeros", make([]byte, 10_000), ErrTable},
		{"random bytes", random, ErrEncrypted},
		{"few random bytes", random[:100], ErrTable},
		{"a plain table", plain, ErrTable},
		{"format_version 8", rocksFooter(8, 4), ErrVersion},
		{"format_version 0 with RocksDB's magic", rocksFooter(0, 1), ErrVersion},
		{"checksums of the type 5", rocksFooter(5, 5), ErrVersion},
		{"format_version 6 without its magic", rocksFooter(6, 1), ErrDamaged},
	} {
		if _, err := openBytes(test.data); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestOtherVersions has sound files of versions and programs that are not read: no error says that they are damaged or encrypted.
func TestOtherVersions(t *testing.T) {
	untagged := []byte{0, 1, 2, 'k', 0, 0, 0, 0, 0, 0}
	riak := append([]byte{10, 10 << 4}, untagged...) // the length, and LZ4's of a literal
	for _, test := range []struct {
		name string
		data []byte
		text string
	}{
		{"Badger v1", badger1("AAAA", 7), "Badger v1"},
		{"Badger v1, a large filter", badger1(strings.Repeat("AAAA", 1<<13), 13), "Badger v1"},
		{"Badger v2", badger2(), "Badger v2"},
		{"Riak", levelDBTable(riak, zlibBlock), "not Zstandard"},
		{"Mojang", levelDBTable([]byte("\x78\x9cno frame"), zlibBlock), "not Zstandard"},
		{"Mojang's newer", levelDBTable(untagged, lz4Block), "compression 4 of leveldb"},
		{"TableBuilder", levelDBTable(untagged, storedBlock), "TableBuilder"},
	} {
		table, err := openBytes(test.data)
		if err == nil {
			_, err = table.UpperBound()
		}
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// badger1 returns the end of a table of Badger v1: its filter in JSON, with this number of probes.
func badger1(set string, probes int) []byte {
	filter := fmt.Sprintf(`{"FilterSet":"%s=","SetLocs":%d}`, set, probes)
	return binary.BigEndian.AppendUint32([]byte(filter), uint32(len(filter)))
}

// badger2 is a table of Badger v2 without data: its index in Protocol Buffers, with checksum and lengths.
func badger2() []byte {
	index := []byte("\x0a\x06\x0a\x02no\x18\x09\x12\x02{}\x18\x80\x01")
	data := binary.BigEndian.AppendUint32(bytes.Clone(index), uint32(len(index)))
	sum := binary.AppendUvarint([]byte{0x10}, uint64(crc32.Checksum(index, castagnoli)))
	return binary.BigEndian.AppendUint32(append(data, sum...), uint32(len(sum)))
}

// levelDBTable is a table of LevelDB whose index is a block of such a compression.
func levelDBTable(index []byte, kind byte) (data []byte) {
	var handles []byte
	for i, block := range [][]byte{{0, 0, 0, 0}, index} {
		handles = binary.AppendUvarint(binary.AppendUvarint(handles, uint64(len(data))), uint64(len(block)))
		from := len(data)
		data = append(append(data, block...), byte(i)*kind)
		data = binary.LittleEndian.AppendUint32(data, sumCRC32C.of(data[from:]))
	}
	data = append(data, handles...)
	data = append(data, make([]byte, handlesSize-len(handles))...)
	return binary.LittleEndian.AppendUint64(data, magicLevelDB)
}

// TestOldZstd reads a block of RocksDB's kZSTDNotFinalCompression.
func TestOldZstd(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("a block"), 100)
	block := w.EncodeAll(text, binary.AppendUvarint(nil, uint64(len(text))))
	file := file{size: 1000, footer: footer{engine: RocksDB, version: 5}}
	if got, err := file.decompress(block, 64); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
}

// rocksFooter is a footer after some zeros.
func rocksFooter(version uint32, checksum byte) []byte {
	data := make([]byte, 1000+rocksdbSize)
	data[1000] = checksum
	binary.LittleEndian.PutUint32(data[len(data)-12:], version)
	binary.LittleEndian.PutUint64(data[len(data)-8:], magicRocksDB)
	return data
}

// TestHostileLengths has tables, without checksums, whose blocks claim more than there is. The memory that Open
// takes is bounded.
func TestHostileLengths(t *testing.T) {
	const most = 1 << 40
	huge := binary.AppendUvarint(nil, most)
	for _, kind := range []byte{snappyBlock, zlibBlock, bzip2Block, lz4Block, lz4hcBlock, 6, zstdBlock, minlzBlock, 200} {
		for _, version := range []uint32{1, 5} {
			for _, block := range [][]byte{huge, append(bytes.Clone(huge), 1, 2, 3, 4), binary.LittleEndian.AppendUint64(nil, most), nil} {
				data := tableOf(version, append(bytes.Clone(block), kind, 0, 0, 0, 0), len(block))
				before := allocated()
				_, err := openBytes(data)
				if got := allocated() - before; got > headroom+1<<20 {
					t.Errorf("compression %d: %d bytes are allocated for a file of %d", kind, got, len(data))
				}
				if !isKnown(err) {
					t.Errorf("compression %d, version %d: %v", kind, version, err)
				}
			}
		}
	}
}

// tableOf is a table without checksums whose metaindex is a block with its trailer.
func tableOf(version uint32, block []byte, size int) []byte {
	footer := make([]byte, rocksdbSize)
	handles := binary.AppendUvarint(binary.AppendUvarint(nil, 0), uint64(size))
	copy(footer[1:], append(handles, handles...))
	binary.LittleEndian.PutUint32(footer[len(footer)-12:], version)
	binary.LittleEndian.PutUint64(footer[len(footer)-8:], magicRocksDB)
	return append(block, footer...)
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// TestBombs has blocks of a few hundred kilobytes that say that they have far more: the memory that each decoder takes is bounded, and
// so is the memory that Open takes.
func TestBombs(t *testing.T) {
	const limit = 1 << 20
	layout := indexLayout{userKeys: true}
	for _, test := range []struct {
		name   string
		decode func() error
	}{
		{"an index of long keys", func() error { _, err := parseIndex(longNames(10_000), layout, limit); return err }},
		{"an index of empty keys", func() error { _, err := parseIndex(emptyNames(1<<18), layout, limit); return err }},
		{"an index in columns", func() error { _, err := parseColumnarIndex(emptyColumns(1<<20), limit); return err }},
		{"long names", func() error { _, err := parseMetadata(longNames(10_000), false, limit); return err }},
		{"short names", func() error { _, err := parseMetadata(shortNames(1<<17), false, limit); return err }},
		{"names in columns", func() error { _, err := parseMetadata(emptyColumns(1<<20), true, limit); return err }},
		{"a metaindex", func() error {
			block := longNames(10_000)
			_, err := openBytes(tableOf(5, append(bytes.Clone(block), 0, 0, 0, 0, 0), len(block)))
			return err
		}},
		{"properties", func() error { _, err := openBytes(tableOfProperties(longNames(10_000))); return err }},
	} {
		most := uint64(8 * limit)
		if test.name == "a metaindex" || test.name == "properties" {
			most = 4 * headroom
		}
		before := allocated()
		if err := test.decode(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := allocated() - before; got > most {
			t.Errorf("%s: %d bytes are allocated", test.name, got)
		}
	}
}

// longNames is a block of entries whose keys share 64 KiB, so that they would take far more memory than the block.
func longNames(n int) []byte {
	shared := 1 << 16
	block := append(binary.AppendUvarint([]byte{0}, uint64(shared)), 2)
	block = append(append(block, make([]byte, shared)...), 0, 0)
	for i := range n {
		block = append(binary.AppendUvarint(block, uint64(shared)), 3, 2, byte(i>>16), byte(i>>8), byte(i), 0, 0)
	}
	return append(block, 0, 0, 0, 0)
}

// emptyNames is a block of n entries without a key, whose values are handles.
func emptyNames(n int) []byte { return append(bytes.Repeat([]byte{0, 0, 2, 0, 0}, n), 0, 0, 0, 0) }

// shortNames is a block of n entries whose keys have two or three bytes.
func shortNames(n int) (block []byte) {
	for i := range n {
		block = append(block, 0, 3, 0, byte(i>>16), byte(i>>8), byte(i))
	}
	return append(block, 0, 0, 0, 0)
}

// emptyColumns is a block of n rows that take no bytes: an index of Pebble, or a list of names.
func emptyColumns(n uint32) []byte {
	block := append([]byte{1, 3, 0}, binary.LittleEndian.AppendUint32(nil, n)...)
	for i, kind := range []byte{columnBytes, columnBytes, columnUints} {
		block = binary.LittleEndian.AppendUint32(append(block, kind), uint32(columnsHeader+3*columnHeader+i))
	}
	return append(block, 0, 0, 0, 0)
}

// tableOfProperties is a table of format_version 5 without checksums that has these properties and nothing else.
func tableOfProperties(block []byte) []byte {
	data := append(bytes.Clone(block), 0, 0, 0, 0, 0)
	name := "rocksdb.properties"
	h := binary.AppendUvarint([]byte{0}, uint64(len(block)))
	metaindex := append([]byte{0, byte(len(name)), byte(len(h))}, name...)
	metaindex = append(append(metaindex, h...), 0, 0, 0, 0)
	footer := make([]byte, rocksdbSize)
	copy(footer[1:], binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(data))), uint64(len(metaindex))))
	binary.LittleEndian.PutUint32(footer[len(footer)-12:], 5)
	binary.LittleEndian.PutUint64(footer[len(footer)-8:], magicRocksDB)
	return append(append(append(data, metaindex...), 0, 0, 0, 0, 0), footer...)
}

// TestFiltersTwice has filters that lie in the same bytes: what they take together is not bounded by the file.
func TestFiltersTwice(t *testing.T) {
	offsets := []byte{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 11}
	if b, err := parseBlocks(offsets, bloom.LevelDB); !errors.Is(err, ErrDamaged) {
		t.Errorf("LevelDB: %v, %v", b, err)
	}
	var partitions []byte
	for range 3 {
		partitions = append(partitions, 0, 1, 2, 'k', 0, 40) // 40 bytes at 0
	}
	partitions = append(partitions, 0, 0, 0, 0)
	table := &Table{properties: properties{userKeys: true}, file: file{size: 200, footer: footer{at: 100}}}
	if p, err := table.parsePartitions(partitions); !errors.Is(err, ErrDamaged) {
		t.Errorf("partitions: %v, %v", p, err)
	}
	table.file.footer.at = 150
	if _, err := table.parsePartitions(partitions); err != nil {
		t.Error(err)
	}
}

// TestCompressedPartitions has partitions that are compressed well: decompressed, all would take far more than the file. They are
// read once each, and those past the limit are not decompressed.
func TestCompressedPartitions(t *testing.T) {
	const size = 1 << 20
	filter := make([]byte, size, size+5)
	filter = append(filter, 0xff, 0, 6, 0, 0)
	deflated := bytes.NewBuffer(binary.AppendUvarint(nil, size+5))
	w, err := flate.NewWriter(deflated, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(filter); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for kind, packed := range map[byte][]byte{snappyBlock: snappy.Encode(nil, filter), zlibBlock: deflated.Bytes()} {
		testCompressedPartitions(t, size, append(packed, kind, 0, 0, 0, 0))
	}
}

// testCompressedPartitions has partitions that all are such a block, and decompressed have size bytes and a trailer.
func testCompressedPartitions(t *testing.T, size uint64, block []byte) {
	const partitions = 40
	table := &Table{engine: RocksDB, version: 5, policy: bloom.RocksDB.Name(), properties: properties{userKeys: true}}
	var data, list []byte
	for i := range partitions {
		list = append(list, 0, 2)
		h := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(data))), uint64(len(block)-trailerSize))
		list = append(append(list, byte(len(h)), byte(i>>8), byte(i)), h...)
		data = append(data, block...)
	}
	list = append(list, 0, 0, 0, 0)
	reads := &counting{ReaderAt: bytes.NewReader(data)}
	table.file = file{r: reads, size: int64(len(data)), footer: footer{engine: RocksDB, version: 5, at: int64(len(data))}}
	parts, err := table.parsePartitions(list)
	if err != nil {
		t.Fatal(err)
	}
	table.filters = parts
	table.proof.Store(&proof{ordered: true, compare: bytes.Compare, tails: ownTails})
	fit := int(table.file.limit() / (size + 5))
	before := allocated()
	for range 3 {
		if s, err := table.Stats(); !errors.Is(err, ErrDamaged) || s.Filters != fit {
			t.Fatalf("%d filters, want %d: %v", s.Filters, fit, err)
		}
		for i := range partitions {
			may, err := table.MayContain([]byte{0, byte(i)})
			if damaged := errors.Is(err, ErrDamaged); may != damaged || damaged != (i >= fit) {
				t.Fatalf("partition %d, without keys: %v, %v", i, may, err)
			}
		}
	}
	if reads.reads != partitions {
		t.Errorf("%d reads of %d partitions", reads.reads, partitions)
	}
	if got := allocated() - before; got > 6*headroom { // io.ReadAll copies while it grows
		t.Errorf("%d bytes are allocated for a file of %d", got, len(data))
	}
}

// TestDamagedIndex asks a table of LevelDB whose index is damaged: it is read once. A read that fails is tried again.
func TestDamagedIndex(t *testing.T) {
	for _, g := range goldens(t) {
		if g.File != "leveldb.sst" {
			continue
		}
		data := bytes.Clone(g.data)
		sound, err := openBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		data[sound.file.footer.index.offset] ^= 1
		r := &failing{ReaderAt: bytes.NewReader(data), after: 100, err: io.ErrClosedPipe}
		table, err := open(r, int64(len(data)), leveldbSize)
		if err != nil {
			t.Fatal(err)
		}
		r.after = 0
		for i, want := range []error{io.ErrClosedPipe, ErrDamaged, ErrDamaged, ErrDamaged} {
			if may, err := table.MayContain(key(i)); !may || !errors.Is(err, want) {
				t.Errorf("%v, %v; want %v", may, err, want)
			}
			r.after = max(r.after, 1-i) // one read is left
		}
	}
}

// TestLongStreams has a block of zlib that is longer than the limit: it is not cut.
func TestLongStreams(t *testing.T) {
	file := file{footer: footer{engine: RocksDB, version: 1}}
	for n, want := range map[int]error{headroom: nil, headroom + 1: ErrDamaged} {
		if got, err := file.readAll(bytes.NewReader(make([]byte, n))); !errors.Is(err, want) || err == nil && len(got) != n {
			t.Errorf("%d bytes of %d: %v", len(got), n, err)
		}
	}
}

// FuzzTable opens any bytes. Its seeds have no checksums where the engine allows it, so that what is changed is
// read.
func FuzzTable(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.data)
		unchecked := bytes.Clone(g.data)
		if at := len(unchecked) - rocksdbSize; g.Engine == RocksDB && g.Version > 0 && g.Version < 6 || g.Engine == Pebble && g.Version < 6 {
			unchecked[at] = byte(sumNone)
			f.Add(unchecked)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		table, err := openBytes(data, Split(func(k []byte) int { return min(len(k), 4) }))
		if err != nil {
			if !isKnown(err) {
				t.Fatalf("the error is none of those that are known: %v", err)
			}
			return
		}
		for i := range 20 {
			if may, err := table.MayContain(key(i)); err != nil && (!may || !isKnown(err)) {
				t.Fatalf("%v, %v", may, err)
			}
		}
		n := 0
		for p, err := range table.Filters() {
			if err == nil && p.isNone() {
				t.Fatal("no filter and no error")
			}
			n++
		}
		if n != table.Parts() {
			t.Fatalf("%d filters, Parts says %d", n, table.Parts())
		}
		if _, err := table.UpperBound(); err != nil && !isKnown(err) {
			t.Fatal(err)
		}
		if s, err := table.Stats(); err != nil && !isKnown(err) || s.SetBits > s.Bits || !(s.FalsePositiveRate >= 0 && s.FalsePositiveRate <= 1) {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

// FuzzBlocks reads the parts of tables from any bytes.
func FuzzBlocks(f *testing.F) {
	for _, g := range goldens(f) {
		table, err := openBytes(g.data)
		if err != nil {
			f.Fatal(err)
		}
		for _, h := range []handle{table.file.footer.metaindex, table.file.footer.index} {
			if block, err := table.file.block(h, "a block"); err == nil {
				f.Add(block, byte(g.Version), false)
			}
		}
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 11}, byte(0), true)
	f.Fuzz(func(t *testing.T, data []byte, kind byte, flag bool) {
		const limit = 1 << 20
		layout := indexLayout{userKeys: flag, differences: kind&1 != 0, firstKeys: kind&2 != 0}
		if x, err := parseIndex(data, layout, limit); err == nil {
			checkIndex(t, x)
		}
		if x, err := lastOf(data, layout, limit); err == nil {
			checkIndex(t, x)
		}
		if x, err := parseColumnarIndex(data, limit); err == nil {
			checkIndex(t, x)
		}
		for _, columnar := range []bool{false, true} {
			if m, err := parseMetadata(data, columnar, limit); err == nil {
				m.filter() //nolint:errcheck // it may not panic
			}
		}
		if b, err := parseBlocks(data, 0); err == nil {
			for i := range b.len() {
				b.part(nil, i) //nolint:errcheck // it may not panic
			}
		}
		if root, ok := flatRoot(data); ok {
			root.bytes(fieldFilter)
			root.uint32(fieldKeyCount)
		}
		file := file{size: int64(len(data)), footer: footer{engine: []string{LevelDB, RocksDB, Pebble}[kind%3], version: int(kind % 4)}}
		if contents, err := file.decompress(data, kind); err == nil && uint64(len(contents)) > file.limit() {
			t.Fatalf("%d bytes from %d", len(contents), len(data))
		}
	})
}

func checkIndex(t *testing.T, x *index) {
	t.Helper()
	for i := range x.len() {
		x.key(i)
	}
	x.find([]byte("key"), bytes.Compare)
	if x.len() != len(x.handles) || x.len() != len(x.after) {
		t.Fatalf("%d keys, %d handles, %d", x.len(), len(x.handles), len(x.after))
	}
}
