package cli

import "testing"

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
