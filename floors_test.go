package bloom

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/floors"
)

// TestFloors looks at the files of the package in the order in which CONTRIBUTING.md lists them. Each has a place there, and uses
// only names of files below it. So a reader who goes down never has to go back up.
func TestFloors(t *testing.T) {
	order := floorsOf(t, "CONTRIBUTING.md")
	for _, arch := range []string{"amd64", "arm64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			for _, use := range floors.Uses(t, arch) {
				here, there := slices.Index(order, use.At.Filename), slices.Index(order, use.Declared.Filename)
				switch {
				case here < 0:
					t.Errorf("CONTRIBUTING.md has no floor for %s", use.At.Filename)
				case here > there && there >= 0:
					t.Errorf("%v uses %s, which is above it, in %s", use.At, use.Name, use.Declared.Filename)
				}
			}
		})
	}
	for _, name := range order {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// floorsOf returns the files that the table below the heading "The floors of the root" lists.
func floorsOf(t *testing.T, document string) []string {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### The floors of the root\n")
	section, _, _ = strings.Cut(section, "\n#")
	var floors []string
	for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllStringSubmatch(section, -1) {
		floors = append(floors, regexp.MustCompile(`\w+\.go`).FindAllString(row[1], -1)...)
	}
	if sorted := slices.Sorted(slices.Values(floors)); len(floors) < 30 || len(slices.Compact(sorted)) < len(floors) {
		t.Fatalf("%s lists %d files, or one of them twice", document, len(floors))
	}
	return floors
}
