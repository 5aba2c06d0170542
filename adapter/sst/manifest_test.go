package bloomsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// logOf returns a log of records, as the engines write it.
func logOf(records ...[]byte) (log []byte) {
	for _, record := range records {
		for begun := false; ; begun = true {
			left := logBlock - len(log)%logBlock
			if left < logHeader {
				log = append(log, make([]byte, left)...)
				left = logBlock
			}
			n := min(len(record), left-logHeader)
			kind := byte(chunkFull)
			switch whole := n == len(record); {
			case begun && whole:
				kind = chunkLast
			case begun:
				kind = chunkMiddle
			case !whole:
				kind = chunkFirst
			}
			checked := append([]byte{kind}, record[:n]...)
			log = binary.LittleEndian.AppendUint32(log, maskCRC(crc32.Checksum(checked, castagnoli)))
			log = binary.LittleEndian.AppendUint16(log, uint16(n))
			log = append(log, checked...)
			if record = record[n:]; kind == chunkFull || kind == chunkLast {
				break
			}
		}
	}
	return log
}

// readLog returns the records of a log.
func readLog(log []byte) (records [][]byte, torn bool, err error) {
	l := logRecords{r: bytes.NewReader(log)}
	for l.next() {
		records = append(records, bytes.Clone(l.record))
	}
	return records, l.torn, l.err
}

// TestLogRecords reads logs whose records end near the ends of blocks.
func TestLogRecords(t *testing.T) {
	for end := logBlock - 2*logHeader - 3; end < logBlock+3; end++ {
		want := [][]byte{
			bytes.Repeat([]byte("a"), end-logHeader), []byte("bc"), bytes.Repeat([]byte("d"), 2*logBlock+5), {}, []byte("e"),
		}
		got, torn, err := readLog(logOf(want...))
		if err != nil || torn || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("a record that ends at %d: %d records of %d, torn: %v, %v", end, len(got), len(want), torn, err)
		}
	}
}

// TestTornLogs cuts a log at every place: the records before are there. A flipped bit is an error, or the end of the log.
func TestTornLogs(t *testing.T) {
	want := [][]byte{[]byte("first"), []byte("second"), bytes.Repeat([]byte("third"), 30), []byte("fourth")}
	log := logOf(want...)
	var ends []int
	for i := range want {
		ends = append(ends, len(logOf(want[:i+1]...)))
	}
	for n := range log {
		whole := 0
		for whole < len(want) && ends[whole] <= n {
			whole++
		}
		got, torn, err := readLog(log[:n])
		atEnd := n == 0 || slices.Contains(ends, n)
		if err != nil || torn == atEnd || !slices.EqualFunc(got, want[:whole], bytes.Equal) {
			t.Fatalf("cut to %d bytes: %d records of %d, torn: %v, %v", n, len(got), whole, torn, err)
		}
		got, torn, err = readLog(append(bytes.Clone(log[:n]), make([]byte, 3*logBlock)...))
		if err == nil && (!torn || !slices.EqualFunc(got, want[:whole], bytes.Equal)) || err != nil && (atEnd || !errors.Is(err, ErrDamaged)) {
			t.Fatalf("zeros from byte %d on: %d records of %d, torn: %v, %v", n, len(got), whole, torn, err)
		}
		damaged := bytes.Clone(log)
		damaged[n] ^= 1 << (n % 8)
		got, torn, err = readLog(damaged)
		if !torn && !errors.Is(err, ErrDamaged) || len(got) > whole {
			t.Fatalf("byte %d changed: %d records, torn: %v, %v", n, len(got), torn, err)
		}
	}
}

// record is what an edit is built of.
type record []byte

func (r record) numbers(n ...uint64) record {
	for _, v := range n {
		r = binary.AppendUvarint(r, v)
	}
	return r
}

func (r record) bytes(b string) record { return append(r.numbers(uint64(len(b))), b...) }

// key appends a key with a tag.
func (r record) key(k string) record { return r.bytes(k + "\x01\x07\x00\x00\x00\x00\x00\x00") }

// TestEdits has edits with every tag. Only the tables matter.
func TestEdits(t *testing.T) {
	var r record
	with := func(n ...uint64) record { return r.numbers(n...) }
	table := func(tag, level, number uint64) record { return with(tag, level, number, 1000).key("a").key("m") }
	log := logOf(
		with(1).bytes("a comparator").numbers(2, 3, 3, 4, 4, 5, 9, 6, 10, 7), // numbers
		table(7, 0, 10),
		append(table(7, 0, 11), with(tagCompactCursor, 1).key("k")...),
		table(100, 1, 12).numbers(5, 6),
		with(102, 2, 13, 3, 1000).key("b").key("n").numbers(5, 6),
		table(103, 3, 14).numbers(5, 6, 3).bytes("ignored").numbers(65).bytes("\x02").numbers(16).bytes("\x00").numbers(1),
		with(104, 6, 15, 1000, 1).key("c").key("d").key("b").key("z").numbers(5, 6, 1),
		with(104, 6, 16, 1000, 3).key("a").key("d").key("b").key("z").numbers(5, 6, 1),
		with(104, 6, 17, 1000, 0).key("b").key("z").numbers(5, 6, 1),
		with(105, 30, 5000, 105, 31, 5000, 106, 31),
		table(103, 6, 18).numbers(5, 6, 66, 30, 69, 2, 2, 7, 8, 9, 10, 1),
		table(103, 6, 19).numbers(5, 6, 66, 30, 67).bytes("pre").numbers(1),
		with(107, 1, 2, 3, 4, 5, 108, 6, 7),
		with(200, 4, 201).bytes("other").numbers(1).bytes("another comparator").numbers(8201).bytes("\x00"),
		append(table(100, 1, 20).numbers(5, 6), with(200, 4)...),
		with(200, 5, 201).bytes("third"),
		append(table(100, 1, 21).numbers(5, 6), with(200, 5)...),
		with(200, 5, 202),
		with(203, 7, 8193).bytes("an id").numbers(401, 1, 2, 3, 0, 400, 1, 2, 3).bytes("m").bytes("v").numbers(9).bytes("x").numbers(0),
		with(8196, 3, 2, 9, 1, 8197, 3, 8198).bytes("t").numbers(8199).bytes("t").numbers(8200).bytes("t").numbers(9000).bytes("t"),
		append(table(7, 1, 10), with(tagDeletedTable, 0, 10)...), // it moves
		with(tagDeletedTable, 5, 13), // it is on another level
		with(tagDeletedTable, 0, 11),
		append(with(tagDeletedTable, 1, 12), with(tagGroup, 1)...),
		append(table(7, 2, 22), with(tagGroup, 0)...),
		append(table(7, 2, 23), with(tagGroup, 1)...), // a group that is not whole
	)
	m, err := readManifest(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if !m.torn || len(m.families) != 2 || !maps.Equal(m.backings, map[uint64]bool{30: true}) {
		t.Errorf("torn: %v, %d families, backings %v", m.torn, len(m.families), m.backings)
	}
	if f := m.families[0]; f.comparator != "a comparator" || f.stripped {
		t.Errorf("%+v", f)
	}
	if f := m.families[4]; f.name != "other" || f.comparator != "another comparator" || !f.stripped || f.tables[20].level != 1 {
		t.Errorf("%+v", f)
	}
	type place struct {
		level       uint64
		first, last string
	}
	got := map[uint64]place{}
	for number, table := range m.families[0].tables {
		got[number] = place{table.level, string(table.first), string(table.last)}
	}
	if want := map[uint64]place{
		10: {1, "a", "m"}, 13: {2, "b", "n"}, 14: {3, "a", "m"}, 15: {6, "b", "z"}, 16: {6, "a", "z"}, 17: {6, "b", "z"},
		18: {6, "a", "m"}, 19: {6, "a", "m"}, 22: {2, "a", "m"},
	}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	of := m.families[0].tables
	if of[13].path != 3 || of[14].path != 2 || !of[14].stripped || of[13].stripped {
		t.Errorf("%+v, %+v", of[13], of[14])
	}
	if !of[18].virtual || of[18].backing != 30 || of[18].synthetic || !of[19].synthetic {
		t.Errorf("%+v, %+v", of[18], of[19])
	}
}

// TestBadEdits has edits that are damaged, cut or of a version to come.
func TestBadEdits(t *testing.T) {
	var r record
	with := func(n ...uint64) record { return r.numbers(n...) }
	for _, test := range []struct {
		text string
		edit record
		want error
	}{
		{"an unknown tag", with(300, 0, 42), ErrVersion},
		{"tag 8 of LevelDB", with(8, 1), ErrVersion},
		{"an unknown field of a table", with(103, 0, 1, 1).key("a").key("b").numbers(1, 1, 70).bytes("x").numbers(1), ErrVersion},
		{"an unknown field of a blob file", with(401, 1, 2, 3, 64).bytes("x").numbers(0), ErrVersion},
		{"an unknown field of a log", with(8196, 1, 7), ErrVersion},
		{"a comparator that is cut", with(1, 5), ErrDamaged},
		{"a key without a tag", with(7, 0, 1, 1).bytes("short").key("b"), ErrDamaged},
		{"a path of two bytes", with(103, 0, 1, 1).key("a").key("b").numbers(1, 1, 65).bytes("xy").numbers(1), ErrDamaged},
		{"an ignored value that is cut", with(9000, 3), ErrDamaged},
		{"a number that is cut", record{6, 0x80}, ErrDamaged},
		{"a table without its kind", with(104, 0, 1, 1), ErrDamaged},
		{"references to more blob files than there are", with(103, 0, 1, 1).key("a").key("b").numbers(1, 1, 69, 1, 1<<60, 1, 2, 3), ErrDamaged},
		{"a family that is not there", with(200, 9, 6, 0, 1), ErrDamaged},
	} {
		if m, err := readManifest(bytes.NewReader(logOf(test.edit))); !errors.Is(err, test.want) || m != nil && err == nil {
			t.Errorf("%s: %v, want %v", test.text, err, test.want)
		}
	}
	first := append(with(tagDeletedTable, 0, 1), with(tagGroup, 1)...)
	if _, err := readManifest(bytes.NewReader(logOf(first, with(tagDeletedTable, 0, 2)))); !errors.Is(err, ErrDamaged) {
		t.Errorf("a group that is cut: %v", err)
	}
}

// TestBadgerManifest reads sets of changes of Badger, whole and cut.
func TestBadgerManifest(t *testing.T) {
	change := func(number, operation, level uint64) record {
		return record{}.numbers(1<<3 | 2).bytes(string(record{}.numbers(1<<3, number, 2<<3, operation, 3<<3, level, 6<<3, 1)))
	}
	set := func(changes ...record) []byte {
		data := slices.Concat(changes...)
		head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		return append(binary.BigEndian.AppendUint32(head, crc32.Checksum(data, castagnoli)), data...)
	}
	first := append([]byte("Bdgr\x00\x00\x00\x08"), set(change(1, 0, 0), change(2, 0, 1))...)
	log := append(bytes.Clone(first), set(change(1, 1, 0), change(3, 0, 2))...)
	for n := range len(log) + 1 {
		m, err := readBadgerManifest(bytes.NewReader(log[:n]), int64(n))
		if n < 8 {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		got := map[uint64]uint64{}
		for number, table := range m.families[0].tables {
			got[number] = table.level
		}
		want := map[uint64]uint64{}
		switch {
		case n == len(log):
			want = map[uint64]uint64{2: 1, 3: 2}
		case n >= len(first):
			want = map[uint64]uint64{1: 0, 2: 1}
		}
		if !maps.Equal(got, want) || m.torn != (n != 8 && n != len(first) && n != len(log)) {
			t.Fatalf("cut to %d bytes: %v, want %v, torn: %v", n, got, want, m.torn)
		}
		if n < len(log) {
			damaged := bytes.Clone(log)
			damaged[n] ^= 0x40
			if m, err := readBadgerManifest(bytes.NewReader(damaged), int64(len(damaged))); !errors.Is(err, ErrDamaged) && (err != nil || !m.torn) && n > 7 {
				t.Fatalf("byte %d changed: %v", n, err)
			}
		}
	}
	if _, err := readBadgerManifest(bytes.NewReader(append(first, set(record{7})...)), 1000); !errors.Is(err, ErrDamaged) {
		t.Errorf("a malformed set: %v", err)
	}
}

// TestDatabaseComparator reads the comparator of databases.
func TestDatabaseComparator(t *testing.T) {
	log := logOf(record{}.numbers(2, 3), record{}.numbers(1).bytes("example.Newest"), record{}.numbers(42))
	for _, test := range []struct {
		text, current string
		want          string
		err           error
	}{
		{"a database", "MANIFEST-000004\n", "example.Newest", nil},
		{"no database", "", "", nil},
		{"a file that is not there", "MANIFEST-000005\n", "", os.ErrNotExist},
		{"a name in another folder", "../MANIFEST-000004\n", "", ErrDamaged},
		{"no number", "MANIFEST-\n", "", ErrDamaged},
	} {
		folder := t.TempDir()
		if test.current != "" {
			writeFile(t, filepath.Join(folder, "CURRENT"), []byte(test.current))
		}
		writeFile(t, filepath.Join(folder, "MANIFEST-000004"), log)
		if got, err := databaseComparator(folder); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v", test.text, got, err)
		}
		writeFile(t, filepath.Join(folder, "MANIFEST-000004"), log[:10])
		if got, err := databaseComparator(folder); got != "" || !errors.Is(err, test.err) {
			t.Errorf("%s, cut: %q, %v", test.text, got, err)
		}
	}
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzManifest reads any bytes, as a log and as an edit.
func FuzzManifest(f *testing.F) {
	f.Add(logOf(record{}.numbers(1).bytes("c"), record{}.numbers(7, 0, 1, 1).key("a").key("b"), record{}.numbers(6, 0, 1)))
	f.Add([]byte(record{}.numbers(104, 6, 15, 1000, 1).key("c").key("d").key("b").key("z").numbers(5, 6, 1)))
	f.Add([]byte("Bdgr\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readBadgerManifest(bytes.NewReader(data), int64(len(data))); err != nil && !isKnown(err) {
			t.Fatal(err)
		}
		newFamily("", "").badgerChanges(data)
		for _, log := range [][]byte{data, logOf(data)} {
			if m, err := readManifest(bytes.NewReader(log)); err != nil && !isKnown(err) || err == nil && m == nil {
				t.Fatalf("%v, %v", m, err)
			}
		}
	})
}
