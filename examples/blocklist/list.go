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

// Blocklist answers whether names are blocked while Load replaces the list. The zero Blocklist
// blocks nothing.
type Blocklist struct{ current atomic.Pointer[list] }

// list is a sorted file of domains and the filter of its lines. The filter says of nearly all
// innocent names that they are not in the file, without reading it.
type list struct {
	filter *bloom.Filter
	blocks []block
	file   *os.File // the garbage collector closes it when no query has the list any more
}

// block is some lines of the file, blockSize bytes in all.
type block struct {
	first string // line
	at    int64  // offset in the file
}

const blockSize = 4 << 10

// longest is the most bytes that a domain has.
const longest = 253

// ErrUnsorted: the lines of a list are not in the order of their bytes, so that a search would miss
// some.
var ErrUnsorted = errors.New("the list is not sorted; LC_ALL=C sort -u sorts it")

// Load replaces the list by the domains in a file, one a line, in lower case and in the order of their
// bytes. Queries go on meanwhile, with the old list. With an error, the old list stays.
//
// Replace the file by renaming a new one to its name: queries read the old file until Load
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
	// One domain in 1,000 that is not in the file costs a search in it.
	builder := bloom.Policy{BitsPerKey: 16}.NewBuilder()
	l := &list{file: file}
	lines, before, at := bufio.NewScanner(file), []byte(nil), int64(0)
	lines.Split(splitLine)
	for n := 1; lines.Scan(); n++ {
		switch line := lines.Bytes(); {
		case len(line) == 0 || len(line) > longest:
			return nil, fmt.Errorf("line %d has %d bytes, and a domain has 1 to %d", n, len(line), longest)
		case bytes.ContainsFunc(line, isOdd):
			return nil, fmt.Errorf("line %d: %q is not a domain in lower case, with a newline after it", n, line)
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

// splitLine is bufio.ScanLines, but leaves a carriage return in the line: the offsets count it.
func splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// isOdd reports whether no name is asked for that has the character: a line with it would block nothing.
func isOdd(r rune) bool { return r <= ' ' || r >= 'A' && r <= 'Z' }

// Blocked reports whether a name or a domain above it is in the list: for ads.example.com, it looks
// for ads.example.com, example.com and com.
func (b *Blocklist) Blocked(name string) (bool, error) {
	l := b.current.Load()
	if l == nil {
		return false, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	const most = 64 // a name has up to 127 labels; those above the last 64 are left out
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

// contains reads the block of lines that has a domain if any has.
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
	return bytes.Contains(append(buffer[:n], '\n'), []byte("\n"+domain+"\n")), nil // it is not the first line
}
