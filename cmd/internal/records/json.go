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

// pathOf returns the names of the members that lead to a key, from the outermost: user.id is the member id
// of the member user, and /user/id, a JSON pointer (RFC 6901), is the same. A number is a place in a list, too.
func pathOf(field string) ([]string, error) {
	pointer, isPointer := strings.CutPrefix(field, "/")
	if !isPointer {
		return strings.Split(field, "."), nil
	}
	path := strings.Split(pointer, "/")
	for i, name := range path {
		rest := strings.NewReplacer("~0", "", "~1", "").Replace(name)
		if strings.Contains(rest, "~") {
			return nil, fmt.Errorf("in the JSON pointer %q, write ~0 for ~, and ~1 for / in a name", field)
		}
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return path, nil
}

// appendMembers appends the text of the member of an object of JSON: of the last, as encoding/json takes it, if
// several have the name. It may be in the memory of c.text. A path with * leads to several texts.
func (r *layout) appendMembers(c *Chunk, line []byte) error {
	before := len(c.Keys)
	in := c.readJSON(line)
	isObject := in.PeekKind() == '{'
	last, err := c.appendInside(in, r.path)
	if err == nil {
		err = in.end()
	}
	if err == nil && !utf8.Valid(line) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil || !isObject {
		c.Keys = c.Keys[:before]
	}
	switch {
	case err != nil:
		return fmt.Errorf("this is not JSON: %s%s", show.Short(strings.TrimPrefix(err.Error(), "jsontext: ")), lineHint(line))
	case !isObject:
		return fmt.Errorf("this is not a JSON object: its type is %s%s", typeOfJSON(bytes.TrimLeft(line, " \t\r\n")), lineHint(line))
	case len(c.Keys) == before:
		return r.noMember(line, last)
	}
	return nil
}

// appendInside reads a value and appends the texts to which a path leads from it. It returns the last value that is at an
// end of the path.
func (c *Chunk) appendInside(in *jsonReader, path []string) (last []byte, err error) {
	if len(path) == 0 {
		value, err := in.next()
		if err == nil {
			c.appendText(value)
		}
		return value, err
	}
	kind := in.PeekKind()
	if kind != '{' && kind != '[' {
		return nil, in.SkipValue()
	}
	before, place := len(c.Keys), -1
	if kind == '[' {
		place = placeOf(path[0])
	}
	_, err = in.ReadToken()
	for i := 0; err == nil && in.PeekKind() != kind+2; i++ { // '}' or ']'
		leads := false
		if kind == '[' {
			leads = path[0] == everyElement || i == place
		} else {
			var name []byte
			if name, err = in.ReadValue(); err != nil {
				break
			}
			if leads = c.isString(name, path[0]); leads {
				c.Keys = c.Keys[:before] // those of an earlier member of the name
			}
		}
		if !leads {
			err = in.SkipValue()
			continue
		}
		last, err = c.appendInside(in, path[1:])
	}
	if err == nil {
		_, err = in.ReadToken()
	}
	return last, err
}

// placeOf returns the place in a list that a name means, or -1.
func placeOf(name string) int {
	if place, err := strconv.Atoi(name); err == nil && strconv.Itoa(place) == name {
		return place
	}
	return -1
}

// appendText appends the text of a value, if it is one that has a text.
func (c *Chunk) appendText(value []byte) {
	switch value[0] {
	case '"':
		c.Keys = append(c.Keys, c.jsonText(value))
	case '{', '[', 'n':
	default:
		c.Keys = append(c.Keys, value)
	}
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
		return fmt.Sprintf("the member %q is not a string, number or boolean: its type is %s%s", r.name, t, hint)
	}}
	if t == "null" {
		return &nullError{noKey}
	}
	return &noKey
}

// namesOf returns the names of the members of an object that was read.
func namesOf(object []byte) (names []string) {
	r := new(Chunk).readJSON(object)
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

// jsonReader reads a text of JSON.
type jsonReader struct {
	*jsontext.Decoder
	text   []byte
	buffer bytes.Buffer
}

// readJSON begins to read a text.
func (c *Chunk) readJSON(text []byte) *jsonReader {
	if c.json == nil {
		c.json = &jsonReader{Decoder: new(jsontext.Decoder)}
	}
	c.json.text, c.json.buffer = text, *bytes.NewBuffer(text)
	c.json.Reset(&c.json.buffer, jsonOptions)
	return c.json
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
	switch _, err := r.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("another value follows the object")
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
