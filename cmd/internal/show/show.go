// Package show makes what the commands quote fit into a line of a message.
package show

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns a line of text for a terminal: what is no character that can be seen is written as Go does, such as
// \x1b. Names of files can have any bytes, and some of them are commands to a terminal.
func Printable(line string) string {
	var out strings.Builder
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, line[i])
		case r == '\t' || strconv.IsGraphic(r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String()
}

// Name returns a name for a line of text: quoted if it would break the line.
func Name[S ~string](of S) string {
	name := string(of)
	if utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// Names returns the names of a header for a line of text.
func Names(names []string) string { return Short(fmt.Sprintf("%q", names)) }

// Short cuts off the end of words that quote too much.
func Short(words string) string { return Cut(words, 500) }

// Cut returns a text of at most most bytes. An ellipsis shows that the end is missing.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for from := most - 1; from >= max(0, most-utf8.UTFMax); from-- {
		if utf8.RuneStart(text[from]) {
			if !utf8.FullRuneInString(text[from:most]) { // the beginning of a character
				most = from
			}
			break
		}
	}
	return text[:most] + "…"
}
