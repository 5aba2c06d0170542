package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// TestDependencies wants no module in the command that was not chosen: each is a download for who
// installs it.
func TestDependencies(t *testing.T) {
	chosen := strings.Fields(`
		github.com/alecthomas/kong github.com/lanebloom/bloom
		github.com/lanebloom/bloom/adapter/parquet github.com/lanebloom/bloom/adapter/parquet/parquetgo
		github.com/cespare/xxhash/v2 github.com/klauspost/cpuid/v2 golang.org/x/sys golang.org/x/term
		github.com/dustin/go-humanize github.com/schollz/progressbar/v3 github.com/go-json-experiment/json github.com/mitchellh/colorstring github.com/rivo/uniseg
		github.com/parquet-go/parquet-go github.com/parquet-go/bitpack github.com/parquet-go/jsonlite github.com/andybalholm/brotli
		github.com/google/uuid github.com/klauspost/compress github.com/pierrec/lz4/v4 github.com/twpayne/go-geom google.golang.org/protobuf`)
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		t.Fatal("the test tells no modules")
	}
	known := map[string]bool{}
	for _, path := range chosen {
		known[path] = true
	}
	for _, module := range info.Deps {
		if !known[module.Path] {
			t.Errorf("module %s", module.Path)
		}
		delete(known, module.Path)
	}
	for path := range known {
		t.Errorf("%s is no longer needed", path)
	}
}
