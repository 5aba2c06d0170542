package main

import (
	"strings"

	"github.com/lanebloom/bloom"
)

// formats are those of the library, all of them.
var formats = bloom.Formats()

// formatNames returns the names of all formats, with a word before the last.
func formatNames(before string) string {
	var names strings.Builder
	for i, f := range formats {
		switch {
		case i > 0 && i == len(formats)-1:
			names.WriteString(before)
		case i > 0:
			names.WriteString(", ")
		}
		names.WriteString(f.String())
	}
	return names.String()
}
