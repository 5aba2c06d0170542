package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/records"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// printExact prints exactly the new records, in a second look at the files. The first look finds the keys that
// may come several times, and only these are kept in the second.
func (u *uniqueCommand) printExact(s *cli.Streams) error {
	if u.Seen != "" {
		return errors.New("--verify cannot be used with --seen, because no file lists the keys of earlier runs")
	}
	before, err := u.stat()
	if err != nil {
		return err
	}
	repeated := seenKeys{rate: exactRate}
	if err := u.findRepeated(s, &repeated); endsAll(err) {
		return err
	}
	exact := map[string]struct{}{}
	failures := u.each(s, "second pass", func(c *records.Chunk, delimiter byte) error {
		c.Hits = records.WordsFor(c.Hits, len(c.Keys))
		repeated.mayContain(c.Hashed, c.Hits)
		for i, key := range c.Keys {
			if c.Hits[i/64]>>(i%64)&1 == 0 {
				continue
			}
			if _, old := exact[string(key)]; !old {
				exact[string(key)] = struct{}{}
				c.Hits[i/64] &^= 1 << (i % 64)
			}
		}
		return u.printChosen(s, c, delimiter)
	})
	if endsAll(failures) {
		return failures
	}
	isUnchanged := func(was, now fs.FileInfo) bool { return was == nil && now == nil || outputfile.Same(was, now) }
	if after, err := u.stat(); err != nil || !slices.EqualFunc(before, after, isUnchanged) {
		return errors.New("--verify: a file changed between the two passes, so lines may be missing")
	}
	return errors.Join(failures, u.printCount(s))
}

// exactRate is the share of the other keys that are taken for keys that come several times.
const exactRate = 0.01

// findRepeated adds the keys that come several times to a set.
func (u *uniqueCommand) findRepeated(s *cli.Streams, repeated *seenKeys) error {
	look := *u
	look.Count = true // and not the header
	known := seenKeys{rate: exactRate}
	var keys [][]byte
	var found []uint64
	return look.each(s, "first pass", func(c *records.Chunk, _ byte) error {
		c.Hits = records.WordsFor(c.Hits, len(c.Keys))
		if err := known.add(c.Hashed, c.Hits); err != nil {
			return &verifyError{err}
		}
		keys = keys[:0]
		for i, key := range c.Keys {
			if c.Hits[i/64]>>(i%64)&1 != 0 {
				keys = append(keys, key)
			}
		}
		found = records.WordsFor(found, len(keys))
		if err := repeated.add(bloom.Bytes(keys).Hashed(bloom.Default), found); err != nil {
			return &verifyError{err}
		}
		return nil
	})
}

// stat tells of the files, which must be regular to be read twice. A file that is not there has nil: the reading
// tells why.
func (u *uniqueCommand) stat() (infos []fs.FileInfo, err error) {
	for _, name := range cli.Names(u.Files) {
		info, err := os.Stat(name)
		if name == "-" || err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("--verify: %s is read twice, so it must be a regular file", show.Name(name))
		}
		infos = append(infos, info)
	}
	return infos, nil
}
