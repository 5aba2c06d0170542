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

// marked is what a page has between the markers of a table.
var marked = regexp.MustCompile(`(?s)<!-- figures ([\w-]+)(?: (\w+))? -->\n.*?<!-- end of figures -->`)

// rewrite writes the tables of all pages anew.
func rewrite(root string) error {
	pages, err := document.Pages(root)
	if err != nil {
		return err
	}
	for _, p := range pages {
		name := filepath.Join(root, filepath.FromSlash(p.Path))
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text, err := withTables(root, string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if text != string(old) {
			if err := renameio.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// withTables returns the text of a page with the tables of the files.
func withTables(root, text string) (_ string, err error) {
	replaced := marked.ReplaceAllStringFunc(text, func(old string) string {
		start, _, _ := strings.Cut(old, "\n")
		m := marked.FindStringSubmatch(old)
		written, e := block(root, m[1], m[2])
		if err == nil && e != nil {
			err = fmt.Errorf("%s: %w", start, e)
		}
		return start + "\n" + written + "<!-- end of figures -->"
	})
	return replaced, err
}

// block returns a table, and the sentence below it: on what, by which command, and whether the code is still that.
func block(root, name, stem string) (string, error) {
	code, err := codeOf(root)
	if err != nil {
		return "", err
	}
	if name == "columns" {
		return columns(root, code)
	}
	t, ok := tables[name]
	if !ok {
		return "", fmt.Errorf("there is no such table")
	}
	f, err := read(root, stem)
	if err != nil {
		return "", err
	}
	r, err := f.run(t.part)
	if err != nil {
		return "", err
	}
	text, err := t.write(r)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\n%s, %s, commit %s, code %s%s: `make figures CPU=%q PARTS=%s`.\n", text, f.Name, r.Go, r.Commit, r.Code, age(r.Code, code), f.Name, r.Part), nil
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
				p.cells[where+"/"+head[i]] = figure{where, numbers[0], numbers[1], numbers[2], numbers[3], 0}
			}
		}
	}
	return p, nil
}

// columns returns the table of all CPUs that have such a page, with a link to it.
func columns(root, code string) (string, error) {
	names, err := filepath.Glob(filepath.Join(root, measurements, "*.md"))
	if err != nil {
		return "", err
	}
	var pages []page
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		p, err := readPage(string(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		p.stem = strings.TrimSuffix(filepath.Base(name), ".md")
		if len(p.cells) > 0 {
			pages = append(pages, p)
		}
	}
	slices.SortFunc(pages, func(a, b page) int { return strings.Compare(b.name, a.name) }) // Zen 5 first
	table, err := columnsTable(pages)
	var links []string
	for _, p := range pages {
		f, err := read(root, p.stem)
		if err != nil {
			return "", err
		}
		measured, _ := f.run("report") // a page of another machine has none
		links = append(links, fmt.Sprintf("[%s](measurements/%s.md): commit %s%s", p.name, p.stem, p.commit, age(measured.Code, code)))
	}
	return table + "\n" + strings.Join(links, "; ") + ".\n", err
}
