//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *line32) testAssembly(kernel Kernel, hashes []uint32, hits []uint64) bool { return false }
