package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
)

const (
	samples    = 3  // keys and values that warnNone shows
	sampleText = 60 // bytes of one
)

// warnNone tells that none of the keys is in a column of some files. It shows what keys and values look like:
// quotes, another case or another column explain it then.
func (l *keyList) warnNone(s *cli.Streams, files []string, column string) {
	if l.len() == 0 {
		s.Say("%s: there are no keys", l.name)
		return
	}
	var keys []string
	for i := range min(l.len(), samples) {
		keys = append(keys, quoted(l.text(i)))
	}
	values, err := l.firstValues(files, column)
	if key, has := l.anyOf(values); has {
		s.Say("warning: column %s has the key %s, which its filters or bounds exclude: they are wrong", shown(column), quoted(key))
		return
	}
	for i, value := range values {
		values[i] = quoted(value)
	}
	looks := "'s first values are " + strings.Join(values, ", ")
	switch {
	case err != nil:
		looks = "'s values cannot be read: " + withoutPrefix(err)
	case len(values) == 0:
		looks = " has no values"
	}
	s.Say("%s: no key is in column %s: the first keys are %s, and the column%s", l.name, shown(column), strings.Join(keys, ", "), looks)
}

// anyOf returns a key that is among some texts.
func (l *keyList) anyOf(texts []string) (key string, has bool) {
	for i := range l.len() {
		if key = l.text(i); slices.Contains(texts, key) {
			return key, true
		}
	}
	return "", false
}

// quoted returns a text in quotes, of which the end may be missing.
func quoted(text string) string {
	if len(text) > sampleText {
		return strconv.Quote(text[:sampleText]) + "…"
	}
	return strconv.Quote(text)
}

// errEnough ends the reading of a column.
var errEnough = errors.New("enough")

// firstValues returns different values of a column, as keys are written: of the first of the files that has
// some. It reads a page of a row group.
func (l *keyList) firstValues(files []string, column string) (texts []string, err error) {
	for _, name := range files {
		var t bloomparquet.Type
		if t, err = typeIn(name, column); err != nil {
			continue
		}
		err = eachStart(name, column, func(value []byte) error {
			text := t.Text(value)
			if l.Hex {
				text = hex.EncodeToString(value)
			}
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
			if len(texts) == samples {
				return errEnough
			}
			return nil
		})
		if len(texts) > 0 {
			return texts, nil
		}
	}
	return nil, err
}

// eachStart calls do with the values of the first page of each row group of a file until it returns an error: there are enough.
func eachStart(name, column string, do func(value []byte) error) (err error) {
	file, err := openFile(name, column)
	if err != nil {
		return err
	}
	defer file.close()
	if err := file.checkCodecs(name, file.leaf); err != nil {
		return err
	}
	for group := range file.RowGroups() {
		enough := false
		err := file.eachPage(file.leaf, group, func(p *keyPage) error {
			err := p.each(make([]bool, p.keys.Len()), do)
			enough = err != nil
			return cmp.Or(err, errEnough)
		})
		switch {
		case enough:
			return nil
		case err != nil && !errors.Is(err, errEnough):
			return fmt.Errorf("%s: row group %d: %s", name, group, withoutPrefix(err))
		}
	}
	return nil
}
