package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// bar draws a progress bar on standard error, if that is a terminal. It returns a function to
// report progress, and one to call at the end.
func bar(s *streams, title string, total int64) (add func(int64), done func()) {
	if !isTerminal(s.err) {
		return func(int64) {}, func() {}
	}
	b := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(s.err),
		progressbar.OptionSetDescription(title),
		progressbar.OptionThrottle(100*time.Millisecond), // drawing must not slow the work
		progressbar.OptionSetSpinnerChangeInterval(0),    // else a goroutine of the bar's draws, which races
		progressbar.OptionClearOnFinish(),
	)
	// An error of drawing is no reason to stop.
	return func(n int64) { _ = b.Add64(n) }, func() { _ = b.Finish() }
}
