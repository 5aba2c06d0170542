package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestGatherIndices looks in the generated assembly for gathers that emulators do not
// run: see chooseIndices.
func TestGatherIndices(t *testing.T) {
	assembly, err := os.ReadFile("../probe_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^\tVPGATHER.*$`).FindAllString(string(assembly), -1)
	if len(all) == 0 {
		t.Fatal("there are no gathers")
	}
	index := regexp.MustCompile(`\([XYZ](\d+)\*`)
	for _, gather := range all {
		m := index.FindStringSubmatch(gather)
		if m == nil {
			t.Fatalf("no index in %q", gather)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n == 4 || n >= 16 {
			t.Errorf("%s: number %s is no index for emulators", gather, m[1])
		}
	}
}
