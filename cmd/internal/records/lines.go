package records

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/lanebloom/bloom"
)

// chunkSize is how many bytes are read at a time.
const chunkSize = 128 << 10

// Chunk is a piece of an input. The memory of its slices is used again for
// later chunks.
type Chunk struct {
	buffer []byte // room for the bytes that are read at a time, and a delimiter
	data   []byte // whole records, each with its delimiter, in buffer if they are not long
	long   bool   // data begins with a record that is longer than a chunk

	// What split finds.
	Keys     [][]byte    // of the records, in data or in text
	records  [][]byte    // with their ends; none if the keys are lines
	ends     []int       // in keys, of those of each record; none if each has one
	lines    []int       // of the keys, in data, if they are asked for
	before   int         // newlines in the input before data, once the work is done
	err      error       // of the record after these
	newlines int         // in data, if there are records
	Certain  []int       // the places of records without a key, which pass nevertheless
	skipped  skipped     // all records without a key; the line of the first is counted from the start of data
	text     []byte      // keys that are not as they are in data
	texts    [][]byte    // of a record, in which keys are to be matched
	json     *jsonReader // nil until a line is read

	// Room for the results of the work on a chunk.
	Hashed bloom.Keys // build: the hashes of the keys
	IDs    []uint64   // build: what tells the keys apart
	Hits   []uint64   // filter, unique: which keys may be in the filter
	Chosen []uint64   // filter, unique: which records pass
	Passed int        // filter, unique: how many records pass
	Out    []byte     // filter, unique: those records, in the memory of data

	worked chan struct{} // receives when the work is done
}

func newChunk(size int) *Chunk {
	return &Chunk{buffer: make([]byte, 0, size+1), worked: make(chan struct{}, 1)}
}

// Len returns the number of records.
func (c *Chunk) Len() int {
	if len(c.ends) > 0 {
		return len(c.ends)
	}
	return len(c.Keys)
}

// KeysOf returns the range of the keys of a record.
func (c *Chunk) KeysOf(record int) (from, end int) {
	if len(c.ends) == 0 {
		return record, record + 1
	}
	if record > 0 {
		from = c.ends[record-1]
	}
	return from, c.ends[record]
}

// KeysWritten returns how many keys the records have up to the last one in the first bytesWritten bytes of out.
func (c *Chunk) KeysWritten(bytesWritten int, delimiter byte) int {
	lines := bytes.Count(c.Out[:bytesWritten], []byte{delimiter}) // where records are lines
	for i := range c.Len() {
		from, _ := c.KeysOf(i)
		if c.Chosen[i/64]>>(i%64)&1 == 0 {
			continue
		}
		if len(c.records) > 0 {
			bytesWritten -= len(c.records[i])
		}
		if lines--; bytesWritten < 0 || len(c.records) == 0 && lines < 0 {
			return from
		}
	}
	return len(c.Keys)
}

// DropRepeats leaves each record every key once.
func (c *Chunk) DropRepeats() {
	if len(c.ends) == 0 {
		return
	}
	kept, from := c.Keys[:0], 0 // no key moves beyond where one is still to be read
	for i, end := range c.ends {
		kept = appendDistinct(kept, c.Keys[from:end])
		from, c.ends[i] = end, len(kept)
	}
	c.Keys = kept
}

// appendDistinct appends each of some keys once.
func appendDistinct(to, keys [][]byte) [][]byte {
	const few = 16 // keys that are compared with each other
	first, known := len(to), map[string]bool{}
	for _, key := range keys {
		if len(keys) > few {
			if known[string(key)] {
				continue
			}
			known[string(key)] = true
		} else if slices.ContainsFunc(to[first:], func(other []byte) bool { return bytes.Equal(other, key) }) {
			continue
		}
		to = append(to, key)
	}
	return to
}

// Record returns a record as it was, with its end.
func (c *Chunk) Record(i int, delimiter byte) []byte {
	if len(c.records) > 0 {
		return c.records[i]
	}
	line := c.Keys[i]
	end := len(line) + 1 // with the delimiter, before which there may be a carriage return
	if line[:end][end-1] != delimiter {
		end++
	}
	return line[:end]
}

// skip counts a record without a key, and keeps the reason.
func (c *Chunk) skip(r *layout, record []byte, why error) {
	if c.skipped.n++; c.skipped.n == 1 {
		c.skipped.first = &lineError{c.newlines + 1, errors.New(why.Error())} // it may refer to memory of the chunk
	}
	if r.missing == MissingKeep {
		c.Certain = append(c.Certain, len(c.records))
		c.records, c.ends = append(c.records, record), append(c.ends, len(c.Keys))
	}
}

// lineReader cuts an input into chunks of whole records. A record is a line, except in CSV, where a field in
// quotes may contain newlines.
//
// It gathers a line that is longer than a chunk in pieces and then joins them:
// memory that grows with the line would be copied again and again, and leave
// several times the line to the garbage collector. One such line is in memory at
// a time, in its pieces and as a whole.
type lineReader struct {
	in      io.Reader
	records *layout
	size    int           // bytes of a chunk
	quotes  int           // in the rest, and then in the pieces
	rest    []byte        // the start of a line, read together with the lines before
	pieces  [][]byte      // of long lines
	memory  chan []byte   // for a long line as a whole; who works on one has it
	stop    chan struct{} // closed when nobody wants another line
}

func newLineReader(in io.Reader, r *layout, size int) *lineReader {
	l := &lineReader{in: in, records: r, size: size, memory: make(chan []byte, 1), stop: make(chan struct{})}
	l.memory <- nil
	return l
}

// next reads lines into a chunk as soon as there are some: none only with an
// error, which is io.EOF at the end. The last line gets a delimiter if it has none.
func (l *lineReader) next(c *Chunk) error {
	c.data = nil
	data, end, err := l.fill(append(c.buffer[:0], l.rest...))
	l.rest = l.rest[:0]
	if end == 0 && err == nil {
		return l.nextLong(c, data)
	}
	c.data = l.cut(data, end, err)
	return err
}

// nextLong is next for a line that begins with a whole chunk.
func (l *lineReader) nextLong(c *Chunk, start []byte) (err error) {
	var line []byte
	select {
	case line = <-l.memory:
	case <-l.stop:
		return io.EOF
	}
	n, end, length := 0, 0, len(start)
	for ; end == 0 && err == nil; n++ {
		if n == len(l.pieces) {
			l.pieces = append(l.pieces, make([]byte, 0, l.size))
		}
		l.pieces[n], end, err = l.fill(l.pieces[n][:0])
		length += len(l.pieces[n])
		if end == 0 && length > l.records.most {
			return &lineError{1, l.records.tooLong()}
		}
	}
	if end > 0 {
		end += length - len(l.pieces[n-1])
	}
	line = append(grown(line, length+1), start...)
	for _, piece := range l.pieces[:n] {
		line = append(line, piece...)
	}
	c.data, c.long = l.cut(line, end, err), true
	return err
}

// fill reads until data holds the end of a line or a chunk's bytes, or the input
// ends. It returns where data's last whole line ends.
func (l *lineReader) fill(data []byte) (filled []byte, end int, err error) {
	for end == 0 && err == nil && len(data) < l.size {
		n := len(data)
		var read int
		read, err = l.in.Read(data[n:l.size])
		data = data[:n+read]
		if i := l.records.lastEnd(data[n:], &l.quotes); i > 0 {
			end = n + i
		}
	}
	return data, end, err
}

// cut returns the whole lines of data and keeps the rest for the next chunk. At
// the end of the input the rest is a line, too.
func (l *lineReader) cut(data []byte, end int, err error) []byte {
	if errors.Is(err, io.EOF) {
		if n := len(data); n > 0 && data[n-1] != l.records.delimiter {
			data = append(data, l.records.delimiter)
		}
		return data
	}
	if err == nil {
		l.rest = append(l.rest, data[end:]...)
	}
	return data[:end]
}

// release takes back the memory of a chunk that nobody needs any more.
func (l *lineReader) release(c *Chunk) {
	if c.long {
		l.memory <- c.data[:0]
		clear(c.Keys)
		clear(c.records)
		c.data, c.Out, c.text, c.json, c.long = nil, nil, nil, nil, false
	}
}

// grown returns memory for n bytes: the old, if it is large enough. Otherwise it gives large old memory back to the system at once:
// the garbage collector would wait until as much was allocated again.
func grown(old []byte, n int) []byte {
	const large = 16 << 20
	if cap(old) >= n {
		return old[:0]
	}
	if cap(old) >= large {
		old = nil
		debug.FreeOSMemory()
	}
	return make([]byte, 0, n)
}
