package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom"
)

// Version is a flag that prints the version. Kong's own ignores errors of writing.
type Version bool

// BeforeReset is called when the flag is there, before commands and arguments are asked for.
func (Version) BeforeReset(app *kong.Kong, vars kong.Vars) error {
	_, err := fmt.Fprintln(app.Stdout, vars["version"])
	if err == nil {
		app.Exit(0)
	}
	return err
}

// versionText returns what --version prints.
func versionText(program string) string {
	return fmt.Sprintf("%s %s %s %s/%s %v", program, BuildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, bloom.Kernels()[0])
}

// BuildVersion returns the version that Go recorded: a tag, or the time and hash of a commit.
func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
