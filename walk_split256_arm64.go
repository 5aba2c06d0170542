//go:build !purego

package bloom

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *split256) testAssembly(kernel Kernel, hashes []uint64, hits []uint64) bool { return false }

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *split256) addAssembly(kernel Kernel, hashes []uint64) bool { return false }
