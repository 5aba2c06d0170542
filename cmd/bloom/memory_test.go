//go:build linux && !race

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// repeated is an input of n times the same byte and then a newline.
func repeated(b byte, n int64) io.Reader {
	return long("", string(b), n, "\n")
}

// long is an input of a start, of n bytes that repeat, and of an end.
func long(start, repeated string, n int64, end string) io.Reader {
	return io.MultiReader(strings.NewReader(start), io.LimitReader(&endless{text: strings.Repeat(repeated, 4<<10)}, n), strings.NewReader(end))
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// TestLongLines wants no more than 2.5 times the longest line in memory.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make prove/long runs it")
	}
	const mib = 1 << 20
	dir := t.TempDir()
	filter, built := filepath.Join(dir, "filter"), filepath.Join(dir, "built")
	encoded := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.AppendFilter(nil, bloom.Strings([]string{"another"}))
	if err := os.WriteFile(filter, encoded, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"filter":       {"filter", "--format", "leveldb", "-v", filter},
		"filter count": {"filter", "--format", "leveldb", "-v", "-c", filter},
		"build":        {"build", "-o", built},
	} {
		t.Run(name, func(t *testing.T) {
			args = append(args, "--max-record", "65MiB")
			base := peakOf(t, cli.ExitSome, strings.NewReader("a line\n"), args...)
			for _, lengths := range [][]int64{{64 * mib}, {48 * mib, 56 * mib, 40 * mib, 1, 64*mib + 1}} {
				var input []io.Reader
				longest := int64(0)
				for i, n := range lengths {
					input = append(input, repeated('a'+byte(i), n))
					longest = max(longest, n)
				}
				took := float64(peakOf(t, cli.ExitSome, io.MultiReader(input...), args...)-base) / float64(longest)
				t.Logf("lines of %v bytes: %.2f times the longest", lengths, took)
				if took > 2.5 {
					t.Errorf("lines of %v bytes take %.2f times the longest, want at most 2.5", lengths, took)
				}
			}
		})
	}
}

// TestLongRecords wants no more than eight times the longest record in memory, whatever it holds.
func TestLongRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make prove/long runs it")
	}
	const n = 8 << 20
	json, csv := []string{"--jsonl", "-f", "k"}, []string{"--csv", "-f", "1"}
	for name, c := range map[string]struct {
		flags              []string
		start, middle, end string
		status             int
	}{
		"JSON of numbers":        {json, `{"k":1,"x":[`, "0,", "0]}\n", cli.ExitSome},
		"JSON of members":        {json, `{`, `"":0,`, `"k":1}` + "\n", cli.ExitSome},
		"JSON of escaped names":  {json, `{`, `"\u0000":0,`, `"k":1}` + "\n", cli.ExitSome},
		"JSON of escapes":        {json, `{"k":"`, `\"`, `"}` + "\n", cli.ExitSome},
		"no JSON":                {json, `{"k":1,"x":t`, "\x00", "}\n", cli.ExitError},
		"no JSON that is deep":   {json, "", "[", "\n", cli.ExitError},
		"CSV, ragged":            {csv, "a,b\n", `,`, "\n", cli.ExitError},
		"CSV, ragged and quoted": {csv, "a,b\n\"\"", `,`, "\n", cli.ExitError},
		"CSV of newlines":        {csv, "a,b\n\"", "\r\n", "\",b\n", cli.ExitSome},
		"CSV of quotes":          {csv, "a,b\n\"", `""`, "\",b\n", cli.ExitSome},
		"fields of a line":       {[]string{"-d,", "-f3"}, "a", ",", "\n", cli.ExitSome},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"build", "-o", filepath.Join(t.TempDir(), "built")}, c.flags...)
			base := peakOf(t, cli.ExitSome, strings.NewReader(""), args...)
			var input []io.Reader
			for range 3 {
				input = append(input, long(c.start, c.middle, n/int64(len(c.middle))*int64(len(c.middle)), c.end))
			}
			took := float64(peakOf(t, c.status, io.MultiReader(input...), args...)-base) / n
			t.Logf("%.2f times the longest", took)
			if took > 8 {
				t.Errorf("it takes %.2f times the longest record, want at most 8", took)
			}
		})
	}
}

// TestBuildWithinMemory wants the memory of --memory and of what is written, and no hash of each key.
func TestBuildWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make prove/long runs it")
	}
	const memory = 8 << 20
	args := []string{"build", "-o", filepath.Join(t.TempDir(), "built"), "--memory", strconv.Itoa(memory)}
	var keys bytes.Buffer
	for i := range 5_000_000 {
		keys.Write(strconv.AppendInt(keys.AvailableBuffer(), int64(i), 10))
		keys.WriteByte('\n')
	}
	all := keys.Bytes()
	base := peakOf(t, cli.ExitSome, bytes.NewReader(all[:1<<20]), "build", "-o", args[2])
	took := float64(peakOf(t, cli.ExitSome, bytes.NewReader(all), args...)-base) / memory
	without := float64(peakOf(t, cli.ExitSome, bytes.NewReader(all), args[:3]...)-base) / memory
	t.Logf("%.2f times the memory asked for, and %.2f without it", took, without)
	if took > 3.5 || without < 1.5*took {
		t.Errorf("it takes %.2f times the memory asked for, want at most 3.5, and %.2f without it", took, without)
	}
}

// peakOf runs the command, which must exit with the status, and returns the most memory, in bytes, that it
// held.
func peakOf(t *testing.T, status int, stdin io.Reader, args ...string) int64 {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.Command("bloom-peak", args...)
	command.Stdin, command.Stderr = stdin, &stderr
	if err := command.Run(); command.ProcessState.ExitCode() != status {
		t.Fatalf("%v, and not exit status %d: %s", err, status, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	kib, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
