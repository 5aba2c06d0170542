package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// damagedFiles is how many files TestDamaged damages.
func damagedFiles() int {
	if testing.Short() {
		return 60
	}
	return 400
}

// TestDamaged filters, builds of and prunes damaged files. One process reads most of them as a
// process apart does, because it takes long to start one for each. Where that process ends, and for
// some other files, the command itself must end with status 2, one line, and no file.
func TestDamaged(t *testing.T) {
	t.Parallel()
	dir, ended := t.TempDir(), 0
	for seed := 1; seed <= damagedFiles(); seed++ {
		var output bytes.Buffer
		command := exec.Command(os.Args[0])
		command.Args = []string{"read-damaged", strconv.Itoa(seed), strconv.Itoa(damagedFiles()), dir}
		command.Env = append(os.Environ(), apartVariable+"="+strconv.Itoa(1<<30))
		command.Stdout, command.Stderr = &output, &output
		err := command.Run()
		said := regexp.MustCompile(`(?m)^parquet: warning: .*\n`).ReplaceAllString(output.String(), "") // parquet-go's
		if err == nil && said == "" {
			break
		}
		at, readErr := os.ReadFile(filepath.Join(dir, "at"))
		args := strings.Split(string(at), "\n")
		if readErr != nil || len(args) < 2 {
			t.Fatalf("%v: %s", err, said)
		}
		if seed, _ = strconv.Atoi(args[0]); err == nil || strings.Contains(said, "seed") {
			t.Fatalf("%s", said)
		}
		ended++
		if failure := runCommand(dir, args[1:]); failure != "" {
			t.Errorf("seed %d: %s", seed, failure)
		}
	}
	t.Logf("%d of %d files end the process that reads them", ended, damagedFiles())
}

// runCommand runs the command in a folder. If it does not end as it must, runCommand returns what is wrong.
func runCommand(dir string, args []string) string {
	var stderr bytes.Buffer
	program, err := os.Executable()
	must(err)
	command := exec.Command(program)
	command.Dir, command.Args, command.Stderr = dir, append([]string{"bloom-parquet"}, args...), &stderr
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, apartVariable) {
			command.Env = append(command.Env, variable)
		}
	}
	before, _ := filepath.Glob(filepath.Join(dir, "*"))
	_ = command.Run()
	status, lines := command.ProcessState.ExitCode(), strings.Count(stderr.String(), "\n")
	after, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".bloom-*"))
	_, err = os.Stat(filepath.Join(dir, "out"))
	switch {
	case status < 0 || status > 2, status == 2 && lines == 0 || lines > 2 || lines > 1 && !warns(args):
	case strings.Contains(stderr.String(), "goroutine"), len(hidden) > 0, len(after) > len(before)+1, status == 2 && err == nil:
	default:
		os.Remove(filepath.Join(dir, "out"))
		return ""
	}
	return fmt.Sprintf("%s: status %d, files %q %q, says %s", args, status, after, hidden, stderr.String())
}

// readDamaged damages files and reads them.
func readDamaged() {
	becomeApart()
	dir := os.Args[3]
	first, _ := strconv.Atoi(os.Args[1])
	last, _ := strconv.Atoi(os.Args[2])
	must(os.Chdir(dir))
	must(os.WriteFile("keys", []byte("3\n5\n"), 0o644))
	said, err := os.Create("said")
	must(err)
	trace := os.Stderr
	read := func(to string, args ...string) (status int, text string) {
		out, err := os.Create(to)
		must(err)
		must(said.Truncate(0))
		_, err = said.Seek(0, 0)
		must(err)
		s := &cli.Streams{In: os.Stdin, Out: out, Err: said, Args: args, Program: "bloom-parquet"}
		status = run(s)
		must(out.Close())
		data, err := os.ReadFile("said")
		must(err)
		return status, string(data)
	}
	for seed := first; seed <= last; seed++ {
		random := rand.New(rand.NewPCG(27, uint64(seed)))
		good := goodParquet(random)
		must(os.WriteFile("in", good, 0o644))
		if status, text := read("filter", "build", "--column", "k", "in"); status != 0 {
			fmt.Fprintf(trace, "seed %d: build of the good file: status %d, %s\n", seed, status, text)
		}
		must(os.WriteFile("good", good, 0o644))
		must(os.WriteFile("in", damage(random, good), 0o644))
		more := [][]string{
			{"filter", "--column", "k", "--keys", "keys", "-o", "out", "in", "in"},
			{"filter", "-v", "--column", "k", "--as=jsonl", "--keys", "keys", "in"},
			{"filter", "--column", "k", "--as=csv", "filter", "in"},
			{"build", "--column", "k", "--keys", "keys", "--like", "in", "-o", "out"},
			{"filter", "--column", "k", "--keys", "in", "--keys-column", "k", "-o", "out", "good"},
			{"build", "--column", "k", "--keys", "in", "--keys-column", "k", "--like", "good", "-o", "out"},
			{"prune", "--column", "k", "--keys-column", "k", "in", "good"},
		}
		for i, args := range [][]string{
			{"filter", "--column", "k", "-o", "out", "filter", "in"},
			{"filter", "-v", "--column", "k", "-o", "out", "filter", "in"},
			{"build", "--column", "k", "-o", "out", "in"},
			{"prune", "--column", "k", "keys", "in"},
			{"inspect", "in"},
			more[seed%len(more)],
		} {
			must(os.WriteFile("next", []byte(strings.Join(append([]string{strconv.Itoa(seed)}, args...), "\n")), 0o644))
			must(os.Rename("next", "at")) // the process may end while it writes
			status, text := read("read", args...)
			if lines := strings.Count(text, "\n"); status != cli.ExitSome && status != cli.ExitNone && status != exitApart || status == exitApart && lines == 0 || lines > 1 && !warns(args) {
				fmt.Fprintf(trace, "seed %d: %s: status %d, says %s\n", seed, args, status, text)
			}
			if seed%200 == 10*i {
				if failure := runCommand(dir, args); failure != "" {
					fmt.Fprintf(trace, "seed %d: %s\n", seed, failure)
				}
			}
		}
	}
}

// warns reports whether a command may say something before its error.
func warns(args []string) bool { return args[0] == "prune" || slices.Contains(args, "--keys-column") }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// damage changes some bytes.
func damage(random *rand.Rand, good []byte) []byte {
	data := bytes.Clone(good)
	for range 1 + random.IntN(3) {
		at := random.IntN(len(data))
		switch random.IntN(8) {
		case 0: // a number that is extreme
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], []uint64{0, 1<<64 - 1, 1<<63 - 1, 1 << 31, 1<<31 - 1, 1 << 30, 1 << 20}[random.IntN(7)])
			copy(data[at&^3:], word[:4+4*random.IntN(2)])
		case 1: // bytes from another place
			from := random.IntN(len(data))
			copy(data[at:], data[from:min(len(data), from+random.IntN(64))])
		case 2: // a varint of thrift
			copy(data[at:], []byte{0xfe, 0xff, 0xff, 0xff, 0x0f}[random.IntN(4):])
		case 3:
			data[at] ^= 1 << random.IntN(8)
		case 4:
			if random.IntN(4) == 0 {
				data = append(data[:at:at], data[min(len(data), at+random.IntN(16)):]...)
			} else {
				data[at]++
			}
		default:
			data[at] = byte(random.Uint32())
		}
		if len(data) == 0 {
			return data
		}
	}
	return data
}

// goodParquet returns a Parquet file. k is the column of the keys.
func goodParquet(random *rand.Rand) []byte {
	type item struct {
		Name  string  `parquet:"name,dict"`
		Value *int64  `parquet:"value,optional"`
		Real  float32 `parquet:"real,split"`
	}
	type common struct {
		Bool    bool             `parquet:"bool"`
		I32     int32            `parquet:"i32,delta"`
		I64     int64            `parquet:"i64,delta"`
		Dict    string           `parquet:"dict,dict"`
		Bytes   []byte           `parquet:"bytes,delta"`
		Text    string           `parquet:"text,delta"`
		Real    float64          `parquet:"real,split"`
		Maybe   *string          `parquet:"maybe,optional,dict"`
		Numbers []int32          `parquet:"numbers,list,dict"`
		Items   []item           `parquet:"items"`
		Map     map[string]int64 `parquet:"map"`
		UUID    [16]byte         `parquet:"uuid,uuid"`
		Money   int64            `parquet:"money,decimal(2:12)"`
		At      time.Time        `parquet:"at,timestamp(microsecond)"`
	}
	n := 1 + random.IntN(60)
	makeCommon := func(i int) common {
		text := fmt.Sprint("text ", i%7)
		c := common{
			Bool: i%3 == 0, I32: int32(random.Uint32()), I64: int64(i), Dict: text, Bytes: []byte(text), Text: text, Real: random.Float64(),
			UUID: [16]byte{1, byte(i)}, Money: int64(i), At: time.Unix(int64(i), 0),
		}
		if i%2 == 0 {
			c.Maybe = &text
		}
		for j := range random.IntN(4) {
			c.Numbers = append(c.Numbers, int32(j))
			c.Items = append(c.Items, item{Name: text, Real: 1})
		}
		if i%5 == 0 {
			c.Map = map[string]int64{text: 1}
		}
		return c
	}
	switch random.IntN(8) {
	case 0:
		type row struct {
			K int32 `parquet:"k"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{int32(random.IntN(20)), makeCommon(i)} })
	case 1:
		type row struct {
			K int64 `parquet:"k,dict"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{int64(random.IntN(20)), makeCommon(i)} })
	case 2:
		type row struct {
			K int64 `parquet:"k,delta"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{int64(random.IntN(20)), makeCommon(i)} })
	case 3:
		type row struct {
			K string `parquet:"k"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{fmt.Sprint(random.IntN(20)), makeCommon(i)} })
	case 4:
		type row struct {
			K string `parquet:"k,dict"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{fmt.Sprint(random.IntN(20)), makeCommon(i)} })
	case 5:
		type row struct {
			K string `parquet:"k,delta"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{fmt.Sprint(random.IntN(20)), makeCommon(i)} })
	case 6:
		type row struct {
			K *string `parquet:"k,optional,dict"`
			common
		}
		return parquetOf(random, n, func(i int) row { s := fmt.Sprint(i); return row{&s, makeCommon(i)} })
	default:
		type row struct {
			K float64 `parquet:"k,split"`
			common
		}
		return parquetOf(random, n, func(i int) row { return row{float64(random.IntN(20)), makeCommon(i)} })
	}
}

func parquetOf[T any](random *rand.Rand, n int, value func(i int) T) []byte {
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.Compression(codecs[random.IntN(len(codecs))]), parquet.DataPageVersion(1+random.IntN(2)),
		parquet.MaxRowsPerRowGroup(int64(10+random.IntN(100))), parquet.PageBufferSize(200), parquet.BloomFilters(parquet.SplitBlockFilter(10, "k")))
	for i := range n {
		_, err := w.Write([]T{value(i)})
		must(err)
	}
	must(w.Close())
	return out.Bytes()
}
