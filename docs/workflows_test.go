package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
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

// TestSteps wants the targets and the files that the steps of the workflows run. A step with a pipe names the shell, since GitHub's
// usual one overlooks what fails before the pipe.
func TestSteps(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^\.PHONY:(.*)`).FindAllStringSubmatch(source(t, "Makefile"), -1)
	checked := 0
	for _, step := range strings.Split(source(t, ".github/workflows/*.yml"), "\n      - ") {
		run, isRun := strings.CutPrefix(step, "run: ")
		if !isRun {
			continue
		}
		first, _, _ := strings.Cut(run, "\n")
		if target, ok := strings.CutPrefix(run, "make "); ok {
			checked++
			if !isTarget(targets, strings.Fields(target)[0]) {
				t.Errorf("the step %q has no target", first)
			}
		}
		for _, name := range regexp.MustCompile(`(?:\.ci|release)/\w+`).FindAllString(run, -1) {
			checked++
			if !exists(name) {
				t.Errorf("the step %q has no file %s", first, name)
			}
		}
		if strings.Contains(run, " | ") && !strings.Contains(run, "shell: bash") {
			t.Errorf("the step %q names no shell", first)
		}
	}
	if checked < 8 {
		t.Errorf("the workflows have %d steps of this repository", checked)
	}
}
