package bloomsst

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// unaskedFamilies returns the families of a database of RocksDB whose options let it skip the filters of the last level
// (optimize_filters_for_hits), as its newest OPTIONS file says. It is nil if there is none that can be read.
func unaskedFamilies(folder string, names []string) map[string]bool {
	name := newestOptions(names)
	if name == "" {
		return nil
	}
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return nil
	}
	defer file.Close()
	families := parseUnasked(file)
	families[""] = families["default"] // of a database that has no other
	return families
}

// newestOptions returns the OPTIONS file with the highest number.
func newestOptions(names []string) (newest string) {
	highest := uint64(0)
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "OPTIONS-")
		if number, err := strconv.ParseUint(digits, 10, 64); ok && err == nil && number >= highest {
			highest, newest = number, name
		}
	}
	return newest
}

// parseUnasked reads the sections of families: a line [CFOptions "name"], and lines of options.
func parseUnasked(r io.Reader) map[string]bool {
	families := map[string]bool{}
	family := ""
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			family = ""
			if quoted, ok := strings.CutPrefix(line, "[CFOptions "); ok {
				family = strings.Trim(strings.TrimSuffix(quoted, "]"), `"`)
			}
		}
		if family != "" && strings.ReplaceAll(line, " ", "") == "optimize_filters_for_hits=true" {
			families[family] = true
		}
	}
	return families
}
