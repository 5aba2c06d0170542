// Package oracle runs LevelDB's own Bloom filter, the C++ one, through a small
// program that it compiles against Debian's libleveldb-dev.
package oracle

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed leveldb/oracle.cc
var source []byte

// Oracle is the compiled program.
type Oracle struct{ dir, program string }

// Compile compiles the program in dir, which must exist and also takes the
// filters that are asked about. It needs g++ and LevelDB's headers and library
// (Debian's packages g++ and libleveldb-dev).
func Compile(dir string) (*Oracle, error) {
	o := &Oracle{dir: dir, program: filepath.Join(dir, "oracle")}
	file := filepath.Join(dir, "oracle.cc")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command("g++", "-std=c++17", "-O2", "-Wall", "-Werror", "-o", o.program, file, "-lleveldb")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling the oracle (it needs g++ and libleveldb-dev): %w\n%s", err, out)
	}
	return o, nil
}

// CreateFilter returns the filter that LevelDB makes of keys.
func (o *Oracle) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	return o.run(keys, "build", strconv.Itoa(bitsPerKey))
}

// KeyMayMatch returns what LevelDB answers for each key.
func (o *Oracle) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	file := filepath.Join(o.dir, "filter")
	if err := os.WriteFile(file, filter, 0o644); err != nil {
		return nil, err
	}
	return o.KeyMayMatchFile(file, keys)
}

// KeyMayMatchFile is KeyMayMatch for a filter that lies in a file.
func (o *Oracle) KeyMayMatchFile(file string, keys [][]byte) ([]bool, error) {
	out, err := o.run(keys, "query", file)
	if err != nil {
		return nil, err
	}
	if len(out) != len(keys) {
		return nil, fmt.Errorf("oracle: %d answers for %d keys", len(out), len(keys))
	}
	answers := make([]bool, len(out))
	for i, c := range out {
		answers[i] = c == '1'
	}
	return answers, nil
}

func (o *Oracle) run(keys [][]byte, args ...string) ([]byte, error) {
	var in, errors bytes.Buffer
	for _, key := range keys {
		in.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(key))))
		in.Write(key)
	}
	cmd := exec.Command(o.program, args...)
	cmd.Stdin, cmd.Stderr = &in, &errors
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("oracle: %w: %s", err, errors.Bytes())
	}
	return out, nil
}
