//go:build unix

// Package guard makes buffers for tests that must not touch a byte they were
// not given: they end where an inaccessible page begins, so that one read too
// many is a fault.
package guard

import (
	"os"
	"syscall"
	"testing"
)

// Buffer returns n zero bytes in whole pages, followed by an inaccessible
// page. It is unmapped when the test ends.
func Buffer(t testing.TB, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	mapping, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("mmap of %d bytes: %v", size+page, err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mapping); err != nil {
			t.Errorf("munmap: %v", err)
		}
	})
	if err := syscall.Mprotect(mapping[size:], syscall.PROT_NONE); err != nil {
		t.Fatalf("mprotect: %v", err)
	}
	return mapping[size-n : size : size]
}

// ReadOnly makes the pages of a whole Buffer of whole pages read-only.
func ReadOnly(t testing.TB, buffer []byte) {
	t.Helper()
	if err := syscall.Mprotect(buffer, syscall.PROT_READ); err != nil {
		t.Fatalf("mprotect: %v", err)
	}
}
