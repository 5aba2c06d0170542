package memory

import (
	"syscall"
	"unsafe"
)

// madvCollapse is MADV_COLLAPSE, of Linux 6.1, which package syscall lacks.
const madvCollapse = 25

// adviseHugePages asks for huge pages for b, from the first boundary of huge pages in it to
// the last. The first call is for memory that is not mapped yet. The second call is for
// memory that has small pages from an earlier use. Both are advice, and only speed depends on
// them: a Linux kernel that lacks a call refuses it.
func adviseHugePages(b []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-start % HugePage)
	if n := (len(b) - skip) / HugePage * HugePage; n > 0 {
		inside := b[skip : skip+n]
		_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
		_ = syscall.Madvise(inside, madvCollapse)
	}
}
