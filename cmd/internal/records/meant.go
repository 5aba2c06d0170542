package records

import (
	"bytes"
	"fmt"
)

// separators are the characters that divide lines into fields, each with the flags that choose it.
var separators = []struct{ character, flags string }{
	{"\t", `-d '\t'`}, {",", "--csv"}, {";", "--csv -d ';'"}, {"|", "-d '|'"},
}

// meant returns the flags with which a line would have more fields than it has, or nothing.
func (r *layout) meant(line []byte) string {
	if r.kind == membersOfJSON || r.isGuessed {
		return ""
	}
	if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")) {
		return "--jsonl"
	}
	if r.kind != wholeLines && bytes.IndexByte(line, r.comma) >= 0 {
		return r.meantQuotes(line)
	}
	for _, s := range separators {
		if bytes.Contains(line, []byte(s.character)) {
			return s.flags
		}
	}
	if r.kind == wholeLines && bytes.Count(line, []byte(" ")) > 1 {
		return "-d ' '"
	}
	return ""
}

// meantQuotes is meant for a line that has the character between fields.
func (r *layout) meantQuotes(line []byte) string {
	if r.kind != fieldsOfLines || !bytes.HasPrefix(line, []byte(`"`)) && !bytes.Contains(line, []byte{r.comma, '"'}) {
		return ""
	}
	return "--csv"
}

func didYouMean(flags string) string {
	if flags == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", flags)
}

// lineHint says how an array, or objects of several lines, become an object a line. It is "" for a line that begins neither.
func lineHint(line []byte) string {
	switch line = bytes.TrimSpace(line); {
	case bytes.HasPrefix(line, []byte("[")):
		return "; jq -c '.[]' writes each element of an array as a line"
	case string(line) == "{":
		return "; jq -c . writes each object as a line"
	}
	return ""
}
