package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/lanebloom/bloom"
)

// versionText returns what --version prints.
func versionText() string {
	return fmt.Sprintf("bloom %s %s %s/%s %v", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, bloom.Kernels()[0])
}

// version returns the version that Go recorded: a tag, or the time and hash of a commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
