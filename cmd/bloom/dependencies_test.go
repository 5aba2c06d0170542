package main

import (
	"runtime/debug"
	"slices"
	"testing"
)

// TestDependencies wants every module in the command to be one that was chosen: each
// is a download for who installs it.
func TestDependencies(t *testing.T) {
	want := []string{
		"github.com/alecthomas/kong",
		"github.com/cespare/xxhash/v2",
		"github.com/dustin/go-humanize",
		"github.com/go-json-experiment/json",
		"github.com/klauspost/compress",
		"github.com/klauspost/cpuid/v2",
		"github.com/lanebloom/bloom",
		"github.com/lanebloom/bloom/adapter/sst",
		"github.com/minio/minlz",           // adapter/sst's, as are lz4 and xxh3
		"github.com/mitchellh/colorstring", // progressbar's
		"github.com/pierrec/lz4/v4",
		"github.com/rivo/uniseg", // progressbar's
		"github.com/schollz/progressbar/v3",
		"github.com/zeebo/xxh3",
		"golang.org/x/sys",
		"golang.org/x/term",
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		t.Fatal("the test tells no modules")
	}
	var got []string
	for _, module := range info.Deps {
		got = append(got, module.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the modules are %q, want %q", got, want)
	}
}
