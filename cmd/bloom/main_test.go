package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/commandtest"
	"github.com/lanebloom/bloom/cmd/internal/testlines"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bloom": main, "bloom-peak": peak})
}

// peak is the command, which then tells the KiB of memory that it held at most.
// The figure that a parent gets for its child (ru_maxrss) counts the parent, too.
func peak() {
	code := program().Run(cli.Standard("bloom"))
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "%s\n", regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(text)[1])
	os.Exit(code)
}

// TestScripts runs the scripts of testdata/script, in which "bloom" is this
// command.
func TestScripts(t *testing.T) {
	tables, err := filepath.Abs(filepath.Join("..", "..", "adapter", "sst", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := commandtest.Scripts(map[string]commandtest.Command{
		"bytes":    wantBytes,
		"generate": generate,
		"pack":     pack,
		"kind":     setKind,
		"cut":      cut,
	})
	scripts.Setup = func(env *testscript.Env) error {
		env.Setenv("TABLES", tables) // a folder of tables that storage engines wrote
		return nil
	}
	testscript.Run(t, scripts)
}

// setKind is the script command kind KIND FILE: it changes the kind of keys in the file of a filter. Old
// files have the kind "".
func setKind(ts *testscript.TestScript, _ bool, args []string) {
	f, err := bloom.OpenBinary([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	f, err = f.WithKeyKind(bloom.KeyKind(args[0]))
	ts.Check(err)
	file, err := f.MarshalBinary()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), file, 0o644))
}

// wantBytes is the script command: bytes FILE HEX
func wantBytes(ts *testscript.TestScript, _ bool, args []string) {
	if got := hex.EncodeToString([]byte(ts.ReadFile(args[0]))); got != args[1] {
		ts.Fatalf("%s holds %s, want %s", args[0], got, args[1])
	}
}

// cut is the script command cut FILE BYTES: it keeps the first BYTES bytes of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// generate is the script command: generate FILE FROM TO, for a file of lines
// key FROM … key TO-1.
func generate(ts *testscript.TestScript, _ bool, args []string) {
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	to, err := strconv.Atoi(args[2])
	ts.Check(err)
	var lines bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&lines, "key %d\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines.Bytes(), 0o644))
}

// pack is the script command: pack FORMAT FILE, for a file that is FILE compressed.
func pack(ts *testscript.TestScript, _ bool, args []string) {
	var packed bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&packed)
	if args[0] == "zst" {
		var err error
		w, err = zstd.NewWriter(&packed)
		ts.Check(err)
	}
	_, err := io.WriteString(w, ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, w.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]+"."+args[0]), packed.Bytes(), 0o644))
}

// TestFilterAgainstLoop compares the filter command with a loop over lines, for
// every flag, with and without a last newline.
func TestFilterAgainstLoop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	lines := testlines.Random(random, 20000, 128<<10)
	encoded := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 4}.AppendFilter(nil, bloom.Bytes(lines[:10000]))
	path := filepath.Join(dir, "filter")
	if err := os.WriteFile(path, encoded, 0o644); err != nil {
		t.Fatal(err)
	}
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	stream := filepath.Join(dir, "stream")
	for _, end := range []string{"", "\n"} {
		if err := os.WriteFile(stream, append(bytes.Join(lines, []byte("\n")), end...), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, invert := range []bool{false, true} {
			var want []byte
			count := 0
			for _, line := range lines {
				if bloom.Reference(bloom.LevelDB, encoded, line) != invert {
					want = append(append(want, line...), '\n')
					count++
				}
			}
			command := filterCommand{FilterFlags: cli.FilterFlags{Format: &cli.Format{Format: bloom.LevelDB}}, Invert: invert, File: cli.Input(path), Stream: []cli.Input{cli.Input(stream)}}
			if got := output(t, &command); !bytes.Equal(got, want) {
				t.Errorf("invert %v: %d bytes of output, want %d", invert, len(got), len(want))
			}
			command.Count = true
			if got := output(t, &command); string(got) != fmt.Sprintln(count) {
				t.Errorf("invert %v: counted %q, want %d", invert, got, count)
			}
		}
	}
}

// output runs a filter command and returns what it prints.
func output(t *testing.T, f interface{ Run(*cli.Streams) error }) []byte {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := f.Run(&cli.Streams{In: os.Stdin, Out: out, Err: os.Stderr, Program: "bloom"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestCommandLine parses the examples of every help and the command lines of every document, and looks for the flags that helps name. Every flag and argument that
// names a file says whether it is read or written, and every command refuses an output that is an input.
func TestCommandLine(t *testing.T) {
	commandtest.Examples(t, "bloom", program)
	commandtest.Helps(t, "bloom", program)
	commandtest.HelpFlags(t, "bloom", program)
	commandtest.Formats(t, "bloom", program)
	commandtest.Documents(t, "bloom", program, 20)
	commandtest.Grammar(t, "bloom", program, "format", "field", "delimiter", "test key", "tables key", "tables policy", "tables sort", "explore address", "bench keys", "bench sizes", "completion shell", "help command")
}
