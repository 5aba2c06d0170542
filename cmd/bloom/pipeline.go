package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/lanebloom/bloom"
)

// chunkSize is how many bytes are read at a time, longer lines apart.
const chunkSize = 128 << 10

// chunk is a piece of an input. The memory of its slices is used again for
// later chunks.
type chunk struct {
	data  []byte   // whole lines, each with its delimiter
	lines [][]byte // data's lines, without their delimiters

	// What the work on a chunk leaves for its finish.
	hashed bloom.Keys // build: the hashes of the lines
	hits   []uint64   // filter: which lines may be in the filter
	passed int        // filter: how many lines pass
	out    []byte     // filter: those lines

	worked chan struct{} // receives when the work is done
}

// split finds the lines.
func (c *chunk) split(delimiter byte) {
	lines := c.lines[:0]
	for rest := c.data; len(rest) > 0; {
		end := bytes.IndexByte(rest, delimiter)
		lines = append(lines, rest[:end])
		rest = rest[end+1:]
	}
	c.lines = lines
}

// pipeline reads r in chunks, works on them on all cores, and finishes them
// one by one in the order of the input. It holds a fixed number of chunks,
// which grow for lines longer than they are. progress is told of bytes read.
//
// The first error of reading or finishing ends it; what was read before an
// error of reading is still finished.
func pipeline(r io.Reader, delimiter byte, progress func(int), work func(*chunk), finish func(*chunk) error) error {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *chunk, 2*workers+2)
	for range cap(free) {
		free <- &chunk{data: make([]byte, 0, chunkSize), worked: make(chan struct{}, 1)}
	}
	tasks := make(chan *chunk, cap(free))
	ordered := make(chan *chunk, cap(free))
	stop := make(chan struct{})
	var readError error
	defer close(stop)

	// After an error of finishing nobody waits for the reader, which may be
	// waiting for a terminal or a pipe.
	go func() {
		defer close(ordered)
		defer close(tasks)
		readError = readChunks(r, delimiter, free, stop, func(c *chunk) {
			progress(len(c.data))
			ordered <- c
			tasks <- c
		})
	}()
	for range workers {
		go func() {
			for c := range tasks {
				c.split(delimiter)
				work(c)
				c.worked <- struct{}{}
			}
		}()
	}
	for c := range ordered {
		<-c.worked
		if err := finish(c); err != nil {
			return err
		}
		free <- c
	}
	return readError
}

// readChunks calls emit with chunks of whole lines, in chunks taken from free,
// until r or stop ends. The last line gets a delimiter if it has none.
func readChunks(r io.Reader, delimiter byte, free <-chan *chunk, stop <-chan struct{}, emit func(*chunk)) error {
	var rest []byte
	for {
		var c *chunk
		select {
		case c = <-free:
		case <-stop:
			return nil
		}
		c.data = append(c.data[:0], rest...)
		rest = rest[:0]
		end, err := readLines(r, delimiter, c)
		if errors.Is(err, io.EOF) {
			if len(c.data) == 0 {
				return nil
			}
			if c.data[len(c.data)-1] != delimiter {
				c.data = append(c.data, delimiter)
			}
			emit(c)
			return nil
		}
		rest = append(rest, c.data[end:]...)
		c.data = c.data[:end]
		if end > 0 {
			emit(c)
		}
		if err != nil {
			return err
		}
	}
}

// readLines reads into c until it holds a whole line or r ends, and returns
// where its last whole line ends.
func readLines(r io.Reader, delimiter byte, c *chunk) (end int, err error) {
	for end == 0 && err == nil {
		if len(c.data) == cap(c.data) {
			c.data = append(c.data, 0)[:len(c.data)]
		}
		n := len(c.data)
		var read int
		read, err = r.Read(c.data[n:cap(c.data)])
		c.data = c.data[:n+read]
		if i := bytes.LastIndexByte(c.data[n:], delimiter); i >= 0 {
			end = n + i + 1
		}
	}
	return end, err
}

// eachInput calls f with every file, in order, or with standard input if there
// are none. The name "-" is standard input, too.
func eachInput(s *streams, names []string, f func(*os.File) error) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if err := oneInput(s, name, f); err != nil {
			return err
		}
	}
	return nil
}

func oneInput(s *streams, name string, f func(*os.File) error) error {
	if name == "-" {
		return f(s.in)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return f(file)
}
