package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// printUnseen prints what neither this run nor the file of --seen has seen, and adds it to the file.
func (u *uniqueCommand) printUnseen(s *cli.Streams) error {
	if err := u.makeSeen(s); err != nil {
		return err
	}
	if err := s.Outputs().CheckUpdate(string(u.Seen)); err != nil {
		return err
	}
	if err := u.openSeen(s); err != nil {
		return err
	}
	u.file = newSeenFile(s, u)
	failures := u.printNew(s)
	if err := u.file.close(failures); err != nil || endsAll(failures) {
		return errors.Join(failures, err)
	}
	if rate := u.known.rateTogether(); rate > float64(*u.Rate) && u.known.added > 0 {
		s.Warn(string(u.Seen), fmt.Sprintf("the next run is expected to miss %.3g %% of its new lines, more than --rate allows: begin a new file with a larger --memory", 100*rate))
	}
	return failures
}

// makeSeen writes a filter without keys to the file, if it is not there. One that is there has to have the size
// that --memory says.
func (u *uniqueCommand) makeSeen(s *cli.Streams) error {
	_, err := os.Stat(string(u.Seen))
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && u.Memory == nil {
		return nil // to open it tells the error
	}
	memory := cli.ByteSize(64 << 20)
	if u.Memory != nil {
		memory = *u.Memory
	}
	build := buildCommand{Memory: &memory, Size: cli.Size{Rate: u.Rate}}
	set, _, err := build.foldable(bloom.Default)
	if err != nil {
		return err
	}
	if missing {
		err := u.create(s, set)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if u.Memory == nil {
			return nil // another run made it meanwhile
		}
	}
	there, err := cli.FilterFlags{}.OpenText(s, string(u.Seen))
	if err != nil {
		return err
	}
	if has, want := len(there.Bytes()), len(set.Bytes()); has != want {
		return fmt.Errorf("--memory: %s exists and has a size of %s, which cannot change to %s: leave out --memory, or name another file", show.Name(u.Seen), sizeWords(has), sizeWords(want))
	}
	return nil
}

// create makes the file of a set. The error is fs.ErrExist if it is there by now.
func (u *uniqueCommand) create(s *cli.Streams, set *bloom.Set) error {
	filter, err := set.Filter().WithKeyKind(bloom.KindText)
	if err != nil {
		return err
	}
	file, err := filter.MarshalBinary()
	if err != nil {
		return err
	}
	return s.Outputs().Create(string(u.Seen), func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// openSeen makes the filter of the file one of the sets. Keys are added to another one of its shape.
func (u *uniqueCommand) openSeen(s *cli.Streams) error {
	filter, err := cli.FilterFlags{}.OpenText(s, string(u.Seen))
	if err != nil {
		return err
	}
	file, err := setOf(filter, string(u.Seen))
	if err != nil {
		return err
	}
	stats := file.Stats()
	old := seenSet{file, stats.Bits, stats.Probes, int(1.05 * stats.Keys)} // the estimate may be 5 % too low
	fresh := seenSet{emptyLike(file), stats.Bits, stats.Probes, 0}
	u.known = newSeenKeys(float64(*u.Rate), old, fresh)
	if stats.KeysUnknown {
		return fmt.Errorf("%s: nearly all bits of the filter are set, so most new lines would be missing: begin a new file with a larger --memory", show.Name(u.Seen))
	}
	if u.known.before > float64(*u.Rate) {
		return fmt.Errorf("%s: the file has %s keys, so %.3g %% of new lines would be missing, but --rate allows only %.3g %%: begin a new file with a larger --memory, or choose a larger --rate",
			show.Name(u.Seen), humanize.Comma(int64(stats.Keys)), 100*u.known.before, 100*float64(*u.Rate))
	}
	return nil
}

// emptyLike returns a set without keys of the shape of another.
func emptyLike(set *bloom.Set) *bloom.Set {
	empty := set.Clone()
	empty.Clear()
	return empty
}

// savePeriod is how often the file gets what was printed, at most. A test sets it.
var savePeriod = 10 * time.Second

// seenFile is the file of --seen while records are printed. It gets the keys of those that were printed: now and then,
// at the end, and when a signal asks the process to end. A key that it lacks is printed once more by the next run, and
// one that it has without having been printed would be lost.
type seenFile struct {
	*uniqueCommand
	s       *cli.Streams
	signals <-chan os.Signal
	restore func() // lets signals end the process
	stop    chan struct{}
	stopped chan struct{}
	warned  bool

	printing sync.Mutex // held from the printing of records until their keys are in fresh
	adding   sync.Mutex // of those below
	fresh    *bloom.Set // keys that were printed, and that the file lacks
	validity []byte
}

func newSeenFile(s *cli.Streams, u *uniqueCommand) *seenFile {
	f := &seenFile{uniqueCommand: u, s: s, stop: make(chan struct{}), stopped: make(chan struct{}), fresh: emptyLike(u.known.last.Set)}
	f.signals, f.restore = outputfile.CatchSignals()
	go f.watch()
	return f
}

// printed prints the records of a chunk, and then adds the new keys of those that were written, whatever the error. A
// nil file adds nothing.
func (f *seenFile) printed(c *records.Chunk, delimiter byte, print func() error) error {
	if f == nil {
		return print()
	}
	f.printing.Lock()
	defer f.printing.Unlock()
	failure := print()
	keys := c.Hashed
	if failed := (*outputError)(nil); errors.As(failure, &failed) {
		keys = keys.Slice(0, c.KeysWritten(failed.wrote, delimiter))
	}
	f.adding.Lock()
	defer f.adding.Unlock()
	f.validity = appendNot(f.validity[:0], c.Hits)
	keys, err := keys.WithValidity(f.validity, 0)
	if err != nil {
		return errors.Join(failure, &outputError{error: err})
	}
	f.fresh.AddBatch(keys)
	return failure
}

// watch saves what was printed now and then, and when a signal asks the process to end.
func (f *seenFile) watch() {
	defer close(f.stopped)
	pause := savePeriod
	for {
		select {
		case <-f.stop:
			return
		case signal := <-f.signals:
			if signal != cli.ClosedPipe { // which is an error of printing, too
				f.end(signal)
			}
		case <-time.After(pause):
			if f.Count {
				continue // nothing is printed before the end
			}
			begin := time.Now()
			f.adding.Lock()
			err := f.save()
			f.adding.Unlock()
			if pause = max(savePeriod, 20*time.Since(begin)); err != nil && !f.warned {
				f.s.Warn(string(f.Seen), err.Error())
				f.warned = true
			}
		}
	}
}

// end saves what was printed, and ends the process by a signal. Records that are being printed may be written whole; but
// where nobody reads them, they are not waited for.
func (f *seenFile) end(s os.Signal) {
	const patience = 200 * time.Millisecond
	for begin := time.Now(); !f.printing.TryLock() && time.Since(begin) < patience; {
		time.Sleep(time.Millisecond)
	}
	f.adding.Lock() // nothing is added from here on
	if !f.Count {
		if err := f.save(); err != nil {
			f.s.Status(err)
		}
	}
	f.restore()
	cli.EndBy(s, f.s.Out, cli.ExitError)
}

// save adds what was printed to the file.
func (f *seenFile) save() error {
	if n, _ := f.fresh.KeyCount(); n == 0 {
		return nil
	}
	adder := addCommand{File: f.Seen}
	err := f.s.Outputs().Update(string(f.Seen), func(now []byte) ([]byte, error) {
		all, bare, err := adder.addTo(now, f.fresh)
		if err != nil {
			return nil, err
		}
		return cli.EncodeFilter(all, bare)
	})
	if err == nil {
		f.fresh.Clear()
	}
	return err
}

// close saves what was printed, at the end of a run that had these failures. A signal that asks the process to end
// ends it only then, and so does the signal of a pipe that nobody reads.
func (f *seenFile) close(failures error) error {
	close(f.stop)
	<-f.stopped
	defer f.restore()
	if f.Count && endsAll(failures) {
		return nil // the number was not printed
	}
	err := f.save()
	var caught os.Signal
	select {
	case caught = <-f.signals:
		if err != nil {
			err = f.save() // the signal may have ended the first
		}
	default:
	}
	switch {
	case errors.Is(failures, syscall.EPIPE) && !signal.Ignored(cli.ClosedPipe):
		caught = cli.ClosedPipe
	case caught == cli.ClosedPipe: // of standard error
		caught = nil
	}
	if err == nil && caught != nil {
		f.restore()
		cli.EndBy(caught, f.s.Out, cli.ExitError)
	}
	return err
}
