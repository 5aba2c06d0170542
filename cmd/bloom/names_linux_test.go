package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNames gives names that are not UTF-8 to every flag and argument that is a
// file: on Linux a name is bytes.
func TestNames(t *testing.T) {
	const bad = "\xff\xfe \xc3("
	var keys bytes.Buffer
	for i := range 100 {
		fmt.Fprintln(&keys, "key", i)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bad), keys.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	bench := []string{"bench", "--time", "1ms", "--hits", "50"}
	for _, c := range []struct {
		args   []string
		output string // the file that there must be then
		holds  string
	}{
		{[]string{"build", "-o", bad + ".bloom", bad}, bad + ".bloom", ""},
		{[]string{"build", "-o" + bad + ".short", bad}, bad + ".short", ""},
		{[]string{"build", "--output=" + bad + ".long", "--", bad}, bad + ".long", ""},
		{[]string{"filter", bad + ".bloom", bad, bad}, "", keys.String() + keys.String()},
		{[]string{"inspect", bad + ".bloom"}, "", `file             "\xff\xfe \xc3(.bloom"` + "\n"},
		{[]string{"inspect", "--plot", bad + ".fill.svg", bad + ".bloom"}, bad + ".fill.svg", "bits"},
		{append(bench, "--input", bad, "--json", bad+".json", "--plot", bad+".svg"), bad + ".json", `100 of "\xff\xfe \xc3(": `},
		{append(bench, "--input", bad, "--json", bad+".json", "--plot", bad+".svg"), bad + ".svg", `100 of "\xff\xfe \xc3(": `},
	} {
		command := exec.Command("bloom", c.args...)
		var stdout, stderr bytes.Buffer
		command.Dir, command.Stdout, command.Stderr = dir, &stdout, &stderr
		if err := command.Run(); err != nil {
			t.Errorf("%q: %v: %s", c.args, err, &stderr)
		}
		if !bytes.Contains(stdout.Bytes(), []byte(c.holds)) {
			t.Errorf("%q prints %q, want %q in it", c.args, &stdout, c.holds)
		}
		if c.output != "" {
			if _, err := os.Stat(filepath.Join(dir, c.output)); err != nil {
				t.Errorf("%q: %v", c.args, err)
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 {
		t.Errorf("%d files, want 7: %q", len(files), files)
	}
}
