//go:build unix

// Package guard makes buffers for tests of code that must not read past its input.
// A buffer ends where an inaccessible page begins, so that a read past its end is a
// fault.
package guard

import (
	"os"
	"syscall"
	"testing"
)

// Buffer returns n zero bytes that end where an inaccessible page begins. If n is a
// multiple of the page size, an inaccessible page also ends where they begin. The
// buffer is unmapped when the test ends.
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

// ReadOnly makes a Buffer read-only. Its size must be a multiple of the page size.
func ReadOnly(t testing.TB, buffer []byte) {
	t.Helper()
	if err := syscall.Mprotect(buffer, syscall.PROT_READ); err != nil {
		t.Fatalf("mprotect: %v", err)
	}
}
