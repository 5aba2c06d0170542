package docs_test

import (
	"path/filepath"
	"regexp"
	"testing"
)

// TestActions wants the actions of each workflow by hash, which nobody can move, with the version
// beside it that dependabot raises.
func TestActions(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, name := range names {
		text := source(t, ".github/workflows/"+filepath.Base(name))
		for _, action := range regexp.MustCompile(`(?m)uses: *(.*)$`).FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(action[1]) {
				t.Errorf("%s: %s is not pinned by the hash of a commit, as in owner/name@HASH # v1.2.3", name, action[1])
			}
		}
	}
}
