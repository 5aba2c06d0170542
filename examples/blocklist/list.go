package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lanebloom/bloom"
)

// Blocklist reports whether names are blocked. Queries may run while Load replaces the list. The zero
// Blocklist blocks nothing.
type Blocklist struct{ current atomic.Pointer[list] }

// list is a sorted file of domains and a filter of its lines. For nearly all names that are not in the
// file, the filter reports a no, and the file is not read.
type list struct {
	filter *bloom.Filter
	blocks []block
	file   *os.File // the garbage collector closes it when no query uses the list any more
}

// block is a group of consecutive lines in the file, about blockSize bytes long.
type block struct {
	first string // first line
	at    int64  // offset of the first line in the file
}

const blockSize = 4 << 10

// longest is the maximum length of a domain in bytes.
const longest = 253

// ErrUnsorted is the error of Load if the lines are not sorted by their bytes. A search in such a list
// would miss some domains.
var ErrUnsorted = errors.New("the list is not sorted: sort it with LC_ALL=C sort -u")

// Load replaces the list with the domains in a file. The file has one domain per line, in lower case,
// and is sorted by bytes. During the call, queries use the old list. If Load returns an error, they
// continue to use it.
//
// To change a list, rename a new file to its name, because queries read the old file until Load
// returns.
func (b *Blocklist) Load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	l, err := newList(file)
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	b.current.Store(l)
	return nil
}

func newList(file *os.File) (*list, error) {
	// At 16 bits per key, one in 1,000 names that are not in the file is a false positive. For each of
	// these, a block of the file is read.
	builder := bloom.Policy{BitsPerKey: 16}.NewBuilder()
	l := &list{file: file}
	lines, before, at := bufio.NewScanner(file), []byte(nil), int64(0)
	lines.Split(splitLine)
	for n := 1; lines.Scan(); n++ {
		switch line := lines.Bytes(); {
		case len(line) == 0 || len(line) > longest:
			return nil, fmt.Errorf("line %d has %d bytes, but a domain has 1 to %d", n, len(line), longest)
		case bytes.ContainsFunc(line, isOdd):
			return nil, fmt.Errorf("line %d: %q is not a domain in lower case that ends with a newline", n, line)
		case bytes.Compare(before, line) > 0:
			return nil, fmt.Errorf("line %d: %w", n, ErrUnsorted)
		default:
			if n := len(l.blocks); n == 0 || at >= l.blocks[n-1].at+blockSize {
				l.blocks = append(l.blocks, block{string(line), at})
			}
			before = append(before[:0], line...)
			builder.Add(line)
			at += int64(len(line)) + 1
		}
	}
	l.filter = builder.Filter()
	return l, lines.Err()
}

// splitLine is like bufio.ScanLines, but keeps a carriage return in the line, because the offsets count it.
func splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// isOdd reports whether r does not occur in queried names. A line with such a character would block nothing.
func isOdd(r rune) bool { return r <= ' ' || r >= 'A' && r <= 'Z' }

// Blocked reports whether a name or one of its parent domains is in the list. For ads.example.com, it
// looks up ads.example.com, example.com and com.
func (b *Blocklist) Blocked(name string) (bool, error) {
	l := b.current.Load()
	if l == nil {
		return false, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	const most = 64 // a name has up to 127 labels; only the last 64 are looked up
	var buffer [most]string
	suffixes := buffer[:0]
	for from := len(name); from >= 0 && len(suffixes) < most; {
		from = strings.LastIndexByte(name[:from], '.')
		suffixes = append(suffixes, name[from+1:])
	}
	var hits [most / 64]uint64
	if l.filter.MayContainBatch(bloom.Strings(suffixes), hits[:]) == 0 {
		return false, nil
	}
	for i, suffix := range suffixes {
		if hits[0]>>i&1 == 0 {
			continue
		}
		if found, err := l.contains(suffix); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// contains reports whether the file contains a domain. It reads the only block that can contain it.
func (l *list) contains(domain string) (bool, error) {
	i, found := slices.BinarySearchFunc(l.blocks, domain, func(b block, domain string) int { return strings.Compare(b.first, domain) })
	if found || i == 0 {
		return found, nil
	}
	var buffer [blockSize + longest + 2]byte
	n, err := l.file.ReadAt(buffer[:len(buffer)-1], l.blocks[i-1].at)
	if err != nil && err != io.EOF {
		return false, err
	}
	return bytes.Contains(append(buffer[:n], '\n'), []byte("\n"+domain+"\n")), nil // domain is not the first line of the block
}
