package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// bar draws a progress bar on standard error, if that is a terminal. total is the expected
// amount of work, or -1 if it is unknown. bar returns a function to report progress, and one
// to call at the end.
func bar(s *streams, title string, total int64, options ...progressbar.Option) (add func(int), done func()) {
	if !isTerminal(s.err) {
		return func(int) {}, func() {}
	}
	b := progressbar.NewOptions64(total, append(options,
		progressbar.OptionSetWriter(s.err),
		progressbar.OptionSetDescription(title),
		progressbar.OptionThrottle(100*time.Millisecond), // drawing must not slow the work
		progressbar.OptionClearOnFinish(),
	)...)
	// An error of drawing is no reason to stop.
	return func(n int) { _ = b.Add(n) }, func() { _ = b.Finish() }
}

// bytesBar is a bar for the bytes of all inputs.
func bytesBar(s *streams, title string, inputs []string) (add func(int), done func()) {
	return bar(s, title, totalSize(s, inputs), progressbar.OptionShowBytes(true))
}

// totalSize returns the bytes of all inputs, or -1 if one is not a regular
// file.
func totalSize(s *streams, names []string) (total int64) {
	for _, name := range names {
		info, err := s.outputs().Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}
