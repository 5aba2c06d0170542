//go:build go1.25

package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"testing/synctest" // of Go 1.25
	"time"
)

// TestCommand runs the command, and replaces its list while the command reads names. Time passes only while the command waits.
func TestCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	write(t, path, "old.com")
	var out, log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		in, names := io.Pipe()
		ended := make(chan error)
		go func() { ended <- run(0, time.Second, []string{path}, in, &out, &log) }()
		fmt.Fprintln(names, "www.old.com\nnew.com")
		synctest.Wait() // the command has answered
		write(t, path, "new.com")
		time.Sleep(2 * time.Second) // and has seen the new list
		fmt.Fprintln(names, "www.old.com\nnew.com")
		names.Close()
		if err := <-ended; err != nil || out.String() != "www.old.com\nnew.com\n" || log.Len() > 0 {
			t.Errorf("%v: %q, %q", err, out.String(), log.String())
		}
	})
	out.Reset()
	if err := run(3, time.Second, nil, nil, &out, &log); err != nil || out.String() != "acorn-0.com\nbrook-0.com\ncedar-0.com\n" {
		t.Errorf("%v: %q", err, out.String())
	}
	if err := run(0, time.Second, nil, nil, &out, &log); err == nil {
		t.Error("no error without a list")
	}
}
