package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGuessedKeys reads columns of CSV and members of JSON whose kind no flag names.
func TestGuessedKeys(t *testing.T) {
	for _, test := range []struct {
		in, column string
		want       []string // each with its line
		warned     bool
		err        string // a part of it
	}{
		{in: "", column: "id"}, {in: "\n\r\n", column: "id"}, {in: "id\n", column: "id"}, {in: "id", column: "id"},
		{in: "id\na\n\nb", column: "id", want: []string{"2 a", "4 b"}},
		{in: utf8Mark + "id,x\r\na,\r\n", column: "id", want: []string{"2 a"}},
		{in: "x,id\n,\n,\"\"\n\"\",b\n", column: "id", want: []string{"3 ", "4 b"}},
		{in: "\n\"the id\",\"x\ny\"\n\"a \"\"b\"\"\",1\n\"c\r\nd\",\"\n\n\"\ne,2\n", column: "the id", want: []string{"4 a \"b\"", "5 c\nd", "9 e"}},
		{in: "x;id\n1,5;a\n", column: "id", want: []string{"2 a"}}, {in: "x|id\n1|a\n", column: "id", want: []string{"2 a"}},
		{in: "a\tb\nc\td\n", column: "2", want: []string{"1 b", "2 d"}}, {in: "a\nb\n", column: "1", want: []string{"1 a", "2 b"}},
		{in: "a,b;c\n", column: "2", want: []string{"1 b;c"}}, {in: "id\nM\xfcller\n", column: "id", want: []string{"2 M\xfcller"}, warned: true},
		{in: "id,x\na\n", column: "id", err: "line 2: the number of fields is 1, but the first record has 2"},
		{in: "id,id\na,b\n", column: "id", err: `line 1: several fields have the name "id"`},
		{in: "a,b\n", column: "id", err: `line 1: no field has the name "id"; the names are ["a" "b"]`},
		{in: "\nanna\n", column: "id", err: `line 2: no field has the name "id"; the names are ["anna"]; without a column, each line is a key`},
		{in: "a,b\n", column: "3", err: "line 1: there are 2 fields, but -f names field 3"}, {in: "a,b\n", column: "0", err: "-f: fields are counted from 1, so 0 is not a field"},
		{in: "[{\"id\": 1}]\n", column: "id", err: "; jq -c '.[]' writes each element of an array as a line"},
		{in: "{\n \"id\":1\n}\n", column: "id", err: "; jq -c . writes each object as a line"}, {in: "id\na\"b\n", column: "id", err: "line 2: this is not CSV"},
		{in: "id\n\"a\nb\n", column: "id", err: "line 2: this is not CSV"}, {in: "id,x\na\x00,\n", column: "id", err: "line 2: the key has a NUL byte"},
		{in: strings.Repeat("name,", 1000) + "\n", column: "id", err: "…"},

		{in: "{\"id\":\"a\"}\n \n{\"id\":5.0}\r\n{\"id\":true}\n{\"id\":null}\n{\"id\":\"\"}", column: "id", want: []string{"1 a", "3 5.0", "4 true", "6 "}},
		{in: " {\"a.b\":{\"x\":[1,{\"y\":\"\\u00e9\\ud83d\\ude00\"}]}}", column: "/a.b/x/1/y", want: []string{"1 é😀"}},
		{in: `{"a":{"b":1},"a":{"b":2}}`, column: "a.b", want: []string{"1 2"}}, {in: `{"id":123456789012345678901}`, column: "id", want: []string{"1 123456789012345678901"}},
		{in: "{\"id\":1}\n{\"x\":1}\n{\"id\":[]}", column: "id", want: []string{"1 1"}, warned: true},
		{in: "{\"id\":1}\n{\"x\":1}\n{\"Id\":1}\n", column: "id", want: []string{"1 1"}, warned: true},
		{in: "{\"x\":1,\"a\":{}}\n{\"y\":1}\n", column: "id", err: `no record has a key; the first: line 1: the object has no member "id": it has ["x" "a"]`},
		{in: "{\"a\":null}\n{\"a\":5}\n{\"a\":[0]}\n{\"a\":{\"1\":2}}", column: "a.1", want: []string{"4 2"}, warned: true},
		{in: "{\"id\":1}\n[1]\n", column: "id", err: "line 2: this is not a JSON object"}, {in: "{\"id\":1}\n5\n", column: "id", err: "line 2: this is not a JSON object"},
		{in: "{\"id\":1\n}\n", column: "id", err: "line 1: this is not JSON"}, {in: "{\"id\":1} {}\n", column: "id", err: "line 1: this is not JSON"},
		{in: "{\"id\":\"\xff\"}\n", column: "id", err: "line 1: this is not JSON: it is not UTF-8"}, {in: "{}\n", column: "/~2", err: "JSON pointer"},
		{in: "{\"id\":" + strings.Repeat("[", 1<<20) + "\n", column: "id", err: "line 1: this is not JSON"},

		{in: "PAR1\x15\x04\n", column: "id", err: "a Parquet file"}, {in: "\xff\xfei\x00d\x00\n\x00", column: "id", err: "UTF-16"}, {in: "\xfd7zXZ\x00", column: "id", err: "xz"},
	} {
		warned := false
		keys, lines, err := Options{Guess: true, Field: test.column}.Keys("in", strings.NewReader(test.in), func(string) { warned = true })
		var got []string
		for i, key := range keys {
			got = append(got, fmt.Sprintf("%d %s", lines[i], key))
		}
		if !slices.Equal(got, test.want) || warned != test.warned || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%.60q of %.60q: %q, warned %v, %v; want %q, %v, %q", test.column, test.in, got, warned, err, test.want, test.warned, test.err)
		}
	}
}

// TestLines reads keys of text.
func TestLines(t *testing.T) {
	for _, test := range []struct {
		options Options
		null    bool
		in      string
		want    []string
		warned  bool
		err     string // a part of it
	}{
		{in: ""},
		{in: "\n", want: []string{""}},
		{in: "a\n\nb", want: []string{"a", "", "b"}},
		{in: "a\n\n", want: []string{"a", ""}},
		{in: utf8Mark},
		{in: utf8Mark + "a\nb\n", want: []string{"a", "b"}},
		{in: utf8Mark + utf8Mark + "a", want: []string{utf8Mark + "a"}},
		{in: "a\r\nb\r\n", want: []string{"a\r", "b\r"}, warned: true},
		{options: Options{CRLF: true}, in: "a\r\nb\nc\r\r\n\r\n", want: []string{"a", "b", "c\r", ""}},
		{null: true, in: "a\x00b\r\n\x00", want: []string{"a", "b\r\n"}},
		{in: "long before it\nand a NUL \x00\n", err: "line 2: the key has a NUL byte"},
		{options: Options{NoDecompress: true}, in: "a\x00\n", want: []string{"a\x00"}},
		{in: "a\nM\xfcller\n", want: []string{"a", "M\xfcller"}, warned: true},
	} {
		options, warned := test.options, false
		options.Null = test.null
		got, _, err := options.Keys("in", strings.NewReader(test.in), func(string) { warned = true })
		same := slices.EqualFunc(got, test.want, func(line []byte, want string) bool { return string(line) == want })
		if !same || warned != test.warned || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %q, warned %v, %v; want %q, %v, %q", test.in, got, warned, err, test.want, test.warned, test.err)
		}
	}
}
