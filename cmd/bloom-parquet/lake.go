package main

import (
	"os"
	"path/filepath"
)

// tableFormats are formats of tables that record the sizes of their files, and what each has in the folder of
// a table.
var tableFormats = []struct{ name, sign string }{
	{"Delta Lake", "_delta_log"},
	{"Iceberg", filepath.Join("metadata", "*.metadata.json")},
	{"Hudi", ".hoodie"},
}

// lakeTable returns the folder of the table that a file is in, and the format, or "" if it is in none.
func lakeTable(name string) (folder, format string, err error) {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	for folder = filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, t := range tableFormats {
			if isThere(folder, t.sign) {
				return folder, t.name, nil
			}
		}
		if folder == filepath.Dir(folder) {
			return "", "", nil
		}
	}
}

// isThere reports whether a folder has something whose name matches a pattern. The folder's own name is none.
func isThere(folder, pattern string) bool {
	base := filepath.Base(pattern)
	entries, err := os.ReadDir(filepath.Join(folder, filepath.Dir(pattern)))
	if err != nil {
		return false // no such folder, or one that this user may not read
	}
	for _, entry := range entries {
		if match, _ := filepath.Match(base, entry.Name()); match {
			return true
		}
	}
	return false
}
