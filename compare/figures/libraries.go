package main

import (
	"fmt"
	"strings"
)

// The calls of a library, and the kinds of keys.
const (
	keyByKey, atOnce = "key by key", "at once"
	integers, texts  = "integers", "strings"
)

// nameOfLibrary returns the name of a figure of a library. Some calls do not build, and others only build.
func nameOfLibrary(keys int, kind, libraryAndCall, job string) string {
	return fmt.Sprintf("Libraries/keys=%d/of=%s/library=%s/job=%s", keys, kind, libraryAndCall, job)
}

// leftOut are rows like others: the table has single keys of the default alone.
var leftOut = map[string]bool{
	"lanebloom, LevelDB, key by key": true, "lanebloom, Parquet, key by key": true, "lanebloom, Pebble, key by key": true,
	"lanebloom, BitsAndBlooms, key by key": true, "lanebloom, Pebble, at once": true, "C++ RocksDB before 5, at once": true,
	"lanebloom, LevelDB, avx2, key by key": true, "lanebloom, Parquet, avx2, key by key": true,
}

// librariesTable has all libraries. A cell has the figures of both sizes.
func librariesTable() table {
	names := func(kind, job string) []string {
		return []string{nameOfLibrary(10_000, kind, "*", job), nameOfLibrary(keysOfREADME, kind, "*", job)}
	}
	t := table{part: "libraries", rows: names(integers, "absent")[0], label: func(row string) string {
		if row = strings.Replace(row, "/call=", ", ", 1); leftOut[row] {
			return ""
		}
		return row
	}, columns: []column{{head: "false positives", names: names(integers, "absent"), cell: func(f []figure) string {
		return strings.TrimSuffix(percent(f[0].Rate), " %") + ", " + percent(f[1].Rate)
	}}}}
	for _, kind := range []string{integers, texts} {
		t.columns = append(t.columns, ns(kind+": absent", digits, names(kind, "absent")...), ns("present", digits, names(kind, "present")...),
			optional(ns("build", digits, names(kind, "build")...)))
	}
	return t
}
