package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lanebloom/bloom/cmd/internal/show"
)

// everyElement stands in a path for all elements of a list. Of an object, it is the member of that name.
const everyElement = "*"

// appendMembers appends the text of the member of an object of JSON: of the last, as encoding/json takes it, if
// several have the name. It may be in the memory of c.text. A path with * leads to several texts.
func (r *layout) appendMembers(c *Chunk, line []byte) error {
	value, err := c.findMember(0, line, r.path[0])
	switch {
	case errors.Is(err, errNoObject):
		return fmt.Errorf("this is no object of JSON: its type is %s%s", typeOfJSON(bytes.TrimLeft(line, " \t\r\n")), LineHint(line))
	case err == nil && !utf8.Valid(line):
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return fmt.Errorf("this is not JSON: %s%s", show.Short(strings.TrimPrefix(err.Error(), "jsontext: ")), LineHint(line))
	}
	before := len(c.Keys)
	if last := c.appendInside(1, value, r.path[1:]); len(c.Keys) == before {
		return r.noMember(line, last)
	}
	return nil
}

// appendInside appends the texts to which a path leads from a value of some depth, which is nil if it is not there. It
// returns the last value that is at an end of the path.
func (c *Chunk) appendInside(depth int, value []byte, path []string) (last []byte) {
	switch {
	case value == nil:
		return nil
	case len(path) > 0 && value[0] == '{':
		member, _ := c.findMember(depth, value, path[0]) // no error: what is around it was read
		return c.appendInside(depth+1, member, path[1:])
	case len(path) > 0 && value[0] == '[':
		return c.appendElements(depth, value, path)
	case len(path) > 0:
		return nil
	}
	switch value[0] {
	case '"':
		c.Keys = append(c.Keys, c.jsonText(value))
	case '{', '[', 'n':
	default:
		c.Keys = append(c.Keys, value)
	}
	return value
}

// appendElements is appendInside for a list: of all elements, or of the one of a place.
func (c *Chunk) appendElements(depth int, list []byte, path []string) (last []byte) {
	place, err := strconv.ParseUint(path[0], 10, 31)
	isPlace := err == nil && strconv.FormatUint(place, 10) == path[0]
	if !isPlace && path[0] != everyElement {
		return nil
	}
	r := c.jsonReader(depth, list)
	_, _ = r.ReadToken() // no errors: the list was read
	for i := uint64(0); r.PeekKind() != ']'; i++ {
		if isPlace && i != place {
			_ = r.SkipValue()
			continue
		}
		value, _ := r.next()
		last = c.appendInside(depth+1, value, path[1:])
	}
	return last
}

// noMember is the error of an object in which the path leads to no key, but to a value, or to none.
func (r *layout) noMember(object, value []byte) error {
	if value == nil {
		return &noKeyError{func() string {
			hint := didYouMean(meantPath(r.name))
			if hint == "" && len(r.path) == 1 {
				hint = ": it has " + show.Names(namesOf(object))
			}
			return fmt.Sprintf("the object has no member %q%s", r.name, hint)
		}}
	}
	t, hint := typeOfJSON(value), ""
	if t == "array" {
		hint = didYouMean("-f '" + r.name + ".*'")
	}
	noKey := noKeyError{func() string {
		return fmt.Sprintf("the member %q is no string, number or boolean: its type is %s%s", r.name, t, hint)
	}}
	if t == "null" {
		return &nullError{noKey}
	}
	return &noKey
}

// namesOf returns the names of the members of an object that was read.
func namesOf(object []byte) (names []string) {
	r := new(Chunk).jsonReader(0, object)
	_, _ = r.ReadToken()
	for r.PeekKind() == '"' {
		name, _ := r.ReadToken()
		names = append(names, name.String())
		_ = r.SkipValue()
	}
	return names
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

var errNoObject = errors.New("no object")

// findMember returns the value of the last member of that name in an object that is all of a text, or nil.
func (c *Chunk) findMember(depth int, object []byte, name string) (value []byte, err error) {
	r := c.jsonReader(depth, object)
	if r.PeekKind() != '{' {
		if err := r.SkipValue(); err != nil {
			return nil, err
		}
		return nil, errors.Join(r.end(), errNoObject)
	}
	for _, err = r.ReadToken(); err == nil && r.PeekKind() != '}'; {
		var member []byte
		if member, err = r.ReadValue(); err != nil {
			break
		}
		if c.isString(member, name) {
			value, err = r.next()
		} else {
			err = r.SkipValue()
		}
	}
	if err == nil {
		_, err = r.ReadToken()
	}
	if err == nil {
		err = r.end()
	}
	return value, err
}

// jsonReader reads a text of JSON.
type jsonReader struct {
	*jsontext.Decoder
	text   []byte
	buffer bytes.Buffer
}

// jsonReader returns the reader for the values of some depth: those around them have others.
func (c *Chunk) jsonReader(depth int, text []byte) *jsonReader {
	for len(c.json) <= depth {
		c.json = append(c.json, &jsonReader{Decoder: new(jsontext.Decoder)})
	}
	r := c.json[depth]
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	r.Reset(&r.buffer, jsonOptions)
	return r
}

// Of members of one name, the last counts, and half a surrogate pair is U+FFFD, both as in encoding/json. That lines are
// UTF-8 is tested elsewhere.
var jsonOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// next reads a value, and returns it as it is in the text.
func (r *jsonReader) next() ([]byte, error) {
	value, err := r.ReadValue()
	end := r.InputOffset()
	return r.text[end-int64(len(value)) : end : end], err
}

// end returns an error if the text goes on.
func (r *jsonReader) end() error {
	if _, err := r.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(err, errors.New("a value follows the first"))
	}
	return nil
}

// isString reports whether a string of JSON, with its quotes, has that text.
func (c *Chunk) isString(quoted []byte, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(text)+2 && string(quoted[1:len(quoted)-1]) == text
	}
	if len(quoted) < len(text)+2 {
		return false
	}
	from := len(c.text)
	c.text, _ = jsontext.AppendUnquote(c.text, quoted) // the error is for half a surrogate pair
	is := string(c.text[from:]) == text
	c.text = c.text[:from]
	return is
}

// jsonText returns the text of a string of JSON. If there are escapes, it is in the memory of c.text.
func (c *Chunk) jsonText(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	from := len(c.text)
	c.text, _ = jsontext.AppendUnquote(c.text, quoted)
	return c.text[from:len(c.text):len(c.text)]
}

// typeOfJSON returns the name of the type of a value by how it begins.
func typeOfJSON(value []byte) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return "number"
}
