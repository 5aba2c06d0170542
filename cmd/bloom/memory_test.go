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
)

// repeated is an input of n times the same byte and then a newline.
func repeated(b byte, n int64) io.Reader {
	return io.MultiReader(io.LimitReader(endless(b), n), strings.NewReader("\n"))
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestLongLines wants no more than 2.5 times the longest line in memory.
func TestLongLines(t *testing.T) {
	const mib = 1 << 20
	dir := t.TempDir()
	filter, built := filepath.Join(dir, "filter"), filepath.Join(dir, "built")
	encoded := bloom.Policy{BitsPerKey: 10}.AppendFilter(nil, bloom.Strings([]string{"another"}))
	if err := os.WriteFile(filter, encoded, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"filter":       {"filter", "-v", filter},
		"filter count": {"filter", "-v", "-c", filter},
		"build":        {"build", "-o", built},
	} {
		t.Run(name, func(t *testing.T) {
			base := peakOf(t, strings.NewReader("a line\n"), args...)
			for _, lengths := range [][]int64{{64 * mib}, {48 * mib, 56 * mib, 40 * mib, 1, 64*mib + 1}} {
				var input []io.Reader
				longest := int64(0)
				for i, n := range lengths {
					input = append(input, repeated('a'+byte(i), n))
					longest = max(longest, n)
				}
				took := float64(peakOf(t, io.MultiReader(input...), args...)-base) / float64(longest)
				t.Logf("lines of %v bytes: %.2f times the longest", lengths, took)
				if took > 2.5 {
					t.Errorf("lines of %v bytes take %.2f times the longest, want at most 2.5", lengths, took)
				}
			}
		})
	}
}

// peakOf runs the command and returns the most memory, in bytes, that it held.
func peakOf(t *testing.T, stdin io.Reader, args ...string) int64 {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.Command("bloom-peak", args...)
	command.Stdin, command.Stderr = stdin, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(stderr.String()), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
