//go:build !unix

package main

import "os/exec"

// leadGroup does nothing: without process groups, the command alone is ended.
func leadGroup(*exec.Cmd) {}
