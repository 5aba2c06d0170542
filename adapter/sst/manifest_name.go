package bloomsst

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Which MANIFEST of a folder counts.

// manifestOf returns the MANIFEST that counts in a folder: the one that Pebble's newest marker names, or CURRENT, or
// Badger's.
func manifestOf(folder string) (string, error) {
	names, err := namesIn(folder)
	if err != nil {
		return "", err
	}
	if name, found := newestMarker(names); found {
		if !isManifestName(name) {
			return "", fmt.Errorf("%w: a marker names %q", ErrDamaged, name)
		}
		return filepath.Join(folder, name), nil
	}
	name, err := currentManifest(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(folder, badgerManifest), nil
	}
	return name, err
}

// badgerManifest is the name of Badger's MANIFEST.
const badgerManifest = "MANIFEST"

// newestMarker returns what the marker with the highest number names: marker.manifest.NUMBER.NAME.
func newestMarker(names []string) (name string, found bool) {
	newest := uint64(0)
	for _, file := range names {
		rest, ok := strings.CutPrefix(file, "marker.manifest.")
		digits, named, ok2 := strings.Cut(rest, ".")
		number, err := strconv.ParseUint(digits, 10, 64)
		if ok && ok2 && err == nil && number >= newest {
			newest, name, found = number, named, true
		}
	}
	return name, found
}

// currentManifest returns the file that CURRENT names in the folder of a database. The error is fs.ErrNotExist if there is
// no CURRENT.
func currentManifest(folder string) (string, error) {
	file, err := os.Open(filepath.Join(folder, "CURRENT"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, math.MaxUint8))
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(text), "\n")
	if !isManifestName(name) {
		return "", fmt.Errorf("%w: CURRENT names %q", ErrDamaged, name)
	}
	return filepath.Join(folder, name), nil
}

// isManifestName reports whether a file in the folder of a database has the name of a MANIFEST.
func isManifestName(name string) bool {
	digits, ok := strings.CutPrefix(name, "MANIFEST-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// namesIn returns the names of the files in a folder.
func namesIn(folder string) ([]string, error) {
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}
