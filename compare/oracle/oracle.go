// Package oracle runs the C++ LevelDB through small programs that it compiles
// against Debian's libleveldb-dev: its Bloom filter, and its databases.
package oracle

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed leveldb
var sources embed.FS

// Oracle is LevelDB's own Bloom filter, a compiled program.
type Oracle struct{ dir, program string }

// Compile compiles the program in dir, which must exist and also takes the
// filters that are asked about. It needs g++ and LevelDB's headers and library
// (Debian's packages g++ and libleveldb-dev).
func Compile(dir string) (*Oracle, error) {
	program, err := compile(dir, "oracle")
	return &Oracle{dir, program}, err
}

// compile compiles leveldb/NAME.cc in a folder.
func compile(dir, name string) (program string, err error) {
	for _, source := range []string{name + ".cc", "keys.h"} {
		text, err := sources.ReadFile("leveldb/" + source)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, source), text, 0o644); err != nil {
			return "", err
		}
	}
	program = filepath.Join(dir, name)
	cmd := exec.Command("g++", "-std=c++17", "-O2", "-Wall", "-Werror", "-o", program, program+".cc", "-lleveldb")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the %s program (it needs g++ and libleveldb-dev): %w\n%s", name, err, out)
	}
	return program, nil
}

// CreateFilter returns the filter that LevelDB makes of keys.
func (o *Oracle) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	return run(o.program, keys, "build", strconv.Itoa(bitsPerKey))
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
	out, err := run(o.program, keys, "query", file)
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

// run runs a program with keys as its input.
func run(program string, keys [][]byte, args ...string) ([]byte, error) {
	var in, errors bytes.Buffer
	for _, key := range keys {
		in.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(key))))
		in.Write(key)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stderr = &in, &errors
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, errors.Bytes())
	}
	return out, nil
}
