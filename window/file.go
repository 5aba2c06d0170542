package window

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom"
)

// The file of a window is a header, its checksum, and then the files of its filters, the newest first. All numbers are
// little-endian. docs/file-format.md describes it.

// magic is the first bytes of the file of a window. Like [bloom.FileMagic], they are no text, and show if a transfer has changed
// line ends.
const magic = "\x89BLW\r\n\x1a\n"

const (
	version = 1
	fixed   = 8 + 4 + 4 + 8 + 8 + 16 // bytes of the header before the numbers of filters
)

// header returns what comes before the filters.
func (s *state) header() []byte {
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.generations)))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.options.Keys))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.options.Rate))
	var text [16]byte
	copy(text[:], s.options.Format.String())
	b = append(b, text[:]...)
	for _, g := range s.generations {
		b = binary.LittleEndian.AppendUint32(b, uint32(1+len(g.others)))
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// WriteTo writes the file of the window, while goroutines may add, ask and rotate. The file has every key that a query would find
// when WriteTo begins. To replace an older file in one step, write to a new one, sync it
// and rename it.
func (w *Window) WriteTo(to io.Writer) (n int64, err error) {
	s := w.state.Load()
	if s == nil {
		return 0, errors.New("window: the zero Window has no file")
	}
	first, err := to.Write(s.header())
	n = int64(first)
	for _, g := range s.generations {
		files := []io.WriterTo{g.set}
		for _, f := range g.others {
			files = append(files, f)
		}
		for _, f := range files {
			if err != nil {
				return n, err
			}
			var more int64
			more, err = f.WriteTo(to)
			n += more
		}
	}
	return n, err
}

// saved is what a file has.
type saved struct {
	options     Options
	policy      bloom.Policy
	generations [][]*bloom.Set // the newest first, and in each the window's own filter first
	size        int64
}

// read reads a file.
func read(r io.Reader) (*saved, error) {
	f := new(saved)
	counts, err := f.readHeader(r)
	if err != nil {
		return f, err
	}
	for i, count := range counts {
		var sets []*bloom.Set
		for range count {
			set := new(bloom.Set)
			n, err := set.ReadFrom(r)
			f.size += n
			switch {
			case err == io.EOF:
				err = fmt.Errorf("%w: %w", bloom.ErrEncoding, io.ErrUnexpectedEOF)
			case err == nil && len(set.Bytes()) == 0:
				err = fmt.Errorf("%w: a filter has no bits", bloom.ErrEncoding)
			case err == nil && set.Format() != f.options.Format:
				err = fmt.Errorf("%w: a filter is of %v, and the window of %v", bloom.ErrEncoding, set.Format(), f.options.Format)
			}
			if err != nil {
				return f, fmt.Errorf("window: generation %d: %w", i, err)
			}
			sets = append(sets, set)
		}
		f.generations = append(f.generations, sets)
	}
	return f, nil
}

// readHeader reads the header. It returns how many filters each generation has.
func (f *saved) readHeader(r io.Reader) (counts []uint32, err error) {
	data := make([]byte, fixed)
	n, err := io.ReadFull(r, data)
	f.size = int64(n)
	switch {
	case err == io.EOF:
		return nil, err
	case n >= len(magic) && string(data[:len(magic)]) != magic:
		return nil, fmt.Errorf("window: %w: the bytes are not the file of a window: its first bytes are missing", bloom.ErrEncoding)
	case err != nil:
		return nil, ended(err)
	}
	generations := binary.LittleEndian.Uint32(data[12:])
	if v := binary.LittleEndian.Uint32(data[8:]); v != version {
		return nil, fmt.Errorf("window: %w: the file is of version %d, but this library reads version %d", bloom.ErrEncoding, v, version)
	}
	if generations > mostGenerations {
		return nil, fmt.Errorf("window: %w: %d generations", bloom.ErrEncoding, generations)
	}
	data = append(data, make([]byte, 4*generations+8)...)
	n, err = io.ReadFull(r, data[fixed:])
	f.size += int64(n)
	if err != nil {
		return nil, ended(err)
	}
	end := len(data) - 8
	if xxhash.Sum64(data[:end]) != binary.LittleEndian.Uint64(data[end:]) {
		return nil, fmt.Errorf("window: %w: the checksum of the header is wrong", bloom.ErrEncoding)
	}
	format, err := bloom.ParseFormat(string(bytes.TrimRight(data[fixed-16:fixed], "\x00")))
	if err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	keys := binary.LittleEndian.Uint64(data[16:])
	f.options = Options{format, int(generations), int(min(keys, math.MaxInt)), math.Float64frombits(binary.LittleEndian.Uint64(data[24:]))}
	if f.policy, err = f.options.policy(); err != nil {
		return nil, fmt.Errorf("%w: %w", bloom.ErrEncoding, err)
	}
	for at := fixed; at < end; at += 4 {
		counts = append(counts, binary.LittleEndian.Uint32(data[at:]))
		if counts[len(counts)-1] == 0 {
			return nil, fmt.Errorf("window: %w: generation %d has no filter", bloom.ErrEncoding, len(counts)-1)
		}
	}
	return counts, nil
}

// ended is the error for a reader that ends inside the header, or fails.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("window: %w: the file ends in its header: %w", bloom.ErrEncoding, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("window: %w", err)
}

// ReadFrom makes w the window in the next file of r, with its options. It verifies the checksums, reads the bytes of the
// file and no more, and allocates memory for the bytes that r gives, not for those that headers claim: a file is refused if Rotate
// would make filters of more than four times the size of those that it has. No goroutine may use w meanwhile; Load is for a window
// in use, or with other options.
//
// The error is [io.EOF] if r has no byte left, and [bloom.ErrEncoding] if the bytes are not a whole and undamaged file, with
// [io.ErrUnexpectedEOF] if r ends inside it. It is [bloom.ErrFormat] for a format that this library does not know. With an error,
// w does not change.
func (w *Window) ReadFrom(r io.Reader) (int64, error) {
	f, err := read(r)
	if err != nil {
		return f.size, err
	}
	bits, _, err := f.policy.Size(f.options.Keys)
	if err != nil {
		return f.size, fmt.Errorf("window: %w: %w", bloom.ErrEncoding, err)
	}
	generations := make([]*generation, len(f.generations))
	for i, sets := range f.generations {
		// Rotate must not make far larger filters than the file has. Another version of this library may have taken a few more bits
		// for each key, or fewer.
		if has := 8 * uint64(len(sets[0].Bytes())); has/4 > bits+64 || bits/4 > has {
			return f.size, fmt.Errorf("window: %w: the first filter of generation %d has %d bits, and one of %d keys has %d",
				bloom.ErrEncoding, i, has, f.options.Keys, bits)
		}
		g := new(generation)
		if g.set, err = bloom.OpenAtomicSet(f.options.Format, sets[0].Bytes()); err != nil {
			return f.size, fmt.Errorf("window: generation %d: %w", i, err)
		}
		for _, set := range sets[1:] {
			g.others = append(g.others, set.Filter())
		}
		generations[i] = g
	}
	w.state.Store(newState(f.options, f.policy, generations))
	return f.size, nil
}

// Loaded tells what Load has kept of a file.
type Loaded struct {
	Saved     Options // of the window that was saved
	Kept      int     // generations, the newest ones
	Forgotten int     // older generations, which this window has no place for
	Reshaped  int     // filters of another size, which are asked beside those of the window until they are forgotten
	Size      int64   // bytes that were read
}

// Load adds the keys of the next file of r to the window, generation by generation, the newest first: a key of the newest of the file is kept
// as long as one that is added now. Goroutines may use w meanwhile. The window's options stay. A file of other options may have
//
//   - another number of keys or another rate: its filters have another size, and are asked beside those of the window until they
//     are forgotten. Until then, the rates of both add up, and so does the memory;
//   - fewer generations, or more: the oldest for which the window has no place are forgotten.
//
// The errors are those of ReadFrom, and [bloom.ErrShape] for a file of another format, whose hashes are others. With an error,
// the window does not change.
func (w *Window) Load(r io.Reader) (Loaded, error) {
	w.mustHave()
	f, err := read(r)
	loaded := Loaded{Saved: f.options, Size: f.size}
	if err != nil {
		return loaded, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state.Load()
	if f.options.Format != s.options.Format {
		return loaded, fmt.Errorf("window: %w: the file is of %v, and the window of %v", bloom.ErrShape, f.options.Format, s.options.Format)
	}
	loaded.Kept = min(len(f.generations), len(s.generations))
	loaded.Forgotten = len(f.generations) - loaded.Kept
	generations := append([]*generation(nil), s.generations...)
	for i, sets := range f.generations[:loaded.Kept] {
		g := &generation{set: generations[i].set, others: generations[i].others} // its statistics change
		for _, set := range sets {
			if err := g.set.Merge(set); err != nil { // of another shape: it has no kind of keys
				g.others = append(g.others[:len(g.others):len(g.others)], set.Filter())
				loaded.Reshaped++
			}
		}
		generations[i] = g
	}
	w.state.Store(newState(s.options, s.policy, generations))
	return loaded, nil
}
