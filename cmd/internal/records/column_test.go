package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestColumn reads columns of CSV and members of JSON.
func TestColumn(t *testing.T) {
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
		{in: "a,b;c\n", column: "2", want: []string{"1 b;c"}}, {in: "id\nM\xfcller\n", column: "id", want: []string{"2 M\xfcller"}},
		{in: "id,x\na\n", column: "id", err: "line 2: the fields are 1, and those of the first record 2"},
		{in: "id,id\na,b\n", column: "id", err: `line 1: several columns have the name "id"`},
		{in: "a,b\n", column: "id", err: `line 1: there is no column "id": the first record has ["a" "b"]`},
		{in: "\nanna\n", column: "id", err: `line 2: there is no column "id": the first record has ["anna"]; without a column, each line is a key`},
		{in: "a,b\n", column: "3", err: `there is no column "3"`}, {in: "a,b\n", column: "0", err: `there is no column "0"`},
		{in: "[{\"id\": 1}]\n", column: "id", err: "; of an array, jq -c '.[]' makes a line of each element"},
		{in: "{\n \"id\":1\n}\n", column: "id", err: "; jq -c . makes a line of each object"}, {in: "id\na\"b\n", column: "id", err: "line 2: this is not CSV"},
		{in: "id\n\"a\nb\n", column: "id", err: "line 2: this is not CSV"}, {in: "id,x\na\x00,\n", column: "id", err: "line 2: the key has a NUL byte"},
		{in: strings.Repeat("name,", 1000) + "\n", column: "id", err: "…"},

		{in: "{\"id\":\"a\"}\n \n{\"id\":5.0}\r\n{\"id\":true}\n{\"id\":null}\n{\"id\":\"\"}", column: "id", want: []string{"1 a", "3 5.0", "4 true", "6 "}},
		{in: " {\"a.b\":{\"x\":[1,{\"y\":\"\\u00e9\\ud83d\\ude00\"}]}}", column: "/a.b/x/1/y", want: []string{"1 é😀"}},
		{in: `{"a":{"b":1},"a":{"b":2}}`, column: "a.b", want: []string{"1 2"}}, {in: `{"id":123456789012345678901}`, column: "id", want: []string{"1 123456789012345678901"}},
		{in: "{\"id\":1}\n{\"x\":1}\n{\"id\":[]}", column: "id", err: `line 3: the member "id" is no string, number or boolean, but a list or an object`},
		{in: "{\"id\":1}\n{\"x\":1}\n{\"Id\":1}\n", column: "id", want: []string{"1 1"}, warned: true},
		{in: "{\"x\":1,\"a\":{}}\n{\"y\":1}\n", column: "id", err: `no line has a member "id": the first has ["a" "x"]`},
		{in: "{\"a\":null}\n{\"a\":5}\n{\"a\":[0]}\n{\"a\":{\"1\":2}}", column: "a.1", want: []string{"4 2"}, warned: true},
		{in: "{\"id\":1}\n[1]\n", column: "id", err: "line 2: this is no object of JSON"}, {in: "{\"id\":1}\n5\n", column: "id", err: "line 2: this is no object of JSON"},
		{in: "{\"id\":1\n}\n", column: "id", err: "line 1: this is not JSON"}, {in: "{\"id\":1} {}\n", column: "id", err: "line 1: this is not JSON"},
		{in: "{\"id\":\"\xff\"}\n", column: "id", err: "line 1: this is not JSON: it is not UTF-8"}, {in: "{}\n", column: "/~2", err: "JSON pointer"},
		{in: "{\"id\":" + strings.Repeat("[", 1<<20) + "\n", column: "id", err: "line 1: this is not JSON"},

		{in: "PAR1\x15\x04\n", column: "id", err: "a Parquet file"}, {in: "\xff\xfei\x00d\x00\n\x00", column: "id", err: "UTF-16"}, {in: "\xfd7zXZ\x00", column: "id", err: "xz"},
	} {
		warned := false
		keys, lines, err := TextOptions{Delimiter: '\n', Text: true}.Column("in", strings.NewReader(test.in), test.column, func(string) { warned = true })
		var got []string
		for i, key := range keys {
			got = append(got, fmt.Sprintf("%d %s", lines[i], key))
		}
		if !slices.Equal(got, test.want) || warned != test.warned || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%.60q of %.60q: %q, warned %v, %v; want %q, %v, %q", test.column, test.in, got, warned, err, test.want, test.warned, test.err)
		}
	}
}
