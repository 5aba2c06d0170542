//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package window

import "io"

// lockFile locks nothing: this system has no lock that ends with the process, or package syscall lacks it.
func lockFile(string) (io.Closer, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Close() error { return nil }

// syncFolder does nothing: not all of these systems have such a call.
func syncFolder(string) error { return nil }
