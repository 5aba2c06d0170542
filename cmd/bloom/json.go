package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

// member returns the text of the member of an object of JSON: of the last, as encoding/json takes it, if
// several have the name. It may be in the memory of c.text.
//
// The values of a parser would take fifty times the memory of a line of many numbers.
func (r *records) member(c *chunk, line []byte) ([]byte, error) {
	value, err := c.findMember(line, r.path[0])
	if err == nil {
		err = fastjson.ValidateBytes(line)
	}
	if err != nil {
		return nil, fmt.Errorf("this is not JSON: %s", answers.Shorten(err.Error()))
	}
	if t := typeOfJSON(bytes.TrimLeft(line, jsonSpace)); t != fastjson.TypeObject {
		return nil, fmt.Errorf("this is no object of JSON: its type is %v", t)
	}
	for _, name := range r.path[1:] {
		value = c.findInside(value, name)
	}
	if value == nil {
		return nil, &noKeyError{func() string { return fmt.Sprintf("the object has no member %q", r.name) }}
	}
	switch t := typeOfJSON(value); t {
	case fastjson.TypeString:
		return c.jsonText(value), nil
	case fastjson.TypeNumber, fastjson.TypeTrue, fastjson.TypeFalse:
		return value, nil
	default:
		return nil, &noKeyError{func() string {
			return fmt.Sprintf("the member %q is no string, number or boolean: its type is %v", r.name, t)
		}}
	}
}

const jsonSpace = " \t\r\n"

var jsonWords = [][]byte{[]byte("true"), []byte("false"), []byte("null")}

// findMember returns the value of the last member of that name, or nil. What it finds means something only
// if fastjson validates the line. Its errors are for what fastjson does not bound, the depth and the
// words about a value that is none, and for what it overlooks.
func (c *chunk) findMember(line []byte, name string) (value []byte, err error) {
	depth := 0
	isName := false // of the next string
	from := -1      // where the value begins that has the name
	found := false  // whether the value after the colon has it
	for i := 0; i < len(line); i++ {
		switch b := line[i]; b {
		case '"':
			end, control := endOfString(line, i)
			if control {
				return nil, errors.New("a string has a control character")
			}
			if isName && depth == 1 {
				isName, found = false, c.isString(line[i:end], name)
			}
			i = end - 1
		case '{', '[':
			if depth++; depth > fastjson.MaxDepth {
				return nil, fmt.Errorf("it has more than %d levels", fastjson.MaxDepth)
			}
			if depth == 1 {
				isName = true
			}
		case ':':
			if found && depth == 1 {
				from, found = i+1, false
			}
		case ',', '}', ']':
			if from >= 0 && depth == 1 {
				value, from = bytes.Trim(line[from:i:i], jsonSpace), -1
			}
			if b != ',' {
				depth--
			} else if depth == 1 {
				isName = true
			}
		case 't', 'f', 'n':
			if word := line[i:min(i+len("false"), len(line))]; !slices.ContainsFunc(jsonWords, func(w []byte) bool { return bytes.HasPrefix(word, w) }) {
				return nil, fmt.Errorf("unexpected value found: %q", word)
			}
		}
	}
	return value, nil
}

// findInside returns the value of a member of an object, or of a place in a list, or nil. What is around it
// was validated.
func (c *chunk) findInside(value []byte, name string) []byte {
	if len(value) > 0 && value[0] == '{' {
		value, _ = c.findMember(value, name) // no error: the value is JSON
		return value
	}
	place, err := strconv.ParseUint(name, 10, 31)
	if err != nil || strconv.FormatUint(place, 10) != name || len(value) == 0 || value[0] != '[' {
		return nil
	}
	return element(value, int(place))
}

// element returns a value of a list, or nil if there are not so many.
func element(list []byte, place int) []byte {
	depth, from := 0, 1
	for i := 0; i < len(list); i++ {
		switch b := list[i]; b {
		case '"':
			end, _ := endOfString(list, i)
			i = end - 1
		case '{', '[':
			depth++
		case ',', '}', ']':
			if depth == 1 && place == 0 {
				if value := bytes.Trim(list[from:i:i], jsonSpace); len(value) > 0 {
					return value
				}
				return nil
			}
			if b != ',' {
				depth--
			} else if depth == 1 {
				place, from = place-1, i+1
			}
		}
	}
	return nil
}

// endOfString returns where the string ends that begins at a place of a line, or the end of the line, and
// whether the string has control characters: fastjson overlooks those before an escape.
func endOfString(line []byte, at int) (end int, control bool) {
	for end = at + 1; end < len(line); end++ {
		switch b := line[end]; {
		case b == '"':
			return end + 1, control
		case b == '\\':
			end++
		case b < ' ':
			control = true
		}
	}
	return len(line), control
}

// isString reports whether a string of JSON, with its quotes, has that text.
func (c *chunk) isString(quoted []byte, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(text)+2 && string(quoted[1:len(quoted)-1]) == text
	}
	return len(quoted) >= len(text)+2 && string(c.unescaped(quoted)) == text
}

// jsonText returns the text of a string of JSON. If there are escapes, it is in the memory of c.text.
func (c *chunk) jsonText(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	from := len(c.text)
	c.text = append(c.text, c.unescaped(quoted)...)
	return c.text[from:len(c.text):len(c.text)]
}

// unescaped returns the text of a string of JSON, until the next one is asked for; nil if there is an error.
func (c *chunk) unescaped(quoted []byte) []byte {
	value, err := c.json.ParseBytes(withoutLoneSurrogates(quoted))
	if err != nil {
		return nil
	}
	text, _ := value.StringBytes()
	return text
}

// withoutLoneSurrogates returns a string of JSON in which escapes of half a surrogate pair are that of U+FFFD,
// which encoding/json takes for them. fastjson takes the six characters of the escape for themselves.
func withoutLoneSurrogates(quoted []byte) []byte {
	owned := false
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		const escape = len(`\ud83d`)
		half := escapedRune(quoted[i:])
		switch {
		case !utf16.IsSurrogate(half):
			i++ // what is escaped may be a backslash
		case utf16.DecodeRune(half, escapedRune(quoted[i+escape:])) != utf8.RuneError:
			i += 2*escape - 1
		default:
			if !owned {
				quoted, owned = bytes.Clone(quoted), true
			}
			i += copy(quoted[i:], `\ufffd`) - 1
		}
	}
	return quoted
}

// escapedRune returns the number of the \u escape with which text begins, or 0.
func escapedRune(text []byte) rune {
	const escape = len(`\ud83d`)
	if len(text) < escape || text[1] != 'u' || text[0] != '\\' {
		return 0
	}
	number, err := strconv.ParseUint(string(text[2:escape]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(number)
}

// typeOfJSON returns the type of a value by how it begins.
func typeOfJSON(value []byte) fastjson.Type {
	switch value[0] {
	case '{':
		return fastjson.TypeObject
	case '[':
		return fastjson.TypeArray
	case '"':
		return fastjson.TypeString
	case 't':
		return fastjson.TypeTrue
	case 'f':
		return fastjson.TypeFalse
	case 'n':
		return fastjson.TypeNull
	}
	return fastjson.TypeNumber
}
