package cli

import (
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// firstDrawn is when a progress bar appears: work that takes less needs none.
const firstDrawn = 500 * time.Millisecond

// Bar draws a progress bar on standard error, if that is a terminal. total is the expected amount of work, or
// -1 if it is unknown. Bar returns a function to report progress, which several goroutines may call, and one
// to call at the end.
func (s *Streams) Bar(title string, total int64, options ...progressbar.Option) (add func(int), done func()) {
	if !IsTerminal(s.Err) {
		return func(int) {}, func() {}
	}
	b := progressbar.NewOptions64(total, append(options,
		progressbar.OptionSetWriter(s.Err),
		progressbar.OptionSetDescription(title),
		progressbar.OptionThrottle(100*time.Millisecond), // drawing must not slow the work
		progressbar.OptionSetSpinnerChangeInterval(0),    // else a goroutine of the bar's draws, which races
		progressbar.OptionClearOnFinish(),
	)...)
	return drawnLate(b.Add64, b.Finish)
}

// drawnLate returns the functions of a bar that is drawn from firstDrawn on.
func drawnLate(draw func(int64) error, finish func() error) (add func(int), done func()) {
	start, work, drawn := time.Now(), atomic.Int64{}, atomic.Bool{}
	add = func(n int) {
		if work.Add(int64(n)); time.Since(start) >= firstDrawn {
			drawn.Store(true)
			_ = draw(work.Swap(0)) // an error of drawing is no reason to stop
		}
	}
	return add, func() {
		if drawn.Load() {
			_ = finish()
		}
	}
}

// BytesBar is a bar for the bytes of all inputs.
func (s *Streams) BytesBar(title string, inputs []Input) (add func(int), done func()) {
	return s.Bar(title, s.totalSize(inputs), progressbar.OptionShowBytes(true))
}

// totalSize returns the bytes of all inputs, or -1 if one is not a regular file.
func (s *Streams) totalSize(inputs []Input) (total int64) {
	for _, name := range inputs {
		info, err := s.Outputs().Stat(string(name))
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}
