//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *line512) testAssembly(kernel Kernel, hashes, hits []uint64) bool { return false }
