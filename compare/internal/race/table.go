package race

import (
	"fmt"
	"strings"
)

// Table is a table in Markdown. The first column has words, and the others have numbers. A head that begins with "<" makes a column
// of words, and ">" makes the first one a column of numbers.
type Table struct{ b strings.Builder }

// NewTable returns a table with a head.
func NewTable(head ...string) *Table {
	var t Table
	rule, words := "|", make([]string, len(head))
	for i, h := range head {
		if words[i] = strings.TrimLeft(h, "<>"); (i == 0) == (words[i] == h) {
			rule += "---|"
		} else {
			rule += "---:|"
		}
	}
	t.Row(words...)
	t.b.WriteString(rule + "\n")
	return &t
}

// Row adds a row.
func (t *Table) Row(cells ...string) { fmt.Fprintf(&t.b, "| %s |\n", strings.Join(cells, " | ")) }

// String returns the table.
func (t *Table) String() string { return t.b.String() }

// Digits writes a number with two digits, or all before the point.
func Digits(v float64) string {
	switch {
	case v < 0.995:
		return fmt.Sprintf("%.2f", v)
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Thousands writes n with commas.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
