package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestTrace wants the first line of a trace, however it is cut, and not what parquet-go prints before.
func TestTrace(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	for text, want := range map[string]string{
		"":                              "",
		"fatal error: fault":            "fatal error: fault",
		"fatal error: fault\ngoroutine": "fatal error: fault",
		"parquet: warning: column 8\nparquet: warning: " + long + "\nfatal error: fault\nparquet: warning: x\n": "fatal error: fault",
		"parquet: warning: column 8\n\nfatal error: fault\n":                                                    "fatal error: fault",
		"parquet: warning: cut off": "",
		long + "\nmore":             strings.TrimSpace(long[:4096]),
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			trace := new(trace)
			for piece := range slices.Chunk([]byte(text), size) {
				if n, err := trace.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := trace.first(); got != want {
				t.Errorf("%.60q in pieces of %d: %.60q, want %.60q", text, size, got, want)
			}
		}
	}
}

// TestEnded tells a malformed file from one that is too large, and from a process that was ended.
func TestEnded(t *testing.T) {
	signals := make(chan os.Signal, 1) // a shell ends by them, though this process may have been started to ignore them
	signal.Notify(signals, syscall.SIGINT, syscall.Signal(1))
	defer signal.Stop(signals)
	for _, test := range []struct{ script, trace, want string }{
		{"exit 2", "fatal error: fault", "in: malformed: the process that was reading it ended: fatal error: fault"},
		{"exit 2", "", "in: malformed: the process that was reading it ended: exit status 2"},
		{"kill -SEGV $$", "", "in: malformed: the process that was reading it ended: signal: segmentation fault"},
		{"kill -KILL $$", "", "in: the process that was reading it was killed, by a user or by the system for lack of memory"},
		{"kill -TERM $$", "", "reported"}, {"kill -INT $$", "", "reported"}, {"kill -HUP $$", "", "reported"}, {"kill -PIPE $$", "", "reported"},
		{"exit 4", "this needs more than 4096 MiB of memory", "in, keys: damaged, or too large to read: this needs more than 4096 MiB of memory"},
		{"exit 2", "runtime: out of memory: cannot allocate 8-byte block", "in, keys: damaged, or too large to read: runtime: out of memory: cannot allocate 8-byte block"},
	} {
		err, exit := exec.Command("sh", "-c", test.script).Run(), (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := ended(exit, test.trace, "in", []string{"", "keys"}); got.Error() != test.want && !strings.HasPrefix(got.Error(), test.want+" (core dumped)") {
			t.Errorf("%s: %v, want %s", test.script, got, test.want)
		}
	}
}
