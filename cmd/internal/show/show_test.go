package show

import (
	"strings"
	"testing"
)

// TestPrintable wants every byte of a message to be seen.
func TestPrintable(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "plain.txt: no such file": "plain.txt: no such file", "x\x1b[31m": `x\x1b[31m`, "a\nb\r": `a\nb\r`, "tab\there": "tab\there",
		"Käse, 日本": "Käse, 日本", "\xff\xfe": `\xff\xfe`, "\u202egpj.exe": `\u202egpj.exe`, "\x7f\u009b": `\x7f\u009b`, "\ufffd": "\ufffd",
	} {
		if got := Printable(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// TestShort wants whole characters, and names that stay in their line.
func TestShort(t *testing.T) {
	for text, want := range map[string]string{"": "", "four": "four", "fives": "five…", "naïv": "naï…", "日本": "日…", "ab\xffd": "ab\xffd", "ab\xffde": "ab\xffd…", "\x80\x80\x80\x80\x80": "\x80\x80\x80\x80…"} {
		if got := Cut(text, 4); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
	if got := Short(strings.Repeat("x", 501)); got != strings.Repeat("x", 500)+"…" {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{"a b.txt": "a b.txt", "a\nb": `"a\nb"`, "\xff": `"\xff"`} {
		if got := Name(name); got != want {
			t.Errorf("the name is %s, want %s", got, want)
		}
	}
}
