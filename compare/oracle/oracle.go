// Package oracle compiles and runs programs in C++ and Java that make the filters and give the
// answers that this library must equal. The programs are LevelDB's Bloom filter,
// LevelDB's databases, RocksDB's Bloom filters, nori-sstable's filter written from its
// documentation, and Guava's Bloom filter.
package oracle

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lanebloom/bloom"
)

// ErrNoFilter says that the bytes asked about are no filter of the format, or that the
// engine makes no filter of the keys.
var ErrNoFilter = errors.New("oracle: no filter")

// statusNoFilter is the exit status of a program that makes no filter.
const statusNoFilter = 3

//go:embed input.h timer.h guava leveldb nori rocksdb
var sources embed.FS

// library is a library that a program links, and its Debian package.
type library struct{ name, debian string }

var (
	leveldb = library{"leveldb", "libleveldb-dev"}
	xxhash  = library{"xxhash", "libxxhash-dev"}
	rocksdb = library{"rocksdb", "librocksdb-dev"}
	guava   = library{"/usr/share/java/guava.jar", "libguava-java"}
)

// program is the source file of a program, the library it links, and the arguments
// before a command.
type program struct {
	source string
	library
	args []string
}

var oracles = map[bloom.Format]program{
	bloom.LevelDB:   {source: "leveldb/oracle.cc", library: leveldb},
	bloom.Nori:      {source: "nori/oracle.cc", library: xxhash, args: []string{"nori"}},
	bloom.NoriCrate: {source: "nori/oracle.cc", library: xxhash, args: []string{"nori-crate"}},
	bloom.RocksDB:   {source: "rocksdb/oracle.cc", library: rocksdb, args: []string{"5"}},
	bloom.Pebble:    {source: "rocksdb/oracle.cc", library: rocksdb, args: []string{"4"}},
	bloom.Guava:     guavaOracle("bytes"),
}

func guavaOracle(funnel string) program {
	return program{source: "guava/Oracle.java", library: guava, args: []string{funnel}}
}

// Formats lists the formats that have an oracle.
var Formats = []bloom.Format{bloom.LevelDB, bloom.Nori, bloom.NoriCrate, bloom.RocksDB, bloom.Pebble, bloom.Guava}

// Package returns the Debian package of the library that the format's oracle links.
func Package(f bloom.Format) string { return oracles[f].debian }

// DebianVersion returns the name and the version of a Debian package.
func DebianVersion(debian string) (string, error) {
	version, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version}", debian).Output()
	if err != nil {
		err = fmt.Errorf("finding the version of %s: %w", debian, err)
	}
	return string(version), err
}

// Oracle is a compiled program that builds and tests filters of a format.
type Oracle struct {
	dir     string
	command []string
}

// Compile compiles the oracle of a format in dir, which must exist, unless it did before.
// KeyMayMatch writes its filters to dir as well. Compile needs [Package] and g++, or Java's compiler.
func Compile(f bloom.Format, dir string) (*Oracle, error) { return oracles[f].compile(dir) }

// CompileGuava compiles the oracle of Guava's filters for a funnel. The funnel bytes takes any key, chars takes keys in
// little-endian UTF-16, and longs takes little-endian keys of 8 bytes.
func CompileGuava(funnel, dir string) (*Oracle, error) { return guavaOracle(funnel).compile(dir) }

func (p program) compile(dir string) (*Oracle, error) {
	command, err := compile(dir, p)
	return &Oracle{dir, append(command, p.args...)}, err
}

// compiling has a mutex for each program: tests that run at once compile it once.
var compiling sync.Map

// compile compiles a program in a folder, unless it is there, and returns the command that runs it.
func compile(dir string, p program) (command []string, err error) {
	dir = filepath.Join(dir, path.Dir(p.source))
	source := filepath.Join(dir, path.Base(p.source))
	file := strings.TrimSuffix(source, path.Ext(source))
	compiler, made := []string{"g++", "-std=c++17", "-O2", "-Wall", "-Werror", "-o", file, source, "-l" + p.name}, file
	command = []string{file}
	if path.Ext(source) == ".java" {
		compiler, made = []string{"javac", "-Xlint:all,-classfile", "-Werror", "-cp", p.name, "-d", dir, source}, file+".class"
		// It runs for a moment: the first compiler and the simplest collector start the fastest.
		command = []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", dir + ":" + p.name, path.Base(file)}
	}
	lock, _ := compiling.LoadOrStore(made, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if _, err := os.Stat(made); err == nil {
		return command, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, source := range []string{p.source, "input.h", "timer.h"} {
		text, err := sources.ReadFile(source)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, path.Base(source)), text, 0o644); err != nil {
			return nil, err
		}
	}
	if out, err := exec.Command(compiler[0], compiler[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling %s (it needs %s and %s): %w\n%s", p.source, compiler[0], p.debian, err, out)
	}
	return command, nil
}

// CreateFilter returns the filter that the oracle builds from keys, or [ErrNoFilter].
func (o *Oracle) CreateFilter(keys [][]byte, bitsPerKey int) ([]byte, error) {
	return run(o.command, keys, "build", strconv.Itoa(bitsPerKey))
}

// KeyMayMatch returns the oracle's answer for each key, or [ErrNoFilter].
func (o *Oracle) KeyMayMatch(filter []byte, keys [][]byte) ([]bool, error) {
	answers, err := o.Answers([][]byte{filter}, keys)
	if err != nil {
		return nil, err
	}
	if answers[0] == nil {
		return nil, ErrNoFilter
	}
	return answers[0], nil
}

// Answers returns the oracle's answers for all keys, by filter. Those of bytes that are no filter are nil.
func (o *Oracle) Answers(filters, keys [][]byte) ([][]bool, error) {
	dir, err := os.MkdirTemp(o.dir, "filters")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{"query"}
	for i, filter := range filters {
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := writeSparse(file, filter); err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	out, err := run(o.command, keys, args...)
	if err != nil {
		return nil, err
	}
	answers := make([][]bool, 0, len(filters))
	for line := range bytes.Lines(out) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		switch {
		case string(line) == "none":
			answers = append(answers, nil)
		case len(line) != len(keys):
			return nil, fmt.Errorf("oracle: %d answers for %d keys", len(line), len(keys))
		default:
			of := make([]bool, len(line))
			for i, c := range line {
				of[i] = c == '1'
			}
			answers = append(answers, of)
		}
	}
	if len(answers) != len(filters) {
		return nil, fmt.Errorf("oracle: answers of %d of %d filters", len(answers), len(filters))
	}
	return answers, nil
}

// writeSparse writes a file, but for pages of zeros: a filter past 2^32 bits has few others.
func writeSparse(name string, data []byte) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var zeros [1 << 12]byte
	for from := 0; from < len(data); from += len(zeros) {
		page := data[from:min(from+len(zeros), len(data))]
		if bytes.Equal(page, zeros[:len(page)]) {
			continue
		}
		if _, err := file.WriteAt(page, int64(from)); err != nil {
			return err
		}
	}
	if err := file.Truncate(int64(len(data))); err != nil {
		return err
	}
	return file.Close()
}

// Hashes returns the hashes of keys in hexadecimal digits, 16 each: RocksDB's xxph3, or signed,
// its hash of 32 bits.
func (o *Oracle) Hashes(hash string, keys [][]byte) (hashes []string, err error) {
	out, err := run(o.command, keys, "hash", hash)
	for digits := range slices.Chunk(out, 16) {
		hashes = append(hashes, string(digits))
	}
	return hashes, err
}

// input returns keys as the programs read them.
func input(keys [][]byte) (in []byte) {
	for _, key := range keys {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(key))), key...)
	}
	return in
}

// run runs a program with keys as its input.
func run(command []string, keys [][]byte, args ...string) ([]byte, error) {
	var errOut bytes.Buffer
	cmd := exec.Command(command[0], slices.Concat(command[1:], args)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input(keys)), &errOut
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == statusNoFilter {
		return nil, ErrNoFilter
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(command[0]), err, errOut.Bytes())
	}
	return out, nil
}
