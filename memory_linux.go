package bloom

import (
	"syscall"
	"unsafe"
)

// madvCollapse is MADV_COLLAPSE, of Linux 6.1, which package syscall lacks.
const madvCollapse = 25

// adviseHugePages asks for huge pages for the aligned inside of b: for what it
// has no memory for yet, and for what it has, in small pages from an earlier use.
// Both are advice: a kernel that lacks them refuses, one with huge pages of
// another size rounds the range, and nothing but speed depends on it.
func adviseHugePages(b []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-start % hugePage)
	if n := (len(b) - skip) / hugePage * hugePage; n > 0 {
		inside := b[skip : skip+n]
		_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
		_ = syscall.Madvise(inside, madvCollapse)
	}
}
