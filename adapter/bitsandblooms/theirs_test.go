package bloom_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// theirModule is what this package stands in for. go.mod has its version.
const theirModule = "github.com/bits-and-blooms/bloom/v3"

// swaps are the changes by which the tests of bits-and-blooms, which belong to its package, run outside of ours: the import, and
// names that are not exported. Each pattern has to occur the given number of times in both files, so that a new version with other
// tests is noticed.
var swaps = []struct {
	pattern, by string
	count       int
}{
	{`(?m)^package bloom$`, "package theirs\n\nimport . \"github.com/lanebloom/bloom/adapter/bitsandblooms\"", 2},
	{`"github.com/bits-and-blooms/bitset"`, "", 1},
	{`BloomFilter\{1000, 4, bitset\.New\(1000\)\}`, "*New(1000, 4)", 1},
	{`f\.location\(h, i\)`, "location(f, h, i)", 1},
	{`\b(f|g|filter)\.m\b`, "$1.Cap()", 17},
	{`\b(f|g|filter)\.k\b`, "$1.K()", 18},
	{`\b(f|g|filter)\.b\b`, "$1.BitSet()", 18},
}

// TestTheirTests runs the tests of bits-and-blooms, as the module cache has them, with this package in its place.
func TestTheirTests(t *testing.T) {
	runGo(t, "mod", "download", theirModule) // if it is not in the cache
	theirs := runGo(t, "list", "-m", "-f", "{{.Dir}}", theirModule)
	tests, counts := 0, make([]int, len(swaps))
	// To the go command alone, the changed files are in a package of this module, so they have its dependencies.
	overlay, temporary := map[string]string{}, t.TempDir()
	for _, name := range []string{"bloom_test.go", "murmur_test.go"} {
		data, err := os.ReadFile(filepath.Join(theirs, name))
		if err != nil {
			t.Fatal(err)
		}
		tests += strings.Count(string(data), "\nfunc Test")
		for i, s := range swaps {
			pattern := regexp.MustCompile(s.pattern)
			counts[i] += len(pattern.FindAll(data, -1))
			data = pattern.ReplaceAll(data, []byte(s.by))
		}
		to, err := filepath.Abs(filepath.Join("testdata", "theirs", name))
		if err != nil {
			t.Fatal(err)
		}
		overlay[to] = filepath.Join(temporary, name)
		if err := os.WriteFile(overlay[to], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range swaps {
		if counts[i] != s.count {
			t.Errorf("their tests have %s %d times, want %d", s.pattern, counts[i], s.count)
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(temporary, "overlay.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	output := runGo(t, "test", "-vet=off", "-v", "-overlay", path, "./testdata/theirs")
	if passed := strings.Count(output, "--- PASS: "); passed != tests || tests < 33 {
		t.Errorf("%d of their %d tests pass:\n%s", passed, tests, output)
	}
}

// runGo runs the go command and returns what it prints.
func runGo(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	var messages strings.Builder
	command.Stderr = &messages
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(arguments, " "), err, output, &messages)
	}
	return strings.TrimSpace(string(output))
}
