package bloomparquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/lanebloom/bloom"
)

// Indexer builds an index, which is a single file that contains the filters of one column for all row
// groups of many files. The filters are interleaved as in [bloom.Interleaved]. A program opens the index
// with [OpenIndex], and reads it instead of the files.
//
//	x, err := bloomparquet.NewIndexer(0.01)
//	defer x.Close()
//	for _, file := range files {
//		add, err := x.Read(file, columns[file]) // reads the file's own filters
//		err = add()
//	}
//	for file, rowGroup := range x.Wanting() { // the other row groups
//		err = x.AddKeys(file, rowGroup, valuesOf(file, rowGroup))
//	}
//	_, err = x.WriteTo(out)
//
// All filters of an index have the same size. The Indexer doubles or halves each filter until it has that
// size. Doubling a filter does not change its answers. Halving a filter raises its false-positive rate.
// Filters fit together if their sizes differ by a factor that is a power of two. The Indexer uses the
// largest group of filters that fit together, and [Indexer.Wanting] yields all other row groups.
//
// The Indexer stores the filters in a temporary file. In memory, it keeps about 100 bytes for each row
// group, and one filter for each call in progress. WriteTo needs as much memory as a
// [bloom.InterleavedBuilder].
//
// Several goroutines may call Read concurrently, while one goroutine calls the functions that Read returns.
// After all files have been added, several goroutines may call AddKeys concurrently. No other calls of
// methods may overlap.
type Indexer struct {
	rate    float64
	perKey  int // bits of a key in a filter that keeps the rate
	files   []indexing
	waiting *os.File
	lock    sync.Mutex // of what follows
	end     int64      // of what waits
	odd     int        // the odd factor of the sizes that go together, in blocks; 0 if it is not known yet
}

// indexing is a file that goes into an index.
type indexing struct {
	IndexedFile
	meta   Meta
	groups []waitingFilter
}

// waitingFilter is the filter of a row group in the temporary file.
type waitingFilter struct {
	offset int64
	blocks int       // 0 if there is none yet
	rates  []float32 // of the filter, of the filter halved once, and so on, until one is of little use
	values bool      // whether it was made from values
}

// NewIndexer returns an empty Indexer. The given rate, between 0 and 1, is the highest acceptable average of
// the false-positive rates of the filters in the index. If filters in the files have rates near or above the
// given rate, the average may be higher: up to 1.1 times the average rate of the filters in the files, where
// a rate below the given rate counts as the given rate. The error is [bloom.ErrRate] if no filter can have
// the given rate, or an error from creating a temporary file.
func NewIndexer(rate float64) (*Indexer, error) {
	policy, err := bloom.PolicyFor(bloom.Parquet, 1000, rate)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "bloom-*.filters")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(file.Name()) // nothing stays behind, where an open file needs no name; elsewhere Close removes it
	return &Indexer{rate: rate, perKey: policy.BitsPerKey, waiting: file}, nil
}

// Close removes the temporary file.
func (x *Indexer) Close() error {
	err := x.waiting.Close()
	_ = os.Remove(x.waiting.Name())
	return err
}

// Read reads the filters of c, which must be a column of the file, and returns a function that adds the
// file to the index. So several goroutines can read files concurrently while one goroutine adds them. Files
// are numbered from 0, in the order in which they are added.
//
// The returned function returns [ErrType] if c and the column of the first file have different paths or
// different kinds of keys. Read returns [ErrType] for types without filters. Its other errors come from
// reading the file or from writing the temporary file.
func (x *Indexer) Read(file IndexedFile, c *Column) (add func() error, err error) {
	if file.Footer == 0 && c.meta.Input != nil {
		if file.Footer, err = footerChecksum(c.meta.Input, c.meta.Size); err != nil && !errors.Is(err, ErrFooter) {
			return nil, err
		}
	}
	m := c.meta
	m.Input, m.Decompress = nil, nil // the file may be closed, and its footer forgotten
	if _, err := newEncoder(m.Type, 0); err != nil {
		return nil, err
	}
	groups := make([]waitingFilter, len(m.Chunks))
	for i := range groups {
		if filter := c.whole(i); filter.err == nil {
			if err := x.wait(&groups[i], filter.blocks); err != nil {
				return nil, err
			}
		}
	}
	return func() error {
		x.lock.Lock()
		defer x.lock.Unlock()
		if len(x.files) > 0 {
			first := x.files[0].meta
			if m.Path != first.Path || m.Type.kin() != first.Type.kin() {
				return fmt.Errorf("%w: column %s is %v, but column %s of %s is %v", ErrType, m.Path, m.Type, first.Path, x.files[0].Name, first.Type)
			}
		}
		x.files, x.odd = append(x.files, indexing{file, m, groups}), 0
		return nil
	}, nil
}

// Wanting returns an iterator over the row groups whose keys you must pass to [Indexer.AddKeys]. It yields
// the number of the file and the number of the row group. These row groups have no usable filter, or a
// filter whose size does not fit the sizes of the other filters. Call Wanting after all files have been
// added.
func (x *Indexer) Wanting() iter.Seq2[int, int] {
	return func(yield func(file, rowGroup int) bool) {
		odd := x.oddFactor()
		for i, file := range x.files {
			for j := range file.groups {
				if !file.groups[j].fits(odd) && !yield(i, j) {
					return
				}
			}
		}
	}
}

// AddKeys builds the filter of a row group from columns of keys. Each key is a value in PLAIN encoding,
// without a length prefix. The keys must include all values of the row group. Duplicate keys do not make
// the filter larger. Several goroutines may call AddKeys concurrently for different row groups. Errors come
// from writing the temporary file.
func (x *Indexer) AddKeys(file, rowGroup int, columns ...bloom.Keys) error {
	n := 0
	for _, column := range columns {
		n += column.Len()
	}
	blocks, most := x.oddFactor(), mostFilter/blockSize
	for blocks*8*blockSize/x.perKey < n && 2*blocks <= most { // halved again if many are equal
		blocks *= 2
	}
	group := &x.files[file].groups[rowGroup]
	group.values = true
	return x.wait(group, filterOf(blocks, columns).Bytes())
}

// oddFactor returns the odd factor that most of the files' own filters have in their number of blocks.
func (x *Indexer) oddFactor() int {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.odd > 0 {
		return x.odd
	}
	counts := map[int]int{}
	x.odd = 1
	for _, file := range x.files {
		for _, g := range file.groups {
			if g.blocks == 0 || g.values {
				continue
			}
			odd := oddOf(g.blocks)
			if counts[odd]++; counts[odd] > counts[x.odd] || counts[odd] == counts[x.odd] && odd < x.odd {
				x.odd = odd
			}
		}
	}
	return x.odd
}

func oddOf(blocks int) int { return blocks >> bits.TrailingZeros(uint(blocks)) }

// fits reports whether there is a filter whose size goes with an odd factor.
func (g *waitingFilter) fits(odd int) bool { return g.blocks > 0 && oddOf(g.blocks) == odd }

// ofLittleUse is the rate from which on a filter is not halved once more.
const ofLittleUse = 0.5

// wait writes a filter to the temporary file, halved as often as it keeps the rate.
func (x *Indexer) wait(g *waitingFilter, blocks []byte) error {
	rate := rateOf(blocks)
	kept, rates := blocks, []float32{float32(rate)}
	for len(blocks)/blockSize%2 == 0 && rate < ofLittleUse {
		blocks = halved(blocks)
		if rate = rateOf(blocks); rate <= x.rate {
			kept, rates = blocks, rates[:0]
		}
		rates = append(rates, float32(rate))
	}
	x.lock.Lock()
	g.offset, x.end = x.end, x.end+int64(len(kept))
	x.lock.Unlock()
	g.blocks, g.rates = len(kept)/blockSize, rates
	_, err := x.waiting.WriteAt(kept, g.offset)
	return err
}

// halved returns a filter of half as many blocks with the same keys: a block is the union of two neighbours.
// Their number has to be even.
func halved(blocks []byte) []byte {
	half := make([]byte, len(blocks)/2)
	for i := 0; i < len(half); i += 8 {
		from := blocks[i/blockSize*2*blockSize+i%blockSize:]
		binary.LittleEndian.PutUint64(half[i:], binary.LittleEndian.Uint64(from)|binary.LittleEndian.Uint64(from[blockSize:]))
	}
	return half
}

// grown returns a filter with the same answers that has each block several times.
func grown(blocks []byte, times int) []byte {
	large := make([]byte, 0, times*len(blocks))
	for ; len(blocks) > 0; blocks = blocks[blockSize:] {
		for range times {
			large = append(large, blocks[:blockSize]...)
		}
	}
	return large
}

// rateAt returns the rate of a filter that becomes one of a number of blocks.
func (g *waitingFilter) rateAt(blocks int) float64 {
	times := max(bits.Len(uint(g.blocks))-bits.Len(uint(blocks)), 0) // that it is halved: the numbers differ by a power of two
	if times >= len(g.rates) {
		return 1
	}
	return float64(g.rates[times])
}

// size returns how many blocks the filters of the index have: so few that they keep the rate on average. If
// those of the files do not, the average may be a tenth larger than theirs.
func (x *Indexer) size(files []indexing) int {
	largest, n := x.odd, 0
	for _, file := range files {
		n += len(file.groups)
		for _, g := range file.groups {
			largest = max(largest, g.blocks)
		}
	}
	mean := func(blocks int) float64 {
		sum := 0.0
		for _, file := range files {
			for _, g := range file.groups {
				sum += g.rateAt(blocks)
			}
		}
		return sum / float64(n)
	}
	most := max(x.rate, 1.1*mean(largest))
	blocks := x.odd
	for blocks < largest && mean(blocks) > most {
		blocks *= 2
	}
	return blocks
}

// Shape returns the number of filters in the index that WriteTo writes, and the size of each filter in
// bytes.
func (x *Indexer) Shape() (filters, bytes int) {
	files, blocks := x.whole()
	for _, file := range files {
		filters += len(file.groups)
	}
	return filters, blocks * blockSize
}

// whole returns the files without a Wanting row group, and how many blocks the filters of their index have.
func (x *Indexer) whole() (files []indexing, blocks int) {
	odd := x.oddFactor()
	for _, file := range x.files {
		if !slices.ContainsFunc(file.groups, func(g waitingFilter) bool { return !g.fits(odd) }) {
			files = append(files, file)
		}
	}
	return files, x.size(files)
}

// WriteTo writes the index to w. It leaves out every file with row groups that [Indexer.Wanting] still
// yields. The error is [bloom.ErrCapacity] if the index would exceed the size limit of interleaved filters.
// Other errors come from w or from a temporary file.
func (x *Indexer) WriteTo(w io.Writer) (int64, error) {
	files, blocks := x.whole()
	empty := filterOf(blocks, nil)
	if len(files) > 0 {
		var err error
		if empty, err = empty.WithKeyKind(files[0].meta.Type.KeyKind()); err != nil {
			return 0, err
		}
	}
	b, err := bloom.NewInterleavedBuilder(empty)
	if err != nil {
		return 0, err
	}
	n, err := x.write(w, b, files, blocks)
	return n, errors.Join(err, b.Close())
}

// write writes the index of the files without a Wanting row group, with filters of the given number of blocks.
func (x *Indexer) write(w io.Writer, b *bloom.InterleavedBuilder, files []indexing, blocks int) (int64, error) {
	var e indexEncoder
	path := ""
	if len(files) > 0 {
		path = files[0].meta.Path
	}
	e.start(path, len(files))
	for _, file := range files {
		e.file(&file.IndexedFile, &file.meta)
		for i, g := range file.groups {
			data := make([]byte, g.blocks*blockSize)
			if _, err := x.waiting.ReadAt(data, g.offset); err != nil {
				return 0, err
			}
			for len(data) > blocks*blockSize {
				data = halved(data)
			}
			filter, err := bloom.Open(bloom.Parquet, grown(data, blocks*blockSize/len(data)))
			if err != nil {
				return 0, err
			}
			if err := b.Add(filter, file.label(i)); err != nil {
				return 0, err
			}
			e.group(&file.meta, i, rateOf(data))
		}
	}
	b.SetMetadata(e.data)
	return b.WriteTo(w)
}
