package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
)

// versionFlag prints the version. Kong's own ignores errors of writing.
type versionFlag bool

// BeforeReset is called when the flag is there, before commands and arguments are asked for.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	_, err := fmt.Fprintf(app.Stdout, "bloom %s %s %s/%s %v\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, bloom.Kernels()[0])
	if err == nil {
		app.Exit(exitSome)
	}
	return err
}

// version returns the version that Go recorded: a tag, or the time and hash of a commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
