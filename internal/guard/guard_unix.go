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

// Buffer returns n zero bytes that end where an inaccessible page begins. If they
// are whole pages, there is one ahead of them, too. It is unmapped when the test
// ends.
func Buffer(t testing.TB, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	mapping, err := syscall.Mmap(-1, 0, page+size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("mmap of %d bytes: %v", page+size+page, err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mapping); err != nil {
			t.Errorf("munmap: %v", err)
		}
	})
	for _, fence := range [][]byte{mapping[:page], mapping[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatalf("mprotect: %v", err)
		}
	}
	return mapping[page+size-n : page+size : page+size]
}

// ReadOnly makes the pages of a whole Buffer of whole pages read-only.
func ReadOnly(t testing.TB, buffer []byte) {
	t.Helper()
	if err := syscall.Mprotect(buffer, syscall.PROT_READ); err != nil {
		t.Fatalf("mprotect: %v", err)
	}
}
