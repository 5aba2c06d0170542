package records

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

// pipeline reads r in chunks, works on them on all cores, and finishes them
// one by one in the order of the input. It holds a fixed number of chunks and one
// line that is longer.
//
// The first error of reading, splitting or finishing ends it; what was read before an
// error of reading or splitting is still finished.
func pipeline(r io.Reader, records *layout, work func(*Chunk), finish func(*Chunk) error) error {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *Chunk, 2*workers+2)
	for range cap(free) {
		free <- newChunk(chunkSize)
	}
	tasks := make(chan *Chunk, cap(free))
	ordered := make(chan *Chunk, cap(free))
	lines := newLineReader(r, records, chunkSize)
	var readError error
	defer close(lines.stop)

	// After an error of finishing, do not wait for the reader: it may wait for a terminal or
	// a pipe.
	go func() {
		defer close(ordered)
		defer close(tasks)
		defer func() {
			if p := recover(); p != nil { // a decompressor's: here, because it ends the program
				readError = fmt.Errorf("malformed: %v", p)
			}
		}()
		readError = readChunks(lines, free, func(c *Chunk) {
			ordered <- c
			tasks <- c
		})
	}()
	for range workers {
		go func() {
			for c := range tasks {
				records.split(c)
				work(c)
				c.worked <- struct{}{}
			}
		}()
	}
	newlines := records.headerLines
	for c := range ordered {
		<-c.worked
		c.before = newlines
		if err := finish(c); err != nil {
			return err
		}
		if c.skipped.n > 0 {
			records.skipped.add(c, newlines)
		}
		if c.err != nil {
			return after(newlines, c.err)
		}
		newlines += c.newlines
		lines.release(c)
		free <- c
	}
	return after(newlines, readError)
}

// after returns an error with its line in the input, which has this number of newlines before the data of the error.
func after(newlines int, err error) error {
	if at := (*lineError)(nil); errors.As(err, &at) {
		return &lineError{newlines + at.line, at.err}
	}
	return err
}

// readChunks calls emit with all chunks of an input, in memory taken from free.
func readChunks(lines *lineReader, free <-chan *Chunk, emit func(*Chunk)) error {
	for {
		var c *Chunk
		select {
		case c = <-free:
		case <-lines.stop:
			return nil
		}
		err := lines.next(c)
		if len(c.data) > 0 {
			emit(c)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
