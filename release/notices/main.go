// Command notices writes, for programs that Go has built, what their users may ask for: the licences
// and notices of all that is linked into them, and a bill of materials in the format of CycloneDX. It
// reads both off the program itself:
//
//	notices FOLDER PROGRAM...
//
// writes FOLDER/licenses/MODULE@VERSION/... and FOLDER/PROGRAM.cdx.json. The same programs give the
// same bytes. It fails if a module has no licence, or one that is not permitted.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// project is the path of this project's modules; their licence is at the top of the archive.
const project = "github.com/lanebloom/bloom"

// permitted has the licences of what the commands may link, by the classifier's name, with that of
// SPDX. Each lets anybody pass a program on, with its text and its notices.
var permitted = map[string]string{
	"Apache-2.0": "Apache-2.0", "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause", "ISC": "ISC", "MIT": "MIT",
	"GNU-All-permissive-Copying-License": "FSFAP", // of scripts in thrift's repository
}

// notice matches the names of files that have to be passed on.
var notice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)([.-]|$)`)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: notices FOLDER PROGRAM...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(folder string, programs []string) error {
	licences, err := assets.DefaultClassifier()
	if err != nil {
		return err
	}
	modules := collector{folder: filepath.Join(folder, "licenses"), classifier: licences, found: map[string][]string{}}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		bom, err := modules.bill(info)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		var text bytes.Buffer
		if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(program), ".exe") + ".cdx.json"
		if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A collector copies the licences of modules to a folder, each module's once.
type collector struct {
	folder     string
	classifier *classifier.Classifier
	found      map[string][]string // by module@version, the names of its licences
}

// bill returns what is linked into a program: the modules and Go's standard library.
func (c *collector) bill(info *debug.BuildInfo) (*cdx.BOM, error) {
	components := []cdx.Component{}
	for _, m := range append(linked(info), &debug.Module{Path: "std", Version: info.GoVersion}) {
		component := cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			BOMRef: purl(m), PackageURL: purl(m), Hashes: hashes(m),
		}
		names := []string{"MIT"}
		if !ours(m.Path) {
			var err error
			if names, err = c.licences(m); err != nil {
				return nil, err
			}
		}
		licences := cdx.Licenses{}
		for _, name := range names {
			licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: name}})
		}
		component.Licenses = &licences
		components = append(components, component)
	}
	bom := cdx.NewBOM()
	main := &debug.Module{Path: info.Path, Version: info.Main.Version}
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: main.Path, Version: main.Version, BOMRef: purl(main), PackageURL: purl(main),
	}}
	bom.Components = &components
	return bom, nil
}

// linked returns the modules of a program except its own, as they were replaced.
func linked(info *debug.BuildInfo) []*debug.Module {
	var modules []*debug.Module
	for _, m := range info.Deps {
		if m.Replace != nil && !ours(m.Path) {
			m = m.Replace
		}
		modules = append(modules, m)
	}
	return modules
}

func ours(path string) bool { return path == project || strings.HasPrefix(path, project+"/") }

func purl(m *debug.Module) string {
	return "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
}

// hashes returns the sum of a module that go.sum has, which is a SHA-256 of its files' sums.
func hashes(m *debug.Module) *[]cdx.Hash {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if m.Sum == "" || err != nil {
		return nil
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
}

// licences copies a module's licences and notices, and returns what SPDX calls the licences.
func (c *collector) licences(m *debug.Module) ([]string, error) {
	id := m.Path + "@" + m.Version
	if names, ok := c.found[id]; ok {
		return names, nil
	}
	dir, err := folderOf(m)
	if err == nil {
		c.found[id], err = c.collect(dir, id)
	}
	return c.found[id], err
}

// collect copies the licences and notices of the folder of a module, or of the standard library.
func (c *collector) collect(dir, id string) ([]string, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && (strings.HasPrefix(id, "std@") || entry.Name() == "testdata"):
			return fs.SkipDir // Go's own licence is valid for all folders of the library
		case !entry.Type().IsRegular() || !notice.MatchString(entry.Name()) || filepath.Ext(path) == ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range c.classifier.Match(text).Matches {
			if match.MatchType == "License" {
				names[match.Name] = true
			}
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return save(filepath.Join(c.folder, filepath.FromSlash(id), relative), text)
	})
	if err != nil {
		return nil, err
	}
	return permit(id, slices.Sorted(maps.Keys(names)))
}

// permit returns the names that SPDX gives to the licences of a module.
func permit(id string, licences []string) ([]string, error) {
	if len(licences) == 0 {
		return nil, fmt.Errorf("%s has no licence that is known", id)
	}
	var names []string
	for _, licence := range licences {
		name, ok := permitted[licence]
		if !ok {
			return nil, fmt.Errorf("%s has the licence %s, which is not among those permitted", id, licence)
		}
		names = append(names, name)
	}
	return names, nil
}

func save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// folderOf returns where the files of a module are, from the module cache if it has them.
func folderOf(m *debug.Module) (string, error) {
	args := []string{"env", "-json", "GOROOT"}
	if m.Path != "std" {
		args = []string{"mod", "download", "-json", m.Path + "@" + m.Version}
	}
	out, err := exec.Command("go", args...).Output()
	var answer struct{ Dir, GOROOT, Error string }
	if err := errors.Join(err, json.Unmarshal(out, &answer)); err != nil {
		return "", fmt.Errorf("go %s: %w %s", strings.Join(args, " "), err, answer.Error)
	}
	return answer.Dir + answer.GOROOT, nil
}
