package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAdapterBeforeRelease runs the lines that get an adapter before there is a version, in a new module, with this tree for the
// clone. Then it runs a program with that adapter. The module proxy refuses all requests.
func TestAdapterBeforeRelease(t *testing.T) {
	const page, clone = "docs/README.md", "git clone https://github.com/lanebloom/bloom ../lanebloom"
	const get = "go get github.com/lanebloom/bloom/adapter/parquet@v0.1.0"
	text := source(t, page)
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if len(commands) != 3 || commands[0] != clone || !strings.Contains(text, "`"+get+"`") {
		t.Fatalf("%s has the commands %q, want %q and two more, and %q", page, commands, clone, get)
	}
	for _, flags := range []string{"", "-mod=mod"} {
		for _, last := range []string{commands[2], get} {
			t.Run(fmt.Sprintf("GOFLAGS=%s %s", flags, last), func(t *testing.T) {
				getAdapter(t, flags, commands[1], last)
			})
		}
	}
}

// getAdapter runs commands in a new module that imports an adapter, and then its program. Every go command
// gets the flags.
func getAdapter(t *testing.T, flags string, commands ...string) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this version is not available", http.StatusForbidden)
	}))
	defer proxy.Close()
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	if err := os.Mkdir(program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tree, filepath.Join(folder, "lanebloom")); err != nil {
		t.Fatal(err)
	}
	const text = `package main

import (
	"fmt"

	"github.com/lanebloom/bloom"
	bloomparquet "github.com/lanebloom/bloom/adapter/parquet"
)

func main() { fmt.Println(bloom.Default, bloomparquet.ErrFooter != nil) }
`
	if err := os.WriteFile(filepath.Join(program, "main.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// The user's Go, and no workspace but the clone's. What adapter/parquet needs, the root needs too: after it has that, nothing
	// is fetched.
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") || strings.HasPrefix(v, "GOTOOLCHAIN=") })
	environment = append(environment, "GOPROXY="+proxy.URL, "GONOSUMDB=*", "GOFLAGS=-trimpath "+flags+" "+os.Getenv("GOFLAGS"))
	download := exec.Command("go", "mod", "download")
	download.Dir, download.Env = tree, append(os.Environ(), "GOWORK=off")
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	run := func(command string) string {
		t.Helper()
		shell := exec.Command("bash", "-c", command)
		shell.Dir, shell.Env = program, environment
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	for _, command := range append([]string{"go mod init example.org/program"}, commands...) {
		run(command)
	}
	if out := run("go run ."); !strings.HasSuffix(out, "rocksdb true\n") {
		t.Errorf("the program prints %q", out)
	}
}
