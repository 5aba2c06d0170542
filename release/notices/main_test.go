package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2/assets"
)

// TestNotices describes the command bloom, twice.
func TestNotices(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bloom.exe")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/bloom").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var bills [2][]byte
	for i := range bills {
		folder := t.TempDir()
		if err := run(folder, []string{program}); err != nil {
			t.Fatal(err)
		}
		bills[i], _ = os.ReadFile(filepath.Join(folder, "bloom.cdx.json"))
		licence, err := os.ReadFile(filepath.Join(folder, "licenses", "std@"+runtime.Version(), "LICENSE"))
		if err != nil || !bytes.Contains(licence, []byte("The Go Authors")) {
			t.Errorf("Go's licence is %q: %v", licence, err)
		}
		for _, name := range []string{"github.com/alecthomas/kong@*/COPYING", "golang.org/x/sys@*/PATENTS", "github.com/klauspost/compress@*/internal/snapref/LICENSE"} {
			if found, _ := filepath.Glob(filepath.Join(folder, "licenses", filepath.FromSlash(name))); len(found) != 1 {
				t.Errorf("%s: found %v", name, found)
			}
		}
	}
	if !bytes.Equal(bills[0], bills[1]) {
		t.Error("the same program has two bills of materials")
	}
	var bom cdx.BOM
	if err := json.Unmarshal(bills[0], &bom); err != nil {
		t.Fatal(err)
	}
	licences := map[string]string{}
	for _, c := range *bom.Components {
		licences[c.Name] = (*c.Licenses)[0].License.ID
		if c.Version == "" || c.Hashes == nil && c.Name != "std" && !ours(c.Name) || !strings.HasSuffix(c.PackageURL, c.Name+"@"+c.Version) {
			t.Errorf("%s: version %q, %s", c.Name, c.Version, c.PackageURL)
		}
	}
	for name, want := range map[string]string{"std": "BSD-3-Clause", "golang.org/x/sys": "BSD-3-Clause", "github.com/alecthomas/kong": "MIT", project: "MIT"} {
		if licences[name] != want {
			t.Errorf("%s has the licence %q, want %q", name, licences[name], want)
		}
	}
}

// TestRefusals wants an error for a module without a licence, for one that is not permitted, even
// beside another, and for one that nobody has.
func TestRefusals(t *testing.T) {
	classifier, err := assets.DefaultClassifier()
	if err != nil {
		t.Fatal(err)
	}
	c := collector{folder: t.TempDir(), classifier: classifier, found: map[string][]string{}}
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, "no licence that is known"},
		{[]string{"GPL-3.0/license.txt"}, "the licence GPL-3.0, which is not among those permitted"},
		{[]string{"GPL-3.0/license.txt", "MIT/a.txt"}, "GPL-3.0"},
		{[]string{"MIT/a.txt"}, ""},
	} {
		dir := t.TempDir()
		for _, name := range test.names {
			text, err := assets.ReadLicenseFile("License/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if err := save(filepath.Join(dir, name, "LICENSE.md"), text); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.collect(dir, "example.com/m@v1.0.0")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: %v, want %q", test.names, err, test.want)
		}
	}
	if _, err := c.licences(&debug.Module{Path: "example.invalid/m", Version: "v1.0.0"}); err == nil {
		t.Error("no error for a module that nobody has")
	}
}
