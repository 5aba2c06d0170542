package records

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// matched returns what group 1 of an expression matches in a text, or all of it, by package regexp alone.
func matched(expression, text string) (keys []string) {
	for _, match := range regexp.MustCompile(expression).FindAllStringSubmatchIndex(text, -1) {
		if len(match) > 2 {
			match = match[2:]
		}
		if match[0] >= 0 {
			keys = append(keys, text[match[0]:match[1]])
		}
	}
	return keys
}

// checkMatch compares the keys in a text with those of package regexp, and reports whether a sequence found them.
func checkMatch(t *testing.T, expression, text string) bool {
	t.Helper()
	var m Matcher
	if err := m.UnmarshalText([]byte(expression)); err != nil {
		t.Skip("no expression")
	}
	var got []string
	for _, key := range m.AppendKeys(nil, []byte(text)) {
		got = append(got, string(key))
	}
	if want := matched(expression, text); !slices.Equal(got, want) {
		t.Errorf("%q in %q: %q, want %q", expression, text, got, want)
	}
	return m.sequence != nil
}

func FuzzMatch(f *testing.F) {
	for _, expression := range []string{`/u/(\S+)`, `a(b?)c*d{2,3}e`, `x([^ \xff]*)y`, `é(.*)`, `(a|b)`, `(?i)u(s+)`, `u=(\d{2})(\w)`, `^a(b)`, `a(b)$`, `\bab`, `ab+?`, `a(.)`, "a(b+)\ufffd"} {
		f.Add(expression, "a GET /u/ab-cd /u/ef\xff\xe9 xéy é u=123 abcdde abb")
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		if len(expression) < 100 && len(text) < 1000 {
			checkMatch(t, expression, text)
		}
	})
}

// TestMatch compares random expressions of a few parts, in texts of the same few bytes.
func TestMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	parts := strings.Fields(`a b é / [ab] [^a] \S . [a-f] [^\x00-\x{ff}] [é-ü] é \x{fffd}`)
	repeats := []string{"", "", "", "", "+", "*", "?", "{2}", "{1,3}", "{2,}", "+?"}
	bytes := []string{"a", "b", "/", "a", "b", " ", "é", "\xff", "\xc3", "\n", "x", "\ufffd"}
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	sequences, expressions := 0, 20_000
	if testing.Short() {
		expressions = 4000
	}
	for range expressions {
		expression := pick([]string{"a", "/", "b", "é", "(a", ""})
		open := strings.HasPrefix(expression, "(")
		closed := false
		for range 1 + random.IntN(4) {
			if !open && random.IntN(3) == 0 {
				expression, open = expression+"(", true
			}
			expression += pick(parts) + pick(repeats)
			if open && !closed && random.IntN(3) == 0 {
				expression, closed = expression+")", true
			}
		}
		if open && !closed {
			expression += ")"
		}
		for range 5 {
			text := ""
			for range random.IntN(20) {
				text += pick(bytes)
			}
			if checkMatch(t, expression, text) {
				sequences++
			}
		}
	}
	if sequences < expressions/2 {
		t.Errorf("only %d matches were those of sequences", sequences)
	}
}

// TestMatchIsFast wants sequences for usual expressions, and for none whose parts are not certain.
func TestMatchIsFast(t *testing.T) {
	for expression, want := range map[string]bool{
		`/u/([0-9a-f-]{36})`: true, `/u/(\S+)`: true, `user=(\w+)`: true, `"id": *"([^"]*)"`: true, `id:(\d+),`: true, `(GET /[a-z]+) `: true,
		`([0-9]+)`: false, `(?:a|b)c`: false, `/u/(\w+)w`: false, `/u/(.)`: false, `^/u/(\w+)`: false,
	} {
		var m Matcher
		if err := m.UnmarshalText([]byte(expression)); err != nil || (m.sequence != nil) != want {
			t.Errorf("%s: %v, a sequence: %v", expression, err, m.sequence != nil)
		}
	}
}

// TestMatchOfLongText wants no time that grows with the square of a text.
func TestMatchOfLongText(t *testing.T) {
	text := []byte(strings.Repeat("a", 1<<20))
	m := new(Matcher)
	if err := m.UnmarshalText([]byte(`a([a-z]*)1`)); err != nil || m.sequence == nil {
		t.Fatal("no sequence:", err)
	}
	if _, ok := m.sequence.appendKeys(nil, text); ok {
		t.Error("the sequence reads a text without end")
	}
	if keys := m.AppendKeys(nil, text); len(keys) > 0 {
		t.Errorf("%d keys", len(keys))
	}
}

// BenchmarkMatch compares a sequence with package regexp, for the expressions of the documents.
func BenchmarkMatch(b *testing.B) {
	line := []byte(`10.0.7.9 - - [26/Nov/2026:01:02:03 +0000] "GET /u/0f8b3c1e-77aa/photos?x=31337 HTTP/1.1" 200 1234`)
	for _, expression := range []string{`/u/(\w+)`, `GET (\S+)`} {
		for _, by := range []string{"sequence", "regexp"} {
			b.Run("expression="+expression+"/by="+by, func(b *testing.B) {
				var m Matcher
				if err := m.UnmarshalText([]byte(expression)); err != nil || m.sequence == nil {
					b.Fatal(err, m.sequence)
				}
				if by == "regexp" {
					m.sequence = nil
				}
				keys := make([][]byte, 0, 8)
				b.SetBytes(int64(len(line)))
				for b.Loop() {
					keys = m.AppendKeys(keys[:0], line)
				}
			})
		}
	}
}
