package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/google/renameio/v2"

	"github.com/lanebloom/bloom/internal/document"
)

// marked is what a page has between the markers of a table, such as <!-- figures group zen5 -->. A marker without the name of a
// CPU is of all of them.
var marked = regexp.MustCompile(`(?s)<!-- figures ([\w-]+)(?: ([\w-]+))? -->\n(.*?)<!-- end of figures -->`)

const pictureFile = "docs/sidebyside.svg"

// rewrite writes the tables of all documents anew, the page of each CPU, and README's picture.
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

// documents returns the files whose figures differ from those of the measurements, as they should be: documents, pages of CPUs, and
// the picture.
func documents(root string) (map[string]string, error) {
	documents, err := document.Pages(root)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(root)
	if err != nil {
		return nil, err
	}
	code, err := codeOf(root)
	if err != nil {
		return nil, err
	}
	written := map[string]string{}
	compare := func(name string, write func(old string) (string, error)) error {
		old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil && !os.IsNotExist(err) {
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
	ofCPUs := map[string]bool{}
	for _, r := range runsOf(files, "report") {
		name := measurements + "/" + r.stem + ".md"
		ofCPUs[name] = true
		if err := compare(name, func(string) (string, error) {
			text, err := r.page(code)
			if err != nil {
				return "", err
			}
			return withTables(root, text)
		}); err != nil {
			return nil, err
		}
	}
	for _, d := range documents {
		if ofCPUs[d.Path] {
			continue
		}
		if err := compare(d.Path, func(old string) (string, error) { return withTables(root, old) }); err != nil {
			return nil, err
		}
	}
	return written, compare(pictureFile, func(string) (string, error) { return readmePicture(files) })
}

//go:embed page.md.tmpl
var pageOfCPU string

// page returns the page of a CPU, without its tables.
func (r run) page(code string) (string, error) {
	var text bytes.Buffer
	err := template.Must(template.New("").Parse(pageOfCPU)).Execute(&text, map[string]any{
		"Name": r.name, "CPU": r.Config["cpu"], "Stem": r.stem, "Note": r.Note, "Commit": r.Commit, "Older": r.Code != code,
	})
	return text.String(), err
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
		files, err := filesOf(root)
		if err != nil {
			return "", err
		}
		return write(code, files, old)
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
	text, err := t.text(r)
	if err != nil {
		return "", err
	}
	if t.part == "report" { // the page of a CPU says once what it is of
		return text, nil
	}
	return text + "\n" + r.source(code) + ".\n", nil
}

// source says what a part was measured on, and how.
func (r run) source(code string) string {
	return fmt.Sprintf("%s, %s, commit %s%s%s: `make figures CPU=%q PARTS=%s`", r.name, r.Go, r.Commit, age(r.Code, code), r.company(), r.name, r.Part)
}

// company says if other programs ran, too.
func (r run) company() string {
	if r.Others < 0.1 {
		return ""
	}
	return fmt.Sprintf(", on a busy machine (other programs used %.0f %% of the CPUs)", 100*r.Others)
}

// age says if the code is another one than that which was measured.
func age(measured, now string) string {
	if measured != now {
		return " (the code has changed since)"
	}
	return ""
}

// filesOf returns the figures of all CPUs.
func filesOf(root string) (files []*file, err error) {
	names, err := filepath.Glob(filepath.Join(root, measurements, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := read(root, strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(b.Name, a.Name) }) // Zen 5 first
	return files, nil
}

// runsOf returns what a part measured on the CPUs that have it. Those with the part report have a page.
func runsOf(files []*file, part string) (runs []run) {
	for _, f := range files {
		if r, err := f.run(part); err == nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// sourcesOf returns a sentence with a link to each page, and its commit.
func sourcesOf(code string, reports []run) string {
	var links []string
	for _, r := range reports {
		links = append(links, fmt.Sprintf("[%s](measurements/%s.md): commit %s%s", r.name, r.stem, r.Commit, age(r.Code, code)))
	}
	return strings.Join(links, "; ") + ".\n"
}
