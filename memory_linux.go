package bloom

import (
	"syscall"
	"unsafe"
)

// adviseHugePages asks for huge pages for the aligned inside of b. It is advice:
// a kernel without huge pages refuses it, one with others rounds the range, and
// nothing but speed depends on it.
func adviseHugePages(b []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-start % hugePage)
	if n := (len(b) - skip) / hugePage * hugePage; n > 0 {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
