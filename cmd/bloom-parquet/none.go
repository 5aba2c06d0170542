package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/show"
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
		s.Say("warning: column %s contains the key %s, but its filters, bounds or type wrongly exclude the key", show.Name(column), quoted(key))
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
	s.Say("%s: none of the keys is in column %s: the first keys are %s, and the column%s", l.name, show.Name(column), strings.Join(keys, ", "), looks)
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

// quoted returns the beginning of a text, or all of it, in quotes.
func quoted(text string) string { return strconv.Quote(show.Cut(text, sampleText)) }

// errEnough ends the reading of a column.
var errEnough = errors.New("enough")

// firstValues returns different values of a column, as keys are written: of the first of the files that has some.
func (l *keyList) firstValues(files []string, column string) (texts []string, err error) {
	for _, name := range files {
		if texts, err = l.firstOf(name, column); len(texts) > 0 {
			return texts, nil
		}
	}
	return nil, err
}

// firstOf is firstValues for one file. It reads the first page of each row group until there are enough.
func (l *keyList) firstOf(name, column string) (texts []string, err error) {
	file, err := openValues(name, column)
	if err != nil {
		return nil, err
	}
	defer file.close()
	add := func(value []byte) error {
		text := file.column.Type().Text(value)
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
	}
	for group := range file.RowGroups() {
		err := file.eachPage(file.leaf, group, func(p *keyPage) error {
			return cmp.Or(p.each(make([]bool, p.keys.Len()), add), errEnough)
		})
		switch {
		case len(texts) == samples:
			return texts, nil
		case err != nil && !errors.Is(err, errEnough):
			return texts, file.inGroup(group, err)
		}
	}
	return texts, nil
}
