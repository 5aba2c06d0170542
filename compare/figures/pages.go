package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/lanebloom/bloom/internal/document"
)

// marked is what a page has between the markers of a table, such as <!-- figures group zen5 -->. The tables columns and
// forms are of all CPUs, and README.md names the CPU of its picture.
var (
	marked      = regexp.MustCompile(`(?s)<!-- figures ([\w-]+)(?: (\w+))? -->\n(.*?)<!-- end of figures -->`)
	ofREADME    = regexp.MustCompile(`<!-- figures readme (\w+) -->`)
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
		text, err := write(root, code, pages, old)
		if err != nil {
			return "", err
		}
		sources, err := sourcesOf(root, code, pages)
		return text + "\n" + sources, err
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

// page is what bloom bench --report wrote.
type page struct {
	name, stem, kernel string
	commit             string
	cells              map[string]figure // as in Testing integers/rocksdb/16 KiB/0 %/avx512
}

var (
	cell      = regexp.MustCompile(`^([\d.]+)(?: ×([\d.]+))? \(([\d.]+)–([\d.]+)\)$`)
	commitRow = regexp.MustCompile(`^\| version \|.* (?:at commit |v[\d.]+-\d+-)([0-9a-f]{7})`)
)

// readPage reads such a page, and returns no cells for another one.
func readPage(text string) (page, error) {
	p := page{cells: map[string]figure{}}
	var title string
	var head []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			p.name, _, _ = strings.Cut(name, ":")
		}
		if rest, ok := strings.CutPrefix(line, "| kernels | "); ok {
			p.kernel, _, _ = strings.Cut(rest, ",")
		}
		if m := commitRow.FindStringSubmatch(line); m != nil {
			p.commit = m[1]
		}
		if name, ok := strings.CutPrefix(line, "## "); ok {
			title, head = name, nil
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--"):
		case cells[0] == "format":
			head = cells
		case len(head) == len(cells):
			where := title
			for i, c := range cells {
				m := cell.FindStringSubmatch(c)
				if m == nil {
					where += "/" + strings.Trim(c, "`")
					continue
				}
				var numbers [4]float64
				for j, digits := range m[1:] {
					if digits == "" {
						continue
					}
					var err error
					if numbers[j], err = strconv.ParseFloat(digits, 64); err != nil {
						return p, err
					}
				}
				p.cells[where+"/"+head[i]] = figure{Name: where, Ns: numbers[0], X: numbers[1], Low: numbers[2], High: numbers[3]}
			}
		}
	}
	return p, nil
}

// pagesOf returns the pages that bloom bench --report has written, the newest CPU first.
func pagesOf(root string) (pages []page, err error) {
	names, err := filepath.Glob(filepath.Join(root, measurements, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := readPage(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.stem = strings.TrimSuffix(filepath.Base(name), ".md")
		if len(p.cells) > 0 {
			pages = append(pages, p)
		}
	}
	slices.SortFunc(pages, func(a, b page) int { return strings.Compare(b.name, a.name) }) // Zen 5 first
	return pages, nil
}

// sourcesOf returns a sentence with a link to each page, and its commit.
func sourcesOf(root, code string, pages []page) (string, error) {
	var links []string
	for _, p := range pages {
		f, err := read(root, p.stem)
		if err != nil {
			return "", err
		}
		measured, _ := f.run("report") // a page of another machine has none
		links = append(links, fmt.Sprintf("[%s](measurements/%s.md): commit %s%s", p.name, p.stem, p.commit, age(measured.Code, code)))
	}
	return strings.Join(links, "; ") + ".\n", nil
}
