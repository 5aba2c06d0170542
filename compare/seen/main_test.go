package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the command itself if it is given a file.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-address" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the command. It returns its address, and stop, which ends it and waits until it has saved its window.
func start(t *testing.T, arguments ...string) (base string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	command := exec.Command(os.Args[0], append([]string{"-address", address}, arguments...)...)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill() })
	base = "http://" + address
	for looks := 0; ; looks++ { // counted, since each takes longer beside other work
		response, err := http.Get(base + "/")
		if err == nil {
			response.Body.Close()
			break
		}
		if looks == 10_000 {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return base, func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %s", address, err, body)
	}
	return strings.TrimSpace(string(body))
}

// metric returns the value of a line of the metrics.
func metric(t *testing.T, base, name string) (value float64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(get(t, base+"/metrics")))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// TestSeen asks for URLs, reads the metrics, and restarts the service with its file, with a larger window, and a day later.
func TestSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.bloom")
	ask := func(base, page string) string {
		return get(t, base+"/seen?url="+url.QueryEscape("https://example.com/"+page))
	}
	base, stop := start(t, "-file", path, "-per-hour", "1000")
	for i := range 500 {
		if got := ask(base, fmt.Sprint(i)); got != "false" && i < 3 {
			t.Errorf("page %d: %s", i, got)
		}
	}
	if ask(base, "1") != "true" {
		t.Error("page 1 is forgotten")
	}
	if fill := metric(t, base, `seen_fill_ratio{generation="0"}`); fill < 0.1 || fill > 0.4 {
		t.Errorf("half of its keys: fill %v", fill)
	}
	if metric(t, base, `seen_fill_ratio{generation="24"}`) != 0 {
		t.Error("keys in generation 24")
	}
	if rate := metric(t, base, `seen_false_positive_rate{generation="all"}`); rate <= 0 || rate > 0.001 {
		t.Errorf("rate %v", rate)
	}
	stop()
	base, stop = start(t, "-file", path, "-per-hour", "50000")
	if ask(base, "1") != "true" || ask(base, "new") != "false" || metric(t, base, `seen_fill_ratio{generation="0"}`) == 0 {
		t.Error("after a restart with a larger window, a page is forgotten")
	}
	stop()
	day := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(path, day, day); err != nil {
		t.Fatal(err)
	}
	base, stop = start(t, "-file", path)
	if ask(base, "1") != "false" {
		t.Error("after a day, a page is remembered")
	}
	stop()
}

// TestLines wants a program that is short enough to copy.
func TestLines(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if n := strings.Count(string(source), "\n"); err != nil || n > 60 {
		t.Errorf("%d lines, %v", n, err)
	}
}
