package bloomsst

import (
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
)

// listing is where a table is in its database. It changes when the table moves to another level.
type listing struct {
	live        bool
	level       int // or unknownLevel
	family      string
	comparator  string
	size        uint64 // of the file, or 0 if it is not known
	first, last []byte // user keys; nil if they are not known
	synthetic   bool   // the database shows keys with another prefix or suffix than the file has
	path        uint64 // the number of a folder; 0 is the database's
	unasked     bool   // the database does not query the filter
}

const unknownLevel = -1

// member is what a database keeps of a table.
type member struct {
	name    string // of the file
	file    *os.File
	info    fs.FileInfo
	listing atomic.Pointer[listing]
}

// stripTimes takes the timestamps from the bounds.
func (p *listing) stripTimes() {
	if !strings.HasSuffix(p.comparator, timestamps) {
		return
	}
	if len(p.first) < timestampSize || len(p.last) < timestampSize {
		p.first, p.last = nil, nil
		return
	}
	p.first, p.last = p.first[:len(p.first)-timestampSize], p.last[:len(p.last)-timestampSize]
}
