package window

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/memory"
)

// The file of a window is a header, its checksum, and then its generations, the newest first. A generation is a header, the
// encoded filters, and the checksum of all that: behind the bits, so that they are written while goroutines set more of them.
// A folder has the same header in one file, and each generation in another. All numbers are little-endian.
// docs/file-format.md describes them.

// The first bytes of a window and of a generation. Like [bloom.FileMagic], they are no text, and show if a transfer has changed
// line ends.
const (
	magic           = "\x89BLW\r\n\x1a\n"
	generationMagic = "\x89BLG\r\n\x1a\n"
)

const (
	version    = 2
	fixed      = 8 + 4 + 4 + 8 + 8 + 16 // bytes of the header, in both versions
	fixed2     = fixed + 8 + 8          // and in version 2
	entrySize  = 8 + 4 + 4 + 8 + 8      // for each generation in version 2
	textSize   = 16                     // for the name of a format
	flagOver   = 1
	bufferSize = 1 << 16
)

// windowFile is the file of a folder that has the header.
const windowFile = "window"

// header is what comes before the generations.
type header struct {
	options Options
	every   time.Duration // of Run; 0 if nobody has called it
	entries []entry       // the newest first
}

// entry is what a header has of a generation.
type entry struct {
	began  time.Time // zero if it is not known
	over   bool
	sets   uint32
	number uint64 // of the file in a folder; 0 in one stream
	sum    uint64 // the checksum of that file; 0 in one stream
}

// header returns the header of a state, in which no generation has a file of its own.
func (s *state) header(every time.Duration) *header {
	h := &header{options: s.options, every: every}
	h.options.Keys = s.newest.plan.keys // a size that no set has yet would not be believed
	for _, g := range s.generations {
		h.entries = append(h.entries, entry{began: g.began, over: g.over, sets: uint32(len(g.sets))})
	}
	return h
}

// bytes returns the bytes of the header. All times are now less the age by a clock that nobody sets. So if the time of day was
// wrong when a generation began, or when the window was read, the file is right nevertheless.
func (h *header) bytes(now time.Time) []byte {
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.entries)))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.options.Keys))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.options.Rate))
	b = appendText(b, h.options.Format)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.options.MaxBytes))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.every))
	for _, e := range h.entries {
		flags := uint32(0)
		if e.over {
			flags = flagOver
		}
		b = binary.LittleEndian.AppendUint64(b, stamp(e.began, now))
		b = binary.LittleEndian.AppendUint32(b, flags)
		b = binary.LittleEndian.AppendUint32(b, e.sets)
		b = binary.LittleEndian.AppendUint64(b, e.number)
		b = binary.LittleEndian.AppendUint64(b, e.sum)
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

func appendText(b []byte, f bloom.Format) []byte {
	var text [textSize]byte
	copy(text[:], f.String())
	return append(b, text[:]...)
}

// stamp returns the nanoseconds since 1970 of a time, and 0 if it is not known.
func stamp(t, now time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	wall := now.Add(-now.Sub(t))
	if since := wall.Round(0).Sub(t.Round(0)); -time.Second < since && since < time.Second {
		wall = t // nobody has set the clock, and the file stays as it was
	}
	return uint64(wall.UnixNano())
}

// stamped returns the time of a stamp, with a reading of the clock that nobody sets. If the newest generation begins in the future,
// ahead is by how much: it counts as now, and the others are as much older than it as they were.
func stamped(stamp uint64, ahead time.Duration, now time.Time) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	age := now.Sub(time.Unix(0, int64(stamp)).Add(-ahead))
	return now.Add(-min(max(age, 0), 100*365*24*time.Hour))
}

// sink writes bytes with their checksum, and keeps the first error.
type sink struct {
	to     io.Writer
	buffer []byte // empty between two writes
	sum    xxhash.Digest
	n      int64
	err    error
}

func newSink(to io.Writer) *sink {
	s := &sink{to: to, buffer: make([]byte, 0, bufferSize)}
	s.sum.Reset()
	return s
}

func (s *sink) flush() {
	if s.err == nil {
		s.sum.Write(s.buffer)
		var n int
		n, s.err = s.to.Write(s.buffer)
		s.n += int64(n)
	}
	s.buffer = s.buffer[:0]
}

func (s *sink) write(b []byte) {
	for len(b) > 0 {
		n := copy(s.buffer[len(s.buffer):cap(s.buffer)], b)
		s.buffer, b = s.buffer[:len(s.buffer)+n], b[n:]
		if len(s.buffer) == cap(s.buffer) {
			s.flush()
		}
	}
}

// writeSet writes an encoded filter, while goroutines may set bits. What is before the bits never changes.
func (s *sink) writeSet(from *set) {
	data := from.filter.Bytes()
	s.write(data[:from.before])
	s.flush()
	for rest := data[from.before:]; len(rest) > 0; {
		n := min(len(rest), bufferSize)
		memory.CopyShared(s.buffer[:n], rest[:n:n])
		s.buffer, rest = s.buffer[:n], rest[n:]
		s.flush()
	}
}

// generation writes one. It returns its checksum.
func (s *sink) generation(g *generation, f bloom.Format) uint64 {
	s.sum.Reset()
	b := append([]byte(nil), generationMagic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(g.sets)))
	b = appendText(b, f)
	for _, set := range g.sets {
		b = binary.LittleEndian.AppendUint64(b, set.shape.bits)
		b = binary.LittleEndian.AppendUint64(b, uint64(set.shape.probes))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(set.filter.Bytes())))
	}
	s.write(b)
	for _, set := range g.sets {
		s.writeSet(set)
	}
	s.flush()
	sum := s.sum.Sum64()
	s.write(binary.LittleEndian.AppendUint64(nil, sum))
	s.flush()
	return sum
}

// source reads bytes with their checksum.
type source struct {
	from io.Reader
	sum  xxhash.Digest
	n    int64 // bytes that were read
	left int64 // bytes that are left; -1 if that is not known
}

func newSource(from io.Reader, left int64) *source {
	s := &source{from: from, left: left}
	s.sum.Reset()
	return s
}

// read fills b. The error is ErrEncoding if the source ends.
func (s *source) read(b []byte) error {
	n, err := io.ReadFull(s.from, b)
	s.n += int64(n)
	s.sum.Write(b[:n])
	if s.left >= 0 {
		s.left -= int64(n)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file is too short: %w", bloom.ErrEncoding, io.ErrUnexpectedEOF)
	}
	return err
}

// more appends the next n bytes to b. It allocates memory for the bytes that come.
func (s *source) more(b []byte, n int) ([]byte, error) {
	for end := len(b) + n; len(b) < end; {
		step := min(end-len(b), max(len(b), bufferSize))
		longer := make([]byte, len(b)+step)
		copy(longer, b)
		if err := s.read(longer[len(b):]); err != nil {
			return nil, err
		}
		b = longer
	}
	return b, nil
}

// checksum reads the checksum of what was read since the last one.
func (s *source) checksum() (uint64, error) {
	want := s.sum.Sum64()
	var b [8]byte
	if err := s.read(b[:]); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint64(b[:]) != want {
		return 0, fmt.Errorf("%w: the checksum is wrong", bloom.ErrEncoding)
	}
	s.sum.Reset()
	return want, nil
}

// header reads the header of a window, of any version, and returns the version. The error is io.EOF if there is no byte.
func (s *source) header(now time.Time) (*header, uint32, error) {
	b := make([]byte, fixed)
	if err := s.read(b); err != nil {
		if s.n == 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		if s.n < int64(len(magic)) || bytes.HasPrefix(b, []byte(magic)) {
			return nil, 0, err
		}
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, 0, fmt.Errorf("%w: this is not a window file: its first bytes are wrong", bloom.ErrEncoding)
	}
	v, n := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if v < 1 || v > version {
		return nil, 0, fmt.Errorf("%w: the file has version %d, but this library reads only versions 1 and %d", bloom.ErrEncoding, v, version)
	}
	if n > mostGenerations {
		return nil, 0, fmt.Errorf("%w: %d generations are too many", bloom.ErrEncoding, n)
	}
	rest := 4 * int(n)
	if v == version {
		rest = fixed2 - fixed + entrySize*int(n)
	}
	b, err := s.more(b, rest)
	if err == nil {
		_, err = s.checksum()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("in the header: %w", err)
	}
	h, err := parse(b, v, now)
	return h, v, err
}

// parse returns what a header contains whose checksum is right.
func parse(b []byte, v uint32, now time.Time) (*header, error) {
	format, err := bloom.ParseFormat(string(bytes.TrimRight(b[fixed-textSize:fixed], "\x00")))
	if err != nil {
		return nil, err
	}
	keys := binary.LittleEndian.Uint64(b[16:])
	h := &header{options: Options{
		Format:      format,
		Generations: int(binary.LittleEndian.Uint32(b[12:])),
		Keys:        int(min(keys, math.MaxInt)),
		Rate:        math.Float64frombits(binary.LittleEndian.Uint64(b[24:])),
	}}
	if v == 1 {
		for at := fixed; at < len(b); at += 4 {
			h.entries = append(h.entries, entry{sets: binary.LittleEndian.Uint32(b[at:])})
		}
		return h, h.check(now)
	}
	h.options.MaxBytes = int64(binary.LittleEndian.Uint64(b[fixed:]))
	var ahead time.Duration
	if len(b) > fixed2 {
		ahead = max(time.Unix(0, int64(binary.LittleEndian.Uint64(b[fixed2:]))).Sub(now), 0)
	}
	h.every = time.Duration(binary.LittleEndian.Uint64(b[fixed+8:]))
	for at := fixed2; at < len(b); at += entrySize {
		h.entries = append(h.entries, entry{
			began:  stamped(binary.LittleEndian.Uint64(b[at:]), ahead, now),
			over:   binary.LittleEndian.Uint32(b[at+8:])&flagOver != 0,
			sets:   binary.LittleEndian.Uint32(b[at+12:]),
			number: binary.LittleEndian.Uint64(b[at+16:]),
			sum:    binary.LittleEndian.Uint64(b[at+24:]),
		})
	}
	return h, h.check(now)
}

// check returns an error for what no header has. If nobody knows when the newest generation began, it begins now.
func (h *header) check(now time.Time) error {
	if h.every < 0 || h.options.MaxBytes < 0 || len(h.entries) == 0 {
		return fmt.Errorf("%w: the header has invalid values: %d generations, an interval of %v, a limit of %d bytes",
			bloom.ErrEncoding, len(h.entries), h.every, h.options.MaxBytes)
	}
	if h.entries[0].began.IsZero() {
		h.entries[0].began = now
	}
	return nil
}

// oldSets reads the filters of a generation in a file of version 1.
func (s *source) oldSets(f bloom.Format, n uint32, p *plan) (sets []*set, err error) {
	for range n {
		old := new(bloom.Set)
		m, err := old.ReadFrom(s.from)
		s.n += m
		switch {
		case err == io.EOF:
			err = fmt.Errorf("%w: %w", bloom.ErrEncoding, io.ErrUnexpectedEOF)
		case err == nil && len(old.Bytes()) == 0:
			err = fmt.Errorf("%w: a filter has no bits", bloom.ErrEncoding)
		case err == nil && old.Format() != f:
			err = fmt.Errorf("%w: a filter has the format %v, but the window has the format %v", bloom.ErrEncoding, old.Format(), f)
		}
		if err != nil {
			return nil, err
		}
		set, err := openSet(f, old.Bytes(), p)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// sets reads a generation, and compares it with what the header of its window has of it. Filters of the shape of p are sets of p.
func (s *source) sets(f bloom.Format, want entry, p *plan) (sets []*set, err error) {
	s.sum.Reset()
	b := make([]byte, 8+4+4+textSize)
	if err := s.read(b); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(b, []byte(generationMagic)) {
		return nil, fmt.Errorf("%w: the first bytes of the generation are wrong", bloom.ErrEncoding)
	}
	v, n := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if v != version || n != want.sets || !bytes.Equal(b[16:], appendText(nil, f)) {
		return nil, fmt.Errorf("%w: this is a different generation: version %d, %d filters of format %q", bloom.ErrEncoding, v, n, b[16:])
	}
	if s.left >= 0 && int64(n) > s.left/24 {
		return nil, fmt.Errorf("%w: the file is too short for %d filters", bloom.ErrEncoding, n)
	}
	if b, err = s.more(nil, 24*int(min(n, math.MaxInt32/24))); err != nil {
		return nil, err
	}
	for ; len(b) > 0; b = b[24:] {
		one := shape{binary.LittleEndian.Uint64(b), int(min(binary.LittleEndian.Uint64(b[8:]), math.MaxInt32))}
		set, err := s.set(f, one, binary.LittleEndian.Uint64(b[16:]), p)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	sum, err := s.checksum()
	if err == nil && want.number != 0 && sum != want.sum {
		err = fmt.Errorf("%w: its checksum is not the checksum in the file %s, so this is a different or older generation", bloom.ErrEncoding, windowFile)
	}
	return sets, err
}

// set reads an encoded filter of n bytes. If the number of bytes left is known, it reads them into the memory
// of the set.
func (s *source) set(f bloom.Format, want shape, n uint64, p *plan) (*set, error) {
	wrong := fmt.Errorf("%w: invalid filter: %d bits and %d probes in %d bytes", bloom.ErrEncoding, want.bits, want.probes, n)
	if n > math.MaxInt-bufferSize || s.left >= 0 && n > uint64(s.left) || want.bits/8 > n {
		return nil, wrong
	}
	var data []byte
	if s.left < 0 {
		var err error
		if data, err = s.more(nil, int(n)); err != nil {
			return nil, err
		}
	} else {
		empty, err := p.makeShape(f, want)
		if err != nil || uint64(len(empty.filter.Bytes())) != n {
			return nil, wrong
		}
		data = empty.filter.Bytes()
		around := empty.around()
		if err := s.read(data); err != nil {
			return nil, err
		}
		if bytes.Equal(around, empty.around()) {
			return empty, nil
		}
	}
	read, err := openSet(f, data, p)
	if err == nil && read.shape != want {
		err = wrong
	}
	return read, err
}
