package main

import (
	"bufio"
	"context"
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
	"testing/synctest"
	"time"

	"github.com/lanebloom/bloom/window"
)

// TestMain is the command itself if it is given a file.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-address" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the command. It returns its address, and stop, which ends it by a signal, and waits until it has ended.
func start(t *testing.T, arguments ...string) (base string, stop func(syscall.Signal)) {
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
	return base, func(signal syscall.Signal) {
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil && signal != syscall.SIGKILL {
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

// TestSeen asks for URLs, reads the metrics, and restarts the service with its folder, with a larger window, and after a
// crash.
func TestSeen(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "seen")
	ask := func(base, page string) string {
		return get(t, base+"/seen?url="+url.QueryEscape("https://example.com/"+page))
	}
	base, stop := start(t, "-folder", folder, "-per-hour", "1000")
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
	if rate := metric(t, base, "seen_false_positive_rate"); rate <= 0 || rate > 0.001 {
		t.Errorf("rate %v", rate)
	}
	stop(syscall.SIGTERM)
	base, stop = start(t, "-folder", folder, "-per-hour", "50000")
	if ask(base, "1") != "true" || ask(base, "new") != "false" || metric(t, base, `seen_fill_ratio{generation="0"}`) == 0 {
		t.Error("after a restart with a larger window, a page is forgotten")
	}
	stop(syscall.SIGTERM)
	base, kill := start(t, "-folder", folder, "-save", "10ms")
	ask(base, "before a crash")
	for range 2 { // the second Save that ends has begun after that
		header := func() string {
			text, err := os.ReadFile(filepath.Join(folder, "window"))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		for old := header(); header() == old; {
			time.Sleep(time.Millisecond)
		}
	}
	kill(syscall.SIGKILL)
	base, stop = start(t, "-folder", folder)
	if ask(base, "before a crash") != "true" || ask(base, "1") != "true" {
		t.Error("after a crash, a page is forgotten")
	}
	stop(syscall.SIGTERM)
}

// TestDeploys deploys the service again and again: it ends, and starts with what it has saved. However often that is, a URL is
// remembered for 24 hours and forgotten after 25, and the rate holds.
func TestDeploys(t *testing.T) {
	intervals := []time.Duration{50 * time.Minute, 70 * time.Minute, 100 * time.Minute, 3*time.Hour + 40*time.Minute, 6 * time.Hour}
	if testing.Short() {
		intervals = intervals[:2]
	}
	for _, every := range intervals {
		synctest.Test(t, func(t *testing.T) {
			folder := t.TempDir()
			var at []time.Time
			var seen *window.Window
			for range 72*time.Hour/every + 1 {
				var err error
				if seen, _, err = window.Open(folder, window.Options{Generations: 25, Keys: 1000, Rate: 0.001}); err != nil {
					t.Fatal(err)
				}
				ctx, end := context.WithCancel(t.Context())
				kept := make(chan error)
				go func() { kept <- keep(ctx, seen, 20*time.Minute) }()
				for range every / time.Minute {
					for range 15 { // 900 an hour
						seen.AddUint64(uint64(len(at)))
						at = append(at, time.Now())
					}
					time.Sleep(time.Minute)
				}
				end()
				if err := <-kept; err != nil {
					t.Fatal(err)
				}
			}
			late := 0
			for i, when := range at {
				has, age := seen.MayContainUint64(uint64(i)), time.Since(when)
				if !has && age < 24*time.Hour {
					t.Fatalf("a deploy each %v: forgotten after %v", every, age)
				}
				if has && age > 25*time.Hour {
					late++
				}
			}
			if s := seen.Stats(); late > 150 || s.FalsePositiveRate > 0.001 || s.Over {
				t.Errorf("a deploy each %v: %d URLs are remembered for more than 25 hours; a rate of %v", every, late, s.FalsePositiveRate)
			}
		})
	}
}

// TestLines wants a program that is short enough to copy.
func TestLines(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if n := strings.Count(string(source), "\n"); err != nil || n > 80 {
		t.Errorf("%d lines, %v", n, err)
	}
}
