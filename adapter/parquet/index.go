package bloomparquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom"
)

// Index is an open index file. The file contains the filters of one column for all row groups of many
// files, and was written by an [Indexer]. An Index keeps no filter in memory, and verifies everything that
// it reads. You can pass the columns of an Index to [Keys.Prune], which then reads the index instead of the
// files.
//
// An index describes the files as they were when the index was made. [IndexedFile.Same] reports whether a
// file is still unchanged. If a file has changed, read the file itself. An Index is safe for concurrent use
// if its [io.ReaderAt] is.
type Index struct {
	rows    *bloom.InterleavedFile
	files   []IndexedFile
	columns []*Column
}

// IndexedFile describes a file as it was when it was added to an index.
type IndexedFile struct {
	Name     string    // the name that the caller passed to [Indexer.Read]
	Size     int64     // size in bytes
	Modified time.Time // modification time
	// Footer is the XXH64 of the file's footer, or 0 if it is not known. If Footer is 0, [Indexer.Read]
	// computes it. Footer distinguishes versions of a file that have the same size and modification time.
	// For example, a program may restore the modification time, or write the file twice within the
	// resolution of that time.
	Footer uint64
}

// Same reports whether a file still has the size and modification time that it had when it was indexed. If in
// is not nil and f.Footer is not 0, Same also reads the footer from in and compares the checksum of the
// footer with f.Footer. Same returns an error only if it cannot read the footer.
func (f IndexedFile) Same(info fs.FileInfo, in io.ReaderAt) (bool, error) {
	same := info.Size() == f.Size && info.ModTime().Equal(f.Modified)
	if !same || in == nil || f.Footer == 0 {
		return same, nil
	}
	sum, err := footerChecksum(in, f.Size)
	return err == nil && sum == f.Footer, err
}

// footerChecksum returns the XXH64 of the footer of a file. Files whose pages or filters are at other places,
// or whose columns have other bounds, differ in it. Without bounds, files of other values and the same sizes
// may have one footer.
func footerChecksum(in io.ReaderAt, size int64) (uint64, error) {
	footer, _, err := readFooter(io.NewSectionReader(in, 0, size))
	if err != nil {
		return 0, err
	}
	return xxhash.Sum64(footer), nil
}

// OpenIndex opens an index of the given size in bytes. It reads all of the index except the filters. The
// error is [ErrIndex], or an error from reading the index.
func OpenIndex(in io.ReaderAt, size int64) (*Index, error) {
	rows, err := bloom.OpenInterleavedFile(in, size)
	if err != nil {
		return nil, errIndex(err)
	}
	labels, err := rows.Labels()
	if err != nil {
		return nil, errIndex(err)
	}
	x := &Index{rows: rows}
	d := indexDecoder{data: labels.Metadata()}
	if err := d.index(x); err != nil {
		return nil, err
	}
	return x, nil
}

// Files returns an iterator over the files and their columns, in the order in which the files were added.
// You can pass the columns to [Keys.Prune], but [Column.Filter] returns [ErrNoFilter] for them.
func (x *Index) Files() iter.Seq2[IndexedFile, *Column] {
	return func(yield func(IndexedFile, *Column) bool) {
		for i, file := range x.files {
			if !yield(file, x.columns[i]) {
				return
			}
		}
	}
}

// label returns the label of a row group's filter, for people and other programs: the file, the number, and
// the size and the time of the file, with tabs between.
func (f *IndexedFile) label(group int) string {
	return fmt.Sprintf("%s\t%d\t%d\t%s", f.Name, group, f.Size, f.Modified.UTC().Format(time.RFC3339Nano))
}

// What an index keeps beside the filters: indexStart, the path of the column, the number of files, and the files one
// after the other, each with its row groups. [binary.AppendUvarint] writes the numbers, and texts follow their length.
const indexStart = "Parquet index 2\n"

// mostBound is how many bytes an index keeps of a bound. The beginning of a bound serves as a bound, too: see
// bytesSpan.
const mostBound = 64

// indexEncoder writes that.
type indexEncoder struct{ data []byte }

func (e *indexEncoder) number(n int64) { e.data = binary.AppendVarint(e.data, n) }

func (e *indexEncoder) text(s string) {
	e.number(int64(len(s)))
	e.data = append(e.data, s...)
}

func (e *indexEncoder) start(path string, files int) {
	e.data = append(e.data, indexStart...)
	e.text(path)
	e.number(int64(files))
}

// numbers are the fields of a type, in the order of an index.
func (t *Type) numbers() []int64 {
	utc := int64(0)
	if t.UTC {
		utc = 1
	}
	return []int64{int64(t.Physical), int64(t.Logical), int64(t.Width), int64(t.Bits), int64(t.Unit), utc, int64(t.Precision), int64(t.Scale)}
}

func (e *indexEncoder) file(f *IndexedFile, m *Meta) {
	e.text(f.Name)
	e.number(f.Size)
	e.number(f.Modified.Unix())
	e.number(int64(f.Modified.Nanosecond()))
	e.data = binary.LittleEndian.AppendUint64(e.data, f.Footer)
	for _, n := range m.Type.numbers() {
		e.number(n)
	}
	e.number(int64(len(m.Chunks)))
}

func (e *indexEncoder) group(m *Meta, i int, rate float64) {
	c := &m.Chunks[i]
	e.number(c.Rows)
	e.data = binary.LittleEndian.AppendUint64(e.data, math.Float64bits(rate))
	low, high := string(c.Min), string(c.Max)
	if m.Type.order() == bytesOrder {
		low, high = low[:min(len(low), mostBound)], high[:min(len(high), mostBound)]
	}
	e.text(low)
	e.text(high)
	unordered := int64(0)
	if c.Unordered {
		unordered = 1
	}
	e.number(unordered)
}

// indexDecoder reads what an indexEncoder wrote. After an error it returns zeros.
type indexDecoder struct {
	data []byte
	err  error
}

func (d *indexDecoder) fail(why string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrIndex, why)
	}
	d.data = nil
}

func (d *indexDecoder) bytes(n int64) []byte {
	if n < 0 || n > int64(len(d.data)) {
		d.fail("its list of files is truncated")
		return nil
	}
	part := d.data[:n:n]
	d.data = d.data[n:]
	return part
}

func (d *indexDecoder) number() int64 {
	v, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail("its list of files is truncated")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *indexDecoder) text() []byte { return d.bytes(d.number()) }

// index reads all files.
func (d *indexDecoder) index(x *Index) error {
	if x.rows.Empty().Format() != bloom.Parquet || !strings.HasPrefix(string(d.data[:min(len(d.data), len(indexStart))]), indexStart) {
		d.fail("its filters do not have the format of Parquet files")
		return d.err
	}
	d.bytes(int64(len(indexStart)))
	path, first := string(d.text()), 0
	for n := d.number(); n > 0 && d.err == nil; n-- {
		first = d.file(x, path, first)
	}
	if d.err == nil && (len(d.data) > 0 || first != x.rows.Len()) {
		d.fail(fmt.Sprintf("its files have %d row groups, but it has %d filters", first, x.rows.Len()))
	}
	return d.err
}

// file reads a file whose first filter has a number, and returns the number of the next file's.
func (d *indexDecoder) file(x *Index, path string, first int) (next int) {
	f := IndexedFile{Name: string(d.text()), Size: d.number()}
	f.Modified = time.Unix(d.number(), d.number())
	if sum := d.bytes(8); sum != nil {
		f.Footer = binary.LittleEndian.Uint64(sum)
	}
	var n [8]int64
	for i := range n {
		n[i] = d.number()
	}
	t := Type{Physical: Physical(n[0]), Logical: Logical(n[1]), Width: int(n[2]), Bits: int(n[3]), Unit: Unit(n[4]), UTC: n[5] == 1, Precision: int(n[6]), Scale: int(n[7])}
	groups := d.number()
	if groups < 0 || groups > int64(x.rows.Len()-first) {
		d.fail("it has too few filters")
		return first
	}
	m := Meta{File: f.Name, Path: path, Type: t, Size: f.Size, Chunks: make([]Chunk, groups)}
	column := &indexed{x.rows, first, make([]float64, groups)}
	for i := range m.Chunks {
		c := &m.Chunks[i]
		c.Rows = d.number()
		if rate := d.bytes(8); rate != nil {
			column.rates[i] = math.Float64frombits(binary.LittleEndian.Uint64(rate))
		}
		c.Min, c.Max, c.Unordered = d.text(), d.text(), d.number() == 1
	}
	c, err := Open(m)
	if d.err == nil && (err != nil || !slices.Equal(t.numbers(), n[:]) || t.KeyKind() != x.rows.Empty().KeyKind()) {
		d.fail(fmt.Sprintf("column %s of %s is %v, but the keys are of the kind %s", path, f.Name, t, x.rows.Empty().KeyKind()))
	}
	if d.err == nil {
		c.index = column
		x.files, x.columns = append(x.files, f), append(x.columns, c)
	}
	return first + int(groups)
}
