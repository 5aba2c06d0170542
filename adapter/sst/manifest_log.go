package bloomsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A log of LevelDB, RocksDB or Pebble has blocks, and chunks in these: a checksum, a length, a kind and the bytes. A record
// is one chunk, or several in a row.
const (
	logBlock  = 32 << 10
	logHeader = 7
)

// The kinds of chunks.
const (
	chunkNone   = 0 // space that was reserved
	chunkFull   = 1
	chunkFirst  = 2
	chunkMiddle = 3
	chunkLast   = 4
)

// logRecords are the records of a log, in order. Memory is bounded by the largest record and a block.
type logRecords struct {
	r      io.Reader
	buffer [logBlock]byte
	block  []byte // what is left of a block
	end    bool   // no block follows
	record []byte // until the next call of next
	open   bool   // a record has begun
	torn   bool   // the log ends in the middle of a record, as one that is being written
	err    error
}

// next moves to the next record, and reports whether there is one.
func (l *logRecords) next() bool {
	l.record, l.open = l.record[:0], false
	for l.err == nil {
		kind, data, ok := l.chunk()
		if !ok {
			l.torn = l.torn || l.open
			return false
		}
		if l.open != (kind == chunkMiddle || kind == chunkLast) {
			l.err = fmt.Errorf("%w: a record of the log is truncated", ErrDamaged)
			return false
		}
		l.record = append(l.record, data...)
		l.open = kind == chunkFirst || kind == chunkMiddle
		if !l.open {
			return true
		}
	}
	return false
}

// chunk returns the next chunk, or false if the log ends or has an error.
func (l *logRecords) chunk() (kind byte, data []byte, ok bool) {
	if len(l.block) < logHeader && !l.fill() {
		return 0, nil, false
	}
	sum, length := binary.LittleEndian.Uint32(l.block), int(binary.LittleEndian.Uint16(l.block[4:]))
	kind = l.block[6]
	switch {
	case kind == chunkNone && length == 0:
		l.reserved()
		return 0, nil, false
	case length > len(l.block)-logHeader && l.end:
		l.torn = true
		return 0, nil, false
	case length > len(l.block)-logHeader, kind > chunkLast, kind == chunkNone:
		l.err = fmt.Errorf("%w: a log has a chunk of the kind %d with %d bytes", ErrDamaged, kind, length)
		return 0, nil, false
	}
	data = l.block[logHeader:][:length]
	if maskCRC(crc32.Checksum(l.block[6:logHeader+length], castagnoli)) != sum {
		l.err = fmt.Errorf("%w: the checksum of a chunk of a log is wrong", ErrDamaged)
		return 0, nil, false
	}
	l.block = l.block[logHeader+length:]
	return kind, data, true
}

// fill reads the next block, and reports whether that has a chunk. The end of a block that has no room for a chunk is empty.
func (l *logRecords) fill() bool {
	for len(l.block) < logHeader {
		if l.end {
			l.torn = l.torn || len(l.block) > 0
			return false
		}
		n, err := io.ReadFull(l.r, l.buffer[:])
		l.block, l.end = l.buffer[:n], err != nil
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			l.err = err
			return false
		}
	}
	return true
}

// reserved reads zeros up to the end of the log, which are space for records to come.
func (l *logRecords) reserved() {
	l.torn = true
	for {
		for _, b := range l.block {
			if b != 0 {
				l.err = fmt.Errorf("%w: a record follows zeros in a log", ErrDamaged)
				return
			}
		}
		if l.block = nil; !l.fill() {
			return
		}
	}
}
