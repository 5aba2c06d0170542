package filterfile

import (
	"bytes"
	"strings"
)

// compression is a format of compressed files.
type compression struct {
	name  string
	magic string // how its files begin
}

// compressions lists the formats that are known. No text begins as their files do.
var compressions = func() []compression {
	list := []compression{
		{"gzip", "\x1f\x8b\x08"},
		{"zstd", "\x28\xb5\x2f\xfd"},
		{"xz", "\xfd7zXZ\x00"},
		{"lz4", "\x04\x22\x4d\x18"},
		{"lz4", "\x02\x21\x4c\x18"},
		{"zip", "PK\x03\x04"},
		{"zip", "PK\x05\x06"}, // empty
		{"snappy", "\xff\x06\x00\x00sNaPpY"},
		{"lzip", "LZIP\x01"},
		{"7z", "7z\xbc\xaf\x27\x1c"},
	}
	for level := '1'; level <= '9'; level++ { // "BZh9" alone may begin a key
		list = append(list,
			compression{"bzip2", "BZh" + string(level) + "1AY&SY"},
			compression{"bzip2", "BZh" + string(level) + "\x17\x72\x45\x38\x50\x90"}) // empty
	}
	for bits := byte(9); bits <= 16; bits++ {
		list = append(list, compression{"compress", "\x1f\x9d" + string([]byte{0x80 | bits})})
	}
	for i := range byte(16) { // frames to skip, with which pzstd begins
		list = append(list, compression{"zstd", string([]byte{0x50 + i, 0x2a, 0x4d, 0x18})})
	}
	return list
}()

// Compression returns the name of the format of a compressed file that begins with head, or none. More
// bytes may decide if undecided.
func Compression(head []byte) (name string, undecided bool) {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c.name, false
		}
		undecided = undecided || strings.HasPrefix(c.magic, string(head[:min(len(head), len(c.magic))]))
	}
	return "", undecided
}
