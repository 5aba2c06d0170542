package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Keys returns all keys of an input, for who needs them in memory, and the line of each. It refuses keys with NUL bytes:
// the input is no text, or its keys end with NUL. It is an error if there are records, and no record has a key. Errors and
// warnings are else those of Open and Work.
func (o Options) Keys(name string, in io.Reader, warn func(text string)) (keys [][]byte, lines []int, err error) {
	o.text, o.lines = true, true
	i, err := o.Open(name, in, warn)
	if err != nil {
		return nil, nil, err
	}
	latin := false
	err = pipeline(i.text, &i.layout, func(*Chunk) {}, func(c *Chunk) error {
		data := bytes.Join(c.Keys, nil)
		for j, key := range c.Keys {
			line := c.before + j + 1
			if len(c.lines) > 0 {
				line = c.before + c.lines[j]
			}
			switch {
			case !o.Null && !o.NoDecompress && i.layout.kind != membersOfJSON && bytes.IndexByte(key, 0) >= 0:
				return &lineError{line, errors.New("the key has a NUL byte, so this is not text; --null reads keys that end with NUL, and --no-decompress accepts any bytes")}
			case !latin && !utf8.Valid(key):
				warn(fmt.Sprintf("line %d is not UTF-8: %.60q", line, key))
				latin = true
			}
			keys, lines = append(keys, data[:len(key):len(key)]), append(lines, line)
			data = data[len(key):]
		}
		return nil
	})
	switch without := &i.layout.skipped; {
	case err != nil:
		return nil, nil, i.named(err)
	case len(keys) == 0 && without.n > 0:
		return nil, nil, fmt.Errorf("%s: no record has a key; the first: %w", show.Name(name), without.first)
	case without.n > 0:
		warn(without.warning(i.layout.missing))
	}
	return keys, lines, nil
}

// guessed returns the options for a table whose kind no flag names. Lines of JSON begin with a brace. In CSV,
// the character between fields is the first of some candidates with which the first record has the field.
func (o Options) guessed(head []byte) Options {
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte("{")) && o.Delimiter == "" {
		o.JSONL = true
		return o
	}
	o.CSV = true
	if o.Delimiter != "" {
		return o
	}
	for _, delimiter := range []string{",", ";", `\t`, "|"} {
		try := o
		try.Delimiter = delimiter
		r, err := try.layout()
		if err != nil {
			break
		}
		first := head[:r.firstEnd(head)]
		if len(first) == 0 {
			first = append(bytes.Clone(head), '\n')
		}
		names, err := r.fields(first)
		isThere := r.column < len(names)
		if r.hasHeader {
			isThere = r.find(names, "") == nil
		}
		if err == nil && isThere && (delimiter == "," || len(names) > 1) {
			return try
		}
	}
	return o
}
