package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/lanebloom/bloom/internal/document"
)

// marked is what a page has between the markers of a table, such as <!-- figures group zen5 -->. The tables columns and
// forms are of all CPUs, and README.md names the CPU of its picture.
var (
	marked      = regexp.MustCompile(`(?s)<!-- figures ([\w-]+)(?: ([\w-]+))? -->\n(.*?)<!-- end of figures -->`)
	ofREADME    = regexp.MustCompile(`<!-- figures readme ([\w-]+) -->`)
	pictureFile = "docs/sidebyside.svg"
)

// rewrite writes the tables of all pages anew, and README's picture.
func rewrite(root string) error {
	written, err := documents(root)
	if err != nil {
		return err
	}
	for name, text := range written {
		if err := renameio.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// documents returns the pages whose tables are not those of the files, and the picture if it is not, as they should be.
func documents(root string) (map[string]string, error) {
	pages, err := document.Pages(root)
	if err != nil {
		return nil, err
	}
	written := map[string]string{}
	compare := func(name string, write func(old string) (string, error)) error {
		old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		text, err := write(string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if text != string(old) {
			written[name] = text
		}
		return nil
	}
	for _, p := range pages {
		if err := compare(p.Path, func(old string) (string, error) { return withTables(root, old) }); err != nil {
			return nil, err
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	m := ofREADME.FindSubmatch(readme)
	if m == nil {
		return nil, fmt.Errorf("README.md has no table")
	}
	return written, compare(pictureFile, func(string) (string, error) {
		r, err := runOf(root, string(m[1]), "libraries")
		if err != nil {
			return "", err
		}
		return readmePicture(r)
	})
}

// runOf returns what a part measured on a CPU.
func runOf(root, stem, part string) (run, error) {
	f, err := read(root, stem)
	if err != nil {
		return run{}, err
	}
	return f.run(part)
}

// withTables returns the text of a page with the tables of the files.
func withTables(root, text string) (_ string, err error) {
	replaced := marked.ReplaceAllStringFunc(text, func(old string) string {
		start, _, _ := strings.Cut(old, "\n")
		m := marked.FindStringSubmatch(old)
		written, e := block(root, m[1], m[2], m[3])
		if err == nil && e != nil {
			err = fmt.Errorf("%s: %w", start, e)
		}
		return start + "\n" + written + "<!-- end of figures -->"
	})
	return replaced, err
}

// block returns a table, and the sentence below it: on what, by which command, and whether the code is still that.
func block(root, name, stem, old string) (string, error) {
	code, err := codeOf(root)
	if err != nil {
		return "", err
	}
	if write := ofAllCPUs[name]; write != nil {
		pages, err := pagesOf(root)
		if err != nil {
			return "", err
		}
		text, err := write(code, pages, old)
		return text + "\n" + sourcesOf(code, pages), err
	}
	t, ok := tables[name]
	if !ok {
		return "", fmt.Errorf("there is no such table")
	}
	f, err := read(root, stem)
	if err != nil {
		return "", err
	}
	if f.Name == "" {
		return "", fmt.Errorf("there is no %s.json", stem)
	}
	r, err := f.run(t.part)
	if err != nil {
		return fmt.Sprintf("Nobody has measured this yet: `make figures CPU=%q PARTS=%s` does.\n", f.Name, t.part), nil
	}
	text, err := t.write(r)
	if err != nil {
		return "", err
	}
	if t.part == "report" { // the page of a CPU says once what it is of
		return text, nil
	}
	return fmt.Sprintf("%s\n%s, %s, commit %s, code %s%s%s: `make figures CPU=%q PARTS=%s`.\n", text, r.name, r.Go, r.Commit, r.Code, age(r.Code, code), r.company(), r.name, r.Part), nil
}

// company says if other programs ran, too.
func (r run) company() string {
	if r.Others < 0.1 {
		return ""
	}
	return fmt.Sprintf(", on a machine that was busy (%.0f %%)", 100*r.Others)
}

// age says if the code is another one than that which was measured.
func age(measured, now string) string {
	if measured != now {
		return " (it has changed since)"
	}
	return ""
}

// page is the page of a CPU on which bloom bench --report has run.
type page struct {
	*file
	report run
	kernel string // the first
}

// pagesOf returns those pages, the newest CPU first.
func pagesOf(root string) (pages []page, err error) {
	names, err := filepath.Glob(filepath.Join(root, measurements, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := read(root, strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if r, err := f.run("report"); err == nil {
			kernel, _, _ := strings.Cut(r.Config["kernels"], ",")
			pages = append(pages, page{f, r, kernel})
		}
	}
	slices.SortFunc(pages, func(a, b page) int { return strings.Compare(b.Name, a.Name) }) // Zen 5 first
	return pages, nil
}

// sourcesOf returns a sentence with a link to each page, and its commit.
func sourcesOf(code string, pages []page) string {
	var links []string
	for _, p := range pages {
		links = append(links, fmt.Sprintf("[%s](measurements/%s.md): commit %s%s", p.Name, p.stem, p.report.Commit, age(p.report.Code, code)))
	}
	return strings.Join(links, "; ") + ".\n"
}
