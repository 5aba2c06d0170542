package bloomsst

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// badgerMagic begins the MANIFEST of Badger. Two bytes of the database's caller follow, and two of a version.
const badgerMagic = "Bdgr"

// badgerHeader is how many bytes stand before a set of changes: its length and its checksum.
const badgerHeader = 8

// readBadgerManifest reads the MANIFEST of Badger in the first size bytes of r: sets of changes in the layout of Protocol Buffers. It
// does not tell the keys of tables. It stops at a last set that is not whole.
func readBadgerManifest(r io.Reader, size int64) (*manifest, error) {
	var magic [8]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil || string(magic[:4]) != badgerMagic {
		return nil, fmt.Errorf("%w: the MANIFEST of Badger has no magic number", ErrDamaged)
	}
	f := newFamily("", "")
	m := &manifest{families: map[uint32]*family{0: f}}
	for left := size - int64(len(magic)); ; {
		var header [badgerHeader]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			m.torn = !errors.Is(err, io.EOF)
			return m, notCut(err)
		}
		n := int64(binary.BigEndian.Uint32(header[:]))
		if left -= badgerHeader; n > left {
			m.torn = true
			return m, nil
		}
		left -= n
		changes := make([]byte, n)
		if _, err := io.ReadFull(r, changes); err != nil {
			m.torn = true
			return m, notCut(err)
		}
		if crc32.Checksum(changes, castagnoli) != binary.BigEndian.Uint32(header[4:]) {
			return nil, fmt.Errorf("%w: the checksum of a set of changes in a MANIFEST is wrong", ErrDamaged)
		}
		if !f.badgerChanges(changes) {
			return nil, fmt.Errorf("%w: malformed set of changes in a MANIFEST", ErrDamaged)
		}
	}
}

// notCut returns an error that is not the end of the file.
func notCut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// badgerChanges makes a set of changes, and reports whether it is well formed.
func (f *family) badgerChanges(set []byte) bool {
	const change = 1
	ok := true
	messageFields(set, &ok, func(field, _ uint64, data []byte) {
		if field == change {
			f.badgerChange(data, &ok)
		}
	})
	return ok
}

// badgerChange makes a change: a table comes to a level, or goes.
func (f *family) badgerChange(data []byte, ok *bool) {
	const number, operation, level, gone = 1, 2, 3, 1
	var t newTable
	goes := false
	messageFields(data, ok, func(field, value uint64, _ []byte) {
		switch field {
		case number:
			t.number = value
		case operation:
			goes = value == gone
		case level:
			t.level = value
		}
	})
	switch {
	case goes:
		delete(f.tables, t.number)
	case *ok:
		f.tables[t.number] = t
	}
}

// messageFields calls each for the fields of a message of Protocol Buffers that are numbers or bytes. It clears ok if the message is malformed.
func messageFields(message []byte, ok *bool, each func(field, value uint64, data []byte)) {
	const varint, wide, counted, narrow = 0, 1, 2, 5
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			*ok = false
			return
		}
		message = message[n:]
		var value, size uint64
		switch tag & 7 {
		case varint, counted:
			if value, n = binary.Uvarint(message); n <= 0 {
				*ok = false
				return
			}
			message = message[n:]
			if tag&7 == counted {
				size = value
			}
		case wide:
			size = 8
		case narrow:
			size = 4
		default:
			*ok = false
			return
		}
		if size > uint64(len(message)) {
			*ok = false
			return
		}
		each(tag>>3, value, message[:size])
		message = message[size:]
	}
}
