//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// leadGroup makes the command lead a process group, which ends with it.
func leadGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
}
