package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
)

// printUnseen prints what neither this run nor the file of --seen has seen, and then adds it to the file.
func (u *uniqueCommand) printUnseen(s *streams) error {
	if _, err := os.Stat(string(u.Seen)); errors.Is(err, fs.ErrNotExist) {
		if err := u.makeSeen(s); err != nil {
			return err
		}
	} else if u.Memory != nil {
		return fmt.Errorf("--memory: %s is there, and keeps its size", shown(u.Seen))
	}
	if err := s.outputs().CheckUpdate(string(u.Seen)); err != nil {
		return err
	}
	if err := u.openSeen(s); err != nil {
		return err
	}
	failures := u.printNew(s)
	if endsAll(failures) || u.known.added == 0 {
		return failures // the lines that were not printed come again
	}
	adder := addCommand{File: u.Seen}
	err := s.outputs().Update(string(u.Seen), func(now []byte) ([]byte, error) { return adder.addTo(s, now, u.known.last.Set) })
	if rate := u.known.rateTogether(); rate > float64(*u.Rate) {
		s.warn(string(u.Seen), fmt.Sprintf("of the next lines, %.2g %% are expected to be missing, more than --rate says: begin a file with a larger --memory", 100*rate))
	}
	return errors.Join(failures, err)
}

// makeSeen writes a filter without keys to the file.
func (u *uniqueCommand) makeSeen(s *streams) error {
	memory := byteSize(64 << 20)
	if u.Memory != nil {
		memory = *u.Memory
	}
	build := buildCommand{Memory: &memory, Rate: u.Rate}
	set, _, err := build.foldable(bloom.Default)
	if err != nil {
		return err
	}
	filter, err := set.Filter().WithKeyKind(bloom.KeysText)
	if err != nil {
		return err
	}
	file, err := filter.MarshalBinary()
	if err != nil {
		return err
	}
	return writeFile(s, u.Seen, file)
}

// openSeen makes the filter of the file one of the sets. Keys are added to another one of its shape, whose bits
// are then added to the file.
func (u *uniqueCommand) openSeen(s *streams) error {
	filter, err := filterFlags{}.openText(s, string(u.Seen))
	if err != nil {
		return err
	}
	file, err := setOf(filter, string(u.Seen))
	if err != nil {
		return err
	}
	stats := file.Stats()
	old := seenSet{file, stats.Bits, stats.Probes, int(1.05 * stats.Keys)} // the estimate may be 5 % too low
	fresh := seenSet{file.Clone(), stats.Bits, stats.Probes, 0}
	fresh.Clear()
	u.known = seenKeys{full: []seenSet{old}, before: old.rate(), last: fresh}
	if stats.KeysUnknown || u.known.before > float64(*u.Rate) {
		return fmt.Errorf("%s: with the %s keys that it has, %.2g %% of new lines are missing, and --rate says %.2g %%: begin another file with a larger --memory, or take a larger --rate",
			shown(u.Seen), humanize.Comma(int64(stats.Keys)), 100*u.known.before, 100*float64(*u.Rate))
	}
	return nil
}
