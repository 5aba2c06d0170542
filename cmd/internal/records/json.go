package records

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// everyElement stands in a path for all elements of a list. Of an object, it is the member of that name.
const everyElement = "*"

// appendMembers appends the text of the member of an object of JSON: of the last, as encoding/json takes it, if
// several have the name. It may be in the memory of c.text. A path with * leads to several texts.
//
// The values of a parser would take fifty times the memory of a line of many numbers.
func (r *layout) appendMembers(c *Chunk, line []byte) error {
	value, err := c.findMember(line, r.path[0])
	if err == nil {
		err = fastjson.ValidateBytes(line)
	}
	if err != nil {
		return fmt.Errorf("this is not JSON: %s%s", show.Short(err.Error()), LineHint(line))
	}
	if t := typeOfJSON(bytes.TrimLeft(line, jsonSpace)); t != fastjson.TypeObject {
		return fmt.Errorf("this is no object of JSON: its type is %v%s", t, LineHint(line))
	}
	before := len(c.Keys)
	if last := c.appendInside(value, r.path[1:]); len(c.Keys) == before {
		return r.noMember(last)
	}
	return nil
}

// appendInside appends the texts to which a path leads from a value, which is nil if it is not there. It returns
// the last value that is at an end of the path.
func (c *Chunk) appendInside(value []byte, path []string) (last []byte) {
	switch {
	case value == nil:
		return nil
	case len(path) > 0 && path[0] == everyElement && value[0] == '[':
		for element := range elements(value) {
			last = c.appendInside(element, path[1:])
		}
		return last
	case len(path) > 0:
		return c.appendInside(c.findInside(value, path[0]), path[1:])
	}
	switch typeOfJSON(value) {
	case fastjson.TypeString:
		c.Keys = append(c.Keys, c.jsonText(value))
	case fastjson.TypeNumber, fastjson.TypeTrue, fastjson.TypeFalse:
		c.Keys = append(c.Keys, value)
	}
	return value
}

// noMember is the error of an object in which the path leads to no key, but to a value, or to none.
func (r *layout) noMember(value []byte) error {
	if value == nil {
		return &noKeyError{func() string {
			return fmt.Sprintf("the object has no member %q%s", r.name, didYouMean(meantPath(r.name)))
		}}
	}
	t, hint := typeOfJSON(value), ""
	if t == fastjson.TypeArray {
		hint = didYouMean("-f '" + r.name + ".*'")
	}
	return &noKeyError{func() string {
		return fmt.Sprintf("the member %q is no string, number or boolean: its type is %v%s", r.name, t, hint)
	}}
}

// jqIndex is an index in a path of jq.
var jqIndex = regexp.MustCompile(`\[(\d*)\]`)

// meantPath returns the flag for a path that is written as jq takes it, such as .user.id or tags[0], or nothing.
func meantPath(field string) string {
	path := jqIndex.ReplaceAllStringFunc(strings.TrimPrefix(field, "."), func(index string) string {
		if index == "[]" {
			return "." + everyElement
		}
		return "." + index[1:len(index)-1]
	})
	if path == field || path == "" || strings.HasPrefix(field, "/") {
		return ""
	}
	if strings.Contains(path, everyElement) {
		path = "'" + path + "'"
	}
	return "-f " + path
}

const jsonSpace = " \t\r\n"

var jsonWords = [][]byte{[]byte("true"), []byte("false"), []byte("null")}

// findMember returns the value of the last member of that name, or nil. What it finds means something only
// if fastjson validates the line. Its errors are for what fastjson does not bound, the depth and the
// words about a value that is none, and for what it overlooks.
func (c *Chunk) findMember(line []byte, name string) (value []byte, err error) {
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
func (c *Chunk) findInside(value []byte, name string) []byte {
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
	for value := range elements(list) {
		if place == 0 {
			return value
		}
		place--
	}
	return nil
}

// elements goes through the values of a list.
func elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		depth, from := 0, 1
		for i := 0; i < len(list); i++ {
			switch b := list[i]; b {
			case '"':
				end, _ := endOfString(list, i)
				i = end - 1
			case '{', '[':
				depth++
			case ',', '}', ']':
				if depth == 1 {
					value := bytes.Trim(list[from:i:i], jsonSpace)
					if len(value) == 0 || !yield(value) { // the list is empty
						return
					}
					from = i + 1
				}
				if b != ',' {
					depth--
				}
			}
		}
	}
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
func (c *Chunk) isString(quoted []byte, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(text)+2 && string(quoted[1:len(quoted)-1]) == text
	}
	return len(quoted) >= len(text)+2 && string(c.unescaped(quoted)) == text
}

// jsonText returns the text of a string of JSON. If there are escapes, it is in the memory of c.text.
func (c *Chunk) jsonText(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	from := len(c.text)
	c.text = append(c.text, c.unescaped(quoted)...)
	return c.text[from:len(c.text):len(c.text)]
}

// unescaped returns the text of a string of JSON, until the next one is asked for; nil if there is an error.
func (c *Chunk) unescaped(quoted []byte) []byte {
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
