package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// archive is a file of objects, as compilers write: a line of magic, and for each member a header of 60 bytes, which has
// its name and its size, and its bytes, filled up to an even number.
type archive struct {
	order   []string
	members map[string][]byte
}

const (
	archiveMagic  = "!<arch>\n"
	archiveHeader = "%-16s%-12d%-6d%-6d%-8o%-10d`\n"
	headerSize    = 60
)

func readArchive(file string) (*archive, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(data, []byte(archiveMagic))
	a := &archive{members: map[string][]byte{}}
	for ok && len(rest) >= headerSize {
		name := strings.TrimSpace(string(rest[:16]))
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if rest = rest[headerSize:]; err != nil || size < 0 || size > len(rest) {
			return nil, fmt.Errorf("%s: the size of %s is wrong: %v", file, name, err)
		}
		a.order, a.members[name] = append(a.order, name), rest[:size]
		rest = rest[min(size+size%2, len(rest)):]
	}
	if !ok || len(rest) > 0 {
		return nil, fmt.Errorf("%s is no archive", file)
	}
	return a, nil
}

// with returns the bytes of the archive with other bytes of a member.
func (a *archive) with(name string, bytes []byte) []byte {
	file := []byte(archiveMagic)
	for _, member := range a.order {
		data := a.members[member]
		if member == name {
			data = bytes
		}
		file = append(fmt.Appendf(file, archiveHeader, member, 0, 0, 0, 0o644, len(data)), data...)
		if len(data)%2 != 0 {
			file = append(file, 0)
		}
	}
	return file
}
